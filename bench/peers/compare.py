"""Monjyu beside bm25s, LightRAG and microsoft/graphrag on the same judged texts, in one run.

Each peer is installed in an environment of its own (under `--environments`, to be used again) and run as its own
documentation says. Of each: nDCG@10 and recall@100 of papers, CPU seconds to index, CPU milliseconds a question, peak
memory, and the tokens that indexing sends to a language model. Of graphrag, whose answers need a model's reports, the
steps without one. Prints JSON with `--json`, else a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import peer
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from bench_graph import PACKAGES, printed  # noqa: E402
from bench_search import CORPORA, MODES  # noqa: E402

from monjyu_core.storage.folders import DataFolder  # noqa: E402
from monjyu_query.evaluation.retrieval_quality import (  # noqa: E402  # noqa: E402
    DEPTH,
    JudgedQuery,
    judged,
    ndcg,
    read_qrels,
    read_queries,
    recall,
    run_queries,
)
from monjyu_query.search.searcher import Searcher  # noqa: E402

PEERS = {"bm25s": ["bm25s==0.3.16", "PyStemmer"], "lightrag": ["lightrag-hku==1.5.7"], "graphrag": PACKAGES}
Document = dict[str, Any]


def python_of(name: str, environments: Path) -> Path:
    """The interpreter of the peer's environment, which is made where it is missing."""
    python = environments / name / "bin" / "python"
    if not python.exists():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "-q", "--python", sys.executable, python.parents[1]], check=True)
        subprocess.run([uv, "pip", "install", "-q", "--python", python, *PEERS[name]], check=True)
    return python


def ranks(ranked: dict[str, list[str]], queries: list[JudgedQuery]) -> Document:
    """The means over the queries that were judged."""
    found = [(ranked.get(query.query_id, []), query.grades) for query in queries]
    return {
        "ndcg@10": round(sum(ndcg(some, grades, 10) for some, grades in found) / len(found), 3),
        "recall@100": round(sum(recall(some, grades, 100) for some, grades in found) / len(found), 3),
    }


@contextmanager
def embedding_server() -> Iterator[str]:
    command = [sys.executable, str(HERE / "embedding_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def of_peer(name: str, corpus: Path, queries: list[JudgedQuery], python: Path, work: Path, *more: str) -> Document:
    out = work / f"{name}.json"
    told = printed([python, HERE / f"{name}_peer.py", corpus, out, *more], PYTHONDONTWRITEBYTECODE="1")
    return ranks(json.loads(out.read_text()), queries) | told


def of_graphrag(corpus: Path, python: Path, work: Path) -> Document:
    """Its cut and its `fast` graph: no embedding, no report, hence no answer."""
    texts = {record["id"]: peer.text_of(record) for record in peer.read(corpus / "corpus.jsonl")}
    rows = [
        {"id": name, "human_readable_id": row, "title": name, "text": text, "creation_date": "2020-01-01"}
        for row, (name, text) in enumerate(texts.items())
        if text
    ]
    folder = work / "graphrag"
    folder.mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "documents.parquet")
    command = [python, HERE.parent / "graphrag_steps.py", folder, "--cut", "--no-profiler"]
    told = printed(command, LITELLM_LOCAL_MODEL_COST_MAP="True", PYTHONDONTWRITEBYTECODE="1")
    return {"index_cpu_s": told["cpu_seconds"], "mb": round(told["peak_mb"]), "tokens": 0}


def indexed(corpus: Path, name: str, data: Path, level: int) -> Document:
    """`monjyu index`, all its processes; the memory is that of the largest."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "monjyu_core", "index", str(corpus / "corpus.jsonl"), "-c", name]
    environment = os.environ | {"MONJYU_DATA": str(data)}
    done = subprocess.run([*command, "--level", str(level), "--json"], env=environment, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):  # 1: some records are empty, the rest is indexed
        raise SystemExit(f"{name} could not be indexed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"index_cpu_s": seconds, "mb": after.ru_maxrss // 1024, "tokens": 0}


def of_monjyu(name: str, data: Path, queries: list[JudgedQuery], costs: Document) -> Iterator[tuple[str, Document]]:
    searcher = Searcher(DataFolder(data), name)
    searcher.prepare()
    for mode in MODES:
        searcher.rank_papers(queries[0].text, mode, DEPTH)
        begun = time.process_time()
        runs = list(run_queries(partial(searcher.rank_papers, mode=mode, depth=DEPTH), queries))
        asked = 1000 * (time.process_time() - begun) / len(queries)
        ranked = {run.query.query_id: [paper for paper, _ in run.ranked] for run in runs}
        yield f"Monjyu, {mode}", ranks(ranked, queries) | costs | {"query_cpu_ms": asked}


def measure(corpus: Path, environments: Path, names: list[str]) -> dict[str, Document]:
    queries = judged(read_queries(corpus / "queries.jsonl"), read_qrels(corpus / "qrels.tsv"))
    found: dict[str, Document] = {}
    with tempfile.TemporaryDirectory(prefix="monjyu-bench-") as folder:
        work = Path(folder)
        costs = indexed(corpus, corpus.name, work / "data", 0)
        found |= of_monjyu(corpus.name, work / "data", queries, costs)
        found["Monjyu, level 1 on it"] = indexed(corpus, corpus.name, work / "data", 1)
        if "bm25s" in names:
            found["bm25s"] = of_peer("bm25s", corpus, queries, python_of("bm25s", environments), work)
        if "lightrag" in names:
            with embedding_server() as url:
                python = python_of("lightrag", environments)
                found["LightRAG, naive"] = of_peer("lightrag", corpus, queries, python, work, url)
        if "graphrag" in names:
            found["graphrag, fast graph"] = of_graphrag(corpus, python_of("graphrag", environments), work)
    return found


_COLUMNS = ("ndcg@10", "recall@100", "index_cpu_s", "query_cpu_ms", "mb", "tokens")


def table(name: str, found: dict[str, Document]) -> str:
    def cell(value: float | None) -> str:
        return "–" if value is None else f"{value:,.0f}" if value >= 100 or value == 0 else f"{value:.3g}"

    lines = [f"| {name} | {' | '.join(_COLUMNS)} |", f"| --- |{' ---: |' * len(_COLUMNS)}"]
    lines += [f"| {who} | {' | '.join(cell(told.get(key)) for key in _COLUMNS)} |" for who, told in found.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--names", nargs="+", default=["cranfield", "cacm"], help="folders with qrels.tsv")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--environments", type=Path, help="where the peers' environments lie; else they are made anew")
    parser.add_argument("--json", action="store_true", dest="as_json")
    arguments = parser.parse_args()
    if not arguments.corpora.is_dir():
        sys.exit(f"{arguments.corpora} is absent: nothing to measure")
    with tempfile.TemporaryDirectory(prefix="monjyu-peers-") as folder:
        environments = arguments.environments or Path(folder)
        found = {name: measure(arguments.corpora / name, environments, arguments.peers) for name in arguments.names}
    print(json.dumps(found) if arguments.as_json else "\n\n".join(table(*item) for item in found.items()))


if __name__ == "__main__":
    main()

"""Whether what is known of a paper before it is read (citations, coupling with the hits, year) helps hybrid search.

    python bench/bench_prior.py [--corpora ../shared/corpora] [--json]

On cacm, whose records have years but no citations, nDCG@10 of judged queries; on jose, whose papers cite each other,
the share of gold sentences in the first ten hits, on questions generated from its graph. Each half of the questions is
measured with the weight that was best on the other half; 0 is among the weights.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from monjyu_core.settings.search import PriorSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.evaluation.lazy_quality import Evidence, GoldQuestion, read_questions
from monjyu_query.evaluation.question_generation import generate
from monjyu_query.evaluation.question_structure import Structure
from monjyu_query.evaluation.retrieval_quality import DEPTH, JudgedQuery, judged, ndcg, read_qrels, read_queries
from monjyu_query.search.searcher import Searcher

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
WEIGHTS = (-0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.4)
Document = dict[str, Any]


def index(source: Path, name: str, level: int, data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "monjyu_core", "index", str(source), "-c", name, "--level", str(level), "--json"],
        env={**os.environ, "MONJYU_DATA": str(data)},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{name} could not be indexed")


def with_years(corpus: Path, place: Path) -> Path:
    """The records with the year that their source names."""
    records = [json.loads(line) for line in corpus.read_text("utf-8").splitlines()]
    for record in records:
        if found := re.search(r"\b(?:19|20)\d\d\b", str(record.get("source", ""))):
            record["year"] = int(found[0])
    place.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    return place


def judged_scores(searcher: Searcher, queries: Sequence[JudgedQuery]) -> list[float]:
    rank = partial(searcher.rank_papers, mode="hybrid", depth=DEPTH)
    return [ndcg([paper for paper, _ in rank(query.text)], query.grades, 10) for query in queries]


def gold_scores(searcher: Searcher, questions: Sequence[GoldQuestion]) -> list[float]:
    evidence = Evidence(searcher.current().snapshot)
    found = []
    for question in questions:
        asked = make_request(query=question.text, collection=searcher.collection, mode="hybrid", answer=False, top_k=10)
        held = evidence.of(searcher.search(asked)).in_hits
        found.append(len(held & question.gold) / len(question.gold))
    return found


def by_weight(searcher: Searcher, feature: str, measure: Callable[[], list[float]]) -> dict[float, list[float]]:
    found = {}
    for weight in WEIGHTS:
        searcher.settings.search.prior = PriorSettings.model_validate({feature: weight})
        found[weight] = measure()
    searcher.settings.search.prior = PriorSettings()
    return found


def learned(scores: dict[float, list[float]]) -> Document:
    """The mean without a weight and with one learned on the other half, and which they were."""
    table = np.array([scores[weight] for weight in WEIGHTS])
    halves = [np.arange(table.shape[1]) % 2 == side for side in (0, 1)]
    best = [int(np.argmax(table[:, half].mean(axis=1).round(6) + (np.array(WEIGHTS) == 0) * 1e-9)) for half in halves]
    with_weight = np.concatenate([table[best[1], halves[0]], table[best[0], halves[1]]])
    return {
        "without": {"value": round(float(table[WEIGHTS.index(0.0)].mean()), 4)},
        "learned_on_the_other_half": {"value": round(float(with_weight.mean()), 4)},
        "weights": [WEIGHTS[place] for place in best],
        "mean_by_weight": {str(w): round(float(np.mean(scores[w])), 4) for w in WEIGHTS},
    }


def measure(corpora: Path, folder: Path) -> Document:
    data = folder / "data"
    index(with_years(corpora / "cacm" / "corpus.jsonl", folder / "cacm.jsonl"), "cacm", 0, data)
    index(corpora / "jose" / "pdf", "jose", 1, data)
    cacm, jose = (Searcher(DataFolder(data), name) for name in ("cacm", "jose"))
    queries = judged(read_queries(corpora / "cacm" / "queries.jsonl"), read_qrels(corpora / "cacm" / "qrels.tsv"))
    snapshot = jose.current().snapshot
    made = generate(Structure.of(snapshot), ["fact", "relation", "community", "citation"], 40, 1)
    place = folder / "questions.jsonl"
    place.write_text("".join(f"{json.dumps(question)}\n" for question in made), "utf-8")
    questions = [question for question in read_questions(place, snapshot) if question.gold]
    found: Document = {"cacm": {"recent": learned(by_weight(cacm, "recent", partial(judged_scores, cacm, queries)))}}
    if not questions:
        return found
    ask = partial(gold_scores, jose, questions)
    found["jose"] = {feature: learned(by_weight(jose, feature, ask)) for feature in ("cited", "coupled", "recent")}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--json", action="store_true", dest="as_json")
    arguments = parser.parse_args()
    if not arguments.corpora.is_dir():
        sys.exit(f"{arguments.corpora} is absent: nothing to measure")
    with tempfile.TemporaryDirectory(prefix="monjyu-bench-") as folder:
        found = measure(arguments.corpora, Path(folder))
    print(json.dumps(found) if arguments.as_json else json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

"""The commands of the reader: what stands on stdout, what on stderr, and the exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.cli import SUMMARIES, main
from monjyu_core.paper import ParsedPaper
from monjyu_query import Monjyu
from monjyu_query.asking.events import last_events
from monjyu_query.commands.chat_command import chat
from monjyu_query.commands.evaluate_command import evaluate
from monjyu_query.commands.papers_command import papers
from monjyu_query.commands.search_command import search

pytestmark = pytest.mark.usefixtures("module_without_reader")

QUESTION = "What is early cutoff in a build system?"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(sample_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """A command in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("MONJYU_DATA", str(sample_data))
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        captured = capfd.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return command


def test_summaries_are_those_of_the_root_command() -> None:
    for name, command in {"search": search, "chat": chat, "papers": papers, "eval": evaluate}.items():
        assert command.get_short_help_str(limit=200) == SUMMARIES[name]


def test_search_json_is_one_document(run: Run) -> None:
    code, out, err = run("search", QUESTION, "-c", "samples", "--json", "--top-k", "4")
    result = json.loads(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert (result["collection"], result["mode"], len(result["hits"])) == ("samples", "hybrid", 4)
    assert result["status"] == "complete"


def test_short_flags_are_the_long_ones(run: Run) -> None:
    result = json.loads(run("search", QUESTION, "-m", "keyword", "-k", "3", "--no-answer", "--json")[1])
    assert (result["mode"], len(result["hits"])) == ("keyword", 3)


def test_words_of_the_specification(run: Run) -> None:
    """Its short options work; what is called otherwise here is named."""
    asked = run("search", QUESTION, "-i", "samples", "-m", "keyword", "-s", "--json")[1].splitlines()
    assert [json.loads(line)["event"] for line in asked] == ["answer", "done"]
    assert run("config", "--show")[1] == run("config", "show")[1] != ""
    for words, instead in {
        ("config",): "monjyu config show",
        ("upgrade", "samples"): "--level 2",
    }.items():
        code, _, error = run(*words)
        assert (code, instead in error) == (2, True), error
    for level in (("0",), ("--level", "0")):
        code, _, error = run("upgrade", *level)
        assert "samples is already at level" in error or code == 0


def test_the_only_collection_need_not_be_named(run: Run) -> None:
    code, out, _ = run("search", QUESTION, "--json")
    assert (code, json.loads(out)["collection"]) == (0, "samples")


def test_stream_ends_with_the_result(run: Run) -> None:
    code, out, _ = run("search", QUESTION, "--stream", "--json")
    answer, done = (json.loads(line) for line in out.splitlines())
    assert code == 0
    assert (answer["event"], done["event"]) == ("answer", "done")
    assert answer["answer"] == done["answer"]
    assert answer["citations"] == done["citations"]
    assert done["hits"]


def test_events_do_not_change_the_result() -> None:
    result: dict[str, Any] = {"answer": "", "segments": [], "status": "abstained", "verified": False}
    result |= {"citations": [], "hits": []}
    assert {key: value for key, value in last_events(result)[-1].items() if key != "event"} == result


def test_search_for_a_reader(run: Run) -> None:
    code, out, err = run("search", QUESTION, "-c", "samples")
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    assert "Early cutoff is the property that the build stops" in text
    assert "[1] Incremental Must Equal Full" in text
    assert "\x1b" not in out  # no colours where nobody sees them


def test_filters_and_options_reach_the_search(run: Run) -> None:
    filters = ["--paper", "score-fusion", "--author", "Lindholt", "--year-from", "2000"]
    code, out, _ = run("search", "fusion by rank", "--mode", "keyword", "--no-answer", "--json", *filters)
    result = json.loads(out)
    assert (code, result["mode"], result["answer"]) == (0, "keyword", "")
    assert {hit["paper_id"] for hit in result["hits"]} == {"score-fusion"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", ""], ["empty"]),
        (["search", "  \t"], ["empty"]),
        (["search", "x" * 100_000], ["100000", "10000"]),
        (["search", "x", "-c", "nothing"], ["'nothing'", "Known: samples"]),
        (["search", "x", "-c", "../samples"], ["collection name"]),
        (["search", "x", "--paper", "unknown"], ["'unknown'", "papers list"]),
        (["search", "x", "--section-type", "poem"], ["section_types", "abstract"]),
        (["search", "x", "--top-k", "0"], ["top_k"]),
        (["search", "x", "--top-k", "1001"], ["top_k", "1000"]),
        (["search", "x", "--alpha", "1.5"], ["alpha"]),
        (["search", "x", "--min-score", "nan"], ["min_score"]),
        (["search", "x", "--year-from", "2020", "--year-to", "2010"], ["year_from"]),
        (["search", "x", "--mode", "global"], ["community reports of level 3", "monjyu upgrade samples"]),
        (["search", "x", "--mode", "magic"], ["magic"]),
        (["search", "x", "--controller", "progressive", "--mode", "lazy"], ["chooses the modes itself"]),
        (["search", "x", "--budget", "z100", "--mode", "vector"], ["mode lazy"]),
        (["search", "x", "--budget", "z7"], ["budget"]),
        (["search", "x", "--budget", "-5"], ["budget"]),
        (["search", "x", "--expand", "3", "--mode", "lazy"], ["finds related terms itself"]),
        (["search", "x", "--expand", "21"], ["expand"]),
        (["search", "x", "--lazy", "patient=3"], ["'patient' is not known", "Known: max_level"]),
        (["search", "x", "--lazy", "patience=0"], ["patience: must be 1 or more"]),
        (["search", "x", "--lazy", "patience"], ["patience: must be a number"]),
        (["search", "x", "--patience", "3"], ["--lazy patience=VALUE"]),
        (["search", "x", "--reasons"], ["--lazy reasons=VALUE"]),
        (["search", "x", "--doi", "10.1000"], ["'10.1000' is not a DOI"]),
        (["search"], ["QUERY"]),
        (["papers", "show", "unknown"], ["'unknown'", "papers list"]),
        (["papers", "show", "score-fusoin"], ["Did you mean score-fusion (“Score Fusion When One Ranker Is Weak”)?"]),
        (["search", "x", "--paper", "score-fusoin"], ["Did you mean score-fusion"]),
        (["citations", "incremental must equal ful"], ["Did you mean incremental-indexes"]),
        (["citations", "--export", "ris", "-o", "missing/a.ris"], ["missing/a.ris cannot be written"]),
        (["papers", "list", "-c", "nothing"], ["Known: samples"]),
        (["eval", "retrieval", "--queries", "missing.jsonl", "--qrels", "missing.tsv"], ["missing.jsonl"]),
    ],
)
def test_wrong_usage_ends_with_2(run: Run, arguments: list[str], words: list[str]) -> None:
    code, out, err = run(*arguments, *(["--json"] if arguments[-1] != "search" else []))
    assert (code, out) == (2, "")
    assert all(word in err for word in words), err
    assert "Traceback" not in err


def test_an_empty_data_folder_says_what_to_do(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path))
    code, out, err = run("search", "x", "--json")
    assert (code, out) == (2, "")
    assert "monjyu index" in err
    (tmp_path / "papers" / "mine").mkdir(parents=True)
    assert "no index" in run("search", "x", "-c", "mine")[2]


def test_papers_list(run: Run) -> None:
    code, out, err = run("papers", "list", "--json")
    listed = json.loads(out)
    assert (code, err, len(listed)) == (0, "", 9)
    record = next(paper for paper in listed if paper["paper_id"] == "score-fusion")
    assert (record["title"], record["year"]) == ("Score Fusion When One Ranker Is Weak", 2025)
    assert record["authors"] == ["Amara Lindholt", "Rafael Stenbrook", "Mei Okonjo"]
    assert record["chunks"] > 0
    assert "Score Fusion" in run("papers", "list")[1]


def test_papers_show(run: Run) -> None:
    code, out, _ = run("papers", "show", "score-fusion", "-c", "samples", "--json")
    paper = ParsedPaper.model_validate_json(out)
    assert (code, paper.paper_id, paper.language) == (0, "score-fusion", "en")
    assert paper.authors[0].name == "Amara Lindholt"
    assert paper.references and paper.sections and paper.inline_citations
    assert "Score Fusion" in run("papers", "show", "score-fusion")[1]


def test_eval_retrieval(run: Run, tmp_path: Path) -> None:
    queries = [{"id": "1", "text": QUESTION}, {"id": "2", "text": "unjudged"}]
    (tmp_path / "q.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries))
    (tmp_path / "r.tsv").write_text("query_id\tdoc_id\tscore\n1\tincremental-indexes-8583e31c\t1\n")
    files = ["--queries", str(tmp_path / "q.jsonl"), "--qrels", str(tmp_path / "r.tsv")]
    written = ["--run-out", str(tmp_path / "run.tsv")]
    for mode in ("keyword", "vector", "hybrid", "auto"):
        code, out, _ = run("eval", "retrieval", *files, *written, "--mode", mode, "--json")
        found = json.loads(out)
        assert list(found) == ["mode", "queries", "ndcg@10", "recall@10", "recall@100", "mrr@10", "p50_ms", "p95_ms"]
        assert (code, found["queries"], found["ndcg@10"], found["mrr@10"]) == (0, 1, 1.0, 1.0)
        lines = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
        assert lines[0][:3] == ["1", "incremental-indexes-8583e31c", "1"]
        assert len({line[1] for line in lines}) == len(lines)
    assert "ndcg@10" in run("eval", "retrieval", *files)[1]


def test_a_process_prints_only_json_and_never_imports_dagster(sample_data: Path) -> None:
    program = (
        "import sys; from monjyu_core.cli import main\n"
        "try: main(['search', 'early cutoff', '-c', 'samples', '--json'])\n"
        "finally: print(sorted(m for m in sys.modules if m in ('dagster', 'rich', 'torch')), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"MONJYU_DATA": str(sample_data), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hits"]
    assert done.stderr.strip() == "[]"


LEIDEN = "What does the Leiden algorithm guarantee?"


@pytest.mark.parametrize("shape", ["list", "request"])
def test_a_conversation_is_read_from_a_file(run: Run, tmp_path: Path, shape: str) -> None:
    turns = [{"role": "user", "content": LEIDEN}, {"role": "assistant", "content": "Connected communities."}]
    (tmp_path / "h.json").write_text(json.dumps(turns if shape == "list" else {"history": turns}), encoding="utf-8")
    command = ["search", "And what does it repair?", "--history", str(tmp_path / "h.json"), "--no-answer", "--json"]
    code, out, _ = run(*command)
    assert (code, json.loads(out)["resolved_query"]) == (0, "And what does Leiden repair?")
    assert (
        "Asked as: And what does Leiden"
        in run("search", "And what does it repair?", "--history", f"{tmp_path}/h.json")[1]
    )


@pytest.mark.parametrize("text", ["{", '{"a": 1}', '"x"', '[{"role": "robot", "content": ""}]', "[1]"])
def test_a_file_that_holds_no_conversation_is_refused(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "h.json").write_text(text, encoding="utf-8")
    code, out, err = run("search", QUESTION, "--history", str(tmp_path / "h.json"))
    assert code != 0 and not out and "history" in err and "Traceback" not in err


def test_a_chat_from_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"{LEIDEN}\n\nAnd what does it repair?\n/alone\n/what\n/new\nAnd what does it repair?\n/quit\n{QUESTION}\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    code, out, err = run("chat", "-c", "samples", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and "/quit ends" in err and "new conversation" in err
    assert [one["resolved_query"] for one in found] == [None, "And what does Leiden repair?", None, None]
    assert [one["query"] for one in found] == [LEIDEN, *["And what does it repair?"] * 3]


def test_a_chat_prints_answers_with_their_sources(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{LEIDEN}\n{'x' * 10_001}\nAnd what does it repair?"))
    code, out, err = run("chat", "-m", "hybrid")
    assert code == 0 and "[1]" in out and "Asked as: And what does Leiden repair?" in out
    assert "10001 characters" in err, "a question that cannot be asked does not end it"


def test_search_by_a_vector(run: Run, sample_data: Path, tmp_path: Path) -> None:
    file = tmp_path / "vector.json"
    with Monjyu(sample_data) as monjyu:
        file.write_text(json.dumps({"vector": monjyu.embed(QUESTION, "samples")}), encoding="utf-8")
    nearest = json.loads(run("search", "--vector", str(file), "-c", "samples", "-k", "3", "--json")[1])
    asked = json.loads(run("search", QUESTION, "-c", "samples", "-m", "vector", "-k", "3", "--no-answer", "--json")[1])
    found = [[hit["chunk_id"] for hit in result["hits"]] for result in (nearest, asked)]
    assert found[0] == found[1] and len(found[0]) == 3 and nearest["answer"] == ""
    file.write_text("[1, 2]", encoding="utf-8")
    for wrong, word in (
        (["search", "--vector", str(file), "-c", "samples"], "384"),
        (["search", "x", "--vector", str(file)], "QUERY"),
        (["search"], "QUERY"),
        (["search", "--vector", str(file), "-m", "lazy"], "not with mode"),
        (["search", "--vector", str(tmp_path), "-c", "samples"], "directory"),
    ):
        code, _, err = run(*wrong)
        assert code == 2 and word in err, wrong


def test_options_of_lazy_search_are_keys_of_one(run: Run) -> None:
    given = ["--lazy", "subqueries=1,threshold=4.5", "--lazy", "sufficiency=off", "--lazy", "reasons"]
    result = json.loads(run("search", QUESTION, "-c", "samples", "--budget", "5", *given, "--json")[1])
    used = result["routing"]["params"]
    assert (result["mode"], used["subqueries"], used["threshold"], used["sufficiency"]) == ("lazy", 1, 4.5, "off")


def test_papers_are_listed_by_any_filter(run: Run) -> None:
    """A venue by words of its name, a DOI, several values, and none that fits."""
    listed = json.loads(run("papers", "list", "--json")[1])
    for filters, fits in (
        (["--year-from", "1990", "--language", "en"], lambda paper: paper["year"] and paper["language"] == "en"),
        (["--venue", "notes, SAMPLE"], lambda paper: paper["venue"] == "Monjyu Sample Notes"),
        (["--venue", "Monjyu"], lambda paper: paper["venue"] is not None),
        (["--venue", "no such journal"], lambda paper: False),
        (["--doi", "10.9999/none"], lambda paper: False),
    ):
        found = json.loads(run("papers", "list", "--json", *filters)[1])
        assert [one["paper_id"] for one in found] == [one["paper_id"] for one in listed if fits(one)]


def test_modes_of_multi(run: Run) -> None:
    result = json.loads(run("search", QUESTION, "-c", "samples", "--modes", "keyword,vector", "--json")[1])
    assert result["mode"] == "multi" and result["status"] == "complete"
    code, _, err = run("search", QUESTION, "-c", "samples", "--modes", "keyword,best")
    assert code == 2 and "modes" in err

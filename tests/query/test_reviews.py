"""Living reviews: decisions with reasons and quotes, counts that are the records', updates that read what is new."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import rispy

from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import open_current
from monjyu_query.reviews.protocol import read_protocol
from monjyu_query.reviews.rule_verdicts import phrase_pattern
from tests.conftest import CORPORA, ROOT, call_monjyu, copied, needs_corpora
from tests.copies import copy_data
from tests.core.models.fake_server import FakeModels, failing, say

EXAMPLES = ROOT / "docs" / "examples"
JOSE, SAMPLE = EXAMPLES / "review-jose.yaml", EXAMPLES / "review-samples.yaml"
READ = ("00021", "00029", "00049", "00065")


def told(data: Path, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = call_monjyu(data, "review", *arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else {"error": done.stderr}


def exported(data: Path, protocol: Path, form: str) -> str:
    done = call_monjyu(data, "review", "export", protocol, "--format", form)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sums_up(counts: dict[str, Any]) -> bool:
    left = ("duplicates", "unsupported", "unreadable", "pending", "screened")
    return bool(
        counts["identified"] == sum(counts[name] for name in left) == sum(one["count"] for one in counts["sources"])
        and counts["screened"] == counts["excluded"] + counts["unsure"] + counts["included"]
        and counts["excluded"] == sum(reason["count"] for reason in counts["reasons"])
        and counts["included"] == counts["included_by_automation"] + counts["included_by_human"]
    )


def outcomes(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        record["paper_id"].rpartition("-")[0]: (record["outcome"], record["reason"]) for record in status["records"]
    }


@pytest.fixture
def samples(sample_data: Path, tmp_path: Path) -> Path:
    data = copy_data(sample_data, tmp_path / "data")
    shutil.rmtree(data / "state" / "reviews", ignore_errors=True)  # of the commands that the guides show
    return data


@pytest.fixture(scope="module")
def jose_built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four papers of jose, a copy of one, one that cannot be read, and files that are no papers."""

    def make(data: Path) -> None:
        papers = data / "papers" / "jose"
        (papers / "pdf").mkdir(parents=True)
        for number in READ:
            shutil.copy(CORPORA / "jose" / "pdf" / f"jose.{number}.pdf", papers / "pdf")
        shutil.copy(papers / "pdf" / "jose.00049.pdf", papers / "pdf" / "copy.pdf")
        shutil.copy(CORPORA / "jose" / "ATTRIBUTION.md", papers)
        (papers / "pdf" / "broken.pdf").write_bytes(b"")
        (papers / "counts.tsv").write_text("a\tb\n")
        assert call_monjyu(data, "index", papers, "-c", "jose").returncode == 1  # one cannot be read

    return copied(tmp_path_factory, "jose_review", make)


@pytest.fixture
def jose(jose_built: Path, tmp_path: Path) -> Path:
    return copy_data(jose_built, tmp_path / "data")


def test_each_decision_has_its_reason_and_quotes_that_stand_in_the_paper(samples: Path) -> None:
    ran = told(samples, "run", SAMPLE)
    status = told(samples, "status", SAMPLE)
    assert len(ran["screened"]) == ran["counts"]["screened"] > 5 and sums_up(status["counts"])
    assert outcomes(status)["shard-sizes"] == ("excluded", "slides")
    assert outcomes(status)["reader-leases"] == ("included", "")
    assert outcomes(status)["incremental-indexes"] == ("unsure", "readers")
    quoted = 0
    snapshot = open_current(DataFolder(samples).collection("samples"))
    cursor = snapshot.cursor()
    for record in status["records"]:
        assert [verdict["criterion"] for verdict in record["verdicts"]] == ["index", "readers", "slides"]
        assert record["outcome"] == "included" or record["reason"] in ("index", "readers", "slides")
        for quote in (quote for verdict in record["verdicts"] for quote in verdict["quotes"]):
            rows = cursor.execute("SELECT text FROM sections WHERE paper_id = ?", [record["paper_id"]]).fetchall()
            assert quote["paper_id"] == record["paper_id"] and any(quote["quote"] in text for (text,) in rows)
            assert bool(quote["boxes"]) == (quote["page"] is not None)
            quoted += 1
    assert quoted >= 5


def test_nothing_is_done_on_an_unchanged_snapshot(samples: Path) -> None:
    told(samples, "run", SAMPLE)
    state = samples / "state" / "reviews" / "samples" / "keeping-indexes-right.json"
    before = (state.read_bytes(), state.stat().st_mtime_ns)
    again = told(samples, "run", SAMPLE)
    assert again["screened"] == [] and again["kept"] == again["counts"]["screened"]
    assert (state.read_bytes(), state.stat().st_mtime_ns) == before and state.stat().st_mode & 0o77 == 0
    assert len(told(samples, "run", SAMPLE, "--again")["screened"]) == again["kept"]
    assert state.read_bytes() == before[0]  # the same decisions, to the byte


@pytest.mark.slow
@needs_corpora
def test_the_example_protocol_on_jose(jose: Path) -> None:
    ran = told(jose, "run", JOSE, "-c", "jose")
    counts = ran["counts"]
    assert sums_up(counts)
    assert (counts["duplicates"], counts["unreadable"], counts["unsupported"], counts["screened"]) == (1, 1, 1, 5)
    found = outcomes(told(jose, "status", JOSE, "-c", "jose"))
    assert found["jose.00021"] == ("included", "") and found["jose.00065"] == ("unsure", "tried")
    assert found["jose.00029"] == ("excluded", "tool")
    assert ("excluded", "python") in (found["copy"], found["jose.00049"])
    assert found["ATTRIBUTION"] == ("excluded", "paper")
    assert ("duplicate" in (found["copy"][0], found["jose.00049"][0])) and found["broken"][0] == "unreadable"


@pytest.mark.slow
@needs_corpora
def test_what_people_decide_stands_over_every_run(jose: Path) -> None:
    told(jose, "run", JOSE, "-c", "jose")
    told(jose, "decide", JOSE, "CFD Python", "exclude", "-c", "jose", code=2)  # no reason
    said = ("--reason", "Not what was asked", "-c", "jose")
    told(jose, "decide", JOSE, "CFD Python", "exclude", "--criterion", "nothing", *said, code=2)
    told(jose, "decide", JOSE, "CFD Python", "exclude", "--criterion", "tried", *said)
    assert told(jose, "decide", JOSE, "Mikrokosmos", "include", *said)["outcome"] == "included"
    ran = told(jose, "run", JOSE, "-c", "jose", "--again")
    assert sums_up(ran["counts"]) and ran["counts"]["excluded_by_human"] == ran["counts"]["included_by_human"] == 1
    found = outcomes(told(jose, "status", JOSE, "-c", "jose"))
    assert found["jose.00029"][0] == "included" and found["jose.00021"] == ("excluded", "tried")
    undone = told(jose, "decide", JOSE, "CFD Python", "undo", "-c", "jose")
    assert (undone["outcome"], undone["override"]) == ("included", None)


def test_every_export_says_what_the_counts_say(samples: Path) -> None:
    told(samples, "run", SAMPLE)
    told(samples, "decide", SAMPLE, "Incremental Must Equal Full", "include", "--reason", '<b>"it" is=fine')
    status = told(samples, "status", SAMPLE)
    counts = status["counts"]
    included = {record["title"] for record in status["records"] if record["outcome"] == "included"}
    assert {entry["title"] for entry in rispy.loads(exported(samples, SAMPLE, "ris"))} == included
    labels = list(csv.DictReader(io.StringIO(exported(samples, SAMPLE, "asreview"))))
    numbers = Counter(row["included"] for row in labels)
    assert (numbers["1"], numbers["0"], numbers["-1"]) == (counts["included"], counts["excluded"], counts["unsure"])
    assert all(row["title"] for row in labels)
    rows = list(csv.DictReader(io.StringIO(exported(samples, SAMPLE, "csv").lstrip("\ufeff"))))
    assert Counter({row["paper_id"]: row["outcome"] for row in rows}.values())["excluded"] == counts["excluded"]
    evidence = list(csv.reader(io.StringIO(exported(samples, SAMPLE, "evidence").lstrip("\ufeff"))))
    assert len(evidence) == counts["included"] + 1 and "Limitation" in evidence[0]
    whole = json.loads(exported(samples, SAMPLE, "json"))
    assert whole["counts"] == counts and len(whole["evidence"][0]["tables"][0]["rows"]) == counts["included"]
    figures = [counts["identified"], counts["screened"], counts["excluded"], counts["unsure"], counts["included"]]
    svg = ElementTree.fromstring(exported(samples, SAMPLE, "svg"))
    texts = " ".join(element.text or "" for element in svg.iter("{http://www.w3.org/2000/svg}text"))
    report = exported(samples, SAMPLE, "markdown")
    for shown in (texts, exported(samples, SAMPLE, "mermaid"), report):
        assert all(f"(n = {figure})" in shown for figure in figures)
    assert f"## Included ({counts['included']})" in report and "> " in report


def test_a_model_judges_what_rules_leave_open_and_must_name_sentences(samples: Path, answer_model: FakeModels) -> None:
    """Two papers get past the rule that asks for “snapshots”: the model includes one by a sentence, and of the other
    says no without one, so that a person decides. What the rules keep out is not asked about."""

    def judged(request: Any) -> Any:
        holds, numbers = ("yes", [1, 999]) if "Incremental Must Equal Full" in request.prompt else ("no", [])
        told = {"criterion": 1, "holds": holds, "reason": "It says so.", "sentences": numbers}
        return say(json.dumps({"verdicts": [told, {"criterion": 7, "holds": "no", "sentences": [1]}]}))

    answer_model.default = judged
    ran = told(samples, "run", SAMPLE)
    records = {one["paper_id"].rpartition("-")[0]: one for one in told(samples, "status", SAMPLE)["records"]}
    assert ran["usage"]["llm_calls"] == len(answer_model.requests) == 2 and ran["failed"] == []
    by_model = {name: one["verdicts"][1] for name, one in records.items() if one["verdicts"][1]["engine"] == "model"}
    assert set(by_model) == {"incremental-indexes", "relevance-budget"}
    [quote] = by_model["incremental-indexes"]["quotes"]
    assert (
        quote["paper_id"].startswith("incremental-indexes") and records["incremental-indexes"]["outcome"] == "included"
    )
    assert by_model["relevance-budget"]["holds"] == "unclear" and records["relevance-budget"]["outcome"] == "unsure"


def test_where_the_model_fails_a_search_stands_in_until_the_next_run(samples: Path, answer_model: FakeModels) -> None:
    answer_model.default = failing(500)
    assert len(told(samples, "run", SAMPLE)["failed"]) == 2
    answer_model.default = say('{"verdicts": []}')
    again = told(samples, "run", SAMPLE)
    assert len(again["screened"]) == 2 and again["failed"] == []
    assert told(samples, "run", SAMPLE)["screened"] == []


def test_phrases_are_whole_words() -> None:
    def has(phrase: str, text: str) -> bool:
        return phrase_pattern(phrase).search(text) is not None

    assert has("course", "A Course.") and not has("course", "courses") and has("cours*", "two courses")
    assert has("R", "written in R, and") and not has("R", "for r = 2") and not has("R", "Rust")
    assert has("C++", "in C++.") and has("active  learning", "active\nlearning") and has("学習", "機械学習で")


@pytest.mark.parametrize(
    ("text", "told_of"),
    [
        ("name: a\nquestion: q", "no criteria"),
        ("name: ../a\nquestion: q\ninclude: [{id: a, text: t}]", "name"),
        ("name: a\nquestion: q\ninclude: [{id: a, text: t, rule: {}}]", "names nothing to look for"),
        ("name: a\nquestion: q\ninclude: [{id: a, text: t, rule: {papers: true, where: [title]}}]", "but no phrases"),
        ("name: a\nquestion: q\ninclude: [{id: a, text: t, rule: {yeras: 3}}]", "yeras is not known"),
        ("name: a\nquestion: q\ninclude: [{id: a, text: t, rule: {years: {from: 9, to: 3}}}]", "begins with 9"),
        ("name: a\nquestion: q\ninclude: [{id: a, text: t}]\nexclude: [{id: a, text: t}]", "twice"),
        ("- a\n- b", "mapping"),
    ],
)
def test_what_is_wrong_in_a_protocol_is_told(text: str, told_of: str, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=re.escape(told_of)):
        read_protocol(path)


def test_init_writes_a_protocol_that_runs(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "My Review.yaml"
    told(samples, "init", path)
    assert read_protocol(path).name == "my-review"
    assert sums_up(told(samples, "run", path)["counts"])
    assert "already exists" in told(samples, "init", path, code=2)["error"]

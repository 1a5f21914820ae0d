"""Tensions as readers get them: both sides quoted, in lists and in answers; snapshots made before open without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from monjyu_core.errors import QueryError
from monjyu_query import Monjyu
from monjyu_query.commands import tensions
from monjyu_query.tensions.tension_answer import asked_about
from monjyu_query.tensions.tension_list import _about, _Row, _words
from tests.assets.levels.test_tensions import OPPOSED, PAPERS
from tests.assets.worlds import World
from tests.core.models.fake_server import FakeModels, Reply, Request, failing, say

VERDICTS = ("contradicted", "not_found")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three papers at level 4, two of which contradict each other."""
    root = tmp_path_factory.mktemp("tensions")
    world = World(root / "data", root / "papers")
    for name, text in PAPERS.items():
        (world.papers / name).write_text(text)
    world.build(4)
    return world.data.root


def test_both_sides_are_quoted_and_a_concept_chooses(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Monjyu(data) as monjyu:
        found = monjyu.tensions("c", concept="infections risk")
        [pair] = found.tensions
        assert {one.quote for one in found.citations} == set(OPPOSED[0][1:]) and pair.kind == "direction"
        assert {pair.first.citation, pair.second.citation} == {1, 2} and found.built
        assert found.citations[0].paper_id == pair.first.paper_id != pair.second.paper_id
        assert not monjyu.tensions("c", concept="asthma").tensions
        with pytest.raises(QueryError, match="no words"):
            monjyu.tensions("c", concept="of the")
    monkeypatch.setenv("MONJYU_DATA", str(data))
    printed = CliRunner().invoke(tensions, ["-c", "c", "--json"])
    assert json.loads(printed.stdout) == {**found.model_dump(mode="json"), "concept": None}
    shown = CliRunner().invoke(tensions, ["-c", "c"]).stdout
    assert all(quote in shown for quote in OPPOSED[0][1:])


@pytest.mark.parametrize(
    ("concept", "first", "second", "about"),
    [
        ("basic reproduction number", "R0 was put at 2.2.", "The R 0 was 3.58.", True),
        ("the case fatality rate", "A CFR of 21 %.", "Deaths: 34 % (case-fatality rate).", True),
        ("R0 of SARS-CoV-2", "R0 was put at 2.2.", "The R0 of SARS-CoV-2 was 3.58.", True),
        ("R0 of SARS-CoV-2", "The R0 of SARS-CoV was below 1.", "R0 was 2 in Hong Kong.", False),
    ],
)
def test_measures_are_found_in_full_and_names_whole(concept: str, first: str, second: str, about: bool) -> None:
    row = _Row("t", "numbers", "R0", 0.6, "rules", ["a"], first, "2.2", "p1", ["b"], second, "3.58", "p2")
    assert (_about([row], concept, _words(concept)) == [row]) is about


def test_an_index_without_tensions_says_the_command_that_finds_them(
    sample_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(sample_data))
    assert "`monjyu upgrade samples --level 4` finds them." in CliRunner().invoke(tensions, []).stderr


def test_a_question_about_disagreement_is_answered_by_both_sides(data: Path) -> None:
    with Monjyu(data) as monjyu:
        result = monjyu.search("Do papers disagree about respiratory infection?", "c")
        assert result.mode == "tensions" and result.verified and result.status == "complete"
        assert {one.quote for one in result.citations} == set(OPPOSED[0][1:])
        assert "[1]" in result.answer and "[2]" in result.answer


def test_a_model_is_the_second_opinion(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair that it does not call contradicted is no answer; one that it never read stays."""
    question = "Do papers disagree about respiratory infection?"
    with FakeModels() as fake:
        for name, value in fake.environment("VERIFY", CACHE__ENABLED="false").items():
            monkeypatch.setenv(name, value)
        with Monjyu(data) as monjyu:
            fake.script(*(say(json.dumps({"verdicts": [{"statement": 1, "verdict": said}]})) for said in VERDICTS))
            kept, gone = monjyu.search(question, "c"), monjyu.search(question, "c")
            fake.script(failing())
            unread = monjyu.search(question, "c")
        assert not fake.problems and all(quote in fake.requests[0].prompt for quote in OPPOSED[0][1:])
    assert {one.quote for one in kept.citations} == set(OPPOSED[0][1:]) and kept.usage.llm_calls == 1
    assert "among the 2 papers" in gone.answer and "against that" not in gone.answer
    assert gone.warnings[0].startswith("1 of 1 pairs that the rules found were left out")
    assert {one.quote for one in unread.citations} == set(
        OPPOSED[0][1:]
    ) and "not read by the model" in unread.warnings[0]


def test_where_the_rules_see_nothing_a_model_reads_what_papers_say(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown pairs of two papers; one that it calls contradicted is answered with both sides, each cited."""
    question = "Do papers disagree about the trial?"
    asked: list[str] = []

    def reply(request: Request) -> Reply:
        asked.append(request.prompt)
        return say(json.dumps({"verdicts": [{"statement": 1, "verdict": "contradicted"}]}))

    with FakeModels() as fake:
        for name, value in fake.environment("VERIFY", CACHE__ENABLED="false").items():
            monkeypatch.setenv(name, value)
        with Monjyu(data) as monjyu:
            fake.default = reply
            found = monjyu.search(question, "c")
            fake.default = say(json.dumps({"verdicts": [{"statement": 1, "verdict": "supported"}]}))
            none = monjyu.search(question, "c")
        assert not fake.problems
    one, other = found.citations
    assert one.paper_id != other.paper_id and all(" ".join(c.quote.split()) in asked[0] for c in (one, other))
    assert "A model read" in found.answer and f"against that: {' '.join(other.quote.split())}" in found.answer
    assert found.usage.llm_calls == 1 and found.verified
    assert "among the 2 papers" in none.answer and "A model read" not in none.answer


ALL_SUPPORTED = json.dumps(
    {"verdicts": [{"statement": n, "verdict": "supported", "reason": ""} for n in range(1, 12)]}, indent=2
)
"""What Qwen2.5-Coder-1.5B says of any pairs; asked in other words it calls all of them opposed."""


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
def test_a_model_that_says_the_same_of_all_pairs_is_not_heard(
    data: Path, monkeypatch: pytest.MonkeyPatch, verdict: str
) -> None:
    with FakeModels() as fake:
        for name, value in fake.environment("VERIFY", CACHE__ENABLED="false").items():
            monkeypatch.setenv(name, value)
        fake.default = say(ALL_SUPPORTED.replace("supported", verdict))
        with Monjyu(data) as monjyu:
            kept = monjyu.search("Do papers disagree about respiratory infection?", "c")
            none = monjyu.search("Do papers disagree about the trial?", "c")
        assert not fake.problems and all("The drug raised" in request.prompt for request in fake.requests)
    assert {one.quote for one in kept.citations} == set(OPPOSED[0][1:]), "what the rules know stays"
    assert "among the 2 papers" in none.answer and "A model read" not in none.answer
    for result in (kept, none):
        [warning] = result.warnings
        assert "fails on sentences of which the verdict is known" in warning and "roles.verify.model" in warning


def test_where_none_disagree_the_answer_says_so_and_what_papers_say(data: Path) -> None:
    """Never one side as a disagreement, never "no passage speaks of 'disagree'"."""
    with Monjyu(data) as monjyu:
        first = monjyu.tensions("c").citations[0].paper_id
        only = monjyu.search("Do papers disagree about respiratory infection?", "c", filters={"paper_ids": [first]})
        assert only.mode == "tensions" and "one paper alone speaks of it" in only.answer
        assert [one.paper_id for one in only.citations] == [first] and "against that" not in only.answer
        other = monjyu.search("Do papers disagree about the trial?", "c")
        assert other.status == "complete" and "among the 2 papers" in other.answer and len(other.citations) == 2
        nobody = monjyu.search("Do papers disagree about asteroids?", "c")
        assert nobody.status == "abstained" and "no paper here speaks of it" in nobody.answer and not nobody.citations
        ja = monjyu.search("小惑星について論文の間で見解は食い違っていますか？", "c")
        assert ja.status == "abstained" and "矛盾は見つかりませんでした" in ja.answer


def test_below_level_4_the_answer_says_which_level_looks(sample_data: Path) -> None:
    with Monjyu(sample_data) as monjyu:
        result = monjyu.search("Do the papers disagree about provenance?", "samples")
        assert result.mode == "tensions" and result.status == "partial" and "level 4" in result.answer
        assert "'disagree'" not in result.answer and "not known" in result.answer
        assert result.citations and all("rovenance" in one.quote for one in result.citations)
        assert monjyu.search("Do papers contradict each other?", "samples").status == "abstained"


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("Do papers disagree about vitamin D?", "vitamin D"),
        ("Where do the studies contradict each other?", ""),
        ("Are there conflicting findings on base pressure?", "base pressure"),
        ("ビタミンDについて論文の間で見解は食い違っていますか？", "ビタミンD"),
        ("How do papers measure vitamin D?", None),
        ("Do children disagree about food?", None),
    ],
)
def test_which_questions_ask_for_it(question: str, what: str | None) -> None:
    assert asked_about(question) == what


def test_a_snapshot_made_before_has_none(sample_data: Path) -> None:
    with Monjyu(sample_data) as monjyu:
        found = monjyu.tensions("samples")
        assert not found.built and found.tensions == [] and found.citations == []

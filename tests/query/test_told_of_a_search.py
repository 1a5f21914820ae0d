"""What a result tells of the search itself: with what it was asked, of how many its hits are the best, and the hits as
one text for another model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.cli import main
from monjyu_core.storage.folders import DataFolder
from monjyu_core.text.tokens import count_tokens
from monjyu_query.answer_packages.package_files import canonical_answer
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.search.searcher import Searcher

QUESTION = "How does the Leiden algorithm repair badly connected communities?"


@pytest.fixture(scope="module")
def searcher(sample_data: Path) -> Searcher:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_SEARCH__READER", "off")
        return Searcher(DataFolder(sample_data), "samples")


def ask(searcher: Searcher, query: str = QUESTION, **more: Any) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", **more))


PLAIN = {"top_k": 10, "expand": 0, "rerank": False}
LAZY = {
    "top_k": 10, "alpha": 0.55, "budget": 100, "max_level": 0, "patience": 5, "sufficiency": "count", "subqueries": 5,
    "threshold": 5.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"mode": "keyword"}, PLAIN),
        ({"mode": "vector", "top_k": 3, "min_score": 0.2}, PLAIN | {"top_k": 3, "min_score": 0.2}),
        ({"mode": "hybrid", "alpha": 0.2, "expand": 2}, PLAIN | {"alpha": 0.2, "expand": 2}),
        ({"mode": "lazy"}, LAZY),
        ({"budget": "z500", "subqueries": 2, "max_level": 0}, LAZY | {"budget": 500, "subqueries": 2}),
        ({"modes": ["vector", "lazy"]}, PLAIN | LAZY | {"modes": ["vector", "lazy"]}),
        (
            {"controller": "progressive"},
            PLAIN | LAZY | {"modes": ["vector", "keyword", "hybrid", "lazy", "multi"]},
        ),
    ],
)
def test_a_result_says_with_what_it_was_asked(searcher: Searcher, asked: dict[str, Any], told: dict[str, Any]) -> None:
    params = ask(searcher, answer=False, **asked).routing.params
    assert params is not None and params.model_dump(exclude_none=True) == told


def test_what_is_told_is_what_was_done(searcher: Searcher) -> None:
    """A number told that had no effect would be worse than none."""
    few = ask(searcher, mode="lazy", budget=7, subqueries=1, answer=False)
    assert few.routing.params is not None and few.usage.relevance_tests == few.routing.params.budget == 7
    ends = [ask(searcher, mode="hybrid", alpha=alpha, answer=False) for alpha in (0, 1)]
    singles = [ask(searcher, mode=mode, answer=False) for mode in ("keyword", "vector")]
    best = [[hit.chunk_id for hit in result.hits[:3]] for result in (*ends, *singles)]
    assert best[0] == best[2] and best[1] == best[3] != best[0]


def test_hits_are_the_best_of_so_many(searcher: Searcher) -> None:
    cursor = searcher.current().snapshot.cursor()
    row = cursor.execute("SELECT count(*), count(DISTINCT paper_id) FROM chunks").fetchone()
    every = ask(searcher, mode="hybrid", top_k=2, answer=False)
    assert (every.total_count, every.total_papers) == row
    paper = every.hits[0].paper_id
    row = cursor.execute("SELECT count(*), 1 FROM chunks WHERE paper_id = ?", [paper]).fetchone()
    some = ask(searcher, mode="vector", top_k=2, answer=False, filters={"paper_ids": [paper]})
    assert (some.total_count, some.total_papers) == row
    found = ask(searcher, "Leiden", mode="keyword", top_k=1000, answer=False)
    row = cursor.execute("SELECT count(*) FROM chunks WHERE regexp_matches(text || header, 'Leiden', 'i')").fetchone()
    assert row and found.total_count == row[0]
    floor = every.hits[1].score
    assert ask(searcher, mode="hybrid", min_score=floor, answer=False).total_count == 2
    assert ask(searcher, mode="lazy", answer=False).total_count is None


def test_hits_are_given_as_one_text(searcher: Searcher) -> None:
    told = ask(searcher, mode="hybrid", context=400, answer=False)
    context = told.context
    assert context is not None and context.tokens == count_tokens(context.text) <= 400
    assert [one.chunk_id for one in context.sources] == [hit.chunk_id for hit in told.hits[: len(context.sources)]]
    assert len(context.sources) >= 1
    blocks = re.findall(r"<source (\d+) (\w+)>\n(.*?)\n</source \1 \2>", context.text, re.DOTALL)
    for (number, _, text), source, hit in zip(blocks, context.sources, told.hits, strict=False):
        assert int(number) == source.n and text.startswith(source.label) and text.endswith(hit.text)
    assert len(blocks) == len(context.sources)
    more = ask(searcher, mode="hybrid", context=400 + 300, answer=False).context
    assert more is not None and len(more.sources) > len(context.sources) and more.text.startswith(context.text)
    none = ask(searcher, mode="hybrid", context=1, answer=False).context
    assert none is not None and (none.text, none.sources) == ("", [])
    assert ask(searcher, mode="hybrid", answer=False).context is None
    assert "context" not in canonical_answer(told), "a package holds no text that is not quoted"


def test_what_a_lazy_answer_was_written_from_is_the_context(sample_data: Path) -> None:
    told = ask(Searcher(DataFolder(sample_data), "samples"), mode="lazy", budget=25, context=2000)
    assert told.context is not None and told.claims
    for claim in told.claims[: len(told.context.sources)]:
        assert claim["quote"] in told.context.text
    assert [one.chunk_id for one in told.context.sources][:2] == [claim["chunk_id"] for claim in told.claims][:2]


def test_the_command_prints_the_text_alone(
    sample_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(sample_data))
    with pytest.raises(SystemExit):
        main(["search", QUESTION, "-c", "samples", "-m", "hybrid", "--context", "400"])
    out = capfd.readouterr().out
    assert out.startswith("<source 1 ") and re.search(r"</source \d+ \w+>\n$", out) and "Leiden" in out

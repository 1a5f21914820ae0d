"""Which papers speak of something: all are looked at, those that do are listed, and nothing is made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.paper_lists.asked_topic import asked_topics
from monjyu_query.paper_lists.papers_found import _together
from monjyu_query.search.request import make_request
from monjyu_query.search.result import SearchResult
from monjyu_query.search.searcher import Searcher


@pytest.fixture(scope="module")
def searcher(sample_data: Path) -> Searcher:
    searcher = Searcher(DataFolder(sample_data), "samples")
    searcher.prepare()
    return searcher


def ask(searcher: Searcher, query: str, **more: object) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", **more))


@pytest.mark.parametrize(
    ("query", "words", "labels"),
    [
        ("Which papers teach fluid dynamics?", ["fluid dynamics"], ["fluid dynamics"]),
        ("Which papers describe courses in ecology?", ["courses ecology"], ["courses in ecology"]),
        ("Which papers are about rats or mice?", ["rats", "mice"], ["rats", "mice"]),
        ("List the papers on conda", ["conda"], ["conda"]),
        ("機械学習について述べている論文はどれですか。", ["機械学習"], ["機械学習"]),
        ("どの論文が流体力学を教えていますか？", ["流体力学"], ["流体力学"]),
    ],
)  # fmt: skip
def test_the_topic_is_without_what_asks(query: str, words: list[str], labels: list[str]) -> None:
    topics = asked_topics(query)
    assert [one.words for one in topics] == words and [one.label for one in topics] == labels


def test_words_stand_together_in_any_ending_but_not_by_their_stem_alone() -> None:
    assert _together([["ecology", "courses"]], "The course is for ecologists.")
    assert not _together([["relativity"]], "This is relatively relevant.")
    assert _together([["流体力学"]], "本講義は流体力学を扱う。")


def test_names_of_one_letter_are_words_and_hyphens_do_not_count() -> None:
    assert _together([["r"]], "An R package.") and not _together([["r"]], "This is relatively relevant.")
    assert _together([["covid", "19"]], "COVID19 spread.") and _together([["covid19"]], "COVID-19 spread.")
    assert _together([["muller"]], "Müller wrote it.")


def test_every_paper_that_says_it_is_listed(searcher: Searcher) -> None:
    result = ask(searcher, "Which papers describe snapshots?")
    cursor = searcher.current().snapshot.cursor()
    saying = {p for (p,) in cursor.execute("SELECT paper_id FROM sentences WHERE text ILIKE '%snapshot%'").fetchall()}
    [table] = result.tables
    assert result.status == "complete" and saying <= {row[0].paper_id for row in table.rows}
    count = searcher.current().snapshot.cursor().execute("SELECT count(*) FROM papers").fetchone()
    assert count is not None and f"of the {count[0]} papers looked at" in result.answer
    assert all("snapshot" in row[1].text.casefold() for row in table.rows if row[0].paper_id in saying)
    assert [n for segment in result.segments for n in segment.citations] == [c.n for c in result.citations]


def test_what_no_paper_speaks_of_has_no_list(searcher: Searcher) -> None:
    result = ask(searcher, "Which papers study quantum chromodynamics?")
    assert result.status == "abstained" and not result.tables and "quantum chromodynamics" in result.answer


def test_a_filter_holds_and_a_mode_that_is_named_is_kept(searcher: Searcher) -> None:
    papers = searcher.current().corpus.paper_ids[:2]
    result = ask(searcher, "Which papers describe snapshots?", filters={"paper_ids": list(papers)})
    assert {citation.paper_id for citation in result.citations} <= set(papers)
    assert "looked at" not in ask(searcher, "Which papers describe snapshots?", mode="keyword").answer


def test_japanese(searcher: Searcher) -> None:
    result = ask(searcher, "文字バイグラムについて述べている論文はどれですか。")
    assert "調べた論文" in result.answer and result.citations

"""Questions about the sample collection itself, answered from its tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.abstract_answer import abstract_answer
from monjyu_query.answers.render import print_result
from monjyu_query.answers.segments import answer_markdown
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.papers.names import paper_in_question
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import RECORDS, World
from tests.query.test_knowledge_search import stands

INCREMENTAL = "incremental-indexes-8583e31c"
UNDATED: dict[str, dict[str, int]] = {"herons": {"year": 2021}, "gulls": {}, "eels": {}}


@pytest.fixture(scope="module")
def searcher(sample_data: Path) -> Searcher:
    return Searcher(DataFolder(sample_data), "samples")


@pytest.fixture(scope="module")
def unread(sample_data: Path) -> Searcher:
    """The same without the reader: for questions whose answer from the papers does not matter."""
    return Searcher(DataFolder(sample_data), "samples", instead={"search": {"reader": "off"}})


def ask(searcher: Searcher, query: str, **more: object) -> SearchResult:
    return searcher.search(make_request(**{"query": query, "collection": "samples", **more}))


def named(result: SearchResult) -> set[str]:
    """The papers of the answer's table."""
    return {cell.paper_id for table in result.tables for row in table.rows for cell in row if cell.paper_id}


def test_a_count_has_its_rows(searcher: Searcher) -> None:
    result = ask(searcher, "How many papers are in the collection?")
    papers = searcher.current().corpus.paper_ids
    assert (result.mode, result.routing.query_type, result.status) == ("catalogue", "collection", "complete")
    assert result.segments[0].text == f"The collection has {len(papers)} papers."
    assert named(result) == set(papers) and result.hits == []
    assert result.answer == answer_markdown(result.segments, result.tables)
    assert (result.verified, result.usage.llm_calls) == (False, 0)


@pytest.mark.parametrize(
    ("query", "words", "papers"),
    [
        ("Who wrote Incremental Must Equal Full?", "Wanjiru Castellane, Jonas Perevalt", {INCREMENTAL}),
        ("Who wrote Castellane and Perevalt 2025?", "Wanjiru Castellane", {INCREMENTAL}),
        ("List papers by Castellane", "1 paper in the collection is by Castellane", {INCREMENTAL}),
        ("When was “Incremental Must Equal Full” published?", "2025", {INCREMENTAL}),
        ("How many papers were published before 1999?", "0 papers in the collection are from 1998 or earlier", set()),
        ("論文は何本ありますか", "本の論文があります", None),
        ("芦原千紘が書いた論文は？", "1本", {"language-merging-57ff5f13"}),
        ("Which paper is the most cited?", "is cited most often, by", None),
        ("What is the title of the paper by Castellane?", "“Incremental Must Equal Full", {INCREMENTAL}),
        ("How many authors does the paper by Castellane have?", "has 2 authors: Wanjiru", {INCREMENTAL}),
        ("芦原千紘の論文の著者は何人ですか", "の著者は", {"language-merging-57ff5f13"}),
    ],
)  # fmt: skip
def test_rows_of_the_tables(searcher: Searcher, query: str, words: str, papers: set[str] | None) -> None:
    result = ask(searcher, query)
    assert result.mode == "catalogue" and words in result.segments[0].text
    assert papers is None or named(result) == papers


def test_a_description_that_no_paper_bears_out_gives_the_nearest(searcher: Searcher, unread: Searcher) -> None:
    result = ask(searcher, "Who wrote the paper about rebuilding only what changed?")
    assert (result.mode, result.status) == ("catalogue", "abstained")
    nearest = "No paper in the collection clearly matches “rebuilding only what changed”."
    assert result.segments[0].text.startswith(nearest)
    assert INCREMENTAL in named(result) and len(named(result)) == 3
    assert ask(unread, "Who wrote the Iliad?").mode != "catalogue"


def test_who_cites_and_who_is_cited_agree(searcher: Searcher) -> None:
    citing = ask(searcher, "Which papers cite Incremental Must Equal Full?")
    assert citing.tables[0].columns[-1] == "Quote" and named(citing)
    for paper in named(citing):
        [title] = [row[1].text for row in citing.tables[0].rows if row[0].paper_id == paper]
        assert INCREMENTAL in named(ask(searcher, f"Which papers does “{title}” cite?"))


def test_a_mention_is_quoted(searcher: Searcher) -> None:
    result = ask(searcher, "Which papers mention Louvain?")
    assert result.verified and result.citations and len(result.tables[0].rows) == len(result.citations)
    assert all("Louvain" in one.quote and stands(searcher, one) for one in result.citations)
    assert [cell.citations for row in result.tables[0].rows for cell in row[1:2]] == [[c.n] for c in result.citations]


def test_nobody_of_that_name(searcher: Searcher) -> None:
    result = ask(searcher, "Which papers did Castelane write?")
    assert result.status == "abstained" and "No paper in the collection is by Castelane." in result.answer
    assert "Wanjiru Castellane" in result.answer


def test_what_is_no_paper_is_searched_for(unread: Searcher) -> None:
    assert ask(unread, "Who wrote the constitution of Utopia?").mode != "catalogue"
    assert ask(unread, "How many papers are there?", mode="keyword", answer=False).mode == "keyword"


def test_tables_answer_in_every_mode_and_at_every_budget(searcher: Searcher) -> None:
    for more in ({"mode": "hybrid"}, {"mode": "lazy", "budget": 5}, {"controller": "progressive"}):
        assert ask(searcher, "How many papers are there?", **more).mode == "catalogue"
        assert "Wanjiru Castellane" in ask(searcher, "Who wrote the paper on incremental indexes?", **more).answer


def test_filters_hold(searcher: Searcher) -> None:
    result = ask(searcher, "How many papers are there?", filters={"languages": ["ja"]})
    assert result.segments[0].text.startswith("The collection has 2 papers") and len(named(result)) == 2


def test_text_of_a_question_is_no_sql(searcher: Searcher) -> None:
    result = ask(searcher, "Which papers did O'Hara'; DROP TABLE papers; -- write?")
    assert result.status == "abstained"
    assert ask(searcher, "List all papers").segments[0].text.startswith("The collection has 9")


def test_the_table_on_a_terminal(searcher: Searcher, capsys: pytest.CaptureFixture[str]) -> None:
    print_result(ask(searcher, "List papers by Castellane"))
    shown = capsys.readouterr().out
    assert "Paper\tTitle\tAuthors\tYear\n" in shown and "\t2025\n" in shown and "No passages." not in shown


def test_who_made_a_thing_that_a_paper_is_named_after(searcher: Searcher, unread: Searcher) -> None:
    made = ask(searcher, "Who developed Incremental Must Equal Full?")
    assert made.mode == "catalogue" and "is by Wanjiru Castellane, Jonas Perevalt" in made.answer
    assert ask(unread, "Who developed snapshots?").mode != "catalogue"  # many papers speak of them


def test_the_name_of_a_paper_in_a_question(searcher: Searcher) -> None:
    index = searcher.current()
    found = paper_in_question(index, "What does incremental-must-equal full propose?")
    assert found is not None and (found.paper_id, found.rest.split()) == (INCREMENTAL, ["What", "does", "propose?"])
    assert paper_in_question(index, "What does it mean that incremental equals full?") is None
    assert paper_in_question(index, "What is score fusion?") is None  # its title has no name before a colon


def test_what_a_paper_says_of_its_name_begins_there(searcher: Searcher) -> None:
    index = searcher.current()
    [paper] = [one for one in index.about_papers if one.startswith("reader-leases")]
    whole, named = abstract_answer(index, paper, "en"), abstract_answer(index, paper, "en", "readers never wait")
    assert whole is not None and named is not None
    assert whole.citations[0].quote.startswith("A derived index")
    assert named.citations[0].quote.startswith("Readers never wait")
    assert abstract_answer(index, paper, "en", "zeppelins") is None


def test_a_count_by_year_says_how_many_papers_have_none(tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "title": name, "text": f"On {name}.", **more}) for name, more in UNDATED.items()]
    world = World.of(tmp_path, {RECORDS: "\n".join(lines)})
    undated = Searcher(world.data, "c")
    for question in ("Which years are covered?", "How many papers were published since 2020?"):
        assert ask(undated, question, collection="c").answer.startswith(("The papers are from", "1 paper"))
        assert "2 papers in the collection have no recorded year." in ask(undated, question, collection="c").answer

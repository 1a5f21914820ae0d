"""Questions about the themes of a whole collection: which are, and that the answer names, counts and quotes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.questions.theme_tree import LEAST_SHARE, main_themes
from monjyu_query.search.searcher import Searcher

RUN = "What themes run through the collection?"


@pytest.fixture(scope="module")
def searcher(whole_data: Path) -> Searcher:
    return Searcher(DataFolder(whole_data), "samples")


def ask(searcher: Searcher, query: str, **more: Any) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", **more))


@pytest.mark.parametrize("query", [RUN, "このコレクションの主なテーマは何ですか？"])
def test_every_theme_is_named_counted_and_quoted(searcher: Searcher, query: str) -> None:
    result = ask(searcher, query)
    assert (result.mode, result.status, result.verified) == ("catalogue", "complete", True)
    cursor = searcher.current().snapshot.cursor()
    titles = {title for (title,) in cursor.execute("SELECT title FROM community_reports").fetchall()}
    themes = [segment for segment in result.segments if segment.label]
    assert themes and {segment.label for segment in themes} <= titles
    cited = [segment.citations for segment in result.segments if segment.citations]
    assert cited == [[n] for n in range(1, len(themes) + 1)] == [[citation.n] for citation in result.citations]
    assert all(citation.quote for citation in result.citations) and result.hits


def test_papers_are_counted_that_say_much_on_a_theme(searcher: Searcher) -> None:
    """Against the table of communities itself, paper by paper."""
    cursor = searcher.current().snapshot.cursor()
    papers = [name for (name,) in cursor.execute("SELECT paper_id FROM papers").fetchall()]
    rows = cursor.execute(
        """SELECT k.paper_id, l.community_id, sum(l.share) FROM chunk_communities l JOIN chunks k USING (chunk_id)
        JOIN communities c USING (community_id) WHERE c.level = 0 AND len(c.top_phrases) > 0 GROUP BY ALL"""
    ).fetchall()
    found = main_themes(cursor, "communities", papers)
    for theme in found:
        for paper in papers:
            own = {community: float(share) for name, community, share in rows if name == paper}
            counts = own.get(theme.theme_id, 0.0) >= LEAST_SHARE * sum(own.values()) > 0
            assert counts == (paper in theme.papers), (theme, paper)
    assert [len(theme.papers) for theme in found] == sorted((len(theme.papers) for theme in found), reverse=True)
    some = main_themes(cursor, "communities", papers[1:4])
    assert {paper for theme in some for paper in theme.papers} <= set(papers[1:4])


def test_a_mode_a_budget_and_a_single_paper_are_answered_as_before(searcher: Searcher) -> None:
    assert ask(searcher, RUN, mode="hybrid").mode == "hybrid"
    assert ask(searcher, RUN, filters={"paper_ids": ["score-fusion"]}).mode != "catalogue"


def test_below_level_1_it_is_searched_for(sample_data: Path) -> None:
    assert ask(Searcher(DataFolder(sample_data), "samples"), RUN).mode != "catalogue"

"""A collection seen whole: maps as columns and themes as a tree, against the tables that they are read from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monjyu_core.errors import QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import Snapshot, reading
from monjyu_query.questions.map_columns import EDGES_A_NODE, MOST_DRAWN, MapColumns, map_columns, papers_of_concept
from monjyu_query.questions.theme_page import theme_page
from monjyu_query.questions.theme_tree import check_level, themes_of, usual_kind
from tests.properties import examples, given, st


@pytest.fixture(scope="module")
def snapshot(whole_data: Path) -> Iterator[Snapshot]:
    with reading(DataFolder(whole_data).collection("samples")) as opened:
        yield opened


def test_the_map_of_citations_is_the_network(snapshot: Snapshot) -> None:
    whole = map_columns(snapshot, "citations")
    cursor = snapshot.cursor()
    rows = cursor.execute("SELECT DISTINCT citing_id, cited_id FROM citation_edges").fetchall()
    drawn = [(whole.ids[s], whole.ids[t]) for s, t in zip(whole.sources, whole.targets, strict=True)]
    assert sorted(drawn[: whole.certain]) == sorted(rows) and len(whole.ids) == whole.total == 9
    assert whole.sizes == [sum(cited == name for _, cited in rows) for name in whole.ids]
    assert whole.unlinked == sum(all(name not in edge for edge in rows) for name in whole.ids)
    cited = {frozenset(edge) for edge in rows}
    assert not [edge for edge in drawn[whole.certain :] if frozenset(edge) in cited]
    assert all(-1 <= place < len(whole.named) for place in whole.communities) and len(whole.named) > 1
    assert whole.years == [[2025]] * 9 and all("2025" in name for name in whole.names)


def test_a_concept_keeps_its_heaviest_edge(snapshot: Snapshot) -> None:
    whole = map_columns(snapshot, "concepts")
    place = {name: n for n, name in enumerate(whole.ids)}
    drawn = set(zip(whole.sources, whole.targets, strict=True))
    rows = snapshot.cursor().execute("SELECT source, target, weight FROM graph_edges").fetchall()
    assert whole.total == len(whole.ids) and whole.certain == len(drawn) < len(rows)
    for name, n in place.items():
        own = [row for row in rows if name in row[:2]]
        if own:
            most = max(weight for _, _, weight in own)
            assert any((place[s], place[t]) in drawn for s, t, weight in own if weight == most), n
    assert max(whole.communities) == len(whole.named) - 1
    [best, *_] = papers_of_concept(snapshot, whole.ids[0], 3)
    assert best[3] >= 1 and not papers_of_concept(snapshot, "no such phrase", 3)


@given(most=st.integers(1, 400), kind=st.sampled_from(["citations", "concepts"]))
@examples(15)
def test_a_smaller_map_holds_the_largest_nodes(snapshot: Snapshot, most: int, kind: str) -> None:
    whole, part = (map_columns(snapshot, kind, size) for size in (MOST_DRAWN, most))  # type: ignore[arg-type]
    assert part.ids == whole.ids[:most] and part.total == whole.total
    assert len(part.sources) == len(part.targets) <= EDGES_A_NODE * most
    ends = [*part.sources, *part.targets]
    assert not ends or (min(ends) >= 0 and max(ends) < len(part.ids))
    assert part.sizes == sorted(part.sizes, reverse=True)


def test_five_thousand_papers_stay_under_a_megabyte() -> None:
    count = MOST_DRAWN
    title = "A study of moderate length on how often measured things are used in rooms of one's own"
    edges = [n % count for n in range(EDGES_A_NODE * count)]
    made = MapColumns(
        collection="c", snapshot_id="s", level=4, kind="citations", total=count, unlinked=0, certain=len(edges) // 2,
        ids=[f"journal.{n:05d}-5dc9ff4b" for n in range(count)], labels=[title] * count,
        names=["Barba and Forsyth (2018)"] * count, sizes=[7] * count, years=[[2018]] * count,
        communities=[3] * count, named=[], sources=edges, targets=edges,
    )  # fmt: skip
    assert len(made.model_dump_json()) < 1_000_000


def test_a_low_level_says_what_is_needed(snapshot: Snapshot) -> None:
    with pytest.raises(QueryError, match=r"needs level 5; .* at level 4.*upgrade samples --level 5"):
        check_level(snapshot, 5, "This")


@pytest.mark.parametrize("kind", ["reports", "communities"])
def test_themes_are_a_tree(snapshot: Snapshot, kind: str) -> None:
    themes = {theme.id: theme for theme in themes_of(snapshot, kind)}  # type: ignore[arg-type]
    table = "community_reports" if kind == "reports" else "communities"
    count = snapshot.cursor().execute(f"SELECT count(*) FROM {table}").fetchone()
    assert count == (len(themes),) and usual_kind(snapshot) == "reports"
    for theme in themes.values():
        above = theme.parent
        seen = {theme.id}
        while above is not None:
            assert above not in seen
            seen.add(above)
            above = themes[above].parent
        assert theme.papers >= 1 and theme.title


def test_a_theme_cites_what_stands_in_its_papers(snapshot: Snapshot) -> None:
    found = 0
    for theme in themes_of(snapshot, "reports"):
        page = theme_page(snapshot, theme.id)
        assert page is not None and page.kind == "reports" and page.papers
        assert sum(paper.share for paper in page.papers) == pytest.approx(1)
        texts = dict(snapshot.cursor().execute("SELECT sentence_id, text FROM sentences").fetchall())
        numbers = {citation.n: citation for citation in page.citations}
        for finding in page.findings:
            found += len(finding.citations)
            assert all(texts[numbers[n].sentence_ids[0]] == numbers[n].quote for n in finding.citations)
    assert found > 5
    community = themes_of(snapshot, "communities")[0]
    page = theme_page(snapshot, community.id)
    assert page is not None and page.kind == "communities" and page.passages and not page.findings
    assert {term.name for term in page.terms} & set(community.title.split(", "))
    assert theme_page(snapshot, "none") is None

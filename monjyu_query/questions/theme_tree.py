"""The themes of a collection as a tree: community reports from level 3 on, communities of the noun graph from 1."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import duckdb
from pydantic import BaseModel

from monjyu_core.errors import QueryError
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.knowledge.reports import nearest


# The level required for a view of the whole collection.
def check_level(snapshot: Snapshot, level: int, what: str) -> None:
    """Raise QueryError, with the command that builds the level, if the snapshot is below `level`."""
    manifest = snapshot.manifest
    if manifest.level < level:
        raise QueryError(
            f"{what} needs level {level}; the collection is at level {manifest.level}.",
            f"`monjyu upgrade {manifest.collection} --level {level}` builds it.",
        )


ThemeKind = Literal["reports", "communities"]


class Theme(BaseModel):
    """A theme of the tree. `parent` is the theme above, None at the top, from which `depth` counts. `size` counts
    entities or phrases. `sentence` (top themes only) is the first of its report, or the sentence of its papers with the
    most of its phrases."""

    id: str
    parent: str | None
    depth: int
    title: str
    size: int
    papers: int
    first_year: int | None
    last_year: int | None
    rating: float | None
    sentence: str = ""


# Papers are counted before titles are joined, because grouping by titles takes three times as long.
_REPORTS = r"""WITH told AS (SELECT m.community_id, e.paper_id
    FROM entity_community_members m JOIN entity_chunks e USING (entity_id) GROUP BY ALL),
span AS (SELECT community_id, count(*) AS papers, min(p.year) AS first_year, max(p.year) AS last_year
    FROM told JOIN papers p USING (paper_id) GROUP BY community_id)
SELECT r.community_id, c.parent_id, r.level, r.title, c.size, coalesce(s.papers, 0), s.first_year, s.last_year,
    r.rating, CASE WHEN c.parent_id IS NULL
        THEN coalesce(regexp_extract(r.summary, '^.{20,240}?([.!?](\s|$)|。)'), '') ELSE '' END
FROM community_reports r JOIN entity_communities c USING (community_id) LEFT JOIN span s USING (community_id)
ORDER BY r.rating DESC NULLS LAST, c.size DESC, r.community_id"""
_COMMUNITIES = r"""WITH told AS (SELECT l.community_id, k.paper_id
    FROM chunk_communities l JOIN chunks k USING (chunk_id) GROUP BY ALL),
span AS (SELECT community_id, count(*) AS papers, min(p.year) AS first_year, max(p.year) AS last_year
    FROM told JOIN papers p USING (paper_id) GROUP BY community_id),
near AS (SELECT c.community_id, c.top_phrases[:5] AS phrases, l.chunk_id, l.share
    FROM communities c JOIN chunk_communities l USING (community_id) WHERE c.parent_id IS NULL
    QUALIFY row_number() OVER (PARTITION BY c.community_id ORDER BY l.share DESC, l.chunk_id) <= 8),
told_by AS (SELECT n.community_id, t.text
    FROM near n JOIN chunk_sentences o USING (chunk_id) JOIN sentences t USING (sentence_id)
    WHERE length(t.text) BETWEEN 20 AND 240 AND regexp_matches(t.text, '^[\p{Lu}\p{Lo}].*[.!?。]$')
    QUALIFY row_number() OVER (PARTITION BY n.community_id ORDER BY
        len(list_filter(n.phrases, lambda one: contains(lower(t.text), lower(one)))) DESC,
        n.share DESC, t.sentence_id) = 1)
SELECT c.community_id, c.parent_id, c.level, array_to_string(c.top_phrases[:3], ', '), c.size, coalesce(s.papers, 0),
    s.first_year, s.last_year, NULL, coalesce(b.text, '')
FROM communities c LEFT JOIN span s USING (community_id) LEFT JOIN told_by b USING (community_id)
ORDER BY c.size DESC, c.community_id"""
_PARENTS = "SELECT community_id, parent_id FROM entity_communities"
_KEPT: WeakKeyDictionary[Snapshot, dict[ThemeKind, list[Theme]]] = WeakKeyDictionary()


def themes_of(snapshot: Snapshot, kind: ThemeKind) -> list[Theme]:
    """All themes, the most important of each branch first. Raises QueryError if the level is not built.

    They are cached while the snapshot is open, because they take a second for thousands of papers.
    """
    kept = _KEPT.setdefault(snapshot, {})
    if kind not in kept:
        kept[kind] = _read(snapshot, kind)
    return list(kept[kind])


def _read(snapshot: Snapshot, kind: ThemeKind) -> list[Theme]:
    cursor = snapshot.cursor()
    if kind == "communities":
        check_level(snapshot, 1, "The tree of themes")
        rows = cursor.execute(_COMMUNITIES).fetchall()
        parents = {row[0]: row[1] for row in rows}
    else:
        check_level(snapshot, 3, "The tree of reports")
        rows = cursor.execute(_REPORTS).fetchall()
        parents = dict(cursor.execute(_PARENTS).fetchall())
    known = {row[0] for row in rows}
    names = tuple(Theme.model_fields)
    found = [Theme(**dict(zip(names, row, strict=True))) for row in rows]
    for theme in found:
        theme.parent = nearest(theme.id, parents, known)
    return found


def usual_kind(snapshot: Snapshot) -> ThemeKind:
    """The kind of theme shown by default: reports from level 3 on, otherwise communities."""
    return "reports" if snapshot.manifest.level >= 3 else "communities"


# The themes that papers of a collection share: the number of papers largely about each, and its sentences.
LEAST_SHARE = 0.1
"""The minimum share of a paper's mentions of all themes that a theme must have for the paper to count for it."""
_COMMON = 2
"""The minimum number of papers of a theme of the collection."""
_FEWEST = 3
"""The number of shared themes below which themes of single papers are included."""


@dataclass(frozen=True)
class MainTheme:
    """A theme of the collection. `papers`: the ids of those largely about it, the most relevant first."""

    theme_id: str
    title: str
    papers: tuple[str, ...]


# Themes at the top of the tree. A report whose title names only people and institutions is not a theme.
_SAID: dict[ThemeKind, str] = {
    "reports": """SELECT r.community_id AS theme, r.title, coalesce(r.rating, 0)::DOUBLE AS weight, m.paper_id,
        m.mentions::DOUBLE AS said
    FROM community_reports r JOIN entity_communities c USING (community_id)
    JOIN entity_community_members b USING (community_id) JOIN entity_chunks m USING (entity_id)
    WHERE c.level = 0 AND r.title <> '' AND NOT coalesce((
        SELECT bool_and(e.type IN ('organization', 'researcher')) FROM entity_community_members n
        JOIN entities e USING (entity_id) WHERE n.community_id = r.community_id AND contains(r.title, e.name)),
        false)""",
    "communities": """SELECT c.community_id AS theme, array_to_string(c.top_phrases[:3], ', ') AS title,
        c.size::DOUBLE AS weight, k.paper_id, l.share::DOUBLE AS said
    FROM communities c JOIN chunk_communities l USING (community_id) JOIN chunks k USING (chunk_id)
    WHERE c.level = 0 AND len(c.top_phrases) > 0""",
}
_THEMES = """WITH said AS ({said}), known AS (
    SELECT theme, title, weight, i.canonical_id AS paper, sum(said)::DOUBLE AS said
    FROM said JOIN paper_identity i USING (paper_id)
    WHERE list_contains($papers::VARCHAR[], paper_id) GROUP BY ALL),
shares AS (SELECT *, said / sum(said) OVER (PARTITION BY paper) AS share FROM known)
SELECT theme, title, list(paper ORDER BY said DESC, paper)
FROM shares WHERE share >= $least GROUP BY theme, title, weight
ORDER BY count(*) DESC, weight DESC, theme"""


def main_themes(cursor: duckdb.DuckDBPyConnection, kind: ThemeKind, papers: Collection[str]) -> list[MainTheme]:
    """The themes of `papers`, most papers first. A theme of a single paper is included only if few are shared."""
    counted = sorted(set(papers))
    values = {"papers": counted, "least": LEAST_SHARE}
    rows = cursor.execute(_THEMES.format(said=_SAID[kind]), values).fetchall()
    found = [MainTheme(name, " ".join(title.split()), tuple(own)) for name, title, own in rows]
    common = [theme for theme in found if len(theme.papers) >= _COMMON]
    return common if len(common) >= _FEWEST else found

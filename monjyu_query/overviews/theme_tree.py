"""The themes of a collection as a tree: community reports from level 3 on, communities of the noun graph from 1."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.knowledge.reports import nearest
from monjyu_query.overviews.built_levels import check_level

ThemeKind = Literal["reports", "communities"]


class Theme(BaseModel):
    """`parent` is the theme above, None at the top, `depth` counts from there. `size` counts entities or phrases."""

    id: str
    parent: str | None
    depth: int
    title: str
    size: int
    papers: int
    first_year: int | None
    last_year: int | None
    rating: float | None


_REPORTS = """SELECT r.community_id, c.parent_id, r.level, r.title, c.size, count(DISTINCT p.paper_id), min(p.year),
    max(p.year), r.rating FROM community_reports r JOIN entity_communities c USING (community_id)
LEFT JOIN entity_community_members m USING (community_id) LEFT JOIN entity_chunks e USING (entity_id)
LEFT JOIN papers p ON p.paper_id = e.paper_id
GROUP BY ALL ORDER BY r.rating DESC NULLS LAST, c.size DESC, r.community_id"""
_COMMUNITIES = """SELECT c.community_id, c.parent_id, c.level, array_to_string(c.top_phrases[:3], ', '), c.size,
    count(DISTINCT p.paper_id), min(p.year), max(p.year), NULL
FROM communities c LEFT JOIN chunk_communities l USING (community_id) LEFT JOIN chunks k USING (chunk_id)
LEFT JOIN papers p ON p.paper_id = k.paper_id
GROUP BY c.community_id, c.parent_id, c.level, c.top_phrases, c.size
ORDER BY c.size DESC, c.community_id"""
_PARENTS = "SELECT community_id, parent_id FROM entity_communities"


def themes_of(snapshot: Snapshot, kind: ThemeKind) -> list[Theme]:
    """All themes, the most important of each branch first. QueryError where the level is not built."""
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
    """What the collection has of more worth."""
    return "reports" if snapshot.manifest.level >= 3 else "communities"

"""The themes that papers of a collection share: how many speak much of each, and which sentences tell it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import duckdb

from monjyu_query.overviews.theme_tree import ThemeKind

LEAST_SHARE = 0.1
"""Of what a paper says on all themes, so much must be on one for the paper to count as one of its papers."""
_COMMON = 2
"""Papers that make a theme one of a collection and not of one paper."""
_FEWEST = 3
"""Where fewer themes are common, those of single papers are told too."""


@dataclass(frozen=True)
class MainTheme:
    """`papers`: ids of those that speak much of it, the one that says most on it first."""

    theme_id: str
    title: str
    papers: tuple[str, ...]


# Themes at the top of the tree. What is named by people and institutions alone is no theme.
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
    """Of these papers, the theme of most papers first. A theme of a single paper is told only where few are shared."""
    counted = sorted(set(papers))
    values = {"papers": counted, "least": LEAST_SHARE}
    rows = cursor.execute(_THEMES.format(said=_SAID[kind]), values).fetchall()
    found = [MainTheme(name, " ".join(title.split()), tuple(own)) for name, title, own in rows]
    return _shared(found)


def _shared(found: Sequence[MainTheme]) -> list[MainTheme]:
    common = [theme for theme in found if len(theme.papers) >= _COMMON]
    return common if len(common) >= _FEWEST else list(found)

"""Files of the same paper: by DOI, by arXiv id, or by near-equal title and authors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import duckdb
import numpy as np
import pyarrow as pa
from rapidfuzz import fuzz, process

from monjyu_assets.matching.match_keys import connect
from monjyu_assets.matching.union_find import UnionFind

Reason = Literal["only", "canonical", "doi", "arxiv_id", "title_authors"]

SAME_TITLE = 95.0
"""Least similarity (0-100, normalised edit similarity) of the titles of one paper's files: line breaks and lost accents
stay above 97, titles that differ by a word of six letters or more fall below 94 up to a hundred characters."""
SHORTEST_TITLE = 15
"""Characters. Shorter titles ("Editorial", "Introduction") say nothing."""
LARGEST_YEAR_GAP = 4
"""Years between a preprint and its publication."""

_BY_ID = """
SELECT a.paper_id, b.paper_id, 'doi' FROM paper_keys a JOIN paper_keys b ON a.doi = b.doi AND a.paper_id < b.paper_id
WHERE a.title_key = '' OR b.title_key = '' OR list_has_any(a.families, b.families)
   OR jaro_winkler_similarity(a.title_key, b.title_key) > 0.8
UNION ALL
SELECT a.paper_id, b.paper_id, 'arxiv_id'
FROM paper_keys a JOIN paper_keys b ON a.arxiv_id = b.arxiv_id AND a.paper_id < b.paper_id
ORDER BY ALL
"""
"""A DOI can be a template's placeholder or the whole volume's: something else must agree too."""

_ALIKE = f"""
SELECT a.paper_id, b.paper_id, a.title_key, b.title_key
FROM paper_keys a JOIN paper_keys b ON a.families[1] = b.families[1] AND a.paper_id < b.paper_id
WHERE least(length(a.title_key), length(b.title_key)) >= {SHORTEST_TITLE}
  AND abs(length(a.title_key) - length(b.title_key)) <= 0.1 * length(a.title_key) + 2
  AND numerals(a.title_key) = numerals(b.title_key) AND about_another(a.title_key) = about_another(b.title_key)
  AND len(list_intersect(a.families, b.families)) * 2 >= least(len(a.families), len(b.families))
  AND NOT coalesce(a.doi <> b.doi AND NOT is_preprint(a.doi) AND NOT is_preprint(b.doi), false)
  AND NOT coalesce(a.arxiv_id <> b.arxiv_id, false)
  AND NOT coalesce(abs(a.year - b.year) > {LARGEST_YEAR_GAP}, false)
ORDER BY ALL
"""


@dataclass(frozen=True)
class Identity:
    """The paper that a file belongs to, and why: `only` file, `canonical` of several, or what joined it to them."""

    paper_id: str
    canonical_id: str
    reason: Reason


def identify(papers: pa.Table, authors: pa.Table) -> list[Identity]:
    """One row a paper, by paper_id. The columns are those that `keys.connect` needs.

    The canonical file is the one with a publisher's DOI, then with most text, then with the smallest id; one with less
    than a quarter of another's text (a library's record, an abstract) gives way to it.
    """
    with connect(papers, authors) as connection:
        groups: UnionFind[str] = UnionFind()
        reasons: dict[str, set[Reason]] = {}
        for one, other, reason in [*connection.execute(_BY_ID).fetchall(), *_alike(connection)]:
            groups.join(one, other)
            for paper_id in (one, other):
                reasons.setdefault(paper_id, set()).add(reason)
        ranked = connection.execute(
            "SELECT paper_id, characters FROM paper_keys ORDER BY doi IS NULL, coalesce(is_preprint(doi), true), "
            "characters DESC, paper_id"
        ).fetchall()
    longest: dict[str, int] = {}
    for paper_id, characters in ranked:
        longest[groups.find(paper_id)] = max(characters, longest.get(groups.find(paper_id), 0))
    canonical: dict[str, str] = {}
    for paper_id, characters in ranked:
        if characters * 4 >= longest[groups.find(paper_id)]:
            canonical.setdefault(groups.find(paper_id), paper_id)
    return [
        _identity(paper_id, canonical[groups.find(paper_id)], reasons.get(paper_id, set()))
        for paper_id, _ in sorted(ranked)
    ]


def _identity(paper_id: str, canonical_id: str, reasons: set[Reason]) -> Identity:
    order: tuple[Reason, ...] = ("doi", "arxiv_id", "title_authors")
    if paper_id == canonical_id:
        return Identity(paper_id, canonical_id, "canonical" if reasons else "only")
    return Identity(paper_id, canonical_id, next(reason for reason in order if reason in reasons))


def _alike(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, Reason]]:
    pairs = connection.execute(_ALIKE).fetchall()
    if not pairs:
        return []
    scores = process.cpdist(
        [pair[2] for pair in pairs], [pair[3] for pair in pairs], scorer=fuzz.ratio, dtype=np.float32
    )
    return [
        (pair[0], pair[1], "title_authors") for pair, score in zip(pairs, scores, strict=True) if score >= SAME_TITLE
    ]

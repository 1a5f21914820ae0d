"""Works that papers of a collection cite and that the collection does not have: what one might add to it."""

from __future__ import annotations

from pydantic import BaseModel

from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.citations.export import Entry, entry_of

MOST_WORKS = 1000
"""Works of one answer."""
_WORKS = """
WITH cited AS (
  SELECT u.work_id, i.canonical_id, nullif(trim(r.title), '') AS title, r.raw_text, r.authors, r.year, r.venue, r.doi,
    r.arxiv_id, u.paper_id, u.ord
  FROM unresolved_references u JOIN paper_identity i USING (paper_id)
  JOIN "references" r ON r.paper_id = u.paper_id AND r.ord = u.ord
),
wordings AS (
  SELECT work_id, lower(title) AS folded, count(*) AS often FROM cited WHERE title IS NOT NULL GROUP BY ALL
),
told AS (
  SELECT c.*, row_number() OVER (
    PARTITION BY c.work_id ORDER BY coalesce(w.often, 0) DESC, len(coalesce(c.title, c.raw_text)), c.paper_id, c.ord
  ) AS place
  FROM cited c LEFT JOIN wordings w ON w.work_id = c.work_id AND w.folded = lower(c.title)
)
SELECT work_id, any_value(coalesce(title, raw_text)) FILTER (place = 1) AS title,
  coalesce(any_value(authors) FILTER (place = 1), []), mode(year), any_value(venue) FILTER (place = 1), min(doi),
  min(arxiv_id), list(DISTINCT canonical_id ORDER BY canonical_id) AS cited_by
FROM told GROUP BY work_id HAVING len(cited_by) >= ? ORDER BY len(cited_by) DESC, title, work_id LIMIT ?
"""


class MissingWork(BaseModel):
    """A work that the collection lacks, as most of the reference lists that name it say; `cited_by` are the papers of
    the collection that cite it. What no list says is None."""

    work_id: str
    title: str
    authors: list[str] = []
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    cited_by: list[str]

    @property
    def entry(self) -> Entry:
        """As BibTeX, RIS and CSL JSON are made of."""
        return entry_of(self.work_id, self.title, self.authors, self.year, self.venue, self.doi, self.arxiv_id)


def missing_works(snapshot: Snapshot, min_count: int = 2, most: int = 100) -> list[MissingWork]:
    """The works that at least `min_count` papers cite, those cited most first; `most` of them at most.

    References to one work are those that matching found to name the same (by DOI, arXiv id, or title and year): one
    that is written too differently stands twice.
    """
    rows = snapshot.cursor().execute(_WORKS, [max(1, min_count), min(most, MOST_WORKS)]).fetchall()
    return [MissingWork(**dict(zip(MissingWork.model_fields, row, strict=True))) for row in rows]

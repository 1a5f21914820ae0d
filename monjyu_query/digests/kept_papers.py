"""Papers in sentences that were read before: who makes a table of some papers soon asks for another column of them."""

from __future__ import annotations

from monjyu_query.digests.paper_text import PaperText, read_paper
from monjyu_query.ranking.open_index import OpenIndex

MOST_SENTENCES = 5_000
"""Of all papers that an open snapshot keeps, about five kilobytes each."""


def kept_paper(index: OpenIndex, paper_id: str) -> PaperText:
    """As `read_paper`, once for each open snapshot while there is room. May be shared by threads."""
    kept = index.kept_papers
    found: PaperText | None = kept.get(paper_id)
    if found is None:
        found = read_paper(index, paper_id)
        if sum(len(one.sentences) for one in list(kept.values())) + len(found.sentences) > MOST_SENTENCES:
            kept.clear()
        kept[paper_id] = found
    return found

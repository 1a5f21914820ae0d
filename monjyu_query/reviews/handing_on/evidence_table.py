"""The evidence table of a review: the study table of what is included, a column for each field of the protocol."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from monjyu_query.digests.asker import Asker
from monjyu_query.digests.digest_result import Digest
from monjyu_query.digests.study_table.study_table import study_table
from monjyu_query.digests.study_table.which_papers import MOST_PAPERS
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.review_protocol import Protocol


def evidence_tables(
    searcher: Asker,
    index: OpenIndex,
    protocol: Protocol,
    papers: Sequence[str],
    cancel: threading.Event | None = None,
) -> list[Digest]:
    """One table, or several where there are more papers than one holds; none where nothing is included."""
    batches = [papers[start : start + MOST_PAPERS] for start in range(0, len(papers), MOST_PAPERS)]
    return [
        study_table(searcher, protocol.fields, batch, most=MOST_PAPERS, index=index, cancel=cancel) for batch in batches
    ]

"""The cells of one paper in its own sentences."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_query.answers.selection import has_digits
from monjyu_query.digests.asker import Asker
from monjyu_query.digests.comparison import searched
from monjyu_query.digests.draft import Draft, Said, as_said
from monjyu_query.digests.paper_text import Choice, PaperText, question_of
from monjyu_query.digests.study_table.table_columns import Column
from monjyu_query.search.open_index import OpenIndex

PASSAGES = 4
"""Of a paper that are read for a column in words."""
_SHARE = 0.5
"""Of the weight of a column's words, what a quote must have: an answer may come nearer to them than this, but a cell
that is not about its column says something wrong of its paper."""


def quoted_cells(
    searcher: Asker, index: OpenIndex, draft: Draft, paper: PaperText, columns: Sequence[Column]
) -> list[list[Said]]:
    """A quote for each column, none where the paper says nothing of it; no quote of a known column stands in two."""
    choice = Choice(paper)
    told = draft.quoted_each(
        [choice.tell(column.aspect, 1, counts=column.counts) if column.aspect else [] for column in columns]
    )
    return [
        cell if column.aspect else _searched(searcher, index, paper, column)
        for column, cell in zip(columns, told, strict=True)
    ]


def _searched(searcher: Asker, index: OpenIndex, paper: PaperText, column: Column) -> list[Said]:
    asked = question_of(index, column.words)
    for citation in searched(searcher, index, paper.paper_id, column.name, PASSAGES):
        [terms] = index.keywords.terms([citation.quote])
        if asked.share(frozenset(terms)) >= _SHARE and (has_digits(citation.quote) or not column.counts):
            return as_said([citation])
    return []

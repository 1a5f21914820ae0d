"""Criteria in words without a rule: a search in the paper finds a sentence on them, or leaves them to a person."""

from __future__ import annotations

from monjyu_core.reviews.review_state import Verdict
from monjyu_query.digests.asker import Asker
from monjyu_query.digests.comparison import searched
from monjyu_query.digests.paper_text import question_of
from monjyu_query.reviews.review_protocol import Criterion
from monjyu_query.reviews.review_quotes import as_quote
from monjyu_query.search.open_index import OpenIndex

PASSAGES = 4
"""Of a paper that are read for a criterion."""
_SHARE = 0.5
"""Of the weight of a criterion's words, what a quote must have, as in the cells of a study table."""


def by_search(searcher: Asker, index: OpenIndex, criterion: Criterion, paper_id: str, *, excludes: bool) -> Verdict:
    """A criterion that includes holds where a sentence has most of its words. One that excludes never holds by likeness
    alone: such a sentence leaves it to a person, for a study lost is worse than one read twice."""
    asked = question_of(index, criterion.text)
    found = [
        citation
        for citation in searched(searcher, index, paper_id, criterion.text, PASSAGES)
        if asked.share(frozenset(index.keywords.terms([citation.quote])[0])) >= _SHARE
    ]
    quotes = [as_quote(citation) for citation in found[:1]]
    if excludes:
        why = "a sentence is near to it: a person decides" if quotes else "no sentence is near to it"
        return Verdict(
            criterion=criterion.id, holds="unclear" if quotes else "no", why=why, engine="search", quotes=quotes
        )
    why = "a sentence says so" if quotes else "no sentence says so clearly: a person decides"
    return Verdict(
        criterion=criterion.id, holds="yes" if quotes else "unclear", why=why, engine="search", quotes=quotes
    )

"""The paper whose name stands in a question ("What does nbgrader do?")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact, word_spans, words
from monjyu_query.papers.paper_names import lead_of
from monjyu_query.ranking.open_index import OpenIndex

_LEAST_LETTERS, _MOST_WORDS = 5, 12
"""Of a name in a question."""
_COINED = re.compile(r"\w*(?:[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d)\w*|[a-z]\w*$")
"""A word that is written as names are: capitals within, figures, or a small letter where a title begins."""
_RARE = 25
"""Passages that may have the rarest word of a name that is made of usual words."""
_KEPT: WeakKeyDictionary[Snapshot, Mapping[str, str]] = WeakKeyDictionary()


@dataclass(frozen=True)
class NamedPaper:
    """`name` as the question has it, `rest` the question without it."""

    paper_id: str
    name: str
    rest: str


def paper_in_question(index: OpenIndex, query: str) -> NamedPaper | None:
    """The paper whose name, as its title begins before a colon, stands in a question; None where none does or the
    longest such name is that of several papers, and where it is made of words that many passages have."""
    spans = list(word_spans(query))
    names = _names(index)
    for count in range(min(_MOST_WORDS, len(spans)), 0, -1):
        for first in range(len(spans) - count + 1):
            start, end = spans[first][0], spans[first + count - 1][1]
            paper_id = names.get(compact(query[start:end]))
            if paper_id is not None:
                known = paper_id and _is_name(index, lead_of(index.about_papers[paper_id].title))
                return NamedPaper(paper_id, query[start:end], f"{query[:start]} {query[end:]}") if known else None
    return None


def _names(index: OpenIndex) -> Mapping[str, str]:
    """Names without spaces with the id of their paper, "" where several have one."""
    kept = _KEPT.get(index.snapshot)
    if kept is None:
        found: dict[str, str] = {}
        for paper_id, about in index.about_papers.items():
            lead = lead_of(about.title)
            name = compact(lead)
            own = lead != about.title.strip() and not count_wide(lead)
            if own and len(name) >= _LEAST_LETTERS and len(lead.split()) <= _MOST_WORDS:
                found[name] = "" if name in found else paper_id
        kept = _KEPT[index.snapshot] = found
    return kept


def _is_name(index: OpenIndex, lead: str) -> bool:
    if any(_COINED.fullmatch(word) for word in words(lead)[:1]):
        return True
    counts = [term.frequency for term in index.keywords.query_terms(lead).result()]
    return bool(counts) and min(counts) <= _RARE

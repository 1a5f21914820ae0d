"""The paper that a text names without doubt: where a name stands alone, and where it stands in a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact, folded, spellings, word_spans, words
from monjyu_query.catalogue.paper_names import PaperName, find_papers
from monjyu_query.search.open_index import OpenIndex

_KINDS = (
    r"papers?|articles?|stud(?:y|ies)|courses?|modules?|packages?|tools?|software|tutorials?|lessons?|notebooks?"
    r"|librar(?:y|ies)|workshops?|curricul(?:um|a)|projects?|systems?|frameworks?"
)
_AROUND = re.compile(
    r"^(?:the )?(?:papers? |articles? |study |studies )?(?:(?:called|titled|entitled|named|by) )?|(?: (?:paper"
    r"|article|study))$",
    re.IGNORECASE,
)
_KIND_OF_THING = re.compile(rf" (?:{_KINDS})$", re.IGNORECASE)
_QUOTES = "「」『』“”\"'‘’ "
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_ID = re.compile(r"^\S*[\d./#-]\S*$")
_FEWEST_WORDS = 3
"""Words of a title that name it, where they are not its name."""
_PARTS = re.compile(r"[:：–—]| - ")
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


def paper_named(index: OpenIndex, text: str) -> PaperName | None:
    """The paper that a name means without doubt: its id, its DOI, its name, words enough of its title, or its first
    author with the year. A name may be followed by what kind of thing it is ("the CFD Python module")."""
    name = _AROUND.sub("", text.strip(_QUOTES)).strip(_QUOTES)
    return _named(index, name) or (_named(index, bare) if (bare := _KIND_OF_THING.sub("", name)) != name else None)


def _named(index: OpenIndex, name: str) -> PaperName | None:
    found = find_papers(index, name) if name else []
    if not found or not found[0].sure:
        return None
    paper = found[0]
    if name == paper.paper_id or _ID.match(name):
        return paper
    if count_wide(name):
        titles = Counter(one.title for one in found)
        return paper if titles[paper.title] == 1 and 2 * len(name) > len(paper.title) else None
    given, own = words(folded(name)), words(folded(paper.title))
    if _YEAR.search(name) and paper.authors and given[0] in spellings(paper.authors[0]):
        return paper
    if "".join(given) == compact(lead_of(paper.title)):
        return paper
    shared = [word for word in given if word in own]
    return paper if len(shared) == len(given) and len(given) >= max(_FEWEST_WORDS, len(own) // 3) else None


def lead_of(title: str) -> str:
    """What stands before the colon of a title: often a name."""
    return _PARTS.split(title)[0].strip()


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

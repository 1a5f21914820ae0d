"""The papers that the last answer of a conversation named, and follow-ups that are about them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_core.text.language import message_language
from monjyu_core.text.unicode_words import folded, words
from monjyu_query.asking.request import SearchRequest, Turn
from monjyu_query.catalogue.described_papers import descriptions
from monjyu_query.intents.intents import recognised
from monjyu_query.papers.paper_label import paper_label
from monjyu_query.papers.paper_names import PaperName, known_papers
from monjyu_query.ranking.open_index import OpenIndex

_OF_THEM = re.compile(
    r"\b(which|what|how many|any|some|all|none|most|each|one|both)(?: (?:ones?|papers))?"
    r" (?:of|among|from) (?:them|these|those)\b(?: (?:papers|articles|studies))?"
    r"|^(?:of|among) (?:them|these|those)(?: (?:papers|articles|studies))?,? (which|what|how many)\b"
    r"(?: (?:ones?|papers))?"
    r"|(?:その|この|これらの|それらの)(?:うち|中)(?:で|に|の)?(?:は)?、?",
    re.IGNORECASE,
)
_THEY = re.compile(r"\b(?:they|these(?: papers)?|those(?: papers)?)\b(?! (?:who|that|which|of)\b)", re.IGNORECASE)
_PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1, "former": 0}
_ONE_OF = re.compile(rf"\bthe ({'|'.join(_PLACES)})(?: (?:one|paper|of (?:them|these|those)))?\b", re.IGNORECASE)
_LISTS = ("papers", "listed", "counted", "citing", "cited", "newest", "oldest", "often")
_ASKED_BACK = re.compile(r"^Do you mean |のどちらですか？")
_FEWEST_WORDS, _PREFERRED = 3, 3
"""Words of a title that names its paper, and papers of an answer that a follow-up is put to first."""


def papers_told(index: OpenIndex, text: str) -> list[PaperName]:
    """The papers whose label or title stands in an answer, in the order of the answer."""
    found: dict[int, PaperName] = {}
    language = message_language(text)
    for paper in known_papers(index):
        label = paper_label(paper.authors, paper.year, paper.title, language).rstrip(")）")
        places = [text.find(label) if paper.authors or paper.title else -1]
        places.append(text.find(paper.title) if len(paper.title.split()) >= _FEWEST_WORDS else -1)
        if max(places) >= 0:
            found.setdefault(min(place for place in places if place >= 0), paper)
    return [found[place] for place in sorted(found)]


def about_papers_told(index: OpenIndex, request: SearchRequest) -> tuple[SearchRequest, list[str]]:
    """A follow-up on the papers of the answer before, with these as filter where it asks of them all ("Which of them
    …"), with a title where it means one; and the papers that any other follow-up is put to first."""
    before, answer = _last(request.history)
    if not answer or request.filters.paper_ids:
        return request, []
    told = papers_told(index, answer)
    if not told:
        return request, []
    chosen = _chosen(request.query, told)
    if _ASKED_BACK.search(answer) and chosen is None:
        chosen = _named(request.query, told)
    if _ASKED_BACK.search(answer) and chosen and (spans := descriptions(before)):
        return request.model_copy(update={"query": before.replace(spans[0], f"“{chosen.title}”")}), []
    if chosen and _ONE_OF.search(request.query):
        return request.model_copy(update={"query": _ONE_OF.sub(f"“{chosen.title}”", request.query, count=1)}), []
    listed = (intent := recognised(before)) is not None and intent.name in _LISTS
    pattern = _OF_THEM if _OF_THEM.search(request.query) else _THEY if listed else None
    if pattern is None or not pattern.search(request.query):
        return request, [one.paper_id for one in told] if len(told) <= _PREFERRED else []
    query = pattern.sub(lambda found: _instead(found, request.query), request.query, count=1)
    filters = request.filters.model_copy(update={"paper_ids": [one.paper_id for one in told]})
    return request.model_copy(update={"query": query, "filters": filters}), []


def _last(history: Sequence[Turn]) -> tuple[str, str]:
    """The last question and its answer."""
    turns = [turn for turn in history if turn.role != "system"]
    if len(turns) < 2 or turns[-1].role != "assistant":
        return "", ""
    return turns[-2].content, turns[-1].content


def _chosen(query: str, told: Sequence[PaperName]) -> PaperName | None:
    found = _ONE_OF.search(query)
    place = _PLACES[found[1].casefold()] if found else len(told)
    return told[place] if place < len(told) else None


def _named(query: str, told: Sequence[PaperName]) -> PaperName | None:
    """The paper whose title and year have most words of a reply, more than those of any other."""
    asked = set(words(folded(query)))
    shared = sorted(
        ((len(asked & {*words(folded(one.title)), str(one.year)}), one.paper_id) for one in told), reverse=True
    )
    if not shared or not shared[0][0] or (len(shared) > 1 and shared[1][0] == shared[0][0]):
        return None
    return next(one for one in told if one.paper_id == shared[0][1])


def _instead(found: re.Match[str], query: str) -> str:
    asks = next((group for group in found.groups() if group), "") if found.re is _OF_THEM else ""
    if message_language(query) == "ja":
        return ""
    return f"{asks} papers" if asks else "these papers"

"""A summary of one paper: what it is and why, how it was done, what was found, and answers to a reader's focus."""

from __future__ import annotations

from monjyu_core.values import Values
from monjyu_query.answers.citing import Window
from monjyu_query.answers.segments import plain
from monjyu_query.asking.request import make_request
from monjyu_query.digests.draft import Asker, Draft, as_quoted, write_part
from monjyu_query.digests.paper_text import Choice, PaperText, cached_paper, section_places
from monjyu_query.digests.result import Digest, language_for, word
from monjyu_query.knowledge.aspects import ASPECTS, Aspect, AspectName
from monjyu_query.papers.names import one_paper
from monjyu_query.ranking.open_index import OpenIndex

LENGTHS = ("short", "medium", "long")
QUOTES: dict[AspectName, tuple[int, int, int]] = {
    "purpose": (1, 2, 3),
    "need": (0, 1, 2),
    "sample": (1, 2, 3),
    "methods": (1, 2, 4),
    "results": (1, 3, 5),
    "limits": (0, 1, 2),
    "conclusion": (1, 1, 2),
    "availability": (0, 1, 2),
}
"""The number of quotes per aspect, by the requested length."""
_OF_SECTION = (2, 4, 8)
_OF_ASPECT = 3


def summarize(
    searcher: Asker,
    paper: str,
    focus: str = "",
    length: str = "medium",
    section: str = "",
    *,
    language: str = "",
    index: OpenIndex | None = None,
) -> Digest:
    """A summary of a paper from its sentences about purpose, methods and findings, preceded by its statements about the
    `focus` or, without one, by a summary by the model of the role `answer`, if set. With a `section` (number, type,
    words of the heading), only that section is summarised.

    `paper` is an id, a DOI, words of a title, or first author and year. Raises QueryError if no paper fits or several
    do, or if the paper does not have the section.
    """
    index = index or searcher.current()
    paper_id = one_paper(index, paper)
    text = cached_paper(index, paper_id)
    language = language or language_for(index, [paper_id], focus)
    draft = Draft(index, language)
    size = LENGTHS.index(length)
    if section:
        choice, places = Choice(text), section_places(text, section)
        chosen = {heading: choice.central(some, _OF_SECTION[size]) for heading, some in places.items()}
    else:
        chosen = _aspects(text, size, language)
    if focus:
        _on(searcher, draft, paper_id, focus)
    whole = True
    if not focus:
        what = "its purpose, methods, results and limits"
        if section:
            what = f"what it says under {', '.join(f'“{name}”' for name in chosen)}"
        passages = {w.key.passage.chunk_id: w.key.passage for windows in chosen.values() for w in windows}
        task = f"Summarize the paper “{text.title}”: {what}."
        whole = write_part(searcher, index, draft, word("summary", language), task, list(passages.values()))
    for heading, windows in chosen.items():
        draft.quote(heading, paper_id, windows)
    return draft.finish("summary", text.title or paper_id, [paper_id], partial=not whole)


def summarize_aspect(paper_id: str, aspect: Aspect, *, language: str, index: OpenIndex) -> Digest:
    """A digest of a paper's sentences about one aspect; abstained if the paper has none."""
    text, draft = cached_paper(index, paper_id), Draft(index, language)
    draft.quote(aspect.title(language), paper_id, Choice(text).tell(aspect, _OF_ASPECT))
    return draft.finish("summary", text.title or paper_id, [paper_id])


def _aspects(paper: PaperText, size: int, language: str) -> dict[str, list[Window]]:
    """Windows by aspect; for a text that is too short, its first sentences."""
    choice = Choice(paper)
    if first := choice.whole(QUOTES["results"][size]):
        return {word("content", language): first}
    return {one.title(language): choice.tell(one, most) for one in ASPECTS if (most := QUOTES[one.name][size])}


def _on(searcher: Asker, draft: Draft, paper_id: str, focus: str) -> None:
    """Add the answer of a search within the paper."""
    filters = {"paper_ids": [paper_id]}
    request = make_request(query=focus, collection=searcher.collection, filters=filters)
    events: list[Values] = []
    result = searcher.search(request, events.append)
    draft.add_usage(result.usage)
    if result.status == "abstained":
        draft.warnings.append(f"On “{focus}”: {plain(result.segments)}")
    elif result.answer_engine == "llm":
        draft.written(focus, events)
    else:
        draft.add(focus, paper_id, as_quoted(result.citations))

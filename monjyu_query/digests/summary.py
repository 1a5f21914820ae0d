"""A summary of one paper: by what its sections are for, and on a question of the reader's."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_query.answers.segments import plain
from monjyu_query.digests.digest_result import Digest
from monjyu_query.digests.draft import Draft
from monjyu_query.digests.model_digest import write_part
from monjyu_query.digests.paper_text import (
    FURTHER,
    about,
    best_sentences,
    by_heading,
    passages_by_aspect,
    passages_of_sections,
    question_of,
)
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage
from monjyu_query.search.request import make_request
from monjyu_query.search.searcher import Searcher

SENTENCES = {"short": 1, "medium": 2, "long": 4}
"""Of an aspect, by the length asked for."""


def summarize(searcher: Searcher, paper_id: str, focus: str = "", length: str = "medium", section: str = "") -> Digest:
    """The sentences of each aspect that share most with the paper's title and abstract; with a `focus` what the paper
    says on it comes first, with a `section` (number, type, words of the heading) it is about that section alone. Where
    the role `answer` is a model, its summary comes before them.

    QueryError where the collection does not have the paper, or the paper not the section.
    """
    index = searcher.current()
    title, abstract = about(index, paper_id)
    question = question_of(index, f"{title} {abstract}")
    draft = Draft(index)
    most = SENTENCES[length]
    parts = _one_section(index, paper_id, section, 2 * most) if section else _sections(index, paper_id, most)
    chosen = {name: best_sentences(index, question, some, most) for name, some, most in parts}
    if focus:
        _on(searcher, draft, paper_id, focus)
    passages: dict[str, Passage] = {s.passage.chunk_id: s.passage for some in chosen.values() for s in some}
    whole = True
    if not focus:
        what = "its purpose, methods, results and limits"
        if section:
            what = f"what it says under {', '.join(f'“{name}”' for name in chosen)}"
        task = f"Summarize the paper “{title}”: {what}."
        whole = write_part(searcher, index, draft, "Summary", task, list(passages.values()))
    for name, sentences in chosen.items():
        draft.quote(name, paper_id, sentences)
    return draft.finish("summary", title or paper_id, [paper_id], partial=not whole)


def _sections(index: OpenIndex, paper_id: str, most: int) -> Iterator[tuple[str, list[Passage], int]]:
    """Aspects, with how many sentences; where headings say not what sections are for, the sections themselves."""
    found = passages_by_aspect(index, paper_id)
    further = by_heading(index, found.pop(FURTHER, []))
    for name, passages in found.items():
        if name != "Purpose":
            yield from _halved(further, most)
            further = {}
        yield name, passages, most
    yield from _halved(further, most)


def _one_section(index: OpenIndex, paper_id: str, section: str, most: int) -> Iterator[tuple[str, list[Passage], int]]:
    for heading, passages in passages_of_sections(index, paper_id, section).items():
        yield heading, passages, most


def _halved(sections: dict[str, list[Passage]], most: int) -> Iterator[tuple[str, list[Passage], int]]:
    for heading, passages in sections.items():
        yield heading, passages, max(1, most // 2)


def _on(searcher: Searcher, draft: Draft, paper_id: str, focus: str) -> None:
    """What a search within the paper answers."""
    filters = {"paper_ids": [paper_id]}
    request = make_request(query=focus, collection=searcher.collection, filters=filters)
    events: list[dict[str, object]] = []
    result = searcher.search(request, events.append)
    draft.add_usage(result.usage)
    draft.overview(focus, result, events)
    if result.status == "abstained":
        draft.warnings.append(f"On “{focus}”: {plain(result.segments)}")

"""The passages of one paper by what its sections are for, and the sentences of them that say most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monjyu_core.errors import QueryError
from monjyu_core.settings.settings import AnswerSettings
from monjyu_query.answers.selection import Question, choose_sentences
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence, load_passages, load_sentences
from monjyu_query.search.which_section import sections_named

ASPECTS: Mapping[str, tuple[str, ...]] = {
    "Purpose": ("abstract", "introduction"),
    "Methods": ("methods",),
    "Results": ("experiments", "results"),
    "Discussion": ("discussion",),
    "Conclusion": ("conclusion",),
}
"""Section types of an aspect."""
FURTHER = "Further sections"
"""The aspect of all other sections, where a paper has none for methods or results."""
BODY = ("other", "related_work", "appendix")
MOST_HEADINGS = 5
MOST_CHUNKS = 200
"""Chunks of one paper and aspect that are read."""

_CHUNKS = """SELECT chunk_id FROM chunks WHERE paper_id = $paper_id AND list_contains($types, section_type)
ORDER BY ord LIMIT $most"""
_HEADINGS = "SELECT chunk_id, heading FROM chunks WHERE paper_id = ?"
_SECTIONS = "SELECT section_ord, heading, section_type FROM sections WHERE paper_id = ? ORDER BY section_ord"
_OF_SECTION = "SELECT chunk_id FROM chunks WHERE paper_id = ? AND section_ord = ? ORDER BY ord LIMIT ?"
_ABOUT = "SELECT title, abstract FROM papers WHERE paper_id = ?"


def about(index: OpenIndex, paper_id: str) -> tuple[str, str]:
    """Title and abstract. QueryError where the collection does not have the paper."""
    row = index.snapshot.cursor().execute(_ABOUT, [paper_id]).fetchone()
    if row is None:
        raise QueryError(f"The collection has no paper {paper_id!r}.", "`monjyu papers list` shows what it has.")
    return row[0] or "", row[1] or ""


def question_of(index: OpenIndex, text: str) -> Question:
    """The terms of a text, weighted by how rare they are."""
    return Question.of(index.keywords.query_terms(text).result(), len(index.corpus))


def passages_by_aspect(index: OpenIndex, paper_id: str) -> dict[str, list[Passage]]:
    """The paper's passages in reading order, by aspect; `FURTHER` where its headings say not what they are."""
    found = {name: _passages(index, paper_id, types) for name, types in ASPECTS.items()}
    if not found["Methods"] and not found["Results"]:
        found[FURTHER] = _passages(index, paper_id, BODY)
    return {name: passages for name, passages in found.items() if passages}


def by_heading(index: OpenIndex, passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    """One paper's passages by the heading of their section: those with most, at most `MOST_HEADINGS`, in order."""
    papers = [passage.paper_id for passage in passages[:1]]
    headings = dict(index.snapshot.cursor().execute(_HEADINGS, papers).fetchall()) if papers else {}
    found: dict[str, list[Passage]] = {}
    for passage in passages:
        found.setdefault(headings[passage.chunk_id] or FURTHER, []).append(passage)
    longest = sorted(found, key=lambda heading: -len(found[heading]))[:MOST_HEADINGS]
    return {heading: some for heading, some in found.items() if heading in longest}


def passages_of_sections(index: OpenIndex, paper_id: str, wanted: str) -> dict[str, list[Passage]]:
    """The passages of the sections meant, by heading. QueryError where the paper has no such section."""
    cursor = index.snapshot.cursor()
    rows = cursor.execute(_SECTIONS, [paper_id]).fetchall()
    found: dict[str, list[Passage]] = {}
    for place in sections_named([(heading or "", kind) for _, heading, kind in rows], wanted):
        number, heading, kind = rows[place]
        chunks = [row[0] for row in cursor.execute(_OF_SECTION, [paper_id, number, MOST_CHUNKS]).fetchall()]
        found.setdefault(heading or kind, []).extend(load_passages(cursor, chunks, [0.0] * len(chunks)))
    return found


def _passages(index: OpenIndex, paper_id: str, types: Sequence[str]) -> list[Passage]:
    cursor = index.snapshot.cursor()
    values = {"paper_id": paper_id, "types": list(types), "most": MOST_CHUNKS}
    chunks = [row[0] for row in cursor.execute(_CHUNKS, values).fetchall()]
    return load_passages(cursor, chunks, [0.0] * len(chunks))


def best_sentences(
    index: OpenIndex, question: Question, passages: Sequence[Passage], most: int
) -> list[PassageSentence]:
    """At most `most` sentences that say most of the question, in reading order."""
    sentences = load_sentences(index.snapshot.cursor(), passages)
    terms = index.keywords.terms([sentence.text for sentence in sentences])
    return choose_sentences(question, sentences, terms, AnswerSettings(max_sentences=most))

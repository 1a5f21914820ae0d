"""The passages of one paper by what its sections are for, and the sentences of them that say most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monjyu_core.errors import QueryError
from monjyu_core.settings import AnswerSettings
from monjyu_query.answer import Question, choose_sentences
from monjyu_query.open_index import OpenIndex
from monjyu_query.passages import Passage, PassageSentence, load_passages, load_sentences

ASPECTS: Mapping[str, tuple[str, ...]] = {
    "Purpose": ("abstract", "introduction"),
    "Methods": ("methods",),
    "Results": ("experiments", "results"),
    "Discussion": ("discussion",),
    "Conclusion": ("conclusion",),
}
"""Section types of an aspect. Sections of other types stand in where a paper has none of these but the first."""
BODY = ("other", "related_work", "appendix")
MOST_CHUNKS = 200
"""Chunks of one paper and aspect that are read."""

_CHUNKS = """SELECT chunk_id FROM chunks WHERE paper_id = $paper_id AND list_contains($types, section_type)
ORDER BY ord LIMIT $most"""
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
    """The paper's passages in reading order, by aspect; `Further sections` where its sections say not what they are."""
    found = {name: _passages(index, paper_id, types) for name, types in ASPECTS.items()}
    if not any(passages for name, passages in found.items() if name != "Purpose"):
        found["Further sections"] = _passages(index, paper_id, BODY)
    return {name: passages for name, passages in found.items() if passages}


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

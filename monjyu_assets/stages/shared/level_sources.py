"""What the engines of levels 2 to 4 read from the parts of level 0."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypedDict, TypeVar

from monjyu_assets.levels.engines.chunk_engine import (
    SourceAuthor,
    SourceChunk,
    SourcePaper,
    SourceReference,
    SourceSentence,
)
from monjyu_assets.work.work import Work, records_of
from monjyu_core.errors import StorageError
from monjyu_core.storage.rows_papers import ChunkSentenceRow

R = TypeVar("R", "_Author", "_Reference")


class _Paper(TypedDict):
    paper_id: str
    title: str
    abstract: str
    language: str
    doi: str | None
    arxiv_id: str | None
    keywords: list[str]


class _Author(TypedDict):
    paper_id: str
    name: str
    affiliation: str | None
    orcid: str | None


class _Reference(TypedDict):
    paper_id: str
    ref_id: str
    title: str | None
    authors: list[str]
    year: int | None
    doi: str | None
    arxiv_id: str | None


class _Citation(TypedDict):
    paper_id: str
    ref_id: str
    context: str


class _Chunk(TypedDict):
    paper_id: str
    ord: int
    chunk_id: str
    header: str
    section_type: str
    text: str


def read_papers(work: Work, shard: str) -> list[SourcePaper]:
    """The papers of a shard that have chunks, in order of their ids."""
    if work.parts.head("chunks", shard) is None:
        raise StorageError(f"Shard {shard} of {work.name} has no chunks.", "Materialise chunks first.")
    chunks = _chunks(work, shard)
    papers = {row["paper_id"]: row for row in records_of(work, "papers", shard, _Paper)}
    authors = _grouped(records_of(work, "authors", shard, _Author))
    references = _grouped(records_of(work, "references", shard, _Reference))
    contexts: dict[tuple[str, str], list[str]] = {}
    for row in records_of(work, "inline_citations", shard, _Citation):
        contexts.setdefault((row["paper_id"], row["ref_id"]), []).append(row["context"])
    return [
        SourcePaper(
            paper_id,
            papers[paper_id]["title"] or "",
            papers[paper_id]["abstract"] or "",
            papers[paper_id]["language"] or "en",
            papers[paper_id]["doi"],
            papers[paper_id]["arxiv_id"],
            tuple(papers[paper_id]["keywords"] or ()),
            tuple(SourceAuthor(row["name"], row["affiliation"], row["orcid"]) for row in authors.get(paper_id, ())),
            tuple(_reference(row, contexts) for row in references.get(paper_id, ())),
            tuple(chunks[paper_id]),
        )
        for paper_id in sorted(chunks)
    ]


def _chunks(work: Work, shard: str) -> dict[str, list[SourceChunk]]:
    links: dict[str, list[ChunkSentenceRow]] = {}
    for link in records_of(work, "chunk_sentences", shard, ChunkSentenceRow):
        links.setdefault(link["chunk_id"], []).append(link)
    by_paper: dict[str, list[SourceChunk]] = {}
    for row in sorted(records_of(work, "chunks", shard, _Chunk), key=lambda row: (row["paper_id"], row["ord"])):
        sentences = tuple(
            SourceSentence(link["sentence_id"], row["text"][link["start"] : link["end"]])
            for link in links.get(row["chunk_id"], ())
        )
        chunk = SourceChunk(row["chunk_id"], row["header"], row["section_type"], row["text"], sentences)
        by_paper.setdefault(row["paper_id"], []).append(chunk)
    return by_paper


def _reference(row: _Reference, contexts: dict[tuple[str, str], list[str]]) -> SourceReference:
    cited = tuple(dict.fromkeys(contexts.get((row["paper_id"], row["ref_id"]), ())))
    return SourceReference(
        row["ref_id"], row["title"] or "", tuple(row["authors"] or ()), row["year"], row["doi"], row["arxiv_id"], cited
    )


def _grouped(rows: Sequence[R]) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {}
    for row in rows:
        grouped.setdefault(row["paper_id"], []).append(row)
    return grouped


def only(papers: list[SourcePaper], chunk_ids: Collection[str]) -> dict[str, set[str]]:
    """These chunks by paper, without papers that have none."""
    by_paper = {paper.paper_id: {c.chunk_id for c in paper.chunks if c.chunk_id in chunk_ids} for paper in papers}
    return {paper_id: chunks for paper_id, chunks in by_paper.items() if chunks}

"""What the engines of levels 2 to 4 read, out of the parts of level 0."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from monjyu_assets.levels.engines.paper_sources import (
    SourceAuthor,
    SourceChunk,
    SourcePaper,
    SourceReference,
    SourceSentence,
)
from monjyu_assets.stages.shared.work import Work
from monjyu_core.errors import StorageError

Rows = list[dict[str, Any]]
_PAPER = ["paper_id", "title", "abstract", "language", "doi", "arxiv_id", "keywords"]
_AUTHOR = ["paper_id", "ord", "name", "affiliation", "orcid"]
_REFERENCE = ["paper_id", "ord", "ref_id", "title", "authors", "year", "doi", "arxiv_id"]
_CHUNK = ["paper_id", "ord", "chunk_id", "header", "section_type", "text"]


def read_papers(work: Work, shard: str) -> list[SourcePaper]:
    """The papers of a shard that have chunks, in order of their ids."""
    if work.parts.head("chunks", shard) is None:
        raise StorageError(f"Shard {shard} of {work.name} has no chunks.", "Materialise chunks first.")
    chunks = _chunks(work, shard)
    papers = {row["paper_id"]: row for row in _rows(work, "papers", shard, _PAPER)}
    authors = _grouped(_rows(work, "authors", shard, _AUTHOR))
    references = _grouped(_rows(work, "references", shard, _REFERENCE))
    contexts: dict[tuple[str, str], list[str]] = {}
    for row in _rows(work, "inline_citations", shard, ["paper_id", "ord", "ref_id", "context"]):
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
    links: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(work, "chunk_sentences", shard, ["chunk_id", "ord", "sentence_id", "start", "end"]):
        links.setdefault(row["chunk_id"], []).append(row)
    found: dict[str, list[SourceChunk]] = {}
    for row in sorted(_rows(work, "chunks", shard, _CHUNK), key=lambda row: (row["paper_id"], row["ord"])):
        sentences = tuple(
            SourceSentence(link["sentence_id"], row["text"][link["start"] : link["end"]])
            for link in links.get(row["chunk_id"], ())
        )
        chunk = SourceChunk(row["chunk_id"], row["header"], row["section_type"], row["text"], sentences)
        found.setdefault(row["paper_id"], []).append(chunk)
    return found


def _reference(row: dict[str, Any], contexts: dict[tuple[str, str], list[str]]) -> SourceReference:
    cited = tuple(dict.fromkeys(contexts.get((row["paper_id"], row["ref_id"]), ())))
    return SourceReference(
        row["ref_id"], row["title"] or "", tuple(row["authors"] or ()), row["year"], row["doi"], row["arxiv_id"], cited
    )


def _rows(work: Work, table: str, shard: str, columns: list[str]) -> Rows:
    part = work.parts.head(table, shard)
    return part.read(columns).to_pylist() if part else []


def _grouped(rows: Rows) -> dict[str, Rows]:
    grouped: dict[str, Rows] = {}
    for row in rows:
        grouped.setdefault(row["paper_id"], []).append(row)
    return grouped


def only(papers: list[SourcePaper], chunk_ids: Collection[str]) -> dict[str, set[str]]:
    """These chunks by paper, of papers that have some."""
    found = {paper.paper_id: {c.chunk_id for c in paper.chunks if c.chunk_id in chunk_ids} for paper in papers}
    return {paper_id: chunks for paper_id, chunks in found.items() if chunks}

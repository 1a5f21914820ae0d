"""Level 0, third stage: chunks of parsed papers. Only papers with new text or settings are chunked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, TypeVar

import numpy as np
import pyarrow as pa

from monjyu_assets.chunking import (
    NOT_RETRIEVED,
    STRATEGIES,
    Chunk,
    ChunkSizes,
    Measure,
    Piece,
    SectionText,
    chunk_section,
    header_for,
    is_boilerplate,
    unique_ids,
)
from monjyu_assets.chunking.semantic import with_topics
from monjyu_assets.work.model_choice import settle_model
from monjyu_assets.work.work import ShardReport, Timer, Work, finish, recipe, records_of, rows_of, unchanged
from monjyu_core.embedding import load_embedder
from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.rows_papers import ChunkRow, ChunkSentenceRow, SpanRow
from monjyu_core.storage.schemas import table_of
from monjyu_core.text.sentences import split_sentences
from monjyu_core.text.tokens import count_many

ASSET = "chunks"
CODE_VERSION = "3"
HEADER_SHARE = 0.25
"""Share of the model's window that the header may take."""

Rows = tuple[list[ChunkRow], list[ChunkSentenceRow]]


class Section(TypedDict):
    """What chunking reads of a row of `sections`."""

    paper_id: str
    section_ord: int
    heading: str
    section_type: str
    text: str


class Sentence(TypedDict):
    """What chunking reads of a row of `sentences`."""

    sentence_id: str
    paper_id: str
    section_ord: int
    start: int
    end: int
    spans: list[SpanRow]


class _Title(TypedDict):
    paper_id: str
    title: str


R = TypeVar("R", Section, Sentence)


def chunk_recipe(settings: Settings) -> str:
    """Includes the window of a model on a server and, for semantic chunks, the model's weights: its vectors decide
    where chunks end."""
    model = load_embedder(settings)
    window = [str(model.max_tokens)] if settings.embedding.remote else []
    weights = [model.fingerprint] if settings.chunking.strategy == "semantic" else []
    return recipe(ASSET, CODE_VERSION, settings, *window, *weights)


@dataclass(frozen=True)
class Document:
    """What chunking reads of a paper."""

    paper_id: str
    title: str
    sections: list[Section]
    sentences: list[Sentence]


class Chunker:
    """Chunks papers by one collection's settings. It counts word pieces without the model's special tokens."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings.chunking
        self.embedder = load_embedder(settings)
        self.special = int(self.embedder.count_tokens([""])[0])
        window = self.embedder.max_tokens - self.special
        chosen = self.settings
        least = min(chosen.min_tokens, chosen.size_tokens // 2)
        self.sizes = ChunkSizes(chosen.size_tokens, chosen.overlap_tokens, window, chosen.sentences_per_chunk, least)
        self.measure = Measure(count_many, self.count_pieces)
        self.header_most = int(window * HEADER_SHARE)
        if self.sizes.size > window:
            raise ConfigurationError(
                f"chunking.size_tokens is {self.sizes.size}; {self.embedder.model_id} reads {window} word pieces.",
                f"Set it to {window} or less.",
            )

    def count_pieces(self, texts: Sequence[str]) -> list[int]:
        return list(np.asarray(self.embedder.count_tokens(texts)) - self.special)

    def chunk_papers(self, papers: Sequence[Document]) -> Rows:
        """Rows of `chunks` and `chunk_sentences` of these papers."""
        retrieved = [_retrieved(paper) for paper in papers]
        texts: Iterable[list[SectionText]] = (
            [self._text(paper, section, inside) for section, inside in pairs]
            for paper, pairs in zip(papers, retrieved, strict=True)
        )
        if self.settings.strategy == "semantic":
            texts = with_topics(list(texts), self.embedder, self.settings.break_percentile)
        chunks: list[ChunkRow] = []
        links: list[ChunkSentenceRow] = []
        for paper, pairs, sections in zip(papers, retrieved, texts, strict=True):
            more, more_links = self._chunk(paper, [row for row, _ in pairs], sections)
            chunks += more
            links += more_links
        return chunks, links

    def chunk_text(self, text: str, title: str = "", language: str = "en") -> list[Chunk]:
        """The chunks of a text that is no paper's, as those of one section; their sentences are numbered from 0."""
        pieces = [Piece(str(n), start, end) for n, (start, end) in enumerate(split_sentences(text, language))]
        section = SectionText(header_for(title, "", self.count_pieces, self.header_most), text, tuple(pieces))
        if self.settings.strategy == "semantic":
            [[section]] = with_topics([[section]], self.embedder, self.settings.break_percentile)
        return chunk_section("", section, self.sizes, self.measure, STRATEGIES[self.settings.strategy])

    def _text(self, paper: Document, section: Section, sentences: Sequence[Sentence]) -> SectionText:
        heading = "" if len(paper.sections) == 1 else section["heading"]
        header = header_for(paper.title, heading, self.count_pieces, self.header_most)
        pieces = tuple(Piece(s["sentence_id"], s["start"], s["end"]) for s in sentences)
        return SectionText(header, section["text"], pieces)

    def _chunk(self, paper: Document, rows: Sequence[Section], sections: Sequence[SectionText]) -> Rows:
        group = STRATEGIES[self.settings.strategy]
        chunked = [
            (row, chunk)
            for row, section in zip(rows, sections, strict=True)
            for chunk in chunk_section(paper.paper_id, section, self.sizes, self.measure, group)
        ]
        pages = {sentence["sentence_id"]: _pages(sentence) for sentence in paper.sentences}
        return _rows(paper.paper_id, chunked, pages, self.special)


def _retrieved(paper: Document) -> list[tuple[Section, list[Sentence]]]:
    """The sections that are chunked, with their sentences."""
    inside: dict[int, list[Sentence]] = {}
    for sentence in paper.sentences:
        inside.setdefault(sentence["section_ord"], []).append(sentence)
    telling = [section for section in paper.sections if section["section_type"] not in NOT_RETRIEVED]
    kept = [section for section in telling if not is_boilerplate(section["heading"], section["text"])]
    # A note that is nothing but such a statement can still be found.
    return [(section, inside[number]) for section in kept or telling if (number := section["section_ord"]) in inside]


def _pages(sentence: Sentence) -> list[int]:
    return [span["page"] for span in sentence["spans"] or []]


def _rows(paper_id: str, chunked: Sequence[tuple[Section, Chunk]], pages: dict[str, list[int]], special: int) -> Rows:
    chunks: list[ChunkRow] = []
    links: list[ChunkSentenceRow] = []
    for number, ((section, chunk), chunk_id) in enumerate(
        zip(chunked, unique_ids([chunk for _, chunk in chunked]), strict=True)
    ):
        on = [page for piece in chunk.sentences for page in pages[piece.sentence_id]]
        chunks.append(
            {
                "chunk_id": chunk_id,
                "paper_id": paper_id,
                "section_ord": section["section_ord"],
                "ord": number,
                "section_type": section["section_type"],
                "heading": section["heading"],
                "header": chunk.header,
                "text": chunk.text,
                "input_hash": chunk.input_hash,
                "tokens": chunk.tokens,
                "pieces": chunk.pieces + special,
                "page_start": min(on, default=None),
                "page_end": max(on, default=None),
            }
        )
        links += [
            {
                "chunk_id": chunk_id,
                "paper_id": paper_id,
                "ord": position,
                "sentence_id": piece.sentence_id,
                "start": piece.start - chunk.start,
                "end": piece.end - chunk.start,
            }
            for position, piece in enumerate(chunk.sentences)
        ]
    return chunks, links


def chunk_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Chunk the papers of these shards that have changed."""
    settle_model(work)
    chunker, made_with = Chunker(work.settings), chunk_recipe(work.settings)
    buckets = work.buckets(shards)
    for done, bucket in enumerate(buckets, start=1):
        yield unchanged(work, ASSET, bucket, made_with) or _chunk_bucket(work, bucket, chunker, made_with)
        work.progress("chunk", done, len(buckets))


def unchunked_papers(work: Work, bucket: str, made_with: str) -> int:
    """How many papers of a bucket have no chunks by this recipe yet."""
    papers, previous = work.parts.head("papers", bucket), work.parts.head(ASSET, bucket)
    keys = {paper_id: digest(key, made_with) for paper_id, key in papers.keys.items()} if papers else {}
    return sum(previous is None or previous.keys.get(paper_id) != key for paper_id, key in keys.items())


def _chunk_bucket(work: Work, shard: str, chunker: Chunker, made_with: str) -> ShardReport:
    timer = Timer()
    papers = work.parts.head("papers", shard)
    if papers is None:
        raise StorageError(f"Shard {shard} of {work.name} has no papers.", "Materialise parsed_papers first.")
    rows = {row["paper_id"]: row for row in papers.records(_Title)}
    keys = {paper_id: digest(papers.keys[paper_id], made_with) for paper_id in rows}
    previous = work.parts.head(ASSET, shard)
    kept = [paper_id for paper_id, key in keys.items() if previous and previous.keys.get(paper_id) == key]
    new = sorted(keys.keys() - set(kept))
    chunks, links = _new_rows(work, shard, {paper_id: rows[paper_id] for paper_id in new}, chunker)
    tables = {"chunks": table_of("chunks", chunks), "chunk_sentences": table_of("chunk_sentences", links)}
    if previous:
        tables = {name: _with_kept(work, previous, name, table, kept) for name, table in tables.items()}
    part = work.parts.write(
        ASSET, shard, tables, inputs={"parsed_papers": papers.asset_version}, keys=keys, code_version=made_with
    )
    deleted = len(previous.keys.keys() - keys.keys()) if previous else 0
    report = ShardReport(
        shard, total=len(keys), reused=len(kept), recomputed=len(new), deleted=deleted, recomputed_ids=new
    )
    return finish(report, part, work.parts, ASSET, timer)


def _new_rows(work: Work, shard: str, papers: Mapping[str, _Title], chunker: Chunker) -> Rows:
    if not papers:
        return [], []
    sections = _by_paper(work, "sections", shard, papers, Section)
    sentences = _by_paper(work, "sentences", shard, papers, Sentence)
    documents = [
        Document(paper_id, paper["title"], sections.get(paper_id, []), sentences.get(paper_id, []))
        for paper_id, paper in papers.items()
    ]
    with charged_to(work.account(ASSET)):  # semantic chunks embed sentences
        return chunker.chunk_papers(documents)


def _by_paper(work: Work, table: str, shard: str, papers: Iterable[str], row: type[R]) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {}
    for record in records_of(work, table, shard, row, papers):
        grouped.setdefault(record["paper_id"], []).append(record)
    return grouped


def _with_kept(work: Work, previous: Part, name: str, table: pa.Table, kept: list[str]) -> pa.Table:
    part = previous if name == previous.table else work.parts.open(name, previous.shard, previous.siblings[name])
    return pa.concat_tables([table, rows_of(part.read(), kept)])

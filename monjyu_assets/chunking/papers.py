"""Turns a paper's sections and sentences into rows of `chunks` and `chunk_sentences`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

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
from monjyu_core.embedding import load_embedder
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.rows_papers import ChunkRow, ChunkSentenceRow, SpanRow
from monjyu_core.text.sentences import split_sentences
from monjyu_core.text.tokens import count_many

HEADER_SHARE = 0.25
"""The maximum share of the model's window for the header."""

Rows = tuple[list[ChunkRow], list[ChunkSentenceRow]]


class Section(TypedDict):
    """The columns of `sections` that chunking reads."""

    paper_id: str
    section_ord: int
    heading: str
    section_type: str
    text: str


class Sentence(TypedDict):
    """The columns of `sentences` that chunking reads."""

    sentence_id: str
    paper_id: str
    section_ord: int
    start: int
    end: int
    spans: list[SpanRow]


@dataclass(frozen=True)
class Document:
    """A paper as chunking reads it."""

    paper_id: str
    title: str
    sections: list[Section]
    sentences: list[Sentence]


class Chunker:
    """Chunks papers with one collection's settings. Raises ConfigurationError if chunks exceed the model's window."""

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
        """The rows of `chunks` and `chunk_sentences` for `papers`."""
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
        """The chunks of a text outside a paper, treated as one section with sentences numbered from 0."""
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
    """The sections of a paper that are chunked, with their sentences."""
    inside: dict[int, list[Sentence]] = {}
    for sentence in paper.sentences:
        inside.setdefault(sentence["section_ord"], []).append(sentence)
    telling = [section for section in paper.sections if section["section_type"] not in NOT_RETRIEVED]
    kept = [section for section in telling if not is_boilerplate(section["heading"], section["text"])]
    # A paper that contains only boilerplate is chunked, so that it can be found.
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

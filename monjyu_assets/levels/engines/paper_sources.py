"""Papers as the engines read them: chunks with sentences, authors, references and the sentences that cite them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from monjyu_core.storage.ids import digest


@dataclass(frozen=True)
class SourceSentence:
    sentence_id: str
    text: str


@dataclass(frozen=True)
class SourceChunk:
    chunk_id: str
    header: str
    section_type: str
    text: str
    sentences: tuple[SourceSentence, ...]


@dataclass(frozen=True)
class SourceReference:
    """An entry of a paper's reference list, and the sentences that cite it."""

    ref_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    doi: str | None
    arxiv_id: str | None
    contexts: tuple[str, ...]


@dataclass(frozen=True)
class SourceAuthor:
    name: str
    affiliation: str | None
    orcid: str | None


@dataclass(frozen=True)
class SourcePaper:
    """One paper. `keywords` are the authors' own."""

    paper_id: str
    title: str
    abstract: str
    language: str
    doi: str | None
    arxiv_id: str | None
    keywords: tuple[str, ...]
    authors: tuple[SourceAuthor, ...]
    references: tuple[SourceReference, ...]
    chunks: tuple[SourceChunk, ...]

    @cached_property
    def content(self) -> str:
        """Hash of everything but the id: the key of engines that read whole papers. Made once, since each chunk of the
        paper asks for it."""
        parts = (self.title, self.abstract, self.language, self.doi, self.arxiv_id, self.keywords, self.authors)
        return digest(*parts, self.references, self.chunks, length=32)

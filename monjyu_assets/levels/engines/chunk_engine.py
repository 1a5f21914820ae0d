"""The protocol of engines that work chunk by chunk, and their results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NotRequired, Protocol, TypedDict

from monjyu_core.storage.ids import digest
from monjyu_core.storage.rows_levels import EntityColumns, FailureCause, RelationshipColumns
from monjyu_core.storage.schemas import Record


# The input of engines: papers with chunks, sentences, authors, and references with the sentences that cite them.
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
    """A paper as engines read it. `keywords` are those given by its authors."""

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
        """The hash of everything but the id, which is the key of engines that read whole papers. It is cached because
        each chunk of the paper needs it."""
        parts = (self.title, self.abstract, self.language, self.doi, self.arxiv_id, self.keywords, self.authors)
        return digest(*parts, self.references, self.chunks, length=32)


ENTITIES, RELATIONSHIPS, CLAIMS = "entity_mentions", "relationship_mentions", "claims"


class FoundEntity(EntityColumns):
    """A row of `entity_mentions` without its chunk. `engine` is set only if it is not the engine of the stage."""

    engine: NotRequired[str]


class FoundRelationship(RelationshipColumns):
    """A row of `relationship_mentions` without its chunk. `engine` is set only if it is not the engine of the stage."""

    engine: NotRequired[str]


class FoundClaim(TypedDict):
    """A row of `claims` without its chunk."""

    claim_id: str
    sentence_ids: list[str]
    subject: str
    statement: str
    quote: str
    kind: str
    confidence: float


@dataclass(frozen=True)
class Failure:
    """Why a chunk has no result. `message` contains no text of a paper, because logs that outlive a purge show it."""

    error_type: str
    message: str


@dataclass
class ChunkResult:
    """An engine's result for one chunk: rows or a failure. `dropped` counts items that are not in the source."""

    chunk_id: str
    failure: Failure | None = None
    dropped: int = 0

    @property
    def rows(self) -> Mapping[str, Sequence[Record]]:
        """The rows by table, without paper_id and chunk_id, and without engine if it is that of the stage."""
        return {}


@dataclass
class EntityResult(ChunkResult):
    entities: list[FoundEntity] = field(default_factory=list)
    relationships: list[FoundRelationship] = field(default_factory=list)

    @property
    def rows(self) -> Mapping[str, Sequence[Record]]:
        return {ENTITIES: self.entities, RELATIONSHIPS: self.relationships}


@dataclass
class ClaimResult(ChunkResult):
    claims: list[FoundClaim] = field(default_factory=list)

    @property
    def rows(self) -> Mapping[str, Sequence[Record]]:
        return {CLAIMS: self.claims}


class ChunkEngine(Protocol):
    """Computes rows from chunks. The rows of a chunk with an equal key are equal, or were paid for and are reused."""

    @property
    def name(self) -> str:
        """Name and version as recorded in each row: `extractive-1`."""
        ...

    @property
    def made_with(self) -> str:
        """The versions, models and prompts on which the rows depend, in addition to settings and papers."""
        ...

    @property
    def pays(self) -> bool:
        """Whether the engine calls a model. Shards are then written one by one, so a killed process loses little."""
        ...

    def key(self, paper: SourcePaper, chunk: SourceChunk) -> str:
        """The hash of the inputs from which the rows of `chunk` are computed."""
        ...

    def run(self, papers: Sequence[SourcePaper], wanted: Mapping[str, set[str]]) -> Iterator[ChunkResult]:
        """The results of the `wanted` chunks, which are given by paper_id."""
        ...


def failure_cause(failure: Failure | None, dropped: int) -> FailureCause:
    """A row of a failure table, without the id of the chunk or community."""
    cause = failure or Failure("NotInSource", "Items of the answer that are not in the source were dropped.")
    return {
        "error_type": cause.error_type,
        "message": cause.message,
        "failed": failure is not None,
        "dropped": dropped,
    }

"""Runs many model calls with the role's concurrency; each succeeds or fails independently. Every answer is written to
the response cache before it is passed on, so a restarted run pays for nothing twice.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, Field

from monjyu_assets.levels.engines.chunk_engine import ChunkResult, Failure, SourceChunk, SourcePaper
from monjyu_assets.levels.entities.findings import RELATIONS, TYPES, Stance
from monjyu_core.language.packs import LANGUAGES
from monjyu_core.models.call_errors import ModelCallError, ModelUnavailable
from monjyu_core.models.factory import role_model
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import ChatRole, Message
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest

if TYPE_CHECKING:
    from monjyu_core.models.calls.gateway import Session


T = TypeVar("T", bound=BaseModel)
AT_ONCE = 4
"""The number of questions per batch, as a multiple of the role's concurrency, so that no slot stays empty for long."""


@dataclass(frozen=True)
class Question:
    """A question about one chunk or community. `papers` are the ids of the papers whose text is in the messages."""

    key: str
    messages: tuple[Message, ...]
    prompt_hash: str
    papers: tuple[str, ...]


def model_identity(settings: Settings, role: ChatRole) -> str:
    """The hash of everything on which a role's answers depend, except the messages."""
    values = getattr(settings.roles, role)
    _, model = role_model(settings, role)
    return digest(model.provider, model.base_url, model.model, values.temperature, values.max_tokens)


class ModelRecipe:
    """How an engine calls a model. `name` is recorded in its rows, `model` is the hash of everything on which answers
    depend except the messages, and `made_with` also covers the prompts."""

    def __init__(self, settings: Settings, prompt: str, role: ChatRole, version: str) -> None:
        self._prompts = {name: load_prompt(prompt, name, settings.prompts.folder) for name in LANGUAGES}
        _, model = role_model(settings, role)
        self.name = f"llm-{version}/{model.model}"
        identity = model_identity(settings, role)
        self.model = digest("llm", version, identity)
        self.made_with = digest("llm", version, identity, *(prompt.hash for prompt in self._prompts.values()))

    def prompt(self, language: str) -> Prompt:
        """The prompt in `language` if it exists, otherwise in English."""
        return self._prompts.get(language, self._prompts["en"])


def failure_of(error: ModelCallError) -> Failure:
    """The failure of a call. If the circuit breaker refused the call, the message is that of the last failed call."""
    cause = error.cause or error if isinstance(error, ModelUnavailable) else error
    return Failure(type(error).__name__, str(cause))


class ModelCalls(Generic[T]):
    """Asks one role for answers of one schema, charged to an asset's account."""

    def __init__(self, session: Session, role: ChatRole, answer: type[T], concurrency: int) -> None:
        self._session = session
        self._role: ChatRole = role
        self._answer = answer
        self._batch = max(8, AT_ONCE * concurrency)

    def ask(self, questions: Iterable[Question]) -> Iterator[tuple[Question, T | ModelCallError]]:
        """The answer to each question, or the error, in order. Errors other than ModelCallError are raised."""
        from monjyu_core.models.calls.event_loop import run

        remaining = iter(questions)
        while batch := list(islice(remaining, self._batch)):
            yield from zip(batch, run(self._together(batch)), strict=True)

    async def _together(self, batch: Sequence[Question]) -> list[T | ModelCallError]:
        tasks = [asyncio.ensure_future(self._one(question)) for question in batch]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    async def _one(self, question: Question) -> T | ModelCallError:
        try:
            return await self._session.structured(
                self._role, question.messages, question.prompt_hash, self._answer, question.papers
            )
        except ModelCallError as error:
            return error


# The base of the engines `llm` of entities and claims, which ask one question per chunk.
class ModelChunkEngine(ABC, Generic[T]):
    """A `ChunkEngine` that calls a model. `calls` is a factory, called on first use."""

    pays = True

    def __init__(self, recipe: ModelRecipe, calls: Callable[[], ModelCalls[T]]) -> None:
        self._recipe = recipe
        self.name, self.made_with = recipe.name, recipe.made_with
        self._calls = calls

    @abstractmethod
    def read(self, paper: SourcePaper, chunk: SourceChunk, answer: T) -> ChunkResult:
        """The result of a chunk: the part of `answer` that the chunk supports."""

    def prompt_values(self) -> dict[str, str]:
        """Values that the prompt needs in addition to the chunk."""
        return {}

    def also_from(self, paper: SourcePaper, chunk: SourceChunk) -> tuple[object, ...]:
        """The inputs on which a chunk's rows depend in addition to the question."""
        return ()

    def key(self, paper: SourcePaper, chunk: SourceChunk) -> str:
        question = self.question(paper, chunk)
        also = self.also_from(paper, chunk)
        return digest(self._recipe.model, question.prompt_hash, question.messages, *also, length=32)

    def question(self, paper: SourcePaper, chunk: SourceChunk) -> Question:
        prompt = self._recipe.prompt(paper.language)
        text = prompt.render(source=numbered(chunk), **self.prompt_values())
        return Question(chunk.chunk_id, (Message("user", text),), prompt.hash, (paper.paper_id,))

    def run(self, papers: Sequence[SourcePaper], wanted: Mapping[str, set[str]]) -> Iterator[ChunkResult]:
        chunks = {c.chunk_id: (p, c) for p in papers for c in p.chunks if c.chunk_id in wanted[p.paper_id]}
        questions = (self.question(paper, chunk) for paper, chunk in chunks.values())
        for question, answer in self._calls().ask(questions):
            paper, chunk = chunks[question.key]
            if isinstance(answer, ModelCallError):
                yield ChunkResult(question.key, failure=failure_of(answer))
            else:
                yield self.read(paper, chunk, answer)


def numbered(chunk: SourceChunk) -> str:
    """The chunk as a fenced source of a prompt: its header, and its sentences numbered from 1."""
    lines = [f"{n}. {' '.join(s.text.split())}" for n, s in enumerate(chunk.sentences, start=1)]
    return fence(1, "\n".join([chunk.header, *lines]))


# The schemas of the models' answers. Unknown types become a general one, and numbers are clamped to their scale.
Type = Literal["researcher", "organization", "method", "model", "dataset", "metric", "task", "concept", "tool", "paper"]
Kind = Literal["result", "method", "limitation", "background", "future_work", "definition"]


def _one_of(known: tuple[str, ...], other: str) -> BeforeValidator:
    def read(value: object) -> Any:
        word = "_".join(str(value).strip().casefold().split())
        return word if word in known else other

    return BeforeValidator(read)


def _clamped(most: float) -> BeforeValidator:
    """Clamp a number to 0 … `most`, because models sometimes answer 11 of 10."""

    def read(value: object) -> Any:
        return min(most, max(0.0, value)) if isinstance(value, int | float) else value

    return BeforeValidator(read)


OfTen = Annotated[float, Field(ge=0, le=10), _clamped(10.0)]
OfOne = Annotated[float, Field(ge=0, le=1), _clamped(1.0)]


class ModelEntity(BaseModel):
    name: str
    type: Annotated[Type, _one_of(TYPES, "concept")]
    description: str = ""
    sentences: list[int] = []


class ModelRelationship(BaseModel):
    source: str
    target: str
    type: Annotated[str, _one_of(RELATIONS, "associated_with")]
    stance: Annotated[Stance, _one_of(get_args(Stance), "stated")] = "stated"
    description: str = ""
    sentences: list[int]
    strength: OfTen = 5.0


class ModelEntities(BaseModel):
    entities: list[ModelEntity]
    relationships: list[ModelRelationship] = []


class ModelClaim(BaseModel):
    subject: str = ""
    statement: str = Field(min_length=1)
    quote: str
    kind: Annotated[Kind, _one_of(get_args(Kind), "background")]
    confidence: OfOne


class ModelClaims(BaseModel):
    claims: list[ModelClaim]


class ModelFinding(BaseModel):
    summary: str
    explanation: str = ""
    sentences: list[int]


class ModelReport(BaseModel):
    title: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    rating: OfTen
    rating_reason: str = ""
    findings: list[ModelFinding]


def plain(text: str, most: int) -> str:
    """The text as one line, cut to `most` characters."""
    return " ".join(text.split())[:most]

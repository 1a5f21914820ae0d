"""What the engines `llm` of entities and claims share: one question a chunk, and its answer or failure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel

from monjyu_assets.levels.engines.chunk_engine import ChunkResult
from monjyu_assets.levels.engines.model_calls import ModelCalls, ModelRecipe, Question, failure_of
from monjyu_assets.levels.engines.paper_sources import SourceChunk, SourcePaper
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.prompts import fence
from monjyu_core.models.types import Message
from monjyu_core.storage.ids import digest

T = TypeVar("T", bound=BaseModel)


class ModelChunkEngine(ABC, Generic[T]):
    """A `ChunkEngine` that asks a model. `calls` is called when the first chunk needs an answer."""

    pays = True

    def __init__(self, recipe: ModelRecipe, calls: Callable[[], ModelCalls[T]]) -> None:
        self._recipe = recipe
        self.name, self.made_with = recipe.name, recipe.made_with
        self._calls = calls

    @abstractmethod
    def read(self, paper: SourcePaper, chunk: SourceChunk, answer: T) -> ChunkResult:
        """The part of an answer that rests on the chunk."""

    def prompt_values(self) -> dict[str, str]:
        """Values for the prompt besides the chunk."""
        return {}

    def also_from(self, paper: SourcePaper, chunk: SourceChunk) -> tuple[object, ...]:
        """What the rows of a chunk are made from besides the question."""
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
    """The chunk as a source: its header and its sentences with their numbers."""
    lines = [f"{n}. {' '.join(s.text.split())}" for n, s in enumerate(chunk.sentences, start=1)]
    return fence(1, "\n".join([chunk.header, *lines]))

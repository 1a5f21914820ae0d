"""The second stage of the check: a model (`roles.verify`) reads each sentence with the sources that it cites; what does
not stand there the answering model may write once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.prompts import fence, load_prompt
from monjyu_core.models.types import Message
from monjyu_core.settings.settings import Settings

MOST_AT_ONCE = 8
"""Sentences of one call."""
LONGEST_REASON = 160

_VERDICTS = ("supported", "partly", "contradicted", "not_found")


def _verdict(value: Any) -> Any:
    word = "_".join(str(value).strip().casefold().split())
    return word if word in _VERDICTS else "not_found"


class SentenceVerdict(BaseModel):
    statement: int = Field(ge=1)
    verdict: Annotated[Literal["supported", "partly", "contradicted", "not_found"], BeforeValidator(_verdict)]
    reason: str = ""


class SentenceVerdicts(BaseModel):
    verdicts: list[SentenceVerdict]


class RepairedSentence(BaseModel):
    statement: int = Field(ge=1)
    text: str
    sources: list[int] = []


class RepairedSentences(BaseModel):
    sentences: list[RepairedSentence]


@dataclass(frozen=True)
class Stated:
    """A sentence with the texts that it cites, by number."""

    text: str
    sources: tuple[tuple[int, str], ...]


class ModelVerifier:
    """Calls of one question. Raises the errors of `monjyu_core.models.call_errors`."""

    def __init__(self, session: Session, settings: Settings, language: str, papers: Sequence[str]) -> None:
        self._session = session
        self._papers = papers
        self._verify = load_prompt("verify", language, settings.prompts.folder)
        self._repair = load_prompt("repair", language, settings.prompts.folder)

    async def verify(self, sentences: Sequence[Stated]) -> list[SentenceVerdict | None]:
        """A verdict for each sentence; None where the model forgot one."""
        found: list[SentenceVerdict | None] = []
        for start in range(0, len(sentences), MOST_AT_ONCE):
            found += await self._verified(sentences[start : start + MOST_AT_ONCE])
        return found

    async def _verified(self, sentences: Sequence[Stated]) -> list[SentenceVerdict | None]:
        text = self._verify.render(sources=_sources(sentences), statements=_statements(sentences))
        messages = [Message("user", text)]
        answer = await self._session.structured("verify", messages, self._verify.hash, SentenceVerdicts, self._papers)
        by_number = {one.statement: one for one in answer.verdicts}
        return [by_number.get(number) for number in range(1, len(sentences) + 1)]

    async def repaired(self, sentences: Sequence[Stated], question: str) -> list[RepairedSentence | None]:
        """Each sentence as the answering model would rather write it; None where it gives none."""
        text = self._repair.render(sources=_sources(sentences), question=question, statements=_statements(sentences))
        messages = [Message("user", text)]
        answer = await self._session.structured("answer", messages, self._repair.hash, RepairedSentences, self._papers)
        by_number = {one.statement: one for one in answer.sentences if one.text.strip()}
        return [by_number.get(number) for number in range(1, len(sentences) + 1)]


def _sources(sentences: Sequence[Stated]) -> str:
    texts = {number: text for sentence in sentences for number, text in sentence.sources}
    return "\n\n".join(fence(number, text) for number, text in sorted(texts.items()))


def _statements(sentences: Sequence[Stated]) -> str:
    """Fenced as well: they hold what papers say."""
    lines = []
    for number, sentence in enumerate(sentences, start=1):
        marks = "".join(f"[{source}]" for source, _ in sentence.sources)
        lines.append(f"{number}. {' '.join(sentence.text.split())} {marks}")
    return fence(0, "\n".join(lines))

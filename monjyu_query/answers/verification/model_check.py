"""The second stage of the check: a model (`roles.verify`) reads each sentence with the sources that it cites; the
answering model may rewrite unsupported ones once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, Field

from monjyu_core.language.packs import Texts
from monjyu_core.models.call_errors import (
    ModelAnswerUnusable,
    ModelCallError,
    ModelContentFiltered,
    ModelUnfit,
    PromptTooLong,
)
from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.factory import context_room, role_model
from monjyu_core.models.prompts import fence, load_prompt
from monjyu_core.models.types import Message
from monjyu_core.settings.settings import Settings
from monjyu_core.text.tokens import count_tokens
from monjyu_query.asking.result import Verdict

# Sentences with a known verdict, which a model reads together with those of the question. A model that is too small to
# understand them gives all sentences the same verdict, and its other verdicts are ignored.
FIRST_SOURCE = 900
"""The first source number of the known sentences, above the numbers of a question's sources."""


@dataclass(frozen=True)
class Known:
    """A statement with its source, and the verdicts that are clearly wrong."""

    statement: str
    source: str
    wrong: frozenset[str]


_OPPOSITE = frozenset(("supported", "partly"))
_SAME = frozenset(("contradicted",))


def known_sentences(language: str) -> tuple[Known, ...]:
    words = Texts("known")[language]
    wrong = {"opposite": _OPPOSITE, "same": _SAME}
    return tuple(Known(words[name], words[f"{name}_source"], verdicts) for name, verdicts in wrong.items())


def misread(known: tuple[Known, ...], verdicts: Mapping[int, str], first: int) -> str:
    """A description of the model's first wrong verdict on the sentences `known`, which are numbered from `first`; empty
    if there is none. A missing verdict does not count."""
    for number, one in enumerate(known, start=first):
        verdict = verdicts.get(number, "")
        if verdict in one.wrong:
            return f"it calls “{one.statement}” {verdict}, but the source says “{one.source}”"
    return ""


MOST_AT_ONCE = 8
"""The number of sentences in one call."""
LONGEST_REASON = 160


def _verdict(value: object) -> Any:
    word = "_".join(str(value).strip().casefold().split())
    return word if word in get_args(Verdict) else "not_found"


class SentenceVerdict(BaseModel):
    statement: int = Field(ge=1)
    verdict: Annotated[Verdict, BeforeValidator(_verdict)]
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


_OF_THESE_ALONE = (ModelAnswerUnusable, ModelContentFiltered, PromptTooLong)
"""Failures that say nothing about the next call."""


class ModelVerifier:
    """The verification calls of one question. Raises the errors of `monjyu_core.models.call_errors`.

    The first call contains two additional sentences with known verdicts, and a model that fails on them is not used.
    `unread` is the reason why some sentences of the last `verify` have no verdict; empty if every call was answered.
    """

    def __init__(
        self, session: Session, settings: Settings, language: str, papers: Sequence[str], *, known: bool = True
    ) -> None:
        """`known`: whether the model is asked about the sentences with known verdicts."""
        self.unread = ""
        self._known: tuple[Known, ...] = known_sentences(language) if known else ()
        self._session = session
        self._papers = papers
        self._settings = settings
        self._verify = load_prompt("verify", language, settings.prompts.folder)
        self._repair = load_prompt("repair", language, settings.prompts.folder)

    async def verify(self, sentences: Sequence[Stated]) -> list[SentenceVerdict | None]:
        """A verdict for each sentence; None if the model omitted one or its call failed. Raises if no call was
        answered; if only some failed (`unread`), the other verdicts are returned.
        """
        found: list[SentenceVerdict | None] = []
        failure: ModelCallError | None = None
        self.unread = ""
        for some in self._batches(sentences):
            try:
                found += await self._verified(some)
            except ModelCallError as error:
                failure = failure or error
                found += [None] * len(some)
                if not isinstance(error, _OF_THESE_ALONE):
                    break
        if failure is not None and not any(found):
            raise failure
        self.unread = str(failure or "")
        return found + [None] * (len(sentences) - len(found))

    def _batches(self, sentences: Sequence[Stated]) -> list[list[Stated]]:
        """Batches of sentences that, with the texts that they cite, fit into the model's context and number at most
        `MOST_AT_ONCE`."""
        room = context_room(self._settings, "verify") - count_tokens(self._verify.render(sources="", statements=""))
        batches: list[list[Stated]] = []
        for sentence in sentences:
            longer = [*batches[-1], sentence] if batches else []
            if 0 < len(longer) <= MOST_AT_ONCE and count_tokens(_sources(longer) + _statements(longer)) <= room:
                batches[-1] = longer
            else:
                batches.append([sentence])
        return batches

    async def _verified(self, sentences: Sequence[Stated]) -> list[SentenceVerdict | None]:
        known, asked = self._known, list(sentences)
        asked += [Stated(one.statement, ((number, one.source),)) for number, one in enumerate(known, FIRST_SOURCE)]
        text = self._verify.render(sources=_sources(asked), statements=_statements(asked))
        messages = [Message("user", text)]
        answer = await self._session.structured("verify", messages, self._verify.hash, SentenceVerdicts, self._papers)
        by_number = {one.statement: one for one in answer.verdicts}
        wrong = misread(known, {n: one.verdict for n, one in by_number.items()}, len(sentences) + 1)
        if wrong:
            model = role_model(self._settings, "verify")[1].model
            raise ModelUnfit(
                f"{model} fails on sentences whose verdict is known: {wrong}.",
                "It is too small: name a larger one in roles.verify.model, or set roles.verify.engine to extractive.",
            )
        self._known = ()
        return [by_number.get(number) for number in range(1, len(sentences) + 1)]

    async def repaired(self, sentences: Sequence[Stated], question: str) -> list[RepairedSentence | None]:
        """Each sentence as rewritten by the answering model; None for one that it omits."""
        text = self._repair.render(sources=_sources(sentences), question=question, statements=_statements(sentences))
        messages = [Message("user", text)]
        answer = await self._session.structured("answer", messages, self._repair.hash, RepairedSentences, self._papers)
        by_number = {one.statement: one for one in answer.sentences if one.text.strip()}
        return [by_number.get(number) for number in range(1, len(sentences) + 1)]


def _sources(sentences: Sequence[Stated]) -> str:
    texts = {number: text for sentence in sentences for number, text in sentence.sources}
    return "\n\n".join(fence(number, text) for number, text in sorted(texts.items()))


def _statements(sentences: Sequence[Stated]) -> str:
    """The sentences, fenced too, because they contain text of papers."""
    lines = []
    for number, sentence in enumerate(sentences, start=1):
        marks = "".join(f"[{source}]" for source, _ in sentence.sources)
        lines.append(f"{number}. {' '.join(sentence.text.split())} {marks}")
    return fence(0, "\n".join(lines))

"""The roles of lazy search by a language model: expand, assess, extract. Papers are quoted as data."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field

from monjyu_core.language.packs import Texts
from monjyu_core.models.call_errors import (
    CostCapReached,
    ModelCallError,
    ModelContentFiltered,
    ModelRefused,
    ModelUnavailable,
)
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.factory import role_model
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import ChatRole, Message
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.text.language import message_language
from monjyu_core.text.quotes import find_quote, rests_on, without_foreign
from monjyu_query.answers.claims import Claim
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.request import Turn
from monjyu_query.modes.lazy.expansion import Expansion
from monjyu_query.modes.lazy.relevance import text_hash
from monjyu_query.modes.lazy.state import Candidate, Judgement, Relevant

VERSION = "2"
"""The version of the code that reads the model's scores: raise it when it reads equal replies differently."""
LONGEST_HISTORY = 6
_LONGEST_TEXT = 2000
_POLL_SECONDS = 0.1
_LONGEST_REASON = 200
_CONCEPTS = 24
MOST_SENTENCES = 30
"""The maximum number of sentences sent to a model that decides whether the evidence suffices."""

T = TypeVar("T")
Score = Annotated[float, Field(ge=0, le=10)]


class Subqueries(BaseModel):
    subqueries: list[str] = Field(min_length=1)
    expanded_query: str


class ReasonedSubqueries(Subqueries):
    reasoning: str = ""


class SentenceScore(BaseModel):
    sentence: int = Field(ge=1)
    score: Score


class SentenceScores(BaseModel):
    scores: list[SentenceScore]


class ReasonedScore(SentenceScore):
    reason: str = ""


class ReasonedScores(BaseModel):
    scores: list[ReasonedScore]


class ModelClaim(BaseModel):
    statement: str = Field(min_length=1)
    source: int
    quote: str
    score: Score
    confidence: float | None = Field(None, ge=0, le=1)


class ModelClaims(BaseModel):
    claims: list[ModelClaim]


class Sufficient(BaseModel):
    sufficient: bool


class ModelRoles:
    """The model roles of one search: they share its session, its language and its cancellation."""

    def __init__(self, settings: Settings, session: Session, query: str, cancel: threading.Event) -> None:
        self.settings = settings
        self.session = session
        self._cancel = cancel
        self.language = message_language(query)

    def prompt(self, name: str) -> Prompt:
        return load_prompt(name, self.language, self.settings.prompts.folder)

    def model_of(self, role: ChatRole) -> str:
        """The model's part of a judgement's key."""
        settings = getattr(self.settings.roles, role)
        _, model = role_model(self.settings, role)
        return digest(model.provider, model.base_url, model.model, settings.temperature, settings.max_tokens)

    def expand(
        self, query: str, history: Sequence[Turn], concepts: Sequence[str], most: int, *, reasons: bool = False
    ) -> Expansion:
        """Subqueries by the model, with its reasoning if `reasons` are requested. Raises ModelCallError."""
        prompt = self.prompt("expand")
        turns = [turn for turn in history if turn.role != "system"][-LONGEST_HISTORY:]
        said = "\n".join(f"{turn.role}: {turn.content[:_LONGEST_TEXT]}" for turn in turns)
        text = prompt.render(question=query, history=said, concepts=fence(1, ", ".join(concepts)) if concepts else "-")
        asked = [Message("user", f"{text}\n\n{Texts('model_roles')[self.language]['reasoning']}" if reasons else text)]
        wanted = ReasonedSubqueries if reasons else Subqueries
        found = run(self.session.structured("expand", asked, prompt.hash, wanted))
        said = " ".join(found.reasoning.split())[:_LONGEST_REASON] if isinstance(found, ReasonedSubqueries) else ""
        cleaned = [without_foreign(subquery, text)[:_LONGEST_TEXT] for subquery in found.subqueries]
        subqueries = list(dict.fromkeys(filter(None, cleaned)))[:most] or [query]
        expanded = without_foreign(found.expanded_query, text)[:_LONGEST_TEXT] or query
        return Expansion(subqueries, expanded, by_model=True, reasoning=said)

    def sufficient(self, query: str, sentences: Sequence[str], papers: Sequence[str]) -> bool:
        """Whether the model finds the sentences sufficient to answer; False if its call fails."""
        prompt = self.prompt("sufficient")
        sources = "\n\n".join(fence(n, text) for n, text in enumerate(sentences[:MOST_SENTENCES], start=1))
        messages = [Message("user", prompt.render(sources=sources, question=query))]
        try:
            found = run(self.session.structured("assess", messages, prompt.hash, Sufficient, papers))
        except ModelCallError:
            return False
        return found.sufficient

    def gather(self, work: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T | BaseException]:
        """Make all calls concurrently, within the role's limits, and return their results in order. The result of a
        failed or cancelled call is its exception."""
        return run(self._gather(work))

    async def _gather(self, work: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T | BaseException]:
        tasks = [asyncio.ensure_future(begin()) for begin in work]
        waiting: set[asyncio.Future[T]] = set(tasks)
        try:
            while waiting:
                _, waiting = await asyncio.wait(waiting, timeout=_POLL_SECONDS)
                if self._cancel.is_set():
                    break
        finally:
            for task in tasks:
                task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)


class ModelAssessor:
    """Judges each batch of chunks in one call, in which the model scores sentences, with reasons if requested."""

    together = True
    kept = True
    even = 0.0

    def __init__(self, roles: ModelRoles, subqueries: Sequence[str], *, reasons: bool) -> None:
        self._roles = roles
        self._subqueries = subqueries
        self._prompt = roles.prompt("assess")
        self._model = roles.model_of("assess")
        self._reasons = reasons
        self.kept = not reasons  # reasons quote papers and are not stored; the response cache answers repeated calls

    def key(self, candidate: Candidate) -> str:
        subquery = self._subqueries[candidate.subquery]
        parts = (self._model, self._prompt.hash, subquery, candidate.beside, text_hash(candidate))
        return digest("llm", VERSION, *parts, length=32)

    def assess(self, batches: Sequence[Sequence[Candidate]]) -> list[list[Judgement]]:
        answers = self._roles.gather([lambda b=batch: self._ask(b) for batch in batches])  # type: ignore[misc]
        return [self._judgements(batch, answer) for batch, answer in zip(batches, answers, strict=True)]

    async def _ask(self, batch: Sequence[Candidate]) -> SentenceScores | ReasonedScores:
        """Judge a batch, with numbered sentences, so that a small model can answer with one number for each."""
        number = 0
        sources = []
        for place, candidate in enumerate(batch, start=1):
            lines = [candidate.passage.header]
            for sentence in candidate.sentences:
                number += 1
                lines.append(f"{number}. {' '.join(sentence.text.split())}")
            sources.append(fence(place, "\n".join(lines)))
        text = self._prompt.render(
            source="\n\n".join(sources),
            question=self._subqueries[batch[0].subquery],
            reasons=Texts("model_roles")[self._roles.language]["reasons"] if self._reasons else "",
        )
        papers = sorted({candidate.passage.paper_id for candidate in batch})
        wanted = ReasonedScores if self._reasons else SentenceScores
        return await self._roles.session.structured(
            "assess", [Message("user", text)], self._prompt.hash, wanted, papers
        )

    def _judgements(
        self, batch: Sequence[Candidate], answer: SentenceScores | ReasonedScores | BaseException
    ) -> list[Judgement]:
        if isinstance(answer, asyncio.CancelledError):
            return [Judgement(error="cancelled", made=False)] * len(batch)
        if isinstance(answer, ModelCallError):
            lasting = isinstance(answer, CostCapReached | ModelUnavailable | ModelRefused)
            final = lasting and not isinstance(answer, ModelContentFiltered)
            made = not isinstance(answer, CostCapReached)
            return [Judgement(error=str(answer), final=final, made=made)] * len(batch)
        if isinstance(answer, BaseException):
            raise answer
        count = sum(len(candidate.sentences) for candidate in batch)
        scores, reasons = [0.0] * count, [""] * count
        for found in answer.scores:
            if found.sentence > count:
                wrong = f"the judgement names sentence {found.sentence} of {count}"
                return [Judgement(error=wrong)] * len(batch)
            scores[found.sentence - 1] = max(scores[found.sentence - 1], found.score)
            if isinstance(found, ReasonedScore):
                reasons[found.sentence - 1] = " ".join(found.reason.split())[:_LONGEST_REASON]
        judgements, start = [], 0
        for candidate in batch:
            end = start + len(candidate.sentences)
            judgements.append(Judgement(tuple(scores[start:end]), tuple(reasons[start:end]) if self._reasons else ()))
            start = end
        return judgements


class ModelClaimExtractor:
    """Derives claims on each subquery from its relevant chunks, community by community, several chunks per call. A
    claim is dropped if its quote is not in its source; if the quote is, but the passage does not support the statement,
    only the quote is kept."""

    MOST_CHUNKS = 8
    """The number of chunks in one call."""

    def __init__(self, roles: ModelRoles, subqueries: Sequence[str], concepts: Mapping[str, Sequence[str]]) -> None:
        """`concepts`: the phrases of the noun graph in each relevant sentence, by its id."""
        self._roles = roles
        self._subqueries = subqueries
        self._concepts = concepts
        self._prompt = roles.prompt("extract")
        self.dropped = 0
        self.failed: list[str] = []

    def extract(self, groups: Sequence[Sequence[Relevant]]) -> list[Claim]:
        size = self.MOST_CHUNKS
        of_subquery: dict[int, list[Relevant]] = {}
        for one in (one for group in groups for one in group):
            of_subquery.setdefault(one.candidate.subquery, []).append(one)
        parts = [some[start : start + size] for some in of_subquery.values() for start in range(0, len(some), size)]
        answers = self._roles.gather([lambda part=part: self._ask(part) for part in parts])  # type: ignore[misc]
        claims: list[Claim] = []
        for part, answer in zip(parts, answers, strict=True):
            if isinstance(answer, ModelClaims):
                claims += self._found(part, answer)
            elif isinstance(answer, ModelCallError | asyncio.CancelledError):
                self.failed.append(str(answer) or "cancelled")
            else:
                raise answer
        return claims

    async def _ask(self, part: Sequence[Relevant]) -> ModelClaims:
        texts = [f"{r.candidate.passage.header}\n{_around(r)}" for r in part]
        sources = "\n\n".join(fence(n, text) for n, text in enumerate(texts, start=1))
        named = (name for r in part for s, _ in r.sentences for name in self._concepts.get(s.sentence_id, ()))
        concepts = list(dict.fromkeys(named))[:_CONCEPTS]
        said = fence(len(texts) + 1, ", ".join(concepts)) if concepts else "-"
        question = self._subqueries[part[0].candidate.subquery]
        text = self._prompt.render(sources=sources, question=question, concepts=said)
        papers = sorted({r.candidate.passage.paper_id for r in part})
        return await self._roles.session.structured(
            "extract", [Message("user", text)], self._prompt.hash, ModelClaims, papers
        )

    def _found(self, part: Sequence[Relevant], answer: ModelClaims) -> list[Claim]:
        claims = []
        for said in answer.claims:
            source = part[said.source - 1] if 0 < said.source <= len(part) else None
            sentence = quoted(said.quote, source.candidate.sentences) if source else None
            if source is None or sentence is None:
                self.dropped += 1
            else:
                statement = " ".join(said.statement.split())[:_LONGEST_TEXT]
                passage = source.candidate.passage
                if not rests_on(statement, f"{passage.header} {passage.text} {sentence.text}"):
                    statement = " ".join(sentence.text.split())
                home, sure = source.candidate.community, said.confidence
                claims.append(Claim(statement, (sentence,), said.score, home, "llm", confidence=sure))
        return claims


def _around(found: Relevant) -> str:
    """The relevant sentences of a chunk with their neighbours; omissions are marked."""
    wanted = {sentence.sentence_id for sentence, _ in found.sentences}
    sentences = found.candidate.sentences
    hits = [place for place, sentence in enumerate(sentences) if sentence.sentence_id in wanted]
    kept = sorted({place + step for place in hits for step in (-1, 0, 1) if 0 <= place + step < len(sentences)})
    parts = []
    for order, place in enumerate(kept):
        gap = " …" if order and kept[order - 1] != place - 1 else ""
        parts.append(f"{gap} {sentences[place].text}" if order else sentences[place].text)
    return "".join(parts)


def quoted(quote: str, sentences: Sequence[PassageSentence]) -> PassageSentence | None:
    """The sentence that contains the quote, letter by letter except for spaces, or that a longer quote contains."""
    place = find_quote(quote, [sentence.text for sentence in sentences])
    return None if place is None else sentences[place]

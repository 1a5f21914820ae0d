"""The tasks of a trial: small requests for each role, with the role's own prompts, about two short invented papers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pydantic import BaseModel, Field

from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import ChatReply, ChatRole, Message
from monjyu_core.settings.settings import Settings
from monjyu_core.text.quotes import find_quote
from monjyu_query.answers.model.length_and_form import wished
from monjyu_query.answers.model.marked_sentences import abstains, marked_sentences
from monjyu_query.answers.verification.model_check import ModelVerifier, Stated
from monjyu_query.evaluation.judged_answers import CRITERIA, in_both_orders, judged_of
from monjyu_query.modes.lazy.model_roles import ModelClaims, SentenceScores, Subqueries

ICE = (
    "The alpine lake Morskie Oko is frozen for 141 days each winter.",
    "Its ice cover shrank by 12 days per decade between 1971 and 2015.",
    "The lake lies at 1395 metres above the sea.",
)
COURSE = (
    "Students who used notebooks scored 11 points higher in the final exam.",
    "The course was taught to 320 students at two universities.",
    "Instructors wrote automatic tests for every assignment.",
)
PAPERS = (("Ice cover of an alpine lake (Berg, 2019)", ICE), ("Teaching with notebooks (Frank, 2021)", COURSE))
HOW_LONG = "How long is the alpine lake frozen each winter?"
HOW_MUCH = "How much better did students with notebooks do?"
UNKNOWN = "Which wavelength does the laser of the spectrometer have?"
_RELEVANT = 5.0


class TriedEntity(BaseModel):
    name: str
    sentences: list[int] = []


class TriedEntities(BaseModel):
    entities: list[TriedEntity] = Field(min_length=1)


Try = Callable[[Session, Settings], Awaitable[str]]
"""Runs a task. Returns what is wrong with the reply, or an empty string; raises the errors of a model call."""


@dataclass(frozen=True)
class Task:
    """A task of a trial. `roles` are the roles that it tests; the first one is called."""

    roles: tuple[ChatRole, ...]
    about: str
    ask: Try


def tasks() -> list[Task]:
    """Return all tasks, the most informative first, because a slow model may have no time for the last ones."""
    return [
        Task(("answer",), "an answer with citations", _answered(HOW_LONG, "141", 1)),
        Task(("assess",), "scores of sentences", _scored(HOW_LONG, {1})),
        Task(("claims", "report"), "claims with quotes", _claimed(HOW_LONG, "141", 1)),
        Task(("verify",), "supported and unsupported sentences", _verified),
        Task(("answer",), "an answer that the sources do not have", _abstained),
        Task(("extract", "parse"), "entities by their sentences", _extracted),
        Task(("assess",), "scores of sentences", _scored(HOW_MUCH, {4})),
        Task(("claims", "report"), "claims with quotes", _claimed(HOW_MUCH, "11", 2)),
        Task(("answer",), "an answer with citations", _answered(HOW_MUCH, "11", 2)),
        Task(("expand",), "subqueries", _expanded),
        Task(("verify",), "a changed number and a rewording", _verified_again),
        Task(("judge",), "the better of two answers, in both orders", _judged),
    ]


def _prompt(settings: Settings, name: str) -> Prompt:
    return load_prompt(name, "en", settings.prompts.folder)


def _sources(*, numbered: bool = False) -> str:
    texts, number = [], 0
    for title, sentences in PAPERS:
        lines = [f"{number + n}. {one}" if numbered else one for n, one in enumerate(sentences, start=1)]
        number += len(sentences)
        texts.append("\n".join([title, *lines]) if numbered else f"{title}\n{' '.join(lines)}")
    return "\n\n".join(fence(n, text) for n, text in enumerate(texts, start=1))


async def _written(session: Session, settings: Settings, question: str) -> ChatReply:
    system, asking = _prompt(settings, "answer"), _prompt(settings, "answer_question")
    text = asking.render(sources=_sources(), question=question, length=wished(None, None, "en", 2))
    messages = [Message("system", system.text), Message("user", text)]
    reply: ChatReply | None = None
    async for item in session.stream("answer", messages, system.hash + asking.hash):
        reply = item if isinstance(item, ChatReply) else reply
    assert reply is not None
    return reply


def _answered(question: str, figure: str, source: int) -> Try:
    async def ask(session: Session, settings: Settings) -> str:
        reply = await _written(session, settings, question)
        said = [one for one in marked_sentences(reply.text, "en") if figure in one.text]
        if not said:
            return f"it does not say {figure}"
        return "" if any(source in one.sources for one in said) else "it cites no source, or a wrong one"

    return ask


async def _abstained(session: Session, settings: Settings) -> str:
    reply = await _written(session, settings, UNKNOWN)
    said = marked_sentences(reply.text, "en")
    if any(abstains(one) for one in said):
        return ""
    return "it cites sources that do not support it" if any(one.sources for one in said) else "it does not abstain"


def _scored(question: str, wanted: set[int]) -> Try:
    async def ask(session: Session, settings: Settings) -> str:
        prompt = _prompt(settings, "assess")
        text = prompt.render(source=_sources(numbered=True), question=question, reasons="")
        found = await session.structured("assess", [Message("user", text)], prompt.hash, SentenceScores)
        scores = {one.sentence: one.score for one in found.scores}
        if any(scores.get(number, 0.0) < _RELEVANT for number in wanted):
            return "it scores the sentence that answers as irrelevant"
        other = {4, 5, 6} if wanted <= {1, 2, 3} else {1, 2, 3}
        return "it scores sentences of another subject" if any(scores.get(n, 0.0) >= _RELEVANT for n in other) else ""

    return ask


def _claimed(question: str, figure: str, source: int) -> Try:
    async def ask(session: Session, settings: Settings) -> str:
        prompt = _prompt(settings, "extract")
        text = prompt.render(sources=_sources(), question=question, concepts="-")
        found = await session.structured("claims", [Message("user", text)], prompt.hash, ModelClaims)
        claims = [one for one in found.claims if figure in one.quote]
        if not claims:
            return "it draws no claim from the sentence that answers"
        sentences = PAPERS[source - 1][1]
        if any(find_quote(one.quote, sentences) is None for one in claims):
            return "its quotes are not the papers' words"
        return "" if all(one.source == source for one in claims) else "it names the wrong source"

    return ask


async def _verified(session: Session, settings: Settings) -> str:
    """Verify a sentence. A verifier's first call also contains two known sentences; it raises ModelUnfit if the model
    fails on them."""
    verifier = ModelVerifier(session, settings, "en", [])
    return _verdicts(await verifier.verify([Stated(ICE[0], ((1, ICE[0]),))]), ("supported",))


async def _verified_again(session: Session, settings: Settings) -> str:
    verifier = ModelVerifier(session, settings, "en", [], known=False)
    changed = Stated("The lake is frozen for 114 days each winter.", ((1, ICE[0]),))
    reworded = Stated("Ice on the lake became shorter by 12 days every ten years.", ((2, ICE[1]),))
    return _verdicts(await verifier.verify([changed, reworded]), ("contradicted", "supported"))


def _verdicts(found: object, wanted: tuple[str, ...]) -> str:
    said = [getattr(one, "verdict", "nothing") for one in found] if isinstance(found, list) else []
    # A changed number may also be "not found"; only agreement is wrong.
    right = [
        one == verdict or (verdict, one) == ("contradicted", "not_found")
        for one, verdict in zip(said, wanted, strict=True)
    ]
    return "" if all(right) else f"it says {', '.join(said)} instead of {', '.join(wanted)}"


async def _extracted(session: Session, settings: Settings) -> str:
    prompt = _prompt(settings, "entities")
    lines = [f"{n}. {one}" for n, one in enumerate(ICE, start=1)]
    text = prompt.render(source=fence(1, "\n".join([PAPERS[0][0], *lines])))
    found = await session.structured("extract", [Message("user", text)], prompt.hash, TriedEntities)
    lake = [one for one in found.entities if "morskie" in one.name.casefold()]
    if not lake:
        return "it does not name the lake"
    return "" if any(1 in one.sentences for one in lake) else "it does not return the sentence that names the lake"


async def _expanded(session: Session, settings: Settings) -> str:
    prompt = _prompt(settings, "expand")
    text = prompt.render(question=f"{HOW_LONG} How has this changed?", history="", concepts="-")
    found = await session.structured("expand", [Message("user", text)], prompt.hash, Subqueries)
    on = [one for one in found.subqueries if "lake" in one.casefold() or "ice" in one.casefold()]
    return "" if len(on) >= 2 else "fewer than two subqueries are on the question"


async def _judged(session: Session, settings: Settings) -> str:
    good = f"{ICE[0]} [1] {ICE[1]} [2]"
    texts = ("The papers are about lakes.", good)
    both = await in_both_orders(session, _prompt(settings, "judge"), HOW_LONG, texts, [])
    found = judged_of(*both)
    if found.agreed < len(CRITERIA) / 2:
        return "the order of the answers decides"
    return "" if sum(found.values.values()) < len(CRITERIA) / 2 else "it prefers the answer that says nothing"

"""The answer writer: passages to a model, its sentences checked one by one as they come, cited and handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from monjyu_core.models.accounting.estimate import prompt_tokens
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.context_room import context_room
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import ChatReply, ChatRequest, Finish, Message
from monjyu_core.settings.settings import Settings
from monjyu_core.text.language import message_language
from monjyu_query.answers.answer_form import AnswerForm
from monjyu_query.answers.answering import Answer
from monjyu_query.answers.model.checking import Checked, Checker
from monjyu_query.answers.model.marked import Marked, PaperBrackets, SentenceStream, abstains, marked_sentences
from monjyu_query.answers.model.model_draft import Draft
from monjyu_query.answers.model.wishes import SENTENCES, wished
from monjyu_query.answers.verification.model_check import LONGEST_REASON, ModelVerifier, RepairedSentence, Stated
from monjyu_query.asking.events import Emit, unheard
from monjyu_query.asking.passages import Passage
from monjyu_query.asking.request import SearchRequest, Turn

LONGEST_HISTORY = 6
"""Turns before the question that are sent along."""
LONGEST_TURN = 4000
"""Characters of a turn."""
LONGEST_TOKEN = 8
"""Characters, on average: a server that goes on beyond `max_tokens` is not listened to."""


async def write_answer(
    session: Session,
    request: SearchRequest,
    passages: Sequence[Passage],
    checker: Checker,
    settings: Settings,
    emit: Emit = unheard,
    sentences: int = SENTENCES,
    form: AnswerForm | None = None,
) -> Answer:
    """An answer of sentences that the passages support, each with citations; abstained where the model says that they
    do not answer. The model is asked for `sentences` at most.

    Each sentence is checked by words as it comes; the end of the answer brings the rest: where `roles.verify` is a
    model it reads each with its sources and has the last word, and what is not supported goes back once to be written
    anew.
    `emit` hears of each sentence once it is checked: `{"event": "answer", "text", "segments", "citations"}`.

    Raises the errors of `monjyu_core.models.call_errors` where no sentence was written before the call failed, and
    ModelAnswerUnusable where none of what was written is supported: that says nothing of the papers.
    """
    language = message_language(request.query)
    system = load_prompt("answer", language, settings.prompts.folder)
    asking = load_prompt("answer_question", language, settings.prompts.folder)
    if request.system_prompt:
        system = Prompt(system.name, f"{request.system_prompt.strip()}\n\n{system.text}")
    length = wished(request.response_type, form, language, sentences, request.style)
    room = context_room(settings, "answer")
    messages, used = _messages(request, passages, checker, system, asking, length, room)
    draft = Draft(checker, settings.answer.unsupported, emit, request.response_type, system.text)
    brackets = PaperBrackets(passage.text for passage in used)
    written = Written(draft, language, brackets)
    papers = sorted({passage.paper_id for passage in used})
    async with aclosing(session.stream("answer", messages, system.hash + asking.hash, papers)) as pieces:
        await written.read(pieces, settings.roles.answer.max_tokens * LONGEST_TOKEN)
    anew = Rewriting(request.query, language, brackets)
    await _second_look(ModelVerifier(session, settings, language, papers), draft, anew, settings)
    return draft.answer(written.finish, written.broken)


class Written:
    """What the model writes, handed to the draft sentence by sentence.

    Nothing is handed on before the first sentence that cites a source: what comes before it may be reasoning that the
    server does not mark as such. The text of the reply has the last word.
    """

    def __init__(self, draft: Draft, language: str, brackets: PaperBrackets) -> None:
        self._draft = draft
        self._language, self._brackets = language, brackets
        self._held: list[Marked] | None = []
        self.finish: Finish = "stop"
        self.broken = ""

    async def read(self, pieces: AsyncIterator[str | ChatReply], most: int) -> None:
        """Read to the end, or `most` characters."""
        stream, text = SentenceStream(self._language, self._brackets), ""
        async for piece in pieces:
            if isinstance(piece, ChatReply):
                self.finish, self.broken = piece.finish, piece.refusal if piece.finish == "broken" else ""
                if piece.text != text and len(text) <= most:
                    self._draft.begin_again()
                    stream, self._held = SentenceStream(self._language, self._brackets), []
                    await self._add(stream.add(piece.text[:most]))
                continue
            await self._add(stream.add(piece[: max(most - len(text), 0)]))
            text += piece
            if len(text) > most:
                self.finish = "length"
                break
        rest = [*(self._held or ()), *stream.end(cut_off=self.finish in ("length", "broken"))]
        await asyncio.to_thread(self._draft.add, rest)

    async def _add(self, sentences: list[Marked]) -> None:
        if self._held is not None:
            self._held += sentences
            if not any(sentence.sources or abstains(sentence) for sentence in self._held):
                return
            sentences, self._held = self._held, None
        if sentences:
            await asyncio.to_thread(self._draft.add, sentences)  # a check may embed a sentence: other answers go on


@dataclass(frozen=True)
class Rewriting:
    """What it takes to read a sentence that was written once more: it may hold markers like the first one."""

    question: str
    language: str
    brackets: PaperBrackets

    def read(self, new: RepairedSentence, old: Marked) -> Marked:
        parts = [one for one in marked_sentences(new.text, self.language, self.brackets) if not one.heading]
        marked = tuple(dict.fromkeys(number for one in parts for number in one.sources))
        text = ("" if self.language == "ja" else " ").join(one.text for one in parts)
        return Marked(text, tuple(new.sources) or marked or old.sources)


async def _second_look(verifier: ModelVerifier, draft: Draft, anew: Rewriting, settings: Settings) -> None:
    """Verify by the model of `roles.verify`, where one is set up; let what is not supported be written once more. A
    call that fails leaves what the words say."""
    verifies = settings.roles.verify.engine == "llm"
    try:
        if verifies:
            await _verified(verifier, draft, [one for one in draft.checked() if not one.settled])
        refuted = draft.refuted()
        if not refuted:
            return
        replies = await verifier.repaired([_stated(draft, one) for one in refuted], anew.question)
        read = [(one, anew.read(new, one.said)) for one, new in zip(refuted, replies, strict=True) if new]
        repaired = await asyncio.to_thread(draft.replace, [(one, new) for one, new in read if new.text])
        if verifies and repaired:
            await _verified(verifier, draft, repaired)
    except ModelCallError as error:
        draft.warnings.append(f"Not all sentences were checked by the model: {error}")


async def _verified(verifier: ModelVerifier, draft: Draft, sentences: Sequence[Checked]) -> None:
    verdicts = await verifier.verify([_stated(draft, one) for one in sentences])
    for one, verdict in zip(sentences, verdicts, strict=True):
        if verdict is not None:
            reasons = [verdict.reason[:LONGEST_REASON]] if verdict.reason else []
            draft.judged(one, verdict.verdict, reasons)
    if verifier.unread:
        draft.warnings.append(f"Not all sentences were checked by the model: {verifier.unread}")


def _stated(draft: Draft, one: Checked) -> Stated:
    return Stated(one.said.text, tuple((number, draft.source(number)) for number in one.sources))


def _messages(
    request: SearchRequest,
    passages: Sequence[Passage],
    checker: Checker,
    system: Prompt,
    asking: Prompt,
    length: str,
    room: int,
) -> tuple[list[Message], list[Passage]]:
    """The messages with as many of the best passages as fit into `room` tokens (one at least), and those."""
    history = [_turn(turn) for turn in request.history[-LONGEST_HISTORY:] if turn.role != "system"]
    for count in range(len(passages), 0, -1):
        sources = "\n\n".join(fence(n, checker.source_text(n)) for n in range(1, count + 1))
        question = Message("user", asking.render(sources=sources, question=request.query, length=length))
        messages = [Message("system", system.text), *history, question]
        if count == 1 or prompt_tokens([ChatRequest(tuple(messages), 1)])[0] <= room:
            return messages, list(passages[:count])
    return [], []


def _turn(turn: Turn) -> Message:
    return Message("assistant" if turn.role == "assistant" else "user", turn.content[:LONGEST_TURN])

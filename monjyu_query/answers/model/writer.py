"""The answer writer: passages to a model, its sentences checked one by one as they come, cited and handed on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from monjyu_core.models.accounting.estimate import prompt_tokens
from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import ChatReply, ChatRequest, Message
from monjyu_core.settings.settings import Settings
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.answering import Answer, abstained
from monjyu_query.answers.model.checking import Checker
from monjyu_query.answers.model.marked import Marked, PaperBrackets, SentenceStream, abstains
from monjyu_query.answers.segments import markdown, separator
from monjyu_query.search.events import Emit, unheard
from monjyu_query.search.passages import Passage
from monjyu_query.search.request import ResponseType, SearchRequest, Turn
from monjyu_query.search.result import Citation, Segment

LONGEST_HISTORY = 6
"""Turns before the question that are sent along."""
LONGEST_TURN = 4000
"""Characters of a turn."""
LONGEST_TOKEN = 8
"""Characters, on average: a server that goes on beyond `max_tokens` is not listened to."""
_WISHES: dict[ResponseType, str] = {
    "short": "\nAnswer shortly, in one or two sentences.",
    "paragraphs": "\nAnswer in paragraphs, one for each part of the answer.",
    "list": "\nAnswer as a list, one full sentence an item.",
}


async def write_answer(
    session: Session,
    request: SearchRequest,
    passages: Sequence[Passage],
    checker: Checker,
    settings: Settings,
    emit: Emit = unheard,
) -> Answer:
    """An answer of sentences that the passages support, each with citations; abstained where there are none.

    `emit` hears of each sentence once it is checked: `{"event": "answer", "text", "segments", "citations"}`.

    Raises the errors of `monjyu_core.models.call_errors` where no sentence was written before the call failed.
    """
    language = "ja" if count_wide(request.query) else "en"
    system = load_prompt("answer", language, settings.prompts.folder)
    asking = load_prompt("answer_question", language, settings.prompts.folder)
    context = settings.models[settings.roles.answer.model].context_tokens
    messages, used = _messages(request, passages, system, asking, context - settings.roles.answer.max_tokens)
    draft = _Draft(checker, used, settings.answer.unsupported, emit, request.response_type)
    stream = SentenceStream(language, PaperBrackets(passage.text for passage in used))
    finish, room = "stop", settings.roles.answer.max_tokens * LONGEST_TOKEN
    papers = sorted({passage.paper_id for passage in used})
    async with aclosing(session.stream("answer", messages, system.hash + asking.hash, papers)) as pieces:
        async for piece in pieces:
            if isinstance(piece, ChatReply):
                finish = piece.finish
                continue
            sentences = stream.add(piece[:room])
            room -= len(piece)
            if sentences:
                await asyncio.to_thread(draft.add, sentences)  # a check may embed a sentence: other answers go on
            if room < 0:
                finish = "length"
                break
    rest = stream.end(cut_off=finish == "length")
    await asyncio.to_thread(draft.add, rest)
    return draft.answer(finish)


def _messages(
    request: SearchRequest, passages: Sequence[Passage], system: Prompt, asking: Prompt, room: int
) -> tuple[list[Message], list[Passage]]:
    """The messages with as many of the best passages as fit into `room` tokens (one at least), and those."""
    wish = _WISHES[request.response_type] if request.response_type else ""
    history = [_turn(turn) for turn in request.history[-LONGEST_HISTORY:] if turn.role != "system"]
    for count in range(len(passages), 0, -1):
        sources = "\n\n".join(fence(n, _source(passage)) for n, passage in enumerate(passages[:count], start=1))
        question = Message("user", asking.render(sources=sources, question=request.query) + wish)
        messages = [Message("system", system.text), *history, question]
        if count == 1 or prompt_tokens([ChatRequest(tuple(messages), 1)])[0] <= room:
            return messages, list(passages[:count])
    return [], []


def _turn(turn: Turn) -> Message:
    return Message("assistant" if turn.role == "assistant" else "user", turn.content[:LONGEST_TURN])


def _source(passage: Passage) -> str:
    return f"{passage.header}\n{passage.text}" if passage.header else passage.text


class _Draft:
    """The sentences accepted so far, with their citations numbered in order."""

    def __init__(
        self,
        checker: Checker,
        passages: Sequence[Passage],
        unsupported: str,
        emit: Emit,
        response_type: ResponseType | None,
    ) -> None:
        self._checker = checker
        self._passages = passages
        self._keep = unsupported == "mark"
        self._emit = emit
        self._response_type = response_type
        self._segments: list[Segment] = []
        self._citations: dict[str, Citation] = {}
        self._dropped = 0
        self._abstained = False

    def add(self, sentences: Sequence[Marked]) -> None:
        for sentence in sentences:
            if abstains(sentence):
                self._abstained = True
                continue
            found = self._checker.citations(sentence, self._passages)
            new = [self._numbered(citation) for citation in found]
            if not found:
                self._dropped += 1
            if found or self._keep:
                self._say(sentence.text if found else f"{sentence.text} (no source)", new)

    def _numbered(self, citation: Citation) -> Citation:
        key = citation.sentence_ids[0]
        if key not in self._citations:
            self._citations[key] = citation.model_copy(update={"n": len(self._citations) + 1})
        return self._citations[key]

    def _say(self, text: str, citations: list[Citation]) -> None:
        """A list stays one; paragraphs are not told apart in a stream of sentences."""
        numbers = list(dict.fromkeys(citation.n for citation in citations))
        lead = separator(self._response_type, first=not self._segments)
        segment = Segment(text=lead + text, citations=numbers)
        self._segments.append(segment)
        values = [citation.model_dump(mode="json") for citation in citations]
        told = {"text": markdown([segment]).strip(), "segments": [segment.model_dump()], "citations": values}
        self._emit({"event": "answer", **told})

    def answer(self, finish: str) -> Answer:
        """What there is, with a word on what was left out."""
        warnings = []
        if self._dropped:
            did = "marked" if self._keep else "left out"
            warnings.append(f"{self._dropped} sentences of the model are in no source and were {did}.")
        if finish == "length":
            warnings.append("The answer was cut off at roles.answer.max_tokens.")
        if finish == "content_filter":
            warnings.append("The server's content filter ended the answer.")
        if not self._citations:
            reason = "the passages found do not speak of it" if self._abstained else "no sentence had a source"
            return abstained(reason, warnings)
        status = "complete" if finish == "stop" else "partial"
        verified = not (self._keep and self._dropped)
        return Answer(self._segments, status, list(self._citations.values()), verified, warnings)  # type: ignore[arg-type]

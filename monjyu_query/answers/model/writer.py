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
SENTENCES = 5
"""At most, of an answer of the usual length."""
_SHORT = 2
_LENGTH = {
    "en": ("Answer in one or two full sentences.", "Answer in one to {most} full sentences."),
    "ja": ("一文か二文で答えてください。", "一文から{most}文までで答えてください。"),
}
_WISHES: dict[ResponseType, dict[str, str]] = {
    "short": {"en": "", "ja": ""},
    "paragraphs": {
        "en": "Write paragraphs, one for each part of the answer, with an empty line between them.",
        "ja": "答えの部分ごとに段落を分け、段落のあいだに空行を置いてください。",
    },
    "list": {"en": "Write a list, one full sentence an item.", "ja": "箇条書きで、一項目に一文を書いてください。"},
    "table": {
        "en": "Write one full sentence for each paper, each on a line of its own.",
        "ja": "論文ごとに一文を、それぞれ一行に書いてください。",
    },
    "report": {
        "en": "Write a report: a paragraph for each theme, with an empty line between them.",
        "ja": "テーマごとに段落を分けた報告を書き、段落のあいだに空行を置いてください。",
    },
}


def wished_length(response_type: ResponseType | None, language: str, sentences: int) -> str:
    """How long the answer shall be and in which form, in words for the prompt."""
    short, usual = _LENGTH[language]
    length = short if response_type == "short" else usual.format(most=sentences)
    wish = _WISHES[response_type][language] if response_type else ""
    return f"{length} {wish}".strip()


async def write_answer(
    session: Session,
    request: SearchRequest,
    passages: Sequence[Passage],
    checker: Checker,
    settings: Settings,
    emit: Emit = unheard,
    sentences: int = SENTENCES,
) -> Answer:
    """An answer of sentences that the passages support, each with citations; abstained where there are none. The model
    is asked for `sentences` at most.

    `emit` hears of each sentence once it is checked: `{"event": "answer", "text", "segments", "citations"}`.

    Raises the errors of `monjyu_core.models.call_errors` where no sentence was written before the call failed.
    """
    language = "ja" if count_wide(request.query) else "en"
    system = load_prompt("answer", language, settings.prompts.folder)
    asking = load_prompt("answer_question", language, settings.prompts.folder)
    context = settings.models[settings.roles.answer.model].context_tokens
    length = wished_length(request.response_type, language, sentences)
    room = context - settings.roles.answer.max_tokens
    messages, used = _messages(request, passages, system, asking, length, room)
    draft = _Draft(checker, used, settings.answer.unsupported, emit, request.response_type)
    stream = SentenceStream(language, PaperBrackets(passage.text for passage in used))
    finish, room = "stop", settings.roles.answer.max_tokens * LONGEST_TOKEN
    papers = sorted({passage.paper_id for passage in used})
    async with aclosing(session.stream("answer", messages, system.hash + asking.hash, papers)) as pieces:
        async for piece in pieces:
            if isinstance(piece, ChatReply):
                finish = piece.finish
                continue
            written = stream.add(piece[:room])
            room -= len(piece)
            if written:
                await asyncio.to_thread(draft.add, written)  # a check may embed a sentence: other answers go on
            if room < 0:
                finish = "length"
                break
    rest = stream.end(cut_off=finish == "length")
    await asyncio.to_thread(draft.add, rest)
    return draft.answer(finish)


def _messages(
    request: SearchRequest, passages: Sequence[Passage], system: Prompt, asking: Prompt, length: str, room: int
) -> tuple[list[Message], list[Passage]]:
    """The messages with as many of the best passages as fit into `room` tokens (one at least), and those."""
    history = [_turn(turn) for turn in request.history[-LONGEST_HISTORY:] if turn.role != "system"]
    for count in range(len(passages), 0, -1):
        sources = "\n\n".join(fence(n, _source(passage)) for n, passage in enumerate(passages[:count], start=1))
        question = Message("user", asking.render(sources=sources, question=request.query, length=length))
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
                self._say(sentence.text if found else f"{sentence.text} (no source)", new, begins=sentence.begins)

    def _numbered(self, citation: Citation) -> Citation:
        key = citation.sentence_ids[0]
        if key not in self._citations:
            self._citations[key] = citation.model_copy(update={"n": len(self._citations) + 1})
        return self._citations[key]

    def _say(self, text: str, citations: list[Citation], *, begins: bool) -> None:
        """A list stays one, and so do paragraphs but in a short answer."""
        numbers = list(dict.fromkeys(citation.n for citation in citations))
        new = begins and self._response_type != "short"
        lead = separator(self._response_type, first=not self._segments, new_paragraph=new)
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

"""Writes an answer with a model: sends it the passages, checks its sentences one by one as they arrive, cites them and
passes them on."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from monjyu_core.language.packs import sentences as as_one_text
from monjyu_core.models.call_errors import ModelAnswerUnusable, ModelCallError
from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.estimate import prompt_tokens
from monjyu_core.models.factory import context_room
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import ChatReply, ChatRequest, Finish, Message
from monjyu_core.settings.settings import Settings
from monjyu_core.text.inline_marks import without_citation_marks
from monjyu_core.text.language import message_language
from monjyu_query.answers.answer import Answer, abstained
from monjyu_query.answers.model.checking import Checked, Checker
from monjyu_query.answers.model.length_and_form import SENTENCES, wished
from monjyu_query.answers.model.marked_sentences import (
    Marked,
    PaperBrackets,
    SentenceStream,
    abstains,
    marked_sentences,
)
from monjyu_query.answers.segments import AnswerForm, markdown, separator
from monjyu_query.answers.verification.model_check import LONGEST_REASON, ModelVerifier, RepairedSentence, Stated
from monjyu_query.asking.events import Emit, unheard
from monjyu_query.asking.passages import Passage
from monjyu_query.asking.request import ResponseType, SearchRequest, Turn
from monjyu_query.asking.result import Citation, Segment, SentenceCheck, Verdict

REPEATED = 6
"""The number of consecutive words of the instructions that an answer does not repeat by chance."""
NEXT = "\n\n"
"""The separator before and after a heading."""


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """Every run of `REPEATED` consecutive words of a text, in lower case."""
    words = text.casefold().split()
    return set(zip(*(words[start:] for start in range(REPEATED)), strict=False))


class Draft:
    """The sentences of an answer in order, each with its check and its citations, which are numbered in order."""

    def __init__(
        self, checker: Checker, unsupported: str, emit: Emit, response_type: ResponseType | None, instructions: str
    ) -> None:
        self._checker = checker
        self._keep = unsupported == "mark"
        self._emit = emit
        self._response_type = response_type
        self._instructions = runs_of_words(instructions)
        self._said: list[Checked | Marked] = []
        self._citations: dict[str, Citation] = {}
        self._told = 0
        self._abstained = False
        self.warnings: list[str] = []

    def begin_again(self) -> None:
        """Discard what was added, because it was not part of the answer."""
        self._said, self._told, self._abstained = [], 0, False

    def add(self, sentences: Sequence[Marked]) -> None:
        """Check the sentences by their words, and emit the supported ones, or all if others are kept and marked."""
        for sentence in sentences:
            if abstains(sentence):
                self._abstained = True
            elif sentence.heading:
                self._said.append(sentence)
            else:
                checked = self._checked(sentence)
                self._said.append(checked)
                self._tell(checked)

    def _checked(self, sentence: Marked) -> Checked:
        """Check a sentence. A sentence that repeats the instructions is not supported, even if it also repeats words of
        the papers."""
        if runs_of_words(sentence.text) & self._instructions:
            check = SentenceCheck(verdict="not_found", method="words", reasons=["repeats the instructions"])
            return Checked(sentence, [], check, (), settled=True)
        return self._checker.check(sentence)

    def source(self, number: int) -> str:
        return self._checker.source_text(number)

    def checked(self) -> list[Checked]:
        return [one for one in self._said if isinstance(one, Checked)]

    def kept(self) -> list[Checked]:
        return [one for one in self.checked() if one.kept]

    def refuted(self) -> list[Checked]:
        return [one for one in self.checked() if not one.kept]

    def judged(self, one: Checked, verdict: Verdict, reasons: list[str]) -> None:
        """Replace the verdict by words on a sentence with the model's."""
        check = one.check.model_copy(update={"verdict": verdict, "method": "model", "reasons": reasons})
        self._said[self._said.index(one)] = replace(one, check=check)

    def replace(self, written: Sequence[tuple[Checked, Marked]]) -> list[Checked]:
        """Replace refuted sentences; return the ones that are supported now."""
        repaired = []
        for old, new in written:
            checked = self._checked(replace(new, begins=old.said.begins, item=old.said.item))
            if checked.kept:
                self._said[self._said.index(old)] = checked
                self._tell(checked)
                repaired.append(checked)
        return repaired

    def _tell(self, one: Checked) -> None:
        if one.kept or self._keep:
            segment = self._segment(one, first=not self._told)
            self._told += 1
            found = [self._numbered(citation).model_dump(mode="json") for citation in one.citations]
            self._emit(
                {
                    "event": "answer",
                    "text": markdown([segment]).strip(),
                    "segments": [segment.model_dump()],
                    "citations": found,
                }
            )

    def _numbered(self, citation: Citation) -> Citation:
        key = citation.sentence_ids[0]
        if key not in self._citations:
            self._citations[key] = citation.model_copy(update={"n": len(self._citations) + 1})
        return self._citations[key]

    def _segment(self, one: Checked, *, first: bool) -> Segment:
        """The segment of a sentence. Lists stay lists, and paragraphs stay paragraphs except in a short answer."""
        numbers = list(dict.fromkeys(self._numbered(citation).n for citation in one.citations))
        as_list = "list" if one.said.item else self._response_type
        new = one.said.begins and self._response_type != "short"
        lead = separator(as_list, first=first, new_paragraph=new)
        text = without_citation_marks(one.said.text)
        text = text if one.kept else f"{text} (no source)"
        return Segment(text=lead + text, citations=numbers, check=one.check)

    def _segments(self) -> list[Segment]:
        """The segments of the kept sentences; a heading with nothing after it is omitted."""
        self._citations = {}  # renumbered, so that emitted and then refuted sentences leave no gap
        segments: list[Segment] = []
        heading: Marked | None = None
        for one in self._said:
            if isinstance(one, Marked):
                heading = one
            elif one.kept or self._keep:
                if heading is not None and self._response_type != "short":
                    segments.append(Segment(text=f"{NEXT if segments else ''}{heading.text}", heading=True))
                segment = self._segment(one, first=not segments)
                if heading is not None and len(segments) > 0 and segments[-1].heading:
                    segment = segment.model_copy(update={"text": f"{NEXT}{segment.text.lstrip()}"})
                segments.append(segment)
                heading = None
        return segments

    def answer(self, finish: Finish, broken: str = "") -> Answer:
        """The answer, with a warning about unsupported sentences; `broken` is why the model's server broke off.

        Raises ModelAnswerUnusable if no sentence is supported and the model does not state that the passages lack the
        answer.
        """
        segments = self._segments()
        dropped = len(self.refuted())
        warnings = list(self.warnings)
        if dropped:
            did = "marked" if self._keep else "left out"
            warnings.append(f"{dropped} sentences of the model are not in their sources and were {did}.")
        if finish == "length":
            warnings.append("The answer was cut off at roles.answer.max_tokens.")
        if finish == "content_filter":
            warnings.append("The server's content filter ended the answer.")
        if finish == "broken":
            warnings.append(f"The answer broke off; what was written until then is kept. {broken}")
        if not self._citations and self._abstained:
            return abstained("the model saw no answer in the passages", self._checker.language, warnings)
        if not self._citations:
            raise ModelAnswerUnusable(" ".join(["no sentence of what it wrote has a source.", *warnings]))
        gaps = any(one.check.kind == "gap" for one in self.kept())
        status = "complete" if finish == "stop" and not gaps else "partial"
        verified = not (self._keep and dropped)
        return Answer(segments, status, list(self._citations.values()), verified, warnings)  # type: ignore[arg-type]


LONGEST_HISTORY = 6
"""The maximum number of turns before the question that are sent to the model."""
LONGEST_TURN = 4000
"""The maximum number of characters in a turn."""
LONGEST_TOKEN = 8
"""More characters than a token has on average: output beyond `max_tokens` times this number is not read."""


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
    """An answer of sentences that the passages support, each with citations; an abstention if the model says that they
    do not answer. The model is asked for at most `sentences`.

    Each sentence is checked by words as it arrives. At the end, the model of `roles.verify`, if any, reads each
    sentence with its sources and decides, and unsupported sentences are returned once to be rewritten. `emit` is called
    for each checked sentence: `{"event": "answer", "text", "segments", "citations"}`.

    Raises the errors of `monjyu_core.models.call_errors` if no sentence was written before the call failed, and
    ModelAnswerUnusable if no sentence is supported, which says nothing about the papers.
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
    """The model's output, passed to the draft sentence by sentence.

    Nothing is passed on before the first sentence that cites a source, because it may be reasoning that the server does
    not mark. The text of the complete reply takes precedence.
    """

    def __init__(self, draft: Draft, language: str, brackets: PaperBrackets) -> None:
        self._draft = draft
        self._language, self._brackets = language, brackets
        self._held: list[Marked] | None = []
        self.finish: Finish = "stop"
        self.broken = ""

    async def read(self, pieces: AsyncIterator[str | ChatReply], most: int) -> None:
        """Read to the end, or at most `most` characters."""
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
            await asyncio.to_thread(self._draft.add, sentences)  # a check may embed a sentence, which takes long


@dataclass(frozen=True)
class Rewriting:
    """The inputs for reading a rewritten sentence, which may have markers like the original."""

    question: str
    language: str
    brackets: PaperBrackets

    def read(self, new: RepairedSentence, old: Marked) -> Marked:
        parts = [one for one in marked_sentences(new.text, self.language, self.brackets) if not one.heading]
        marked = tuple(dict.fromkeys(number for one in parts for number in one.sources))
        text = as_one_text([one.text for one in parts], self.language)
        return Marked(text, tuple(new.sources) or marked or old.sources)


async def _second_look(verifier: ModelVerifier, draft: Draft, anew: Rewriting, settings: Settings) -> None:
    """Verify with the model of `roles.verify`, if one is set up, and have unsupported sentences rewritten once. If a
    call fails, the verdict by words remains."""
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
    """The messages with the best passages that fit into `room` tokens (at least one), and those passages."""
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

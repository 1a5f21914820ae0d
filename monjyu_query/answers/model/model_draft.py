"""The sentences that a model wrote so far: each with its check and its citations, told once it is supported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monjyu_core.models.call_errors import ModelAnswerUnusable
from monjyu_core.models.types import Finish
from monjyu_core.text.inline_marks import without_citation_marks
from monjyu_query.answers.answering import Answer, abstained
from monjyu_query.answers.model.checking import Checked, Checker
from monjyu_query.answers.model.marked import Marked, abstains
from monjyu_query.answers.segments import markdown, separator
from monjyu_query.answers.verification.local_check import Verdict
from monjyu_query.asking.events import Emit
from monjyu_query.asking.request import ResponseType
from monjyu_query.asking.result import Citation, Segment, SentenceCheck

REPEATED = 6
"""Words of the instructions that no sentence of an answer repeats by chance."""
NEXT = "\n\n"
"""Before a heading and after it."""


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """Every `REPEATED` words of a text that follow each other, in small letters."""
    words = text.casefold().split()
    return set(zip(*(words[start:] for start in range(REPEATED)), strict=False))


class Draft:
    """The sentences of an answer in order, each with its check and its citations, numbered in order."""

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
        """Forget what was added: it was no part of the answer."""
        self._said, self._told, self._abstained = [], 0, False

    def add(self, sentences: Sequence[Marked]) -> None:
        """Check the sentences by words, and tell of those that are supported."""
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
        """A sentence that repeats its instructions is none of the papers', whatever it borrows from them."""
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
        """What the model says of a sentence stands over what its words say."""
        check = one.check.model_copy(update={"verdict": verdict, "method": "model", "reasons": reasons})
        self._said[self._said.index(one)] = replace(one, check=check)

    def replace(self, written: Sequence[tuple[Checked, Marked]]) -> list[Checked]:
        """Sentences in place of refuted ones, those that are supported now."""
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
        """A list stays one, and so do paragraphs but in a short answer."""
        numbers = list(dict.fromkeys(self._numbered(citation).n for citation in one.citations))
        as_list = "list" if one.said.item else self._response_type
        new = one.said.begins and self._response_type != "short"
        lead = separator(as_list, first=first, new_paragraph=new)
        text = without_citation_marks(one.said.text)
        text = text if one.kept else f"{text} (no source)"
        return Segment(text=lead + text, citations=numbers, check=one.check)

    def _segments(self) -> list[Segment]:
        """Of what is kept; a heading stands before something, or is left out."""
        self._citations = {}  # numbered anew: what was told and then refuted leaves no gap
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
        """What there is, with a word on what was left out; `broken`: why the model's server broke off.

        ModelAnswerUnusable where nothing is supported and the model does not say that the passages lack it.
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

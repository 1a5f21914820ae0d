"""Questions with the spans of text that answer them, and whether a quote matches one.

Texts are compared without white space, which parsing changes. If the answering paper is known, a quote matches if it
covers half of a span or if eight tenths of the quote are inside it; otherwise it matches if it contains an answer.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from monjyu_core.errors import ConfigurationError
from monjyu_core.user_files.bounded_reading import parse_json
from monjyu_query.evaluation.retrieval_quality import MOST_VALUES, numbered_lines

_LINE = 'A line is {"id": "q1", "text": "…", "doc": "PAPER_ID", "answers": ["…"]}.'
COVERED = 0.5
"""The share of a gold span that quotes must cover together."""
INSIDE = 0.8
"""Alternatively, the share of one quote that must be inside the span."""


@dataclass(frozen=True)
class SpanQuestion:
    """A question with known answers. `doc` is the paper that answers it; None if the `answers` (texts) may be in any
    paper; without `answers` the collection does not answer it."""

    question_id: str
    text: str
    doc: str | None
    answers: tuple[str, ...]


def read_gold(path: Path) -> list[SpanQuestion]:
    """Read questions, one `{"id", "text", "doc", "answers": [{"text", "start"}]}` per line; answers may be plain texts,
    or missing. Raises ConfigurationError naming the invalid line."""
    found = []
    for number, line in numbered_lines(path):
        try:
            record = parse_json(line, MOST_VALUES)
            answers = tuple(a if isinstance(a, str) else str(a["text"]) for a in record.get("answers") or ())
            doc = record.get("doc")
            text = record["text"]
            found.append(SpanQuestion(str(record["id"]), text, None if doc is None else str(doc), answers))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ConfigurationError(f"{path}, line {number} is not a question.", _LINE) from None
        if not isinstance(text, str) or not text.strip():
            raise ConfigurationError(f"{path}, line {number}: `text` is empty or not a string.", _LINE)
    if not found:
        raise ConfigurationError(f"{path} has no question.", _LINE)
    return found


def flat(text: str) -> str:
    """The text without white space."""
    return re.sub(r"\s+", "", text)


class PaperTexts:
    """The texts of papers without white space, read on demand."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self._texts: dict[str, str] = {}

    def of(self, paper_id: str) -> str:
        """Return the sections of a paper, joined; empty if the collection does not have the paper."""
        if paper_id not in self._texts:
            query = "SELECT text FROM sections WHERE paper_id = ? ORDER BY section_ord"
            rows = self._cursor.execute(query, [paper_id]).fetchall()
            self._texts[paper_id] = flat("".join(row[0] for row in rows))
        return self._texts[paper_id]


@dataclass(frozen=True)
class Quote:
    paper_id: str
    text: str


class Gold:
    """The gold spans of one question in its paper's text."""

    def __init__(self, question: SpanQuestion, papers: PaperTexts) -> None:
        self._doc, self._answers = question.doc, [flat(answer) for answer in question.answers if flat(answer)]
        self._text = papers.of(question.doc) if question.doc is not None else ""
        places = ((self._text.find(answer), len(answer)) for answer in self._answers)
        self.spans = [(start, start + length) for start, length in places if start >= 0] if self._text else []

    @property
    def known(self) -> bool:
        """Whether there is a gold span to find."""
        return bool(self.spans) or (self._doc is None and bool(self._answers))

    def share(self, quote: Quote) -> tuple[float, float]:
        """Return two shares (0 to 1) for the best span: of the quote inside it, and of the span in the quote."""
        text = flat(quote.text)
        if self._doc is None:
            held = any(answer in text for answer in self._answers)
            return float(held), float(held)
        pairs = [
            (shared / max(len(text), 1), shared / (end - start))
            for start, end in self.spans
            if (shared := self._shared(quote, text, start, end))
        ]
        return max(pairs, key=sum, default=(0.0, 0.0))

    def is_evidence(self, quote: Quote) -> bool:
        return max(self.share(quote)) >= COVERED

    def is_found(self, quotes: Sequence[Quote]) -> bool:
        """Whether the quotes match a gold span: eight tenths of one are inside it, or together they cover half."""
        if any(self.share(quote)[0] >= INSIDE for quote in quotes):
            return True
        once = {(quote.paper_id, flat(quote.text)): quote for quote in quotes}
        return any(self._covered(once.values(), start, end) >= COVERED * (end - start) for start, end in self.spans)

    def _covered(self, quotes: Iterable[Quote], start: int, end: int) -> int:
        return sum(self._shared(quote, flat(quote.text), start, end) for quote in quotes)

    def _shared(self, quote: Quote, text: str, start: int, end: int) -> int:
        """Return how many characters of the span the quote covers, at the first position where it can overlap it."""
        if quote.paper_id != self._doc or not text:
            return 0
        at = self._text.find(text, max(0, start - len(text)))
        return max(0, min(end, at + len(text)) - max(start, at)) if at >= 0 else 0

"""An answer: what it says, what it rests on, and whether it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_query.answers.segments import answer_markdown
from monjyu_query.search.result import AnswerTable, Citation, Segment, Status


@dataclass(frozen=True)
class Answer:
    """`verified`: there are citations and each quote was found in its source."""

    segments: list[Segment]
    status: Status
    citations: list[Citation] = field(default_factory=list)
    verified: bool = False
    warnings: list[str] = field(default_factory=list)
    tables: list[AnswerTable] = field(default_factory=list)
    confidence: float | None = None

    @property
    def text(self) -> str:
        """As Markdown."""
        return answer_markdown(self.segments, self.tables)


def abstained(reason: str, warnings: Sequence[str] = ()) -> Answer:
    """No answer, and why."""
    told = Segment(text=f"The collection does not answer this: {reason}.")
    return Answer([told], "abstained", warnings=list(warnings), confidence=0.0)

"""What changed in an answer: a plain record, as `monjyu answer diff --json` prints it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from monjyu_core.records.questions import SavedSpan

CauseKind = Literal[
    "added",
    "removed",
    "edited",
    "renamed",
    "unreadable",
    "retracted",
    "reinstated",
    "corrected",
    "reparsed",
    "settings",
    "ranking",
]


class Cause(BaseModel):
    """Why: what happened to the cited document (`paper_id`), or `settings` that changed, or `ranking`, where neither
    did and others moved it: `documents` are those. `detail` says it in words."""

    kind: CauseKind
    paper_id: str | None = None
    documents: list[str] = []
    detail: str = ""


class CitationChange(BaseModel):
    """A citation that was gained, lost, moved (to another page, other rectangles, another place in the answer) or
    marked (as retracted). `n` is its number in the answer, `page` where it begins; None on the side that has it not.
    `sentence_ids` and `spans` (rectangles by page) are those of the newer side, of what was lost those of the older."""

    change: Literal["gained", "lost", "moved", "marked"]
    what: list[Literal["page", "boxes", "order", "retracted", "paper_id"]] = []
    paper_id: str
    paper_title: str
    quote: str
    n: tuple[int | None, int | None]
    page: tuple[int | None, int | None]
    sentence_ids: list[str] = []
    spans: list[SavedSpan] = []
    cause: Cause


class SentenceChange(BaseModel):
    """A piece of the answer that was gained or lost, with the causes of what it rests on."""

    change: Literal["gained", "lost"]
    text: str
    causes: list[Cause]


class AnswerDiff(BaseModel):
    """From one snapshot's answer to another's. `recorded`: whether each stood in `saved_answers`, or was asked now."""

    question_id: str | None
    query: str
    collection: str
    older: str
    newer: str
    same: bool
    status: tuple[str, str]
    recorded: tuple[bool, bool]
    citations: list[CitationChange] = []
    sentences: list[SentenceChange] = []

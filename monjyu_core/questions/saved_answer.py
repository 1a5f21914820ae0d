"""What a snapshot answered to a saved question: text, citations with their places, and how it was judged."""

from __future__ import annotations

from pydantic import BaseModel

from monjyu_core.paper import Box


class SavedSpan(BaseModel):
    """Rectangles on a page: [x0, y0, x1, y1] in PDF points from the top left."""

    page: int
    boxes: list[Box]


class SavedCitation(BaseModel):
    """As in a search's result; `paper_sha256` is of the paper's file, empty where it is not known."""

    n: int
    paper_id: str
    paper_title: str
    paper_sha256: str
    retracted: bool
    chunk_id: str
    sentence_ids: list[str]
    quote: str
    page: int | None
    spans: list[SavedSpan]


class SavedSegment(BaseModel):
    """A piece of the answer and the numbers of its citations."""

    text: str
    citations: list[int]


class SavedPassage(BaseModel):
    """A passage that was found: the hash of what was embedded of it, its cosine similarity to the question (None where
    vectors were not asked), and the words of the question that it has."""

    chunk_id: str
    input_hash: str
    similarity: float | None
    matched: list[str]


class Failure(BaseModel):
    """An expectation that does not hold, and why. `about`: the paper, the words or the number that it is about."""

    expectation: str
    detail: str
    about: str = ""


class SavedAnswer(BaseModel):
    """One row of a snapshot's saved answers.

    `asked`: hash of the question as it was asked. `key`: hash of it and of all else that the answer depends on: an
    equal one is not computed again. `parts`: `table/bucket/version` of the parts that the cited papers' text comes
    from. `settings`: those it was asked with, as JSON. `error`: why it could not be asked.
    """

    question_id: str
    snapshot_id: str
    asked: str
    key: str
    text: str
    mode: str
    severity: str
    status: str = ""
    confidence: float | None = None
    answer: str = ""
    answer_engine: str = ""
    segments: list[SavedSegment] = []
    citations: list[SavedCitation] = []
    passages: list[SavedPassage] = []
    parts: list[str] = []
    settings: str = ""
    error: str = ""
    failures: list[Failure] = []
    seconds: float = 0.0
    asked_at: str = ""

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def blocks(self) -> bool:
        return bool(self.failures) and self.severity == "block"

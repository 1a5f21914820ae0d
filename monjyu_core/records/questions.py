"""A saved question and the expectations of its answer."""

import json
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints, ValidationError

from monjyu_core.errors import ConfigurationError
from monjyu_core.paper import Box
from monjyu_core.settings.names import plain, sentence
from monjyu_core.storage.ids import digest


# What a snapshot answered to a saved question: text, citations with their places, and how it was judged.
class SavedSpan(BaseModel):
    """Rectangles on a page: [x0, y0, x1, y1] in PDF points from the top left."""

    page: int
    boxes: list[Box]


class SavedCitation(BaseModel):
    """A saved answer's citation, as in a search result. `paper_sha256`: the file's hash, empty if unknown."""

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
    """A retrieved passage: the hash of its embedded text, its cosine similarity to the question (None if vectors were
    not used), and the question's words in it."""

    chunk_id: str
    input_hash: str
    similarity: float | None
    matched: list[str]


class Failure(BaseModel):
    """An expectation that the answer does not meet, and why. `about`: the paper, words or number concerned."""

    expectation: str
    detail: str
    about: str = ""


class SavedAnswer(BaseModel):
    """One row of a snapshot's saved answers.

    `asked`: hash of the question as it was asked. `key`: hash of the question and everything else that the answer
    depends on; an answer with an equal key is not computed again. `parts`: `table/bucket/version` of the parts with the
    cited papers' text. `settings`: the settings used, as JSON. `error`: why it could not be asked.
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


# The expected answer of a question, as hashes and positions. It contains no word of a paper, so no text of a deleted or
# purged paper stays in it.
_EXACT = 3
"""Decimals of a similarity: a text has the same similarity under the same model, regardless of the rest of the
collection."""
_ROUNDING = 0.002


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BaselineCitation(_Model):
    """A baseline's citation. `quote` and `places` are hashes of the words, and of pages with rectangles."""

    paper_id: str
    page: int | None
    quote: str
    places: str


class BaselinePassage(_Model):
    """The passage to find again: the hash of its embedded text, its similarity, and the matching words."""

    input_hash: str
    similarity: float | None
    matched: str


class Baseline(_Model):
    snapshot_id: str
    status: str
    answer: str
    citations: list[BaselineCitation]
    passages: dict[str, BaselinePassage]


def baseline_of(answer: SavedAnswer) -> Baseline:
    return Baseline(
        snapshot_id=answer.snapshot_id,
        status=answer.status,
        answer=digest(answer.answer),
        citations=[_citation(one) for one in answer.citations],
        passages={one.chunk_id: _passage(one) for one in answer.passages},
    )


def differences(before: Baseline, answer: SavedAnswer) -> Iterator[str]:
    """The differences between an answer and its baseline, as texts."""
    now = baseline_of(answer)
    if now.status != before.status:
        yield f"it is {now.status}, not {before.status}"
    yield from _citations_differ(before, now)
    for chunk_id, was in before.passages.items():
        found = now.passages.get(chunk_id)
        if found is None or found.input_hash != was.input_hash:
            continue
        if _apart(found.similarity, was.similarity):
            values = f"{found.similarity}, not {was.similarity}"
            yield f"passage {chunk_id} has the same text and another similarity: {values}"
        if found.matched != was.matched:
            yield f"passage {chunk_id} has the same text and matches other words of the question"
    if now.answer != before.answer and now.citations == before.citations:
        yield "its words differ"


def _citations_differ(before: Baseline, now: Baseline) -> Iterator[str]:
    if now.citations == before.citations:
        return
    old, new = ({(one.paper_id, one.quote): one for one in side.citations} for side in (before, now))
    yield from (f"a quote of {key[0]} is missing{_page(old[key])}" for key in old if key not in new)
    yield from (f"a quote of {key[0]} is new{_page(new[key])}" for key in new if key not in old)
    both = [key for key in old if key in new]
    yield from (f"a quote of {key[0]} has moved{_page(new[key])}" for key in both if old[key] != new[key])
    if both == list(old) and len(old) == len(new) and list(old) != list(new):
        yield "its citations have another order"


def _page(citation: BaselineCitation) -> str:
    return f" (page {citation.page})" if citation.page else ""


def _citation(one: SavedCitation) -> BaselineCitation:
    places = json.dumps([span.model_dump() for span in one.spans])
    return BaselineCitation(paper_id=one.paper_id, page=one.page, quote=digest(one.quote), places=digest(places))


def _passage(one: SavedPassage) -> BaselinePassage:
    similarity = None if one.similarity is None else round(one.similarity, _EXACT)
    return BaselinePassage(input_hash=one.input_hash, similarity=similarity, matched=digest(*one.matched))


def _apart(one: float | None, other: float | None) -> bool:
    """Whether two similarities differ by more than rounding."""
    if one is None or other is None:
        return one is not other
    return abs(one - other) > _ROUNDING


Severity = Literal["block", "warn"]
BudgetPreset = Literal["z100", "z500", "z1500"]
"""Relevance tests of lazy search; their numbers are in `monjyu_query/asking/lazy_explanation.py`."""
MOST_QUESTIONS = 500
"""The maximum per collection: all are answered before a snapshot is published."""
LONGEST = 10_000
_MOST = 50
"""The maximum number of entries in one expectation."""
ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


def _one_line(value: object) -> object:
    """Composed characters and no control characters, as for a question that is asked."""
    if not isinstance(value, str):
        return value
    text = unicodedata.normalize("NFC", value.encode("utf-8", "replace").decode())
    return " ".join("".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text).split())


ANY_TEXT = r"[^\s\x00-\x1f\x7f-\x9f]"
"""Matches a text with at least one character that is not white space or a control character."""
_DESCRIBED: Any = Field(json_schema_extra={"pattern": ANY_TEXT})
Words = Annotated[str, StringConstraints(min_length=1, max_length=2000), BeforeValidator(_one_line), _DESCRIBED]
PaperId = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class CitedPlace(_Model):
    """A required citation: a paper, and a page or a sentence (with its words in a quote, ignoring spaces)."""

    paper: PaperId
    text: Words | None = None
    page: Annotated[int, Field(ge=1)] | None = None


class Expectations(_Model):
    """The expectations of a saved question. `must_mention`: words of the answer or its quotes, in any case.
    `min_papers`: the number of different papers cited. `same_answer`: the answer equals the baseline, with its quotes,
    pages and rectangles."""

    must_cite: Annotated[list[CitedPlace], Field(max_length=_MOST)] = []
    must_not_cite: Annotated[list[PaperId], Field(max_length=_MOST)] = []
    must_mention: Annotated[list[Words], Field(max_length=_MOST)] = []
    must_abstain: StrictBool = False
    min_papers: Annotated[int, Field(ge=1, le=1000)] | None = None
    same_answer: StrictBool = False


class Question(_Model):
    """A saved question. `mode` and `budget` are as in a search; `severity`: whether a snapshot that fails an
    expectation is withheld from readers (`block`) or published with a warning; `baseline` is the answer that
    `same_answer` compares with, which Monjyu stores."""

    id: Annotated[str, StringConstraints(pattern=ID)]
    text: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST), BeforeValidator(_one_line)]
    mode: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,20}$")] = "auto"
    budget: BudgetPreset | Annotated[int, Field(ge=0)] | None = None
    severity: Severity = "warn"
    expect: Expectations = Expectations()
    at: str = ""
    by: str = ""
    baseline: Baseline | None = None


def make_question(**values: Any) -> Question:
    """A validated question. Raises ConfigurationError in plain words if a value is wrong."""
    try:
        return Question(**values)
    except ValidationError as error:
        raise ConfigurationError(f"A saved question: {sentence(map(_problem, error.errors()))}") from error


def _problem(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {'is not known' if error['type'] == 'extra_forbidden' else plain(error)}"

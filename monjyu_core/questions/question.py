"""A saved question, and what is expected of its answer."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints, ValidationError

from monjyu_core.errors import ConfigurationError
from monjyu_core.questions.baseline import Baseline
from monjyu_core.settings.validation import plain, sentence

Severity = Literal["block", "warn"]
BudgetPreset = Literal["z100", "z500", "z1500"]
"""Relevance tests of lazy search; their numbers are in `monjyu_query/modes/lazy/walk/budget.py`."""
MOST_QUESTIONS = 500
"""Of a collection: all are answered before a snapshot is published."""
LONGEST = 10_000
_MOST = 50
"""Entries of one expectation."""
ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


def _one_line(value: object) -> object:
    """Composed characters, no control characters, as a question is asked."""
    if not isinstance(value, str):
        return value
    text = unicodedata.normalize("NFC", value.encode("utf-8", "replace").decode())
    return " ".join("".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text).split())


ANY_TEXT = r"[^\s\x00-\x1f\x7f-\x9f]"
"""A character that stays of a text."""
_DESCRIBED: Any = Field(json_schema_extra={"pattern": ANY_TEXT})
Words = Annotated[str, StringConstraints(min_length=1, max_length=2000), BeforeValidator(_one_line), _DESCRIBED]
PaperId = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CitedPlace(_Model):
    """What must be cited: a paper, and of it a sentence (its words stand in a quote, whatever the spaces) or a page."""

    paper: PaperId
    text: Words | None = None
    page: Annotated[int, Field(ge=1)] | None = None


class Expectations(_Model):
    """`must_mention`: words of the answer or its quotes, whatever their case. `min_papers`: different papers that are
    cited. `same_answer`: the answer is that of the baseline, with its quotes, pages and rectangles."""

    must_cite: Annotated[list[CitedPlace], Field(max_length=_MOST)] = []
    must_not_cite: Annotated[list[PaperId], Field(max_length=_MOST)] = []
    must_mention: Annotated[list[Words], Field(max_length=_MOST)] = []
    must_abstain: StrictBool = False
    min_papers: Annotated[int, Field(ge=1, le=1000)] | None = None
    same_answer: StrictBool = False


class Question(_Model):
    """`mode` and `budget` as in a search. `severity`: whether a snapshot that fails an expectation is kept from readers
    (`block`) or published with a warning. `baseline` is what `same_answer` compares with: kept by Monjyu."""

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
    """A checked question; ConfigurationError in plain words where a value is wrong."""
    try:
        return Question(**values)
    except ValidationError as error:
        raise ConfigurationError(f"A saved question: {sentence(map(_problem, error.errors()))}") from error


def _problem(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {'is not known' if error['type'] == 'extra_forbidden' else plain(error)}"

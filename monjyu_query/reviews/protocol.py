"""The protocol of a review: a file with the question, the criteria and the fields to extract."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from monjyu_core.errors import ConfigurationError
from monjyu_core.paper import SectionType
from monjyu_core.records.reviews import check_review_name
from monjyu_core.settings.names import plain, sentence
from monjyu_core.user_files.bounded_reading import FileRefused, parse_yaml, read_text
from monjyu_query.digests.table_columns import MOST_COLUMNS

LONGEST = 1000
"""The maximum number of characters in a text; `MOST_BYTES` limits a protocol."""
MOST_BYTES = 200_000
SCREENING_VERSION = 1
"""Increase it when the same paper and criteria get another outcome; all papers are then screened again."""
Text = Annotated[str, Field(min_length=1, max_length=LONGEST, pattern=r"\S")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Year = Annotated[int, Field(ge=0, le=9999)]
_OF_PHRASES = {"where", "at_least", "otherwise"}
Phrases = Annotated[list[Annotated[str, Field(min_length=1, max_length=200, pattern=r"\w")]], Field(max_length=100)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Years(_Strict):
    """A range of years, both inclusive; either may be missing."""

    first: Year | None = Field(default=None, alias="from")
    last: Year | None = Field(default=None, alias="to")

    @model_validator(mode="after")
    def _in_order(self) -> Years:
        if self.first is None and self.last is None:
            raise ValueError("needs `from` or `to`")
        if self.first is not None and self.last is not None and self.first > self.last:
            raise ValueError(f"begins with {self.first}, after its end {self.last}")
        return self


class Rule(_Strict):
    """A rule that decides a criterion from fields and phrases of a paper; all given parts must be true. `mention`: the
    paper contains one of the phrases; `mention_all`: all of them. `where` limits both to the title or to section types;
    `at_least` is the minimum number of sentences (the title counts as one). A phrase consists of whole words in any
    case, with `*` at its end for any ending (`cours*`); a single word in capitals (R, GIS) must match as written.
    For an inclusion criterion, `otherwise` is the verdict on a paper without the phrases, and too few mentions are
    `unclear`; for an exclusion criterion, both are `no`. `sections`: the paper has a section of one of the types.
    `papers: false`: the file has no signs of a paper (a licence, a note).
    """

    years: Years | None = None
    languages: list[Annotated[str, Field(pattern=r"^[a-z]{2}$")]] = []
    document_types: list[str] = []
    sections: list[SectionType] = []
    mention: Phrases = []
    mention_all: Phrases = []
    where: list[SectionType | Literal["title"]] = []
    at_least: Annotated[int, Field(ge=1, le=1000)] = 1
    otherwise: Literal["no", "unclear"] = "no"
    papers: bool | None = None
    retracted: bool | None = None

    @model_validator(mode="after")
    def _names_something(self) -> Rule:
        if not self.model_fields_set - _OF_PHRASES:
            raise ValueError("names nothing to look for")
        if self.model_fields_set & _OF_PHRASES and not (self.mention or self.mention_all):
            raise ValueError("has options for phrases (`where`, `at_least`, `otherwise`) but no phrases")
        return self


class Criterion(_Strict):
    """A criterion of a review. `text` states it; without a `rule`, each paper is searched for this text."""

    id: Name
    text: Text
    rule: Rule | None = None


class Source(_Strict):
    """A source of records. `path` is a pattern that its files match (`*/pubmed/*`), for the counts; the diagram shows
    `kind` (except `other`) before the name."""

    name: Text
    kind: Literal["database", "register", "other"] = "other"
    path: Text | None = None
    searched: Text | None = None
    query: Text | None = None

    @field_validator("searched", mode="before")
    @classmethod
    def _day(cls, value: object) -> object:
        return value if value is None else str(value)


class Protocol(_Strict):
    """The protocol of one review. A paper must meet every criterion of `include` and none of `exclude`."""

    name: Name
    title: Text | None = None
    question: Text
    collection: Name | None = None
    include: Annotated[list[Criterion], Field(max_length=50)] = []
    exclude: Annotated[list[Criterion], Field(max_length=50)] = []
    sources: Annotated[list[Source], Field(max_length=50)] = []
    fields: Annotated[list[Annotated[str, Field(min_length=1, max_length=120)]], Field(max_length=MOST_COLUMNS)] = []

    @model_validator(mode="after")
    def _criteria(self) -> Protocol:
        ids = [one.id for one in self.criteria]
        if not ids:
            raise ValueError("has no criteria: name some under `include` or `exclude`")
        if twice := sorted({one for one in ids if ids.count(one) > 1}):
            raise ValueError(f"names criteria twice: {', '.join(twice)}")
        return self

    @property
    def criteria(self) -> list[Criterion]:
        return [*self.include, *self.exclude]

    def criterion(self, name: str) -> Criterion | None:
        return next((one for one in self.criteria if one.id == name), None)

    def criteria_hash(self, engine: str) -> str:
        """Return the hash of everything that decides a screening. The question, sources and fields are not part of it,
        so changing them causes no new screening."""
        parts = [str(SCREENING_VERSION), engine]
        kinds: tuple[tuple[str, list[Criterion]], ...] = (("include", self.include), ("exclude", self.exclude))
        for kind, some in kinds:
            parts += [f"{kind}:{one.model_dump_json(by_alias=True)}" for one in some]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def read_protocol(path: Path) -> Protocol:
    """Read a protocol file. Raises ConfigurationError with the errors of an invalid one."""
    return parse_protocol(protocol_text(path), str(path))


def protocol_text(path: Path) -> str:
    """Return the text of a protocol. Raises ConfigurationError if it cannot be read or is too long."""
    try:
        return read_text(path, MOST_BYTES)
    except FileRefused as error:
        raise ConfigurationError(error.message, "`monjyu review init PROTOCOL.yaml` writes an example.") from error


def parse_protocol(text: str, place: str) -> Protocol:
    """Parse a protocol. Raises ConfigurationError, with `place` in its message, if it is invalid."""
    try:
        values = parse_yaml(text)
    except (yaml.YAMLError, ValueError, FileRefused) as error:
        raise ConfigurationError(f"{place} is not YAML: {error}", "docs/ask.md describes a protocol.") from error
    if not isinstance(values, dict):
        raise ConfigurationError(f"{place} is not a mapping of settings.", "docs/ask.md describes a protocol.")
    try:
        protocol = Protocol.model_validate(values)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, one['loc'])) or 'the protocol'} {plain(one)}" for one in error.errors()]
        raise ConfigurationError(f"{place}: {sentence(wrong)}", "docs/ask.md describes a protocol.") from None
    check_review_name(protocol.name)
    return protocol


def review_name(text: str) -> str:
    """Return a valid name for a review, derived from a file name."""
    return re.sub(r"[^a-z0-9_-]+", "-", text.casefold()).strip("-_")[:64] or "review"


# The protocol that `monjyu review init` writes: complete, with a comment on each part.
TEMPLATE = """\
# The protocol of a living review. Change it, then: monjyu review run THIS_FILE
name: {name}
question: What do the papers of this collection report on ...?
collection: {collection}

# Where the records come from, for the counts of the flow diagram; `path` is a pattern of the files.
sources:
  - name: Papers of {collection}
    kind: database          # database, register or other
    # path: "*/pubmed/*"
    # searched: 2025-01-31
    # query: the search there

# A paper must meet all of these. A `rule` decides; without one, each paper is searched for the text, and a person
# decides on the papers in which it is not found. Rules: years, languages, document_types, sections, mention,
# mention_all (with where, at_least), papers, retracted.
include:
  - id: paper
    text: The record is a paper
    rule: {{papers: true}}
  - id: years
    text: Published since 2000
    rule: {{years: {{from: 2000}}}}
  # - id: subject
  #   text: The study is about ...
  #   rule: {{mention: ["a phrase", "anoth*"], at_least: 2}}

# A paper may meet none of these.
exclude:
  - id: retracted
    text: The paper is retracted
    rule: {{retracted: true}}

# The columns of the evidence table, as those of `monjyu table`.
fields: [Question, Method, Sample, Result, Limitation]
"""


def protocol_template(name: str, collection: str) -> str:
    return TEMPLATE.format(name=name, collection=collection)

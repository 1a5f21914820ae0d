"""The question: what `monjyu search`, the Python facade and (as JSON) the HTTP service ask for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    field_validator,
    model_validator,
)

from monjyu_core.errors import QueryError
from monjyu_core.paper import SectionType
from monjyu_core.settings.search_settings import FusedMode
from monjyu_core.settings.validation import plain, sentence
from monjyu_core.wording import did_you_mean

Mode = Literal["auto", "vector", "keyword", "hybrid", "lazy", "local", "global", "multi"]
Controller = Literal["unified", "progressive", "hybrid"]
ResponseType = Literal["short", "paragraphs", "list", "table", "report"]
_RESPONSE_TYPES: dict[str, ResponseType] = {
    **dict.fromkeys(("multiple paragraphs", "single paragraph", "paragraph"), "paragraphs"),
    **dict.fromkeys(("single sentence", "sentence"), "short"),
    **dict.fromkeys(("list of 3-7 points", "bullet points", "bullets"), "list"),
    **dict.fromkeys(("single page", "multiple-page report", "multi-page report"), "report"),
}
"""Names that GraphRAG and its kin have for forms of an answer."""
Sufficiency = Literal["count", "model", "off"]


def _a_number(value: object) -> object:
    if isinstance(value, str | bool):
        raise ValueError("must be a number")
    return value


NUMBER = BeforeValidator(_a_number)
"""Stands after the bounds, so that they are seen in the JSON schema."""
Year = Annotated[int, Field(ge=0, le=9999), NUMBER]
LAZY_FIELDS = (
    *("budget", "max_level", "max_calls", "max_cost_usd", "patience", "sufficiency", "subqueries", "threshold"),
    "reasons",
)
"""What only mode lazy understands."""
Switch = Annotated[bool, Strict()]
"""Values as JSON has them: 5.0 is a whole number, "5" is none, and 0 is not false."""

_ANY_TEXT = r"[^\s\x00-\x1f\x7f-\x9f]"
_NAMES: Any = Field(default=[], json_schema_extra={"items": {"type": "string", "pattern": r"\S"}})

MOST_CONTEXT = 200_000
"""Tokens of a context."""
LONGEST_STYLE = 200
"""Characters of a wish for the form of an answer."""
LONGEST_QUERY = 10_000
"""Characters. A longer text is no question, and the embedding model reads far less."""


_LANGUAGES = """ar ara arabic العربية|cs ces cze czech čeština|da dan danish dansk|de deu ger german deutsch|el
ell gre greek ελληνικά|en eng english|es spa spanish castilian español|fa fas per persian farsi فارسی|fi fin
finnish suomi|fr fra fre french français|he heb hebrew עברית|hi hin hindi हिन्दी|hu hun hungarian magyar|id ind
indonesian|it ita italian italiano|ja jpn japanese 日本語|ko kor korean 한국어|nl nld dut dutch nederlands|no nor nb
nob norwegian norsk|pl pol polish polski|pt por portuguese português|ro ron rum romanian română|ru rus russian
русский|sv swe swedish svenska|th tha thai ไทย|tr tur turkish türkçe|uk ukr ukrainian українська|vi vie
vietnamese|zh zho chi chinese mandarin 中文 汉语"""
_CODES = {name: names.split()[0] for names in _LANGUAGES.split("|") for name in names.split()}
"""Names of languages to their codes in ISO 639-1, which papers have; other codes are taken as they are."""
_OF_PLACE = re.compile(r"([^\W\d_]+)(?:[-_.][\w.-]+| ?\([\w ,-]+\))")
"""`en-GB`, `Chinese (Simplified)`."""
_ENGLISH_NAMES = [next(name for name in names.split() if len(name) > 3).title() for names in _LANGUAGES.split("|")]
_CODE_OR_NAME = rf"^(?:[A-Za-z]{{2}}(?:-[A-Za-z]{{2,4}})?|{'|'.join(_ENGLISH_NAMES)})$"
"""What is described; names in other languages and codes of three letters are taken too."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Filters(_Model):
    """What a passage's paper (or section) must be. Filters of different kinds must all hold, values of one kind any.

    `year_from` and `year_to` are inclusive and a paper without a year passes neither. An author filter holds where all
    its words are words of one author's name, whatever their order, case and accents. Languages are codes (en, en-GB) or
    names (English). Tags and shelves (a library's collections, as `Thesis/Methods`; those below count) are those of
    `monjyu import`, whatever their case. `academic`: only what was judged an academic paper (true) or none (false).
    """

    year_from: Year | None = None
    year_to: Year | None = None
    authors: list[str] = _NAMES
    section_types: list[SectionType] = []
    paper_ids: list[str] = _NAMES
    languages: list[str] = Field(default=[], json_schema_extra={"items": {"type": "string", "pattern": _CODE_OR_NAME}})
    tags: list[str] = _NAMES
    shelves: list[str] = _NAMES
    academic: Annotated[bool, Strict()] | None = None

    @field_validator("authors", "paper_ids", "languages", "tags", "shelves")
    @classmethod
    def _no_blanks(cls, values: list[str]) -> list[str]:
        if not all(value.strip() for value in values):
            raise ValueError("holds an empty value")
        return [_encodable(value) for value in values]

    @field_validator("languages")
    @classmethod
    def _codes(cls, values: list[str]) -> list[str]:
        return list(dict.fromkeys(map(language_code, values)))

    @model_validator(mode="after")
    def _years_in_order(self) -> Filters:
        if self.year_from is not None and self.year_to is not None and self.year_from > self.year_to:
            raise ValueError(f"year_from {self.year_from} is after year_to {self.year_to}")
        return self

    @property
    def empty(self) -> bool:
        return self == Filters()


def language_code(named: str) -> str:
    """The code of a language given as a code (`en`, `eng`, `en-GB`) or by its name; ValueError where it is neither."""
    name = named.strip().casefold()
    of_place = _OF_PLACE.fullmatch(name)
    code = of_place[1] if of_place else name
    if found := _CODES.get(name) or _CODES.get(code):
        return found
    if re.fullmatch(r"[a-z]{2}", code):
        return code
    raise ValueError(f"{named.strip()!r} is no language that is known: give its two letters, as en or ja")


class Turn(_Model):
    """One turn of the conversation before the question."""

    role: Literal["user", "assistant", "system"]
    content: str


class SearchQuestion(_Model):
    """One question to one collection, as any caller may ask it. What is None comes from the collection's settings.

    `min_score` is on the scale of the mode: cosine similarity (-1 to 1) in `vector`, BM25 (0 and up) in `keyword`,
    the weighted standard deviations above the mean chunk in `hybrid` (a strong hit has 3 or more), and from 0 to 10 in
    `lazy` and `global`. Passages below it are neither hits nor evidence. Modes `local` and `multi` and the controllers
    that ask several modes refuse it: they join ranks. With `auto` it is on the scale of the mode chosen. `expand` adds
    that many related terms, or rewordings by a model, in the first three; `rerank` is whether the model of
    `roles.rerank` orders their best passages anew. `modes` are those that mode `multi` joins. `response_type`: two
    sentences at most, a paragraph a paper, a list, a table of papers, or a report with headings; other words than
    these, as "three bullet points for a layman", are a wish to the model that answers (`style`). `context`: give what
    the answer is written from (claims, hits) as one text for a model of one's own too, of so many tokens at most.

    For mode lazy alone: `max_level` (levels above it are not used), `max_calls` and `max_cost_usd` (of models),
    `patience` (communities in a row without a relevant chunk), `sufficiency` (what ends it early: as many relevant
    sentences, as the presets say (`count`), a model's judgement or nothing), `subqueries` (at most, the question
    included), `threshold` (0 to 10, of a relevant sentence) and `reasons` (why each sentence was judged relevant).
    """

    query: str = Field(json_schema_extra={"pattern": _ANY_TEXT, "maxLength": LONGEST_QUERY})
    collection: str
    mode: Mode = "auto"
    modes: Annotated[list[FusedMode], Field(min_length=1, max_length=6)] | None = None
    controller: Controller = "unified"
    top_k: Annotated[int, Field(ge=1, le=1000), NUMBER] | None = None
    budget: Literal["z100", "z500", "z1500"] | Annotated[int, Field(ge=0), NUMBER] | None = None
    alpha: Annotated[float, Field(ge=0, le=1), NUMBER] | None = None
    min_score: Annotated[float, Field(allow_inf_nan=False), NUMBER] | None = None
    expand: Annotated[int, Field(ge=0, le=20), NUMBER] | None = None
    rerank: Switch | None = None
    response_type: ResponseType | None = None
    style: Annotated[str, Field(max_length=LONGEST_STYLE)] = ""
    context: Annotated[int, Field(ge=1, le=MOST_CONTEXT), NUMBER] | None = None
    max_level: Annotated[int, Field(ge=0, le=4), NUMBER] | None = None
    max_calls: Annotated[int, Field(ge=1), NUMBER] | None = None
    max_cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False), NUMBER] | None = None
    patience: Annotated[int, Field(ge=1), NUMBER] | None = None
    sufficiency: Sufficiency | Annotated[int, Field(ge=1), NUMBER] | None = None
    subqueries: Annotated[int, Field(ge=1, le=10), NUMBER] | None = None
    threshold: Annotated[float, Field(gt=0, le=10), NUMBER] | None = None
    reasons: Switch = False
    filters: Filters = Filters()
    history: list[Turn] = []
    answer: Switch = True

    @model_validator(mode="before")
    @classmethod
    def _response_type_in_words(cls, values: Any) -> Any:
        """Names of other programs (GraphRAG's "Multiple Paragraphs") are read as ours; other words become `style`."""
        said = values.get("response_type") if isinstance(values, dict) else None
        if not isinstance(said, str) or said in get_args(ResponseType) or values.get("style"):
            return values
        name = " ".join(said.casefold().split())
        if (known := name if name in get_args(ResponseType) else _RESPONSE_TYPES.get(name)) is not None:
            return values | {"response_type": known}
        return values | {"response_type": None, "style": clean_text(said)}

    @property
    def open_ended(self) -> bool:
        """Whether an answer is asked for, and neither mode, controller nor budget say how it is to be found: what is
        known of the collection as a whole may answer then, instead of a search."""
        return self.mode == "auto" and self.controller == "unified" and self.answer and self.budget is None

    @field_validator("query")
    @classmethod
    def _a_question(cls, query: str) -> str:
        query = clean_text(query)
        if not query:
            raise ValueError("is empty: ask something")
        if len(query) > LONGEST_QUERY:
            raise ValueError(f"has {len(query)} characters, more than {LONGEST_QUERY}: ask with fewer words")
        return query


class SearchRequest(SearchQuestion):
    """A question with what only the owner of the data folder may say, from Python or the command line: other `models`
    (role to a name under `models` in the settings) and a `system_prompt`, which goes before Monjyu's own."""

    models: dict[str, str] = {}
    system_prompt: Annotated[str, Field(max_length=LONGEST_QUERY)] = ""


OWNERS_FIELDS = SearchRequest.model_fields.keys() - SearchQuestion.model_fields.keys()


def clean_text(text: str) -> str:
    """One line, composed characters, no control characters."""
    composed = unicodedata.normalize("NFC", _encodable(text))
    return " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in composed).split())


def _encodable(text: str) -> str:
    """Without lone surrogates, which bytes that are no UTF-8 become in command-line arguments."""
    return text.encode("utf-8", "replace").decode()


def make_request(**values: Any) -> SearchRequest:
    """A checked request; QueryError in plain words where a value is wrong."""
    try:
        return SearchRequest(**values)
    except ValidationError as error:
        raise QueryError(sentence(map(problem, error.errors()))) from error


def make_filters(values: Mapping[str, Any]) -> Filters:
    """Checked filters of what needs no question; QueryError as above."""
    return make_request(query="-", collection="-", filters=dict(values)).filters


_IN_WORDS = {
    "budget": "budget: must be z100, z500, z1500 or a number of 0 or more",
    "sufficiency": "sufficiency: must be count, model, off or a number of sentences of 1 or more",
}
"""For fields of several types, each of which complains for itself."""


def problem(error: Any, known: Collection[str] | None = None) -> str:
    """`top_k: must be 1000 or less`, for one of pydantic's errors. `known`: the names that there are, by default those
    of a search."""
    where = ".".join(str(part) for part in error["loc"] if not isinstance(part, int))
    if error["type"] != "extra_forbidden":
        said = _IN_WORDS.get(where.partition(".")[0])
        return said or f"{where or 'body'}: {plain(error)}"
    *group, name = where.split(".")
    if group not in ([], ["filters"]):
        return f"{where}: is not known"
    if name in OWNERS_FIELDS and not group:
        return f"{name}: is for the owner's own programs, from Python or the command line"
    names = Filters.model_fields if group else known or SearchQuestion.model_fields
    meant = did_you_mean(name, names) or f"There are {', '.join(names)}"
    return f"{where}: is not known. {meant}"

"""The declaration of a question, of its filters and of its options: their types, limits, defaults and help.

The options of commands, the bodies of HTTP, the schemas of MCP and the forms of the page are generated from the fields
here; tests/query/test_declaration.py names the interfaces that lack one. The meaning of a filter is in
`ranking/filters.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict, get_args

from pydantic import AfterValidator, BeforeValidator, Field, Strict, ValidationError, model_validator

from monjyu_core.errors import QueryError, did_you_mean
from monjyu_core.paper import SectionType
from monjyu_core.records.corrected_values import bare_doi
from monjyu_core.records.questions import BudgetPreset
from monjyu_core.settings.names import plain, sentence
from monjyu_core.settings.search import FusedMode, SettledMode
from monjyu_query.asking.fields import Body, asked, asked_as
from monjyu_query.asking.lazy_explanation import RELEVANCE

Mode = SettledMode
Controller = Literal["unified", "progressive", "hybrid"]
ResponseType = Literal["short", "paragraphs", "list", "table", "report"]
_RESPONSE_TYPES: dict[str, ResponseType] = {
    **dict.fromkeys(("multiple paragraphs", "single paragraph", "paragraph"), "paragraphs"),
    **dict.fromkeys(("single sentence", "sentence"), "short"),
    **dict.fromkeys(("list of 3-7 points", "bullet points", "bullets"), "list"),
    **dict.fromkeys(("single page", "multiple-page report", "multi-page report"), "report"),
}
"""Names for forms of an answer in GraphRAG and similar programs."""
Sufficiency = Literal["count", "model", "off"]


def _a_number(value: object) -> object:
    if isinstance(value, str | bool):
        raise ValueError("must be a number")
    return value


NUMBER = BeforeValidator(_a_number)
_SCORE = BeforeValidator(lambda said: RELEVANCE.get(said.casefold(), said) if isinstance(said, str) else said)
"""Reads a grade as its score; it follows the bounds in annotations, so that they are in the JSON schema."""
Budget = BudgetPreset | Annotated[int, Field(ge=0), NUMBER]
"""The number of relevance tests, or a preset."""
Year = Annotated[int, Field(ge=0, le=9999), NUMBER]
Switch = Annotated[bool, Strict()]
"""Values are read as in JSON: 5.0 is an integer, "5" is not a number, and 0 is not false."""

_LAZY, PASSAGES = ("lazy",), ("vector", "keyword", "hybrid")
"""The second: modes that rank every passage and end in milliseconds, before a user could interrupt them."""
SCORED = (*PASSAGES, "lazy", "global")
"""Modes whose hits have scores on one scale, to which `min_score` may apply."""
NOT_RERANKED = ("lazy", "local", "global")
"""Modes with their own order."""
ANY_TEXT = r"[^\s\x00-\x1f\x7f-\x9f]"
MOST_CONTEXT = 200_000
"""The maximum number of tokens in a context."""
LONGEST_STYLE = 200
"""The maximum number of characters in a request for the form of an answer."""
LONGEST_QUERY = 10_000
"""The maximum number of characters in a question; the embedding model reads far fewer."""


_LANGUAGES = """ar ara arabic العربية|cs ces cze czech čeština|da dan danish dansk|de deu ger german deutsch|el
ell gre greek ελληνικά|en eng english|es spa spanish castilian español|fa fas per persian farsi فارسی|fi fin
finnish suomi|fr fra fre french français|he heb hebrew עברית|hi hin hindi हिन्दी|hu hun hungarian magyar|id ind
indonesian|it ita italian italiano|ja jpn japanese 日本語|ko kor korean 한국어|nl nld dut dutch nederlands|no nor nb
nob norwegian norsk|pl pol polish polski|pt por portuguese português|ro ron rum romanian română|ru rus russian
русский|sv swe swedish svenska|th tha thai ไทย|tr tur turkish türkçe|uk ukr ukrainian українська|vi vie
vietnamese|zh zho chi chinese mandarin 中文 汉语"""
_CODES = {name: names.split()[0] for names in _LANGUAGES.split("|") for name in names.split()}
"""Names of languages with their ISO 639-1 codes, as papers have them; other codes are accepted as they are."""
_OF_PLACE = re.compile(r"([^\W\d_]+)(?:[-_.][\w.-]+| ?\([\w ,-]+\))")
"""`en-GB`, `Chinese (Simplified)`."""
_ENGLISH_NAMES = [next(name for name in names.split() if len(name) > 3).title() for names in _LANGUAGES.split("|")]
_CODE_OR_NAME = rf"^(?:[A-Za-z]{{2}}(?:-[A-Za-z]{{2,4}})?|{'|'.join(_ENGLISH_NAMES)})$"
"""The documented form; names in other languages and codes of three letters are accepted too."""


def _lazy(about: str, default: Any = None, *, under: str = "lazy") -> Any:
    return asked(f"Mode lazy only: {about}", default, modes=_LAZY, under=under)


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("contains an empty value")
    return encodable(value)


def _doi(value: str) -> str:
    if (doi := bare_doi(value)) is None:
        raise ValueError(f"{encodable(value.strip())!r} is not a DOI: give it as 10.1234/abcd")
    return doi.lower()


def language_code(named: str) -> str:
    """The code of a language from a code (`en`, `eng`, `en-GB`) or a name. Raises ValueError for anything else."""
    name = named.strip().casefold()
    of_place = _OF_PLACE.fullmatch(name)
    code = of_place[1] if of_place else name
    if found := _CODES.get(name) or _CODES.get(code):
        return found
    if re.fullmatch(r"[a-z]{2}", code):
        return code
    raise ValueError(f"{named.strip()!r} is not a known language: use its two-letter code, such as en or ja")


def clean_text(text: str) -> str:
    """The text on one line, with composed characters and no control characters."""
    composed = unicodedata.normalize("NFC", encodable(text))
    return " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in composed).split())


def encodable(text: str) -> str:
    """The text without lone surrogates, which represent bytes that are not UTF-8 in command-line arguments."""
    return text.encode("utf-8", "replace").decode()


def _question(query: str) -> str:
    query = clean_text(query)
    if not query:
        raise ValueError("is empty: ask something")
    if len(query) > LONGEST_QUERY:
        raise ValueError(f"has {len(query)} characters, more than {LONGEST_QUERY}: ask with fewer words")
    return query


def _items(pattern: str) -> Any:
    return Field(json_schema_extra={"pattern": pattern})


_Name = Annotated[str, AfterValidator(_not_blank), _items(r"\S")]
_Language = Annotated[str, AfterValidator(language_code), _items(_CODE_OR_NAME)]
_Doi = Annotated[str, AfterValidator(_doi), _items(r"^10\.[0-9]{4,9}/[0-9a-zA-Z]+$")]
"""The documented form; an address (https://doi.org/...) and any other letters of a DOI are accepted too."""


class Filters(Body):
    """Conditions on a passage's paper (or section). A passage must pass the filters of all fields; a filter with
    several values needs one of them. Names match by whole words, ignoring order, case and accents.
    """

    year_from: Year | None = asked(
        "Only papers of this year or later; one without a year never passes.", labels=("From year", "年（から）")
    )
    year_to: Year | None = asked("Only papers of this year or earlier.", labels=("To year", "年（まで）"))
    authors: list[_Name] = asked(
        "Only papers by an author with these words in the name.", [], "author", ("Author", "著者")
    )
    venues: list[_Name] = asked(
        "Only papers of this journal, conference or archive, by words of its name.",
        *([], "venue", ("Journal or conference", "雑誌・会議")),
    )
    dois: list[_Doi] = asked("Only the paper with this DOI, in any version.", [], "doi", ("DOI", "DOI"))
    section_types: list[SectionType] = asked(
        "Only sections of this type.", [], "section", ("Sections", "節"), option="section-type"
    )
    paper_ids: list[_Name] = asked("Only this paper.", [], "paper")
    languages: Annotated[list[_Language], AfterValidator(lambda codes: list(dict.fromkeys(codes)))] = asked(
        "Only papers in this language, as a code (en, en-GB) or a name (English).",
        *([], "language", ("Languages", "言語")),
    )
    tags: list[_Name] = asked("Only papers with this tag of an imported library.", [], "tag", ("Tag", "タグ"))
    shelves: list[_Name] = asked(
        "Only papers in this collection of an imported library, such as Thesis/Methods, or in one below it.",
        *([], "shelf", ("Shelf", "棚")),
    )
    academic: Switch | None = asked(
        "Only academic papers (true), or only the other files (false).",
        labels=("Academic papers only", "学術論文のみ"),
        option="academic/--not-academic",
    )

    @model_validator(mode="after")
    def _years_in_order(self) -> Filters:
        if self.year_from is not None and self.year_to is not None and self.year_from > self.year_to:
            raise ValueError(f"year_from {self.year_from} is after year_to {self.year_to}")
        return self

    @property
    def empty(self) -> bool:
        return self == Filters()


class Turn(Body):
    """One turn of the conversation before the question."""

    role: Literal["user", "assistant", "system"]
    content: str


class BasicQuestion(Body):
    """The usual fields of a question."""

    query: Annotated[str, AfterValidator(_question)] = Field(
        description="The question in words, in any language of the papers.",
        json_schema_extra={"pattern": ANY_TEXT, "maxLength": LONGEST_QUERY},
    )
    collection: str = Field(description="The name of the collection.")
    mode: Mode = asked(
        "How passages are found: auto chooses; hybrid is quick and good for facts; lazy explores broad questions step "
        "by step; keyword finds exact words; vector finds meanings; local follows entities (level 2); global sums up "
        "the whole collection (level 3); multi joins several.",
        "auto",
    )
    top_k: Annotated[int, Field(ge=1, le=1000), NUMBER] | None = asked("The number of passages.")
    budget: Budget | None = _lazy(
        "the number of passages that may be tested for relevance: z100, z500, z1500 or a number.", under=""
    )
    response_type: ResponseType | None = asked(
        "The form of the answer: short (two sentences), paragraphs (one per paper), list, table or report; any other "
        "words are passed to the answering model.",
        metavar="FORM",
    )
    filters: Filters = Field(Filters(), description="Filters of the passages' papers and sections.")
    history: list[Turn] = Field(
        [],
        description=(
            "The previous conversation, oldest turn first: a follow-up (and for R? who wrote it?) is rewritten "
            "from it and returned as `resolved_query`."
        ),
    )
    answer: Switch = asked("Whether an answer is written, or only passages are returned.", default=True)


class FurtherOptions(Body):
    """Further fields of a question; unset ones come from the collection's settings."""

    modes: Annotated[list[FusedMode], Field(min_length=1, max_length=6)] | None = asked(
        "The modes that mode multi combines, such as hybrid,global.", metavar="M,M", modes=("multi",)
    )
    controller: Controller = asked(
        "unified asks one mode; progressive starts with the cheapest and continues while the answer is "
        "insufficient; hybrid runs several modes and combines their results.",
        "unified",
    )
    alpha: Annotated[float, Field(ge=0, le=1), NUMBER] | None = asked(
        "The weight of the vectors when rankings are combined, 0 to 1.", modes=("hybrid", "lazy", "local")
    )
    min_score: Annotated[float, Field(allow_inf_nan=False), NUMBER] | None = asked(
        "The lowest score of a passage on the mode's scale: vector -1 to 1 (cosine), keyword 0 and up (BM25), hybrid "
        "standard deviations above the mean passage (3 is strong), lazy and global 0 to 10; local, multi and the "
        "controllers that ask several modes combine ranks and reject it.",
        modes=SCORED,
    )
    expand: Annotated[int, Field(ge=0, le=20), NUMBER] | None = asked(
        "The number of related terms, or rewordings by a model, that are added.", modes=PASSAGES
    )
    rerank: Switch | None = asked(
        "Whether the reader, or the model of roles.rerank, orders the best passages.", modes=PASSAGES
    )
    style: Annotated[str, Field(max_length=LONGEST_STYLE)] = asked(
        "A request to the answering model, such as “for a layman”.", ""
    )
    context: Annotated[int, Field(ge=1, le=MOST_CONTEXT), NUMBER] | None = asked(
        "Return the passages as one text for another model, of at most this number of tokens."
    )
    max_level: Annotated[int, Field(ge=0, le=4), NUMBER] | None = _lazy("do not use levels above this.")
    max_calls: Annotated[int, Field(ge=1), NUMBER] | None = _lazy("the maximum number of model calls.")
    max_cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False), NUMBER] | None = _lazy(
        "the maximum cost of models in US dollars."
    )
    patience: Annotated[int, Field(ge=1), NUMBER] | None = _lazy(
        "the consecutive communities without a relevant passage before the search descends a level."
    )
    sufficiency: Sufficiency | Annotated[int, Field(ge=1), NUMBER] | None = _lazy(
        "condition for ending early: count (the preset's number of relevant sentences), model (its judgement), off, "
        "or a number of sentences."
    )
    subqueries: Annotated[int, Field(ge=1, le=10), NUMBER] | None = _lazy(
        "the maximum number of subqueries, including the question."
    )
    threshold: Annotated[float, Field(gt=0, le=10), NUMBER, _SCORE] | None = _lazy(
        "the score, above 0 up to 10, from which a sentence is relevant; or high, medium or low."
    )
    reasons: Switch = _lazy("say why each sentence was judged relevant.", default=False)


class SearchQuestion(FurtherOptions, BasicQuestion):
    """One question to one collection, as any caller may ask it."""

    @model_validator(mode="before")
    @classmethod
    def _response_type_in_words(cls, values: Any) -> Any:
        """Translate the names of other programs (GraphRAG's "Multiple Paragraphs"); any other words become
        `style`."""
        said = values.get("response_type") if isinstance(values, dict) else None
        if not isinstance(said, str) or said in get_args(ResponseType) or values.get("style"):
            return values
        name = " ".join(said.casefold().split())
        if (known := name if name in get_args(ResponseType) else _RESPONSE_TYPES.get(name)) is not None:
            return values | {"response_type": known}
        return values | {"response_type": None, "style": clean_text(said)}

    @property
    def open_ended(self) -> bool:
        """Whether an answer is requested without mode, controller or budget, so that knowledge about the collection as
        a whole may answer instead of a search."""
        return self.mode == "auto" and self.controller == "unified" and self.answer and self.budget is None


class SearchRequest(SearchQuestion):
    """A question with fields that only the owner of the data folder may set, from Python or the command line."""

    models: dict[str, Annotated[str, Field(min_length=1)]] = asked(
        "Another model for a role, such as answer=large.", {}, one="model", metavar="ROLE=NAME"
    )
    system_prompt: Annotated[str, Field(max_length=LONGEST_QUERY)] = asked(
        "Text that precedes the prompt of the answering model.", ""
    )


class SearchOptions(TypedDict, total=False):
    """The fields of a `SearchRequest` except query and collection, for type checkers."""

    mode: Mode
    top_k: int | None
    budget: BudgetPreset | int | None
    response_type: str | None
    filters: Filters | Mapping[str, Any]
    history: Sequence[Turn | Mapping[str, str]]
    answer: bool
    modes: Sequence[FusedMode] | None
    controller: Controller
    alpha: float | None
    min_score: float | None
    expand: int | None
    rerank: bool | None
    style: str
    context: int | None
    max_level: int | None
    max_calls: int | None
    max_cost_usd: float | None
    patience: int | None
    sufficiency: Sufficiency | int | None
    subqueries: int | None
    threshold: float | Literal["high", "medium", "low"] | None
    reasons: bool
    models: Mapping[str, str]
    system_prompt: str


OWNERS_FIELDS = SearchRequest.model_fields.keys() - SearchQuestion.model_fields.keys()
LAZY_FIELDS = [name for name, field in SearchQuestion.model_fields.items() if asked_as(field).modes == _LAZY]


def make_request(**values: Any) -> SearchRequest:
    """A validated request. Raises QueryError in plain words if a value is wrong."""
    try:
        return SearchRequest(**values)
    except ValidationError as error:
        raise QueryError(sentence(map(problem, error.errors()))) from error


def make_filters(values: Mapping[str, Any]) -> Filters:
    """Validated filters for requests without a question. Raises QueryError if a value is wrong."""
    return make_request(query="-", collection="-", filters=dict(values)).filters


_IN_WORDS = {
    "budget": f"must be {', '.join(get_args(BudgetPreset))} or a number of 0 or more",
    "sufficiency": "must be count, model, off or a number of sentences of 1 or more",
}
"""Error texts for fields of several types, each of which would produce its own error."""
_GROUPS: dict[str, type[Body]] = {"filters": Filters, "options": FurtherOptions}


def problem(error: Any, known: Collection[str] | None = None) -> str:
    """The text of one of pydantic's errors, such as `top_k: must be 1000 or less`. `known`: the accepted names, by
    default those of a search."""
    path = [str(part) for part in error["loc"] if not isinstance(part, int)]
    if error["type"] != "extra_forbidden":
        named = next((n for n, part in enumerate(path[:2]) if part in _IN_WORDS), None)
        if named is not None:
            return f"{'.'.join(path[: named + 1])}: {_IN_WORDS[path[named]]}"
        return f"{'.'.join(path) or 'body'}: {plain(error)}"
    return unknown_name(path, list(SearchQuestion.model_fields) if known is None else known)


def unknown_name(path: Sequence[str], known: Collection[str]) -> str:
    """The error text for an unknown name, such as `tpo_k: is not known. Did you mean 'top_k'?`. `known` are the names
    accepted at the top level."""
    *group, name = path
    where = ".".join(path)
    if group and (len(group) > 1 or group[0] not in _GROUPS):
        return f"{where}: is not known"
    if name in OWNERS_FIELDS and not group:
        return f"{name}: can only be set from Python or the command line"
    home = next((one for one, model in _GROUPS.items() if one in known and name in model.model_fields), None)
    if not group and home:
        return f"{name}: belongs in `{home}`"
    names = _GROUPS[group[0]].model_fields if group else known
    meant = did_you_mean(name, names) or (f"There are {', '.join(names)}" if names else "Nothing is taken")
    return f"{where}: is not known. {meant}"

"""The columns of a study table: the usual ones, and any that readers name in their own words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import QueryError
from monjyu_core.language.packs import Texts, also, cues
from monjyu_core.text.language import function_words, message_language, question_language
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.verification.numbers import Figure, figures
from monjyu_query.asking.request import clean_text
from monjyu_query.knowledge.aspects import LICENCE, MEASURES, Aspect, aspect, aspect_named

if TYPE_CHECKING:
    from spacy.language import Language


# The kind of value of a column (a count, a time, a place, a name …), and its position in a sentence.
ValueKind = Literal["count", "share", "duration", "date", "money", "place", "organisation", "name", "text"]
_PLACES = {"place": ("GPE", "LOC"), "organisation": ("GPE", "LOC", "FAC", "ORG")}
KINDS: tuple[ValueKind, ...] = get_args(ValueKind)
LIKE: dict[ValueKind, tuple[str, ...]] = {
    "place": ("Chile", "Japan", "France", "Brazil", "southern Europe", "Tokyo", "California"),
    "organisation": ("University of Liverpool", "Boston University", "Stanford University", "General Hospital"),
}
"""Examples by kind, with which names are compared, because the English model takes many other words for names."""
_NO_NAMES = ("CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "DATE", "TIME", "MONEY")
_WORD = re.compile(r"\w+")
_LONG_TERM = r"semester|trimester|term|fortnight|decade|academic year"
_TIME = re.compile(
    r"[\s-]?(?:(?:consecutive|full|academic)[\s-])?"
    rf"(?:seconds?|minutes?|hours?|hrs?|h|min|days?|weeks?|months?|years?|{_LONG_TERM}s?)\b(?:[\s-]long\b)?"
    + also("table_columns.time"),
    re.IGNORECASE,
)
_TERM = re.compile(rf"\b(?:(?:full|half|one|two)[\s-])?(?:{_LONG_TERM})s?(?:[\s-]long)?\b", re.IGNORECASE)
_DATE = re.compile(cues("table_columns.date"))
_MONEY = re.compile(cues("table_columns.money"))
_SIZE = re.compile(r"\b[nN]\s?=\s?\d[\d,]*")
_RANGE = re.compile(r"\s?(?:[-–—~〜]|to|and|or)\s?")
_SEVERAL = re.compile(r"\b(?:several|a few)\s$")
_BEFORE_NUMBER = re.compile(r"(?:[A-Za-z][-–]?|(?<=\s)([A-Z]\w*)\s)\Z")
_COUNTED = re.compile(r"[\s-](?!and\b|or\b)([^\W\d_][\w-]*)")
_COUNTED_WORDS = 4
"""The maximum number of words that state what a number counts; a plural is the last one."""
_PLURAL = re.compile(r"[^s]s$")
_COUNTED_UNSPACED = re.compile(cues("table_columns.counted_unspaced"))
_CAPITAL = r"(?:[A-Z][\w+#/-]*(?:\.\w[\w-]*)*|[a-z]+[A-Z][\w+#-]*)"
_RUN = re.compile(rf"(?<![\w@/.]){_CAPITAL}(?:[ -](?:{_CAPITAL}|of(?= [A-Z])|[0-9]+(?:\.[0-9]+)*\b))*")
_WIDE_RUN = re.compile(r"[A-Z][A-Za-z0-9+#.-]*|[\u30a1-\u30ff\u31f0-\u31ff]{2,}|[\u4e00-\u9fff]{2,}")
_CITED = re.compile(r"\([^()]*\b(?:19|20)\d\d[a-z]?\b[^()]*\)|\b[A-Z][\w-]+ (?:et al\.|(?:&|and) [A-Z][\w-]+) \(\d{4}")
_MOST_WORDS = 7
_UNIT = 2
"""The maximum number of letters of a unit of measure after a number ("5 ns")."""
NAMES: frozenset[ValueKind] = frozenset(("place", "organisation", "name"))
Place = tuple[int, int]
Entity = tuple[int, int, str]


def kind_of(name: str, similar: Callable[[Sequence[str]], NDArray[np.float32] | None]) -> ValueKind:
    """The kind of a column by the nearest example: by shared words, and by their cosines with the name if available."""
    examples = [(kind, example) for kind in KINDS for example in cues(f"value_kinds.{kind}").split("|")]

    near = np.array([_shared(name, example) for _, example in examples])
    cosines = similar([example for _, example in examples])
    return examples[int(np.argmax(near if cosines is None else near + cosines))][0]


def _shared(one: str, other: str) -> float:
    first, second = (set(_WORD.findall(text.casefold())) for text in (one, other))
    return len(first & second) / len(first | second)


def values_in(texts: Sequence[str], kind: ValueKind) -> list[list[Place]]:
    """The positions of values of the kind in each sentence, in order."""
    named = _entities_in(texts) if kind in NAMES else [[] for _ in texts]
    return [_values(text, kind, entities) for text, entities in zip(texts, named, strict=True)]


def _values(text: str, kind: ValueKind, entities: Sequence[Entity]) -> list[Place]:
    if len(unicodedata.normalize("NFKC", text)) != len(text):
        return []  # figures have their positions in the NFKC form
    if kind in NAMES:
        return sorted(_names(text, kind, entities))
    return sorted(set(_BY_KIND[kind](text))) if kind in _BY_KIND else []


def _counts(text: str) -> Iterator[Place]:
    yield from (found.span() for found in _SIZE.finditer(text))
    numbers = [
        one for one in _figures(text) if one.value >= 1 and not one.percent and not one.kind and not _is_name(text, one)
    ]
    for place, one in enumerate(numbers):
        end = _counted(text, one.end)
        if end > one.end:
            yield _start(text, numbers, place), end


def _figures(text: str) -> list[Figure]:
    """The figures of a text, without the space after them."""
    return [replace(one, end=len(text[: one.end].rstrip())) for one in figures(text)]


def _start(text: str, numbers: Sequence[Figure], place: int) -> int:
    """The start of a number, of the range that it ends ("80 to 120"), or of the "several" before it."""
    before = numbers[place - 1] if place else None
    joined = before is not None and _RANGE.fullmatch(text[before.end : numbers[place].start])
    start = before.start if before is not None and joined else numbers[place].start
    several = _SEVERAL.search(text, 0, start)
    return several.start() if several else start


def _is_name(text: str, one: Figure) -> bool:
    """Whether a number is a year, or a part of a name: COVID-19, Lab 2, Year 3."""
    before = _BEFORE_NUMBER.search(text, 0, one.start)
    named = before is not None and (before[1] or "").casefold() not in function_words("en")
    return named or bool(re.fullmatch(r"(?:1[5-9]|20)\d\d", text[one.start : one.end]))


def _counted(text: str, start: int) -> int:
    """The end of the words that state what a number counts; `start` if there are none."""
    if counted := _COUNTED_UNSPACED.match(text, start):
        return counted.end()
    end, place, words = start, start, 0
    while words < _COUNTED_WORDS and (found := _COUNTED.match(text, place)):
        if found[1].casefold() in function_words("en") or (not words and len(found[1]) <= _UNIT):
            break
        place = end = found.end()
        words = _COUNTED_WORDS if _PLURAL.search(found[1]) else words + 1
    return end


def _durations(text: str) -> Iterator[Place]:
    numbers = _figures(text)
    for place, one in enumerate(numbers):
        if unit := _TIME.match(text, one.end):
            yield _start(text, numbers, place), unit.end()
    yield from (found.span() for found in _TERM.finditer(text))


def _shares(text: str) -> Iterator[Place]:
    yield from ((one.start, one.end) for one in _figures(text) if one.percent or one.decimals)


_BY_KIND: dict[ValueKind, Callable[[str], Iterator[Place]]] = {
    "count": _counts,
    "share": _shares,
    "duration": _durations,
    "date": lambda text: (found.span() for found in _DATE.finditer(text)),
    "money": lambda text: (found.span() for found in _MONEY.finditer(text)),
}


def _names(text: str, kind: ValueKind, entities: Sequence[Entity]) -> set[Place]:
    """Names that the English model finds; for proper names of things also runs of capitalised words."""
    labels = {(start, end): label for start, end, label in entities}
    runs = set()
    cited = [found.span() for found in _CITED.finditer(text)]
    for run in (_WIDE_RUN if count_wide(text) else _RUN).finditer(text):
        word = _WORD.match(text, run.start())
        start = word.end() + 1 if word and word[0].casefold() in function_words("en") else run.start()
        if start < run.end():
            runs.add((start, run.end()))
    if kind == "name":
        found = runs | {place for place, label in labels.items() if label not in _NO_NAMES}
    else:
        named = [place for place, label in labels.items() if label in _PLACES[kind]]
        found = {next((run for run in runs if run[0] <= a and b <= run[1]), (a, b)) for a, b in named}
    return {
        (a, b)
        for a, b in found
        if len(text[a:b].split()) <= _MOST_WORDS
        and not any(start < b and a < end for start, end in cited)
        and (count_wide(text) or any(map(str.isupper, text[a:b])))
        and (a > 1 or " " in text[a:b] or not text[a:b].istitle())  # the first word of a sentence has a capital anyway
    }


@cache
def _model() -> Language | None:
    """The English model; None in an installation without spaCy, which only answers questions. Names are then recognised
    by their capitals."""
    if find_spec("spacy") is None:
        return None
    from monjyu_core.embedding.local.packaged import load_model

    return load_model(("tagger", "parser", "attribute_ruler", "lemmatizer"))


def _entities_in(texts: Sequence[str]) -> list[list[Entity]]:
    """The entities in each text. The model reads all texts together, which takes three fifths of the time."""
    model = _model()
    if model is None:
        return [[] for _ in texts]
    return [[(one.start_char, one.end_char, one.label_) for one in read.ents] for read in model.pipe(texts)]


MOST_COLUMNS = 12
LONGEST = 120
"""The maximum number of characters in a column's name."""


_COUNTS = re.compile(cues("table_columns.counts"), re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """A column of a study table. `name` is its heading, `aspect` its meaning, if known; otherwise `words` (the name
    without words that only ask for a number) are searched. `counts`: a cell without a figure is empty; `usual`: the
    column leaves open what is counted, as "sample size" does. `kind` is the kind of its values."""

    name: str
    words: str
    aspect: Aspect | None = None
    counts: bool = False
    usual: bool = False
    kind: ValueKind = "text"


_USUAL = (aspect("purpose"), aspect("methods"), aspect("sample"), MEASURES, aspect("results"), aspect("limits"))
_NAMES = Texts("columns")


def columns_named(names: Sequence[str], language: str) -> list[Column]:
    """The columns by names, without duplicates; by default the usual ones. Raises QueryError for too many."""
    clean = list(dict.fromkeys(one for name in names if (one := clean_text(name).strip())))
    if not clean:
        names = [_NAMES[language][meant.name] for meant in _USUAL]
        return [Column(name, name, meant) for name, meant in zip(names, _USUAL, strict=True)]
    if len(clean) > MOST_COLUMNS:
        raise QueryError(f"{len(clean)} columns are too many.", f"Name at most {MOST_COLUMNS}.")
    long = next((name for name in clean if len(name) > LONGEST), None)
    if long:
        raise QueryError(f"The column “{long[:40]}…” is too long.", f"Name it in at most {LONGEST} characters.")
    return [_column(name) for name in clean]


def _column(name: str) -> Column:
    words = _COUNTS.sub("", name)
    named = {name.casefold(): meant for meant in _USUAL for name in _NAMES.every(meant.name).values()}
    usual = named.get(words.casefold())
    meant = usual or (LICENCE if LICENCE.named.match(words) else aspect_named(words))
    return Column(name, words, meant, counts=words != name, usual=usual is not None)


def language_of(names: Sequence[str], about: str) -> str:
    """The language of the reader's words; empty if unclear, as for ideographs alone (Japanese or Chinese)."""
    said = " ".join([*names, about]).strip()
    return message_language(said) if said and question_language(said) != "zh" else ""

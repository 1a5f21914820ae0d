"""Finds the figures of an English or Japanese text with their units, and compares them."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from monjyu_core.language.packs import also, cues, table

_COUNTS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_WORDS = {word: value for value, word in enumerate(_COUNTS)} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
    "half": 0.5, "third": 1 / 3, "thirds": 2 / 3, "quarter": 0.25, "quarters": 0.75, "dozen": 12
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, **table("scales")}
_HAN = {sign: int(value) for sign, value in table("numerals").items()}
_TEN = next(sign for sign, value in _HAN.items() if value == 10)
_NUMBER = re.compile(
    r"(?P<digits>(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?|\d+(?:,\d{3})*(?:\.\d+)?)"
    rf"(?:\s?(?P<scale>thousand|million|billion|{'|'.join(table('scales'))}))?"
    rf"\s?(?P<percent>%|％|percent\b|per cent\b{also('numbers.percent')})?"
    rf"|\b(?P<word>{'|'.join(_WORDS)})\b"
    r"(?:[- ](?P<tens>one|two|three|four|five|six|seven|eight|nine|third|half|quarter)\b)?"
    r"(?:\s(?P<wordscale>hundred|thousand|million|billion)\b)?(?:\s?(?P<wordpercent>percent|per cent)\b)?"
    rf"|(?P<han>[{''.join(_HAN)}]+)(?={cues('numbers.counters')})",
    re.I,
)
_UNITS = {
    "time": {
        "ms": 1e-3, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
        "day": 86400, "week": 604800, "month": 2629800, "year": 31557600,
        **table("units_of_time"),
    },
    "mass": {"ng": 1e-9, "μg": 1e-6, "µg": 1e-6, "ug": 1e-6, "mg": 1e-3, "g": 1, "gram": 1, "kg": 1e3, "kilogram": 1e3},
    "volume": {"μl": 1e-6, "µl": 1e-6, "ml": 1e-3, "l": 1, "litre": 1, "liter": 1, "millilitre": 1e-3},
    "length": {"nm": 1e-9, "μm": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1, "km": 1e3, **table("units_of_length")},
    "data": {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
}  # fmt: skip
OF_UNIT = {name: (kind, factor) for kind, units in _UNITS.items() for name, factor in units.items()}
_UNIT = re.compile(r"[\s-]?(?:a |an )?([A-Za-zμµ]+" + also("numbers.unit") + ")")
_ABOUT = re.compile(
    r"(?:about|around|roughly|approximately|nearly|almost|close to|some|circa|~|more than|over|less than|under|at least"
    r"|up to" + also("numbers.about") + r")\s*(?:a |an )?$",
    re.I,
)
ROUGHLY = 0.12
"""How far an approximate figure may differ from the source's, as a share of it."""
NEAR_BELOW = 1e-9
SMALL = 12
"""Counts up to this are often the writer's own ("two studies")."""


_NTHS = ("third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_RATIO = re.compile(
    rf"\b(?P<part>\d+) (?:of|out of|in) (?:the |every )?(?P<whole>\d+)\b"
    rf"|(?P<of>\d+)(?:{cues('numbers.out_of')})(?P<some>\d+)(?:{cues('numbers.people')})"
    rf"|(?P<tenths>\d)(?:{cues('numbers.tenths')})|\b(?:a|an|one) (?P<nth>{'|'.join(_NTHS)})\b",
    re.I,
)


@dataclass(frozen=True)
class Figure:
    """A figure in a text. `value` includes its scale; `start` and `end` are its position; `decimals` the digits after
    its point; `exact`: written in digits; `kind` is that of its unit and `measure` its value in the unit of that kind;
    `rough`: it is approximate."""

    value: float
    percent: bool
    start: int
    end: int
    decimals: int
    exact: bool
    kind: str = ""
    measure: float = 0.0
    rough: bool = False


def figures(text: str) -> list[Figure]:
    """The figures of a text in order, including hyphenated and bracketed ones."""
    text = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    found = []
    for match in _NUMBER.finditer(text):
        value = _value(match)
        if value is None:
            continue
        digits = match["digits"] or ""
        decimals = len(digits.partition(".")[2])
        percent = bool(match["percent"] or match["wordpercent"])
        unit = _UNIT.match(text, match.end())
        name = unit[1] if unit else ""
        kind, factor = OF_UNIT.get(name.casefold()) or OF_UNIT.get(name.casefold().removesuffix("s")) or ("", 0.0)
        rough = bool(_ABOUT.search(text, max(0, match.start() - 16), match.start()))
        measure = value * factor
        found.append(Figure(value, percent, match.start(), match.end(), decimals, bool(digits), kind, measure, rough))
    shares = _shares_of(text)
    return [one for one in found if not any(s.start <= one.start < s.end for s in shares)] + shares


def _shares_of(text: str) -> list[Figure]:
    """Shares expressed in words: "4 of 5", 5人に4人, 7割, an eighth."""
    found = []
    for match in _RATIO.finditer(text):
        of, part = match["whole"] or match["of"], match["part"] or match["some"]
        if match["tenths"]:
            share = float(match["tenths"]) * 10
        elif match["nth"]:
            share = 100 / (_NTHS.index(match["nth"].lower()) + 3)
        else:
            share = 100 * float(part) / float(of) if float(of) else 0.0
        found.append(Figure(share, True, match.start(), match.end(), 0, exact=bool(match["tenths"]), rough=True))
    return found


def _value(match: re.Match[str]) -> float | None:
    if match["digits"]:
        value = float(match["digits"].replace(",", "").replace("−", "-"))
        return value * _SCALES.get((match["scale"] or "").lower(), 1)
    if match["word"]:
        value = float(_WORDS[match["word"].lower()])
        tens = (match["tens"] or "").lower()
        if tens in {"third", "half", "quarter"}:
            value = value * _WORDS[tens] if value < SMALL else value
        elif tens and value >= 20:
            value += _WORDS[tens]
        return value * _SCALES.get((match["wordscale"] or "").lower(), 1)
    return _in_han(match["han"])


def _in_han(written: str) -> float:
    tens, mark, ones = written.partition(_TEN)
    if not mark:
        return float("".join(str(_HAN[sign]) for sign in written))
    return (_HAN.get(tens, 1) if tens else 1) * 10 + (_HAN.get(ones, 0) if ones else 0)


def same_value(one: Figure, other: Figure) -> bool:
    """Whether `one` agrees with `other`: equal, rounded to fewer decimals, in another unit, a share as a percentage, or
    near if it is approximate."""
    if one.kind and one.kind == other.kind and other.measure:
        apart = abs(one.measure - other.measure) / abs(other.measure)
        if apart <= (ROUGHLY if one.rough or not one.exact else 0.01):
            return True
    if one.rough and not one.kind and other.value and abs(one.value - other.value) <= ROUGHLY * abs(other.value):
        return True
    for factor in (1.0, 100.0 if one.percent > other.percent else 0.01 if other.percent > one.percent else 1.0):
        value = other.value * factor
        rounded = one.exact and one.decimals < other.decimals + 2 and value != int(value)
        step = 0.5 * 10.0**-one.decimals if rounded else 0.0
        if abs(one.value - value) <= max(step, NEAR_BELOW * max(1.0, abs(value))):
            return True
    return not one.exact and one.value < 1 and other.percent and abs(one.value * 100 - other.value) < 2.5


def derived(one: Figure, others: Sequence[Figure]) -> bool:
    """Whether a percentage is the ratio, or a figure above 12 the sum, difference or product, of two of `others`."""
    pairs = combinations([figure.value for figure in others], 2)
    if one.percent:
        return any(max(pair) and abs(100 * min(pair) / max(pair) - one.value) < 0.6 for pair in pairs)
    return one.value > SMALL and any(one.value in {a + b, abs(a - b), a * b} for a, b in pairs)

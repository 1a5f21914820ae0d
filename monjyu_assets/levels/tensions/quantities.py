"""Quantities as papers write them: a value or a range with its unit, widened by the interval that is given for it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

_PLAIN = r"\d+(?:,\d{3})*(?:\.\d+)?"
_UNIT = (
    r"(?:%|percent|per cent|percentage points?|standard deviations?|SD|MPa|GPa|kPa|kN|kJ|kWh|kW|mmHg|mmol/L|nmol/L"
    r"|kcal|t/ha|kg/ha|ha|m/s|km/h|dB|Hz|kHz|mL|days?|hours?|hrs?|h|minutes?|mins?|weeks?|months?|years?|seconds?|nm|mm|cm|km|μm|µm|kb|bp|m"
    r"|mg|kg|°C|fold|d)(?!\w)"
)
_MORE = r"more than|greater than|higher than|over|above|at least|exceeding|exceeds|exceeded|no less than|>|≥"
_LESS = r"less than|fewer than|lower than|below|under|up to|at most|as high as|no more than|<|≤"
_TO = r"-|–|—|to|and"
_VALUE = re.compile(
    rf"(?:(?P<bound>{_MORE}|{_LESS})\s?)?(?<![\w.,/^\u2212-])(?P<one>{_PLAIN})\s?(?P<first>{_UNIT})?"
    rf"(?:\s?(?:(?P<spread>±|\+/-)|{_TO})\s?(?P<two>{_PLAIN})(?!\w))?[\s-]?(?P<unit>{_UNIT})?",
    re.IGNORECASE,
)
_INTERVAL = re.compile(
    rf"\s?[(\[]\s?(?:\d\d\s?%\s?)?[^()\d]{{0,40}}?(?P<low>{_PLAIN})\s?%?\s?(?:{_TO}|,)\s?(?P<high>{_PLAIN})\s?(?:{_UNIT})?"
    r"\s?[)\]]",
    re.IGNORECASE,
)
"""What follows a value in brackets: "(95% CI, 1.4 to 3.9)", "[3.01-4.66]", "(range: 2-14 days)"."""
_NO_VALUE = re.compile(
    r"(?:\b[pP]\s?[<=>≤]\s?|\b[nNrR]\s?=\s?|\bCI\W{0,3}|\btables?|\bfig(?:ure|s)?\.?|\bsections?|\beq(?:uation)?s?\.?"
    r"|\bref\.?|\btypes?|\bphases?|\bgrades?|\bstages?|\bversions?|\bchapters?|\bpages?|\bday|\bweek|\byear|\bstep|#)\s?$"
)
"""What stands before a number that is no value of a measure."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_SAME = {
    "percent": ("%", 1.0), "per cent": ("%", 1.0), "d": ("day", 1.0), "week": ("day", 7.0), "month": ("day", 30.4),
    "year": ("day", 365.25), "hour": ("day", 1 / 24), "hr": ("day", 1 / 24), "h": ("day", 1 / 24),
    "minute": ("day", 1 / 1440), "min": ("day", 1 / 1440), "second": ("day", 1 / 86400), "mm": ("m", 1e-3),
    "cm": ("m", 1e-2), "km": ("m", 1e3), "nm": ("m", 1e-9), "μm": ("m", 1e-6), "µm": ("m", 1e-6), "mg": ("g", 1e-3),
    "kg": ("g", 1e3), "kb": ("nt", 1e3), "bp": ("nt", 1.0),
    "m": ("m", 1.0), "sd": ("sd", 1.0), "standard deviation": ("sd", 1.0), "gpa": ("mpa", 1e3), "kpa": ("mpa", 1e-3),
    "percentage point": ("point", 1.0), "km/h": ("m/s", 1 / 3.6), "khz": ("hz", 1e3),
}  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """`low` to `high` in `unit` ("" without one); `start` and `end` are places in the text, `point` what the number
    is without its interval."""

    start: int
    end: int
    low: float
    high: float
    unit: str
    point: tuple[float, float]


def quantities(text: str) -> Iterator[Quantity]:
    """The quantities of a text, in order. "more than 35%" reaches up without end, a spread or interval widens."""
    place = 0
    while found := _VALUE.search(text, place):
        place = found.end()
        name = (found["unit"] or found["first"] or "").casefold()
        if _NO_VALUE.search(text[: found.start()]) or (
            text[place : place + 1].isalnum() and not name and not text[place - 1].isspace()
        ):
            continue
        unit, factor = _SAME.get(name) or _SAME.get(name.removesuffix("s")) or (name.removesuffix("s"), 1.0)
        if not unit and not found["two"] and _YEAR.fullmatch(found["one"]):
            continue
        low, high = point = _ends(found)
        if interval := _INTERVAL.match(text, place):
            place = interval.end()
            ends = _number(interval["low"]), _number(interval["high"])
            if found["bound"] and ends[0] <= max(point[0], 0.0 if math.isinf(point[1]) else point[1]) <= ends[1]:
                low, high = ends  # "no more than 1.3 kg (95% CI 0.8 to 1.8)"
            elif ends[0] <= high and low <= ends[1]:
                low, high = min(low, *ends), max(high, *ends)
        yield Quantity(found.start(), place, low * factor, high * factor, unit, point)


def _ends(found: re.Match[str]) -> tuple[float, float]:
    one = _number(found["one"])
    two = _number(found["two"]) if found["two"] else one
    if found["spread"]:
        return one - two, one + two
    bound = (found["bound"] or "").casefold()
    if re.fullmatch(_MORE, bound):
        return one, math.inf
    if re.fullmatch(_LESS, bound):
        return 0.0, max(one, two)
    return min(one, two), max(one, two)


def _number(text: str) -> float:
    return float(text.replace(",", ""))

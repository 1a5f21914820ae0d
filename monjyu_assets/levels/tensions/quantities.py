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
_FAR_INTERVAL = re.compile(
    rf"(?P<words>(?:\s?[^\s()\[\],;.]+){{1,6}})\s?[(\[][^()]{{0,30}}?\b(?:CI|interval|range|IQR)\b[^()\d]{{0,20}}?(?P<low>{_PLAIN})"
    rf"\s?%?\s?(?:{_TO}|,)\s?(?P<high>{_PLAIN})[^()]{{0,12}}[)\]]",
    re.IGNORECASE,
)
"""The interval of a value with words between: "8.2 t carbon per hectare (95% CI 7.4-9.0)"."""
_POWER = re.compile(
    r"\s?(?P<si>[yzafpnµuμmcdhkMGT]?)(?P<base>mol|Pa|Hz|ha|yr|eV|[gmLlJWVANKstdh])(?:\^?(?P<power>[−⁻-]?[\d¹²³]))?(?![\w%])"
)
_SI = {"n": 1e-9, "µ": 1e-6, "u": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "d": 0.1, "h": 1e2, "k": 1e3, "M": 1e6,
       "G": 1e9, "T": 1e12, "p": 1e-12, "": 1.0}  # fmt: skip
LONGEST_UNIT = 40
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
    is without its interval; `sure`: an interval or a spread is given, as of what was measured."""

    start: int
    end: int
    low: float
    high: float
    unit: str
    point: tuple[float, float]
    sure: bool = False


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
        after = found.end("two") if found["two"] else found.end("one")
        if (made := compound(text[after : after + LONGEST_UNIT])) and not found["first"]:
            unit, factor = made
        if not unit and not found["two"] and _YEAR.fullmatch(found["one"]):
            continue
        low, high = point = _ends(found)
        sure = bool(found["spread"])
        interval = _INTERVAL.match(text, place)
        if not interval and (far := _FAR_INTERVAL.match(text, place)):
            ends = _number(far["low"]), _number(far["high"])
            if ends[0] <= low and high <= ends[1]:
                interval, unit = far, unit or _first_word(far["words"])
        if interval:
            place, sure = interval.end(), True
            ends = _number(interval["low"]), _number(interval["high"])
            if found["bound"] and ends[0] <= max(point[0], 0.0 if math.isinf(point[1]) else point[1]) <= ends[1]:
                low, high = ends  # "no more than 1.3 kg (95% CI 0.8 to 1.8)"
            elif ends[0] <= high and low <= ends[1]:
                low, high = min(low, *ends), max(high, *ends)
        yield Quantity(found.start(), found.end(), low * factor, high * factor, unit, point, sure)


def compound(text: str) -> tuple[str, float] | None:
    """Name and size of the unit that a text begins with, where it has powers: "kg ha−1 yr−1", "J mm−3". "ng g−1" and
    "µg kg−1" are one. None where it has none. Prefixes and powers as in the SI brochure, 2019."""
    place, factor, powers = 0, 1.0, dict[str, int]()
    written = False
    while found := _POWER.match(text, place):
        place = found.end()
        digits = (found["power"] or "1").translate(str.maketrans("−⁻¹²³", "--123"))
        base, power = found["base"], int(digits)
        written = written or bool(found["power"])
        base, size = ("g", 1e6) if base == "t" else (base, 1.0)
        factor *= (_SI.get(found["si"], 1.0) * size) ** power
        powers[base] = powers.get(base, 0) + power
        if " " not in text[place : place + 1]:
            break
    if not written:
        return None
    return " ".join(f"{base}{power}" for base, power in sorted(powers.items()) if power) or "ratio", factor


def _first_word(words: str) -> str:
    return (words.split() or [""])[0].casefold().removesuffix("s")


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

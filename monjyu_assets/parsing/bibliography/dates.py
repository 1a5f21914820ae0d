"""Years, months and dates as papers write them: the only home of their patterns.

Some differ in what they match. Each is named for where it is used; only patterns that match the same are shared.
"""

from __future__ import annotations

import datetime
import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_STEM = "|".join(_MONTHS)
"""The first letters of a month's English name; for patterns that ignore case, as the next two are."""
_MONTH = rf"(?:{MONTH_STEM})[a-z]*\.?"
LONG_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
"""Full names that are not also other words, unlike "may"."""
MONTH_IN_REFERENCE = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?"

YEAR = r"(?:1[6-9]|20)\d\d"
"""1600 to 2099: of a work in a reference list."""
CENTURY = r"(?:19|20)"
RECENT_YEAR = rf"{CENTURY}\d\d"
"""1900 to 2099: where a number of four digits may be something else."""
CITED_YEAR = rf"{YEAR}[a-z]?|n\.\s?d\.|in press|forthcoming"
"""The year of a citation, or what stands for it."""
YEAR_ALONE = re.compile(rf"\b{YEAR}[a-z]?\b")
FIELD_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
"""1500 to 2099: in a field that holds a date, where old prints count."""
_WHOLE_FIELD_YEAR = re.compile(r"\b(1[5-9]|20)\d\d\b")

DAY = re.compile(
    rf"(\d{{1,2}})\s+({_MONTH}),?\s+(\d{{4}})|({_MONTH})\s+(\d{{1,2}}),?\s+(\d{{4}})|(\d{{4}})-(\d\d)-(\d\d)"
    r"|(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日",
    re.I,
)
"""A day among other words: see `iso_day`."""
MONTH_AND_YEAR = re.compile(rf"({_MONTH})\s+({RECENT_YEAR})|({RECENT_YEAR})\s*年\s*(\d{{1,2}})\s*月", re.I)
"""A month among other words: see `iso_month`."""


def month_number(name: str) -> int | None:
    """1 to 12 for a month's English name or its first three letters, None for any other word."""
    stem = name[:3].casefold()
    return _MONTHS.index(stem) + 1 if stem in _MONTHS else None


def year_in(text: str, whole: bool = False) -> int | None:
    """The first year of a field that holds a date; if `whole`, one with no letter or digit beside it."""
    match = (_WHOLE_FIELD_YEAR if whole else FIELD_YEAR).search(text)
    return int(match.group()) if match else None


def iso_day(match: re.Match[str]) -> str:
    """A match of `DAY` as ISO 8601."""
    day, month, year, month2, day2, year2, *numbers = match.groups()
    plain = [int(number) for number in numbers if number]
    if plain:
        return f"{plain[0]}-{plain[1]:02d}-{plain[2]:02d}"
    return f"{year or year2}-{month_number(month or month2):02d}-{int(day or day2):02d}"


def iso_month(match: re.Match[str]) -> str:
    """A match of `MONTH_AND_YEAR` as ISO 8601."""
    month, year, year2, month2 = match.groups()
    return f"{year or year2}-{month_number(month) if month else int(month2):02d}"


def parse_date(value: object) -> str | None:
    """A date as ISO 8601, as exact as it was given: `2019-03-22`, `2019-03` or `2019`; None if it is not a date."""
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    text = str(value).strip()
    month = rf"({MONTH_STEM})[a-z]*\.?"
    for pattern, order in (
        (rf"(\d{{1,2}})(?:st|nd|rd|th)?\.? {month},? (\d{{4}})", (3, 2, 1)),
        (rf"{month} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})", (3, 1, 2)),
        (rf"{month},? (\d{{4}})", (2, 1, 0)),
        (rf"(\d{{4}}),? {month} (\d{{1,2}})", (1, 2, 3)),
        (rf"(\d{{4}}),? {month}", (1, 2, 0)),
    ):
        if match := re.fullmatch(pattern, text, re.IGNORECASE):
            parts = [match[i] if i else None for i in order]
            return _iso(parts[0] or "", str(month_number(parts[1] or "")), parts[2])
    if iso := re.fullmatch(r"(\d{4})(?:[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?)?(?:[年月日T ].*)?", text):
        return _iso(*iso.groups())
    return None


def _iso(year: str, month: str | None, day: str | None) -> str | None:
    try:
        datetime.date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return "-".join([year, *(f"{int(part):02d}" for part in (month, day) if part)])

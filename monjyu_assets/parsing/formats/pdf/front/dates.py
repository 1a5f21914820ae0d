"""The date of publication as page 1 prints it."""

from __future__ import annotations

import re

from monjyu_assets.parsing.formats.pdf.page.layout import Layout

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DATE = re.compile(
    rf"(\d{{1,2}})\s+({_MONTH}),?\s+(\d{{4}})|({_MONTH})\s+(\d{{1,2}}),?\s+(\d{{4}})|(\d{{4}})-(\d\d)-(\d\d)"
    r"|(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日",
    re.I,
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_LABELS = [
    (4.0, re.compile(r"publish|available online|posted|公開|発行", re.I)),
    (0.5, re.compile(r"accepted|採録|受理", re.I)),
    (0.2, re.compile(r"received|revised|submitted|downloaded|printed|受付|accessed|retrieved", re.I)),
]
"""What stands in front of a date and how near to the day of publication it then is; without a word 2."""
_MONTH_YEAR = re.compile(rf"({_MONTH})\s+((?:19|20)\d\d)|((?:19|20)\d\d)\s*年\s*(\d{{1,2}})\s*月", re.I)


def find_date(layout: Layout, of_venue: str | None = None) -> str | None:
    """The date of publication printed on page 1, as ISO 8601 and as exact as it is printed.

    In order of trust: a date said to be that of publication, the stamp of a preprint server, the date in the line of
    the venue (`of_venue`), a date that stands alone, a month alone, the day of acceptance, that of receipt.
    """
    found: list[tuple[float, str]] = [(3.0 if of_venue and len(of_venue) > 4 else 1.5, of_venue)] if of_venue else []
    first = layout.lines[0].page if layout.lines else 1
    found += [(3.5, _iso(match)) for match in DATE.finditer(layout.pages[first - 1].turned)]
    for line in (*layout.furniture, *layout.asides, *layout.lines):
        if line.page != first:
            continue
        for match in DATE.finditer(line.text):
            before = line.text[max(0, match.start() - 25) : match.start()]
            labels = [(word.start(), value) for value, label in _LABELS for word in label.finditer(before)]
            alone = line.size < 0.95 * layout.body_size or len(line.text) < 60
            found.append((max(labels)[1] if labels else 2.0 if alone else 0.1, _iso(match)))
        alone_month = _MONTH_YEAR.fullmatch(line.text.strip(" ()."))
        if alone_month:
            found.append((1.6, _iso_month(alone_month)))
    return max(found)[1] if found else None


def _iso_month(match: re.Match[str]) -> str:
    month, year, year2, month2 = match.groups()
    number = _MONTHS.index(month[:3].casefold()) + 1 if month else int(month2)
    return f"{year or year2}-{number:02d}"


def _iso(match: re.Match[str]) -> str:
    day, month, year, month2, day2, year2, *numbers = match.groups()
    plain = [int(number) for number in numbers if number]
    if plain:
        return f"{plain[0]}-{plain[1]:02d}-{plain[2]:02d}"
    number = _MONTHS.index((month or month2)[:3].casefold()) + 1
    return f"{year or year2}-{number:02d}-{int(day or day2):02d}"

"""The date of publication as page 1 prints it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from monjyu_assets.parsing.bibliography.dates import MONTH_AND_YEAR, RECENT_YEAR, days_in, iso_day, iso_month
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.labels import ACCEPTED, PUBLISHED, RECEIVED

_LABELS = [(4.0, PUBLISHED), (0.5, ACCEPTED), (0.2, RECEIVED)]
"""Words in front of a date and how near to the day of publication they place it; 2 without such a word."""


def find_date(layout: Layout, of_venue: str | None, notes: Sequence[Line], doi: str | None) -> str | None:
    """The date of publication printed on page 1, as ISO 8601 and as exact as it is printed.

    In order of trust: a date said to be that of publication, the stamp of a preprint server, the date in the line of
    the venue (`of_venue`), a date that stands alone, a month alone, the day of acceptance, that of receipt; then a year
    in running heads or in `notes` (lines outside the text), and one in the DOI.
    """
    found: list[tuple[float, str]] = [(3.0 if of_venue and len(of_venue) > 4 else 1.5, of_venue)] if of_venue else []
    first = layout.lines[0].page if layout.lines else 1
    found += [(3.5, iso_day(match)) for match in days_in(layout.pages[first - 1].turned)]
    for line in (*layout.furniture, *layout.asides, *layout.lines):
        alone_month = MONTH_AND_YEAR.fullmatch(line.text.rpartition("\u00b7")[2].strip(" ()."))
        if alone_month and line.page in (1, first):
            found.append((1.6, iso_month(alone_month)))
        if line.page != first:
            continue
        for match in days_in(line.text):
            before = line.text[max(0, match.start() - 25) : match.start()]
            labels = [(word.start(), value) for value, label in _LABELS for word in label.finditer(before)]
            alone = line.size < 0.95 * layout.body_size or len(line.text) < 60
            found.append((max(labels)[1] if labels else 2.0 if alone else 0.1, iso_day(match)))
    return max(found)[1] if found else _year([*layout.furniture, *layout.asides, *notes], first, doi)


def _year(lines: Sequence[Line], page: int, doi: str | None) -> str | None:
    """The year that most lines outside the text of a page name, the latest of several; else that in a DOI
    (10.1109/abc.2010.49)."""
    years: Counter[str] = Counter()
    for line in lines:
        if line.page == page and not RECEIVED.search(line.text):
            years.update(match.group() for match in _ONE_YEAR.finditer(line.text))
            years.update({_century(match[1]) for match in _MEETING.finditer(line.text)})
    if not years and doi and (match := re.search(rf"\.({RECENT_YEAR})\.", doi)):
        return match[1]
    return max(years, key=lambda year: (years[year], year), default=None)


_ONE_YEAR = re.compile(rf"(?<![\w.,/\u2010-\u2015\uff0d-]){RECENT_YEAR}(?![\w/\u2010-\u2015\uff0d-])")
"""No part of a span of years (of a life, of pages), of a number or of a link."""
_MEETING = re.compile(r"\b[A-Z][A-Za-z]*[A-Z]\s?['\u2019](\d\d)\b")
"""SOSP'07"""


def _century(digits: str) -> str:
    return f"{'19' if int(digits) > 60 else '20'}{digits}"

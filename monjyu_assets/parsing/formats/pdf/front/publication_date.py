"""The date of publication as page 1 prints it."""

from __future__ import annotations

from monjyu_assets.parsing.bibliography.dates import MONTH_AND_YEAR, days_in, iso_day, iso_month
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.text.labels import ACCEPTED, PUBLISHED, RECEIVED

_LABELS = [(4.0, PUBLISHED), (0.5, ACCEPTED), (0.2, RECEIVED)]
"""Words in front of a date and how near to the day of publication they place it; 2 without such a word."""


def find_date(layout: Layout, of_venue: str | None = None) -> str | None:
    """The date of publication printed on page 1, as ISO 8601 and as exact as it is printed.

    In order of trust: a date said to be that of publication, the stamp of a preprint server, the date in the line of
    the venue (`of_venue`), a date that stands alone, a month alone, the day of acceptance, that of receipt.
    """
    found: list[tuple[float, str]] = [(3.0 if of_venue and len(of_venue) > 4 else 1.5, of_venue)] if of_venue else []
    first = layout.lines[0].page if layout.lines else 1
    found += [(3.5, iso_day(match)) for match in days_in(layout.pages[first - 1].turned)]
    for line in (*layout.furniture, *layout.asides, *layout.lines):
        if line.page != first:
            continue
        for match in days_in(line.text):
            before = line.text[max(0, match.start() - 25) : match.start()]
            labels = [(word.start(), value) for value, label in _LABELS for word in label.finditer(before)]
            alone = line.size < 0.95 * layout.body_size or len(line.text) < 60
            found.append((max(labels)[1] if labels else 2.0 if alone else 0.1, iso_day(match)))
        alone_month = MONTH_AND_YEAR.fullmatch(line.text.strip(" ()."))
        if alone_month:
            found.append((1.6, iso_month(alone_month)))
    return max(found)[1] if found else None

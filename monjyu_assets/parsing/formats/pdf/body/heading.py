"""A heading found in a PDF, and tests on lines that may contain one."""

import re
from dataclasses import dataclass
from itertools import pairwise

from monjyu_assets.parsing.formats.pdf.page.layout import Layout, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line, Style
from monjyu_assets.parsing.text.author_block import CONTENTS


@dataclass
class Heading:
    """A heading at `lines[start:end]`. A run-in heading ends after `run_in` characters of its last line; 0
    otherwise."""

    start: int
    end: int
    text: str
    style: Style
    number: str | None = None
    level: int = 1
    run_in: int = 0
    outline_level: int | None = None
    centred: bool = False


def gap_above(layout: Layout, index: int) -> float:
    """Distance to the baseline above in points; 99 at the top of a page or column."""
    if index == 0:
        return 99.0
    above, line = layout.lines[index - 1], layout.lines[index]
    if above.page != line.page or above.block != line.block:
        return 99.0
    return line.base - above.base


def ordinals(number: str) -> tuple[int, ...]:
    """The values of the parts of an Arabic or Roman number ("3.1" is (3, 1), "IV" is (4,)), empty for letters."""
    values = [_ordinal(part) for part in number.split(".")]
    return () if None in values else tuple(value or 0 for value in values)


def _ordinal(number: str) -> int | None:
    if number.isdigit():
        return int(number)
    if not re.fullmatch(r"[IVX]{1,5}", number):
        return None
    values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in number]
    return sum(-a if a < b else a for a, b in pairwise([*values, 0]))


# Lists of contents, figures and tables: their lines end in page numbers and are not part of the paper's text.
_ENTRY = re.compile(r".*\D(?:\d{1,4}|[ivxlc]{1,6})")
_LEADERS = re.compile(r"(?:\.\s?){4,}|\u2026{2,}|(?:\u30fb){4,}")


def contents_lines(layout: Layout) -> set[int]:
    """Indices of the lines of tables of contents and similar lists, including their headings; a list has at least three
    entries. An entry ends in its page number or is repeated on a later page."""
    found: set[int] = set()
    last: dict[str, int] = {}
    for i, line in enumerate(layout.lines):
        if i in found or not CONTENTS.fullmatch(line.text.strip(" .:")):
            continue
        last = last or {squeezed(other.text): other.page for other in layout.lines}
        end = i + 1
        while end < len(layout.lines) and (
            _is_entry(layout, end) or last[squeezed(layout.lines[end].text)] > layout.lines[end].page
        ):
            end += 1
        if end - i > 3:
            found.update(range(i, end))
    return found | _pages_of_leaders(layout)


def _pages_of_leaders(layout: Layout) -> set[int]:
    """Lines between the first and last leaders of a page with at least four entries, where an entry has six lines at
    most; with the heading above them, and the last entry if the list goes on."""
    pages: dict[int, list[int]] = {}
    for i, line in enumerate(layout.lines):
        if line.text.count(".") > 3 and _LEADERS.search(line.text):
            pages.setdefault(line.page, []).append(i)
    found: set[int] = set()
    for page, leaders in pages.items():
        entries = [i for i in leaders if _ENTRY.fullmatch(layout.lines[i].text.strip())]
        first, last = leaders[0], leaders[-1] + 1
        if len(entries) < 4 or len(leaders) < 0.16 * (last - first):
            continue
        top = next(i for i in range(first, -1, -1) if i == 0 or layout.lines[i - 1].page < page)
        bottom = next((i for i in range(last, len(layout.lines)) if layout.lines[i].page > page), last)
        goes_on = page + 1 in pages and bottom - last < 5
        found.update(range(top if first - top < 6 else first, bottom if goes_on else last))
    return found


def _is_entry(layout: Layout, i: int) -> bool:
    """Whether the line ends in a page number after a gap or leaders, or is long and the next line does."""
    return _ends_in_page(layout.lines[i]) or (
        i + 1 < len(layout.lines)
        and layout.lines[i].page == layout.lines[i + 1].page
        and len(layout.lines[i].text) > 40
        and _ends_in_page(layout.lines[i + 1])
    )


def _ends_in_page(line: Line) -> bool:
    text = line.text.strip()
    return bool(_ENTRY.fullmatch(text)) and (bool(line.wide_gaps) or bool(_LEADERS.search(text)))

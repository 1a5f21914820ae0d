"""Lists of contents, figures and tables: their lines end in page numbers and are not part of the paper's text."""

from __future__ import annotations

import re

from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.labels import CONTENTS

_ENTRY = re.compile(r".*\D(?:\d{1,4}|[ivxlc]{1,6})")
_LEADERS = re.compile(r"(?:\.\s?){4,}|\u2026{2,}|(?:\u30fb){4,}")


def contents_lines(layout: Layout) -> set[int]:
    """Indices of the lines of such lists, their headings included; three entries or more make a list."""
    found: set[int] = set()
    for i, line in enumerate(layout.lines):
        if not CONTENTS.fullmatch(line.text.strip(" .:")):
            continue
        end = i + 1
        while end < len(layout.lines) and _is_entry(layout, end):
            end += 1
        if end - i > 3:
            found.update(range(i, end))
    return found


def _is_entry(layout: Layout, i: int) -> bool:
    """Ends in a page number behind a gap or leaders, or is broken and its next line does."""
    return _ends_in_page(layout.lines[i]) or (
        i + 1 < len(layout.lines)
        and layout.lines[i].page == layout.lines[i + 1].page
        and len(layout.lines[i].text) > 40
        and _ends_in_page(layout.lines[i + 1])
    )


def _ends_in_page(line: Line) -> bool:
    text = line.text.strip()
    return bool(_ENTRY.fullmatch(text)) and (bool(line.wide_gaps) or bool(_LEADERS.search(text)))

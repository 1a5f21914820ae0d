"""Bookmarks of a PDF found again as lines of its text."""

from __future__ import annotations

from monjyu_assets.parsing.formats.pdf.page.layout import Layout, OutlineItem, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.heading_types import strip_numbering


def outline_marks(layout: Layout, first: int, last: int) -> dict[int, tuple[int, OutlineItem]]:
    """Outline items found among the lines: start line -> (end line, item)."""
    marks: dict[int, tuple[int, OutlineItem]] = {}
    stop = last
    # From the end: words of the outline that stand twice (parts of an abstract, sections) then meet the later place.
    for item in reversed(layout.outline):
        wanted = squeezed(item.title)
        bare = squeezed(strip_numbering(item.title)[1])
        if len(bare) < 3:
            continue
        for i in range(stop - 1, first - 1, -1):
            line = layout.lines[i]
            if item.page is not None and not item.page <= line.page <= item.page + 1:
                continue
            end = _matches(layout.lines, i, stop, {wanted, bare})
            if end:
                marks[i] = (end, item)
                stop = i
                break
    return marks


def _matches(lines: list[Line], start: int, last: int, wanted: set[str]) -> int:
    """The end of the run of lines from `start` whose text is one of `wanted` (with or without a number), or 0."""
    text = ""
    longest = max(len(w) for w in wanted)
    for end in range(start, min(start + 4, last)):
        text += " " + lines[end].text
        squeezed_text = squeezed(text)
        if squeezed_text in wanted or squeezed(strip_numbering(text.strip())[1]) in wanted:
            return end + 1
        if len(squeezed_text) > longest + 6:
            return 0
    return 0

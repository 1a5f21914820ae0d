"""Headings among the lines of a document, by outline, numbering, known names and type style."""

from __future__ import annotations

import re
from collections import Counter

from monjyu_assets.parsing.formats.pdf.body.heading import Heading, gap_above, ordinals
from monjyu_assets.parsing.formats.pdf.body.heading_levels import run_in_heading, usual_run_ins
from monjyu_assets.parsing.formats.pdf.page.layout import Layout, OutlineItem, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line, Style
from monjyu_assets.parsing.text.author_block import NUMBERED_FLOAT
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.text.search_text import count_wide

# Bookmarks of a PDF found again as lines of its text.


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


_BULLET = re.compile(r"[\u2022\u25cf\u25cb\u25aa\u25e6\u2023\u2013\u2014*\uf0b7-]\s")
_FORMULA = re.compile(r"[=\u00bc\u2211\u222b\u221a\u2264\u2265\u2208\u2202]|\|[^|]{1,12}\|")
_ABBREVIATED = re.compile(r"\b(?:etc|al|vs|spp?|L)\.$")
_NUMBERED_LINE = re.compile(r"\d{1,3}:\s")
_ENDS_OPEN = re.compile(r"(?:[,;]|\b(?:the|of|and|or|a|an|in|to|with|for|by|is|are|from|on|as|that))$")


def find_headings(layout: Layout, first: int, last: int, words: Words) -> list[Heading]:
    """Headings among `layout.lines[first:last]`, in order, with levels."""
    marked = outline_marks(layout, first, last)
    body_bold = _body_is_bold(layout)
    strong: Counter[Style] = Counter()
    candidates: list[Heading] = []
    i = first
    while i < last:
        heading = _candidate(layout, i, last, marked, words)
        if heading is None:
            i += 1
            continue
        candidates.append(heading)
        if heading.outline_level is not None or _known(heading.text):
            strong[heading.style] += 1
        i = heading.end
    by_style = Counter(h.style for h in candidates)
    counted = _counted(candidates, layout)
    found = [h for h in candidates if h.start in counted or _accepted(h, layout, strong, by_style, body_bold)]
    return _with_missing(usual_run_ins(found), layout, first, last, words)


def _with_missing(found: list[Heading], layout: Layout, first: int, last: int, words: Words) -> list[Heading]:
    """Headings with those that a count of main headings (1, 2, 4, or I, II, IV) lacks: lines between their neighbours
    in the style of one of them."""
    counted = [h for h in found if h.number and len(ordinals(h.number)) == 1 and not h.run_in]
    if len(counted) < 2:
        return found
    taken = {i for heading in found for i in range(heading.start, heading.end)}
    missing: list[Heading] = []
    above: Heading | None = None
    for heading in counted:
        same_kind = above is not None and (above.number or "").isdigit() == (heading.number or "").isdigit()
        since = ordinals(above.number or "")[0] if above and same_kind else 0
        start = above.end if above and same_kind else first
        for number in range(since + 1, min(ordinals(heading.number or "")[0], since + 4)):
            styles = {heading.style, above.style} if above and same_kind else {heading.style}
            for i in range(start, heading.start):
                if i not in taken and _is_number(layout, i, number, heading.number or "", styles):
                    end = i + 1
                    while end < min(last, i + 4) and _continues(layout, end, layout.lines[i].style):
                        end += 1
                    text = _text(layout.lines[i:end], words)
                    missing.append(Heading(i, end, text, layout.lines[i].style, strip_numbering(text)[0]))
                    start = end
                    break
        above = heading
    return sorted([*found, *missing], key=lambda heading: heading.start)


def _is_number(layout: Layout, i: int, number: int, sibling: str, styles: set[Style]) -> bool:
    """A line that begins with this number, in one of these styles; one that looks like text needs a gap above it."""
    line = layout.lines[i]
    own, words = strip_numbering(line.text)
    if own is None or own.isdigit() != sibling.isdigit() or ordinals(own) != (number,) or line.style not in styles:
        return False
    if len(line.text) > 100 or not words[:1].isupper() or line.text.rstrip().endswith((",", ";", ":")):
        return False
    size, bold, _, capitals = line.style
    if bold and not line.bold[-1]:
        return False  # bold words with which a paragraph begins
    distinct = bold or capitals or size >= layout.body_size + 0.9
    return distinct or (gap_above(layout, i) > 1.15 * layout.leading and not line.text.rstrip().endswith("."))


def _counted(candidates: list[Heading], layout: Layout) -> set[int]:
    """First lines of headings in any face that stand apart and are numbered 1, 2, 3: they need no other sign."""
    apart = [
        heading
        for heading in candidates
        if heading.number is not None
        and not heading.run_in
        and gap_above(layout, heading.start) > 1.2 * layout.leading
        and layout.lines[heading.start].size >= 0.95 * layout.body_size
    ]
    found: list[Heading] = []
    faces: dict[int, Style] = {}
    last: tuple[int, ...] = (0,)
    for heading in apart:
        number = ordinals(heading.number or "")
        if not number or len(heading.text) > 90:
            continue
        face = faces.setdefault(len(number), heading.style)
        if not any(heading.style[1:]) and (face[1] or face[0] > heading.style[0] + 0.9):
            continue  # an item of a list below larger or bold headings
        beside = any(number == (*last[:depth], last[depth] + 1) for depth in range(len(last)))
        if beside or (found and number == (*last, 1)):
            found.append(heading)
            last = number
    return {heading.start for heading in found} if last[0] >= 3 else set()


def _known(text: str) -> bool:
    return section_type(text) != "other"


def _body_is_bold(layout: Layout) -> bool:
    bold = sum(len(line.text) for line in layout.lines if line.bold_share > 0.6)
    return bold > 0.5 * sum(len(line.text) for line in layout.lines)


def _candidate(
    layout: Layout, i: int, last: int, marked: dict[int, tuple[int, OutlineItem]], words: Words
) -> Heading | None:
    lines = layout.lines
    line = lines[i]
    if i in marked:
        end, item = marked[i]
        text = _text(lines[i:end], words)
        return Heading(i, end, text, line.style, strip_numbering(text)[0], outline_level=item.level)
    style = line.style
    end = i + 1
    while end < min(last, i + 4) and end not in marked and _continues(layout, end, style):
        end += 1
    found = run_in_heading(layout, i, last)
    if found is not None:
        return found
    text = _text(lines[i:end], words)
    if _breaks_off(lines[end - 1]) or not _shape(text, lines[i:end]) or not _stands_out(line, style, text, layout):
        return None
    if not _alone(layout, i, end) or _in_listing(lines, i):
        return None
    return Heading(i, end, text, style, strip_numbering(text)[0])


def _in_listing(lines: list[Line], i: int) -> bool:
    """A line of pseudo-code: lines right above or below are numbered "7:" as well."""
    if not _NUMBERED_LINE.match(lines[i].text):
        return False
    return any(_NUMBERED_LINE.match(line.text) for line in [*lines[max(0, i - 2) : i], *lines[i + 1 : i + 3]])


def _text(lines: list[Line], words: Words) -> str:
    text = lines[0].text
    for line in lines[1:]:
        hyphen = words.hyphen(text, line.text)
        text = f"{text} {line.text}" if hyphen is None else text[:-1] + hyphen + line.text
    return re.sub(r"(\w)- (?=[a-z])", r"\1-", text) if len(lines) > 1 else text


def _continues(layout: Layout, i: int, style: Style) -> bool:
    """Line `i` continues the heading that the line above belongs to."""
    above, line = layout.lines[i - 1], layout.lines[i]
    step = line.base - above.base
    return (
        above.page == line.page
        and line.style[:3] == style[:3]
        and (line.style[3] or not style[3])
        and 0 < step < 1.6 * max(line.size, above.size)
        and abs(line.size - above.size) < 0.3
        and strip_numbering(line.text)[0] is None
        and not (above.x1 < line.x0)
        and (_ENDS_OPEN.search(above.text.casefold()) is not None or not _fits(layout, i))
    )


def _fits(layout: Layout, i: int) -> bool:
    """The first word of line `i` had room behind the line above: the break is deliberate, so they are two headings."""
    above, line = layout.lines[i - 1], layout.lines[i]
    left, right = layout.extents[line.page, line.block]
    return _has_room(above, line, left, right) and _has_room(above, line, left, _near_edge(layout, i, right))


def _near_edge(layout: Layout, i: int, right: float) -> float:
    """Where the lines around line `i` end: a figure beside them narrows the column."""
    line = layout.lines[i]
    around = [*layout.lines[max(0, i - 7) : i - 1], *layout.lines[i + 1 : i + 7]]
    near = [other.x1 for other in around if (other.page, other.block) == (line.page, line.block)]
    return max(near) if len(near) > 4 else right


def _has_room(above: Line, line: Line, left: float, right: float) -> bool:
    word = line.text.split()[0]
    width = line.width * len(word) / max(1, len(line.text)) + 0.6 * line.size
    centred = abs((above.x0 + above.x1) - (left + right)) < 6 and above.x0 > left + 6
    room = (right - left) - above.width if centred else right - above.x1
    return width < 0.9 * room - 0.08 * (right - left)


def _shape(text: str, lines: list[Line]) -> bool:
    """Short, begins like a heading, has letters (方法 is a word), is not a caption, bullet, sentence or reference."""
    words = strip_numbering(text)[1]
    letters = sum(map(str.isalpha, words))
    if letters + count_wide(words) < 3 or letters < 0.5 * len(words.replace(" ", "")):
        return False
    if len(text) > 220 or len(text.split()) > 28:
        return False
    if NUMBERED_FLOAT.match(text) or _BULLET.match(text) or "@" in text or "http" in text:
        return False
    first = next((c for c in words if c.isalnum()), "")
    counted = re.match(r"\d+[.)]\s", text) and all(all(line.bold) for line in lines)  # "1. de Jonquières"
    if not first or (first.islower() and not counted) or text[0] in "[{":
        return False
    if _FORMULA.search(text) or (re.search(r"[.;,。]$", text) and not _ends_heading(text, lines)):
        return False
    cells = any(len(line.pieces) > 2 for line in lines)
    return not _ENDS_OPEN.search(text.casefold()) and len(lines) < 5 and not cells


def _breaks_off(line: Line) -> bool:
    """Bold words that end with a full stop or colon, with a sentence behind them: a paragraph begins so."""
    last = max((k for k, bold in enumerate(line.bold) if bold), default=-1)
    behind = line.text[last + 1 :]
    return last > 0 and len(behind.strip(" .:")) > 8 and (line.text[: last + 1] + behind[:1])[-2:].strip()[-1:] in ".:"


def _ends_heading(text: str, lines: list[Line]) -> bool:
    """A full stop that a heading may end with: of an abbreviation, or behind bold words ("1. Introducción.")."""
    if _ABBREVIATED.search(text):
        return True
    words = re.sub(r"^\w+ \d+\. ", "", strip_numbering(text)[1])  # "Rule 3. Count twice."
    return text.endswith(".") and ". " not in words and all(all(line.bold) for line in lines)


def _is_sentence(text: str) -> bool:
    """Words that are no known heading, with a full stop that is no abbreviation's."""
    return text.endswith(".") and not _known(text.rstrip(".")) and not _ABBREVIATED.search(text)


def _stands_out(line: Line, style: Style, text: str, layout: Layout) -> bool:
    size, bold, italic, capitals = style
    if size < (0.7 if bold or capitals else 0.85) * layout.body_size:
        return False
    larger = size >= layout.body_size + 0.9
    numbered = strip_numbering(text)[0] is not None
    return (
        larger
        or bold
        or capitals
        or (italic and size >= 0.95 * layout.body_size)
        or numbered
        or (_known(text) and len(text) < 40)
    )


def _alone(layout: Layout, start: int, end: int) -> bool:
    """Nothing of a paragraph above runs into it, and what follows starts anew."""
    lines = layout.lines
    line = lines[start]
    above = lines[start - 1] if start else None
    same_place = above is not None and above.page == line.page and above.block == line.block
    if above is not None and same_place:
        step = line.base - above.base
        same_style = above.style == line.style
        if step < 0.4 * line.size:
            return False
        if same_style and step < 1.15 * layout.leading and above.x1 - above.x0 > 0.5 * line.width:
            return False
    if end < len(lines):
        below = lines[end]
        beside = below.column != line.column and below.x0 > line.x1 + 2 * line.size  # a note in the margin
        if below.page == line.page and not beside and abs(below.base - lines[end - 1].base) < 0.4 * line.size:
            return False
        small = below.size < 0.93 * layout.body_size and below.bold_share < 0.6
        if small and line.size < 0.97 * layout.body_size:
            return False
    return True


def _accepted(
    heading: Heading, layout: Layout, strong: Counter[Style], by_style: Counter[Style], body_bold: bool
) -> bool:
    if heading.outline_level is not None or heading.run_in:
        return True
    if heading.number is None and not _known(heading.text) and (_boxed(layout, heading) or _is_quote(layout, heading)):
        return False
    if heading.text.endswith(":") and heading.number is None and not _known(heading.text):
        return heading.style[0] >= layout.body_size + 0.9
    if (heading.text.endswith(".") and len(heading.text) > 90) or (
        heading.number is None and _is_sentence(heading.text)
    ):
        return heading.style in strong and gap_above(layout, heading.start) > 1.15 * layout.leading
    size, bold, italic, capitals = heading.style
    larger = size >= layout.body_size + 0.9
    distinct = larger or (bold and not body_bold) or capitals
    if layout.outline and strong:
        # With an outline that was found, only its styles and clear numbering add to it.
        if heading.style in strong:
            return distinct or (italic and heading.number is not None) or _known(heading.text)
        return heading.number is not None and distinct
    if _known(heading.text):
        return distinct or heading.number is not None or gap_above(layout, heading.start) > 1.3 * layout.leading
    if heading.style in strong and distinct:
        return True
    if heading.number is not None:
        return distinct or (italic and by_style[heading.style] >= 2)
    if larger or (bold and not body_bold):
        return gap_above(layout, heading.start) > 1.15 * layout.leading or by_style[heading.style] >= 3
    if italic or capitals:
        return gap_above(layout, heading.start) > 1.25 * layout.leading and by_style[heading.style] >= 2
    return False


def _boxed(layout: Layout, heading: Heading) -> bool:
    """It stands above small print in a frame, or in the bar of one; a bar around the heading alone is no frame."""
    line, below = layout.lines[heading.start], layout.lines[heading.end : heading.end + 1]
    if not below or below[0].size > 0.93 * layout.body_size:
        return False
    page = layout.pages[line.page - 1]
    boxes = [
        box for box in page.drawn.graphics if (box[2] - box[0]) * (box[3] - box[1]) < 0.7 * page.width * page.height
    ]
    for x0, y0, x1, y1 in boxes:
        if x0 < line.x0 and line.x1 < x1 and y0 < line.base - 0.5 * line.size and line.base < y1:
            joined = [box for box in boxes if abs(box[1] - y1) < 4 and abs(box[0] - x0) < 4 and abs(box[2] - x1) < 4]
            if any(box[3] - box[1] > 5 * line.size for box in [(x0, y0, x1, y1), *joined]):
                return True
    return False


def _is_quote(layout: Layout, heading: Heading) -> bool:
    """Italic words in the size of the text that begin with a quotation mark, run over three lines or are set in."""
    lines = layout.lines[heading.start : heading.end]
    size, bold, italic, capitals = heading.style
    if not italic or bold or capitals or size >= layout.body_size + 0.9:
        return False
    left, right = layout.extents[lines[0].page, lines[0].block]
    centred = abs((lines[0].x0 + lines[0].x1) - (left + right)) < 6
    inset = min(line.x0 for line in lines) > left + 14 and not centred
    return len(lines) > 2 or inset or heading.text[0] in '"\u201c\u201e\u00ab\u2018'

"""Finds headings among the lines of a document: those of its outline, and those that the learned trees recognise."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from monjyu_assets.parsing.formats.pdf.body.heading import Heading, gap_above, ordinals
from monjyu_assets.parsing.formats.pdf.body.heading_features import candidate_features
from monjyu_assets.parsing.formats.pdf.body.heading_levels import run_in_heading, usual_run_ins
from monjyu_assets.parsing.formats.pdf.body.heading_trees import heading_scores
from monjyu_assets.parsing.formats.pdf.page.layout import Layout, OutlineItem, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line, Style
from monjyu_assets.parsing.text.author_block import NUMBERED_FLOAT
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.text.search_text import count_wide


# Bookmarks of a PDF found again as lines of its text.
def outline_marks(layout: Layout, first: int, last: int) -> dict[int, tuple[int, OutlineItem]]:
    """Outline items found among the lines: start line -> (end line, item)."""
    marks: dict[int, tuple[int, OutlineItem]] = {}
    stop = last
    # From the end, so that words of the outline that occur twice (in an abstract, in sections) match the later place.
    for item in reversed(layout.outline):
        wanted = squeezed(item.title)
        bare = squeezed(strip_numbering(item.title)[1])
        if len(bare) < 3 or NUMBERED_FLOAT.match(item.title.strip("\ufeff ")):
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
    """The end of the run of lines from `start` whose text is one of `wanted` (with or without a number); 0 if there is
    none."""
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
_EQUATION = re.compile(r"\(\d+\.\d+\)")
_NUMBERED_LINE = re.compile(r"\d{1,3}:\s")
_ENDS_OPEN = re.compile(r"(?:[,;]|\b(?:the|of|and|or|a|an|in|to|with|for|by|is|are|from|on|as|that))$")
_LABEL_ALONE = re.compile(r"[^\W\d_]+ \d{1,2}[.:]?\s*")
_CHAPTER_ALONE = re.compile(rf"{alternatives('labels.chapter')} (?:\d{{1,2}}|[A-Z]|[IVX]{{1,4}})[.:]?", re.I)
"""The label of a chapter on its own line, far above the title of the chapter."""
_LIKELY, _SURE, _POSSIBLE = 0.36, 0.8, 0.07
"""Minimum probabilities: of a heading; of a heading missing from an outline, if more than two entries of the outline
were found; of a heading that has the style of others, or the missing number of their sequence."""
_OF_HEADINGS = 0.33
"""The minimum mean probability of the candidates in a style for it to count as a style of headings."""
_UNNUMBERED = 0.2
"""The minimum probability of a candidate without a number that has the style of numbered headings."""


def find_headings(layout: Layout, ranges: Sequence[tuple[int, int]], words: Words) -> list[Heading]:
    """Headings among the lines of `ranges`, in order. Their levels are not set."""
    marked: dict[int, tuple[int, OutlineItem]] = {}
    for first, last in ranges:
        marked |= outline_marks(layout, first, last)
    candidates = [h for first, last in ranges for h in heading_candidates(layout, first, last, words, marked)]
    candidates = [heading for heading in candidates if not _is_footnote(heading, layout.body_size)]
    plain = [heading for heading in candidates if not heading.run_in]
    scores = heading_scores(candidate_features(layout, plain)).tolist()
    least = _SURE if len(marked) > 2 else _LIKELY
    likely = [h.outline_level is not None or score >= least for h, score in zip(plain, scores, strict=True)]
    possible = [score >= _POSSIBLE for score in scores]
    asked = _asked_for(plain, likely, scores)
    kept = {h.start for k, h in enumerate(plain) if likely[k] or (possible[k] and k in asked)}
    return usual_run_ins([heading for heading in candidates if heading.run_in or heading.start in kept])


def _is_footnote(heading: Heading, body_size: float) -> bool:
    """Whether a numbered line has the small plain type of footnotes."""
    small = heading.style[0] < body_size - 0.9 and not any(heading.style[1:])
    return small and heading.number is not None and heading.outline_level is None and not heading.run_in


def _asked_for(found: Sequence[Heading], likely: Sequence[bool], scores: Sequence[float]) -> set[int]:
    """Indices of the candidates in a style of headings, and of those whose number fills a gap in a sequence.

    Where the headings in a style are numbered, unlikely candidates without a number are left out.
    """
    styles: dict[Style, list[int]] = defaultdict(list)
    for k, heading in enumerate(found):
        styles[heading.style].append(k)
    asked: set[int] = set()
    for own in styles.values():
        possible = [k for k in own if scores[k] >= _POSSIBLE]
        mean = sum(scores[k] for k in possible) / max(1, len(possible))
        sure = [k for k in own if likely[k]]
        headed = len(sure) > 1 or any(section_type(found[k].text) != "other" for k in sure)
        if (headed and mean >= _OF_HEADINGS) or (len(own) > 2 and len(possible) == len(own)):
            counted = sum(found[k].number is not None for k in sure) > 0.75 * len(sure)
            free = {k for k in own if not found[k].number and not found[k].text[0].isdigit()}
            asked.update(k for k in own if k not in free or not counted or scores[k] >= _UNNUMBERED)
    main = [k for k, h in enumerate(found) if likely[k] and len(ordinals(h.number or "")) == 1]
    for start, stop in pairwise(main):
        above, below = found[start].number or "", found[stop].number or ""
        missing = (ordinals(above)[0] + 1,)
        if above.isdigit() == below.isdigit() and ordinals(below)[0] == missing[0] + 1:
            asked |= {k for k in range(start + 1, stop) if ordinals(found[k].number or "") == missing}
    return asked


def heading_candidates(
    layout: Layout, first: int, last: int, words: Words, marked: Mapping[int, tuple[int, OutlineItem]]
) -> list[Heading]:
    """Lines of `first:last` that could be headings, including those of the outline (`marked`) and run-in ones."""
    candidates: list[Heading] = []
    i = first
    while i < last:
        heading = _candidate(layout, i, last, marked, words)
        if heading is not None:
            candidates.append(heading)
        i = heading.end if heading is not None else i + 1
    return candidates


def _candidate(
    layout: Layout, i: int, last: int, marked: Mapping[int, tuple[int, OutlineItem]], words: Words
) -> Heading | None:
    lines = layout.lines
    line = lines[i]
    left, right = layout.extents[line.page, line.block]
    centred = line.x0 > left + line.size and abs(line.x0 + line.x1 - left - right) < line.size
    if i in marked:
        end, item = marked[i]
        text = _text(lines[i:end], words)
        return Heading(i, end, text, line.style, strip_numbering(text)[0], outline_level=item.level, centred=centred)
    found = run_in_heading(layout, i, last)
    if found is not None:
        return found
    above = lines[i - 1] if i else None
    same_place = above is not None and (above.page, above.block) == (line.page, line.block)
    if above is not None and same_place and line.base - above.base < 0.4 * line.size:
        return None
    style = line.style
    if above is not None and style == above.style and _continues(layout, i, style):
        return None  # a quotation or a list of more lines than a heading has
    apart = line.width < 0.8 * (right - left) and gap_above(layout, i) > 1.2 * layout.leading
    if line.size < 0.7 * layout.body_size or not (apart or _stands_out(line, style, layout)):
        return None
    end = i + 1
    while end < min(last, i + 4) and end not in marked and _continues(layout, end, style):
        end += 1
    text = _text(lines[i:end], words)
    if not _shape(text, lines[i:end]) or _breaks_off(lines, end - 1) or _in_listing(lines, i):
        return None
    return Heading(i, end, text, style, strip_numbering(text)[0], centred=centred)


def _in_listing(lines: list[Line], i: int) -> bool:
    """Whether the line belongs to pseudo-code: the lines directly above or below are numbered like "7:" as well."""
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
    """Whether line `i` continues the heading that the line above belongs to."""
    above, line = layout.lines[i - 1], layout.lines[i]
    step = line.base - above.base
    chapter = _CHAPTER_ALONE.fullmatch(above.text.strip()) is not None
    return bool(
        above.page == line.page
        and line.style[:3] == style[:3]
        and (line.style[3] or not style[3] or line.text.isupper())
        and 0 < step < (3.5 if chapter else 1.6) * max(line.size, above.size)
        and abs(line.size - above.size) < 0.3
        and strip_numbering(line.text)[0] is None
        and not (above.x1 < line.x0)
        and (
            _ENDS_OPEN.search(above.text.casefold())
            or _LABEL_ALONE.fullmatch(above.text)
            or chapter
            or _goes_on(above, line)
            or not _fits(layout, i)
        )
    ) or _second_row(layout, i, style)


def _goes_on(above: Line, line: Line) -> bool:
    """Whether a line in small letters, in the same face, is below a numbered line that begins with a capital."""
    number, text = strip_numbering(above.text)
    return number is not None and text[:1].isupper() and line.text[0].islower() and line.style == above.style


def _second_row(layout: Layout, i: int, style: Style) -> bool:
    """Whether line `i` is the second row of a numbered heading that is centred and broken on purpose."""
    above, line = layout.lines[i - 1], layout.lines[i]
    left, right = layout.extents[line.page, line.block]
    middles = (above.x0 + above.x1, line.x0 + line.x1)
    return (
        (above.page, above.block) == (line.page, line.block)
        and line.style == above.style == style
        and 0 < line.base - above.base < 1.4 * line.size
        and all(abs(middle - left - right) < line.size for middle in middles)
        and min(above.x0, line.x0) > left + line.size
        and strip_numbering(above.text)[0] is not None
        and strip_numbering(line.text)[0] is None
    )


def _fits(layout: Layout, i: int) -> bool:
    """Whether the first word of line `i` would have fitted on the line above. The break is then deliberate, and they
    are two headings."""
    above, line = layout.lines[i - 1], layout.lines[i]
    left, right = layout.extents[line.page, line.block]
    return _has_room(above, line, left, right) and _has_room(above, line, left, _near_edge(layout, i, right))


def _near_edge(layout: Layout, i: int, right: float) -> float:
    """The right end of the lines around line `i`, because a figure next to them narrows the column."""
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
    """Whether the text is short, has letters (方法 is a word, "3. RS" a heading), and is not a caption, a bullet or an
    address."""
    words = strip_numbering(text)[1]
    letters = sum(map(str.isalpha, words)) + count_wide(words)
    if letters < (2 if words != text and words.isupper() else 3) or letters < 0.5 * len(words.replace(" ", "")):
        return False
    if len(text) > 220 or len(text.split()) > 28 or len(lines) > 4:
        return False
    if NUMBERED_FLOAT.match(text) or _BULLET.match(text) or "@" in text or "http" in text:
        return False
    return text[0] not in "[{" and not _EQUATION.match(text)


def _breaks_off(lines: Sequence[Line], i: int) -> bool:
    """Whether the line has bold words that end with a full stop, a colon or a dash, followed by a sentence, as at the
    start of a paragraph, or ends in a word that goes on in another face."""
    line, below = lines[i], lines[i + 1] if i + 1 < len(lines) else None
    if below and line.text.endswith("-") and below.text[0].islower() and line.bold_share > below.bold_share + 0.5:
        return (line.page, line.block) == (below.page, below.block)
    last = max((k for k, bold in enumerate(line.bold) if bold), default=-1)
    behind = line.text[last + 1 :]
    closed = (line.text[: last + 1] + behind[:1])[-2:].strip()[-1:] in ".:"
    dashed = behind.lstrip()[:2] in ("\u2013 ", "\u2014 ")
    return last > 0 and len(behind.strip(" .:")) > 8 and (closed or dashed)


def _stands_out(line: Line, style: Style, layout: Layout) -> bool:
    """Whether the line stands out by its size, face or capitals, by a number, or by words that often head sections."""
    size, bold, italic, capitals = style
    if size < (0.7 if bold or capitals else 0.85) * layout.body_size:
        return False
    if size >= layout.body_size + 0.9 or bold or capitals or (italic and size >= 0.95 * layout.body_size):
        return True
    return strip_numbering(line.text)[0] is not None or (len(line.text) < 40 and section_type(line.text) != "other")

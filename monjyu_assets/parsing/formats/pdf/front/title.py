"""Finds the title of a paper: that of PDF Info or of the outline if page 1 prints it, otherwise the lines most like a
title."""

import re

from monjyu_assets.parsing.bibliography.dates import RECENT_YEAR
from monjyu_assets.parsing.bibliography.names import UPPER
from monjyu_assets.parsing.formats.pdf.front.affiliations import PLACE
from monjyu_assets.parsing.formats.pdf.front.authors import KIND, names_in_line, turned_name
from monjyu_assets.parsing.formats.pdf.page.layout import Layout, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.author_block import KEYWORDS, UDC, ends_front
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.language.vocabulary import alternatives

_LABEL = re.compile(
    r"\b(?:volume|vol\.|issn|eissn|publish|copyright|research article|original (?:research|article|paper)|"
    r"review article|open access|preprint|typeset using|draft version|article|doi|https?:|www\.|accepted|received)\b",
    re.I,
)  # fmt: skip
_TITLED = re.compile(rf"\A{alternatives('labels.title')}\s*[:：]\s*", re.I)
_SERIAL = re.compile(
    r"(?:the\s)?(?:\w+\s){0,4}(?:journal|transactions|letters|annals|bulletin|magazine|reviews?|quarterly)|"
    r"(?:the\s)?(?:\w+\s){0,3}"
    r"(?:journal|transactions|annals|archives|bulletin|proceedings|revista|revue|zeitschrift|rivista)"
    r"\s(?:of|on|in|for|de|der|für|di|d[ou])\b.*|the .{0,40}journal.*", re.I,
)  # fmt: skip
"""The name of a periodical: "Physics Letters" or "Journal of Physics", but not "Bitmap Letters in Old Papers"."""

_SAMPLE = 300
"""The number of lines from which the script of a paper (Latin or not) is determined."""


def find_title(layout: Layout, words: Words) -> tuple[str, int, int]:
    """Return the title and its range of `layout.lines`; ("", 0, 0) without a title."""
    first = [i for i, line in enumerate(layout.lines) if line.page == layout.lines[0].page] if layout.lines else []
    if not first:
        return "", 0, 0
    for wanted in (layout.info.get("Title", ""), *_outline_titles(layout)):
        place = _find_printed(layout, wanted, len(first))
        if place is not None:
            return _clean(_joined(layout.lines[place[0] : place[1]], words)), *place
    return _by_looks(layout, len(first), words)


def _outline_titles(layout: Layout) -> list[str]:
    """The paper's title from the outline, if a single top bookmark contains all others."""
    tops = [item for item in layout.outline if item.level == 0]
    return [tops[0].title] if len(tops) == 1 else []


def _weight(text: str) -> int:
    """The number of letters; Chinese and Japanese characters count as three."""
    return sum(3 if "\u2e80" <= c <= "\u9fff" else 1 for c in text if c.isalpha())


def _names_a_section(text: str) -> bool:
    """Whether these are the words of a heading, too few for a title: "Introduction", but not "Introduction to the
    theory of graphs"."""
    return section_type(text) != "other" and len(text.split()) <= 3 and _weight(text) <= 30


def _find_printed(layout: Layout, wanted: str, last: int) -> tuple[int, int] | None:
    """The range of whole lines of page 1, in larger or bold type, that contain `wanted`, or None."""
    target = squeezed(wanted)
    if _weight(target) < 8 or _names_a_section(wanted):
        return None
    for start in range(last):
        text = ""
        for end in range(start, min(start + 8, last)):
            text += squeezed(_without_marks(layout.lines[end]))
            if text == target or (len(target) > 20 and text.rstrip("0123456789") == target):
                line = layout.lines[start]
                if line.size >= 1.05 * layout.body_size or line.bold_share > 0.6:
                    return start, end + 1
                break
            if len(text) > len(target) + 4:
                break
    return None


def _by_looks(layout: Layout, last: int, words: Words) -> tuple[str, int, int]:
    best: tuple[float, int, int] | None = None
    start = 0
    latin = _latin_share("".join(line.text for line in layout.lines[:_SAMPLE])) > 0.5
    while start < last:
        end = start + 1
        while end < last and _same_block(layout, layout.lines[end - 1], layout.lines[end]):
            end += 1
        score = _score(layout, start, end, last, words)
        if score is not None and not latin:  # a title in Latin letters is a translation there
            score -= _latin_share(layout.lines[start].text) == 1
        if score is not None and (best is None or score > best[0]):
            best = (score, start, end)
        start = end
    if best is None:
        return "", 0, 0
    if best[2] - best[1] > 1 and KIND.fullmatch(layout.lines[best[1]].text.strip()):
        best = (best[0], best[1] + 1, best[2])
    return _clean(_joined(layout.lines[best[1] : best[2]], words)), best[1], best[2]


def _latin_share(text: str) -> float:
    """The proportion of Latin letters; Chinese and Japanese characters count as three."""
    return sum(c.isalpha() and c < "\u0370" for c in text) / max(1, _weight(text))


def _same_block(layout: Layout, above: Line, line: Line) -> bool:
    step = line.base - above.base
    return (
        abs(above.size - line.size) < 0.06 * above.size + 0.05
        and abs(above.bold_share - line.bold_share) < 0.7
        and not (above.style[2:] == (False, True) and line.style[2:] == (True, False))  # a series in capitals
        and (
            0 < step < (2.5 if line.text[:1].islower() else 1.7) * line.size
            or (step > 0 and (_spaced_alike(layout, above, line) or _wraps(layout, above, line)))
        )
    )


def _wraps(layout: Layout, above: Line, line: Line) -> bool:
    """Whether the second of two centred lines goes on because the first is full, in a text with wide spacing."""
    left, right = layout.extents[above.page, above.block]
    full = above.width > 0.9 * (right - left) and line.width < above.width
    centred = abs(line.x0 + line.x1 - left - right) < line.size and above.block == line.block
    near = line.base - above.base < 1.2 * layout.leading
    return full and centred and near and not (names_in_line(line) or ends_front(line.text) or PLACE.search(line.text))


def _spaced_alike(layout: Layout, above: Line, line: Line) -> bool:
    """Whether two lines, neither of them a name or an affiliation, can be one title although they are as far apart as
    the widely spaced lines of the text."""
    spacing = 1.3 * line.size * layout.leading / layout.body_size
    apart = line.size > 1.05 * layout.body_size or (line.bold_share > 0.6 and above.bold_share > 0.6)
    if not apart or line.base - above.base > min(spacing, 3.2 * line.size) or line.style[1:3] != above.style[1:3]:
        return False
    large = line.size > 1.4 * layout.body_size or line.style[3]  # where any two words look like a name
    two = (above, line)
    if ends_front(line.text) or (not large and any(map(names_in_line, two))):
        return False
    return not any(PLACE.search(each.text) or "@" in each.text for each in two)


def _score(layout: Layout, start: int, end: int, last: int, known: Words) -> float | None:
    """The score of a possible title: high for larger type, near the top, as long as a sentence, followed by names; None
    for the name of a journal or a known heading."""
    lines = layout.lines[start:end]
    text = _joined(lines, known)
    words = text.split()
    if _weight(text) < 6 or len(words) > 45 or _names_a_section(text) or KEYWORDS.match(text) or UDC.match(text):
        return None
    if text.endswith(("。", ".")) and len(text) > 120 and lines[0].size < 1.5 * layout.body_size:
        return None
    if any(line.base > 0.7 * layout.pages[line.page - 1].height for line in lines):
        return None
    score = 2.0 * min(2.5, lines[0].size / layout.body_size) + 0.4 * (lines[0].bold_share > 0.6)
    score += 0.8 if 4 <= len(words) <= 30 or _weight(text) > 2 * len(text) else 0.2 if len(words) == 3 else -0.5
    if len(words) < 9 and (_LABEL.search(text) or _SERIAL.fullmatch(text)):
        score -= 2.5
    if len(words) < 9 and PLACE.match(text):
        score -= 1.5  # the university above a thesis
    if _serial_name(layout, text):
        score -= 2.5
    below = layout.lines[end : min(end + 6, last)]
    largest = not any(line.size > 1.02 * lines[0].size for line in layout.lines[:last])  # not a subtitle
    turned = largest and any(turned_name(line, below[k + 1 : k + 4]) for k, line in enumerate(below[:3]))
    above = layout.lines[start - 1 : start] if largest else []
    if turned or any(map(names_in_line, [*below[:3], *above])):
        score += 1.2
    listed = len(names_in_line(lines[0])) > 1 and all(
        names_in_line(each) or PLACE.search(each.text) for each in lines[:2]
    )
    if listed or all(map(_name_with_initial, lines)):
        score -= 1.5
    return score


def _name_with_initial(line: Line) -> bool:
    """Whether the line is a name such as "Ivanov I. I."; any two words of a title in capitals look like other names."""
    return bool(names_in_line(line)) and re.search(rf"\b{UPPER}\.", line.text) is not None


def _serial_name(layout: Layout, text: str) -> bool:
    """Whether a year or volume follows the text elsewhere, which makes it the name of a journal."""
    wanted = re.escape(" ".join(text.split()))
    pattern = re.compile(wanted + rf"\s*[,.|]?\s*(?:vol|\(?{RECENT_YEAR}|\d{{1,3}}\s*[(:,])", re.I)
    places = [*layout.furniture, *layout.asides, *(line for line in layout.lines if line.page == 1)]
    return any(pattern.search(line.text) for line in places)


def _joined(lines: list[Line], words: Words) -> str:
    """The lines joined into one text."""
    text = ""
    for line in lines:
        piece = _without_marks(line)
        hyphen = words.hyphen(text, piece)
        if hyphen is not None:
            text = text[:-1] + hyphen + piece
            continue
        close = (text.endswith("-") and piece[:1].islower()) or _weight(text[-1:] + piece[:1]) == 6
        text = text + piece if close else f"{text} {piece}"
    return text.strip()


def _without_marks(line: Line) -> str:
    """The line without raised footnote marks at its end. Elsevier's font draws its star with the code of a letter."""
    text = line.text
    if re.search(r"\s[a-z]\Z", text) and line.script[len(text) - 1] == 1:
        text = text[:-1].rstrip()
    while text and line.script[len(text) - 1] == 1 and not text[-1].isalpha():
        text = text[:-1].rstrip()
    return text


def _clean(text: str) -> str:
    text = re.sub(r"^OPEN (?=[A-Z])", "", _TITLED.sub("", text.strip(), count=1))
    return re.sub(r"\s+", " ", re.sub(r"[*\u2020\u2021\u00a7\u00b6]+$", "", text.strip())).strip()

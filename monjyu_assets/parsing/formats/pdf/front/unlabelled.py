"""Unlabelled prose between the authors and the first heading: the abstract, or text of the body."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from monjyu_assets.parsing.bibliography.dates import days_in
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.author_block import KEYWORDS, ends_front
from monjyu_assets.parsing.text.common import is_notice
from monjyu_assets.parsing.text.front_lines import QUOTED, SOURCE
from monjyu_core.text.search_text import count_wide

NOT_PROSE = re.compile(
    r"universit|institut|department|correspond|copyright|\u00a9|received|accepted|e-?mail|@|licen[sc]e|doi:|https?:|"
    r"academic editor|this article (?:is|was|has)\b|open access|\bpublished", re.I,
)  # fmt: skip
"""Words that occur in addresses, dates and rights."""
_LABEL = re.compile(r"[A-Z]{2,5}(?:\s[\w-]+){0,2}\s?:\s")
"""Labels of classifications: JEL:, PACS:, MSC 2010:"""
SENTENCE_END = re.compile(r"[.?!:\u3002][)\]\"\u201d\u2019]*\s*$")
_CITED = re.compile(r"\s*\([^()]{3,200}\d{4}[a-z]?\)")
"""Citations; their names do not count as words of a sentence."""
_TITLE = re.compile(r"\u201c[^\u201d]{3,200}\u201d")
_ALONE = 2600
"""The maximum length of an abstract in the same type as the text below it; abstracts of the corpora have up to 2,500
characters."""
_LONGEST = 4500
_MOST_LINES = 400
"""The maximum number of lines that are examined."""


@dataclass
class _Run:
    """Consecutive lines of one face and width."""

    numbers: list[int]
    lines: list[Line]

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    @property
    def edges(self) -> tuple[float, float]:
        return min(line.x0 for line in self.lines), max(line.x1 for line in self.lines)


def find_unlabelled(layout: Layout, start: int, stop: int, used: set[int]) -> tuple[list[int], list[int]]:
    """Return the lines of the abstract and those of the text in front of the first heading, among
    `layout.lines[start:stop]` without those in `used`. Lines that are not prose (addresses, dates, rights) are in
    neither list."""
    runs: list[_Run] = []
    between: list[_Run] = []
    for run in _runs(layout, start, min(stop, start + _MOST_LINES), used):
        goes_on = bool(runs) and not SENTENCE_END.search(runs[-1].text)
        if _is_prose(run) and (goes_on or not run.text[0].islower()):  # a notice on rights may go on in other words
            runs += [*(between if runs and _alike(runs[-1], run) else []), run]  # a list between paragraphs
            between = []
        elif runs and _alike(runs[-1], run) and not _of_front(run.lines[0]):
            between.append(run)
    if not runs:
        return [], []
    # An abstract in another language follows the keywords.
    keywords = next((i for i in range(runs[0].numbers[0], stop) if KEYWORDS.match(layout.lines[i].text)), stop)
    ends = (k for k, run in enumerate(runs[1:], 1) if not _alike(runs[0], run) or run.numbers[0] > keywords)
    count = next(ends, len(runs))
    alike, rest = runs[:count], runs[count:]
    length = sum(len(run.text) for run in alike)
    parted = bool(rest) and rest[0].numbers[0] > keywords
    below = rest[0].lines if rest and not parted else layout.lines[stop + 1 : stop + 9]
    first_page = layout.lines[start].page
    ends_early = stop < len(layout.lines) and layout.lines[stop].page <= first_page + 1
    near = alike[0].lines[0].page <= first_page + 1
    distinct = length <= _LONGEST and _distinct(alike[0], below)
    is_abstract = near and length >= 120 and (distinct or ((parted or not rest) and length <= _ALONE and ends_early))
    abstract = [i for run in alike for i in run.numbers] if is_abstract else []
    return abstract, [i for run in (rest if is_abstract else runs) for i in run.numbers]


def find_motto(layout: Layout, start: int, stop: int) -> list[int]:
    """Return the lines of a quotation between the names and the abstract or the first heading: sentences above a line
    that begins with a dash and a name, or in quotation marks, with the short line below them."""
    first = next((i for i in range(start, min(stop, start + 40)) if ends_front(layout.lines[i].text)), stop)
    runs = _runs(layout, start, min(first, start + 40), set())
    for k, run in enumerate(runs):
        below = runs[k + 1] if k + 1 < len(runs) else _Run([], [])
        near = below.lines and 0 < below.lines[0].base - run.lines[-1].base < 3 * run.lines[-1].size
        words = [word for word in run.text.split() if word[0].isalpha()]
        if len(words) < 5 or sum(word[0].islower() for word in words) < 0.5 * len(words):
            continue
        if any(SOURCE.match(line.text) for line in run.lines[1:]):
            return run.numbers
        if near and SOURCE.match(below.text):
            return [*run.numbers, *below.numbers]
        if k and QUOTED.fullmatch(run.text):
            return [*run.numbers, *(below.numbers if near and len(below.text) < 80 else [])]
    return []


def _runs(layout: Layout, start: int, stop: int, used: set[int]) -> list[_Run]:
    runs: list[_Run] = []
    apart = True
    for i in range(start, stop):
        line = layout.lines[i]
        if i in used:
            apart = True
        if i in used or not any(map(str.isalnum, line.text)):  # an accent or a bullet that lies alone
            continue
        begins, apart = apart, False
        if runs and not begins and _goes_on(layout, runs[-1], line):
            runs[-1].numbers.append(i)
            runs[-1].lines.append(line)
        else:
            runs.append(_Run([i], [line]))
    return runs


def _goes_on(layout: Layout, run: _Run, line: Line) -> bool:
    above = run.lines[-1]
    other_face = abs(above.italic_share - line.italic_share) > 0.7
    if abs(above.size - line.size) > 0.45 or (other_face and SENTENCE_END.search(above.text)):
        return False
    if all(each.bold_share > 0.9 for each in run.lines) and line.bold_share < 0.1:
        return False
    if KEYWORDS.match(line.text) or _LABEL.match(line.text):
        return False
    small = line.size < 0.9 * layout.body_size  # print of publishers
    left, right = run.edges
    filled = above.x1 > max(right, line.x1) - line.size and abs(line.x0 - left) < 1
    within = (line.text[0].islower() and not SENTENCE_END.search(above.text) and not small) or filled
    if not within and _of_front(line) != _of_front(run.lines[0]):
        return False
    if above.page != line.page or above.block != line.block:
        return len(run.lines) > 2
    wider = len(run.lines) > 1 and line.x0 < left - 5 and line.x1 > right + 5
    return not wider and 0 < line.base - above.base < 1.6 * min(layout.leading, 1.3 * line.size)


def _of_front(line: Line) -> bool:
    return bool(NOT_PROSE.search(line.text) or any(days_in(line.text))) and len(line.text) < 160


def _is_prose(run: _Run) -> bool:
    """Whether the lines are sentences: most words begin with a lower-case letter, if the script has two cases."""
    text = _CITED.sub("", run.text)
    wide = count_wide(text)
    if len(text) + wide < 100 or _LABEL.match(text) or KEYWORDS.match(text) or NOT_PROSE.search(text[:60]):
        return False
    if is_notice(text):
        return False
    if not re.search(r"(?:[^\W\d_]{2,}|\[\d[\d, ]*)[)\]\"\u201d]?[.?!](?:\s|$)|\u3002", text):
        return False
    words = [word for word in _TITLE.sub("", text).split() if word[0].isalpha()]
    cased = [word for word in words if word[0].islower() or word[0].isupper()]
    if wide > 0.3 * len(text) or len(cased) < 0.5 * len(words):
        return len(text) + wide > 100
    return sum(word[0].islower() for word in cased) > 0.6 * len(cased)


def _alike(run: _Run, other: _Run) -> bool:
    one, two = run.lines[0], other.lines[0]
    same_face = abs(one.size - two.size) < 0.45 and abs(one.italic_share - two.italic_share) < 0.7
    return same_face and not _distinct(run, other.lines)


def _distinct(run: _Run, below: Iterable[Line]) -> bool:
    """Whether the run has another size or face than the lines below, or is indented on both sides."""
    lines = list(below)
    if not lines:
        return False
    size = sorted(line.size for line in lines)[len(lines) // 2]
    italic = sum(line.italic_share for line in lines) / len(lines)
    bold = sum(line.bold_share for line in lines) / len(lines)
    own = run.lines
    faces = (
        abs(own[0].size - size) > 0.4
        or abs(sum(line.italic_share for line in own) / len(own) - italic) > 0.6
        or abs(sum(line.bold_share for line in own) / len(own) - bold) > 0.6
    )
    left, right = run.edges
    inset = left > min(line.x0 for line in lines) + 5 and right < max(line.x1 for line in lines) - 5
    return faces or inset

"""Lines that OCR has read as the characters of a page: font size, baseline and boldness come from the print."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monjyu_assets.parsing.formats.pdf.read.characters import Font, FontTable, PageChars
from monjyu_assets.parsing.formats.pdf.read.geometry import Floats
from monjyu_assets.parsing.formats.pdf.read.ocr_engine import FoundLine, Image, Reader

_TALL = re.compile(r"[A-Z0-9bdfhkltß()\[\]{}|/\\'\"!?&%$#@^*]")
_DEEP = re.compile(r"[gjpqyQ()\[\]{}|/\\ç]")
_COMMA = re.compile(r"[,;]")
_WIDE = re.compile(r"[\u3001-\u30ff\u3400-\u9fff\uff01-\uff5a]")
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff]")
_SAME_SIZE = 0.075
"""Lines whose sizes differ by less than this share count as one size."""
_BOLD = 1.22
"""Strokes this many times wider, relative to the font size, than most of the text are bold."""


@dataclass
class _Measured:
    """A line on its page: left and right end, baseline and font size in points, and where its characters lie."""

    x0: float
    x1: float
    base: float
    size: float
    stroke: float
    text: str
    centres: Floats
    blanks: Floats


@dataclass
class ReadPage:
    """A page that OCR has read. `width` and `height` are those of the upright frame, `turn` as in PageChars."""

    number: int
    width: float
    height: float
    turn: int
    lines: list[_Measured]
    trust: float = 1.0
    """Mean score of a character, 0 to 1."""

    @property
    def characters(self) -> int:
        return sum(len(line.text.replace(" ", "")) for line in self.lines)


def read_image(image: Image, scale: float, number: int, reader: Reader) -> ReadPage:
    """Read the image of a page (`scale` pixels a point), turned by quarters if it lies on its side or upside down."""
    found, turn = _upright(image, reader)
    rows, columns = image.shape[:2] if turn % 2 == 0 else image.shape[1::-1]
    angle = _skew(found)
    centre = np.array([columns, rows]) / 2
    turning = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    lines = [_measured(line, (line.quad - centre) @ turning + centre, scale) for line in found]
    return ReadPage(number, columns / scale, rows / scale, turn, lines, _trust(found))


def to_characters(pages: Sequence[ReadPage], fonts: FontTable) -> list[PageChars]:
    """All pages of a document at once: sizes and boldness of a line depend on its other lines."""
    lines = [line for page in pages for line in page.lines]
    settle_sizes(lines)
    strokes = [line.stroke / line.size for line in lines for _ in range(len(line.text)) if line.stroke > 0]
    usual = float(np.median(strokes)) if strokes else 0.0
    plain, bold = fonts.add(Font("OCR", False, False)), fonts.add(Font("OCR-Bold", True, False))
    return [_page(page, [bold if _is_bold(line, usual) else plain for line in page.lines]) for page in pages]


def settle_sizes(lines: Sequence[_Measured]) -> None:
    """Give lines of nearly equal size the same size: that of most of their characters."""
    left = sorted(lines, key=lambda line: line.size)
    while left:
        sizes = np.array([line.size for line in left])
        weights = np.cumsum([0, *(len(line.text) for line in left)])
        low = np.searchsorted(sizes, sizes * (1 - _SAME_SIZE))
        high = np.searchsorted(sizes, sizes * (1 + _SAME_SIZE), side="right")
        best = int(np.argmax(weights[high] - weights[low]))
        first, last = int(low[best]), int(high[best])
        middle = np.searchsorted(weights[first : last + 1], (weights[first] + weights[last]) / 2)
        size = round(float(sizes[min(last - 1, first + max(0, int(middle) - 1))]) * 2) / 2 or 0.5
        for line in left[first:last]:
            line.size = size
        del left[first:last]


def _is_bold(line: _Measured, usual: float) -> bool:
    return usual > 0 and len(line.text) > 2 and line.stroke / line.size > _BOLD * usual


def _upright(image: Image, reader: Reader) -> tuple[list[FoundLine], int]:
    """The lines in the orientation in which they read best."""
    found = reader.read(image)
    tall = sum(np.ptp(line.quad[:, 1]) > 1.5 * np.ptp(line.quad[:, 0]) for line in found)
    if tall > 0.6 * len(found) and len(found) > 2:
        tries = [1, 3]
    elif _trust(found) < 0.8 and len(found) > 2:
        tries = [2]
    else:
        return found, 0
    choices = [(found, 0), *((reader.read(np.ascontiguousarray(np.rot90(image, -turn))), turn) for turn in tries)]
    if tries == [1, 3]:
        choices = choices[1:]
    return max(choices, key=lambda choice: _trust(choice[0]) * len(choice[0]))


def _trust(lines: list[FoundLine]) -> float:
    """Mean score of a character."""
    count = sum(len(line.text) for line in lines)
    return sum(line.score * len(line.text) for line in lines) / max(1, count)


def _skew(lines: list[FoundLine]) -> float:
    """Angle of the text in radians (y down); 0 where it is too small to matter."""
    along = [line.quad[1] - line.quad[0] for line in lines if len(line.text) > 15]
    angle = float(np.median([np.arctan2(y, x) for x, y in along])) if len(along) > 2 else 0.0
    return angle if 0.002 < abs(angle) < 0.2 else 0.0


def _measured(line: FoundLine, quad: Floats, scale: float) -> _Measured:
    left, top, right, bottom = line.ink
    ends = (quad[0] + quad[3]) / 2, (quad[1] + quad[2]) / 2
    upper, lower = float((quad[0, 1] + quad[1, 1]) / 2), float((quad[3, 1] + quad[2, 1]) / 2)
    y0, y1 = (upper + share * (lower - upper) for share in (top, bottom))
    x0, width = float(ends[0][0]), float(ends[1][0] - ends[0][0])
    above, below = _extent(line.text)
    size = max(1.0, (y1 - y0) / (above + below))
    centres = (x0 + line.centres * width) / scale
    return _Measured(
        (x0 + left * width) / scale, (x0 + right * width) / scale,
        (y1 - below * size) / scale, size / scale, line.stroke / scale, line.text, centres,
        (x0 + line.blanks * width) / scale,
    )  # fmt: skip


def _extent(text: str) -> tuple[float, float]:
    """How far the print of these letters reaches above and below the baseline, in font sizes."""
    if len(_WIDE.findall(text)) > 0.2 * len(text):
        # Among few characters, or kana, perhaps none fills its square.
        count = len(_IDEOGRAPH.findall(text))
        above, below = (0.8, 0.09) if count > 2 else (0.77, 0.07) if count else (0.72, 0.06)
        return above, 0.17 if _DEEP.search(text) else below
    above = 0.71 if _TALL.search(text) else 0.47
    below = 0.21 if _DEEP.search(text) else 0.12 if _COMMA.search(text) else 0.0
    return above, below


def _page(page: ReadPage, fonts: list[int]) -> PageChars:
    rows: list[tuple[str, float, float, float, float, int, bool]] = []
    for line, font in zip(page.lines, fonts, strict=True):
        rows += [(*cell[:3], line.base, line.size, font, cell[3]) for cell in _cells(line)]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    x0, x1, base, size = (np.array(columns[i], np.float64) for i in (1, 2, 3, 4))
    return PageChars(
        number=page.number, width=page.width, height=page.height, text=[str(c) for c in columns[0]],
        x0=x0, y0=base - 0.78 * size, x1=x1, y1=base + 0.22 * size, base=base, size=size,
        font=np.array(columns[5], np.int64), gap_before=np.array(columns[6], np.bool_),
        raw_count=len(rows), turn=page.turn,
    )  # fmt: skip


def _cells(line: _Measured) -> list[tuple[str, float, float, bool]]:
    """Character, left and right end, and whether a space is in front.

    Cells of a word touch. They separate where OCR read a space, and where two scripts meet across a blank.
    """
    centres = np.maximum.accumulate(np.clip(line.centres, line.x0, line.x1)).tolist()
    seen = [i for i, character in enumerate(line.text) if not character.isspace()]
    cells: list[tuple[str, float, float, bool]] = []
    left, spaced = line.x0, False
    for i, following in itertools.zip_longest(seen, seen[1:]):
        if following is None:
            cells.append((line.text[i], left, line.x1, spaced))
            break
        said = following > i + 1
        other_script = bool(_WIDE.match(line.text[i])) != bool(_WIDE.match(line.text[following]))
        right = start = (centres[i] + centres[following]) / 2
        if said or other_script:
            least = 0.25 * line.size if said else 0.0
            right, start = _gap(line, centres[i], centres[following], least)
        cells.append((line.text[i], left, max(left, right), spaced))
        left, spaced = max(left, start), said
    return cells


def _gap(line: _Measured, first: float, second: float, least: float) -> tuple[float, float]:
    """The widest blank between two places, widened to at least `least`; without a blank, one halfway."""
    inside = line.blanks[(line.blanks[:, 0] >= first) & (line.blanks[:, 1] <= second)]
    middle = (first + second) / 2
    left, right = inside[np.argmax(inside[:, 1] - inside[:, 0])].tolist() if len(inside) else (middle, middle)
    more = max(0.0, least - (right - left)) / 2
    return left - more, right + more

"""Texts without what copying changes: line ends and hyphens, spaces, punctuation, case, ligatures, width."""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\s*\n\s*(?=[^\W\d_])")
"""A word that a line end broke."""
_END = sys.maxsize
LONGEST_WORD = 40
"""Letters: a text that goes on for longer is of a script without spaces."""


_RUN = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Squeezed:
    """The letters and digits of a text. `runs` are (first letter, place in the text, length) of those that stand
    together."""

    letters: str
    runs: list[tuple[int, int, int]]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The places in the text from letter `start` up to letter `end`, the latter left out."""
        return self._place(start, 0), self._place(end - 1, 1)

    def whole_words(self, start: int, end: int) -> tuple[int, int]:
        """From letter `start` up to `end`, widened to whole words; scripts without spaces have none to widen to."""
        first, last = self._word(start), self._word(end - 1)
        widened = [one if one[1] - one[0] <= LONGEST_WORD else (start, end) for one in (first, last)]
        return widened[0][0], widened[1][1]

    def _word(self, letter: int) -> tuple[int, int]:
        """The first letter of the run that this one is of, and the one after its last."""
        at = bisect_right(self.runs, (letter, _END, 0))
        return self.runs[at - 1][0], self.runs[at][0] if at < len(self.runs) else len(self.letters)

    def _place(self, letter: int, after: int) -> int:
        first, place, length = self.runs[bisect_right(self.runs, (letter, _END, 0)) - 1]
        return place + min(letter - first, length - 1) + after


def squeeze(text: str) -> Squeezed:
    """Letters and digits in small letters; a ligature or full-width letter is what it stands for."""
    letters: list[str] = []
    runs: list[tuple[int, int, int]] = []
    at = 0
    for match in _RUN.finditer(text):
        run = match.group()
        plain = run.lower() if run.isascii() else unicodedata.normalize("NFKC", run).casefold()
        letters.append(plain)
        runs.append((at, match.start(), len(run)))
        at += len(plain)
    return Squeezed("".join(letters), runs)


def unbroken(text: str) -> str:
    """The text with words whole that line ends broke, in one line."""
    return " ".join(_BROKEN.sub("", text).split())

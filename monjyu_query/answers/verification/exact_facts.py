"""What of a sentence stands nowhere in a text, letter by letter: its figures, its names, what it quotes."""

from __future__ import annotations

import re
from functools import cached_property

from monjyu_core.text.language import function_words
from monjyu_query.answers.verification.alignment import normal
from monjyu_query.answers.verification.numbers import OF_UNIT, SMALL, Figure, derived, figures, same_value

NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b(?:[A-Z][a-zA-Z0-9À-ɏ’'-]*[A-Za-z0-9]|[A-Z]{2,}s?)(?![a-zA-Z0-9])"
    r"|(?<![A-Za-z0-9])[A-Z]{2,}[A-Za-z0-9-]*(?![A-Za-z])|(?<![A-Za-z0-9])[A-Za-z]+[A-Z][A-Za-z0-9]*"
    r"|[\u30a1-\u30ffー]{4,}|(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]{2,}(?=[\u3040-\u9fff])"
)
LETTERS = 6
"""Of a name without digits, from which it is looked for across spaces: "paper use" would have a Peru."""
MOST_RECKONED = 12
"""Figures of a text of which two may give a third: of more, nearly any figure could be made."""
_QUOTED = re.compile(r"[\"“«「]([^\"“”«»「」]{4,300})[\"”»」]")
_OF_PLACE = re.compile(r"(?<=\w{3})(?:ish|ese|i?ans?)$")
"""Endings that make of a place what is of it."""
_PARTS = re.compile(r"[\W_]+")


class Facts:
    """A text that sentences are held against, with what it is called."""

    def __init__(self, text: str) -> None:
        self._text = normal(text)
        self._small = self._text.casefold()

    @cached_property
    def _squeezed(self) -> str:
        return _PARTS.sub("", self._small)

    @cached_property
    def _figures(self) -> list[Figure]:
        return figures(self._small)

    def lacks(self, sentence: str) -> list[str]:
        """As the sentence writes them, each once, figures first."""
        said = normal(sentence)
        return list(dict.fromkeys(self.lacks_figures(said) + self.lacks_names(said)))

    def lacks_names(self, said: str) -> list[str]:
        """Names and what is quoted."""
        lost = [one[0] for one in NAME.finditer(said) if not self._has_name(one[0])]
        lost += [one[1] for one in _QUOTED.finditer(said) if _PARTS.sub("", one[1].casefold()) not in self._squeezed]
        return lost

    def lacks_figures(self, sentence: str) -> list[str]:
        return [sentence[one.start : one.end].strip() for one in figures(sentence) if not self._has_figure(one)]

    def _has_figure(self, figure: Figure) -> bool:
        """Small counts in words are often the writer's own ("two studies"), and shares in words are rough."""
        there = self._figures
        return (
            (not figure.exact and (figure.value <= SMALL or figure.percent))
            or any(same_value(figure, one) for one in there)
            or (len(there) <= MOST_RECKONED and derived(figure, there))
        )

    def _has_name(self, written: str) -> bool:
        name = _OF_PLACE.sub("", written.casefold().removesuffix("'s").rstrip("s"))
        known = len(name) < 2 or name in OF_UNIT or self._is_written(written, name)
        squeezed = _PARTS.sub("", name)
        telling = len(squeezed) >= LETTERS or any(letter.isdigit() for letter in squeezed)
        return known or (telling and squeezed in self._squeezed) or self._has_initials(name)

    def _is_written(self, written: str, name: str) -> bool:
        """Short names in capitals must have them in the text, or be words there: "permitted" has no MIT."""
        if len(name) >= LETTERS or not (written.isupper() and written.isascii()):
            return name in self._small
        return written in self._text or re.search(rf"\b{re.escape(name)}s?\b", self._small) is not None

    def _has_initials(self, name: str) -> bool:
        """Whether words that follow each other begin with the letters of the name, none such as "in" and "the"."""
        if not 2 < len(name) <= 6 or not name.isalpha() or not name.isascii():
            return False
        words = r"[\s-]+(?:of |and |for )?".join(rf"({letter}\w*)" for letter in name)
        runs = re.finditer(rf"\b(?={words})", self._small)
        return any(function_words("en").isdisjoint(run.groups()) for run in runs)

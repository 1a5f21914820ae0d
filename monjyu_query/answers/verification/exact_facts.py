"""Finds the figures, names and quotations of a sentence that are missing from a text."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from monjyu_core.language.packs import cues
from monjyu_core.text.language import function_words
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.verification.numbers import OF_UNIT, SMALL, Figure, derived, figures, same_value

# The content words of a text with their places, stemmed so that forms of one word agree.
WORD = re.compile(cues("exact_facts.word"))


def word_list(name: str) -> list[str]:
    """The lines of a file in this folder, without comments."""
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


STOP = frozenset(" ".join(word_list("stop_words_en.txt")).split())
_SUFFIX = re.compile(
    r"(?:ational|isations?|izations?|isation|ization|ations?|ating|ated|ates|ate|ements?|ments?|ities|ity|ingly|edly|ings?"
    r"|ness|fully|ful|ively|ives?|ions?|ically|ical|ally|als?|ies|ied|ers?|ors?|ed|es|ly|ic|s|e|y)$"
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word without its ending, so that most forms of one word agree."""
    word = word.casefold().replace("’", "'").removesuffix("'s").strip("'.,")
    if len(word) > 4 and word.isascii():
        cut = _SUFFIX.sub("", word)
        word = cut if len(cut) >= 3 else word
    return word


@dataclass(frozen=True)
class Words:
    """The words of a text in order, in lower case, with their positions."""

    text: str

    @cached_property
    def found(self) -> list[re.Match[str]]:
        return list(WORD.finditer(self.text))

    @cached_property
    def plain(self) -> list[str]:
        return [match.group().casefold() for match in self.found]

    @cached_property
    def wide(self) -> bool:
        return count_wide(self.text) > len(self.text) / 4

    @cached_property
    def content(self) -> list[tuple[int, str]]:
        """(position in `plain`, stem) of the content words; ideographs and katakana as pairs of letters."""
        stems: list[tuple[int, str]] = []
        for place, word in enumerate(self.plain):
            if word in STOP or word in ",;:" or word[0].isdigit():
                continue
            if count_wide(word):
                if not "\u3041" <= word[0] <= "\u309f":
                    stems += [(place, word[at : at + 2]) for at in range(max(1, len(word) - 1))]
            elif len(word) > 1 or word.isupper():
                stems.append((place, stem(word)))
        return stems


def normal(text: str) -> str:
    """The text in Unicode form NFKC, with plain dashes and quotation marks and single spaces."""
    text = unicodedata.normalize("NFKC", text)
    for marks, plain in (("‐‑‒–—−", "-"), ("’‘", "'"), ("“”", '"')):
        for mark in marks:
            text = text.replace(mark, plain)
    return " ".join(text.split())


NAME = re.compile(cues("exact_facts.name"))
LETTERS = 6
"""The minimum number of letters of a name without digits that is searched across spaces: "paper use" would contain
Peru."""
MOST_RECKONED = 12
"""The maximum number of figures in a text for which sums and ratios of two are accepted: from more figures, nearly any
figure could be derived."""
_QUOTED = re.compile(r"[\"“«「]([^\"“”«»「」]{4,300})[\"”»」]")
_OF_PLACE = re.compile(r"(?<=\w{3})(?:ish|ese|i?ans?)$")
"""Endings that turn a place into an adjective."""
_PARTS = re.compile(r"[\W_]+")


class Facts:
    """A source text against which the figures, names and quotations of sentences are checked."""

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
        """The figures, names and quotations that the text lacks, as the sentence writes them, each once, figures
        first."""
        said = normal(sentence)
        return list(dict.fromkeys(self.lacks_figures(said) + self.lacks_names(said)))

    def lacks_names(self, said: str) -> list[str]:
        """The names and quotations that the text lacks."""
        lost = [one[0] for one in NAME.finditer(said) if not self._has_name(one[0])]
        lost += [one[1] for one in _QUOTED.finditer(said) if _PARTS.sub("", one[1].casefold()) not in self._squeezed]
        return lost

    def lacks_figures(self, sentence: str) -> list[str]:
        return [sentence[one.start : one.end].strip() for one in figures(sentence) if not self._has_figure(one)]

    def _has_figure(self, figure: Figure) -> bool:
        """Whether the text has the figure. Small counts in words are accepted because they are often the writer's ("two
        studies"), as are shares in words, which are rough."""
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
        """Whether the text has the name. Short names in capitals must be capitalised in the text, or be words there:
        "permitted" has no MIT."""
        if len(name) >= LETTERS or not (written.isupper() and written.isascii()):
            return name in self._small
        return written in self._text or re.search(rf"\b{re.escape(name)}s?\b", self._small) is not None

    def _has_initials(self, name: str) -> bool:
        """Whether consecutive words begin with the letters of the name, without words such as "in" and "the"."""
        if not 2 < len(name) <= 6 or not name.isalpha() or not name.isascii():
            return False
        words = r"[\s-]+(?:of |and |for )?".join(rf"({letter}\w*)" for letter in name)
        runs = re.finditer(rf"\b(?={words})", self._small)
        return any(function_words("en").isdisjoint(run.groups()) for run in runs)

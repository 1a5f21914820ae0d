"""What else a paper calls the things it speaks of: the abbreviations that it defines, former and other names.

A statement is read with its abbreviations written out, so that "RP" of one paper is "retrieval practice" of another.
What a name stands for is read from the paper's own text alone: so a statement stays as it is whatever else is indexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from monjyu_assets.levels.phrases.acronyms import agreed, definitions

NAME = re.compile(r"\b(?:[A-Z]{2,}[A-Za-z0-9-]*|[A-Z]?[a-z]+[A-Z]\w*|[A-Za-z]+-?\d[\w.-]*)\b")
_STATISTICS_WORDS = "CI SD SE OR HR RR IQR ANOVA R0 CFR AUC ROC PPV NPV BMI II III IV WHO CDC FDA NIH USA US UK EU"
STATISTICS = frozenset(_STATISTICS_WORDS.split())
"""What looks like a name and is not what a statement is about: statistics, those who report them."""
MOST_NAMES, MOST_LONG, MOST_SHORT = 12, 60, 60
"""Names of a statement; characters of a long form that is written out, and abbreviations of a paper."""
_RENAMED = re.compile(
    r"\b(?:(?:re)?named|also (?:known|called|termed|named)|formerly|previous(?:ly)?(?: name)?|now (?:known|called))\b"
)
_OF_STATISTICS = re.compile(
    r"\b(?:interval|deviation|standard error|ratio|range|variance|organi[sz]ation)\b", re.IGNORECASE
)
_AROUND = 80
_BINOMIAL = re.compile(r"\b([A-Z])([a-z]{3,}) ([a-z]{4,})\b")
_SHORT_BINOMIAL = re.compile(r"\b([A-Z])\. ?([a-z]{4,})\b")
STATISTIC = re.compile(
    r"\s?[(\[](?=[^()\[\]]*\d)(?![^()\[\]]*\b(?:rate|period|mortality|prevalence|incidence|fatality|time|duration"
    r"|interval of|number)\b,?:? (?:of |was |is )?[<>≈~]?\d)[^()\[\]]*(?:\([^()]*\)[^()\[\]]*)?[)\]]"
)
"""What stands in brackets and has digits: spreads, tests, ratios. A measure with its value is none."""
_MARKS = re.compile(r"(?<!\w)[*_]{1,2}(?=\w)|(?<=[\w.])[*_]{1,2}(?!\w)")


@dataclass(frozen=True)
class Names:
    """Of one paper: `long` by abbreviation, `others` by name the further names of the same, `genus` by abbreviated
    species ("S. boulardii") the whole name."""

    long: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, frozenset[str]] = field(default_factory=dict)
    genus: Mapping[str, str] = field(default_factory=dict)

    def of(self, statement: str) -> tuple[str, ...]:
        """Names, abbreviations and codes in a statement, each with what else its paper calls it."""
        own = names_in(statement)
        more = {other for name in own for other in self.others.get(name, ())}
        more |= {self.long[name].casefold() for name in own if name in self.long}
        return (*own, *sorted(more - set(own)))[: 2 * MOST_NAMES]

    def written_out(self, statement: str) -> str:
        """The statement without statistics in brackets, its abbreviations as what they stand for."""
        text = STATISTIC.sub("", _MARKS.sub("", statement))
        if self.genus:
            text = _SHORT_BINOMIAL.sub(lambda found: self.genus.get(f"{found[1]}. {found[2]}", found[0]), text)
        if self.long:
            text = self._shorts().sub(self._long_form, text)
        return text[:1].upper() + text[1:]

    def _shorts(self) -> re.Pattern[str]:
        shorts = "|".join(re.escape(short) for short in sorted(self.long, key=lambda one: (-len(one), one)))
        return re.compile(
            rf"(?P<defined>\s?\((?:{shorts})s?\))|(?<![\w%-])(?<!% )(?P<short>{shorts})(?P<many>s)?(?![\w-])"
        )

    def _long_form(self, found: re.Match[str]) -> str:
        if found["defined"]:
            return ""
        long = self.long[found["short"]]
        return long if long.endswith("s") else long + (found["many"] or "")


def names_of_paper(title: str, texts: Sequence[str]) -> Names:
    """What a paper of this title and these texts calls things."""
    plain = [_MARKS.sub("", text) for text in (title, *texts)]
    defined = agreed(pair for text in plain for pair in definitions(text))
    long = {
        short: whole for short, words in defined.items() if (whole := _whole(words, plain)) and _useful(short, whole)
    }
    others: dict[str, set[str]] = {}
    for one, other in (pair for text in plain for pair in _renamed(text)):
        group = {one, other} | others.get(one, set()) | others.get(other, set())
        for name in group:
            others[name] = group
    return Names(
        dict(list(long.items())[:MOST_SHORT]),
        {name: frozenset(group - {name}) for name, group in others.items()},
        _genera(plain),
    )


def _whole(long: str, texts: Sequence[str]) -> str:
    """With the first half of a word with a hyphen ("antibiotic-associated"); in small letters where only its place in a
    sentence gave it a capital."""
    half = re.compile(rf"[^\W\d_][\w-]*-{re.escape(long)}")
    whole = next((found[0] for text in texts if (found := half.search(text))), long)
    first, _, rest = whole.partition(" ")
    return whole if rest[:1].isupper() or not first[1:].islower() else whole[:1].lower() + whole[1:]


def _useful(short: str, long: str) -> bool:
    return (
        len(long) <= MOST_LONG and not any(char.isdigit() for char in short + long) and not _OF_STATISTICS.search(long)
    )


def names_in(text: str) -> tuple[str, ...]:
    """Names, abbreviations and codes: what tells apart statements that share their common words."""
    return tuple(sorted({name.rstrip(".-") for name in NAME.findall(text)} - STATISTICS)[:MOST_NAMES])


def _renamed(text: str) -> Iterable[tuple[str, str]]:
    """Pairs of names around "formerly", "named as", "also known as"."""
    for found in _RENAMED.finditer(text):
        before = NAME.findall(text[max(0, found.start() - _AROUND) : found.start()])
        after = NAME.findall(text[found.end() : found.end() + _AROUND])
        if before and after and not {before[-1], after[0]} & STATISTICS and before[-1] != after[0]:
            yield before[-1].rstrip(".-"), after[0].rstrip(".-")


def _genera(texts: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        for name in _BINOMIAL.finditer(text):
            found.setdefault(f"{name[1]}. {name[3]}", f"{name[1]}{name[2]} {name[3]}")
    return found

"""The entries of a reference list by what citations call them."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from monjyu_assets.parsing.bibliography.dates import CITED_YEAR
from monjyu_assets.parsing.bibliography.names import CITED_PARTICLE, UPPER, family_first
from monjyu_assets.parsing.bibliography.references import label_of
from monjyu_core.paper import Reference

_MOST_OF_A_NAME = 100
"""Works of one first author and year that can be distinguished."""


class ReferenceIndex:
    """References by number, by printed label, by surname and year."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self.order = {reference.ref_id: i for i, reference in enumerate(references)}
        self.keys = {reference.ref_id: reference.ref_id for reference in references if not reference.ref_id.isdigit()}
        self.labels: dict[str, str] = {}
        self.numbers: dict[int, list[str]] = {}
        self._surnames: list[set[str]] = []
        self._first: dict[tuple[str, int | None], list[int]] = defaultdict(list)
        for i, reference in enumerate(references):
            label = label_of(reference.raw_text)
            if label and not label.isdigit():
                self.labels[label] = reference.ref_id
            printed = label if label and label.isdigit() else reference.ref_id
            entry = re.fullmatch(r"(\d+)-\d+", reference.ref_id)
            if printed.isdigit():
                self.numbers.setdefault(int(printed), [reference.ref_id])
            elif entry and (works := self.numbers.get(int(entry[1]))):  # another work of one entry
                works.append(reference.ref_id)
            surnames = _surnames(reference)
            self._surnames.append(set(surnames))
            for name in (*surnames[:1], *_beginnings(reference), _lead(reference), _first_word(reference)):
                same = self._first[name, reference.year]
                if name and len(same) < _MOST_OF_A_NAME and same[-1:] != [i]:
                    same.append(i)
            self.order[reference.ref_id] = i
        self._references = references
        self._suffixed = _suffixes(references)

    def by_numbers(self, text: str) -> list[str]:
        """Entries of "3", "1-3, 5"; nothing if one of the numbers is not in the list."""
        numbers: list[int] = []
        for item in re.split(r"\s*[,;\u3001]\s*", text.strip()):
            ends = [int(value) for value in re.findall(r"\d+", item)]
            if len(ends) == 2 and not 0 < ends[1] - ends[0] < 60:
                return []
            numbers += range(ends[0], ends[-1] + 1)
        if any(number not in self.numbers for number in numbers):
            return []
        return [ref_id for number in numbers for ref_id in self.numbers[number]]

    def by_names(self, names: str, years: str) -> list[str]:
        """Entries whose first author is the first surname named, of these years; other names must be authors too."""
        words = [_folded(word) for word in re.findall(r"[\w'\u2019-]+", names)]
        found: list[str] = []
        for year in _expanded_years(years):
            best: tuple[int, int, str] | None = None
            for place, word in enumerate(words):
                for reference in self._of(word, year):
                    others = sum(other in self._surnames[reference] for other in words)
                    score = (others, -place, self._references[reference].ref_id)
                    if best is None or score[:2] > best[:2]:
                        best = score
            if best is not None and best[2] not in found:
                found.append(best[2])
        return found

    def _of(self, name: str, year: str) -> list[int]:
        """Entries by their first author and their year as a citation gives it: 2019, 2019b, "in press"."""
        if not year[:4].isdigit():
            return self._first.get((name, None), [])
        letters = {"", year[4:]} if year[4:] else None
        same = self._first.get((name, int(year[:4])), [])
        return [i for i in same if letters is None or self._suffixed.get(self._references[i].ref_id, "") in letters]


def _beginnings(reference: Reference) -> list[str]:
    """What a first author in Chinese, Japanese or Korean letters may be cited by: the family name has no mark."""
    name = reference.authors[0].replace(" ", "") if reference.authors and family_first(reference.authors[0]) else ""
    return [name[:end] for end in range(len(name), 0, -1)]


def _first_word(reference: Reference) -> str:
    """An organisation, or a surname of several words, is cited by its first word."""
    first = reference.authors[0].split() if reference.authors else []
    return _folded(first[0]) if len(first) > 2 and len(first[0]) > 2 and "." not in reference.authors[0] else ""


def _expanded_years(text: str) -> list[str]:
    """ "2019a, b, 2020" as 2019a, 2019b, 2020."""
    years: list[str] = []
    for part in re.findall(rf"{CITED_YEAR}|\b[a-z]\b", text):
        if len(part) == 1:
            if years:
                years.append(years[-1][:4] + part)
        else:
            years.append(part)
    return years


def _suffixes(references: Sequence[Reference]) -> dict[str, str]:
    """The letter after the year, "a" of 2019a, where the entry prints one."""
    suffixes: dict[str, str] = {}
    for reference in references:
        match = re.search(rf"\b{reference.year}([a-z])\b", reference.raw_text) if reference.year else None
        if match:
            suffixes[reference.ref_id] = match.group(1)
    return suffixes


def _surnames(reference: Reference) -> list[str]:
    """Folded last words of the authors' names; without authors the first word printed."""
    surnames = [_folded(name.split()[-1]) for name in reference.authors if name.split()]
    if not surnames:
        words = re.findall(r"[^\W\d_][\w'\u2019-]+", reference.raw_text)
        surnames = [_folded(words[0])] if words else []
    return surnames


def _lead(reference: Reference) -> str:
    """The first name an entry prints, without initials and label: not every list of authors can be split in full."""
    text = re.sub(r"^\s*(?:\[[^\]]{0,20}\]|\d{1,3}\.)\s*", "", reference.raw_text[:120])
    match = re.match(rf"(?:{UPPER}\.[\s-]?){{0,4}}(?:{CITED_PARTICLE}\s){{0,3}}({UPPER}[\w'\u2019-]{{1,40}})", text)
    return _folded(match.group(1)) if match else ""


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word).casefold().replace("\u2019", "'").removesuffix("'s")
    return "".join(c for c in decomposed if c.isalnum() or c == "-").strip("-")

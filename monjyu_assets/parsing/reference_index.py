"""The entries of a reference list by what citations call them."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from monjyu_assets.parsing.references import label_of
from monjyu_core.paper import Reference

YEAR = r"(?:1[6-9]|20)\d\d[a-z]?|n\.\s?d\.|in press|forthcoming"
UPPER = "[^\\W\\d_a-z\u00df-\u00f6\u00f8-\u00ff]"
PARTICLE = r"(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|zu|al|el|Van|Von|De|Der|Den|Du|La|Le|Di|Da)"


class ReferenceIndex:
    """References by number, by printed label, by surname and year."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self.order = {reference.ref_id: i for i, reference in enumerate(references)}
        self.keys = {reference.ref_id: reference.ref_id for reference in references if not reference.ref_id.isdigit()}
        self.labels: dict[str, str] = {}
        self.numbers: dict[int, str] = {}
        self._people: dict[str, list[tuple[Reference, int]]] = defaultdict(list)
        for i, reference in enumerate(references):
            label = label_of(reference.raw_text)
            if label and not label.isdigit():
                self.labels[label] = reference.ref_id
            printed = label if label and label.isdigit() else reference.ref_id
            if printed.isdigit():
                self.numbers.setdefault(int(printed), reference.ref_id)
            for place, surname in enumerate(_surnames(reference)):
                self._people[surname].append((reference, place))
            lead = _lead(reference)
            if lead and (reference, 0) not in self._people[lead]:
                self._people[lead].append((reference, 0))
            first = reference.authors[0].split() if reference.authors else []
            if len(first) > 2 and len(first[0]) > 2 and "." not in reference.authors[0]:
                # An organisation, or a surname of several words: cited by its first word.
                self._people[_folded(first[0])].append((reference, 0))
            self.order[reference.ref_id] = i
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
        return [self.numbers[number] for number in numbers]

    def by_names(self, names: str, years: str) -> list[str]:
        """Entries whose first author is the first surname named, of these years; other names must be authors too."""
        words = [_folded(word) for word in re.findall(r"[\w'\u2019-]+", names)]
        found: list[str] = []
        for year in _expanded_years(years):
            best: tuple[int, int, int, str] | None = None
            for place, word in enumerate(words):
                for reference, rank in self._people.get(word, ()):
                    if not self._same_year(reference, year):
                        continue
                    others = sum(1 for other in words if other in {*_surnames(reference)})
                    score = (-rank, others, -place, reference.ref_id)
                    if rank == 0 and (best is None or score[:3] > best[:3]):
                        best = score
            if best is not None and best[3] not in found:
                found.append(best[3])
        return found

    def _same_year(self, reference: Reference, year: str) -> bool:
        if not year[:4].isdigit():
            return reference.year is None
        if reference.year != int(year[:4]):
            return False
        suffix = self._suffixed.get(reference.ref_id, "")
        return not year[4:] or not suffix or suffix == year[4:]


def _expanded_years(text: str) -> list[str]:
    """ "2019a, b, 2020" as 2019a, 2019b, 2020."""
    years: list[str] = []
    for part in re.findall(rf"{YEAR}|\b[a-z]\b", text):
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
    """The first name an entry prints, initials and a label aside: a list of authors may not come apart in full."""
    text = re.sub(r"^\s*(?:\[[^\]]{0,20}\]|\d{1,3}\.)\s*", "", reference.raw_text[:120])
    match = re.match(rf"(?:{UPPER}\.[\s-]?){{0,4}}(?:{PARTICLE}\s){{0,3}}({UPPER}[\w'\u2019-]{{1,40}})", text)
    return _folded(match.group(1)) if match else ""


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word).casefold().replace("\u2019", "'").removesuffix("'s")
    return "".join(c for c in decomposed if c.isalnum() or c == "-").strip("-")

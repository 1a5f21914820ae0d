"""Citations in the text, linked to entries of the reference list: numbered, raised and author-year."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from monjyu_assets.parsing.references import label_of
from monjyu_core.paper import InlineCitation, Reference, Section

_RANGE = r"[\u2013\u2014\u2012\u2010-]"
_ITEM = rf"\d{{1,3}}(?:\s*{_RANGE}\s*\d{{1,3}})?"
_NUMBERS = rf"{_ITEM}(?:\s*[,;\u3001]\s*{_ITEM})*"
_BRACKETED = re.compile(rf"\[\s*({_NUMBERS})\s*(?:,\s*(?:p|pp|Sec|Thm|Ch|Fig)[^\]]{{0,30}})?\]")
_ROUND = re.compile(rf"\(\s*({_NUMBERS})\s*\)")
_LABELS = re.compile(r"\[((?:[A-Za-z+]{2,8}\d{0,4}[a-z]?)(?:\s*[,;]\s*[A-Za-z+]{2,8}\d{0,4}[a-z]?)*)\]")
_KEY = re.compile(r"\[?-?@([\w:.#$%&+?<>~/-]*\w)")
_YEAR = r"(?:1[6-9]|20)\d\d[a-z]?|n\.\s?d\.|in press|forthcoming"
_UPPER = "[^\\W\\d_a-z\u00df-\u00f6\u00f8-\u00ff]"
_PARTICLE = r"(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|zu|al|el|Van|Von|De|Der|Den|Du|La|Le|Di|Da)"
_SURNAME = (
    rf"(?:{_PARTICLE}[\s-]){{0,3}}{_UPPER}[\w'\u2019.-]{{0,30}}[\w'\u2019]"
    rf"(?:\s(?:{_PARTICLE}\s){{0,2}}{_UPPER}[\w'\u2019-]{{1,30}}){{0,2}}(?![\w'\u2019])"
)
_NARRATIVE = re.compile(
    rf"(?<![\w'\u2019.-])(?P<name>{_SURNAME})(?:(?:,\s{{1,2}}{_SURNAME}){{0,12}},?\s+(?:and|&|et)\s+{_SURNAME}|\s+et\s+al\.?|\s+and\s+(?:colleagues|others))?"
    rf"(?:['\u2019]s?)?,?\s*[(\[]\s*(?P<years>(?:{_YEAR})(?:\s*[,;]\s*(?:(?:{_YEAR})|[a-z]\b))*)(?:,?\s*(?:pp?\.|ch\.|Sec)[^()]{{0,20}})?\s*[)\]]"
)
_PARENTHESES = re.compile(rf"[(\[](?P<inner>[^()\[\]]{{2,600}}?\b(?:{_YEAR})[^()\[\]]{{0,60}})[)\]]")
_NAMED_YEARS = re.compile(
    rf"(?P<name>{_UPPER}[^\d;]{{1,100}}?|{_PARTICLE}\s{_UPPER}[^\d;]{{1,100}}?)[\s,(]+(?P<years>(?:{_YEAR})(?:\s*[,&]\s*(?:and\s+)?(?:(?:{_YEAR})|[a-z]\b))*)"
)


@dataclass(frozen=True)
class Mention:
    """One citation in a text: the reference and where its marker begins."""

    ref_id: str
    position: int


RaisedNumbers = Callable[[int], list[tuple[int, str]]]
"""For the index of a section: position and text of raised numbers, where the source tells what is raised."""


def link_citations(
    sections: Sequence[Section], references: Sequence[Reference], raised: RaisedNumbers | None = None
) -> list[InlineCitation]:
    """Every citation of every section that names an entry of `references`, in order of place.

    The style (numbers in brackets, raised numbers, numbers in round brackets, author and year) is the one that links
    most. `context` is the sentence that holds the marker.
    """
    if not references:
        return []
    index = _ReferenceIndex(references)
    raised_of = raised or (lambda number: [])
    found = [_section_mentions(section.text, index, raised_of(number)) for number, section in enumerate(sections)]
    labelled = sum((label_of(reference.raw_text) or "").isdigit() for reference in references) > 0.5 * len(references)
    style = _main_styles(found, labelled)
    result: list[InlineCitation] = []
    for section, by_style in zip(sections, found, strict=True):
        mentions = sorted(
            {mention for name in style for mention in by_style[name]}, key=lambda m: (m.position, index.order[m.ref_id])
        )
        result += [
            InlineCitation(
                ref_id=m.ref_id, context=_context(section, m.position), section=section.heading, position=m.position
            )
            for m in mentions
        ]
    return result


def _main_styles(found: list[dict[str, list[Mention]]], labelled: bool) -> list[str]:
    """The styles of a paper by how many markers link; `labelled` tells that its list prints numbers."""
    names = ("bracketed", "raised", "round", "named", "keys")
    totals = {name: sum(len({mention.position for mention in by[name]}) for by in found) for name in names}
    numbered = max(("bracketed", "raised", "round"), key=lambda name: totals[name])
    if not labelled and totals["named"] > totals[numbered]:
        return ["named", "keys"]
    if totals["named"] >= 2 * totals[numbered] or totals["keys"]:
        return ["named", "keys"]
    if totals[numbered] >= 2 * totals["named"] or totals[numbered] > 10:
        # "(3)" counts things and equations as well; it is a style only where it is the only one.
        return [numbered] if numbered != "round" or totals["round"] >= 5 else []
    return ["named", numbered] if numbered != "round" else ["named"]


def _section_mentions(text: str, index: _ReferenceIndex, raised: list[tuple[int, str]]) -> dict[str, list[Mention]]:
    return {
        "bracketed": [
            *_numbered(text, _BRACKETED, index),
            *_labelled(text, index),
        ],
        "round": list(_numbered(text, _ROUND, index)),
        "raised": [
            Mention(ref_id, position)
            for position, numbers in raised
            if re.fullmatch(_NUMBERS, numbers)
            for ref_id in index.by_numbers(numbers)
        ],
        "named": list(_named(text, index)),
        "keys": [
            Mention(index.keys[match.group(1)], match.start())
            for match in _KEY.finditer(text)
            if match.group(1) in index.keys
        ],
    }


def _numbered(text: str, pattern: re.Pattern[str], index: _ReferenceIndex) -> Iterator[Mention]:
    for match in pattern.finditer(text):
        for ref_id in index.by_numbers(match.group(1)):
            yield Mention(ref_id, match.start())


def _labelled(text: str, index: _ReferenceIndex) -> Iterator[Mention]:
    for match in _LABELS.finditer(text):
        for label in re.split(r"\s*[,;]\s*", match.group(1)):
            if label in index.labels:
                yield Mention(index.labels[label], match.start())


def _named(text: str, index: _ReferenceIndex) -> Iterator[Mention]:
    taken: list[tuple[int, int]] = []
    for match in _PARENTHESES.finditer(text):
        offset = match.start("inner")
        for part in re.finditer(r"[^;]+", match.group("inner")):
            named = _NAMED_YEARS.search(part.group())
            position = offset + part.start()
            while named:
                for ref_id in index.by_names(named.group("name"), named.group("years")):
                    yield Mention(ref_id, position + named.start())
                    taken.append(match.span())
                named = _NAMED_YEARS.search(part.group(), named.end())
    for match in _NARRATIVE.finditer(text):
        if any(a <= match.start() < b for a, b in taken):
            continue
        names = match.group()[: match.start("years") - match.start()]
        for ref_id in index.by_names(names, match.group("years")):
            yield Mention(ref_id, match.start())


def _context(section: Section, position: int) -> str:
    for sentence in section.sentences:
        if sentence.start <= position < sentence.end:
            return sentence.text
    return section.text[max(0, position - 150) : position + 150].strip()


class _ReferenceIndex:
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
    for part in re.findall(rf"{_YEAR}|\b[a-z]\b", text):
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
    match = re.match(rf"(?:{_UPPER}\.[\s-]?){{0,4}}(?:{_PARTICLE}\s){{0,3}}({_UPPER}[\w'\u2019-]{{1,40}})", text)
    return _folded(match.group(1)) if match else ""


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word).casefold().replace("\u2019", "'").removesuffix("'s")
    return "".join(c for c in decomposed if c.isalnum() or c == "-").strip("-")

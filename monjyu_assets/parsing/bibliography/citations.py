"""Links citations in the text to entries of the reference list: numbered, raised and author-year."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from monjyu_assets.parsing.bibliography.dates import CITED_YEAR
from monjyu_assets.parsing.bibliography.names import AND_WORD, CITED_PARTICLE, UPPER, family_first
from monjyu_assets.parsing.bibliography.references import CLOSED, OPENED, label_of
from monjyu_core.language.packs import also
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import InlineCitation, Reference, Section

# The entries of a reference list by the names and numbers in citations.
_MOST_OF_A_NAME = 100
"""The maximum number of works of one first author and year that are distinguished."""


class ReferenceIndex:
    """Finds references by number, by printed label, or by surname and year."""

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
            elif entry and (works := self.numbers.get(int(entry[1]))):  # a further work of one entry
                works.append(reference.ref_id)
            surnames = _surnames(reference)
            self._surnames.append(set(surnames))
            for name in (*surnames[:1], *_beginnings(reference), _lead(reference), _first_word(reference)):
                same = self._first[name, reference.year]
                if name and len(same) < _MOST_OF_A_NAME and same[-1:] != [i]:
                    same.append(i)
        self._references = references
        self._suffixed = _suffixes(references)

    def by_numbers(self, text: str) -> list[str]:
        """The entries of "3", "1-3, 5"; none if one of the numbers is not in the list."""
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
        """Return for each of `years` the entry whose first author is in `names`: that with most authors in `names`,
        then that whose first author is named first."""
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
        """The indices of entries by first author and the year as cited: 2019, 2019b, "in press"."""
        if not year[:4].isdigit():
            return self._first.get((name, None), [])
        letters = {"", year[4:]} if year[4:] else None
        same = self._first.get((name, int(year[:4])), [])
        return [i for i in same if letters is None or self._suffixed.get(self._references[i].ref_id, "") in letters]


def _beginnings(reference: Reference) -> list[str]:
    """The forms in which a first author in Chinese, Japanese or Korean letters may be cited, because the family name is
    not marked."""
    name = reference.authors[0].replace(" ", "") if reference.authors and family_first(reference.authors[0]) else ""
    return [name[:end] for end in range(len(name), 0, -1)]


def _first_word(reference: Reference) -> str:
    """The first word, by which an organisation or a surname of several words is cited."""
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
    """The letter after the year, "a" of 2019a, if the entry prints one."""
    suffixes: dict[str, str] = {}
    for reference in references:
        match = re.search(rf"\b{reference.year}([a-z])\b", reference.raw_text) if reference.year else None
        if match:
            suffixes[reference.ref_id] = match.group(1)
    return suffixes


def _surnames(reference: Reference) -> list[str]:
    """Folded last words of the authors' names; without authors the first printed word."""
    surnames = [_folded(name.split()[-1]) for name in reference.authors if name.split()]
    if not surnames:
        words = re.findall(r"[^\W\d_][\w'\u2019-]+", reference.raw_text)
        surnames = [_folded(words[0])] if words else []
    return surnames


def _lead(reference: Reference) -> str:
    """The first printed name, without initials and label, because not every list of authors can be split completely."""
    text = re.sub(r"^\s*(?:\[[^\]]{0,20}\]|\d{1,3}\.)\s*", "", reference.raw_text[:120])
    match = re.match(rf"(?:{UPPER}\.[\s-]?){{0,4}}(?:{CITED_PARTICLE}\s){{0,3}}({UPPER}[\w'\u2019-]{{1,40}})", text)
    return _folded(match.group(1)) if match else ""


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word).casefold().replace("\u2019", "'").removesuffix("'s")
    return "".join(c for c in decomposed if c.isalnum() or c == "-").strip("-")


_RANGE = r"[\u2013\u2014\u2012\u2010-]"
_ITEM = rf"\d{{1,3}}(?:\s*{_RANGE}\s*\d{{1,3}})?"
_NUMBERS = rf"{_ITEM}(?:\s*[,;\u3001]\s*{_ITEM})*"
_BRACKETED = re.compile(rf"[\[\uff3b]\s*({_NUMBERS})\s*(?:,\s*(?:p|pp|Sec|Thm|Ch|Fig)[^\]]{{0,30}})?[\]\uff3d]")
_AS_LISTED = re.compile(rf"{OPENED}\s*({_NUMBERS})\s*{CLOSED}")
"""Numbers in other brackets, which are citations only if the list has them as well."""
_LISTED_IN_OTHERS = re.compile(rf"\s*(?![\[\uff3b]){OPENED}\s*\d{{1,3}}\s*{CLOSED}")
_ROUND = re.compile(rf"\(\s*({_NUMBERS})\s*\)")
_LABELS = re.compile(r"\[((?:[A-Za-z+]{2,8}\d{0,4}[a-z]?)(?:\s*[,;]\s*[A-Za-z+]{2,8}\d{0,4}[a-z]?)*)\]")
_KEY = re.compile(r"\[?-?@([\w:.#$%&+?<>~/-]*\w)")
_SURNAME = (
    rf"(?:{CITED_PARTICLE}[\s-]){{0,3}}{UPPER}[\w'\u2019.-]{{0,30}}[\w'\u2019]"
    rf"(?:\s(?:{CITED_PARTICLE}\s){{0,2}}{UPPER}[\w'\u2019-]{{1,30}}){{0,2}}(?![\w'\u2019])"
)
_OTHERS = f"(?i:{alternatives('names.and_others')})"
_NARRATIVE = re.compile(
    rf"(?<![\w'\u2019.-])(?P<name>{_SURNAME})(?:(?:,\s{{1,2}}{_SURNAME}){{0,12}},?\s+(?:{AND_WORD}|&|[ye])\s+{_SURNAME}|,?\s+{_OTHERS}\.?)?"
    rf"(?:['\u2019]s?)?,?\s*[(\[]\s*(?P<years>(?:{CITED_YEAR})(?:\s*[,;]\s*(?:(?:{CITED_YEAR})|[a-z]\b))*)(?:,?\s*(?:pp?\.|ch\.|Sec)[^()]{{0,20}})?\s*[)\]]"
)
_CJK = r"[\u3005\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3]"
_EAST_ASIAN = re.compile(
    rf"(?P<name>{_CJK}{{1,12}}?)(?:・{_CJK}{{1,6}})?\s?(?:{_OTHERS}{also('citations.others')})?\s?[(\uff08]"
    rf"(?P<years>(?:{CITED_YEAR})(?:\s*[,\uff0c\u3001]\s*(?:{CITED_YEAR}))*)[)\uff09]"
)
"""Citations in scripts without spaces, in which no space marks the beginning of a name."""
_PARENTHESES = re.compile(
    rf"[(\[\uff08](?P<inner>[^()\[\]\uff08\uff09]{{2,600}}?\b(?:{CITED_YEAR})[^()\[\]\uff08\uff09]{{0,60}})[)\]\uff09]"
)
_PART = re.compile(rf"(?:{UPPER}[\w'\u2019-]+[;\uff1b]\s){{0,4}}[^;\uff1b]+")
"""Names and years up to a semicolon; Brazilian papers also print one between the names (SILVA; SOUZA, 2001)."""
_NAMED_YEARS = re.compile(
    rf"(?P<name>(?:{UPPER}[\w'\u2019-]+;\s){{0,4}}{UPPER}[^\d;]{{1,100}}?|{CITED_PARTICLE}\s{UPPER}[^\d;]{{1,100}}?)[\s,(\uff0c\uff08]+(?P<years>(?:{CITED_YEAR})(?:\s*[,&]\s*(?:and\s+)?(?:(?:{CITED_YEAR})|[a-z]\b))*)"
)


@dataclass(frozen=True)
class Mention:
    """One citation in a text: its reference and the start of its marker."""

    ref_id: str
    position: int


RaisedNumbers = Callable[[int], list[tuple[int, str]]]
"""Returns position and text of the raised numbers in the section with an index, if the source marks raised text."""


def link_citations(
    sections: Sequence[Section], references: Sequence[Reference], raised: RaisedNumbers | None = None
) -> list[InlineCitation]:
    """Return the citations of each section that name an entry of `references`, in order of position.

    Only the styles with most links count (numbers in brackets, raised numbers, numbers in round brackets, author and
    year). `context` is the sentence with the marker.
    """
    if not references:
        return []
    index = ReferenceIndex(references)
    raised_of = raised or (lambda number: [])
    pattern = _AS_LISTED if _LISTED_IN_OTHERS.match(references[0].raw_text) else _BRACKETED
    found = [_section_mentions(section.text, index, raised_of(i), pattern) for i, section in enumerate(sections)]
    labelled = sum((label_of(reference.raw_text) or "").isdigit() for reference in references) > 0.5 * len(references)
    style = _main_styles(found, labelled)
    result: list[InlineCitation] = []
    for section, by_style in zip(sections, found, strict=True):
        mentions = sorted(
            {mention for name in style for mention in by_style[name]}, key=lambda m: (m.position, index.order[m.ref_id])
        )
        result += [
            InlineCitation(
                ref_id=m.ref_id, context=context_of(section, m.position), section=section.heading, position=m.position
            )
            for m in mentions
        ]
    return result


def _main_styles(found: list[dict[str, list[Mention]]], labelled: bool) -> list[str]:
    """The styles of a paper, one or two, by the number of markers that link; `labelled` means that its list prints
    numbers."""
    names = ("bracketed", "raised", "round", "named", "keys")
    totals = {name: sum(len({mention.position for mention in by[name]}) for by in found) for name in names}
    numbered = max(("bracketed", "raised", "round"), key=lambda name: totals[name])
    if not labelled and totals["named"] > totals[numbered]:
        return ["named", "keys"]
    if totals["named"] >= 2 * totals[numbered] or totals["keys"]:
        return ["named", "keys"]
    if totals[numbered] >= 2 * totals["named"] or totals[numbered] > 10:
        # "(3)" also numbers items and equations; it is a style only if it is the only one.
        return [numbered] if numbered != "round" or totals["round"] >= 5 else []
    return ["named", numbered] if numbered != "round" else ["named"]


def _section_mentions(
    text: str, index: ReferenceIndex, raised: list[tuple[int, str]], bracketed: re.Pattern[str]
) -> dict[str, list[Mention]]:
    return {
        "bracketed": [
            *_numbered(text, bracketed, index),
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


def _numbered(text: str, pattern: re.Pattern[str], index: ReferenceIndex) -> Iterator[Mention]:
    for match in pattern.finditer(text):
        for ref_id in index.by_numbers(match.group(1)):
            yield Mention(ref_id, match.start())


def _labelled(text: str, index: ReferenceIndex) -> Iterator[Mention]:
    for match in _LABELS.finditer(text):
        for label in re.split(r"\s*[,;]\s*", match.group(1)):
            if label in index.labels:
                yield Mention(index.labels[label], match.start())


def _named(text: str, index: ReferenceIndex) -> Iterator[Mention]:
    taken: list[tuple[int, int]] = []
    for match in _PARENTHESES.finditer(text):
        offset = match.start("inner")
        for part in _PART.finditer(match.group("inner")):
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
    for match in _EAST_ASIAN.finditer(text):
        name = match["name"]
        endings = " ".join(name[start:] for start in range(max(0, len(name) - 4), len(name)))
        for ref_id in index.by_names(endings, match["years"])[:1]:
            yield Mention(ref_id, match.start())


def context_of(section: Section, position: int) -> str:
    """Return the sentence at a position of a section, otherwise the text around it."""
    for sentence in section.sentences:
        if sentence.start <= position < sentence.end:
            return sentence.text
    return section.text[max(0, position - 150) : position + 150].strip()

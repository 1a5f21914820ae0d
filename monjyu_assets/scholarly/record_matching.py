"""Decides which of the works that a service returned is a paper of the collection. If this is uncertain, none is
chosen, because data shown with a paper must be about that paper."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from monjyu_assets.matching.match_keys import ABOUT_ANOTHER, NUMERALS, PREPRINT_DOIS, RETRACTED_TITLE
from monjyu_assets.scholarly.record import ScholarlyRecord, record_of
from monjyu_core.values import Values

MatchedBy = Literal["doi", "arxiv", "title", "library"]
LEAST_SCORE = 0.85
LIKE_ENOUGH = 0.5
"""The minimum similarity of titles, or share of authors, if an identifier is equal. Below it, the identifier was
printed for another work."""
SAME_TITLE = 0.93
"""The minimum similarity of titles that may belong to one work."""
SHORT_TITLE = 2
"""The maximum number of words of a title that identifies a paper only together with author and year ("Introduction",
"Editorial")."""
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,20}>")
_NUMERAL, _PREPRINT = re.compile(NUMERALS), re.compile(PREPRINT_DOIS)
_ABOUT_ANOTHER, _RETRACTED = re.compile(ABOUT_ANOTHER), re.compile(RETRACTED_TITLE, re.I)
_FAMILY_PARTS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Lookup:
    """A paper about which services are asked, with the values printed in it. `families` are the folded surnames of its
    authors, in order."""

    sha256: str
    title: str
    doi: str | None = None
    arxiv_id: str | None = None
    families: tuple[str, ...] = ()
    year: int | None = None


@dataclass(frozen=True)
class Match:
    """A record that matches a paper. `score` (0 to 1): similarity of titles, if by title also of authors, years."""

    record: ScholarlyRecord
    matched_by: MatchedBy
    score: float


def best_match(paper: Lookup, records: Iterable[ScholarlyRecord]) -> Match | None:
    """The record that is the paper, or None. It matches by an equal identifier with a similar title or common authors,
    otherwise by title, authors and year together. Of equally good records, a publication precedes its preprint."""
    found = [match for record in records if (match := _matched(paper, record))]
    found.sort(key=lambda one: (one.matched_by == "title", -one.score, _is_preprint(one.record), one.record.source_id))
    return found[0] if found else None


def _matched(paper: Lookup, record: ScholarlyRecord) -> Match | None:
    likeness = title_likeness(paper.title, record.title)
    by = _equal_id(paper, record)
    if by:
        certain = not paper.title or likeness >= LIKE_ENOUGH or _share(paper, record) >= LIKE_ENOUGH
        return Match(record, by, round(max(likeness, LIKE_ENOUGH), 3)) if certain else None
    if paper.doi and record.doi and not (_PREPRINT.match(paper.doi) or _is_preprint(record)):
        return None  # different DOIs of publishers are different works
    score = match_score(paper, record)
    return Match(record, "title", round(score, 3)) if score >= LEAST_SCORE else None


def _equal_id(paper: Lookup, record: ScholarlyRecord) -> MatchedBy | None:
    if paper.doi and record.doi == paper.doi:
        return "doi"
    same = paper.arxiv_id and record.arxiv_id and paper.arxiv_id == re.sub(r"v\d+$", "", record.arxiv_id.lower())
    return "arxiv" if same else None


def match_score(paper: Lookup, record: ScholarlyRecord) -> float:
    """The similarity of a paper and a record, 0 to 1. It is 0 if the titles differ, or if a short title or one without
    authors lacks further evidence. Otherwise it is the weighted mean of the similarity of titles (0.55), the share of
    common authors (0.25) and the closeness of years (0.2; 0 from three years apart), over the fields that both have."""
    likeness = title_likeness(paper.title, record.title)
    knows_authors = bool(paper.families and record.authors)
    knows_year = paper.year is not None and record.year is not None
    if likeness < SAME_TITLE or (len(_words(paper.title)) <= SHORT_TITLE and not (knows_authors and knows_year)):
        return 0.0
    if not knows_authors and (not knows_year or abs((paper.year or 0) - (record.year or 0)) > 1):
        return 0.0
    parts = [(0.55, likeness)]
    if knows_authors:
        parts.append((0.25, _share(paper, record)))
    if knows_year:
        parts.append((0.2, max(0.0, 1 - abs((paper.year or 0) - (record.year or 0)) / 3)))
    return sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)


def title_likeness(one: str, other: str) -> float:
    """The similarity of two titles, 0 to 1, without case, accents and punctuation; 0 if their numerals differ ("Part
    II"), or if only one is a notice such as a correction, or both are different kinds of notices."""
    one, other = _RETRACTED.sub("", one), _RETRACTED.sub("", other)
    first, second = _words(one), _words(other)
    if not first or not second or _numerals(first) != _numerals(second):
        return 0.0
    if _about_another(first) != _about_another(second):
        return 0.0
    whole = fuzz.ratio(" ".join(first), " ".join(second)) / 100
    heads = [_words(re.split(r":\s", text, maxsplit=1)[0]) for text in (one, other)]
    long_head = min(len(head) for head in heads) > SHORT_TITLE
    if long_head and (heads[0] == second or heads[1] == first):
        return max(whole, SAME_TITLE)  # one of them lacks the subtitle
    return whole


def title_key(title: str) -> str:
    """A title's words in lower case without accents, separated by single spaces."""
    return " ".join(_words(title))


def first_family(record: ScholarlyRecord) -> str:
    """The last word of the first author's name, folded."""
    words = _FAMILY_PARTS.findall(_folded(record.authors[0])) if record.authors else []
    return words[-1] if words else ""


def _share(paper: Lookup, record: ScholarlyRecord) -> float:
    """The number of the paper's surnames in the record, divided by the length of the shorter list of authors."""
    theirs = [set(_FAMILY_PARTS.findall(_folded(name))) for name in record.authors]
    ours = [family for family in paper.families if family]
    if not ours or not theirs:
        return 0.0
    common = sum(any(set(family.split()) <= names for names in theirs) for family in ours)
    return min(1.0, common / min(len(ours), len(theirs)))


def _is_preprint(record: ScholarlyRecord) -> bool:
    return bool(record.doi and _PREPRINT.match(record.doi))


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", _folded(_MARKUP.sub("", text)))


def _about_another(words: list[str]) -> str:
    match = _ABOUT_ANOTHER.match(" ".join(words))
    return match[0] if match else ""


def _numerals(words: list[str]) -> list[str]:
    return sorted(word for word in words if _NUMERAL.match(word))


# Works from services and files are matched to the papers of a collection: candidates have a common identifier, title,
# or first author and year.
@dataclass(frozen=True)
class FoundRecord:
    """A work that is a paper of the collection: its match, and the work as received. `retrieved` is the day (ISO) on
    which a service returned it, None for a work from a file."""

    paper_id: str
    match: Match
    work: Values
    retrieved: str | None = None


class PaperIndex:
    """An index of the papers of a collection by identifier, title, first author with year, and content."""

    def __init__(self, papers: Mapping[str, Lookup]) -> None:
        self._papers = papers
        self._by: dict[str, list[str]] = defaultdict(list)
        self._contents: dict[str, list[str]] = defaultdict(list)
        for paper_id, paper in papers.items():
            self._contents[paper.sha256].append(paper_id)
            family = paper.families[0] if paper.families else ""
            years = range(paper.year - 1, paper.year + 2) if paper.year and family else ()
            for key in (*_keys(paper.doi, paper.arxiv_id, paper.title), *(f"by {family} {year}" for year in years)):
                self._by[key].append(paper_id)

    def among(self, works: Iterable[tuple[ScholarlyRecord, Values]]) -> Iterator[FoundRecord]:
        """Yield the works of a file that are papers of the collection."""
        for record, work in works:
            keys = [*_keys(record.doi, record.arxiv_id, record.title), f"by {first_family(record)} {record.year}"]
            near = {one for key in keys for one in self._by.get(key, ())}
            for paper_id in sorted(near):
                match = best_match(self._papers[paper_id], [record])
                if match:
                    yield FoundRecord(paper_id, match, work)

    def of_content(self, service: str, sha256: str, works: Iterable[Values], retrieved: str) -> Iterator[FoundRecord]:
        """Yield the best of the works that a service returned for the papers whose file has the hash `sha256`."""
        records = [(record, work) for work in works if (record := record_of(service, work))]
        for paper_id in self._contents.get(sha256, ()):
            match = best_match(self._papers[paper_id], [record for record, _ in records])
            if match:
                work = next(work for record, work in records if record is match.record)
                yield FoundRecord(paper_id, match, work, retrieved)


def _keys(doi: str | None, arxiv_id: str | None, title: str) -> Iterator[str]:
    """The keys of a work: its identifiers, its title, and the part of the title before a colon, because the other side
    may lack the subtitle."""
    if doi:
        yield f"doi {doi}"
    if arxiv_id:
        yield f"arxiv {re.sub(r'v[0-9]+$', '', arxiv_id.lower())}"
    for text in dict.fromkeys((title_key(title), title_key(re.split(r":\s", title, maxsplit=1)[0]))):
        if text:
            yield f"title {text}"

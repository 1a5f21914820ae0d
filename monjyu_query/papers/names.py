"""Identifies a paper by its id, its DOI, its title or words of it, its authors and year, or a description.

Every word of a name counts by its rarity and by its field in a paper: title, authors or abstract. Words without a match
count against all papers. A person named as an author must be an author of the paper.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Literal
from weakref import WeakKeyDictionary

from monjyu_core.errors import QueryError
from monjyu_core.language.packs import also, cues
from monjyu_core.records.corrected_values import bare_doi
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact, folded, spellings, word_spans, words
from monjyu_query.asking.topic import topic_of
from monjyu_query.asking.which_collection import no_paper
from monjyu_query.papers.labels import family_name
from monjyu_query.papers.records import present_paper
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.ranker import best_rows
from monjyu_query.ranking.retrieval import QueryTerm

How = Literal["id", "title", "author", "description"]
KINDS = (
    r"papers?|articles?|stud(?:y|ies)|publications?|reports?|courses?|classe?s?|modules?|packages?|tools?|software"
    r"|tutorials?|lessons?|notebooks?|librar(?:y|ies)|workshops?|curricul(?:um|a)|projects?|systems?|frameworks?|trials?|reviews?"
    r"|interpreter|textbook|book"
)
"""Words for a paper, or for the thing that it is about."""
_KIND = re.compile(rf"\b(?:{KINDS})\b" + also("papers_names.kind"), re.IGNORECASE)
_FRAME = re.compile(cues("papers_names.frame"), re.IGNORECASE)
_AROUND = re.compile(rf"^(?:the )?(?:papers? |article |study )?|(?: (?:{KINDS}))$")
_SMALL = ("a", "an", "the", "of", "in", "on", "for", "and", "to", "with", "by", "from", "about", "that", "as")
_QUOTES = "「」『』“”\"'‘’ "
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)[a-z]?(?!\d)")
_NAME = r"[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?"
_AUTHORED = re.compile(
    rf"\b(?:by|from)\s+(?!the\b|an?\b)(?P<by>{_NAME})|(?P<whose>[^\W\d_][\w-]*)['’]s?\s"
    r"|(?P<first>[^\W\d_][\w'’-]*),? et al\b"
    r"|(?P<dated>[^\W\d_][\w'’-]*),? \(?(?:1[89]|20)\d\d[a-z]?\b"
    rf"|(?P<behind>[^\W\d_]{{2,10}}?)(?:{cues('papers_names.authored')})"
)
_PAPERS = """SELECT p.paper_id, coalesce(p.title, ''), p.year, coalesce(p.doi, ''),
  coalesce((SELECT list(a.name ORDER BY a.ord) FROM authors a WHERE a.paper_id = p.paper_id), []),
  coalesce((SELECT any_value(i.canonical_id) FROM paper_identity i WHERE i.paper_id = p.paper_id), p.paper_id)
FROM papers p ORDER BY p.paper_id"""
_ABSTRACTS = """SELECT p.paper_id, coalesce(nullif(p.abstract, ''),
  (SELECT string_agg(c.text, ' ') FROM chunks c WHERE c.paper_id = p.paper_id AND c.ord < 2))
FROM papers p WHERE list_contains($papers, p.paper_id)"""
_TITLE, _FIRST_AUTHOR, _AUTHOR, _ABSTRACT, _PHRASE, _KIND_WEIGHT = 1.0, 1.0, 0.85, 0.7, 0.1, 0.15
"""Weights of a word in each field of a paper, of all words of the title in sequence, and of a kind of thing in the
title, which only decides between two papers."""
_NAME_WEIGHT = 1.5
"""The weight of an author's name relative to a word that no passage has: someone who names an author means a paper of
theirs."""
_LEAST, _MARGIN = 0.6, 0.12
"""The share of a name's words that a paper must have, and the required margin over the next paper."""
_READ = 60
"""The number of best papers by full text whose abstracts are read."""
_FEWEST_LETTERS, _FEWEST_WORDS = 6, 3
"""The minimum number of letters of a name that occurs in a title, and of words of a title that identify it."""


@dataclass(frozen=True)
class PaperName:
    """A paper identified by a name. `sure`: no other paper of the collection fits as well. `how`: by which property it
    was identified; `named`: whether by more than a description."""

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    sure: bool = False
    how: How = "description"
    named: bool = False


@dataclass(frozen=True)
class _Card:
    """The identifying fields of a paper. `lead`: the title before a colon, its words joined."""

    name: PaperName
    doi: str
    work: str
    plain: str
    lead: str
    terms: frozenset[str]
    first: frozenset[str]
    authors: frozenset[str]


_CARDS: WeakKeyDictionary[Snapshot, list[_Card]] = WeakKeyDictionary()
_PARTS = re.compile(r"[:：–—]| - ")


def lead_of(title: str) -> str:
    """The part of a title before its colon, which is often a name."""
    return _PARTS.split(title)[0].strip()


def find_papers(index: OpenIndex, name: str, most: int = 6) -> list[PaperName]:
    """The papers that a name or a description may mean, best first; the first is `sure` if it is clearly meant;
    otherwise all returned papers fit about equally well. Empty if nothing fits."""
    name = name.strip(_QUOTES)
    cards = _cards(index)
    exact = _exact(cards, name)
    scored = [(1.0, exact)] if exact else _scored(index, cards, name)
    best: dict[str, tuple[float, PaperName]] = {}
    works = {card.name.paper_id: card.work for card in cards}
    for score, paper in sorted(scored, key=lambda one: (-one[0], one[1].paper_id)):
        best.setdefault(works[paper.paper_id], (score, paper))
    found = [(score, paper) for score, paper in best.values() if score >= _LEAST]
    found = [one for one in found if one[0] > found[0][0] - _MARGIN][:most]
    papers = [paper for _, paper in found]
    return [replace(papers[0], sure=True)] if len(papers) == 1 else papers


def one_paper(index: OpenIndex, name: str) -> str:
    """The id of the paper that is meant. Raises QueryError if none fits, or several do."""
    name = present_paper(index.snapshot, name)
    found = find_papers(index, name)
    if found and found[0].sure:
        return found[0].paper_id
    if found:
        listed = " or ".join(f"“{one.title}” ({one.paper_id})" for one in found[:4])
        raise QueryError(f"{name!r} may mean several papers. Do you mean {listed}?", "Name one by its id or title.")
    raise no_paper(index.snapshot.cursor(), name)


def paper_named(index: OpenIndex, text: str) -> PaperName | None:
    """The paper that a text identifies without doubt and as a paper: by a name, by three words of its title, by its
    authors, or by a description that calls it one ("the course on …"). None if it may be a topic instead."""
    found = find_papers(index, text)
    return found[0] if found and found[0].sure and (found[0].named or says_paper(text)) else None


def has_word(paper: PaperName, word: str) -> bool:
    """Whether a word is in the title or the authors of a paper, or is a kind of paper or a year."""
    own = spellings(f"{' '.join(paper.authors)} {paper.title}") - spellings(" ".join(_SMALL))
    return bool(spellings(word) & own or _KIND.fullmatch(word) or _YEAR.search(word))


def known_papers(index: OpenIndex) -> list[PaperName]:
    """All papers of the snapshot."""
    return [card.name for card in _cards(index)]


def says_paper(text: str) -> bool:
    """Whether a text calls what it names a paper, or a subject of papers ("the course on …")."""
    return bool(_KIND.search(text))


def unknown_author(index: OpenIndex, text: str) -> str:
    """A name that the text uses as an author's and that no author of the collection has; otherwise empty."""
    known = {word for card in _cards(index) for word in card.authors}
    named = _authored(text, known)
    return next((name for name in named if not spellings(name) & known), "")


def _cards(index: OpenIndex) -> list[_Card]:
    kept = _CARDS.get(index.snapshot)
    if kept is None:
        rows = index.snapshot.cursor().execute(_PAPERS).fetchall()
        terms = index.keywords.terms([row[1] for row in rows])
        kept = [_card(row, frozenset(own)) for row, own in zip(rows, terms, strict=True)]
        _CARDS[index.snapshot] = kept
    return kept


def _card(row: tuple[str, str, int | None, str, list[str], str], terms: frozenset[str]) -> _Card:
    paper_id, title, year, doi, authors, work = row
    families = [
        spellings(name) | {compact(name)} if count_wide(name) else spellings(family_name(name)) for name in authors
    ]
    return _Card(
        name=PaperName(paper_id, title, tuple(authors), year),
        doi=doi.casefold(),
        work=work,
        plain=_plain(title),
        lead=compact(lead_of(title)),
        terms=terms,
        first=frozenset().union(*families[:1]),
        authors=frozenset().union(*families),
    )


def _exact(cards: Sequence[_Card], name: str) -> PaperName | None:
    """The paper by id, DOI, whole title, or the name before its colon, if exactly one paper has it."""
    doi, plain = (bare_doi(name) or "").casefold(), _plain(name)
    bare = _AROUND.sub("", plain)
    lead = {compact(name), compact(bare)} - {""}
    ways: tuple[tuple[How, list[_Card]], ...] = (
        ("id", [card for card in cards if card.name.paper_id == name or (card.doi and card.doi == doi)]),
        ("title", [card for card in cards if card.plain and card.plain in (plain, bare)]),
        ("title", [card for card in cards if card.lead in lead]),
    )
    for how, found in ways:
        if len({card.work for card in found}) == 1:
            return replace(found[0].name, how=how, named=True)
    return None


def _authored(text: str, known: Collection[str]) -> list[str]:
    """Names that the text uses as authors' names, as written: capitalised, or the name of a known author."""
    found = []
    for match in _AUTHORED.finditer(text):
        name = next(value for value in match.groupdict().values() if value)
        parts = [part for part in name.split() if part[0].isupper() or count_wide(part) or spellings(part) & set(known)]
        if parts and not _KIND.fullmatch(parts[-1]):
            found.append(" ".join(parts))
    return found


@dataclass(frozen=True)
class _Asked:
    """A parsed name. `named` are spellings of the authors that it names as such, `people` its words that are authors'
    names, `unread` those of these words that are not among `terms`; `kinds` are terms for the kind of paper."""

    topic: str
    terms: Sequence[QueryTerm]
    weights: Sequence[float]
    named: Sequence[frozenset[str]]
    people: frozenset[str]
    unread: frozenset[str]
    years: frozenset[int]
    kinds: frozenset[str]
    of_name: float

    @property
    def whole(self) -> float:
        return sum(self.weights) + self.of_name * len(self.unread)


def _taken_apart(index: OpenIndex, name: str, known: frozenset[str]) -> _Asked:
    bare = _KIND.sub(" ", _FRAME.sub(" ", _YEAR.sub(" ", name)))
    topic = topic_of(bare)
    terms = index.keywords.query_terms(topic)
    total = len(index.corpus) + 1
    people = frozenset(words(folded(bare))) & known
    as_name = [_NAME_WEIGHT if term.word[0].isupper() and folded(term.word) in known else 1.0 for term in terms]
    kinds = index.keywords.terms(_KIND.findall(name))
    return _Asked(
        topic=topic,
        terms=terms,
        weights=[log(1 + total / (term.frequency + 0.5)) * more for term, more in zip(terms, as_name, strict=True)],
        named=[spellings(one) for one in _authored(name, known)],
        people=people,
        unread=people - {folded(term.word) for term in terms},
        years=frozenset(map(int, _YEAR.findall(name))),
        kinds=frozenset(term for some in kinds for term in some),
        of_name=_NAME_WEIGHT * log(1 + total),
    )


def _scored(index: OpenIndex, cards: Sequence[_Card], name: str) -> list[tuple[float, PaperName]]:
    """Each paper with the share of the name's words that it has, 0 to about 1."""
    asked = _taken_apart(index, name, frozenset().union(*(card.authors for card in cards)))
    if not asked.terms and not asked.people and not asked.named:
        return []
    abstracts = _abstracts(index, asked.topic) if asked.terms else {}
    found = []
    for card in cards:
        if all(one & card.authors for one in asked.named) and _of_year(card, asked.years):
            score, paper = _fitting(asked, card, abstracts.get(card.name.paper_id, frozenset()))
            found.append((score, paper))
    return found


def _fitting(asked: _Asked, card: _Card, abstract: frozenset[str]) -> tuple[float, PaperName]:
    fits = [max(_fit(card, abstract, term), _by_author(card, folded(term.word))) for term in asked.terms]
    of_people = sum(_by_author(card, word) * asked.of_name for word in asked.unread)
    of_terms = sum(fit * weight for fit, weight in zip(fits, asked.weights, strict=True))
    score = (of_people + of_terms) / asked.whole if asked.whole else float(bool(asked.named))
    titled = sum(_has(card.terms, term) for term in asked.terms)
    phrase, whole = compact(asked.topic), titled == len(asked.terms)
    score += _KIND_WEIGHT * bool(asked.kinds & card.terms)
    score += _PHRASE * (len(phrase) >= _FEWEST_LETTERS and phrase in compact(card.plain))
    authored = bool(asked.named) or (not titled and bool(asked.people) and asked.people <= card.authors)
    enough = whole and titled >= max(_FEWEST_WORDS, len(card.terms) // 3)
    how: How = "author" if authored else "title" if whole else "description"
    return score, replace(card.name, how=how, named=authored or enough)


def _of_year(card: _Card, years: Collection[int]) -> bool:
    return all(card.name.year == year or str(year) in card.plain for year in years)


def _by_author(card: _Card, word: str) -> float:
    return _FIRST_AUTHOR if word in card.first else _AUTHOR if word in card.authors else 0.0


def _fit(card: _Card, abstract: frozenset[str], term: QueryTerm) -> float:
    return _TITLE if _has(card.terms, term) else _ABSTRACT if _has(abstract, term) else 0.0


def _has(own: frozenset[str], term: QueryTerm) -> bool:
    return term.term in own or any(all(part in own for part in way) for way in term.also)


def _abstracts(index: OpenIndex, topic: str) -> dict[str, frozenset[str]]:
    """The terms of the abstracts of papers that full text finds for a topic, or of their beginnings without one."""
    scores = index.keywords.scores(topic)
    rows = [row for row in best_rows(scores, index.corpus.paper, _READ, per_paper=1) if scores[row] > 0]
    papers = [index.corpus.paper_ids[index.corpus.paper[row]] for row in rows]
    read = index.snapshot.cursor().execute(_ABSTRACTS, {"papers": papers}).fetchall()
    terms = index.keywords.terms([text or "" for _, text in read])
    return {paper: frozenset(own) for (paper, _), own in zip(read, terms, strict=True)}


def _plain(text: str) -> str:
    """The text normalised for comparison."""
    return " ".join(folded(text).split())


# The paper whose name is in a question ("What does nbgrader do?").
_LEAST_LETTERS, _MOST_WORDS = 5, 12
"""Limits of a name in a question."""
_COINED = re.compile(r"\w*(?:[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d)\w*|[a-z]\w*$")
"""Matches a word written like a name: with inner capitals, digits, or a small letter at the start of a title."""
_RARE = 25
"""The maximum number of passages that may contain the rarest word of a name that consists of ordinary words."""
_KEPT: WeakKeyDictionary[Snapshot, Mapping[str, str]] = WeakKeyDictionary()


@dataclass(frozen=True)
class NamedPaper:
    """A paper named in a question. `name` is the name as the question writes it, `rest` the question without it."""

    paper_id: str
    name: str
    rest: str


def paper_in_question(index: OpenIndex, query: str) -> NamedPaper | None:
    """The paper whose name (the part of its title before a colon) is in a question; None if no name is, if the longest
    such name belongs to several papers, or if it consists of words that many passages contain."""
    spans = list(word_spans(query))
    names = _names(index)
    for count in range(min(_MOST_WORDS, len(spans)), 0, -1):
        for first in range(len(spans) - count + 1):
            start, end = spans[first][0], spans[first + count - 1][1]
            paper_id = names.get(compact(query[start:end]))
            if paper_id is not None:
                known = paper_id and _is_name(index, lead_of(index.about_papers[paper_id].title))
                return NamedPaper(paper_id, query[start:end], f"{query[:start]} {query[end:]}") if known else None
    return None


def _names(index: OpenIndex) -> Mapping[str, str]:
    """Names without spaces with the id of their paper, "" if several have one."""
    kept = _KEPT.get(index.snapshot)
    if kept is None:
        found: dict[str, str] = {}
        for paper_id, about in index.about_papers.items():
            lead = lead_of(about.title)
            name = compact(lead)
            own = lead != about.title.strip() and not count_wide(lead)
            if own and len(name) >= _LEAST_LETTERS and len(lead.split()) <= _MOST_WORDS:
                found[name] = "" if name in found else paper_id
        kept = _KEPT[index.snapshot] = found
    return kept


def _is_name(index: OpenIndex, lead: str) -> bool:
    if any(_COINED.fullmatch(word) for word in words(lead)[:1]):
        return True
    counts = [term.frequency for term in index.keywords.query_terms(lead)]
    return bool(counts) and min(counts) <= _RARE

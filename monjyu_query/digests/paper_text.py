"""One paper's sentences for digests: those that state something by themselves, with their weight for each aspect."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from monjyu_core.language.packs import also, cues
from monjyu_core.text.quotes import points_outside
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.citing import Neighbours, Window, connective, joined
from monjyu_query.answers.selection import Question, alike, asks, has_digits, is_prose, is_statement, word_count
from monjyu_query.asking.passages import PassageSentence, load_passages, load_sentences, sections_named
from monjyu_query.asking.which_collection import no_paper
from monjyu_query.knowledge.aspects import ASPECTS, COUNTED, OF_TABLES, Aspect, AspectName
from monjyu_query.ranking.open_index import OpenIndex

MOST_CHUNKS = 400
"""The maximum number of chunks of one paper that are read."""
_STRONG, _WEAK, _HEADING, _TYPE = 2.0, 0.8, 1.2, 0.8
"""Weights of an aspect's words in a sentence, of its section's heading and of its section's type."""
_CENTRAL, _FIGURE, _OPENING, _OWN_NAME = 1.5, 0.6, 1.2, 1.0
"""Weights of the maximum overlap with title and abstract, of a figure if the aspect asks for one, of being the paper's
first sentence, and of a definition that begins with the paper's own name."""
_IN_ABSTRACT, _LABELLED = 0.7, 2.5
"""Weights of being in the abstract, where authors describe their own work, and of being there under the aspect's
label."""
_OF_OTHERS = 1.5
"""The penalty on a sentence about other works."""
_TIERS = ((2.4, 0.8), (2.0, 0.6))
"""The minimum weight of a sentence for an aspect, absolute and as a share of its weight for the aspect that it suits
best; the second pair applies if no sentence passes the first."""
_FEW = 8
"""The number of statements below which a text is too short to have all aspects."""
_ALIKE = 0.5
_WIDEST = 600
"""The maximum width of a quote in columns."""
_FEWEST, _MOST_WORDS = 6, 80
_CAPTION = re.compile(
    r"\W*(?:fig(?:ure|\.)?|table|algorithm|listing|equation|eq\.|keywords?" + also("captions.figure") + r")\s?\d",
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(r"\d{1,3}(?:, ?\d{1,3})* [A-Z]")
"""Numbers of notes that were superscripts at the end of the previous sentence."""
_FRONT_MATTER = re.compile(
    r"doi\.org/|\bSHA:|\bISSN\b|Author Affiliations|Article Information|©|\bhttps?://\S+\s+\S*\s*(?:Authors?|Date"
    r"|DOI)\b|et al\., \(\d{4}\)\. "
)
_CODE = re.compile(r"\w+\(.*\)\.|[{}<>\\]|\w=\w|::|\bimport \w+ as\b|\w_\w+_\w|>>>")
_BLOCK = re.compile(r"\n\s*\n|[•▪◦]|\s[-–*] (?=[A-Z])")
_OTHERS = re.compile(cues("paper_text.others"), re.IGNORECASE)
_MANY = re.compile(
    r"\W*(?:other|many|several|some|most|there (?:is|are) (?:many|several|few|a number))\b", re.IGNORECASE
)
_OWN = re.compile(cues("paper_text.own"), re.IGNORECASE)
_OF_TERMS = ("availability", "licence")
_BACKGROUND = ("introduction", "related_work")
"""Types of sections about known results, which are mostly those of others."""
_LABELS: dict[str, AspectName] = {
    **dict.fromkeys(("objective", "objectives", "aim", "aims", "purpose"), "purpose"),
    **dict.fromkeys(("background", "introduction"), "need"),
    **dict.fromkeys(("participants", "patients", "subjects", "setting"), "sample"),
    **dict.fromkeys(("methods", "method", "design", "materials and methods"), "methods"),
    **dict.fromkeys(("results", "findings"), "results"),
    **dict.fromkeys(("limitations",), "limits"),
    **dict.fromkeys(("conclusion", "conclusions", "interpretation", "discussion"), "conclusion"),
}
_LABELS |= {name: one.name for one in ASPECTS for name in cues(f"paper_text.labels_{one.name}").split("|") if name}
_LABEL = re.compile(rf"[【\[]?([A-Za-z]+(?: [A-Za-z]+){{0,2}}|{'|'.join(_LABELS)})\s?[:：】\]]")
_LICENCE = re.compile(r"\blicen[sc]ed? (?:under|as)\b|creative commons|open access this article", re.IGNORECASE)
_ASIDE = re.compile(cues("paper_text.aside"), re.IGNORECASE)

_CHUNKS = """SELECT chunk_id FROM chunks WHERE paper_id = ? AND section_type NOT IN ('references', 'acknowledgments')
ORDER BY ord LIMIT ?"""
_SECTIONS = "SELECT section_ord, heading, section_type FROM sections WHERE paper_id = ? ORDER BY section_ord"
_ABOUT = "SELECT title, abstract FROM papers WHERE paper_id = ?"


def about(index: OpenIndex, paper_id: str) -> tuple[str, str]:
    """Title and abstract. Raises QueryError if the collection does not have the paper."""
    row = index.snapshot.cursor().execute(_ABOUT, [paper_id]).fetchone()
    if row is None:
        raise no_paper(index.snapshot.cursor(), paper_id)
    return row[0] or "", row[1] or ""


def question_of(index: OpenIndex, text: str) -> Question:
    """The terms of a text, weighted by rarity."""
    return Question.of(index.keywords.query_terms(text), len(index.corpus))


@dataclass(frozen=True)
class PaperText:
    """A paper in sentences. `sections` are headings and types by number, `terms` those of each sentence."""

    paper_id: str
    title: str
    abstract: str
    sections: dict[int, tuple[str, str]]
    sentences: list[PassageSentence]
    terms: list[frozenset[str]]
    gist: Question

    @cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours(self.sentences)

    @cached_property
    def standing(self) -> list[int]:
        """Positions of the sentences that state something and can be quoted."""
        return [
            place
            for place, sentence in enumerate(self.sentences)
            if is_quotable(sentence.text, self.title) and not _ASIDE.search(self.sections[sentence.section_ord][0])
        ]

    @cached_property
    def central(self) -> dict[int, float]:
        """The overlap of each quotable sentence with title and abstract, 1 for the maximum."""
        long = {p: max(1.0, word_count(self.sentences[p].text) / 24) for p in self.standing}
        shares = {p: self.gist.share(self.terms[p]) / (0.5 + 0.5 * long[p]) for p in self.standing}
        most = max(shares.values(), default=0.0) or 1.0
        return {place: share / most for place, share in shares.items()}

    @cached_property
    def labelled(self) -> dict[int, AspectName]:
        """The aspects of a structured abstract's sentences: each label ("RESULTS:") applies until the next."""
        found: dict[int, AspectName] = {}
        current: AspectName | None = None
        for place, sentence in enumerate(self.sentences):
            if self.sections[sentence.section_ord][1] != "abstract":
                continue
            label = _LABEL.match(sentence.text)
            if label and (label[1].isupper() or label[1].casefold() in _LABELS):
                current = _LABELS.get(label[1].casefold())
            if current is not None:
                found[place] = current
        return found

    @cached_property
    def worth(self) -> dict[str, dict[int, float]]:
        """Weights by aspect and position of the quotable sentences."""
        return {one.name: {place: self._worth(place, one) for place in self.standing} for one in (*ASPECTS, *OF_TABLES)}

    def _worth(self, place: int, wanted: Aspect) -> float:
        """How well a quotable sentence suits the aspect; 0 if neither its words nor its heading mention it."""
        sentence = self.sentences[place]
        heading, kind = self.sections[sentence.section_ord]
        label = self.labelled.get(place)
        if bool(_LICENCE.search(sentence.text)) and wanted.name not in _OF_TERMS:
            return 0.0
        headed = bool(wanted.headings.search(heading))
        strong = bool(wanted.strong.search(sentence.text))
        weak = not strong and bool(wanted.weak.search(sentence.text))
        suits = headed or (wanted.name == "methods" and kind == "abstract")
        if not (strong or label == wanted.name or (weak and suits) or (headed and kind == "conclusion")):
            return 0.0
        found = strong * _STRONG + weak * _WEAK + headed * _HEADING + (kind in wanted.types) * _TYPE
        found += _CENTRAL * self.central[place] + (wanted.figures and has_digits(sentence.text)) * _FIGURE
        found += (kind == "abstract") * _IN_ABSTRACT + (label == wanted.name) * _LABELLED
        found -= (label not in (None, wanted.name)) * _OF_OTHERS
        if wanted.name == "purpose":
            found += _OPENING * (place in self.standing[:2]) + _OWN_NAME * self._named(sentence.text)
        elif wanted.name == "conclusion":
            found += 0.6 * (place >= 0.75 * len(self.sentences))
        background = kind in _BACKGROUND and not headed and label is None
        return found - self._of_others(sentence.text, wanted.name, background)

    @staticmethod
    def _of_others(text: str, wanted: AspectName, background: bool) -> float:
        """The penalty on a sentence about other works, for aspects of the paper's own contribution."""
        if wanted == "need" or _OWN.search(text):
            return 0.0
        if _MANY.match(text) or (wanted not in _OF_TERMS and _OTHERS.search(text)):
            return _OF_OTHERS
        return 1.0 if wanted in ("methods", "measures", "results", "limits") and background else 0.0

    def _named(self, text: str) -> bool:
        name = re.split(r"[:：–]| - ", self.title)[0].strip().casefold()
        return 0 < len(name) <= 40 and text.casefold().removeprefix("the ").startswith(name)

    def window(self, place: int) -> Window | None:
        """The sentence with the neighbours that it needs; None if they are not available, or it is too long."""
        window = self.neighbours.grown(self.sentences[place])
        first = window.sentences[0].text
        if points_outside(first) and not connective(first):
            return None
        if any(not is_quotable(sentence.text, self.title) for sentence in window.sentences):
            return None
        return window if len(window.text) + count_wide(window.text) <= _WIDEST else None


def read_paper(index: OpenIndex, paper_id: str) -> PaperText:
    """The sentences, sections and terms of a paper. Raises QueryError if the collection does not have it."""
    title, abstract = about(index, paper_id)
    cursor = index.snapshot.cursor()
    chunks = [name for (name,) in cursor.execute(_CHUNKS, [paper_id, MOST_CHUNKS]).fetchall()]
    rows = cursor.execute(_SECTIONS, [paper_id]).fetchall()
    sections = {number: (heading or "", kind) for number, heading, kind in rows}
    found = load_sentences(cursor, load_passages(cursor, chunks))
    sentences = sorted(found, key=lambda s: (s.section_ord, s.place))
    terms = [frozenset(some) for some in index.keywords.terms([s.text for s in sentences])]
    first = " ".join(s.text for s in sentences[:4])
    gist = question_of(index, f"{title} {abstract or first}"[:4000])
    return PaperText(paper_id, title, abstract, sections, sentences, terms, gist)


def section_places(paper: PaperText, wanted: str) -> dict[str, list[int]]:
    """The sentences of the requested sections, by heading. Raises QueryError if the paper has no such section."""
    numbers = list(paper.sections)
    found: dict[str, list[int]] = {}
    for place in sections_named([paper.sections[number] for number in numbers], wanted):
        heading, kind = paper.sections[numbers[place]]
        inside = [p for p in paper.standing if paper.sentences[p].section_ord == numbers[place]]
        found.setdefault(heading or kind, []).extend(inside)
    return found


def is_quotable(text: str, title: str = "") -> bool:
    """Whether a sentence states something in complete words: no heading, caption, code, list item or front matter. It
    may begin with a small letter if the `title` begins with that word."""
    first = text.lstrip("“\"'(（「『")[:1]
    return (
        (not first.islower() or text.split()[0].casefold() in title.casefold())
        and _FEWEST <= word_count(text) <= _MOST_WORDS
        and is_statement(text)
        and is_prose(text, 0.7)
        and not asks(text)
        and not any(pattern.search(text) for pattern in (_FRONT_MATTER, _CODE, _BLOCK))
        and not _CAPTION.match(text)
        and not _SUPERSCRIPT.match(text)
    )


class Choice:
    """Sentences chosen from one paper, without repetitions or duplicates in content."""

    def __init__(self, paper: PaperText) -> None:
        self._paper = paper
        self._taken: list[int] = []

    def tell(self, wanted: Aspect, most: int, *, counts: bool = False) -> list[Window]:
        """The best windows for an aspect, in reading order; for the purpose at least the one with the largest weight.
        With `counts`, only those that contain a count."""
        worth = self._paper.worth[wanted.name]
        if counts:
            number = COUNTED.search if wanted.name == "sample" else has_digits
            worth = {place: value for place, value in worth.items() if number(self._paper.sentences[place].text)}
        found: list[Window] = []
        for least, share in _TIERS:
            good = [p for p, value in worth.items() if value >= max(least, share * self._most(p))]
            found = found or self.best(sorted(good, key=lambda place: (-worth[place], place)), most)
        if not found and wanted.name == "purpose":
            found = self.best(sorted(worth, key=lambda place: -worth[place]), 1)
        return found

    def whole(self, most: int) -> list[Window]:
        """The first sentences of a text that is too short to have aspects; none of a longer one."""
        return self.best(self._paper.standing, most) if len(self._paper.standing) < _FEW else []

    def central(self, places: Iterable[int], most: int) -> list[Window]:
        """The sentences that share most with title and abstract."""
        return self.best(sorted(places, key=lambda place: (-self._paper.central[place], place)), most)

    def _most(self, place: int) -> float:
        return max(self._paper.worth[one.name][place] for one in ASPECTS)

    def best(self, places: Sequence[int], most: int) -> list[Window]:
        """The first `most` sentences that can be quoted and add something."""
        found: list[Window] = []
        for place in places:
            if len(found) == most:
                break
            terms = self._paper.terms
            if any(alike(terms[place], terms[other]) >= _ALIKE for other in self._taken):
                continue
            window = self._paper.window(place)
            ids = {sentence.sentence_id for sentence in window.sentences} if window else set()
            inside = [p for p, sentence in enumerate(self._paper.sentences) if sentence.sentence_id in ids]
            if window is not None and not set(inside) & set(self._taken):
                found.append(window)
                self._taken += inside
        together = joined(found, self._paper.neighbours)
        return sorted(together, key=lambda window: (window.sentences[0].section_ord, window.sentences[0].place))


# Cached sentences of papers, because users of a table often ask for a further column of the same papers.
MOST_SENTENCES = 5_000
"""The maximum number of sentences of all papers that an open snapshot caches, about five kilobytes each."""


def cached_paper(index: OpenIndex, paper_id: str) -> PaperText:
    """Like `read_paper`, cached per open snapshot up to `MOST_SENTENCES`. Thread-safe."""
    kept = index.kept_papers
    found: PaperText | None = kept.get(paper_id)
    if found is None:
        found = read_paper(index, paper_id)
        if sum(len(one.sentences) for one in list(kept.values())) + len(found.sentences) > MOST_SENTENCES:
            kept.clear()
        kept[paper_id] = found
    return found

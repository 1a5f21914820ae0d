"""Which statements may oppose others: the claims of papers, and sentences that say what was found or is known."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from monjyu_assets.levels.phrases.cleaning import is_boilerplate
from monjyu_assets.levels.phrases.japanese_phrases import is_japanese
from monjyu_assets.levels.phrases.prose import is_prose, statement_of
from monjyu_assets.levels.tensions.naming import STATISTIC, Names, names_of_paper
from monjyu_assets.levels.tensions.tension_words import (
    AIMS,
    BOTH_SIDES,
    CONDITIONS,
    HEDGES,
    OF_UNNAMED,
    REPORTED,
    UNSURE,
    may_oppose,
    stem_of,
)
from monjyu_core.text.standing_alone import stands_alone

SECTIONS = frozenset(("abstract", "introduction", "results", "experiments", "discussion", "conclusion", "other"))
"""Sections whose sentences count without a claim. Methods say what was done."""
FINDINGS = frozenset(("result", "limitation", "background"))
"""Kinds of claims that say what was found or is known, by the paper or by those it cites."""
SENTENCE, HEDGED, OF_OTHERS = 0.95, 0.85, 0.95
"""What a sentence that no claim quotes counts, one that is careful, one that reports what others found."""
_JOINED = re.compile(
    r"^(?:\d{1,3}(?:, ?\d{1,3})* )?(?:(?:however|moreover|furthermore|additionally|in addition|thus|therefore|hence"
    r"|consequently|interestingly|notably|importantly|in contrast|conversely|nevertheless|similarly|indeed|also|finally"
    r"|on the other hand|as a result|accordingly|overall|in our study|in this study|in conclusion|that is|in summary"
    r"|for example|in particular),? )?(\w)",
    re.IGNORECASE,
)
"""What only joins a sentence to the one before it, and numbers of references that stand before it."""
_NAMED_AFTER = re.compile(
    r"\bthose (?:aged|\w+ing|given|treated|born)\b|\bthese \w+ (?=with|who|whose|treated|receiving)", re.IGNORECASE
)
"""What points back and yet says of whom: "those aged at least 70", "these adults with diabetes"."""
_POINTS_WITHIN = re.compile(r"(?<=[\w,)] )(?:this|these|those)(?= (?!is\b|was\b|are\b|were\b)[a-z])", re.IGNORECASE)
"""What points within a sentence that says before what it is about: "than those on clear reefs", "in this landscape".
The title of the paper says the rest."""
_NEXT = re.compile(
    r"(?:(?<=[a-zA-Z)%]\.)|(?<=\d\.\d\.)|(?<=\d\.\d\d\.))['’]?\d{1,3}(?:\W\d{1,3})*(?: (?=[A-Z]).*)?$", re.DOTALL
)
"""The number of a reference right behind a full stop, and the sentence that hangs on it: "was 2.2.9 The outbreak"."""
_STUDY = re.compile(
    r"^\W*(?:another|other|one|there (?:was|is) an?|a recent) (?:\w+ )?(?:study|studies|research\w*|report) (?:\w+ )?"
    r"(?:showed|found|reported|estimated|that)\b",
    re.IGNORECASE,
)
"""Who found what a sentence says: another study."""
_MEASURE_ONLY = re.compile(
    r"^[A-Z][^.]{0,60}\b(?:rate|period|number|mortality|prevalence|incidence|R ?0)\b[^.]{0,40}\d"
)
_MEASURED = re.compile(
    r"\b(?:[pP]\s?[=<>]\s?0?\.\d|CI\b|(?:by|than) (?:\w+ ){0,3}\d|no (?:\w+ ){0,2}(?:effect|influence|difference)\b"
    r"|(?:did|does|do|was|were|is) not\b)|±|\bfrom \d[\d.,]* ?\S{0,12} to \d",
)
"""What was found, wherever it stands: how far something went, how sure that is, or that there was nothing."""
_WORD = re.compile(r"[^\W\d_][\w-]{3,}")
LONGEST, MOST_TOPIC = 600, 12


@dataclass(frozen=True)
class Said:
    """One statement: a claim, or a sentence that none quotes. `weight` 0 to 1: less where it hedges or reports.
    `read` is what the parser reads: the statement with abbreviations written out, without statistics in brackets.
    `names` are those in it with what else its paper calls them. `topic` is its paper's title. `unsure`: something in it
    is only thought possible, so that its numbers alone count."""

    said_id: str
    paper_id: str
    chunk_id: str
    claim_id: str | None
    sentence_ids: tuple[str, ...]
    statement: str
    weight: float
    read: str
    names: tuple[str, ...] = ()
    topic: str = ""
    topic_names: tuple[str, ...] = ()
    unsure: bool = False


def statements(
    claims: Iterable[Mapping[str, Any]], chunks: Iterable[Mapping[str, Any]], places: Iterable[Mapping[str, Any]]
) -> Iterator[Said]:
    """What the rows of `claims`, `chunks` and `chunk_sentences` of some papers say that may be opposed.
    English only."""
    quoted: set[str] = set()
    found = list(chunks)
    topics = {chunk["chunk_id"]: chunk["header"].partition(" > ")[0] for chunk in found}
    named = _names_of_papers(found)
    for claim in claims:
        quoted.update(claim["sentence_ids"])
        if (claim["kind"] in FINDINGS or _MEASURED.search(claim["quote"])) and _says(claim["statement"]):
            weight = round(_firmly(claim["statement"], claim["quote"]), 4)
            ids = (claim["claim_id"], claim["paper_id"], claim["chunk_id"], claim["claim_id"])
            topic, names = topics.get(claim["chunk_id"], ""), named.get(claim["paper_id"], Names())
            yield _said(ids, claim["sentence_ids"], claim["statement"], weight, names, topic)
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in found}
    whole = {chunk["chunk_id"] for chunk in found if chunk["section_type"] in SECTIONS}
    for place in places:
        name, chunk = place["sentence_id"], place["chunk_id"]
        if name in quoted or chunk not in texts:
            continue
        quote = _NEXT.sub("", " ".join(texts[chunk][place["start"] : place["end"]].split()))
        if chunk not in whole and not _MEASURED.search(quote):
            continue
        quoted.add(name)  # a sentence that two chunks share counts in the first
        said = _JOINED.sub(lambda start: start[1].upper(), quote)
        if _quotable(said) and _says(statement := statement_of(said)):
            weight = round(SENTENCE * _firmly(statement, quote), 4)
            ids = (name, place["paper_id"], chunk, None)
            yield _said(ids, [name], statement, weight, named[place["paper_id"]], topics[chunk])


def _said(
    ids: tuple[str, str, str, str | None],
    sentences: Sequence[str],
    statement: str,
    weight: float,
    names: Names,
    topic: str,
) -> Said:
    return Said(
        *ids, tuple(sentences), statement, weight, names.written_out(statement), names.of(statement),
        names.written_out(topic), names.of(topic), UNSURE.search(statement) is not None,
    )  # fmt: skip


def _names_of_papers(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Names]:
    texts: dict[str, list[str]] = defaultdict(list)
    titles: dict[str, str] = {}
    for chunk in sorted(chunks, key=lambda one: str(one["chunk_id"])):
        texts[chunk["paper_id"]].append(chunk["text"])
        titles.setdefault(chunk["paper_id"], chunk["header"].partition(" > ")[0])
    return {paper: names_of_paper(titles[paper], some) for paper, some in texts.items()}


_SAYS_LITTLE = (AIMS, CONDITIONS, BOTH_SIDES, OF_UNNAMED)


def _quotable(text: str) -> bool:
    plain = STATISTIC.sub("", text)
    alone = _POINTS_WITHIN.sub("the", _STUDY.sub("Studies found", _NAMED_AFTER.sub("people", text)))
    prose = is_prose(plain) or bool(_MEASURE_ONLY.match(plain))
    return len(text) <= LONGEST and prose and stands_alone(alone) and not is_boilerplate(text)


def _says(statement: str) -> bool:
    """Whether it asserts something that has an opposite: no question, no aim, no condition."""
    if statement.rstrip().endswith("?") or is_japanese(statement) or len(statement) > LONGEST:
        return False
    return may_oppose(statement) and not any(one.search(statement) for one in _SAYS_LITTLE)


def _firmly(statement: str, quote: str) -> float:
    return (HEDGED if HEDGES.search(statement) else 1.0) * (OF_OTHERS if REPORTED.search(quote) else 1.0)


@lru_cache(maxsize=1024)
def topic_words(title: str) -> tuple[str, ...]:
    """The stems of a title's words."""
    return tuple(dict.fromkeys(stem_of(word) for word in _WORD.findall(title.casefold())))[:MOST_TOPIC]

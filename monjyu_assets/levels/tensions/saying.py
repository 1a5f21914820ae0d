"""Which statements may oppose others: the claims of papers, and sentences that say what was found or is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from monjyu_assets.levels.phrases.cleaning import is_boilerplate
from monjyu_assets.levels.phrases.japanese_phrases import is_japanese
from monjyu_assets.levels.phrases.prose import is_prose, statement_of
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
_NAME = re.compile(r"\b(?:[A-Z]{2,}[A-Za-z0-9-]*|[A-Z]?[a-z]+[A-Z]\w*|[A-Za-z]+-?\d[\w.-]*)\b")
_JOINED = re.compile(
    r"^(?:\d{1,3}(?:, ?\d{1,3})* )?(?:(?:however|moreover|furthermore|additionally|in addition|thus|therefore|hence"
    r"|consequently|interestingly|notably|importantly|in contrast|conversely|nevertheless|similarly|indeed|also|finally"
    r"|on the other hand|as a result|accordingly|overall|in our study|in this study|in conclusion),? )?(\w)",
    re.IGNORECASE,
)
"""What only joins a sentence to the one before it, and numbers of references that stand before it."""
_WORD = re.compile(r"[^\W\d_][\w-]{3,}")
_STATISTICS_WORDS = "CI SD SE OR HR RR IQR ANOVA R0 CFR AUC ROC PPV NPV BMI II III IV WHO CDC FDA NIH USA US UK EU"
STATISTICS = frozenset(_STATISTICS_WORDS.split())
"""What looks like a name and is not what a statement is about: statistics, those who report them."""
MOST_NAMES, LONGEST = 12, 600


@dataclass(frozen=True)
class Said:
    """One statement: a claim, or a sentence that none quotes. `weight` 0 to 1: less where it hedges or reports.
    `topic` is its paper's title."""

    said_id: str
    paper_id: str
    chunk_id: str
    claim_id: str | None
    sentence_ids: tuple[str, ...]
    statement: str
    weight: float
    topic: str = ""


def statements(
    claims: Iterable[Mapping[str, Any]], chunks: Iterable[Mapping[str, Any]], places: Iterable[Mapping[str, Any]]
) -> Iterator[Said]:
    """What the rows of `claims`, `chunks` and `chunk_sentences` of some papers say that may be opposed.
    English only."""
    quoted: set[str] = set()
    found = list(chunks)
    topics = {chunk["chunk_id"]: chunk["header"].partition(" > ")[0] for chunk in found}
    for claim in claims:
        quoted.update(claim["sentence_ids"])
        if claim["kind"] in FINDINGS and _says(claim["statement"]):
            weight = round(_firmly(claim["statement"], claim["quote"]), 4)
            names = (claim["claim_id"], claim["paper_id"], claim["chunk_id"], claim["claim_id"])
            topic = topics.get(claim["chunk_id"], "")
            yield Said(*names, tuple(claim["sentence_ids"]), claim["statement"], weight, topic)
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in found if chunk["section_type"] in SECTIONS}
    for place in places:
        name, chunk = place["sentence_id"], place["chunk_id"]
        if name in quoted or chunk not in texts:
            continue
        quoted.add(name)  # a sentence that two chunks share counts in the first
        quote = " ".join(texts[chunk][place["start"] : place["end"]].split())
        said = _JOINED.sub(lambda start: start[1].upper(), quote)
        if _quotable(said) and _says(statement := statement_of(said)):
            weight = round(SENTENCE * _firmly(statement, quote), 4)
            yield Said(name, place["paper_id"], chunk, None, (name,), statement, weight, topics[chunk])


_SAYS_LITTLE = (AIMS, CONDITIONS, UNSURE, BOTH_SIDES, OF_UNNAMED)


def _quotable(text: str) -> bool:
    return len(text) <= LONGEST and is_prose(text) and stands_alone(text) and not is_boilerplate(text)


def _says(statement: str) -> bool:
    """Whether it asserts something that has an opposite: no question, no aim, no condition."""
    if statement.rstrip().endswith("?") or is_japanese(statement) or len(statement) > LONGEST:
        return False
    return may_oppose(statement) and not any(one.search(statement) for one in _SAYS_LITTLE)


def _firmly(statement: str, quote: str) -> float:
    return (HEDGED if HEDGES.search(statement) else 1.0) * (OF_OTHERS if REPORTED.search(quote) else 1.0)


@lru_cache(maxsize=4096)
def names_in(statement: str) -> tuple[str, ...]:
    """Names, abbreviations and codes: what tells apart statements that share their common words."""
    return tuple(sorted({name.rstrip(".-") for name in _NAME.findall(statement)} - STATISTICS)[:MOST_NAMES])


@lru_cache(maxsize=1024)
def topic_words(title: str) -> tuple[str, ...]:
    """The stems of a title's words."""
    return tuple(dict.fromkeys(stem_of(word) for word in _WORD.findall(title.casefold())))[:MOST_NAMES]

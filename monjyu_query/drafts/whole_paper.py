"""What of a claim stands nowhere in the whole cited paper, as made-up details do: words, names, figures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from monjyu_query.answers.verification.alignment import Words, normal, stem
from monjyu_query.answers.verification.attribution import NAME
from monjyu_query.answers.verification.numbers import SMALL, Figure, figures, same_value
from monjyu_query.ranking.retrieval import QueryTerm

NAMES = (
    "gone", "gone_rare", "gone_most", "gone_figure", "gone_name", "far_figure", "far_name", "best_rare", "window_rare",
    "window_beyond_best",
)  # fmt: skip
WINDOW = 3
"""Sentences in a row that a claim may sum up."""
NEAR = 6
"""Sentences that were found for a claim, within which its figures and names should stand."""
TELLING = 0.45
"""From which rarity a lost word is named to people."""
_PARTS = re.compile(r"[\W_]+")
_TELLING_WORDS = (
    "et", "al", "author", "paper", "study", "work", "article", "show", "shown", "report", "describe", "find",
    "found", "keep", "kept", "mean", "meant", "make", "made", "take", "taken", "give", "given", "use", "used",
    "must", "many", "much", "also", "never", "every", "get", "become", "let", "lets", "aim", "say", "said",
    "call", "called", "allow", "enable", "help", "offer", "provide",
)  # fmt: skip
_OWN = frozenset(map(stem, _TELLING_WORDS))
"""Words (by their stems) that are of the draft's telling, not of what is told."""


@dataclass(frozen=True)
class WholePaper:
    """All sentences of a paper in order; `about` is what it is called."""

    sentences: Sequence[str]
    about: str

    @cached_property
    def small(self) -> str:
        return normal(f"{self.about} {' '.join(self.sentences)}").casefold()

    @cached_property
    def squeezed(self) -> str:
        return _PARTS.sub("", self.small)

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """Of each sentence; last, of what the paper is called."""
        return [frozenset(t for _, t in Words(normal(text)).content) for text in (*self.sentences, self.about)]

    @cached_property
    def all_stems(self) -> frozenset[str]:
        parts = {stem(part) for word in self.small.split() if "-" in word for part in word.split("-")}
        return frozenset().union(*self.stems) | parts

    @cached_property
    def figures(self) -> list[Figure]:
        return figures(self.small)

    def has_name(self, name: str) -> bool:
        return name in self.small or _PARTS.sub("", name) in self.squeezed


def rarities(terms: Sequence[QueryTerm], chunks: int) -> dict[str, float]:
    """How rare each word (by its stem) is in the collection, 0 to 1: BM25's idf over its largest value."""
    most = math.log(1 + (chunks + 0.5) / 0.5)
    found: dict[str, float] = {}
    for term in terms:
        value = math.log(1 + (chunks - term.frequency + 0.5) / (term.frequency + 0.5)) / most
        found[stem(term.word)] = max(found.get(stem(term.word), 0.0), value)
    return found


def whole_signs(
    claim: str, paper: WholePaper, found: Sequence[str], rarity: Mapping[str, float]
) -> tuple[dict[str, float], list[str]]:
    """The signs of `NAMES`, 0 to 1, and what stands nowhere, in words. `found` are the sentences nearest to the claim,
    best first, `rarity` as of `rarities`."""
    said = Words(normal(claim))
    values = dict.fromkeys(NAMES, 0.0)
    content = [(place, term) for place, term in said.content if term not in _OWN and not figures(said.plain[place])]
    weights = np.array([rarity.get(term, 0.5) for _, term in content])
    near = normal(" ".join((*found[:NEAR], paper.about))).casefold()
    lost: list[str] = []
    if len(content):
        gone = np.array([not _stands(said.plain[place], term, paper) for place, term in content])
        values["gone"] = float(gone.mean())
        values["gone_rare"] = float((weights * gone).sum() / max(weights.sum(), 1e-9))
        values["gone_most"] = float((weights * gone).max())
        lost += [
            said.plain[place]
            for (place, _), one, weight in zip(content, gone, weights, strict=True)
            if one and weight >= TELLING
        ]
        values |= _windows([term for _, term in content], weights, paper)
    missing, far = _figures(said, paper, near)
    values["gone_figure"], values["far_figure"] = min(1.0, float(len(missing))), min(1.0, float(len(far)))
    names = [
        one for one in dict.fromkeys(m[0].casefold().removesuffix("'s") for m in NAME.finditer(said.text)) if one[1:]
    ]
    absent = [name for name in names if not paper.has_name(name.rstrip("s"))]
    distant = [name for name in names if name not in absent and name.rstrip("s") not in near]
    values["gone_name"] = min(1.0, 0.5 * len(absent))
    values["far_name"] = min(1.0, 0.5 * len(distant))
    return values, list(dict.fromkeys([*missing, *absent, *lost]))


def _stands(word: str, term: str, paper: WholePaper) -> bool:
    """Whether the paper has the word, a form of it, or the parts that a hyphen joins."""
    if term in paper.all_stems:
        return True
    parts = [stem(part) for part in word.split("-") if part]
    return len(parts) > 1 and all(part in paper.all_stems for part in parts)


def _windows(terms: Sequence[str], weights: np.ndarray, paper: WholePaper) -> dict[str, float]:
    """How much of the claim, by rarity, the best sentence and the best sentences in a row do not have."""
    named = np.array([term in paper.stems[-1] for term in terms])
    rows = [np.array([term in stems for term in terms]) | named for stems in paper.stems[:-1]]
    if not rows:
        return {"best_rare": 1.0, "window_rare": 1.0}
    table = np.array(rows)
    wide = table.copy()
    for step in range(1, min(WINDOW, len(rows))):
        wide[:-step] |= table[step:]
    total = max(float(weights.sum()), 1e-9)
    best = float((table @ weights).max()) / total
    window = float((wide @ weights).max()) / total
    return {"best_rare": 1 - best, "window_rare": 1 - window, "window_beyond_best": window - best}


def _figures(said: Words, paper: WholePaper, near: str) -> tuple[list[str], list[str]]:
    """The claim's figures, as written, that stand nowhere in the paper; those that stand only far from its evidence."""
    missing, far = [], []
    close = figures(near)
    for figure in figures(said.text):
        if not figure.exact and figure.value <= SMALL:
            continue
        shown = said.text[figure.start : figure.end].strip()
        if not any(same_value(figure, one) for one in paper.figures):
            missing.append(shown)
        elif not any(same_value(figure, one) for one in close):
            far.append(shown)
    return missing, far

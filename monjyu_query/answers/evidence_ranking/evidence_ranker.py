"""Sentences to probabilities that each is evidence: two logistic regressions, the second of which reads vectors.

The first reads words alone and picks the few sentences whose vectors are worth their time; the second orders these.
`training/evidence.py` learns the weights, of one file a group of scripts, and docs/decisions/search.md has the figures.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.evidence_ranking.sentence_features import (
    VECTOR_FEATURES,
    WORD_FEATURES,
    Matrix,
    vector_features,
    word_features,
)
from monjyu_query.answers.selection import Question
from monjyu_query.ranking.similarity_scale import Scale
from monjyu_query.search.passages import PassageSentence

READ = 12
"""Sentences whose vectors are made for a question: 40 to 80 ms. More find no more (12, 16, 24 were tried)."""

Similarities = Callable[[Sequence[str]], NDArray[np.float32] | None]
"""The cosine (n,) of each text with the question; None where vectors say nothing or would have to be paid."""

_SHA256 = {
    "confidence_spaced": "768b4a560e2b495affa515525a637e22ec05f525ff89c3815a6eead8bdbfc1bb",
    "confidence_wide": "5b36c32666f867ad0156c329a4c6a25f5fef70a98acfc3efe8e8bd8f2d70ea89",
    "spaced": "fb2df57a4ae5508ddc048c6f032438df8f643538f47bb5bafd7919e500410794",
    "wide": "f766d7cc2bfaf768b1998ff28dc1e425d654e9f72ac1ac5a640778b427457b6b",
}
_FOLDER = Path(__file__).parent / "weights"


@dataclass(frozen=True)
class Regression:
    """`1 / (1 + exp(-(x @ weights + bias)))` of features as they are."""

    weights: NDArray[np.float64]
    bias: float

    def __call__(self, features: Matrix) -> Matrix:
        probabilities: Matrix = 1 / (1 + np.exp(-(features @ self.weights + self.bias)))
        return probabilities


@dataclass(frozen=True)
class EvidenceModel:
    """`least`: a further sentence of an answer must be as probable, in the second regression and in the first alone."""

    words: Regression
    vectors: Regression
    least: float
    least_by_words: float


@dataclass(frozen=True)
class Judged:
    """Probability (n,) of each sentence that it is evidence, and below which a further one is left out."""

    probability: Matrix
    least: float


def judge_sentences(
    query: str,
    question: Question,
    sentences: Sequence[PassageSentence],
    terms: Sequence[Sequence[str]],
    similarities: Similarities,
    scale: Scale,
    most: int = READ,
    lift: NDArray[np.float64] | float = 1.0,
) -> Judged:
    """Sentences best passage first, `terms` those of each in order. What the second regression does not read, for which
    there are `most` sentences, is 0; which are read depends on the `lift` (n,) too, by which the wording multiplies
    their worth."""
    model = evidence_model("wide" if count_wide(query) else "spaced")
    features = word_features(query, question, sentences, terms)
    first = model.words(features)
    read = np.sort(np.argsort(-first * lift, kind="stable")[:most])
    found = similarities([sentences[row].text for row in read]) if len(read) else None
    if found is None:
        return Judged(first, model.least_by_words)
    probability = np.zeros(len(sentences))
    probability[read] = model.vectors(np.hstack([features[read], vector_features(found, scale)]))
    return Judged(probability, model.least)


@cache
def evidence_model(script: str) -> EvidenceModel:
    """The weights for questions in a `spaced` or a `wide` script. ConfigurationError where the file is not ours."""
    held = read_weights(script)
    words = _regression(held["words"], WORD_FEATURES)
    vectors = _regression(held["vectors"], (*WORD_FEATURES, *VECTOR_FEATURES))
    return EvidenceModel(words, vectors, held["least"], held["least_by_words"])


def read_weights(name: str) -> dict[str, Any]:
    """A file of weights of the package. ConfigurationError where it is not ours."""
    path = _FOLDER / f"{name}.json"
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != _SHA256[name]:
        raise ConfigurationError(f"{path.name}, weights of the evidence ranker, is damaged.", "Install Monjyu anew.")
    held: dict[str, Any] = json.loads(content)
    return held


def _regression(held: dict[str, float], names: Sequence[str]) -> Regression:
    return Regression(np.array([held[name] for name in names]), held["bias"])

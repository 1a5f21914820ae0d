"""Noun phrases by a small tagger that learned them from the parser: six times as quick, nearly the same phrases.

A label says of each token whether a phrase begins or goes on there and whether it ends, in a plural that has a lemma or
in anything else. `training/phrases.py` makes the network; the words' vectors are those of spaCy's English model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from monjyu_assets.levels.phrases.english_phrases import Phrase
from monjyu_assets.levels.phrases.network import Network
from monjyu_assets.levels.phrases.plurals import Plurals
from monjyu_assets.levels.phrases.token_table import TokenTable
from monjyu_assets.levels.phrases.words import all_stop, is_phrase, normalise
from monjyu_core.embedding.english_model import load_model
from monjyu_core.errors import ConfigurationError

WEIGHTS = Path(__file__).with_name("phrase_tagger.npz")
WEIGHTS_SHA256 = "c005f873d51d95b61a7b871dfaeabb6d9466fec8d090bd20d3bcb3519856f878"
LABELS = ("out", "begin", "inside", "only", "only_plural", "last", "last_plural")
OUT, BEGIN, INSIDE, ONLY, ONLY_PLURAL, LAST, LAST_PLURAL = range(len(LABELS))
BATCH = 64
"""Windows tagged at once: their layers stay in the processor's cache."""
MOST_FORMS = 50_000
"""Phrases as written, and plurals, that are remembered."""
Labels = NDArray[np.intp]


@dataclass
class PhraseTagger:
    """The network, its words, and forms met before."""

    table: TokenTable
    network: Network
    plurals: Plurals
    _forms: dict[tuple[str, str], Phrase | None] = field(default_factory=dict)

    @classmethod
    def of(cls, weights: Mapping[str, NDArray[np.floating]]) -> PhraseTagger:
        """With the arrays that `Network.of` takes."""
        pipeline = load_model(exclude=["ner", "parser", "tagger", "attribute_ruler"])
        lemmatizer: Any = pipeline.get_pipe("lemmatizer")
        return cls(TokenTable(pipeline), Network.of(weights), Plurals(lemmatizer.lookups))

    def phrases(self, windows: Sequence[str]) -> list[list[Phrase]]:
        self.table.meet(windows)
        found: list[list[Phrase]] = []
        for start in range(0, len(windows), BATCH):
            found += self._batch(windows[start : start + BATCH])
        return found

    def _batch(self, windows: Sequence[str]) -> list[list[Phrase]]:
        tokens = self.table.read(windows)
        scores = self.network.scores(self.table.vectors[tokens.rows])
        first, last, plural = spans(scores, tokens.rows == 0)
        of_window = np.cumsum(tokens.rows == 0)[first]
        found: list[list[Phrase]] = [[] for _ in windows]
        places = (of_window, tokens.starts[first], tokens.starts[last], tokens.ends[last], plural)
        for window, start, head, end, many in zip(*(each.tolist() for each in places), strict=True):
            before, word = tokens.text[start:head], tokens.text[head:end]
            phrase = self._form(before, word, many)
            if phrase is not None:
                found[window].append(phrase)
        return found

    def _form(self, before: str, head: str, plural: bool) -> Phrase | None:
        key = (before + head, head if plural else "")
        if key in self._forms:
            return self._forms[key]
        if len(self._forms) >= MOST_FORMS:
            self._forms.clear()
        phrase = self._forms[key] = phrase_of(before, head, self.lemma(head, plural))
        return phrase

    def lemma(self, head: str, plural: bool) -> str:
        """The lemma of a plural noun; a plural acronym ("LLMs") loses its s; any other head stays as it is."""
        if plural:
            return self.plurals.singular(head)
        if len(head) > 2 and head.endswith("s") and head[:-1].isupper():
            return head[:-1]
        return head


def phrase_of(before: str, head: str, lemma: str) -> Phrase | None:
    """(key, surface) of a phrase whose last word is `head`; None where it names nothing."""
    key = normalise(before + lemma).casefold()
    if all_stop(key.split()) or not is_phrase(key):
        return None
    return key, normalise(before + head)


def spans(scores: NDArray[np.float32], gaps: NDArray[np.bool_]) -> tuple[Labels, Labels, NDArray[np.bool_]]:
    """First and last token of each phrase, and whether the last is a plural, from (n, labels) scores. `gaps` (n,) are
    between windows."""
    scores[gaps] = _OF_GAP
    labels = scores.argmax(axis=1)
    wrong = np.zeros(len(labels), bool)
    wrong[1:] = _OPEN[labels[:-1]] != _GOES_ON[labels[1:]]
    wrong[0] = _GOES_ON[labels[0]]
    ends = np.flatnonzero(gaps)
    for window in np.unique(np.searchsorted(ends, np.flatnonzero(wrong))).tolist():
        start = ends[window - 1] + 1 if window else 0
        labels[start : ends[window]] = best_path(scores[start : ends[window]].tolist())
    last = np.flatnonzero(_ENDS[labels])
    return np.flatnonzero(_BEGINS[labels]), last, _PLURAL[labels[last]]


_OPEN, _GOES_ON, _BEGINS, _ENDS, _PLURAL = (
    np.isin(np.arange(len(LABELS)), chosen)
    for chosen in (
        (BEGIN, INSIDE),
        (INSIDE, LAST, LAST_PLURAL),
        (BEGIN, ONLY, ONLY_PLURAL),
        (ONLY, ONLY_PLURAL, LAST, LAST_PLURAL),
        (ONLY_PLURAL, LAST_PLURAL),
    )
)
_OF_GAP = np.where(np.arange(len(LABELS)) == OUT, 0, -np.inf)
_OUTSIDE, _WITHIN = (OUT, ONLY, ONLY_PLURAL), (LAST, LAST_PLURAL)


def best_path(scores: Sequence[Sequence[float]]) -> list[int]:
    """The labels of a window with the highest sum of scores among those in which every phrase that begins ends."""
    outside, within = 0.0, -np.inf
    steps = []
    for row in scores:
        alone, ending = max(_OUTSIDE, key=row.__getitem__), max(_WITHIN, key=row.__getitem__)
        to_out = (alone, False) if outside + row[alone] >= within + row[ending] else (ending, True)
        to_in = (BEGIN, False) if outside + row[BEGIN] >= within + row[INSIDE] else (INSIDE, True)
        steps.append((to_out, to_in))
        outside, within = (
            max(outside + row[alone], within + row[ending]),
            max(outside + row[BEGIN], within + row[INSIDE]),
        )
    path, inside = [], False
    for step in reversed(steps):
        label, inside = step[inside]
        path.append(label)
    return path[::-1]


@cache
def tagger() -> PhraseTagger:
    """ConfigurationError where the weights, or spaCy's model, are not those known."""
    content = WEIGHTS.read_bytes()
    if hashlib.sha256(content).hexdigest() != WEIGHTS_SHA256:
        raise ConfigurationError(f"The phrase tagger {WEIGHTS} is damaged.", "Install Monjyu again.")
    with np.load(BytesIO(content)) as weights:
        return PhraseTagger.of(weights)


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def tagged_phrases(windows: Sequence[str]) -> list[list[Phrase]]:
    """The phrases of each window, in order. The same windows give the same phrases, whatever was read before."""
    with _threads().limit(limits=1, user_api="blas"):  # waiting threads cost more than the products of a batch
        return tagger().phrases(windows)

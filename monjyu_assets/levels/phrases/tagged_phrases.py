"""Extracts noun phrases with a small tagger trained on the parser's: some eight times as fast, nearly the same phrases.

The label of a token states whether a phrase begins, continues or ends there, and whether it ends in a plural noun,
which is replaced by its lemma. `training/phrases.py` trains the network; the token vectors are those of spaCy's English
model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from monjyu_assets.levels.phrases.english_phrases import Phrase
from monjyu_assets.levels.phrases.network import Floats, Maxout, Network, in_blocks
from monjyu_assets.levels.phrases.words import named_phrase, singular_acronym
from monjyu_core.embedding.local.packaged import load_model
from monjyu_core.errors import ConfigurationError

if TYPE_CHECKING:
    from spacy.language import Language


# The singulars of plural nouns, by the rules, exceptions and word list of spaCy's lemmatizer.
# The lemmatizer returns the same singulars, but searches a list of 80,000 words linearly.
class Plurals:
    def __init__(self, lookups: Any) -> None:
        """Read the tables of the lemmatizer, `lookups`."""
        self._rules = [tuple(rule) for rule in lookups.get_table("lemma_rules")["noun"]]
        self._exceptions = lookups.get_table("lemma_exc")["noun"]
        self._nouns = frozenset(lookups.get_table("lemma_index")["noun"])

    def singular(self, word: str) -> str:
        """The lemma of a plural noun: its last listed exception, otherwise a known noun, otherwise the result of a
        rule, otherwise the word itself."""
        lower = word.lower()
        made = [form for old, new in self._rules if lower.endswith(old) and (form := lower[: -len(old)] + new)]
        known = [form for form in made if form in self._nouns]
        apart = [form for form in made if form not in self._nouns and not form.isalpha()]
        listed = [form for form in self._exceptions.get(lower, ()) if form not in known and form not in apart]
        return next(iter([*listed[::-1], *known[::-1], *apart, *made]), word)


# Each piece between two spaces is tokenised once, and its tokens are embedded once, as rows of a table.
# spaCy's tokenizer handles one piece at a time and the first layers of its English model handle one token at a time, so
# both run only on new pieces, and all other text is looked up.
MOST_PIECES = 100_000
"""The maximum number of cached pieces (some 60 MB). The table is cleared before it exceeds it."""
END = "\n"
"""Separates two windows. No window contains it, because they are split at white space of any kind."""
_PLAIN = re.compile(
    r"[(\"“]?(?:[A-Za-z]{2,40}(?:-[A-Za-z]{2,40}){0,3}|[0-9]{1,9})[)\"”]?(?:[,;:]|(?<=[a-z0-9)\"”])\.)?"
)
"""Matches pieces that the tokenizer splits at every mark, unless they are exceptions. Splitting them here is faster."""
_PARTS = re.compile(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]")
_USUAL = re.compile(r"([A-Z]?)([a-z]+)")
_EMBEDDED_AT_ONCE, _ROOM = 2000, 1000
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tokens:
    """The tokens of consecutive windows, each followed by a padding token (row 0).

    `text` is the windows, each followed by `END`, joined by spaces. `rows` (n,) are row numbers of the table; `starts`
    and `ends` (n,) are offsets into `text`.
    """

    text: str
    rows: Ints
    starts: Ints
    ends: Ints


class TokenTable:
    """The tokens of the pieces added so far, and their vectors, which depend only on the piece."""

    def __init__(self, pipeline: Language) -> None:
        """Use the tokenizer and the embedding of `pipeline`, spaCy's English model."""
        self.pipeline = pipeline
        tok2vec: Any = pipeline.get_pipe("tok2vec")
        embedding = tok2vec.model.layers[0].layers
        self._hashed = embedding[2].layers[0]
        layer, norm = embedding[3].layers[0].layers[0].layers
        self._mixed = Maxout.of(
            *(p.get_param(name) for p, name in ((layer, "W"), (layer, "b"), (norm, "G"), (norm, "b")))
        )
        tokenizer: Any = pipeline.tokenizer
        self._exceptions = frozenset(tokenizer.rules)
        from spacy import attrs
        from spacy.strings import get_string_id

        vocab: Any = pipeline.vocab
        getters = vocab.lex_attr_getters
        self._norm, self._shape, self._hash = getters[attrs.NORM], getters[attrs.SHAPE], get_string_id
        self._clear()

    def _clear(self) -> None:
        self._pieces: dict[str, tuple[int, ...]] = {END: (0,)}
        self._known: dict[tuple[str, str | None, bool], int] = {}
        self._features: list[tuple[int, ...]] = []
        self._sizes: list[tuple[int, int]] = []
        self._rows = 1
        self.vectors: Floats = np.zeros((_ROOM, len(self._mixed.gain)), np.float32)
        """The vectors of the tokens (rows or more, width); row 0 is zero."""
        self._lengths: Ints = np.full((_ROOM, 2), (len(END), len(END) + 1))

    def meet(self, windows: Iterable[str]) -> None:
        """Add the pieces of `windows` that the table does not contain, so that `read` can look them up."""
        pieces = dict.fromkeys(chain.from_iterable(window.split(" ") for window in windows))
        new = [piece for piece in pieces if piece not in self._pieces]
        if len(self._pieces) + len(new) > MOST_PIECES:
            self._clear()
            new = list(pieces)
        odd = [piece for piece in new if not self._add_plain(piece)]
        if odd:
            self._tokenise(odd)
        if self._features:
            self._keep()

    def read(self, windows: Sequence[str]) -> Tokens:
        """The tokens of `windows`, whose pieces `meet` has added. Their words are separated by single spaces."""
        text = "".join(f"{window} {END} " for window in windows)
        pieces = map(self._pieces.__getitem__, text[:-1].split(" "))
        rows = np.fromiter(chain.from_iterable(pieces), np.int64)
        lengths, steps = self._lengths[rows].T
        starts = np.cumsum(steps) - steps
        return Tokens(text, rows, starts, starts + lengths)

    def _add_plain(self, piece: str) -> bool:
        """Add a piece that is split at every mark; return False for any other piece."""
        if not _PLAIN.fullmatch(piece) or piece in self._exceptions:
            return False
        words = _PARTS.findall(piece)
        pairs = map(str.__add__, words, words[1:])
        if len(words) > 1 and not self._exceptions.isdisjoint([*words, *pairs]):
            return False
        last = len(words) - 1
        self._pieces[piece] = tuple([self._row(word, None, n == last) for n, word in enumerate(words)])
        return True

    def _tokenise(self, pieces: Sequence[str]) -> None:
        with self.pipeline.memory_zone():  # the vocabulary would grow with every word of a collection
            doc = self.pipeline.make_doc(" ".join(pieces))
            rows: list[int] = []
            waiting = iter(pieces)
            for token in doc:
                last = bool(token.whitespace_) or token.i == len(doc) - 1
                rows.append(self._row(token.text, token.norm_, last))
                if last:
                    self._pieces[next(waiting)] = tuple(rows)
                    rows = []

    def _row(self, word: str, norm: str | None, spaced: bool) -> int:
        """The row of a token, added if it is new. `norm` is None if the tokenizer has no special norm for it."""
        row = self._known.get((word, norm, spaced))
        if row is None:
            row = self._known[word, norm, spaced] = self._rows + len(self._sizes)
            self._sizes.append((len(word), len(word) + spaced))
            self._features.append(self._features_of(word, norm, spaced))
        return row

    def _features_of(self, word: str, norm: str | None, spaced: bool) -> tuple[int, ...]:
        """The features that spaCy's model embeds: the hashes of norm, first letter, last three letters and shape;
        whether a space follows; whether the token is a space (never)."""
        norm = self._norm(word) if norm is None else norm
        usual = _USUAL.fullmatch(word)
        shape = "X" * len(usual[1]) + "x" * min(4, len(usual[2])) if usual else self._shape(word)
        return (*map(self._hash, (norm, word[:1], word[-3:], shape)), int(spaced), 0)

    def _keep(self) -> None:
        """Embed the new tokens and append their vectors."""
        first, count = self._rows, len(self._features)
        self._rows += count
        if self._rows > len(self.vectors):  # the room doubles, so that the copies of a token are few
            self.vectors, self._lengths = (
                np.concatenate([old[:first], np.zeros((2 * self._rows - first, old.shape[1]), old.dtype)])
                for old in (self.vectors, self._lengths)
            )
        self._lengths[first : self._rows] = self._sizes
        for start in range(0, count, _EMBEDDED_AT_ONCE):
            features = np.array(self._features[start : start + _EMBEDDED_AT_ONCE], np.uint64)
            embedded = self._mixed(in_blocks(self._hashed.predict(features)), len(features))
            self.vectors[first + start : first + start + len(features)] = embedded
        self._features.clear()
        self._sizes.clear()


WEIGHTS = Path(__file__).with_name("phrase_tagger.npz")
WEIGHTS_SHA256 = "c005f873d51d95b61a7b871dfaeabb6d9466fec8d090bd20d3bcb3519856f878"
LABELS = ("out", "begin", "inside", "only", "only_plural", "last", "last_plural")
OUT, BEGIN, INSIDE, ONLY, ONLY_PLURAL, LAST, LAST_PLURAL = range(len(LABELS))
BATCH = 64
"""The number of windows per batch, chosen so that their layers stay in the processor's cache."""
MOST_FORMS = 50_000
"""The maximum number of cached phrases. The cache is cleared when it is full."""
Labels = NDArray[np.intp]


@dataclass
class PhraseTagger:
    """Extracts phrases with the network, from vectors of the token table, and caches their forms."""

    table: TokenTable
    network: Network
    plurals: Plurals
    _forms: dict[tuple[str, str], Phrase | None] = field(default_factory=dict)

    @classmethod
    def of(cls, weights: Mapping[str, NDArray[np.floating]]) -> PhraseTagger:
        """The tagger of a network, given by the arrays that `Network.of` takes."""
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
        lemma = self.plurals.singular(head) if plural else singular_acronym(head)
        phrase = self._forms[key] = named_phrase(before, head, lemma)
        return phrase


def spans(scores: NDArray[np.float32], gaps: NDArray[np.bool_]) -> tuple[Labels, Labels, NDArray[np.bool_]]:
    """The first and the last token of each phrase, and whether the last is a plural, from scores (n, labels). `gaps`
    (n,) marks the gaps between windows."""
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
    """The labels of a window with the highest sum of scores in which every phrase that begins also ends."""
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
    """The phrase tagger. Raises ConfigurationError if the weights or spaCy's model are not the expected ones."""
    content = WEIGHTS.read_bytes()
    if hashlib.sha256(content).hexdigest() != WEIGHTS_SHA256:
        raise ConfigurationError(f"The phrase tagger {WEIGHTS} is damaged.", "Install Monjyu again.")
    with np.load(BytesIO(content)) as weights:
        return PhraseTagger.of(weights)


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def tagged_phrases(windows: Sequence[str]) -> list[list[Phrase]]:
    """The phrases of each window, in order. They do not depend on other windows."""
    with _threads().limit(limits=1, user_api="blas"):  # the matrices are too small for several threads
        return tagger().phrases(windows)

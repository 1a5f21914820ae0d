"""Words as rows of a table: each piece between two spaces is tokenised, and its tokens embedded, once.

spaCy's tokenizer looks at one such piece at a time and the first layers of its English model at one token at a time,
so both are asked about pieces that were not met before, and a text is read by look-ups alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.levels.phrases.network import Floats, Maxout, in_blocks

if TYPE_CHECKING:
    from spacy.language import Language

MOST_PIECES = 100_000
"""Pieces that are remembered (some 60 MB); then the table starts again."""
END = "\n"
"""Stands between two windows. No window holds it: they are cut at white space of any kind."""
_PLAIN = re.compile(
    r"[(\"“]?(?:[A-Za-z]{2,40}(?:-[A-Za-z]{2,40}){0,3}|[0-9]{1,9})[)\"”]?(?:[,;:]|(?<=[a-z0-9)\"”])\.)?"
)
"""Pieces that the tokenizer parts at every mark, unless they are among its exceptions: quicker than asking it."""
_PARTS = re.compile(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]")
_USUAL = re.compile(r"([A-Z]?)([a-z]+)")
_EMBEDDED_AT_ONCE, _ROOM = 2000, 1000
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tokens:
    """The tokens of windows, one after the other, each window followed by one that is none (row 0).

    `text` is the windows joined by `END` between spaces; `rows` (n,) are places in the table; `starts` and `ends` (n,)
    are offsets into `text`.
    """

    text: str
    rows: Ints
    starts: Ints
    ends: Ints


class TokenTable:
    """The tokens met so far, by piece, and their vectors. They depend on the piece alone, not on what came before."""

    def __init__(self, pipeline: Language) -> None:
        """`pipeline` is spaCy's English model, of which the tokenizer and the embedding are used."""
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
        """(rows or more, width) of the tokens; zeros in row 0."""
        self._lengths: Ints = np.full((_ROOM, 2), (len(END), len(END) + 1))

    def meet(self, windows: Iterable[str]) -> None:
        """Learn the pieces of windows to be read."""
        pieces = dict.fromkeys(chain.from_iterable(window.split(" ") for window in windows))
        new = [piece for piece in pieces if piece not in self._pieces]
        if len(self._pieces) + len(new) > MOST_PIECES:
            self._clear()
            new = list(pieces)
        odd = [piece for piece in new if not self._is_plain(piece)]
        if odd:
            self._tokenise(odd)
        if self._features:
            self._keep()

    def read(self, windows: Sequence[str]) -> Tokens:
        """The tokens of windows that were met. Their words are parted by single spaces."""
        text = "".join(f"{window} {END} " for window in windows)
        pieces = map(self._pieces.__getitem__, text[:-1].split(" "))
        rows = np.fromiter(chain.from_iterable(pieces), np.int64)
        lengths, steps = self._lengths[rows].T
        starts = np.cumsum(steps) - steps
        return Tokens(text, rows, starts, starts + lengths)

    def _is_plain(self, piece: str) -> bool:
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
        """The row of a token; `norm` is None where the tokenizer says nothing special of it."""
        row = self._known.get((word, norm, spaced))
        if row is None:
            row = self._known[word, norm, spaced] = self._rows + len(self._sizes)
            self._sizes.append((len(word), len(word) + spaced))
            self._features.append(self._features_of(word, norm, spaced))
        return row

    def _features_of(self, word: str, norm: str | None, spaced: bool) -> tuple[int, ...]:
        """What spaCy's model embeds: hashes of norm, first letter, last three and shape; space after; being space."""
        norm = self._norm(word) if norm is None else norm
        usual = _USUAL.fullmatch(word)
        shape = "X" * len(usual[1]) + "x" * min(4, len(usual[2])) if usual else self._shape(word)
        return (*map(self._hash, (norm, word[:1], word[-3:], shape)), int(spaced), 0)

    def _keep(self) -> None:
        """Embed the tokens that are new, after those of before."""
        first, count = self._rows, len(self._features)
        self._rows += count
        if self._rows > len(self.vectors):  # twice the room, so that a token is copied twice on average
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

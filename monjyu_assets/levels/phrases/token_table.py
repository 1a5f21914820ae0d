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
_PLAIN = re.compile(r"([A-Z]?[a-z]{2,40})([,.;:]?)")
"""Pieces that the tokenizer only parts from their last mark, unless they are among its exceptions."""
_EMBEDDED_AT_ONCE = 2000
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
        embedding: Any = pipeline.get_pipe("tok2vec").model.layers[0].layers  # type: ignore[attr-defined]
        self._hashed = embedding[2].layers[0]
        layer, norm = embedding[3].layers[0].layers[0].layers
        self._mixed = Maxout.of(*(p.get_param(name) for p, name in ((layer, "W"), (layer, "b"), (norm, "G"), (norm, "b"))))
        self._exceptions = frozenset(pipeline.tokenizer.rules)  # type: ignore[attr-defined]
        self._clear()

    def _clear(self) -> None:
        self._pieces: dict[str, tuple[int, ...]] = {END: (0,)}
        self._known: dict[tuple[str, str | None, bool], int] = {}
        self._features: list[tuple[int, ...]] = []
        self.vectors: Floats = np.zeros((1, len(self._mixed.gain)), np.float32)
        """(rows, width) of the tokens; zeros in row 0."""
        self._sizes: list[tuple[int, int]] = [(len(END), len(END) + 1)]

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
            self.vectors = np.concatenate([self.vectors, *self._embedded()])
            self._features.clear()
        self._lengths = np.array(self._sizes, np.int64)

    def read(self, windows: Sequence[str]) -> Tokens:
        """The tokens of windows that were met. Their words are parted by single spaces."""
        text = "".join(f"{window} {END} " for window in windows)
        pieces = map(self._pieces.__getitem__, text[:-1].split(" "))
        rows = np.fromiter(chain.from_iterable(pieces), np.int64)
        lengths, steps = self._lengths[rows].T
        starts = np.cumsum(steps) - steps
        return Tokens(text, rows, starts, starts + lengths)

    def _is_plain(self, piece: str) -> bool:
        found = _PLAIN.fullmatch(piece)
        if not found or piece in self._exceptions or found[1] in self._exceptions:
            return False
        word, mark = found.groups()
        if mark:
            self._pieces[piece] = (self._row(word, None, False), self._row(mark, None, True))
        else:
            self._pieces[piece] = (self._row(word, None, True),)
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
            row = self._known[word, norm, spaced] = len(self._sizes)
            self._sizes.append((len(word), len(word) + spaced))
            self._features.append(self._features_of(word, norm, spaced))
        return row

    def _features_of(self, word: str, norm: str | None, spaced: bool) -> tuple[int, ...]:
        """What spaCy's model embeds: hashes of norm, first letter, last three and shape; space after; being space."""
        from spacy.attrs import NORM, SHAPE
        from spacy.strings import get_string_id

        getters = self.pipeline.vocab.lex_attr_getters
        norm = getters[NORM](word) if norm is None else norm
        shape = getters[SHAPE](word)
        return (*map(get_string_id, (norm, word[:1], word[-3:], shape)), int(spaced), 0)

    def _embedded(self) -> Iterable[Floats]:
        for start in range(0, len(self._features), _EMBEDDED_AT_ONCE):
            features = np.array(self._features[start : start + _EMBEDDED_AT_ONCE], np.uint64)
            yield self._mixed(in_blocks(self._hashed.predict(features)), len(features))

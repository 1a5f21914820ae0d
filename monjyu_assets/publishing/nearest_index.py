"""Builds the approximate index of a large collection's vectors if it is due, and measures its recall.

Lance builds it (IVF with RaBitQ codes, Gao and Long 2024, "RaBitQ: quantizing high-dimensional vectors with a
theoretical error bound for approximate nearest neighbor search") in a table of keys and vectors, without text. The
table never changes: readers skip its removed chunks and compare each chunk that it lacks. It is rebuilt when the share
of changes is large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import remove_folder, write_atomically
from monjyu_core.storage.ids import digest
from monjyu_core.storage.keyword_file import SearchFile, open_search_file
from monjyu_core.storage.manifest import NearestEntry, SearchFileEntry
from monjyu_core.storage.nearest_table import CANDIDATES, MIN_RECALL, NearestTable

if TYPE_CHECKING:
    from monjyu_core.lance import lancedb

MOST_CHANGED = 0.03
"""The share of added and removed chunks above which the index is built again, because readers compare each added
chunk."""
PROBES = (16, 32, 64, 128, 256)
"""The candidates for the number of partitions that a question searches. The first that reaches the recall is used."""
KEYS = "keys.u64"
_QUESTIONS, _NEAREST = 200, 10
_NOISE = 0.3
"""The length of the noise that is added to a stored vector of length 1 to make it a question."""
_EXACT_AT_ONCE = 20_000
FEWEST = 16
"""The number of partitions of the smallest index."""
_MOST_PARTITIONS = re.compile(r"Reduce num_partitions to <= (\d+)")
"""Matches Lance's error for too many partitions."""


def publish_nearest_index(
    search: Path,
    tables: Path,
    lance: Path,
    entries: Sequence[SearchFileEntry],
    exact_up_to: int,
    before: NearestEntry | None,
    excluded: str = "",
) -> NearestEntry | None:
    """The index of the files in `search`, whose vectors are in the Lance `tables`; None for up to `exact_up_to` chunks,
    which readers compare exactly. The index of `before` is reused if few chunks have changed and the same papers are
    `excluded` (a purge must leave no vector)."""
    if sum(entry.rows for entry in entries) <= exact_up_to:
        return None
    files = [open_search_file(search, tables, entry) for entry in entries]
    keys = np.concatenate([file.keys for file in files])
    if before is not None and before.excluded == excluded and _is_near(lance, before, keys):
        return before
    made = _built(lance, files, digest(*(entry.name for entry in entries), length=12))
    return made.model_copy(update={"excluded": excluded})


def _is_near(lance: Path, before: NearestEntry, keys: NDArray[np.uint64]) -> bool:
    try:
        held = _stored_keys(lance, before)
    except StorageError:
        return False
    both = len(np.intersect1d(held, keys))
    return len(held) + len(keys) - 2 * both <= MOST_CHANGED * len(held)


def _stored_keys(lance: Path, entry: NearestEntry) -> NDArray[np.uint64]:
    """The keys of a table, from a file next to it, because to import and open Lance would take seconds."""
    path = lance / entry.folder / KEYS
    with suppress(FileNotFoundError):
        kept: NDArray[np.uint64] = np.fromfile(path, "<u8").astype(np.uint64)
        if len(kept) == entry.rows:
            return kept
    keys = NearestTable(lance, entry).keys()
    write_atomically(path, keys.astype("<u8").tobytes())
    return keys


def _built(lance: Path, files: Sequence[SearchFile], name: str) -> NearestEntry:
    from monjyu_core.lance import lancedb

    table_name = f"nearest_{name}"
    entry = NearestEntry(table=table_name, rows=sum(map(len, files)), probes=PROBES[0], recall=0.0)
    lance.mkdir(parents=True, exist_ok=True)
    if (lance / entry.folder).exists():  # from a publish that was killed
        remove_folder(lance / entry.folder)
    dimensions = files[0].vectors.shape[1]
    schema = pa.schema([("key", pa.uint64()), ("vector", pa.list_(pa.float32(), dimensions))])
    table = lancedb.connect(str(lance)).create_table(
        table_name, pa.RecordBatchReader.from_batches(schema, _batches(files, schema))
    )
    divide(table, max(FEWEST, round(entry.rows**0.5)))
    return _tuned_to_recall(lance, files, entry)


def divide(table: lancedb.Table, partitions: int) -> None:
    """Index the vectors of a table in `partitions` partitions, or in fewer if many vectors are equal: equal vectors are
    one cluster, and Lance refuses more partitions than clusters."""
    from monjyu_core.lance import lancedb

    while True:
        try:
            table.create_index("vector", config=lancedb.index.IvfRq(distance_type="dot", num_partitions=partitions))
            return
        except (RuntimeError, ValueError, OSError) as error:
            can_be = _MOST_PARTITIONS.search(str(error))
            if can_be is None or partitions <= 1:
                raise
            partitions = min(int(can_be[1]), partitions * 9 // 10)  # the next try may find fewer clusters


def _batches(files: Sequence[SearchFile], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for file in files:
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(file.vectors.reshape(-1)), file.vectors.shape[1])
        yield pa.record_batch([pa.array(file.keys), vectors], schema=schema)


def _tuned_to_recall(lance: Path, files: Sequence[SearchFile], entry: NearestEntry) -> NearestEntry:
    """The entry with its recall, and the fewest `PROBES` that reach the required recall, or the most if none do."""
    questions = _questions(files)
    exact = _exact(files, questions)
    for probes in PROBES:
        entry = entry.model_copy(update={"probes": probes})
        table = NearestTable(lance, entry)
        found = [
            np.isin(own, table.nearest(question, CANDIDATES)).mean()
            for question, own in zip(questions, exact, strict=True)
        ]
        entry = entry.model_copy(update={"recall": round(float(np.mean(found)), 4)})
        if entry.recall >= MIN_RECALL:
            break
    return entry


def _questions(files: Sequence[SearchFile]) -> NDArray[np.float32]:
    """Evenly spaced stored vectors with noise, of length 1, as questions (q, d)."""
    chance = np.random.default_rng(0)
    begins = np.cumsum([0, *map(len, files)])
    rows = np.linspace(0, begins[-1] - 1, min(_QUESTIONS, int(begins[-1]))).astype(np.int64)
    owner = np.searchsorted(begins, rows, side="right") - 1
    stored = np.stack([files[of].vectors[row - begins[of]] for of, row in zip(owner, rows, strict=True)])
    noise = chance.normal(size=stored.shape)
    made = stored + _NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    questions: NDArray[np.float32] = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return questions


def _exact(files: Sequence[SearchFile], questions: NDArray[np.float32]) -> NDArray[np.uint64]:
    """The keys (q, 10) of the nearest chunks by exact similarity."""
    best = np.full((len(questions), _NEAREST), -np.inf, np.float32)
    keys = np.zeros((len(questions), _NEAREST), np.uint64)
    for file in files:
        for start in range(0, len(file), _EXACT_AT_ONCE):
            some = slice(start, start + _EXACT_AT_ONCE)
            scores = np.hstack([best, questions @ file.vectors[some].T])
            names = np.hstack([keys, np.broadcast_to(file.keys[some], (len(questions), len(file.keys[some])))])
            order = np.argpartition(-scores, _NEAREST - 1, axis=1)[:, :_NEAREST]
            best, keys = np.take_along_axis(scores, order, 1), np.take_along_axis(names, order, 1)
    return keys

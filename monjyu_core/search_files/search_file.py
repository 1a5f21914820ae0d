"""A search file: postings and texts of the chunks of some units, made from their parts alone; their vectors are mapped
from the data file of Lance that has them.

It is one Arrow record batch of one row whose columns are lists, so that arrays of any length stand side by side; not
compressed, so that readers map it. It never changes: its name is the hash of its bytes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from monjyu_core.errors import StorageError
from monjyu_core.search_files.postings import Postings
from monjyu_core.storage.folders import write_atomically
from monjyu_core.storage.manifest import SearchFileEntry

LAYOUT = 2
"""Raised when columns or their contents change."""
WORDS, GRAMS = "words", "grams"
FIELDS = (WORDS, GRAMS)
"""The two fields of full text: see monjyu_core/text/search_text.py."""
SUFFIX = ".arrow"
_METADATA = b"monjyu"
_PARTS = ("terms", "starts", "rows", "times", "lengths")


@dataclass(frozen=True)
class SearchFile:
    """n chunks in the order of their ids: `vectors` (n, d) of length 1, `keys` (n,) that tell a chunk with this vector
    from all others, `postings` by field; first `pages` (n,), 0 where there is none, and places in the paper (n,)."""

    chunk_ids: pa.StringArray
    headers: pa.StringArray
    texts: pa.StringArray
    pages: NDArray[np.int32]
    ords: NDArray[np.int32]
    keys: NDArray[np.uint64]
    vectors: NDArray[np.float32]
    postings: dict[str, Postings]

    def __len__(self) -> int:
        return len(self.chunk_ids)


def write_search_file(folder: Path, held: SearchFile) -> str:
    """Write the file and give its name."""
    columns: dict[str, pa.Array] = {
        "chunk_id": held.chunk_ids,
        "header": held.headers,
        "text": held.texts,
        "page": pa.array(held.pages),
        "ord": pa.array(held.ords),
        "key": pa.array(held.keys),
    }
    for field in FIELDS:
        columns |= {f"{field}_{part}": pa.array(getattr(held.postings[field], part)) for part in _PARTS}
    lists = [pa.LargeListArray.from_arrays(pa.array([0, len(one)], pa.int64()), one) for one in columns.values()]
    about = json.dumps({"layout": LAYOUT, "dimensions": held.vectors.shape[1]}).encode()
    schema = pa.schema(
        [pa.field(name, some.type) for name, some in zip(columns, lists, strict=True)], metadata={_METADATA: about}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(lists, schema=schema))
    content = sink.getvalue().to_pybytes()
    name = f"{hashlib.sha256(content).hexdigest()[:32]}{SUFFIX}"
    write_atomically(folder / name, content)
    return name


def open_search_file(search: Path, lance: Path, entry: SearchFileEntry) -> SearchFile:
    """Map a file of the folder `search` with the vectors in the tables of the folder `lance`: nothing is read but what
    is looked at. StorageError where one is missing, its frame is damaged or it is of another layout; `snapshots verify`
    looks at each byte."""
    path = search / entry.name
    try:
        if (found := path.stat().st_size) != entry.size:
            raise ValueError(f"it has {found} bytes and not {entry.size}")
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            about = json.loads((reader.schema.metadata or {})[_METADATA])
            batch = reader.get_batch(0)
            if about["layout"] != LAYOUT:
                raise StorageError(f"{path.name} has another layout.", "Index the collection again.")
            held = {name: batch.column(name).values for name in batch.schema.names}
            ids, headers, texts = (held.pop(name) for name in ("chunk_id", "header", "text"))
            arrays = {name: one.to_numpy() for name, one in held.items()}
            shape = (entry.rows, about["dimensions"])
            vectors = np.memmap(lance / entry.data, np.float32, "r", entry.offset, shape).view(np.ndarray)
            postings = {field: Postings(**{part: arrays[f"{field}_{part}"] for part in _PARTS}) for field in FIELDS}
            return SearchFile(ids, headers, texts, arrays["page"], arrays["ord"], arrays["key"], vectors, postings)
    except (OSError, KeyError, ValueError, pa.ArrowInvalid) as error:
        raise StorageError(
            f"Search file {path.name} cannot be read: {error}.", "Index the collection again."
        ) from error

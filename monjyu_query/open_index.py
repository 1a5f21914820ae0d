"""One opened snapshot with all that a request reads: database, corpus, full text. Shared by threads, never changed."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

from monjyu_core.errors import StorageError
from monjyu_core.snapshot import Snapshot
from monjyu_query.corpus import Corpus, load_corpus
from monjyu_query.retrieval import KeywordIndex


@dataclass(frozen=True)
class OpenIndex:
    snapshot: Snapshot
    corpus: Corpus
    keywords: KeywordIndex


def open_index(snapshot: Snapshot) -> OpenIndex:
    """Read a snapshot's vectors and pin its Lance table. StorageError where they cannot be read.

    The snapshot is closed, and its lease ends, when the last request lets go of the index.
    """
    table = _pinned_table(snapshot)
    corpus = load_corpus(snapshot, table)
    index = OpenIndex(snapshot, corpus, KeywordIndex(table, corpus))
    weakref.finalize(index, snapshot.close)
    return index


def _pinned_table(snapshot: Snapshot) -> Any | None:
    """The Lance table at the version that the snapshot names; None where it has no chunks."""
    entry = snapshot.manifest.lance.get("chunks")
    if entry is None or entry.rows == 0:
        return None
    import lancedb

    try:
        table = lancedb.connect(str(snapshot.collection.lance)).open_table(entry.table)
        table.checkout(entry.version)
    except (OSError, RuntimeError, ValueError) as error:
        raise StorageError(
            f"The vectors of snapshot {snapshot.id} cannot be opened: {error}.", "Index the collection again."
        ) from error
    return table

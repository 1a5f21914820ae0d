"""What a view of the whole collection needs to be built."""

from __future__ import annotations

from monjyu_core.errors import QueryError
from monjyu_core.storage.snapshot import Snapshot


def check_level(snapshot: Snapshot, level: int, what: str) -> None:
    """QueryError, which says how to build it, where the snapshot is below `level`."""
    manifest = snapshot.manifest
    if manifest.level < level:
        raise QueryError(
            f"{what} needs level {level}; the collection is at level {manifest.level}.",
            f"`monjyu upgrade {manifest.collection} --level {level}` builds it.",
        )

"""Text that has gone: whether papers were taken away or edited since a snapshot."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from monjyu_assets.stages.common import Work
from monjyu_core.folders import CollectionFolder
from monjyu_core.parts import Part
from monjyu_core.snapshot import Manifest


def forget_changed(work: Work, before: Manifest, parts: Sequence[Part]) -> bool:
    """Whether papers have gone or changed since the snapshot `before`."""
    rows = [part.read(["paper_id", "sha256"]).to_pylist() for part in parts if part.table == "manifest"]
    now = {(row["paper_id"], row["sha256"]) for several in rows for row in several}
    changed = {paper_id for paper_id, _ in _published_contents(work.folder, before) - now}
    return bool(changed)


def _published_contents(folder: CollectionFolder, snapshot: Manifest) -> set[tuple[str, str]]:
    """Papers with the hashes of their content; none where the database is gone: nothing is then built on it."""
    path = folder.snapshots / snapshot.snapshot_id / "index.duckdb"
    if not path.is_file():
        return set()
    with duckdb.connect(str(path), read_only=True) as connection:
        return set(connection.execute("SELECT paper_id, sha256 FROM manifest").fetchall())

"""A process that publishes a collection, and is killed at one of its requests to the object store, before or after it.

    python store_process.py FOLDER NUMBER KILL_AT before|after

FOLDER is the collection's; NUMBER is what all of its files say afterwards. The number of requests is printed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from monjyu_core.remote.collection_lock import holding
from monjyu_core.remote.object_store import Objects
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import CollectionFolder

T = TypeVar("T")


def write(root: Path, number: int) -> None:
    """A snapshot of some files, all with the number, CURRENT last; the one before the one before goes."""
    files = {f"parts/t/shard={shard}/{number}.parquet": f"rows {number}" for shard in "0123"}
    files |= {f"parts/t/shard={shard}/HEAD": f"{number}\n" for shard in "0123"}
    files |= {f"snapshots/s{number}/index.duckdb": f"database {number}", "collection.json": f'{{"name": "{number}"}}'}
    files |= {f"lance/t.lance/{number}.lance": f"vectors {number}", f"snapshots/s{number}/manifest.json": f"{number}"}
    for name, text in (files | {"CURRENT": f"s{number}\n"}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for old in (
        path
        for kind in ("parts/t/*/[!.]*.parquet", "lance/t.lance/[!.]*", "snapshots/*/[!.]*")
        for path in root.glob(kind)
    ):
        given = old.parent.name[1:] if "snapshots" in old.parts else old.stem
        if int(given) < number - 1:
            old.unlink()


def main(root: Path, number: int, kill_at: int, when: str) -> None:
    count = 0
    asked = Objects._asked

    def counted(self: Objects, call: Callable[[], T]) -> T:
        nonlocal count
        count += 1
        if count == kill_at and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = asked(self, call)
        if count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    Objects._asked = counted  # type: ignore[method-assign]
    with holding(CollectionFolder(root), load_settings(), lambda text: print(text, file=sys.stderr)):
        write(root, number)
    print(count)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])

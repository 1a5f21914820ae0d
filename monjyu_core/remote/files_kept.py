"""The files of a collection's folder: which belong into the store, how, and what is seen of them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from monjyu_core.remote.state import BASE, RemoteState
from monjyu_core.storage.schemas import TABLES


def is_small(path: str) -> bool:
    """Whether a file is a short text that is rewritten in place: it stands in the state itself."""
    folder, _, name = path.rpartition("/")
    own = name in ("HEAD", "CURRENT", "HOLD") or name.endswith((".json", ".pending", ".refused"))
    return own and (not folder or folder.startswith("parts/"))


def is_kept(path: str) -> bool:
    """Whether a file of a collection's folder belongs into the store: no lock, nothing unfinished, no goal of a run."""
    parts = path.split("/")
    hidden = any(part.startswith(".") for part in parts)
    own = path in (BASE, "AT_WORK") or path.endswith(".lock")
    return not hidden and not own


def is_served(path: str, state: RemoteState) -> bool:
    """Whether a machine that only answers questions needs a file: the record, the current snapshot with the parts that
    its database shows, pages of papers."""
    if path.startswith("snapshots/"):
        return state.current is not None and path.startswith(f"snapshots/{state.current}/")
    if path.startswith("parts/"):
        table = TABLES.get(path.split("/")[1])
        return state.views and table is not None and table.served and path.endswith(".parquet")
    return not path.startswith(("analyses/", "scholarly"))


def kept_paths(root: Path) -> list[str]:
    """Kept files by their path inside `root`. With strings: `rglob` takes four times as long, which counts with ten
    thousands of files."""
    found: list[str] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        with contextlib.suppress(FileNotFoundError), os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{path}/")
                elif entry.is_file(follow_symlinks=False) and is_kept(path):
                    found.append(path)
    return sorted(found)


def remove_empty(root: Path) -> None:
    for folder in sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            with contextlib.suppress(OSError):  # filled meanwhile
                folder.rmdir()


def stamp_of(file: str | Path) -> tuple[int, int]:
    found = os.stat(file)  # noqa: PTH116 - a Path for each of ten thousands of files takes longer than the call
    return found.st_size, found.st_mtime_ns


def snapshot_of(path: str) -> str | None:
    parts = path.split("/")
    return parts[1] if parts[0] == "snapshots" and len(parts) > 2 else None

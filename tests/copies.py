"""Copies of data folders that others read at the same time."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

STATE = "state.sqlite"


def copy_data(source: Path, target: Path) -> Path:
    """A copy of a data folder. SQLite copies the state: its -wal and -shm files go when another process closes it."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(f"{STATE}*"))
    if (source / "state" / STATE).exists():
        (target / "state").mkdir(exist_ok=True)
        with (
            closing(sqlite3.connect(source / "state" / STATE)) as live,
            closing(sqlite3.connect(target / "state" / STATE)) as copy,
        ):
            live.backup(copy)
    return target

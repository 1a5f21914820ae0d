"""What the reader made of passages, kept beside the prepared folders: it is a third of what the tests of `tests.query`
compute, and the workers of a run ask the same questions about the same papers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from filelock import FileLock

from monjyu_core.reader import PassageReading


class KeptReadings(dict[str, PassageReading]):
    """Stands for the readings of a process, which are known by weights, engine, question and texts: also those that
    another process with the same sources has made. Not locked: for whoever holds the lock of those of the process."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._database = sqlite3.connect(file, timeout=60, check_same_thread=False)
        with FileLock(f"{file}.lock"):  # SQLite does not wait for another process that changes the mode of its journal
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS readings (key TEXT PRIMARY KEY, reading BLOB) WITHOUT ROWID"
            )

    def get(self, key: str, default: object = None) -> PassageReading | None:  # type: ignore[override]
        if key not in self:
            rows = self._database.execute("SELECT reading FROM readings WHERE key = ?", [key]).fetchall()
            self |= [(key, _reading(blob)) for (blob,) in rows]
        return super().get(key)

    def update(self, made: Iterable[tuple[str, PassageReading]]) -> None:  # type: ignore[override]
        new = dict(made)
        self |= new
        if new:
            rows = [(key, np.array([one.answered, *one.sentence_scores]).tobytes()) for key, one in new.items()]
            with self._database:
                self._database.executemany("INSERT OR IGNORE INTO readings VALUES (?, ?)", rows)


def _reading(blob: bytes) -> PassageReading:
    answered, *scores = np.frombuffer(blob)
    return PassageReading(np.array(scores), float(answered))

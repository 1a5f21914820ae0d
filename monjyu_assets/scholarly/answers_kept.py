"""What the services answered, kept raw by the paper's content, so that a paper is asked for once in
`scholarly.refresh_days`. What is of no kept paper is removed with the paper."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.state_store import private_database

FILE = "scholarly.sqlite"
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    sha256 TEXT NOT NULL, service TEXT NOT NULL, asked TEXT NOT NULL, at REAL NOT NULL, works BLOB NOT NULL,
    PRIMARY KEY (sha256, service)) WITHOUT ROWID"""
_CHUNK = 500


@dataclass(frozen=True)
class Answer:
    """The works that a service gave for a paper (as it sent them), what it was asked (a hash), and when (seconds)."""

    sha256: str
    service: str
    asked: str
    at: float
    works: tuple[Any, ...]


class AnswersKept:
    """The answers of one collection."""

    def __init__(self, folder: CollectionFolder) -> None:
        self._path = folder.root / FILE

    def put(self, answers: Iterable[Answer]) -> None:
        rows = [(a.sha256, a.service, a.asked, a.at, zlib.compress(json.dumps(a.works).encode())) for a in answers]
        with self._connect() as connection:
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", rows)

    def when(self, service: str) -> dict[str, tuple[str, float]]:
        """By the paper's content: what was asked, and when."""
        if not self._path.is_file():
            return {}
        with self._connect() as connection:
            rows = connection.execute("SELECT sha256, asked, at FROM answers WHERE service = ?", (service,))
            return {sha256: (asked, at) for sha256, asked, at in rows}

    def read(self, service: str, contents: Collection[str]) -> Iterator[Answer]:
        """The answers for these papers."""
        if not self._path.is_file():
            return
        wanted = sorted(contents)
        with self._connect() as connection:
            for start in range(0, len(wanted), _CHUNK):
                some = wanted[start : start + _CHUNK]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT * FROM answers WHERE service = ? AND sha256 IN ({marks})", (service, *some)
                )
                for sha256, name, asked, at, works in rows:
                    yield Answer(sha256, name, asked, at, tuple(json.loads(zlib.decompress(works))))

    def version(self, services: Iterable[str], contents: Collection[str]) -> str:
        """A hash of what is kept for these papers by these services; it changes whenever one is asked again."""
        known: Mapping[str, Mapping[str, tuple[str, float]]] = {service: self.when(service) for service in services}
        lines = [
            f"{service} {sha256} {at}"
            for service, rows in sorted(known.items())
            for sha256, (_, at) in sorted(rows.items())
            if sha256 in contents
        ]
        return digest(*lines)

    def forget_others(self, contents: Collection[str]) -> None:
        """Remove, from the file too, the answers for all papers but these."""
        if not self._path.is_file():
            return
        with self._connect() as connection:
            kept = [(sha256,) for (sha256,) in connection.execute("SELECT DISTINCT sha256 FROM answers")]
            gone = [row for row in kept if row[0] and row[0] not in contents]
            connection.executemany("DELETE FROM answers WHERE sha256 = ?", gone)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            private_database(self._path)
            with closing(sqlite3.connect(self._path, timeout=30)) as connection, connection:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute(_TABLE)
                yield connection
        except sqlite3.Error as error:
            raise StorageError(
                f"{self._path} cannot be used: {error}.", "Remove it: its content is requested again."
            ) from error

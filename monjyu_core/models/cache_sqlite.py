"""The response cache in one SQLite file (WAL), shared by all processes of a host.

An answer is written with `synchronous=FULL`, so it survives a crash of the process and a power failure. A damaged file
stays, and a new one is started next to it (`model_cache-2.sqlite`), because SQLite forbids renaming an open file.
"""

import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import owner_is_dead
from monjyu_core.storage.state_store import FILE, private_database, private_file, private_folder

_log = logging.getLogger(__name__)

T = TypeVar("T")
_LONGER = 100
"""The multiple of a claim's duration from which its end is taken for the result of a clock that was set back."""

_TABLES = """
CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL, at REAL);
CREATE TABLE IF NOT EXISTS labels (label TEXT NOT NULL, answer INTEGER NOT NULL, PRIMARY KEY (label, answer))
    WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS labels_of_answer ON labels (answer);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS answer_gone AFTER DELETE ON answers BEGIN
    DELETE FROM labels WHERE answer = old.id;
END;
"""
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_KEYS_A_QUERY = 500


class SQLiteCache:
    """A `ResponseCache` in a file. Beyond `max_entries` the oldest values are removed (checked from time to time).
    Values older than `max_age` seconds are no longer returned and are removed by the same check; 0 means no limit."""

    def __init__(self, path: Path, max_entries: int, max_age: float = 0.0) -> None:
        self._first = path
        self._max_entries = max_entries
        self._max_age = max_age
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._opened = path
        self._until_check = 0

    @property
    def path(self) -> Path:
        """The file in use: the newest of those that were started."""
        return max(self._files(), key=_number, default=self._first)

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        return self._run(lambda connection: dict(self._select(connection, "key, value", keys)))

    def has_many(self, keys: Sequence[str]) -> set[str]:
        return self._run(lambda connection: {row[0] for row in self._select(connection, "key", keys)})

    def put_many(self, values: Mapping[str, bytes], labels: Collection[str] = ()) -> None:
        def put(connection: sqlite3.Connection) -> None:
            connection.execute("PRAGMA synchronous = FULL")
            with _transaction(connection):
                oldest = self._oldest()
                for key, value in values.items():
                    connection.execute("DELETE FROM answers WHERE key = ? AND coalesce(at, 0) < ?", (key, oldest))
                    connection.execute(
                        "INSERT INTO answers (key, value, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                        (key, value, time.time()),
                    )
                    for label in labels:
                        connection.execute(
                            "INSERT OR IGNORE INTO labels SELECT ?, id FROM answers WHERE key = ?", (label, key)
                        )
                    connection.execute("DELETE FROM claims WHERE key = ?", (key,))
            self._keep_newest(connection, len(values))

        self._run(put)

    def claim(self, key: str, owner: str, seconds: float) -> bool:
        def take(connection: sqlite3.Connection) -> bool:
            connection.execute("PRAGMA synchronous = NORMAL")  # a claim need not outlive a power cut
            # Waiting callers check often; a check outside a transaction does not block writers.
            if _is_claimed(connection, key, owner, seconds):
                return False
            with _transaction(connection):
                if _is_claimed(connection, key, owner, seconds):
                    return False
                until = time.time() + seconds
                connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (key, owner, until))
            return True

        return self._run(take)

    def release(self, key: str, owner: str) -> None:
        def give_back(connection: sqlite3.Connection) -> None:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner))

        self._run(give_back)

    def forget(self, label: str) -> int:
        """Remove and overwrite the values with a label; damaged files that may contain them are deleted."""

        def remove(connection: sqlite3.Connection) -> int:
            connection.execute("PRAGMA synchronous = FULL")
            gone = connection.execute(
                "DELETE FROM answers WHERE id IN (SELECT answer FROM labels WHERE label = ?)", (label,)
            ).rowcount
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return gone

        gone = self._run(remove)
        for path in self._files():
            if path != self.path:
                for suffix in ("", "-wal", "-shm"):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
        return gone

    def discard(self, key: str) -> None:
        self._run(lambda connection: connection.execute("DELETE FROM answers WHERE key = ?", (key,)))

    def __len__(self) -> int:
        return self._run(lambda connection: int(connection.execute("SELECT count(*) FROM answers").fetchone()[0]))

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _keep_newest(self, connection: sqlite3.Connection, written: int) -> None:
        """Remove the oldest entries, after each hundredth of `max_entries` written, because counting is slow."""
        self._until_check -= written
        if self._until_check > 0:
            return
        self._until_check = self._max_entries // 100
        if self._max_age:
            connection.execute("DELETE FROM answers WHERE at < ? OR at IS NULL", (self._oldest(),))
        surplus = connection.execute("SELECT count(*) FROM answers").fetchone()[0] - self._max_entries
        if surplus > 0:
            connection.execute(
                "DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY id LIMIT ?)", (surplus,)
            )

    def _select(self, connection: sqlite3.Connection, columns: str, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for start in range(0, len(keys), _KEYS_A_QUERY):
            some = keys[start : start + _KEYS_A_QUERY]
            marks = ",".join("?" * len(some))
            chosen = f"SELECT {columns} FROM answers WHERE key IN ({marks}) AND coalesce(at, 0) >= ?"
            yield from connection.execute(chosen, [*some, self._oldest()])

    def _oldest(self) -> float:
        """The earliest time of storage of a value that may be returned; 0 if there is no limit. Values from earlier
        versions have no time and count as older than any."""
        return time.time() - self._max_age if self._max_age else 0.0

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return self._attempt(work)
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                    raise self._failure(error) from error
                self._start_new_file(error)
            try:
                return self._attempt(work)
            except sqlite3.Error as error:
                raise self._failure(error) from error

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None or self._process != os.getpid():
            # After a fork the parent's connection must not be used, nor closed.
            self._connection, self._process = self._open(self.path), os.getpid()
        return work(self._connection)

    def _open(self, path: Path) -> sqlite3.Connection:
        self._opened = path
        try:
            private_folder(path.parent)
            # Two processes that set WAL or create tables at the same time fail instead of waiting.
            with FileLock(self._first.with_suffix(".lock"), mode=FILE):
                private_database(path)
                connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
                connection.execute("PRAGMA secure_delete = ON")
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_TABLES)
                if "at" not in [row[1] for row in connection.execute("PRAGMA table_info(answers)")]:
                    connection.execute("ALTER TABLE answers ADD COLUMN at REAL")  # of an earlier version
                connection.execute("CREATE INDEX IF NOT EXISTS answers_by_age ON answers (at)")
                return connection
        except OSError as error:
            raise self._failure(error) from error

    def _start_new_file(self, cause: sqlite3.Error) -> None:
        """Switch to a new file, unless another process has started one since this process opened its own."""
        damaged = self._opened
        self.close()
        with FileLock(self._first.with_suffix(".lock"), mode=FILE):
            if self.path != damaged:
                return
            number = _number(damaged) + 1
            fresh = self._first.with_stem(f"{self._first.stem}-{number}")
            private_file(fresh)
        _log.warning(
            "%s is damaged (%s). A new cache is used in %s; the old one can be deleted.", damaged, cause, fresh.name
        )

    def _files(self) -> list[Path]:
        pattern = re.compile(re.escape(self._first.stem) + r"(-\d+)?" + re.escape(self._first.suffix))
        with suppress(OSError):
            return [path for path in self._first.parent.iterdir() if pattern.fullmatch(path.name)]
        return []

    def _failure(self, error: Exception) -> StorageError:
        return StorageError(
            f"The cache of model answers {self._first} cannot be used: {error}.",
            "Check free space and permissions, or set cache.enabled to false. Stored answers are not lost.",
        )


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_claimed(connection: sqlite3.Connection, key: str, owner: str, seconds: float) -> bool:
    """Whether another owner's claim on the key is valid: not expired, and its process not known to be dead.

    A claim that would end much later than one of `seconds` made now dates from before the clock was set back.
    """
    row = connection.execute("SELECT owner, expires FROM claims WHERE key = ?", (key,)).fetchone()
    left = row[1] - time.time() if row is not None else 0.0
    if row is None or row[0] == owner or not 0 < left <= _LONGER * seconds:
        return False
    return not owner_is_dead(row[0])


def _number(path: Path) -> int:
    """The number of a file: 1 for the first, N for `…-N.sqlite`."""
    last = path.stem.rpartition("-")[2]
    return int(last) if last.isdigit() else 1

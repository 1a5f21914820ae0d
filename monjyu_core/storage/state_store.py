"""The state store: small JSON values by namespace and key in one SQLite file (WAL), safe with many processes."""

import errno
import json
import logging
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from monjyu_core.errors import StorageError

# Only the owner may read `state/`, under any umask: folders are 0700, files 0600.
FOLDER, FILE = 0o700, 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_BESIDE = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite writes next to a database; it gives them the database file's mode."""

_WAIT = 30.0
"""Seconds for which a change of the journal mode waits for a lock."""

_log = logging.getLogger(__name__)
_making = threading.Lock()
_warned: set[Path] = set()
"""Paths already warned about."""


def private_folder(folder: Path) -> None:
    """Create the folder if it does not exist. If other users may access it, remove their permissions on it and on
    everything in it.

    Raises the OSErrors of `mkdir`.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir(FOLDER, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from error
    if _tighten(folder.resolve(), FOLDER):
        tighten_inside(folder)


def tighten_inside(folder: Path) -> None:
    """Remove others' permissions on everything in a folder, which libraries or earlier versions created."""
    for root, folders, files in os.walk(folder):
        for name in folders:
            _tighten(Path(root, name), FOLDER)
        for name in files:
            _tighten(Path(root, name), FILE)


def private_file(path: Path) -> None:
    """Create a file that only its owner may read, before a library opens it by name.

    An existing file is not opened, because closing it would release SQLite's locks on it in this process.
    """
    private_folder(path.parent)
    with _making, suppress(FileExistsError):  # no other code of this process has it open before it is closed here
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE))
    _tighten(path, FILE)


def private_database(path: Path) -> None:
    """Like `private_file`, for an SQLite file and the files next to it."""
    private_file(path)
    for ending in _BESIDE:
        _tighten(path.with_name(path.name + ending), FILE)


def write_ahead(connection: sqlite3.Connection) -> None:
    """Enable a database's write-ahead log. SQLite does not wait here: while another connection reads or does the same,
    the change fails immediately, so it is retried for as long as a write would wait."""
    give_up = time.monotonic() + _WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def _tighten(path: Path, mode: int) -> bool:
    """Remove others' permissions; return whether they had any."""
    try:
        found = path.lstat().st_mode
        if stat.S_ISLNK(found) or not found & _OTHERS:
            return False
        path.chmod(mode)
    except FileNotFoundError:
        return False
    except OSError as error:  # another user's file, or a read-only disk
        if path not in _warned:
            _warned.add(path)
            _log.warning("%s is accessible to other users, and its permissions cannot be changed: %s", path, error)
        return False
    return True


_TABLE = """CREATE TABLE IF NOT EXISTS state (
    namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, written REAL NOT NULL,
    PRIMARY KEY (namespace, key)) WITHOUT ROWID"""
_BY_AGE = "CREATE INDEX IF NOT EXISTS state_by_age ON state (namespace, written)"
"""The column `written` follows the value: without the index, values of 200 MB were read to find the oldest."""
_TICK = 1e-6
"""The minimum number of seconds between the times of two writes, so that their order is certain."""


class StateStore:
    """Stores values that outlive the process; every later read by any process sees a write."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state.sqlite"

    def get(self, namespace: str, key: str) -> Any | None:
        with self._reading() as connection:
            row = connection.execute(
                "SELECT value FROM state WHERE namespace = ? AND key = ?", (namespace, key)
            ).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, namespace: str, key: str, value: object) -> None:
        self.put_many(namespace, {key: value})

    def put_many(self, namespace: str, values: Mapping[str, object]) -> None:
        """Write all values or, on failure, none. They count as the newest, regardless of the clock."""
        texts = [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items()]
        with self._connect() as connection:
            newest = "SELECT max(written) FROM state WHERE namespace = ?"
            latest = connection.execute(newest, (namespace,)).fetchone()[0]
            now = max(time.time(), (latest or 0.0) + _TICK)
            rows = [(namespace, key, text, now) for key, text in texts]
            connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?)", rows)

    def take(self, namespace: str, key: str) -> Any | None:
        """Delete one value and return it; if several ask for it, only one gets it."""
        with self._connect() as connection:
            row = connection.execute(
                "DELETE FROM state WHERE namespace = ? AND key = ? RETURNING value", (namespace, key)
            ).fetchone()
        return json.loads(row[0]) if row else None

    def delete(self, namespace: str, key: str | None = None) -> None:
        """Delete one key, or the whole namespace."""
        with self._connect() as connection:
            connection.execute("DELETE FROM state WHERE namespace = ? AND (?2 IS NULL OR key = ?2)", (namespace, key))

    def keys(self, namespace: str) -> list[str]:
        with self._reading() as connection:
            rows = connection.execute("SELECT key FROM state WHERE namespace = ? ORDER BY key", (namespace,))
            return [row[0] for row in rows]

    def delete_those(self, namespace: str, field: str, value: str) -> None:
        """Delete the objects whose `field` equals `value`."""
        with self._connect() as connection:
            connection.execute(
                "DELETE FROM state WHERE namespace = ? AND json_extract(value, '$.' || ?) = ?",
                (namespace, field, value),
            )

    def keep_newest(self, namespace: str, most: int, since: float = 0.0) -> None:
        """Drop all but the `most` values written last, and those written before `since` (seconds since 1970)."""
        with self._connect() as connection:
            connection.execute(
                "DELETE FROM state WHERE namespace = ?1 AND key IN "
                "(SELECT key FROM state WHERE namespace = ?1 AND written < ?3 UNION ALL SELECT * FROM "
                "(SELECT key FROM state WHERE namespace = ?1 ORDER BY written DESC LIMIT -1 OFFSET ?2))",
                (namespace, most, since),
            )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Like `_connect`. In a read-only folder it opens the database without writing, which WAL would do."""
        folder = self.path.parent
        if not folder.is_dir() or os.access(folder, os.W_OK):
            with self._connect() as connection:
                yield connection
            return
        log = self.path.with_name(f"{self.path.name}-wal")
        how = "mode=ro" if log.exists() else "immutable=1"
        where = f"{self.path.absolute().as_uri()}?{how}" if self.path.exists() else ":memory:"
        try:
            with closing(sqlite3.connect(where, timeout=30, uri=True)) as connection:
                if where == ":memory:":
                    connection.execute(_TABLE)
                yield connection
        except sqlite3.Error as error:
            raise StorageError(f"{self.path} cannot be read: {error}.", "Its disk is read-only.") from error

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            private_database(self.path)
            connection = sqlite3.connect(self.path, timeout=30)
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"{self.path} cannot be opened: {error}.", "Check space and permissions.") from error
        try:
            write_ahead(connection)
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(_TABLE)
            connection.execute(_BY_AGE)
            with connection:
                yield connection
        except sqlite3.Error as error:
            reason = str(error) if os.access(self.path.parent, os.W_OK) else os.strerror(errno.EROFS)
            raise StorageError(f"{self.path}: {reason}.", "Check free space and permissions.") from error
        finally:
            connection.close()

"""What is in `state/` is for its owner only, whatever the umask: folders are 0700, files 0600."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file; it makes them with the file's own mode."""

_WAIT = 30.0
"""Seconds."""

_log = logging.getLogger(__name__)
_making = threading.Lock()
_warned: set[Path] = set()
"""Paths that were warned about already."""


def private_folder(folder: Path) -> None:
    """Make the folder where there is none. One that others may enter is closed to them, with all that is in it.

    OSError as of mkdir.
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
    """Take others' rights away from all that is in a folder: what libraries made, and versions before this one."""
    for root, folders, files in os.walk(folder):
        for name in folders:
            _tighten(Path(root, name), FOLDER)
        for name in files:
            _tighten(Path(root, name), FILE)


def private_file(path: Path) -> None:
    """A file that only its owner may read, before a library opens it by name.

    One that exists is not opened here: closing it would end the locks that SQLite holds on it in this process.
    """
    private_folder(path.parent)
    with _making, suppress(FileExistsError):  # nobody else of this process has it open before it is closed here
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE))
    _tighten(path, FILE)


def private_database(path: Path) -> None:
    """The same for a file of SQLite, with what it keeps beside it."""
    private_file(path)
    for ending in _BESIDE:
        _tighten(path.with_name(path.name + ending), FILE)


def write_ahead(connection: sqlite3.Connection) -> None:
    """Give a database its write-ahead log. SQLite waits for nobody here: while another connection reads or does the
    same, the change fails at once, so it is asked for again, for as long as a write would wait."""
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
    """Take others' rights away; whether they had any."""
    try:
        found = path.lstat().st_mode
        if stat.S_ISLNK(found) or not found & _OTHERS:
            return False
        path.chmod(mode)
    except FileNotFoundError:
        return False
    except OSError as error:  # another user's, or a disk that takes no changes
        if path not in _warned:
            _warned.add(path)
            _log.warning("%s is open to others, and cannot be closed to them: %s", path, error)
        return False
    return True

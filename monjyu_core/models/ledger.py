"""The ledger of model calls: one line per call attempt or cached answer, in append-only segments under
`data/state/ledger/`.

A segment is a JSONL file of one process, written line by line with O_APPEND, so that no process waits for another and a
killed process loses no written line. Finished segments are merged into Parquet files from time to time. A line contains
counts, names and ids, but no text of a paper or prompt and no secret.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from filelock import FileLock, Timeout

from monjyu_core.errors import StorageError
from monjyu_core.models.types import CallKind, TokenUsage
from monjyu_core.storage.folders import DataFolder, host_id, sync_folder, temporary_for
from monjyu_core.storage.state_store import FILE, private_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# Files of the ledger: JSONL segments, one per process, and Parquet files into which finished segments are merged.
# A writer has a kernel lock on its segment, which ends with the process, so a segment that can be locked is finished. A
# merged row records the name of its segment, and a merged segment is not read again, so a crash between writing the
# Parquet file and removing the segments counts nothing twice.
_log = logging.getLogger(__name__)

COLUMNS = {
    "time": "VARCHAR",
    "kind": "VARCHAR",
    "name": "VARCHAR",
    "level": "INTEGER",
    "collection": "VARCHAR",
    "paper_id": "VARCHAR",
    "run_id": "VARCHAR",
    "role": "VARCHAR",
    "model": "VARCHAR",
    "provider": "VARCHAR",
    "prompt_tokens": "BIGINT",
    "completion_tokens": "BIGINT",
    "estimated": "BOOLEAN",
    "cache_hit": "BOOLEAN",
    "seconds": "DOUBLE",
    "cost_usd": "DOUBLE",
    "priced": "BOOLEAN",
    "status": "VARCHAR",
    "error": "VARCHAR",
}
"""Names and DuckDB types of a line's fields."""

_SYNC_SECONDS = 1.0
_GATHER_FROM = 200
"""The number of segments from which they are merged, because reading this many takes half a second."""
_MOST_OPEN = 500


class Segment:
    """A new segment, written by this process alone.

    It is synced to the disk with the first line that comes a second or more after the last sync, and when closed: a
    power failure can lose the lines since then, a kill loses none.
    """

    def __init__(self, folder: Path) -> None:
        self.process = os.getpid()
        self.size = 0
        self._synced = time.monotonic()
        self._handle = _new_and_locked(folder)

    def append(self, line: bytes) -> None:
        """Write one line. Raises OSError if it could not be written whole; the segment must not be used after that."""
        written = os.write(self._handle, line)
        if written != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.size += written
        if time.monotonic() - self._synced >= _SYNC_SECONDS:
            os.fsync(self._handle)
            self._synced = time.monotonic()

    def close(self) -> None:
        os.fsync(self._handle)
        os.close(self._handle)

    def abandon(self) -> None:
        """Close without a sync, after an error."""
        with suppress(OSError):
            os.close(self._handle)


def _new_and_locked(folder: Path) -> int:
    private_folder(folder.parent)
    private_folder(folder)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    while True:
        path = folder / f"{stamp}-{host_id()}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, FILE)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # otherwise it was merged, although empty, before it could be locked
            return handle
        os.close(handle)


def read_lines(connection: DuckDBPyConnection, folder: Path, segments: Sequence[Path] | None = None) -> None:
    """Create the temporary table `lines` from the folder's Parquet files and from `segments` (by default, all).

    A line that is not JSON is a row of nulls. Raises duckdb.IOException if a segment is merged while it is read; the
    caller then reads again.
    """
    # Segments first, so that a segment merged between the two reads is seen twice and counted once, never missed.
    segments = sorted(folder.glob("*.jsonl")) if segments is None else segments
    gathered = [str(path) for path in sorted(folder.glob("*.parquet"))]
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TEMP TABLE lines ({columns}, segment VARCHAR, gathered BOOLEAN)")
    if gathered:
        connection.execute(
            """INSERT INTO lines BY NAME SELECT * REPLACE (true AS gathered)
            FROM read_parquet(?, union_by_name = true)""",
            [gathered],
        )
    known = {row[0] for row in connection.execute("SELECT DISTINCT segment FROM lines").fetchall()}
    new = [str(path) for path in segments if path.name not in known]
    if new:
        connection.execute(
            f"""INSERT INTO lines BY NAME SELECT * EXCLUDE filename, parse_filename(filename) AS segment,
                false AS gathered
            FROM read_json(?, format = 'newline_delimited', ignore_errors = true, maximum_object_size = 1048576,
                filename = true, columns = {COLUMNS})""",
            [new],
        )


def gather(folder: Path, least: int = _GATHER_FROM) -> int:
    """Merge the finished segments into Parquet files if there are at least `least` segments, and return their number.
    It never waits for a lock."""
    if len(list(folder.glob("*.jsonl"))) < least:
        return 0
    count = 0
    try:
        with FileLock(folder / "gather.lock", timeout=0, mode=FILE):
            while done := _gather_some(folder):
                count += done
    except (Timeout, OSError) as error:  # another process merges, or the folder is read-only
        _log.debug("The ledger's segments were not merged: %s", error)
    return count


def _gather_some(folder: Path) -> int:
    """Merge up to `_MOST_OPEN` finished segments into one Parquet file, and return their number."""
    import duckdb

    with ExitStack() as held, duckdb.connect() as connection:
        candidates = (path for path in sorted(folder.glob("*.jsonl")) if _is_finished(path, held))
        finished = list(islice(candidates, _MOST_OPEN))
        read_lines(connection, folder, finished)
        if connection.execute("SELECT count(*) FROM lines WHERE NOT gathered").fetchall()[0][0]:
            _write(connection, folder / f"{uuid.uuid4().hex}.parquet")
        for path in finished:
            path.unlink()
        return len(finished)


def _write(connection: DuckDBPyConnection, target: Path) -> None:
    temporary = temporary_for(target)
    connection.table("lines").filter("NOT gathered").write_parquet(str(temporary))
    temporary.chmod(FILE)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(target)
    sync_folder(target.parent)


def _is_finished(path: Path, held: ExitStack) -> bool:
    """Lock the segment until `held` is closed; False if its writer still has the lock."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return False
    held.callback(os.close, handle)
    return True


Status = Literal["ok", "failed", "cancelled", "partial"]
_LONGEST_NAME = 300
_SEGMENT_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Scope:
    """The purpose of a call. `name`: the asset's name, or the query's trace id (never its text). `run_id`: the id of
    the Dagster run, or of the query's trace."""

    kind: Literal["asset", "query"]
    name: str
    level: int | None = None
    collection: str | None = None
    paper_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class Entry:
    """A call attempt, or a reply from the cache. `error` is the error's class, never its message. `usage` of a cache
    hit is that of the original call; totals leave it out. `seconds` is wall-clock time."""

    scope: Scope
    role: CallKind
    model: str
    provider: str
    usage: TokenUsage = field(default_factory=TokenUsage)
    cache_hit: bool = False
    seconds: float = 0.0
    cost_usd: float = 0.0
    priced: bool = True
    status: Status = "ok"
    error: str | None = None

    def line(self, at: float) -> bytes:
        """The line in the segment, for a time in seconds since 1970."""
        stamp = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own = {name: value for name, value in vars(self).items() if name not in ("scope", "usage")}
        values = {"time": stamp, **asdict(self.scope), **asdict(self.usage), **own}
        short = {name: _short(values[name]) for name in COLUMNS}
        return json.dumps(short, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _short(value: object) -> object:
    """Names truncated, and without lone surrogates, which JSON readers reject."""
    return value[:_LONGEST_NAME].encode("utf-8", "replace").decode() if isinstance(value, str) else value


class Ledger:
    """Writes the ledger's lines of this process. Threads may share it; a fork starts its own segment."""

    def __init__(self, data: DataFolder) -> None:
        self.folder = data.state / "ledger"
        self._lock = threading.Lock()
        self._segment: Segment | None = None

    def record(self, entry: Entry) -> None:
        """Append one line, which every reader then sees. Raises StorageError, for example on a full disk."""
        line = entry.line(time.time())
        with self._lock:
            try:
                self._of_this_process().append(line)
            except OSError as error:
                # A line that was written in part counts as torn; the next line goes into a new segment.
                if self._segment is not None:
                    self._segment.abandon()
                self._segment = None
                raise StorageError(
                    f"The ledger in {self.folder} cannot be written: {error.strerror or error}.",
                    "Check free space and permissions. Monjyu makes no model calls that it cannot record.",
                ) from error

    def close(self) -> None:
        with self._lock:
            if self._segment is not None and self._segment.process == os.getpid():
                self._segment.close()
            self._segment = None

    def _of_this_process(self) -> Segment:
        segment = self._segment
        if segment is None or segment.process != os.getpid() or segment.size >= _SEGMENT_BYTES:
            if segment is not None and segment.process == os.getpid():
                segment.close()
            self._segment = segment = Segment(self.folder)
        return segment

"""The ledger of model calls: one line a call attempt or answer, in append-only segments under `data/state/ledger/`.

A segment is a JSONL file of one process, written line by line with O_APPEND: nobody waits for anybody, and a killed
process loses nothing that it wrote. The file is synced to the disk with the first line that comes a second or more
after the last sync, and at the end; only a power cut can lose the lines since then. A line holds counts, names and ids:
no text of a paper or prompt, and no secret.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from monjyu_core.errors import StorageError
from monjyu_core.folders import DataFolder, host_id
from monjyu_core.models.types import Role, TokenUsage

Status = Literal["ok", "failed", "cancelled", "partial"]
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

_LONGEST_NAME = 300
_SEGMENT_BYTES = 64 * 2**20
_SYNC_SECONDS = 1.0


@dataclass(frozen=True)
class Scope:
    """What a call was made for. `name`: the asset's, or the trace id of the query (never its text).

    `run_id`: of the Dagster run, or of the query's trace; caps add up by it.
    """

    kind: Literal["asset", "query"]
    name: str
    level: int | None = None
    collection: str | None = None
    paper_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class Entry:
    """One call attempt, or one answer from the cache. `error` is the error's class, never its message.

    `usage` of a cache hit is what the answer once took; totals count it as nothing paid. `seconds` is the wall clock's.
    """

    scope: Scope
    role: Role
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
    """Names cut to a length, without the lone surrogates that no reader of JSON takes."""
    return value[:_LONGEST_NAME].encode("utf-8", "replace").decode() if isinstance(value, str) else value


class Ledger:
    """Writes this process's lines. Threads may share one; after a fork the child begins a segment of its own."""

    def __init__(self, data: DataFolder) -> None:
        self.folder = data.state / "ledger"
        self._lock = threading.Lock()
        self._segment: _Segment | None = None

    def record(self, entry: Entry) -> None:
        """Append one line; it is there for every reader when this returns. Raises StorageError (a full disk, say)."""
        line = entry.line(time.time())
        with self._lock:
            try:
                self._open().append(line)
            except OSError as error:
                # What was half written is a torn line; the next goes into a segment of its own.
                self._segment = None
                raise StorageError(
                    f"The ledger in {self.folder} cannot be written: {error.strerror or error}.",
                    "Check free space and permissions; a call that is not on the ledger must not be made.",
                ) from error

    def close(self) -> None:
        with self._lock:
            if self._segment is not None and self._segment.process == os.getpid():
                self._segment.close()
            self._segment = None

    def _open(self) -> _Segment:
        segment = self._segment
        if segment is None or segment.process != os.getpid() or segment.size >= _SEGMENT_BYTES:
            if segment is not None and segment.process == os.getpid():
                segment.close()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._segment = segment = _Segment(self.folder)
        return segment


class _Segment:
    def __init__(self, folder: Path) -> None:
        self.process = os.getpid()
        self.size = 0
        self._synced = time.monotonic()
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        path = folder / f"{stamp}-{host_id()}-{self.process}-{uuid.uuid4().hex[:8]}.jsonl"
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def append(self, line: bytes) -> None:
        written = os.write(self._handle, line)
        if written != len(line):
            raise OSError(28, "No space left on device")
        self.size += written
        if time.monotonic() - self._synced >= _SYNC_SECONDS:
            os.fsync(self._handle)
            self._synced = time.monotonic()

    def close(self) -> None:
        os.fsync(self._handle)
        os.close(self._handle)

"""The ledger of model calls: one line a call attempt or answer, in append-only segments under `data/state/ledger/`.

A segment is a JSONL file of one process, written line by line with O_APPEND: nobody waits for anybody, and a killed
process loses nothing that it wrote. Segments that are no longer written to are gathered into Parquet files, now and
then. A line holds counts, names and ids: no text of a paper or prompt, and no secret.
"""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Literal

from monjyu_core.errors import StorageError
from monjyu_core.models.accounting.ledger_segments import COLUMNS, Segment
from monjyu_core.models.types import CallKind, TokenUsage
from monjyu_core.storage.folders import DataFolder

Status = Literal["ok", "failed", "cancelled", "partial"]
_LONGEST_NAME = 300
_SEGMENT_BYTES = 64 * 2**20


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
    """Names cut to a length, without the lone surrogates that no reader of JSON takes."""
    return value[:_LONGEST_NAME].encode("utf-8", "replace").decode() if isinstance(value, str) else value


class Ledger:
    """Writes this process's lines. Threads may share one; after a fork the child begins a segment of its own."""

    def __init__(self, data: DataFolder) -> None:
        self.folder = data.state / "ledger"
        self._lock = threading.Lock()
        self._segment: Segment | None = None

    def record(self, entry: Entry) -> None:
        """Append one line; it is there for every reader when this returns. Raises StorageError (a full disk, say)."""
        line = entry.line(time.time())
        with self._lock:
            try:
                self._of_this_process().append(line)
            except OSError as error:
                # What was half written is a torn line; the next goes into a segment of its own.
                if self._segment is not None:
                    self._segment.abandon()
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

    def _of_this_process(self) -> Segment:
        segment = self._segment
        if segment is None or segment.process != os.getpid() or segment.size >= _SEGMENT_BYTES:
            if segment is not None and segment.process == os.getpid():
                segment.close()
            self._segment = segment = Segment(self.folder)
        return segment

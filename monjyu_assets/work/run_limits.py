"""Rules for runs in this process: the limit on spending for models, whether failures are retried, whether sources are
scanned, where files of records are, and the target record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from monjyu_core.models.call_errors import CostCapReached
from monjyu_core.models.caps import Reservation, SpendingCap
from monjyu_core.storage.collection import CollectionRecord
from monjyu_core.storage.folders import CollectionFolder, OtherFiles

T = TypeVar("T")
_caps: list[SpendingCap | None] = []
_again: list[bool] = []
_unscanned: list[bool] = []
_removing: list[bool] = []
_scans: list[Scan] = []
_goals: list[Goal] = []
_documents: list[Callable[[str], Path | None]] = []


@dataclass(frozen=True)
class Goal:
    """The target of a command for a collection. Only the run that publishes writes the record. Its level is `kept`
    until a higher level is published; with `lowers`, even if a higher level was published before. Papers of the sources
    `removed` are dropped intentionally.
    """

    folder: CollectionFolder
    record: CollectionRecord
    kept: int
    lowers: bool = False
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scan:
    """The result of a command's scan of a collection's sources: the rows of the manifest, and the other files."""

    folder: CollectionFolder
    rows: pa.Table
    others: OtherFiles | None


class NoCalls(SpendingCap):
    """A cap that admits no call, for runs that only remove data."""

    def __init__(self) -> None:
        super().__init__("run")

    def try_reserve(self, expected_usd: float) -> Reservation | None:
        raise CostCapReached("This run calls no model.", "`monjyu upgrade` computes what is missing.")


@contextmanager
def _during(stack: list[T], value: T) -> Iterator[None]:
    """A context in which `value` is on the stack."""
    stack.append(value)
    try:
        yield
    finally:
        stack.pop()


def spending_of(cap: SpendingCap | None) -> AbstractContextManager[None]:
    """A context in which `cap` limits the total spending of runs in this process; with None, the settings do."""
    return _during(_caps, cap)


def current_cap() -> SpendingCap | None:
    return _caps[-1] if _caps else None


def trying_again(again: bool) -> AbstractContextManager[None]:
    """A context that sets whether chunks and communities without a result are retried."""
    return _during(_again, again)


def without_scan() -> AbstractContextManager[None]:
    """A context in which no source is scanned, so that the papers stay the same except for purged ones."""
    return _during(_unscanned, True)


def only_removing() -> AbstractContextManager[None]:
    """A context whose runs only remove papers (a purge), so that no saved question blocks them."""
    return _during(_removing, True)


def having_scanned(scan: Scan) -> AbstractContextManager[None]:
    """A context in which runs of this process take the papers from `scan`, on which the command decided."""
    return _during(_scans, scan)


def aiming_at(goal: Goal) -> AbstractContextManager[None]:
    """A context in which runs of this process take the collection's record from `goal`, not from the file."""
    return _during(_goals, goal)


def documents_at(place: Callable[[str], Path | None]) -> AbstractContextManager[None]:
    """A context in which `place` maps the path of a file of records on another machine to its local copy."""
    return _during(_documents, place)


def document_at(source_path: str) -> str:
    """The path from which to read a file of records that the manifest names."""
    found = _documents[-1](source_path) if _documents else None
    return str(found) if found else source_path


def goal_of(folder: CollectionFolder) -> Goal | None:
    return next((goal for goal in reversed(_goals) if goal.folder == folder), None)


def scan_of(folder: CollectionFolder) -> Scan | None:
    return next((scan for scan in reversed(_scans) if scan.folder == folder), None)


def is_without_scan() -> bool:
    return bool(_unscanned)


def is_only_removing() -> bool:
    return bool(_removing)


def tries_again() -> bool:
    """Whether failures are retried. True by default, because materialising in the UI is the user's decision."""
    return _again[-1] if _again else True

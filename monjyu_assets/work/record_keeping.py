"""How runs change a collection's record: the goal's copy while a command aims at one, else the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from monjyu_assets.work.declarations import as_declared
from monjyu_assets.work.run_rules import goal_of
from monjyu_assets.work.work import Work
from monjyu_core.storage.collection import load_record, record_lock, save_record


@contextmanager
def changing_record(work: Work) -> Iterator[None]:
    """Inside, `work.record` is the newest record and may be changed. A goal's record is written when its run
    publishes."""
    with record_lock(work.folder):
        goal = goal_of(work.folder)
        stored = load_record(work.folder)
        work.record = goal.record if goal else as_declared(work.folder, stored) if stored else work.record
        before = work.record.model_copy(deep=True)
        yield
        if goal is None and work.record != before:
            save_record(work.folder, work.record)
        work.take_record(work.record)


def keep_record(work: Work, level: int) -> None:
    """Write the record after a snapshot of this level is published. The record's level follows a higher one, whoever
    built it, and never falls because a snapshot lags."""
    with record_lock(work.folder):
        goal, stored = goal_of(work.folder), load_record(work.folder)
        found = as_declared(work.folder, stored) if stored else work.record
        record = (goal.record if goal else found).model_copy(deep=True)
        kept = goal.kept if goal else stored.level if stored else min(record.level, level)
        before = stored.level if stored and not (goal and goal.lowers) else 0
        record.level = max(kept, before, level)
        if stored != record:
            save_record(work.folder, record)

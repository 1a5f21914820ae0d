"""Dagster's SQLite storage without what it does anew for each event.

For every event Dagster makes an engine, so no statement is compiled only once, and closes the only connection to the
file, so SQLite writes its log back and syncs the file each time. For each run it reads all its migrations again. A
command makes a thousand such calls for one edited paper. What is stored, and when it is durable, stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import sqlalchemy
from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage

_STORAGES = (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage)


@contextmanager
def lasting_engines() -> Iterator[None]:
    """Inside, one engine serves a file and keeps it open, and migrations are read once.

    It changes the process: one run goes at a time.
    """
    with ExitStack() as stack:
        engines = _Engines(stack)
        for storage in _STORAGES:
            stack.enter_context(_swapped(storage, "create_engine", engines.create))
        stack.enter_context(_swapped(ScriptDirectory, "from_config", _Scripts().from_config))
        yield


@contextmanager
def _swapped(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


class _Engines:
    """The engine of each file, whose connections stay open: Dagster opens one anew for each statement."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._known: dict[str, sqlalchemy.Engine] = {}

    def create(self, url: str, **options: Any) -> sqlalchemy.Engine:
        if url not in self._known:
            engine = sqlalchemy.create_engine(url, **options | {"poolclass": sqlalchemy.pool.QueuePool})
            self._stack.callback(engine.dispose)
            self._known[url] = engine
            vars(engine)["dispose"] = _later  # Dagster does so after each event
        return self._known[url]


def _later() -> None:
    """Nothing: the connections are closed at the end."""


class _Scripts:
    """The migrations of each folder."""

    def __init__(self) -> None:
        self._read = ScriptDirectory.from_config
        self._known: dict[str | None, ScriptDirectory] = {}

    def from_config(self, config: Config) -> ScriptDirectory:
        place = config.get_main_option("script_location")
        if place not in self._known:
            self._known[place] = self._read(config)
        return self._known[place]

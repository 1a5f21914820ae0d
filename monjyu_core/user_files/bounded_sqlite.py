"""SQLite databases of strangers: tables are read, and nothing that the database itself would run."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from monjyu_core.user_files.bounded_reading import FileRefused

MOST_ROWS, MOST_CHARACTERS = 10_000_000, 512 * 2**20
"""Of all queries together: a library of 100,000 works has about 3 million rows and 300 MiB of text."""
LONGEST_SECONDS = 120.0
"""Of the processor, while rows are read."""
_LONGEST_VALUE = 16 * 2**20
_INSTRUCTIONS = 100_000
"""Of SQLite's machine, between two looks at the clock: less than 10 ms."""
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
Rows = Callable[[str], Iterator[tuple[Any, ...]]]


@contextmanager
def bounded_database(path: Path) -> Iterator[Rows]:
    """A function that gives the rows of a query. FileRefused where they are too many or take too long; sqlite3.Error
    where the file is not a database, and where a query would run a view, a trigger or a recursive query of its own."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_authorizer(_authorize)
        ends = time.thread_time() + LONGEST_SECONDS
        connection.set_progress_handler(lambda: time.thread_time() > ends, _INSTRUCTIONS)
        rows_left, characters_left = MOST_ROWS, MOST_CHARACTERS

        def rows(query: str) -> Iterator[tuple[Any, ...]]:
            nonlocal rows_left, characters_left
            for row in connection.execute(query):
                rows_left -= 1
                characters_left -= sum(len(value) for value in row if isinstance(value, str | bytes))
                if rows_left < 0 or characters_left < 0:
                    raise FileRefused(f"{path.name} has more rows or text than are read.", "Export a part of it.")
                yield row

        yield rows


def _authorize(action: int, table: str | None, column: str | None, base: str | None, inside: str | None) -> int:
    """`inside` names the view or trigger that asks."""
    return sqlite3.SQLITE_OK if action in _ALLOWED and inside is None else sqlite3.SQLITE_DENY

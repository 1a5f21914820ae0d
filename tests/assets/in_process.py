"""Parsing in the test's own process: for tests that are of what is done with papers, not of how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from monjyu_assets.parsing.dispatch import parse_document
from monjyu_core.errors import DocumentError
from monjyu_core.settings.settings import ParserSettings

POOL = "monjyu_assets.stages.parsed_papers.ParserPool"
"""What a test replaces. Each pool of processes takes seconds of a core to begin."""


class InThisProcess:
    """Stands for the pool of parser processes, which cannot be told that a package is absent."""

    def __init__(self, settings: ParserSettings, told: Any = None) -> None:
        self.settings = settings

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *arguments: object) -> None:
        pass

    def map(self, tasks: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Any]]:
        for task in tasks:
            try:
                yield task, parse_document(task, self.settings)
            except DocumentError as error:
                yield task, error

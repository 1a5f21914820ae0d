"""Parsing in the test's own process, for tests of what happens to papers after they are read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from monjyu_assets.parsing.dispatch import parse_document
from monjyu_assets.parsing.sandbox.pool import ParserPool
from monjyu_assets.sources import scan as parse_files
from monjyu_assets.stages import parsed_papers
from monjyu_core.errors import DocumentError
from monjyu_core.settings.settings import ParserSettings

POOL = "monjyu_assets.stages.parsed_papers.ParserPool"
"""What a test replaces. Each pool of processes takes seconds of a core to begin."""
WITH_POOL = (parsed_papers, parse_files)
PDFIUM = threading.Lock()
"""pdfium is for one thread at a time, and a fake server's thread may read PDFs in this process too."""


@contextmanager
def parsed_here() -> Iterator[None]:
    """Without a pool of parser processes, unless the test has put something else in its place already."""
    with pytest.MonkeyPatch.context() as patch:
        for module in WITH_POOL:
            if module.ParserPool is ParserPool:  # type: ignore[attr-defined]
                patch.setattr(module, "ParserPool", InThisProcess)
        yield


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
            outcome: Any
            try:
                with PDFIUM:
                    outcome = parse_document(task, self.settings)
            except DocumentError as error:
                outcome = error
            yield task, outcome

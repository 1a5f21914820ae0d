"""Indexing for clients: `monjyu index` as a child process, over folders that the settings allow and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from monjyu_core.errors import IndexBuildError, QueryError
from monjyu_core.settings.service import McpSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import collection_name_for
from monjyu_query.service.operations.commands_run import Tell, printed_telling

MOST_FAILURES = 50
MOST_LISTED = 200


FREE_LEVEL = 1
"""Up to it no model is ever called."""


class Expected(BaseModel):
    """What `monjyu upgrade --estimate` prints."""

    llm_calls: int
    cost_usd: float


class IndexFailure(BaseModel):
    source_path: str
    error_type: str
    message: str


class IndexOutcome(BaseModel):
    """What `monjyu index` did; failed papers are left out of the index, the rest is published."""

    collection: str
    level: int
    snapshot_id: str
    papers: dict[str, int]
    chunks: int
    seconds: float
    failures: list[IndexFailure] = []
    unsupported: list[IndexFailure] = []

    def as_text(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.papers.items() if name != "total")
        lines = [
            f"Collection {self.collection} is published: level {self.level}, {self.papers.get('total', 0)} papers "
            f"({counts}), {self.chunks} passages, {self.seconds:.0f} s."
        ]
        lines += [f"Failed: {f.source_path}: {f.error_type}: {f.message}" for f in self.failures]
        return "\n".join([*lines, *(f"Not read: {f.source_path}: {f.message}" for f in self.unsupported)])


def allowed_roots(data: DataFolder, settings: McpSettings) -> list[Path]:
    """The folders whose content may be indexed, resolved."""
    if not settings.index:
        return []
    return [Path(root).expanduser().resolve() for root in settings.index_folders or [data.papers]]


def sources_within(data: DataFolder, settings: McpSettings) -> list[str]:
    """Folders and files right in the allowed folders, by names that `source_for` takes. A caller who may see some
    collections only gets those named after them."""
    found = {
        path.name
        for root in allowed_roots(data, settings)
        if root.is_dir()
        for path in root.iterdir()
        if not path.name.startswith(".") and path.resolve().is_relative_to(root)
    }
    return sorted(name for name in found if data.only is None or name in data.only)[:MOST_LISTED]


def source_for(data: DataFolder, settings: McpSettings, folder: str) -> Path:
    """The folder or file meant, inside an allowed one once links are followed. QueryError for any other.

    Nothing outside is looked at, so nobody can probe for files there.
    """
    roots = allowed_roots(data, settings)
    if not roots:
        raise QueryError("Indexing is switched off (mcp.index).", "Ask the person who runs the server.")
    whole = False
    for root in roots:
        try:
            path = (root / folder).resolve()
            if path == root:
                whole = True
                continue
            first = path.relative_to(root).parts[0] if path.is_relative_to(root) else None
            if first is not None and (data.only is None or first in data.only) and path.exists():
                return path
        except (OSError, ValueError, RuntimeError):  # too long, a NUL byte, links in a circle
            continue
    listed = ", ".join(sources_within(data, settings)) or "nothing yet"
    if whole:
        raise QueryError(f"{folder!r} is all folders at once, which is not a collection.", f"Name one of: {listed}.")
    raise QueryError(f"{folder!r} is not in the folders that may be indexed.", f"They hold: {listed}.")


class Indexer:
    """Starts indexing runs, one at a time."""

    def __init__(self, settings: McpSettings) -> None:
        self._settings = settings
        self._busy = asyncio.Lock()

    async def run(
        self, data: DataFolder, folders: Sequence[str], collection: str | None, level: int | None, tell: Tell
    ) -> IndexOutcome:
        """Index and publish. QueryError for a folder that is not allowed, IndexBuildError where the run failed.

        A call that is cancelled ends the run; what was published before stays.
        """
        sources = [source_for(data, self._settings, folder) for folder in folders]
        if not sources:
            listed = ", ".join(sources_within(data, self._settings)) or "nothing yet"
            raise QueryError("Nothing to index is named.", f"Name folders or files in `paths`. They may be: {listed}.")
        if collection is None and data.only is not None and len(sources) == 1:
            collection = collection_name_for(sources[0])  # which the command would take, too
        if collection is not None:
            data.collection(collection)
        if self._busy.locked():
            raise QueryError("Another indexing run is under way.", "Wait for it, then call again.")
        async with self._busy:
            try:
                async with asyncio.timeout(self._settings.index_minutes * 60):
                    return await self._index(data, sources, collection, level, tell)
            except TimeoutError as error:
                raise IndexBuildError(
                    f"Indexing took longer than {self._settings.index_minutes:g} minutes and was stopped.",
                    "Call again to continue: finished work is kept.",
                ) from error

    async def _index(
        self, data: DataFolder, sources: Sequence[Path], collection: str | None, level: int | None, tell: Tell
    ) -> IndexOutcome:
        """Levels from 2 on are built of what is indexed by then, and only where that costs nothing."""
        arguments = ["index", *map(str, sources), "--progress", "--json"]
        arguments += [] if collection is None else ["--collection", collection]
        free = level is None or level <= FREE_LEVEL
        outcome = await printed_telling(data, [*arguments, *_level(level if free else None)], IndexOutcome, tell)
        if level is not None and outcome.level < level:
            name = ["upgrade", outcome.collection, *_level(level), "--estimate", "--json"]
            expected = await printed_telling(data, name, Expected, tell)
            if expected.llm_calls or expected.cost_usd:
                raise QueryError(
                    f"Level {level} would make {expected.llm_calls} calls of a model (about ${expected.cost_usd:.2f}); "
                    f"{outcome.collection} is published at level {outcome.level}.",
                    f"A person decides on that: monjyu upgrade {outcome.collection} --level {level}",
                )
            arguments = ["index", "--collection", outcome.collection, *_level(level), "--progress", "--json"]
            upgraded = await printed_telling(data, arguments, IndexOutcome, tell)
            outcome = upgraded.model_copy(update={"papers": outcome.papers})
        first = {"failures": outcome.failures[:MOST_FAILURES], "unsupported": outcome.unsupported[:MOST_FAILURES]}
        return outcome.model_copy(update=first)


def _level(level: int | None) -> list[str]:
    return [] if level is None else ["--level", str(level)]

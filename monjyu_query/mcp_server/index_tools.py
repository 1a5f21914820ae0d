"""Tools about the index itself: `monjyu_status` and `monjyu_index`."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from monjyu_core.errors import IndexBuildError, QueryError
from monjyu_core.settings.service import McpSettings
from monjyu_core.storage.folders import DataFolder, read_other_files
from monjyu_core.storage.ids import collection_name_for
from monjyu_core.storage.snapshot import reading
from monjyu_core.values import Values
from monjyu_query.api.facade import Monjyu
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.api.listings import CollectionRecord
from monjyu_query.asking.which_collection import chosen_collection
from monjyu_query.mcp_server.caller_identity import require_admin
from monjyu_query.mcp_server.register import as_tool_errors
from monjyu_query.mcp_server.search_tools import Progress
from monjyu_query.mcp_server.texts import given
from monjyu_query.service.operations.commands_run import Tell, printed_with_progress

# Indexing for clients: `monjyu index` as a child process, only for folders that the settings allow.
MOST_LISTED = 200
FREE_LEVEL = 1
"""The highest level that never calls a model."""


class Expected(BaseModel):
    """The fields of the output of `monjyu upgrade --estimate` that are used here."""

    llm_calls: int
    cost_usd: float


class IndexFailure(BaseModel):
    source_path: str
    error_type: str
    message: str


class IndexOutcome(BaseModel):
    """The result of `monjyu index`. The published index lacks the papers in `failures` and the files in
    `unsupported`."""

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
    """Return the names of folders and files directly in the allowed folders, as `source_for` accepts them. A caller who
    may see only some collections gets only their names."""
    found = {
        path.name
        for root in allowed_roots(data, settings)
        if root.is_dir()
        for path in root.iterdir()
        if not path.name.startswith(".") and path.resolve().is_relative_to(root)
    }
    return sorted(name for name in found if data.only is None or name in data.only)[:MOST_LISTED]


def source_for(data: DataFolder, settings: McpSettings, folder: str) -> Path:
    """Return the path of the requested folder or file. Raises QueryError unless it exists and is, after resolving
    links, inside an allowed folder. The error does not show whether files exist outside, so that no client can probe
    for them."""
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
        except (OSError, ValueError, RuntimeError):  # the path is too long, has a NUL byte or circular links
            continue
    listed = ", ".join(sources_within(data, settings)) or "nothing yet"
    if whole:
        raise QueryError(f"{folder!r} contains all folders and is not a collection.", f"Name one of: {listed}.")
    raise QueryError(f"{folder!r} is not in the folders that may be indexed.", f"Allowed folders contain: {listed}.")


class Indexer:
    """Starts indexing runs, one at a time."""

    def __init__(self, settings: McpSettings) -> None:
        self._settings = settings
        self._busy = asyncio.Lock()

    async def run(
        self, data: DataFolder, folders: Sequence[str], collection: str | None, level: int | None, tell: Tell
    ) -> IndexOutcome:
        """Index and publish. Raises QueryError for a folder that is not allowed or while another run is in progress,
        IndexBuildError if the run failed.

        Cancelling the call ends the run; what was published before remains.
        """
        sources = [source_for(data, self._settings, folder) for folder in folders]
        if not sources:
            listed = ", ".join(sources_within(data, self._settings)) or "none yet"
            raise QueryError("No folder or file to index was given.", f"List them in `paths`. Allowed: {listed}.")
        if collection is None and data.only is not None and len(sources) == 1:
            collection = collection_name_for(sources[0])  # as the command would choose, too
        if collection is not None:
            data.collection(collection)
        if self._busy.locked():
            raise QueryError("Another indexing run is in progress.", "Call again when it has ended.")
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
        """Index, then build the levels above 1 if that calls no model. Raises QueryError if it would."""
        arguments = ["index", *map(str, sources), "--progress", "--json"]
        arguments += [] if collection is None else ["--collection", collection]
        free = level is None or level <= FREE_LEVEL
        outcome = await printed_with_progress(data, [*arguments, *_level(level if free else None)], IndexOutcome, tell)
        if level is not None and outcome.level < level:
            name = ["upgrade", outcome.collection, *_level(level), "--estimate", "--json"]
            expected = await printed_with_progress(data, name, Expected, tell)
            if expected.llm_calls or expected.cost_usd:
                raise QueryError(
                    f"Level {level} would call a model {expected.llm_calls} times (about ${expected.cost_usd:.2f}); "
                    f"{outcome.collection} is published at level {outcome.level}.",
                    f"A person decides on that: monjyu upgrade {outcome.collection} --level {level}",
                )
            arguments = ["index", "--collection", outcome.collection, *_level(level), "--progress", "--json"]
            upgraded = await printed_with_progress(data, arguments, IndexOutcome, tell)
            outcome = upgraded.model_copy(update={"papers": outcome.papers})
        first = {"failures": outcome.failures[:MOST_FAILURES], "unsupported": outcome.unsupported[:MOST_FAILURES]}
        return outcome.model_copy(update=first)


def _level(level: int | None) -> list[str]:
    return [] if level is None else ["--level", str(level)]


MOST_FAILURES = 50


class FailedPaper(BaseModel):
    paper_id: str
    error_type: str
    message: str


class UnreadFile(BaseModel):
    """A file of an unsupported type. `message` is advice for the user."""

    name: str
    message: str


class CollectionStatus(CollectionRecord):
    """A collection with the first fifty files that could not be read, and the first fifty of unsupported types."""

    failed_papers: list[FailedPaper] = Field(default_factory=list)
    unsupported_count: int = 0
    unsupported: list[UnreadFile] = Field(default_factory=list)


class Status(BaseModel):
    """The status of the collections. `indexable` are the folders and files that monjyu_index accepts."""

    collections: list[CollectionStatus]
    indexable: list[str]

    def as_text(self) -> str:
        lines = [_line(one) for one in self.collections] or ["No collection is indexed yet."]
        return "\n".join([*lines, f"monjyu_index accepts: {', '.join(self.indexable) or 'nothing'}."])


class IndexTools:
    """The tools for indexing. Clients see their names, parameters and docstrings."""

    def __init__(self, monjyu: AsyncMonjyu, settings: McpSettings) -> None:
        self._monjyu = monjyu
        self._settings = settings
        self._indexer = Indexer(settings)

    async def monjyu_status(
        self,
        collection: Annotated[str | None, Field(description="Only this collection.")] = None,
    ) -> Annotated[CallToolResult, Status]:
        """List the collections with papers, level, snapshot and failures, and the folders and files that may be
        indexed."""
        with as_tool_errors():
            status = await self._monjyu.run(partial(_status, self._monjyu.blocking, self._settings, collection))
        return given(status.as_text(), status)

    async def monjyu_index(
        self,
        context: Context[Any, Any],
        paths: Annotated[
            list[str], Field(max_length=50, description="Folders or files that monjyu_status lists as indexable.")
        ] = [],  # noqa: B006
        folder: Annotated[str, Field(description="A single folder or file, as in `paths`.")] = "",
        collection: Annotated[
            str | None, Field(description="Name of the collection (a-z, 0-9, _ and -); by default that of the path.")
        ] = None,
        level: Annotated[
            Literal[0, 1, 2, 3, 4] | None,
            Field(
                description=(
                    "0 baseline, 1 with communities for lazy search, 2 entities, 3 reports, 4 claims; by default "
                    "the current level. From 2 on only if no model is called."
                )
            ),
        ] = None,
    ) -> Annotated[CallToolResult, IndexOutcome]:
        """Index the papers of folders, or update a collection; only changes are processed. Takes seconds to minutes and
        reports progress. It never removes many papers: a person must do that."""
        progress = _Steps(context)
        with as_tool_errors():
            require_admin(context)
            named = list(dict.fromkeys([*([folder] if folder else []), *paths]))
            outcome = await self._indexer.run(self._monjyu.blocking.data, named, collection, level, progress.tell)
        return given(outcome.as_text(), outcome)


class _Steps(Progress):
    """Reports progress over all stages: the number of stages before the current one, plus its finished share."""

    def __init__(self, context: Context[Any, Any]) -> None:
        super().__init__(context)
        self._stages: list[str] = []

    async def tell(self, step: Values) -> None:
        stage, done, total = str(step["stage"]), int(step["done"]), int(step["total"])
        if stage not in self._stages:
            self._stages.append(stage)
        value = self._stages.index(stage) + (min(done / total, 1.0) if total else 0.0)
        of = f" {done} of {total}" if total else ""
        await self.report(round(value, 3), None, f"{step['text']}{of}")


def _status(monjyu: Monjyu, settings: McpSettings, collection: str | None) -> Status:
    named = [] if collection is None else [chosen_collection(monjyu.data, collection)]
    records = [one for one in monjyu.collections() if not named or one.name in named]
    found = [_collection_status(monjyu.data, one) for one in records]
    return Status(collections=found, indexable=sources_within(monjyu.data, settings))


def _collection_status(data: DataFolder, record: CollectionRecord) -> CollectionStatus:
    others = read_other_files(data.collection(record.name))
    return CollectionStatus(
        **record.model_dump(),
        failed_papers=_failures(data, record) if record.snapshot_id else [],
        unsupported_count=others.unsupported_count,
        unsupported=[
            UnreadFile(name=Path(row.source_path).name, message=row.message)
            for row in others.unsupported[:MOST_FAILURES]
        ],
    )


def _failures(data: DataFolder, record: CollectionRecord) -> list[FailedPaper]:
    query = f"SELECT paper_id, error_type, message FROM failures ORDER BY paper_id LIMIT {MOST_FAILURES}"
    with reading(data.collection(record.name)) as snapshot:
        rows = snapshot.cursor().execute(query).fetchall()
    return [FailedPaper(paper_id=one, error_type=kind, message=text) for one, kind, text in rows]


def _line(one: CollectionStatus) -> str:
    if one.unreadable:
        return f"{one.name}: {one.unreadable}"
    if one.snapshot_id is None:
        return f"{one.name}: not published yet"
    failed = "".join(f"\n  failed {paper.paper_id}: {paper.message}" for paper in one.failed_papers)
    failed += "".join(f"\n  not read {file.name}: {file.message}" for file in one.unsupported)
    behind = f", behind: {', '.join(one.behind)}" if one.behind else ""
    return (
        f"{one.name}: level {one.level}, {one.papers} papers, {one.chunks} passages, language {one.language}, "
        f"snapshot {one.snapshot_id}{behind}{failed}"
    )

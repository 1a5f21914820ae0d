"""Tools about the index itself: `monjyu_status` and `monjyu_index`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from monjyu_core.settings.service import McpSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.other_files import read_other_files
from monjyu_core.storage.snapshot import reading
from monjyu_query.api.facade import Monjyu
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.api.listings import CollectionRecord
from monjyu_query.asking.which_collection import chosen_collection
from monjyu_query.mcp_server.caller_identity import require_admin
from monjyu_query.mcp_server.indexing import Indexer, IndexOutcome, sources_within
from monjyu_query.mcp_server.texts import given
from monjyu_query.mcp_server.tool_errors import as_tool_errors

MOST_FAILURES = 50


class FailedPaper(BaseModel):
    paper_id: str
    error_type: str
    message: str


class UnreadFile(BaseModel):
    """A file of a type that is not read, by its name, and what to do."""

    name: str
    message: str


class CollectionStatus(CollectionRecord):
    """A collection with the files that could not be read, and those of types that are not read; the first fifty."""

    failed_papers: list[FailedPaper] = Field(default_factory=list)
    unsupported_count: int = 0
    unsupported: list[UnreadFile] = Field(default_factory=list)


class Status(BaseModel):
    """`indexable` are the folders and files that monjyu_index takes."""

    collections: list[CollectionStatus]
    indexable: list[str]

    def as_text(self) -> str:
        lines = [_line(one) for one in self.collections] or ["No collection is indexed yet."]
        return "\n".join([*lines, f"monjyu_index takes: {', '.join(self.indexable) or 'nothing'}."])


class IndexTools:
    """The tools; their names, parameters and docstrings are what clients see."""

    def __init__(self, monjyu: AsyncMonjyu, settings: McpSettings) -> None:
        self._monjyu = monjyu
        self._settings = settings
        self._indexer = Indexer(settings)

    async def monjyu_status(
        self,
        collection: Annotated[str | None, Field(description="Only this collection.")] = None,
    ) -> Annotated[CallToolResult, Status]:
        """List the collections with papers, level, snapshot and failures, and what may be indexed."""
        with as_tool_errors():
            status = await self._monjyu.run(partial(_status, self._monjyu.blocking, self._settings, collection))
        return given(status.as_text(), status)

    async def monjyu_index(
        self,
        context: Context[Any, Any],
        paths: Annotated[
            list[str], Field(max_length=50, description="Folders or files that monjyu_status lists as indexable.")
        ] = [],  # noqa: B006
        folder: Annotated[str, Field(description="One of them, as in `paths`.")] = "",
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
        """Index the papers of folders, or update a collection; only what changed is computed. Takes seconds to
        minutes and reports progress. It never deletes many papers: a person does that."""
        progress = _Steps(context)
        with as_tool_errors():
            require_admin(context)
            named = list(dict.fromkeys([*([folder] if folder else []), *paths]))
            outcome = await self._indexer.run(self._monjyu.blocking.data, named, collection, level, progress.tell)
        return given(outcome.as_text(), outcome)


class _Steps:
    """Progress over all stages: the number of the stage plus how far it is."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context
        self._stages: list[str] = []
        self._last = -1.0

    async def tell(self, step: dict[str, Any]) -> None:
        stage, done, total = str(step["stage"]), int(step["done"]), int(step["total"])
        if stage not in self._stages:
            self._stages.append(stage)
        value = self._stages.index(stage) + (min(done / total, 1.0) if total else 0.0)
        if value > self._last:
            self._last = value
            of = f" {done} of {total}" if total else ""
            await self._context.report_progress(round(value, 3), None, f"{step['text']}{of}")


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

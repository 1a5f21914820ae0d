"""Resources: collections, papers and snapshots by address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import BaseModel

from monjyu_core.errors import ConfigurationError, MonjyuError, QueryError, StorageError
from monjyu_core.storage.manifest import Manifest, read_manifest
from monjyu_core.storage.snapshot import published, read_current
from monjyu_query.api.facade import Monjyu
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.asking.which_collection import require_collection
from monjyu_query.mcp_server.paper_view import markdown_of
from monjyu_query.mcp_server.tool_errors import advice

JSON = "application/json"


def add_resources(server: MCPServer[Any], monjyu: AsyncMonjyu) -> None:
    """Register them."""

    @server.resource("monjyu://collections", title="Collections", mime_type=JSON)
    async def collections() -> str:
        """The collections with their levels, papers and snapshots."""
        return _json(await monjyu.collections())

    @server.resource("monjyu://{collection}/papers", title="Papers of a collection", mime_type=JSON)
    async def papers(collection: str) -> str:
        """Every paper in short: id, title, authors, year."""
        with _as_resource_errors():
            return _json(await monjyu.papers(collection))

    @server.resource("monjyu://{collection}/papers/{+paper_id}", title="A paper", mime_type="text/markdown")
    async def paper(collection: str, paper_id: str) -> str:
        """A paper's whole text, section by section."""
        with _as_resource_errors():
            return markdown_of(await monjyu.paper(paper_id, collection))

    @server.resource("monjyu://{collection}/snapshots", title="Snapshots of a collection", mime_type=JSON)
    async def snapshots(collection: str) -> str:
        """The published snapshots, oldest first, and which is current."""
        with _as_resource_errors():
            return json.dumps(await monjyu.run(partial(_snapshots, monjyu.blocking, collection)))

    @server.resource("monjyu://{collection}/snapshots/{snapshot_id}", title="A snapshot", mime_type=JSON)
    async def snapshot(collection: str, snapshot_id: str) -> str:
        """What a snapshot is made of: level, rows, embedding model, settings, versions."""
        with _as_resource_errors():
            manifest = await monjyu.run(partial(_manifest, monjyu.blocking, collection, snapshot_id))
        return manifest.model_dump_json(exclude={"parts": True, "search": True}, indent=1)


@contextmanager
def _as_resource_errors() -> Iterator[None]:
    try:
        yield
    except (ConfigurationError, QueryError) as error:
        raise ResourceNotFoundError(advice(error)) from error
    except MonjyuError as error:
        raise ResourceError(advice(error)) from error


def _json(rows: list[Any]) -> str:
    values = [row.model_dump(mode="json") if isinstance(row, BaseModel) else row for row in rows]
    return json.dumps(values, ensure_ascii=False, indent=1)


def _snapshots(monjyu: Monjyu, collection: str) -> dict[str, Any]:
    folder = require_collection(monjyu.data, collection)
    return {"current": read_current(folder), "snapshots": published(folder)}


def _manifest(monjyu: Monjyu, collection: str, snapshot_id: str) -> Manifest:
    """Only a name that is listed is looked up, so that none can lead elsewhere."""
    folder = require_collection(monjyu.data, collection)
    if snapshot_id not in published(folder):
        raise QueryError(f"There is no snapshot {snapshot_id!r}.", f"Read monjyu://{collection}/snapshots.")
    try:
        return read_manifest(folder, snapshot_id)
    except StorageError as error:
        raise QueryError(error.message, error.hint) from error

"""GET /collections: the collections with their levels, modes and costs."""

from contextlib import suppress

from fastapi import APIRouter
from pydantic import BaseModel

from monjyu_core.errors import QueryError, StorageError
from monjyu_core.models.ledger_totals import usage_by_level
from monjyu_core.storage.folders import read_other_files
from monjyu_core.storage.snapshot import current_manifest, held
from monjyu_query.search.routing.choose import served
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared
from monjyu_query.service.worker_state import Service

router = APIRouter(tags=["collections"], responses=COMMON)


class LevelUsage(BaseModel):
    """The model usage of building a level."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class CollectionInfo(BaseModel):
    """A published collection. `behind` are levels that are older than the papers; `held`: a rollback pins an older
    snapshot; `modes` are the search modes that its level can serve; `built_at` is, by level, the time at which its
    tables last changed."""

    collection: str
    level: int
    behind: list[str]
    snapshot_id: str
    published_at: str
    built_at: dict[str, str] = {}
    held: bool
    papers: int
    chunks: int
    failed: int
    unsupported: int = 0
    embedding_model: str
    modes: list[str]
    usage: dict[str, LevelUsage]


class Collections(BaseModel):
    """The published collections. `unreadable` are those whose snapshot cannot be read, each with the reason and a
    hint."""

    collections: list[CollectionInfo]
    unreadable: dict[str, str] = {}


@router.get("/collections", summary="The collections, their levels and what they cost")
def list_collections(service: Shared) -> Collections:
    found, unreadable = [], dict[str, str]()
    for name in service.published():
        with suppress(NotFound, QueryError):  # the collection was just deleted
            try:
                found.append(describe(service, name))
            except StorageError as error:
                unreadable[name] = str(error)
    return Collections(collections=found, unreadable=unreadable)


def describe(service: Service, name: str) -> CollectionInfo:
    folder = service.folder(name)
    manifest = current_manifest(folder)
    used = usage_by_level(service.data, name)
    return CollectionInfo(
        collection=name,
        level=manifest.level,
        behind=manifest.behind,
        snapshot_id=manifest.snapshot_id,
        published_at=manifest.created_at,
        built_at={str(level): at for level, at in manifest.built_at.items()},
        held=held(folder) is not None,
        papers=manifest.rows["papers"],
        chunks=manifest.rows["chunks"],
        failed=manifest.rows.get("failures", 0),
        unsupported=read_other_files(folder).unsupported_count,
        embedding_model=manifest.embedding.model,
        modes=["auto", *served(manifest.level)],
        usage={str(level): LevelUsage(**used.get(str(level), {})) for level in range(manifest.level + 1)},
    )

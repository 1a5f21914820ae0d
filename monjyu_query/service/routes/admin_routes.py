"""POST /admin/index and /admin/papers, for editors; /admin/upgrade and /admin/rollback, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from monjyu_query.search.request import NUMBER, Switch
from monjyu_query.service.access import audit
from monjyu_query.service.operations.dagster_runs import Launched, RunState, launch, run_state
from monjyu_query.service.operations.rollback import RolledBack, roll_back
from monjyu_query.service.operations.uploads import Stored, store_uploads
from monjyu_query.service.server.error_responses import COMMON, Conflict
from monjyu_query.service.worker_state import Service, service_of

NAME = r"^[a-z0-9][a-z0-9_-]{0,63}$"
MOST_FILES = 50

router = APIRouter(prefix="/admin", tags=["admin"], responses=COMMON)
Shared = Annotated[Service, Depends(service_of)]


class _Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")
    collection: str = Field(pattern=NAME, examples=["my-papers"])


class IndexRequest(_Wanted):
    """The collection is brought to its sources at the level it is kept at."""

    allow_deletes: Switch = False


class UpgradeRequest(_Wanted):
    level: Annotated[int, Field(ge=0, le=4), NUMBER]


class RollbackRequest(_Wanted):
    """`release` goes back to the newest snapshot; else `snapshot_id`, or without it the one before the current."""

    snapshot_id: str | None = Field(default=None, pattern=r"^[0-9A-Za-z-]{1,100}$")
    release: Switch = False


class UploadResult(BaseModel):
    collection: str
    files: list[Stored]


@router.post("/index", summary="Index what has changed", status_code=202)
def index(asked: IndexRequest, service: Shared, request: Request) -> Launched:
    """Starts a backfill at the Dagster web server of `service.dagster_url` and returns at once."""
    audit.note(request.scope, collection=asked.collection)
    service.admit(asked.collection)
    return launch(service.data, service.settings.service, asked.collection, None, allow_deletes=asked.allow_deletes)


@router.get("/index", summary="How far a backfill is")
def index_state(
    service: Shared,
    collection: Annotated[str, Query(pattern=NAME)],
    backfill_id: Annotated[str, Query(pattern=r"^[0-9A-Za-z_-]{1,100}$")],
) -> RunState:
    """Of one that POST /admin/index has started for the collection."""
    service.admit(collection)
    return run_state(service.settings.service, collection, backfill_id)


@router.post("/upgrade", summary="Bring a collection to a higher level, and keep it there", status_code=202)
def upgrade(asked: UpgradeRequest, service: Shared, request: Request) -> Launched:
    """As /admin/index, with the assets of the levels up to that one."""
    audit.note(request.scope, collection=asked.collection, level=asked.level)
    service.admit(asked.collection)
    return launch(service.data, service.settings.service, asked.collection, asked.level)


@router.post("/rollback", summary="Serve an older snapshot, or the newest again")
def rollback(asked: RollbackRequest, service: Shared, request: Request) -> RolledBack:
    audit.note(request.scope, collection=asked.collection, snapshot_id=asked.snapshot_id)
    service.folder(asked.collection)
    if asked.release and asked.snapshot_id:
        raise Conflict("`release` takes no snapshot.", "It goes to the newest.")
    return roll_back(service.data, asked.collection, asked.snapshot_id, release=asked.release)


@router.post("/papers", summary="Upload papers", status_code=201)
def upload(
    service: Shared,
    request: Request,
    collection: Annotated[str, Form(pattern=NAME)],
    files: Annotated[list[UploadFile], File(min_length=1, max_length=MOST_FILES)],
    replace: Annotated[bool, Form(description="Files of the same name may be written over.")] = False,
) -> UploadResult:
    """Into `papers/<collection>/`; POST /admin/index then indexes them. Names lose what no file name needs."""
    audit.note(request.scope, collection=collection, files=len(files))
    record = service.admit(collection).record
    folder = service.data.papers / collection
    if record.is_file() and not folder.is_dir():
        raise Conflict(f"Collection {collection!r} has its papers elsewhere.", "Put them there, or use another name.")
    return UploadResult(
        collection=collection,
        files=store_uploads(folder, [(file.filename or "", file.file) for file in files], replace=replace),
    )

"""The operations below /admin: POST /admin/index, /admin/papers and /admin/samples for editors, the others for
administrators."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from pydantic import BaseModel, Field

from monjyu_query.asking.fields import Body
from monjyu_query.asking.request import NUMBER, Switch
from monjyu_query.service.access import audit
from monjyu_query.service.access.keys import KeyRecord, Role, create_key, expiry, list_keys, revoke_key
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.operations.commands_run import (
    Estimated,
    KeptSnapshots,
    RolledBack,
    SnapshotsCompared,
    printed,
)
from monjyu_query.service.operations.dagster_runs import (
    DagsterSeen,
    Launched,
    RunState,
    launch,
    look_at_dagster,
    run_state,
)
from monjyu_query.service.operations.index_runs import PREFIX, indexes_here, takes_uploads
from monjyu_query.service.operations.uploads import SAMPLES, Stored, bring_in, store_uploads
from monjyu_query.service.server.error_responses import COMMON, Conflict, Forbidden, NotFound
from monjyu_query.service.server.request_parts import Shared, principal_of
from monjyu_query.service.worker_state import Service


# Keys over HTTP. A caller must confirm a revocation that would lock out the caller or every administrator.
class KeptKey(BaseModel):
    """A key in the list. `own`: it is the caller's key. Times are ISO, UTC; null `expires_at` = never, null
    `collections` = all."""

    id: str
    name: str
    role: Role
    created_at: str
    expires_at: str | None
    expired: bool
    collections: list[str] | None
    own: bool


class Keys(BaseModel):
    """All keys, oldest first."""

    keys: list[KeptKey]


class NewKey(KeptKey):
    """A new key. `key` is shown only once, because only its hash is stored."""

    key: str


class Revoked(BaseModel):
    id: str
    revoked: bool = True


def _warn(record: KeyRecord, others: Sequence[KeyRecord], asker: Principal) -> None:
    """Raise Conflict for the caller's own key, and for the last valid key of an administrator."""
    again = "Send `confirm` to revoke it anyway; `monjyu keys create --role admin` creates another."
    if asker.name == f"key:{record.id}":
        raise Conflict("This is your own key: without it you lose access.", again)
    holding = [one.id for one in others if one.role == "admin" and not one.expired]
    if holding == [record.id]:
        raise Conflict("This is the last key of an administrator.", again)


def _shown(record: KeyRecord, asker: Principal | None) -> KeptKey:
    own = asker is not None and asker.name == f"key:{record.id}"
    return KeptKey(**asdict(record), expired=record.expired, own=own)


NAME = r"^[a-z0-9][a-z0-9_-]{0,63}$"
SNAPSHOT = r"^[0-9A-Za-z-]{1,100}$"
MOST_FILES = 50

router = APIRouter(prefix="/admin", tags=["admin"], responses=COMMON)


class _Wanted(Body):
    collection: str = Field(pattern=NAME, examples=["my-papers"])


class IndexRequest(_Wanted):
    """A request to update a collection from its sources, at its current level. `multilingual`: embed all its papers
    with the multilingual model, so that a Japanese question finds English papers."""

    allow_deletes: Switch = False
    multilingual: Switch = False


class UpgradeRequest(_Wanted):
    level: Annotated[int, Field(ge=0, le=4), NUMBER]


class RollbackRequest(_Wanted):
    """A request to serve an older snapshot, by default the one before the current. `release` returns to the newest
    snapshot."""

    snapshot_id: str | None = Field(default=None, pattern=SNAPSHOT)
    release: Switch = False


class KeyRequest(Body):
    """A request for a new key. `expires`: 12h, 30d, 8w, or a date (UTC); null = never. `collections`: those that the
    key may see; null = all."""

    name: str = Field(default="", max_length=100)
    role: Role = "reader"
    expires: str | None = Field(default=None, max_length=40, examples=["30d"])
    collections: list[Annotated[str, Field(pattern=NAME)]] | None = Field(default=None, max_length=100)


class RevokeRequest(Body):
    """A request to revoke a key. `confirm`: revoke it even if it is the caller's own, or the last of an
    administrator."""

    id: str = Field(pattern=r"^[0-9a-f]{8}$")
    confirm: Switch = False


class UploadResult(BaseModel):
    collection: str
    files: list[Stored]


@router.post("/index", summary="Index what has changed", status_code=202)
async def index(asked: IndexRequest, service: Shared, request: Request) -> Launched:
    """Returns immediately. The service itself runs the indexing, as `monjyu index` does; a query-only service, or one
    whose Dagster web server (`service.dagster_url`) is on another machine, starts a backfill.
    """
    audit.note(request.scope, collection=asked.collection)
    service.admit(asked.collection)
    return await _begin(service, asked.collection, None, asked.allow_deletes, asked.multilingual)


async def _begin(
    service: Service, collection: str, level: int | None, allow_deletes: bool = False, multilingual: bool = False
) -> Launched:
    settings = service.settings.service
    if indexes_here(settings):
        how = {"allow_deletes": allow_deletes, "multilingual": multilingual}
        return await service.index_runs.start(service.data, collection, level, **how)
    if multilingual:
        raise Conflict("This service cannot change the model.", "Set embedding.model to multilingual-e5-small.")
    return await asyncio.to_thread(launch, service.data, settings, collection, level, allow_deletes=allow_deletes)


@router.get("/index", summary="Progress of a run")
def index_state(
    service: Shared,
    collection: Annotated[str, Query(pattern=NAME)],
    backfill_id: Annotated[str, Query(pattern=r"^[0-9A-Za-z_-]{1,100}$")],
) -> RunState:
    """For a run that POST /admin/index, /admin/upgrade or /admin/samples has started for the collection."""
    service.admit(collection)
    if backfill_id.startswith(PREFIX):
        return service.index_runs.state(collection, backfill_id)
    return run_state(service.settings.service, collection, backfill_id)


@router.post("/upgrade", summary="Build higher levels of a collection", status_code=202)
async def upgrade(asked: UpgradeRequest, service: Shared, request: Request) -> Launched:
    """Like POST /admin/index, for the levels up to the requested one. A Dagster web server runs the indexing if one is
    configured."""
    audit.note(request.scope, collection=asked.collection, level=asked.level)
    service.admit(asked.collection)
    settings = service.settings.service
    if settings.dagster_url is None:
        return await _begin(service, asked.collection, asked.level)
    return await asyncio.to_thread(launch, service.data, settings, asked.collection, asked.level)


@router.post("/rollback", summary="Serve an older snapshot, or the newest again")
def rollback(asked: RollbackRequest, service: Shared, request: Request) -> RolledBack:
    audit.note(request.scope, collection=asked.collection, snapshot_id=asked.snapshot_id)
    service.folder(asked.collection)
    if asked.release and asked.snapshot_id:
        raise Conflict("`release` accepts no snapshot_id.", "It always serves the newest snapshot.")
    command = ["snapshots", "rollback", "-c", asked.collection, "--json"]
    command += ["--release"] if asked.release else []
    command += ["--", asked.snapshot_id] if asked.snapshot_id else []
    return RolledBack(**printed(service.data, *command))


@router.post("/estimate", summary="Estimate the cost of an upgrade")
def estimate(asked: UpgradeRequest, service: Shared, request: Request) -> Estimated:
    """Estimates the model calls, tokens and cost of the upgrade without calling a model. This can take a minute."""
    audit.note(request.scope, collection=asked.collection, level=asked.level)
    service.folder(asked.collection)
    command = ("upgrade", asked.collection, "--level", str(asked.level), "--estimate", "--json")
    return Estimated(collection=asked.collection, level=asked.level, **printed(service.data, *command))


@router.get("/snapshots", summary="The existing snapshots, oldest first")
def snapshots(service: Shared, collection: Annotated[str, Query(pattern=NAME)]) -> KeptSnapshots:
    service.folder(collection)
    return KeptSnapshots(**printed(service.data, "snapshots", "list", "-c", collection, "--json"))


@router.get("/snapshots/diff", summary="Differences between two snapshots")
def compare(
    service: Shared,
    collection: Annotated[str, Query(pattern=NAME)],
    older: Annotated[str, Query(pattern=SNAPSHOT)],
    newer: Annotated[str, Query(pattern=SNAPSHOT)],
) -> SnapshotsCompared:
    folder = service.folder(collection)
    for name in (older, newer):
        if not folder.snapshot(name).is_dir():
            raise NotFound(f"Snapshot {name} of {collection} does not exist.", "GET /admin/snapshots lists them.")
    command = ("snapshots", "diff", "-c", collection, "--json", "--", older, newer)
    return SnapshotsCompared(**printed(service.data, *command))


@router.get("/runs", summary="The last runs and checks in Dagster")
def runs(
    service: Shared,
    request: Request,
    collection: Annotated[str | None, Query(pattern=NAME)] = None,
    most: Annotated[int, Query(ge=1, le=100)] = 12,
) -> DagsterSeen:
    """If no Dagster web server answers, `problem` gives the reason."""
    if collection is None:
        _of_all(request)
    else:
        service.admit(collection)
    return look_at_dagster(service.settings.service, collection, most)


@router.get("/keys", summary="The keys, without their secrets")
def keys(service: Shared, request: Request) -> Keys:
    _of_all(request)
    return Keys(keys=[_shown(record, principal_of(request)) for record in list_keys(service.store)])


@router.post("/keys", summary="Create a key, which is shown once", status_code=201)
def new_key(asked: KeyRequest, service: Shared, request: Request) -> NewKey:
    audit.note(request.scope, role=asked.role, name=asked.name)
    _of_all(request)
    until = expiry(asked.expires) if asked.expires else None
    key, record = create_key(service.store, asked.name, asked.role, until, asked.collections or None)
    audit.note(request.scope, key_id=record.id)
    return NewKey(key=key, **_shown(record, None).model_dump())


@router.post("/keys/revoke", summary="Revoke a key")
def end_key(asked: RevokeRequest, service: Shared, request: Request) -> Revoked:
    """409 without `confirm` if the caller, or every administrator, would be locked out."""
    audit.note(request.scope, key_id=asked.id)
    _of_all(request)
    records = list_keys(service.store)
    record = next((one for one in records if one.id == asked.id), None)
    if record is None:
        raise NotFound(f"There is no key {asked.id!r}.", "GET /admin/keys lists them.")
    if not asked.confirm:
        _warn(record, records, principal_of(request))
    revoke_key(service.store, asked.id)
    return Revoked(id=asked.id)


@router.post("/samples", summary="Import the sample papers and index them", status_code=202)
async def samples(service: Shared, request: Request) -> Launched:
    """The papers become the collection `samples`. 409 if this installation has no samples."""
    audit.note(request.scope, collection=SAMPLES)
    service.admit(SAMPLES)
    await asyncio.to_thread(bring_in, service.data)
    return await _begin(service, SAMPLES, None)


def _of_all(request: Request) -> None:
    """Raise Forbidden if the caller may see only some collections: keys and runs concern all, and a new key could open
    all."""
    if principal_of(request).collections is not None:
        raise Forbidden("This covers all collections, but the key only some.", "Use a key for all collections.")


@router.post("/papers", summary="Upload papers", status_code=201)
def upload(
    service: Shared,
    request: Request,
    collection: Annotated[str, Form(pattern=NAME)],
    files: Annotated[list[UploadFile], File(min_length=1, max_length=MOST_FILES)],
    replace: Annotated[bool, Form(description="Overwrite files with the same name.")] = False,
) -> UploadResult:
    """Stores the files in `papers/<collection>/` under safe names; POST /admin/index then indexes them."""
    audit.note(request.scope, collection=collection, files=len(files))
    service.admit(collection)
    folder = service.data.papers / collection
    if not takes_uploads(service.data, service.settings.service, collection):
        raise Conflict(
            f"Collection {collection!r} does not include the upload folder.",
            "Put the files into its own sources, or upload to another collection.",
        )
    return UploadResult(
        collection=collection,
        files=store_uploads(folder, [(file.filename or "", file.file) for file in files], replace=replace),
    )

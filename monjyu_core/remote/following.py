"""A machine that answers questions follows what others publish."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from filelock import FileLock, Timeout

from monjyu_core.errors import MonjyuError
from monjyu_core.remote.object_store import Objects, open_objects
from monjyu_core.remote.state import read_base
from monjyu_core.remote.synchronise import RemoteCollection
from monjyu_core.settings.settings import Settings, load_settings
from monjyu_core.storage.folders import CollectionFolder, DataFolder

_log = logging.getLogger(__name__)
_looked: dict[str, float] = {}
"""When this process looked last, on its monotonic clock, by data folder."""


@contextmanager
def following(data: DataFolder, settings: Settings) -> Iterator[None]:
    """Inside, a thread brings every collection of the store here as soon as it is published. The first round is over
    when this begins. Does nothing without `storage.uri`."""
    objects = open_objects(settings)
    if objects is None:
        yield
        return
    end = threading.Event()
    look(data, objects)

    def follow() -> None:
        while not end.wait(settings.storage.follow_seconds):
            look(data, objects)

    thread = threading.Thread(target=follow, name="following", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join(timeout=settings.storage.follow_seconds)


def follow_now(data: DataFolder) -> None:
    """For who asks a question: fetch what was published elsewhere, unless this process looked a short while ago."""
    settings = load_settings()
    if settings.storage.uri is None:
        return
    since = time.monotonic() - _looked.get(str(data.root), float("-inf"))
    if since > 2 * settings.storage.follow_seconds and (objects := open_objects(settings)):
        look(data, objects)


def look(data: DataFolder, objects: Objects) -> None:
    """What cannot be fetched is logged and tried again at the next round; what is here stays as it is."""
    _looked[str(data.root)] = time.monotonic()
    try:
        names = {*objects.folders("index"), *followed(data)}
    except MonjyuError as error:
        _log.warning("The object store was not looked at: %s", error)
        return
    for name in sorted(names):
        try:
            folder = data.collection(name)
            if follow_collection(RemoteCollection(objects, folder), folder):
                _log.info("%s: fetched what was published elsewhere", name)
        except (MonjyuError, OSError) as error:
            _log.warning("%s was not fetched: %s", name, error)


def follow_collection(remote: RemoteCollection, folder: CollectionFolder) -> bool:
    """Fetch what is served; all of a collection that is indexed on this machine, too. Whether anything was fetched: not
    while a command here works on it, nor over work that was never published."""
    base = read_base(folder)
    if not remote.is_behind() and not base.untidy:
        return False
    with ExitStack() as held:
        if folder.root.is_dir():
            try:
                for name in ("index.lock", "publish.lock"):
                    held.enter_context(FileLock(folder.root / name, timeout=0))
            except Timeout:
                return False
        if remote.is_changed():
            _log.warning(
                "%s has unfinished work on this machine and does not follow; `monjyu index -c %s` ends it, `monjyu "
                "storage pull %s --force` drops it.",
                *[folder.name] * 3,
            )
            return False
        return remote.pull(only_served=not base.whole)


def followed(data: DataFolder) -> list[str]:
    """Collections here that came from the store: one of them may have been deleted there."""
    if not data.index.is_dir():
        return []
    folders = map(CollectionFolder, data.index.iterdir())
    return [folder.name for folder in folders if read_base(folder).etag is not None]

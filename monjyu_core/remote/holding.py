"""The store's part of a change: hold the collection, start from what the store has, and bring the change there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from monjyu_core.errors import StorageError
from monjyu_core.remote.object_store import open_objects
from monjyu_core.remote.publisher_lease import PublisherLease
from monjyu_core.remote.synchronise import RemoteCollection
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder

PATIENCE = 6 * 3600.0
"""Seconds to wait for another machine that goes on renewing its hold."""


@dataclass
class _Hold:
    remote: RemoteCollection
    lease: PublisherLease
    keep_seconds: float
    deleted: bool = False


_holds: dict[Path, _Hold] = {}
_lock = threading.Lock()


@contextmanager
def holding(
    folder: CollectionFolder, settings: Settings, say: Callable[[str], None], *, resume: bool = False
) -> Iterator[None]:
    """Inside, no other machine changes the collection. The outermost of several brings the folder to the store's state
    before, and the store to the folder's after; where an error ends it, what was done stays here, and the next one goes
    on from there unless another machine published meanwhile. Does nothing without `storage.uri`. StorageError where a
    collection here never came from the one of that name in the store.

    `resume`: work has been done already, outside: StorageError, too, where another machine has published since.
    """
    objects = open_objects(settings)
    if objects is None or folder.root in _holds:
        yield
        return
    remote = RemoteCollection(objects, folder)
    lease = remote.lease(settings.storage.lease_seconds)
    died = lease.take(PATIENCE, say)
    hold = _Hold(remote, lease, settings.storage.keep_minutes * 60)
    try:
        if (resume or not remote.is_known()) and remote.is_behind() and remote.is_changed():
            raise StorageError(
                f"The object store has a {folder.name} that this work did not start from.",
                f"`monjyu storage pull {folder.name} --force` fetches it and drops what was done here.",
            )
        remote.pull()
        remote.fence(lease.token)
        if died:
            remote.sweep(lease)
        with _lock:
            _holds[folder.root] = hold
        yield
        if not hold.deleted:
            remote.push(lease, hold.keep_seconds)
    finally:
        with _lock:
            _holds.pop(folder.root, None)
        lease.release()


def keep_nothing_dropped(folder: CollectionFolder) -> None:
    """Of what is held: objects that are needed no longer go at once, not after a while (a purge)."""
    if hold := _holds.get(folder.root):
        hold.keep_seconds = 0


def delete_remote(folder: CollectionFolder) -> None:
    """Of what is held: remove it from the store."""
    if hold := _holds.get(folder.root):
        hold.remote.delete(hold.lease)
        hold.deleted = True

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
class Hold:
    """What a publisher has while others wait. Objects that are needed no longer go after `keep_seconds`."""

    remote: RemoteCollection
    lease: PublisherLease
    keep_seconds: float
    deleted: bool = False
    gave_orders: bool = False
    """Other machines worked for it: what they have uploaded in vain goes at the end."""

    def save(self) -> None:
        """Bring the store to what the folder has now."""
        self.remote.push(self.lease, self.keep_seconds)


_holds: dict[tuple[Path, int], Hold] = {}
"""By folder and thread: another thread of this process waits like another machine."""
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
    key = _key(folder)
    if objects is None or key in _holds:
        yield
        return
    remote = RemoteCollection(objects, folder)
    lease = remote.lease(settings.storage.lease_seconds)
    untidy = lease.take(PATIENCE, say)
    hold = Hold(remote, lease, settings.storage.keep_minutes * 60)
    done = False
    try:
        _start_from_store(hold, resume=resume, untidy=untidy)
        with _lock:
            _holds[key] = hold
        yield
        _leave_in_store(hold)
        done = True
    finally:
        with _lock:
            _holds.pop(key, None)
        lease.release(untidy=not done)


def _start_from_store(hold: Hold, *, resume: bool, untidy: bool) -> None:
    remote = hold.remote
    if (resume or not remote.is_known()) and remote.has_diverged():
        raise StorageError(
            f"The object store has a {remote.name} that this work did not start from.",
            f"`monjyu storage pull {remote.name} --force` fetches it and discards local work.",
        )
    remote.pull()
    remote.fence(hold.lease.token)
    if untidy:
        remote.sweep(hold.lease)


def _leave_in_store(hold: Hold) -> None:
    if hold.deleted:
        return
    hold.save()
    if hold.gave_orders:
        hold.remote.sweep(hold.lease)


def held_by_us(folder: CollectionFolder) -> Hold | None:
    """The hold of this thread, if it has one."""
    return _holds.get(_key(folder))


def keep_nothing_dropped(folder: CollectionFolder) -> None:
    """Of what is held: objects that are needed no longer go at once, not after a while (a purge)."""
    if hold := _holds.get(_key(folder)):
        hold.keep_seconds = 0


def delete_remote(folder: CollectionFolder) -> None:
    """Of what is held: remove it from the store."""
    if hold := _holds.get(_key(folder)):
        hold.remote.delete(hold.lease)
        hold.deleted = True


def _key(folder: CollectionFolder) -> tuple[Path, int]:
    return folder.root, threading.get_ident()

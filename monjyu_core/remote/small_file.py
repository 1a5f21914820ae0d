"""Changing a small input of a collection that is kept in an object store, from a machine that does not publish."""

from __future__ import annotations

from collections.abc import Callable

from monjyu_core.remote.holding import held_by_us
from monjyu_core.remote.store_opening import open_objects
from monjyu_core.remote.synchronise import RemoteCollection
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder

PATIENCE = 30.0
"""Seconds to wait for another machine that publishes: a person waits for the answer."""


def change_in_store(folder: CollectionFolder, settings: Settings, path: str, change: Callable[[str], str]) -> bool:
    """Change a text in the state of the store, which this machine then has too if it had the state before; whether
    there is such a collection in a store. Whoever holds the collection already brings the file there at its end.

    StorageError where another machine holds the collection too long.
    """
    objects = open_objects(settings)
    if objects is None or held_by_us(folder):
        return False
    remote = RemoteCollection(objects, folder)
    lease = remote.lease(settings.storage.lease_seconds)
    untidy = lease.take(PATIENCE, lambda text: None)
    try:
        return remote.change_text(lease, path, change)
    finally:
        lease.release(untidy=untidy)

"""Changes one file of a collection in an object store, from a machine that does not publish."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from monjyu_core.errors import StorageError
from monjyu_core.remote.collection_lock import own_lock
from monjyu_core.remote.object_store import open_objects
from monjyu_core.remote.publisher_lease import PublisherLease
from monjyu_core.remote.state import STATE, Base, RemoteState, new_name, read_base, sha_of, stamp_of, write_base
from monjyu_core.remote.synchronise import RemoteCollection
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder, write_atomically
from monjyu_core.storage.ids import file_sha256

PATIENCE = 30.0
"""Seconds to wait for another machine that publishes, because a person waits for the answer."""


def change_in_store(folder: CollectionFolder, settings: Settings, path: str, change: Callable[[str], str]) -> bool:
    """Change a text in the store's state, and here if this machine had that state before; return whether the store has
    the collection. A machine that has locked the collection uploads the file at the end of its lock. Raises
    StorageError if another machine locks the collection too long.
    """
    return _leased(folder, settings, lambda one, lease: one.change_text(lease, path, change))


def change_file_in_store(
    folder: CollectionFolder, settings: Settings, path: str, change: Callable[[bytes], bytes], beside: str
) -> bool:
    """Like `change_in_store`, for a file that is its own object; unchanged if the store lacks the file `beside`."""
    return _leased(folder, settings, lambda one, lease: one.change_file(lease, path, change, beside))


def _leased(folder: CollectionFolder, settings: Settings, work: Callable[[_OneFile, PublisherLease], bool]) -> bool:
    objects = open_objects(settings)
    if objects is None or own_lock(folder):
        return False
    remote = _OneFile(objects, folder)
    lease = remote.lease(settings.storage.lease_seconds)
    untidy = lease.take(PATIENCE, lambda text: None)
    try:
        return work(remote, lease)
    finally:
        lease.release(untidy=untidy)


class _OneFile(RemoteCollection):
    """Changes the state without fetching the collection's files. The local folder follows immediately if it had that
    state before, otherwise at its next synchronisation."""

    def change_text(self, lease: PublisherLease, path: str, change: Callable[[str], str]) -> bool:
        """Change a text in the state itself; return whether the store has the collection. An empty text removes it."""
        found = self._state()
        if found is None:
            return False
        state, etag = found
        before = state.small.get(path, "")
        after = change(before)
        if after == before:
            return True
        others = {name: text for name, text in state.small.items() if name != path}
        small = others | ({path: after} if after else {})
        written, follows = self._written(lease, etag, state.model_copy(update={"small": small}))
        if follows:
            target = self._path(path)
            write_atomically(target, after.encode()) if after else target.unlink(missing_ok=True)
            write_base(self._folder, written)
        return True

    def change_file(self, lease: PublisherLease, path: str, change: Callable[[bytes], bytes], beside: str) -> bool:
        """Change a file; return whether the store has the collection. The previous content stays in the store for
        machines that are fetching it."""
        found = self._state()
        if found is None:
            return False
        state, etag = found
        if beside not in state.files:
            return True
        with tempfile.TemporaryDirectory() as place:
            file, before = Path(place) / "file", state.files.get(path)
            if before and not self._objects.download(self._at(f"blobs/{before}"), file, sha_of(before)):
                raise StorageError(f"Objects of {self.name} are missing in the store.", "Publish it again.")
            after = change(file.read_bytes() if before else b"")
            file.write_bytes(after)
            sha256 = file_sha256(file)
            if before and sha_of(before) == sha256:
                return True
            name = new_name(sha256)
            self._objects.upload(self._at(f"blobs/{name}"), file)
        dropped = state.dropped | ({before: time.time()} if before else {})
        more = {"files": state.files | {path: name}, "dropped": dropped}
        written, follows = self._written(lease, etag, state.model_copy(update=more))
        if follows:
            target = self._path(path)
            write_atomically(target, after)
            seen = written.seen | {path: (*stamp_of(target), sha256)}
            write_base(self._folder, written.model_copy(update={"seen": seen}))
        return True

    def _state(self) -> tuple[RemoteState, str | None] | None:
        """The store's state and its tag; None if it does not have the collection."""
        found = self._objects.read(self._at(STATE))
        state = RemoteState.unpacked(found.content) if found else RemoteState()
        return None if found is None or state.is_empty else (state, found.etag)

    def _written(self, lease: PublisherLease, etag: str | None, state: RemoteState) -> tuple[Base, bool]:
        """The store's new state, and whether this machine had the state before."""
        lease.check()
        base = read_base(self._folder)
        changed = state.model_copy(update={"token": lease.token})
        return self._swap(base.model_copy(update={"etag": etag}), changed), base.etag == etag

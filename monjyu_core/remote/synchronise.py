"""A collection's folder and its objects: `pull` brings the folder to the store's state, `push` the store to the
folder's.

Objects with files' bytes are named by their SHA-256 and a mark of the upload, so no dropped name is ever used again: a
machine that was overtaken cannot delete what its successor needs. One object names all others; a conditional write
replaces it as a whole, and at that moment others see the publish.
"""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from monjyu_core.errors import StorageError
from monjyu_core.models.response_cache import forget_answers
from monjyu_core.remote.object_store import Objects
from monjyu_core.remote.publisher_lease import PublisherLease
from monjyu_core.remote.state import (
    ORDERS,
    STATE,
    Base,
    RemoteState,
    Stamp,
    is_served,
    is_small,
    new_name,
    prefix_of,
    read_base,
    remove_empty,
    sha_of,
    snapshot_of,
    stamp_of,
    stored_paths,
    write_base,
)
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import load_record
from monjyu_core.storage.folders import (
    CollectionFolder,
    DataFolder,
    link_or_copy,
    remove_dead_temporaries,
    write_atomically,
)
from monjyu_core.storage.ids import file_sha256
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import is_leased, read_current
from monjyu_core.storage.state_store import StateStore


# For papers that another machine purged, this one also removes their data outside the collection's folder.
def purged_papers(folder: CollectionFolder) -> set[str]:
    record = load_record(folder)
    return set(record.excluded) if record else set()


def forget_purged(folder: CollectionFolder, before: set[str]) -> None:
    """After a fetch, if papers were purged since `before`: remove the collection's traces and cached model replies to
    prompts with a paper's text."""
    new = purged_papers(folder) - before
    if not new:
        return
    data = DataFolder(folder.root.parents[1])
    StateStore(data.state).delete_those("traces", "collection", folder.name)
    for paper_id in sorted(new):
        forget_answers(load_settings().cache, data, f"paper:{folder.name}/{paper_id}")


_AT_ONCE = 8
_TRIES = 3


class RemoteCollection:
    """The objects of one collection, `<uri>/index/<collection>/…`."""

    def __init__(self, objects: Objects, folder: CollectionFolder) -> None:
        self._objects = objects
        self._folder = folder
        self._prefix = prefix_of(folder.name)
        self.delivered: dict[str, str] = {}
        """Objects that other machines have uploaded for this publisher, by the SHA-256 of their bytes."""

    @property
    def name(self) -> str:
        return self._folder.name

    def lease(self, seconds: float) -> PublisherLease:
        return PublisherLease(self._objects, f"{self._prefix}/lease.json", seconds)

    def pull(self, *, only_served: bool = False, again: bool = False) -> bool:
        """Bring the folder to the store's state; return whether anything changed. The last step makes the published
        snapshot current. If objects are missing, they were garbage-collected in the meantime, and the newer state is
        read. A collection that was deleted elsewhere is removed here. With `again`, compare the folder even if the
        store's state has not changed."""
        for tries_left in reversed(range(_TRIES)):
            base = read_base(self._folder)
            known = not again and base.etag is not None and not base.untidy and (base.whole or only_served)
            found = self._objects.read(self._at(STATE), unless=base.etag if known else None)
            if found is not None and not found.changed:
                return False
            state = RemoteState.unpacked(found.content) if found else RemoteState()
            if found is None or state.is_empty:  # what was never in the store is new work, and stays
                return self._forget(found.etag if found else None, state, whole=not only_served)
            purged = purged_papers(self._folder)
            if self._fetch(state, only_served):
                forget_purged(self._folder, purged)
                remove_dead_temporaries(self._root)  # of fetches that were killed
                untidy = self._remove_others(state, only_served)
                seen = self._scan(read_base(self._folder))[2]
                whole = not only_served
                write_base(self._folder, Base(etag=found.etag, state=state, seen=seen, whole=whole, untidy=untidy))
                return True
            if not tries_left:
                raise StorageError(f"Objects of {self._folder.name} are missing in the store.", "Publish it again.")
        return False

    def is_known(self) -> bool:
        """Whether this machine has ever fetched or written the state."""
        return read_base(self._folder).etag is not None

    def has_diverged(self) -> bool:
        """Whether the store has a state that the work here did not start from. False if both are equal: a publisher may
        have been killed, or got no answer, after its state was written."""
        base = read_base(self._folder)
        found = self._objects.read(self._at(STATE), unless=base.etag)
        if found is None or not found.changed or not self.is_changed():
            return False
        state = RemoteState.unpacked(found.content)
        files, small, _ = self._scan(base)
        return not state.is_empty and (files, small) != (state.hashes, state.small)

    def is_behind(self) -> bool:
        """Whether the store's state differs from the one that this machine last fetched or wrote."""
        base = read_base(self._folder)
        found = self._objects.read(self._at(STATE), unless=base.etag)
        return found.changed if found else base.etag is not None

    def is_changed(self) -> bool:
        """Whether files here differ from those last fetched or written, so that some work is not in the store."""
        base = read_base(self._folder)
        if not base.whole:
            return base.etag is None and any(True for _ in self._root.glob("parts/*/*/HEAD"))
        files, small, _ = self._scan(base)
        return (files, small) != (base.state.hashes, base.state.small)

    def fence(self, token: int) -> None:
        """Write the lease's token into the state, so that no earlier holder can overwrite it. Call `pull` first."""
        base = read_base(self._folder)
        state = base.state.model_copy(update={"token": token})
        write_base(self._folder, self._swap(base, state).model_copy(update={"whole": True}))

    def push(self, lease: PublisherLease, keep_seconds: float) -> None:
        """Bring the store to the folder's state. Objects no longer needed are deleted after `keep_seconds`."""
        base = read_base(self._folder)
        if base.state.token != lease.token:
            raise StorageError(
                f"{self._folder.name} was changed on another machine in the meantime.", "Run the command again."
            )
        files, small, seen = self._scan(base)
        stored = self.delivered | {sha_of(name): name for name in base.state.files.values()}
        missing = {sha: path for path, sha in files.items() if sha not in stored}
        stored |= {sha: new_name(sha) for sha in missing}
        self._upload({stored[sha]: path for sha, path in missing.items()})
        if any(stamp_of(self._root / path) != seen[path][:2] for path in missing.values()):
            raise StorageError(
                f"Files of {self._folder.name} changed while they were uploaded.", "Run the command again."
            )
        named = {path: stored[sha] for path, sha in files.items()}
        unneeded = set(base.state.files.values()) - set(named.values())
        now = time.time()
        state = RemoteState(
            token=lease.token,
            files=named,
            small=small,
            dropped=base.state.dropped | dict.fromkeys(unneeded, now),
            views=self._shows_parts(),
        )
        lease.check()
        if (state.files, state.small) != (base.state.files, base.state.small):
            base = self._swap(base, state)
        write_base(self._folder, base.model_copy(update={"seen": seen}))
        self._delete_dropped(lease, now - keep_seconds)

    def _shows_parts(self) -> bool:
        """Whether the readers' database consists of views."""
        current = read_current(self._folder)
        try:
            return current is not None and not read_manifest(self._folder, current).copied
        except StorageError:
            return False

    def delete(self, lease: PublisherLease) -> None:
        """Remove the collection, its state first, so that no machine reads a partly deleted one."""
        lease.check()
        base = self._swap(read_base(self._folder), RemoteState(token=lease.token))
        write_base(self._folder, base)
        self._objects.delete(self._objects.names(f"{self._prefix}/blobs"))
        lease.check()
        self._objects.delete([self._at(STATE)])

    def sweep(self, lease: PublisherLease) -> None:
        """Delete what a dead holder had uploaded and never named."""
        lease.check()
        state = read_base(self._folder).state
        named = {*state.files.values(), *state.dropped}
        there = self._objects.names(f"{self._prefix}/blobs")
        self._objects.delete([key for key in there if key.rpartition("/")[2] not in named])
        self._objects.delete(self._objects.names(f"{self._prefix}/{ORDERS}"))

    def _forget(self, etag: str | None, state: RemoteState, *, whole: bool) -> bool:
        """Handle a store without the collection; return whether it had one when this machine checked last."""
        base = read_base(self._folder)
        deleted = not base.state.is_empty
        if deleted:
            self._folder.current.unlink(missing_ok=True)
            self._remove_others(RemoteState(), only_served=False)
        if deleted or base.etag != etag:
            write_base(self._folder, Base(etag=etag, state=state, whole=whole and etag is not None))
        return deleted

    def _delete_dropped(self, lease: PublisherLease, before: float) -> None:
        base = read_base(self._folder)
        old = {name for name, since in base.state.dropped.items() if since <= before}
        if old:
            lease.check()
            self._objects.delete([self._at(f"blobs/{name}") for name in sorted(old)])
            left = {name: since for name, since in base.state.dropped.items() if name not in old}
            write_base(self._folder, self._swap(base, base.state.model_copy(update={"dropped": left})))

    def _swap(self, base: Base, state: RemoteState) -> Base:
        state = state.model_copy(update={"nonce": uuid.uuid4().hex})
        tag = self._objects.swap(self._at(STATE), state.packed(), base.etag)
        return base.model_copy(update={"etag": tag, "state": state})

    def _upload(self, paths: dict[str, str]) -> None:
        """Upload files under their objects' names, concurrently."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(
                pool.map(lambda name: self._objects.upload(self._at(f"blobs/{name}"), self._root / paths[name]), paths)
            )

    def _fetch(self, state: RemoteState, only_served: bool) -> bool:
        """Fetch the files that are missing or different here; return whether all objects existed."""
        base = read_base(self._folder)
        wanted = [path for path in state.files if not only_served or is_served(path, state)]
        absent = [path for path in wanted if not self._is_here(path, state.files[path], base)]
        known = {name: path for path, name in base.state.files.items()}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            there = pool.map(lambda path: self._obtain(path, state.files[path], known, base), absent)
            if not all(there):
                return False
        small = [path for path in state.small if not only_served or is_served(path, state)]
        for path in sorted(small, key=lambda path: path == "CURRENT"):
            content = state.small[path].encode()
            target = self._path(path)
            if not target.is_file() or target.read_bytes() != content:
                write_atomically(target, content)
        return True

    def _is_here(self, path: str, name: str, base: Base) -> bool:
        """Whether the file has the object's bytes, judged by its last stamp or else by its hash."""
        file = self._path(path)
        if not file.is_file():
            return False
        known = base.seen.get(path)
        return (known[2] if known and known[:2] == stamp_of(file) else file_sha256(file)) == sha_of(name)

    def _obtain(self, path: str, name: str, known: dict[str, str], base: Base) -> bool:
        """Link a file with the same bytes if one is here (snapshots share the data files of their tables), otherwise
        download the object; return whether it existed."""
        other = known.get(name)
        if other is not None and self._is_here(other, name, base):
            link_or_copy(self._path(other), self._path(path))
            return True
        return self._objects.download(self._at(f"blobs/{name}"), self._path(path), sha_of(name))

    def _scan(self, base: Base) -> tuple[dict[str, str], dict[str, str], dict[str, Stamp]]:
        """Hashes of files by path, texts of small ones, and stamps. A file with an unchanged stamp is not read."""
        files: dict[str, str] = {}
        small: dict[str, str] = {}
        seen: dict[str, Stamp] = {}
        root = f"{self._root}/"
        data = {path.rpartition("/")[2]: stamp for path, stamp in base.seen.items() if "/data/" in path}
        for path in stored_paths(self._root):
            if is_small(path):
                small[path] = Path(root + path).read_text("utf-8")
                continue
            known, stamp = base.seen.get(path) or data.get(path.rpartition("/")[2]), stamp_of(root + path)
            files[path] = known[2] if known and known[:2] == stamp else file_sha256(Path(root + path))
            seen[path] = (*stamp, files[path])
        return files, small, seen

    def _remove_others(self, state: RemoteState, only_served: bool) -> bool:
        """Remove what the store does not have; return whether something had to stay because a reader has it open."""
        keep = {path for path in (*state.files, *state.small) if not only_served or is_served(path, state)}
        others = [path for path in stored_paths(self._root) if path not in keep]
        held = {
            snapshot for snapshot in {snapshot_of(path) for path in others} if snapshot and self._is_leased(snapshot)
        }
        for path in others:
            # a reader of an old snapshot needs its search files and parts, too
            if snapshot_of(path) not in held and not (held and path.startswith(("search/", "lance/", "parts/"))):
                (self._root / path).unlink(missing_ok=True)
        remove_empty(self._root)
        return bool(held)

    def _is_leased(self, snapshot_id: str) -> bool:
        folder = self._folder.snapshot(snapshot_id)
        return (folder / "manifest.json").is_file() and is_leased(folder)

    def _path(self, path: str) -> Path:
        """The path inside the folder. Raises StorageError if the state names a path outside."""
        if path.startswith("/") or ".." in path.split("/") or "\\" in path or "\0" in path:
            raise StorageError("The state in the object store names a path outside the collection.", "Restore it.")
        return self._root / path

    @property
    def _root(self) -> Path:
        return self._folder.root

    def _at(self, name: str) -> str:
        return f"{self._prefix}/{name}"

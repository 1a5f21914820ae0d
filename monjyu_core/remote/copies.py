"""Collections here and in the object store: which is ahead, and bringing one to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TypedDict

from filelock import FileLock, Timeout

from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.remote.collection_lock import holding
from monjyu_core.remote.following import followed
from monjyu_core.remote.object_store import Objects, open_objects
from monjyu_core.remote.synchronise import RemoteCollection
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.wording import did_you_mean


class Copy(TypedDict):
    """`state`: `same`, `newer there`, `newer here` (work to push), `both changed`, `only here` or `only there`."""

    name: str
    state: str


def copies(data: DataFolder, settings: Settings) -> list[Copy]:
    """Every collection, here or there, by name."""
    objects = _objects(settings)
    there, here = set(_remote_names(objects)), set(data.collections())
    return [
        Copy(name=name, state=_state(RemoteCollection(objects, data.collection(name)), name in here, name in there))
        for name in sorted(there | here)
    ]


def pull_all(
    data: DataFolder, settings: Settings, names: Sequence[str], *, only_served: bool = False, force: bool = False
) -> list[tuple[str, bool]]:
    """Fetch collections (none named: all; what was deleted in the store goes here, too), with whether each had changed.
    ConfigurationError for one that the store does not have; StorageError where a command works on it here or, without
    `force`, where work here would be lost."""
    objects = _objects(settings)
    known = sorted({*_remote_names(objects), *followed(data)})
    for name in names:
        if name not in known:
            raise ConfigurationError(f"The store has no collection {name!r}.", did_you_mean(name, known))
    return [(name, _pull(objects, data.collection(name), only_served, force)) for name in names or known]


def push_all(data: DataFolder, settings: Settings, names: Sequence[str], say: Callable[[str], None]) -> Iterator[str]:
    """Bring collections (none named: all published here) to the store, one after the other. StorageError where another
    machine has published one since."""
    _objects(settings)
    known = data.collections()
    for name in names or known:
        if name not in known:
            raise ConfigurationError(f"There is no collection {name!r} here.", did_you_mean(name, known))
        folder = data.collection(name)
        # Not the lock of publishing: who has the hold waits for it, and we wait for the hold.
        with _locked(folder, "index.lock"), holding(folder, settings, say, resume=True):
            pass
        yield name


def _pull(objects: Objects, folder: CollectionFolder, only_served: bool, force: bool) -> bool:
    remote = RemoteCollection(objects, folder)
    with _locked(folder, "index.lock", "publish.lock"):
        if not force and remote.is_changed():
            if not remote.is_behind():
                return False
            raise StorageError(
                f"{folder.name} was changed here and in the store.", "With --force, local work is discarded."
            )
        return remote.pull(only_served=only_served, again=force)


@contextmanager
def _locked(folder: CollectionFolder, *names: str) -> Iterator[None]:
    folder.root.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            for name in names:
                held.enter_context(FileLock(folder.root / name, timeout=0))
        except Timeout as error:
            raise StorageError(f"{folder.name} is being indexed here.", "Try again when it has ended.") from error
        yield


def _state(remote: RemoteCollection, here: bool, there: bool) -> str:
    if not (here and there):
        return "only here" if here else "only there"
    behind, changed = remote.is_behind(), remote.is_changed()
    if behind and changed:
        return "both changed"
    return "newer there" if behind else "newer here" if changed else "same"


def _objects(settings: Settings) -> Objects:
    objects = open_objects(settings)
    if objects is None:
        raise ConfigurationError("storage.uri is not set.", "Set it in monjyu.yaml, or as MONJYU_STORAGE__URI.")
    return objects


def _remote_names(objects: Objects) -> list[str]:
    """A collection that was deleted leaves its lease behind, so that tokens go on growing."""
    return [name for name in objects.folders("index") if objects.exists(f"index/{name}/state.json.gz")]

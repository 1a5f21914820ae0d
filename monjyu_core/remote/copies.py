"""Collections here and in the object store: which copy is ahead, and synchronising them."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TypedDict

from filelock import FileLock, Timeout

from monjyu_core.errors import ConfigurationError, MonjyuError, StorageError, did_you_mean
from monjyu_core.remote.collection_lock import holding
from monjyu_core.remote.object_store import Objects, open_objects
from monjyu_core.remote.state import read_base
from monjyu_core.remote.synchronise import RemoteCollection
from monjyu_core.settings.settings import Settings, load_settings
from monjyu_core.storage.folders import CollectionFolder, DataFolder

# A machine that answers questions follows what others publish.
_log = logging.getLogger(__name__)
_looked: dict[str, float] = {}
"""When this process last checked the store, on its monotonic clock, by data folder."""


@contextmanager
def following(data: DataFolder, settings: Settings) -> Iterator[None]:
    """A context in which a thread fetches every collection of the store as soon as it is published. The first round is
    finished when the context begins. Does nothing without `storage.uri`."""
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
    """Fetch what was published elsewhere before a question is answered, unless this was checked just before."""
    settings = load_settings()
    if settings.storage.uri is None:
        return
    since = time.monotonic() - _looked.get(str(data.root), float("-inf"))
    if since > 2 * settings.storage.follow_seconds and (objects := open_objects(settings)):
        look(data, objects)


def look(data: DataFolder, objects: Objects) -> None:
    """Fetch all collections. Failures are logged and retried in the next round; the local copy stays as it is."""
    _looked[str(data.root)] = time.monotonic()
    try:
        names = {*objects.folders("index"), *followed(data)}
    except MonjyuError as error:
        _log.warning("The object store could not be checked: %s", error)
        return
    for name in sorted(names):
        try:
            folder = data.collection(name)
            if follow_collection(RemoteCollection(objects, folder), folder):
                _log.info("%s: fetched a snapshot published elsewhere", name)
        except (MonjyuError, OSError) as error:
            _log.warning("%s was not fetched: %s", name, error)


def follow_collection(remote: RemoteCollection, folder: CollectionFolder) -> bool:
    """Fetch what readers need, or the whole collection if it is indexed on this machine; return whether anything was
    fetched. Nothing is fetched while a command here works on the collection, nor over unpublished work."""
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
    """Collections here that came from the store, some of which may have been deleted there."""
    if not data.index.is_dir():
        return []
    folders = map(CollectionFolder, data.index.iterdir())
    return [folder.name for folder in folders if read_base(folder).etag is not None]


class Copy(TypedDict):
    """A collection here and in the store. `state`: `same`, `newer there`, `newer here` (work to push), `both changed`,
    `only here` or `only there`."""

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
    """Fetch collections (without names all, also removing those deleted in the store), and return whether each had
    changed. Raises ConfigurationError for one that the store does not have; raises StorageError if a command here works
    on it or, without `force`, if local work would be lost."""
    objects = _objects(settings)
    known = sorted({*_remote_names(objects), *followed(data)})
    for name in names:
        if name not in known:
            raise ConfigurationError(f"The store has no collection {name!r}.", did_you_mean(name, known))
    return [(name, _pull(objects, data.collection(name), only_served, force)) for name in names or known]


def push_all(data: DataFolder, settings: Settings, names: Sequence[str], say: Callable[[str], None]) -> Iterator[str]:
    """Upload collections (without names, all published here), one after the other. Raises StorageError if another
    machine has published one since."""
    _objects(settings)
    known = data.collections()
    for name in names or known:
        if name not in known:
            raise ConfigurationError(f"There is no collection {name!r} here.", did_you_mean(name, known))
        folder = data.collection(name)
        # Not the lock of publishing, for which the owner of the hold waits while this code waits for the hold.
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
    """The names of collections in the store. A deleted collection keeps its lease, so that tokens continue to grow."""
    return [name for name in objects.folders("index") if objects.exists(f"index/{name}/state.json.gz")]

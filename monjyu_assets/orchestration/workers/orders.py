"""Orders from the publisher that has locked a collection to workers on other machines, and their results.

An order and its results are stored under the token of the publisher's lease. Workers upload objects and name them in
results; they never write the state. Only the publisher adopts results, and only from runs that it still waits for, so
a worker that was given up, or whose publisher lost the lease, changes nothing.
"""

import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel

from monjyu_core.errors import StorageError
from monjyu_core.records.corrections import Fields, hand_over
from monjyu_core.remote.collection_lock import Hold
from monjyu_core.remote.object_store import Objects
from monjyu_core.remote.publisher_lease import Lease
from monjyu_core.remote.state import LEASE, ORDERS, STATE, RemoteState, new_name, prefix_of
from monjyu_core.storage.collection import CollectionRecord, save_record
from monjyu_core.storage.folders import CollectionFolder, write_atomically
from monjyu_core.storage.heads import named_parts
from monjyu_core.storage.ids import file_sha256
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import ASSET_TABLES

_AT_ONCE = 8
MANIFEST = "paper_manifest"


class Order(BaseModel):
    """An order (`orders/<token>/<id>.json`): the assets to compute for the shards that each run names. `rests_on` are
    the assets whose parts are needed for them. `files` are the SHA-256 of the sources to parse, by shard. `documents`
    are objects with files of records (JSONL), by path on the publisher's machine. `yaml` is the text of the sources'
    `collection.yaml`. `corrections` are the current ones, by paper."""

    token: int
    record: CollectionRecord
    yaml: str | None = None
    assets: list[str]
    rests_on: list[str] = []
    files: dict[str, list[str]] = {}
    documents: dict[str, str] = {}
    corrections: dict[str, Fields] = {}


class Result(BaseModel):
    """A worker's result for an asset's shard (`orders/<token>/<run>/<asset>-<shard>.json`): the text of its HEAD and
    the names of the objects with its parts, each by path."""

    asset: str
    shard: str
    heads: dict[str, str]
    files: dict[str, str]


class GivenOrders:
    """The publisher's side of orders."""

    def __init__(self, objects: Objects, folder: CollectionFolder, hold: Hold) -> None:
        self._objects = objects
        self._folder = folder
        self._hold = hold
        self._taken: set[str] = set()
        hold.gave_orders = True

    @property
    def token(self) -> int:
        return self._hold.lease.token

    def give(self, order: Order) -> str:
        """Upload the folder's state, then the order; return its name for a run's tag."""
        self._hold.save()
        name = f"{self.token}/{uuid.uuid4().hex[:12]}"
        self._objects.write(_key(self._folder, f"{name}.json"), order.model_dump_json().encode())
        return name

    def upload(self, path: Path) -> str:
        """Upload a file as an object that lasts as long as this publisher's lock; return its name."""
        name = new_name(file_sha256(path))
        self._objects.upload(f"{prefix_of(self._folder.name)}/blobs/{name}", path)
        return name

    def beat(self, run_id: str) -> str | None:
        """Return a value that changes with each heartbeat of the run's worker, or None before the first."""
        found = self._objects.read(_key(self._folder, f"{self.token}/{run_id}/beat"))
        return found.etag if found else None

    def take_results(self, run_id: str) -> int:
        """Make the parts of a run's new results current here and in the store; return the number of results."""
        prefix = _key(self._folder, f"{self.token}/{run_id}/")
        keys = [key for key in self._objects.names(prefix) if key.endswith(".json") and key not in self._taken]
        for key in keys:
            found = self._objects.read(key)
            if found is None:
                raise StorageError(f"{key} vanished from the object store.", "Run the command again.")
            self._apply(Result.model_validate_json(found.content))
        self._taken.update(keys)
        if keys:
            self._hold.save()
        return len(keys)

    def _apply(self, result: Result) -> None:
        _fetch_all(self._objects, self._folder, result.files)
        self._hold.remote.delivered |= {name.partition("-")[0]: name for name in result.files.values()}
        for path, text in result.heads.items():
            write_atomically(_inside(self._folder, path), text.encode())


class TakenOrder:
    """The worker's side of an order. `folder` is its copy of the collection, with the files that its shards need."""

    def __init__(self, objects: Objects, folder: CollectionFolder, name: str, run_id: str) -> None:
        self._objects = objects
        self._folder = folder
        self._name = name
        self._run_id = run_id

    @cached_property
    def order(self) -> Order:
        found = self._objects.read(_key(self._folder, f"{self._name}.json"))
        if found is None:
            raise _void()
        return Order.model_validate_json(found.content)

    @property
    def yaml_folder(self) -> Path:
        return self._folder.root.parents[1] / "source"

    def document(self, source_path: str) -> Path | None:
        """The local path of a file of records, given its path on the publisher's machine."""
        name = self.order.documents.get(source_path)
        return self._folder.root.parents[1] / "documents" / name if name else None

    def fetch(self, shards: Iterable[str]) -> None:
        """Fetch the parts and sources of `shards`, and write the collection's record with a local folder as its source.
        Raises StorageError if the publisher has ended."""
        found = self._objects.read(f"{prefix_of(self._folder.name)}/{STATE}")
        state = RemoteState.unpacked(found.content) if found else RemoteState()
        if state.token != self.order.token:
            raise _void()
        shards = set(shards)
        self._fetch_parts(state, shards)
        wanted = {f"sources/{sha}" for shard in shards for sha in self.order.files.get(shard, [])}
        _fetch_all(self._objects, self._folder, {path: state.files[path] for path in wanted & state.files.keys()})
        for source_path, name in self.order.documents.items():
            if path := self.document(source_path):
                self._objects.download(f"{prefix_of(self._folder.name)}/blobs/{name}", path, name.partition("-")[0])
        record = self.order.record.model_copy(update={"sources": [str(self.yaml_folder)], "rules": {}})
        self.yaml_folder.mkdir(parents=True, exist_ok=True)
        if self.order.yaml is not None:
            write_atomically(self.yaml_folder / "collection.yaml", self.order.yaml.encode())
        save_record(self._folder, record)
        hand_over(self._folder, self.order.corrections)

    def _fetch_parts(self, state: RemoteState, shards: set[str]) -> None:
        """Fetch the HEADs of the order's assets and their parts. The manifest's HEAD has the number of buckets."""
        assets = {MANIFEST, *self.order.rests_on, *self.order.assets}
        heads = {_head_of(asset, shard) for asset in assets for shard in shards} & state.small.keys()
        parts = {part for path in heads for part in _parts_of(path, state.small[path])}
        _fetch_all(self._objects, self._folder, {path: state.files[path] for path in parts & state.files.keys()})
        for path in heads:
            write_atomically(_inside(self._folder, path), state.small[path].encode())
        siblings = set(self._siblings(assets, shards))
        _fetch_all(self._objects, self._folder, {path: state.files[path] for path in siblings & state.files.keys()})

    def _siblings(self, assets: Iterable[str], shards: Iterable[str]) -> Iterator[str]:
        """The paths of the parts that primary parts name, for HEADs of an earlier version, which do not name them."""
        store = PartStore(self._folder.parts)
        for asset in assets:
            for bucket in (bucket for shard in shards for bucket in store.buckets(shard)):
                part = store.head(ASSET_TABLES[asset][0], bucket)
                for table, version in part.siblings.items() if part else ():
                    yield store.path(table, bucket, version).relative_to(self._folder.root).as_posix()

    def deliver(self, asset: str, shard: str) -> None:
        """Upload the parts of an asset's shard, then the result that names them. Raises StorageError if the publisher
        no longer waits for them."""
        self._check_lease()
        path = _head_of(asset, shard)
        heads = {path: (self._folder.root / path).read_text("utf-8")}
        paths = _parts_of(path, heads[path])
        files = {path: new_name(file_sha256(self._folder.root / path)) for path in sorted(paths)}
        prefix = prefix_of(self._folder.name)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(
                pool.map(
                    lambda path: self._objects.upload(f"{prefix}/blobs/{files[path]}", self._folder.root / path), files
                )
            )
        result = Result(asset=asset, shard=shard, heads=heads, files=files)
        key = f"{self.order.token}/{self._run_id}/{asset}-{shard}.json"
        self._objects.write(_key(self._folder, key), result.model_dump_json().encode())

    def _check_lease(self) -> None:
        found = self._objects.read(f"{prefix_of(self._folder.name)}/{LEASE}")
        lease = Lease.model_validate_json(found.content) if found else Lease()
        if lease.holder is None or lease.token != self.order.token:
            raise _void()

    def beat(self) -> None:
        """Write a heartbeat. Each has a different content, and therefore a different ETag."""
        key = f"{self.order.token}/{self._run_id}/beat"
        self._objects.write(_key(self._folder, key), uuid.uuid4().hex.encode())


def _fetch_all(objects: Objects, folder: CollectionFolder, files: dict[str, str]) -> None:
    """Fetch the objects of `files`, by path. Existing files are skipped, because they never change."""
    absent = {path: name for path, name in files.items() if not (folder.root / path).is_file()}

    def fetch(path: str) -> None:
        key, sha256 = f"{prefix_of(folder.name)}/blobs/{absent[path]}", absent[path].partition("-")[0]
        if not objects.download(key, _inside(folder, path), sha256):
            raise StorageError(f"{path} of {folder.name} is missing in the object store.", "Run the command again.")

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(fetch, absent))


def _head_of(asset: str, shard: str) -> str:
    """The path of the HEAD of an asset's shard, inside the collection's folder."""
    return f"parts/{ASSET_TABLES[asset][0]}/shard={shard}/HEAD"


def _parts_of(path: str, head: str) -> set[str]:
    """The paths of the parts that a HEAD names."""
    _, primary, shard, _ = path.split("/")
    return {f"parts/{table or primary}/{shard}/{version}.parquet" for table, version in named_parts(head)}


def _inside(folder: CollectionFolder, path: str) -> Path:
    if path.startswith("/") or ".." in path.split("/"):
        raise StorageError("An object names a path outside the collection.", "Restore the object store from a backup.")
    return folder.root / path


def _key(folder: CollectionFolder, name: str) -> str:
    return f"{prefix_of(folder.name)}/{ORDERS}/{name}"


def _void() -> StorageError:
    return StorageError("The command that launched this run has ended.", "`monjyu index` computes what is missing.")

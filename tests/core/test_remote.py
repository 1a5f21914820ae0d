"""Collections in an object store, on moto's server for S3."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from monjyu_core.errors import StorageError
from monjyu_core.remote import publisher_lease
from monjyu_core.remote.object_store import Objects, Overtaken
from monjyu_core.remote.publisher_lease import PublisherLease
from monjyu_core.remote.synchronise import RemoteCollection
from monjyu_core.storage.folders import CollectionFolder

SECONDS = 2.0


def silent(text: str) -> None:
    return


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def objects(server: str, request: pytest.FixtureRequest) -> Objects:
    import httpx
    from obstore.store import S3Store

    bucket = f"bucket-{abs(hash(request.node.name))}"
    httpx.put(f"{server}/{bucket}").raise_for_status()
    store = S3Store(
        bucket,
        endpoint=server,
        region="us-east-1",
        access_key_id="a",
        secret_access_key="b",
        client_options={"allow_http": True},
    )
    return Objects(store, "here", "s3://bucket/here")


def a_machine(tmp_path: Path, name: str, objects: Objects) -> tuple[Path, RemoteCollection]:
    root = tmp_path / name / "index" / "c"
    root.mkdir(parents=True)
    return root, RemoteCollection(objects, CollectionFolder(root))


def held(collection: RemoteCollection) -> PublisherLease:
    lease = collection.lease(SECONDS)
    lease.take(30, silent)
    collection.pull()
    collection.fence(lease.token)
    return lease


def put(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def contents(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() and path.name != "remote.json.gz")
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def test_a_second_machine_gets_what_the_first_published(tmp_path: Path, objects: Objects) -> None:
    here, first = a_machine(tmp_path, "a", objects)
    there, second = a_machine(tmp_path, "b", objects)
    lease = held(first)
    put(here, CURRENT="s1\n", parts__t__HEAD="x", parts__t__x="rows", snapshots__s1__index="db", index__lock="")
    first.push(lease, 0)
    lease.release()
    assert second.pull()
    assert contents(there) == contents(here)
    assert not second.pull()
    lease = held(second)
    put(there, CURRENT="s2\n", snapshots__s2__index="db2")
    (there / "snapshots/s1/index").unlink()
    second.push(lease, 0)
    lease.release()
    assert first.pull()
    assert contents(here) == contents(there)
    assert len(objects.names("index/c/blobs")) == len(["x", "index", "lock"])


def test_who_was_overtaken_writes_nothing(tmp_path: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    here, first = a_machine(tmp_path, "a", objects)
    there, second = a_machine(tmp_path, "b", objects)
    slow = held(first)
    put(here, CURRENT="old\n")
    slow._end.set()  # it hangs, and renews its hold no longer
    lease = second.lease(0.2)
    monkeypatch.setattr(publisher_lease, "is_dead", lambda holder: True)
    lease.take(30, silent)
    second.pull()
    second.fence(lease.token)
    put(there, CURRENT="new\n")
    second.push(lease, 0)
    with pytest.raises((Overtaken, StorageError)):
        first.push(slow, 0)
    lease.release()
    first.pull()
    assert (here / "CURRENT").read_text() == "new\n"

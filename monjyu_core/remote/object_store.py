"""Objects under a URI (`s3://`, `az://`, `gs://`, `file://`), and the conditional write on which the rest relies."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from filelock import FileLock

from monjyu_core.azure.credentials import has_extra, identity
from monjyu_core.errors import ConfigurationError, ExternalAPIError, StorageError
from monjyu_core.extras import install_line
from monjyu_core.settings.azure import AzureSettings
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import temporary_for, write_atomically

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig


T = TypeVar("T")


class Overtaken(StorageError):
    """The object has changed since it was read: somebody else has written it."""


@dataclass(frozen=True)
class Found:
    """An object's bytes (none if unchanged since `unless`), and the tag that a conditional write needs."""

    content: bytes
    etag: str
    changed: bool = True


class Objects:
    """The objects below a prefix. Thread-safe. Raises ExternalAPIError if the store does not answer."""

    def __init__(self, store: ObjectStore, prefix: str, name: str) -> None:
        self._store = store
        self._prefix = prefix
        self._name = name

    def read(self, key: str, unless: str | None = None) -> Found | None:
        """The object; None if it does not exist. It has no bytes if its tag is still `unless`."""
        import obstore
        from obstore.exceptions import NotFoundError, NotModifiedError

        def get() -> Found | None:
            try:
                got = obstore.get(self._store, self._at(key), options={"if_none_match": unless} if unless else None)
                return Found(bytes(got.bytes()), got.meta["e_tag"] or "")
            except NotModifiedError:
                return Found(b"", unless or "", changed=False)
            except (NotFoundError, FileNotFoundError):
                return None

        return self._asked(get)

    def exists(self, key: str) -> bool:
        import obstore
        from obstore.exceptions import NotFoundError

        def head() -> bool:
            try:
                obstore.head(self._store, self._at(key))
            except (NotFoundError, FileNotFoundError):
                return False
            return True

        return self._asked(head)

    def swap(self, key: str, content: bytes, seen: str | None) -> str:
        """Write an object if it has the tag `seen` (None: if it does not exist) and return its new tag. Raises
        Overtaken if it has another tag. A write whose answer was lost counts, so each content must be new."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, NotFoundError, PreconditionError

        def put() -> str | None:
            mode: Any = {"e_tag": seen} if seen else "create"
            try:
                return obstore.put(self._store, self._at(key), content, mode=mode)["e_tag"] or ""
            except (AlreadyExistsError, FileExistsError, PreconditionError, NotFoundError, FileNotFoundError):
                return None

        failed: ExternalAPIError | None = None
        try:
            tag = self._asked(put)
        except ExternalAPIError as error:  # the answer may be all that was lost
            tag, failed = None, error
        if tag is not None:
            return tag
        there = self.read(key)
        if there is not None and there.content == content:
            return there.etag
        raise failed or overtaken(self._name, key)

    def write(self, key: str, content: bytes) -> None:
        """Write an object unconditionally."""
        import obstore

        self._asked(lambda: obstore.put(self._store, self._at(key), content))

    def upload(self, key: str, path: Path) -> None:
        import obstore

        self._asked(lambda: obstore.put(self._store, self._at(key), path))

    def download(self, key: str, path: Path, sha256: str) -> bool:
        """Download an object to a file, completely or not at all; return whether the object exists. Raises StorageError
        if its bytes have another hash."""
        import obstore
        from obstore.exceptions import NotFoundError

        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_for(path)

        def get() -> bool:
            hasher = hashlib.sha256()
            try:
                with temporary.open("wb") as file:
                    for block in obstore.get(self._store, self._at(key)).stream():
                        hasher.update(block)
                        file.write(block)
            except (NotFoundError, FileNotFoundError):
                return False
            if hasher.hexdigest() != sha256:
                raise StorageError(f"{self._name}: object {key} is damaged.", "Publish the collection again.")
            shutil.move(temporary, path)
            return True

        try:
            return self._asked(get)
        finally:
            temporary.unlink(missing_ok=True)

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; missing ones are ignored."""
        import obstore
        from obstore.exceptions import NotFoundError

        def remove(key: str) -> None:
            try:
                obstore.delete(self._store, self._at(key))
            except (NotFoundError, FileNotFoundError):
                return

        for key in keys:
            self._asked(partial(remove, key))

    def names(self, prefix: str = "") -> list[str]:
        """All keys below a prefix, sorted."""
        import obstore

        start = len(self._at(""))
        found = self._asked(
            lambda: [one["path"] for some in obstore.list(self._store, self._at(prefix) or None) for one in some]
        )
        return sorted(path[start:] for path in found)

    def folders(self, prefix: str) -> list[str]:
        """Names one step below a prefix, sorted."""
        import obstore

        found = self._asked(lambda: obstore.list_with_delimiter(self._store, self._at(prefix)))
        return sorted(path.rstrip("/").rpartition("/")[2] for path in found["common_prefixes"])

    def _at(self, key: str) -> str:
        return f"{self._prefix}/{key}" if self._prefix else key

    def _asked(self, call: Callable[[], T]) -> T:
        """The result of the call. The library's errors contain addresses and headers, so only their kind is
        reported."""
        from obstore.exceptions import BaseError

        try:
            return call()
        except BaseError as error:
            kind = type(error).__name__.removesuffix("Error")
            raise ExternalAPIError(
                f"The object store {self._name} does not allow access ({kind}).",
                "See storage.uri, and who may write there.",
            ) from None


class FileObjects(Objects):
    """Objects in a folder that all machines share, with working `flock` (a local disk, or NFS version 4). The library
    has no conditional write for files, so a kernel lock provides it."""

    def __init__(self, root: Path) -> None:
        from obstore.store import LocalStore

        super().__init__(LocalStore(root, mkdir=True), "", root.as_uri())
        self._root = root

    def swap(self, key: str, content: bytes, seen: str | None) -> str:
        path = self._root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f"{path.name}.lock")):
            there = self.read(key)
            if (there.etag if there else None) != seen:
                raise overtaken(self._name, key)
            write_atomically(path, content)
            written = self.read(key)
            return written.etag if written else ""


def overtaken(store: str, key: str) -> Overtaken:
    return Overtaken(f"{store}: {key} was written by another machine meanwhile.", "Run the command again.")


# The object store that the settings name: addresses, endpoints, signing in.
SCHEMES = ("s3", "az", "gs", "file")
_CONNECTION = re.compile(r"(?:^|;)\s*(\w+)=([^;]*)")


def open_objects(settings: Settings) -> Objects | None:
    """The store that `storage.uri` names; None if nothing is set. Raises ConfigurationError if the address is not
    supported or an extra is missing."""
    uri = settings.storage.uri
    if uri is None:
        return None
    parts = urlsplit(uri)
    place = parts.path.strip("/") if parts.scheme == "file" else parts.netloc
    if parts.scheme not in SCHEMES or not place or parts.query or "@" in parts.netloc:
        raise ConfigurationError(
            "storage.uri is not an address.", "It is s3://BUCKET/…, az://CONTAINER/…, gs://BUCKET/… or file:///FOLDER."
        )
    try:
        import obstore  # noqa: F401
    except ImportError:
        raise ConfigurationError(
            "storage.uri needs the extra `objects`.", f"Install it: {install_line('objects')}"
        ) from None
    if parts.scheme == "file":
        return FileObjects(Path(unquote(parts.path)))
    name = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    return Objects(_store(parts.scheme, parts.netloc, settings), parts.path.strip("/"), name)


def _store(scheme: str, bucket: str, settings: Settings) -> ObjectStore:
    from obstore.exceptions import BaseError
    from obstore.store import GCSStore, S3Store

    storage = settings.storage
    retry: RetryConfig = {"max_retries": storage.retries, "retry_timeout": timedelta(seconds=storage.timeout_seconds)}
    endpoint = storage.endpoint or (account_of(settings.azure)[2] if scheme == "az" else None)
    client: ClientConfig = {"timeout": f"{storage.timeout_seconds:g}s", "allow_http": is_plain(endpoint)}
    try:
        if scheme == "s3":
            where: Any = {"endpoint": endpoint} if endpoint else {}
            region: Any = {"region": storage.region} if storage.region else {}
            return S3Store(bucket, client_options=client, retry_config=retry, **where, **region)
        if scheme == "gs":
            return GCSStore(bucket, client_options=client, retry_config=retry)
        return _azure_store(bucket, endpoint, settings, client, retry)
    except (BaseError, ValueError) as error:
        raise ConfigurationError(
            f"storage.uri cannot be used: {type(error).__name__}.", "See docs/storage.md."
        ) from None


def is_plain(endpoint: str | None) -> bool:
    """Whether an address has no TLS, as for a self-hosted store such as MinIO or Azurite."""
    return (endpoint or "").startswith("http://")


def _azure_store(
    container: str, endpoint: str | None, settings: Settings, client: ClientConfig, retry: RetryConfig
) -> ObjectStore:
    """The Azure store, with the credential of `azure.credential`: from the environment, else an identity."""
    from obstore.store import AzureStore

    account, key, _ = account_of(settings.azure)
    more: Any = {"endpoint": endpoint, "account_name": account}
    if key and settings.azure.credential != "identity":
        more["account_key"] = key
    elif settings.azure.credential == "key":
        raise ConfigurationError(
            "azure.credential is key, but azure.storage.api_key is missing.",
            "Set MONJYU_AZURE__STORAGE__API_KEY or MONJYU_AZURE__STORAGE__CONNECTION_STRING, or azure.credential to "
            "identity.",
        )
    elif not has_extra():
        raise ConfigurationError("az:// needs the extra `azure`.", f"Install it: {install_line('azure')}")
    else:
        from obstore.auth.azure import AzureCredentialProvider

        more["credential_provider"] = AzureCredentialProvider(identity())
    given = {name: value for name, value in more.items() if value is not None}
    return AzureStore(container, client_options=client, retry_config=retry, **given)


def account_of(azure: AzureSettings) -> tuple[str, str | None, str | None]:
    """Name, key and endpoint of the storage account, from the connection string or else from the settings."""
    storage = azure.storage
    text = storage.connection_string.get_secret_value() if storage.connection_string else ""
    given = {name.casefold(): value.strip() for name, value in _CONNECTION.findall(text)}
    account = given.get("accountname") or storage.account
    if not account:
        raise ConfigurationError("azure.storage.account is missing.", "Set MONJYU_AZURE__STORAGE__ACCOUNT.")
    key = given.get("accountkey") or (storage.api_key.get_secret_value() if storage.api_key else None)
    return account, key, given.get("blobendpoint")

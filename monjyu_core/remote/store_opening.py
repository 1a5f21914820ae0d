"""The object store that the settings name: addresses, endpoints, signing in."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from monjyu_core.azure.credentials import has_extra, identity
from monjyu_core.errors import ConfigurationError
from monjyu_core.extras import install_line
from monjyu_core.remote.object_store import FileObjects, Objects
from monjyu_core.settings.azure_settings import AzureSettings
from monjyu_core.settings.settings import Settings

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

SCHEMES = ("s3", "az", "gs", "file")
_CONNECTION = re.compile(r"(?:^|;)\s*(\w+)=([^;]*)")


def open_objects(settings: Settings) -> Objects | None:
    """What `storage.uri` names; None where nothing is set. ConfigurationError where it is no such address, or where an
    extra is missing."""
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
    """Whether an address is named without TLS: a store of one's own, such as MinIO or Azurite."""
    return (endpoint or "").startswith("http://")


def _azure_store(
    container: str, endpoint: str | None, settings: Settings, client: ClientConfig, retry: RetryConfig
) -> ObjectStore:
    """Signed in by `azure.credential`: the connection string or key of the environment, else an identity."""
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
    """Name, key and endpoint of the storage account: those of the connection string, else of the settings."""
    storage = azure.storage
    text = storage.connection_string.get_secret_value() if storage.connection_string else ""
    given = {name.casefold(): value.strip() for name, value in _CONNECTION.findall(text)}
    account = given.get("accountname") or storage.account
    if not account:
        raise ConfigurationError("azure.storage.account is missing.", "Set MONJYU_AZURE__STORAGE__ACCOUNT.")
    key = given.get("accountkey") or (storage.api_key.get_secret_value() if storage.api_key else None)
    return account, key, given.get("blobendpoint")

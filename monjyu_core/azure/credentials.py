"""The only module that signs in to Azure: with a key from the environment, or by azure-identity's default chain
(environment, workload identity, managed identity, Azure CLI). Neither is ever printed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.extras import install_line
from monjyu_core.settings.azure import AzureCredential, AzureServiceSettings

if TYPE_CHECKING:
    from azure.core.credentials import AzureKeyCredential, TokenCredential
    from azure.identity import DefaultAzureCredential

OF_COGNITIVE_SERVICES = "https://cognitiveservices.azure.com/.default"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def endpoint_of(service: AzureServiceSettings, name: str) -> str:
    """The address of `azure.<name>` without a trailing slash. Raises ConfigurationError if it is not an address, or
    neither uses TLS nor is on this machine."""
    setting = f"azure.{name}.endpoint"
    if not service.endpoint:
        raise ConfigurationError(f"{setting} is missing.", f"Set MONJYU_AZURE__{name.upper()}__ENDPOINT=https://...")
    parts = urlsplit(service.endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise ConfigurationError(f"{setting} is not an address.", "Use https://RESOURCE... without user and query.")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ConfigurationError(f"{setting} is not encrypted.", "Use an https:// address.")
    return service.endpoint.rstrip("/")


def credential_for(
    service: AzureServiceSettings, name: str, kind: AzureCredential
) -> AzureKeyCredential | TokenCredential:
    """The credential for a client of `azure.<name>`, chosen by `azure.credential`. Raises ConfigurationError if a key
    or the extra is missing."""
    key = service.api_key.get_secret_value().strip() if service.api_key else ""
    if kind == "key" and not key:
        raise ConfigurationError(
            f"azure.credential is key, but azure.{name}.api_key is missing.",
            f"Set MONJYU_AZURE__{name.upper()}__API_KEY, or azure.credential to identity.",
        )
    if not has_extra():
        raise ConfigurationError(f"azure.{name} needs the extra `azure`.", f"Install it: {install_line('azure')}")
    if key and kind != "identity":
        from azure.core.credentials import AzureKeyCredential

        return AzureKeyCredential(key)
    return identity()


@cache
def identity() -> DefaultAzureCredential:
    """The default chain, one per process because it caches its tokens. It sends nothing yet. Raises ConfigurationError
    without the extra `azure`."""
    if not has_extra():
        raise ConfigurationError("An identity needs the extra `azure`.", f"Install it: {install_line('azure')}")
    from azure.identity import DefaultAzureCredential

    return DefaultAzureCredential(exclude_interactive_browser_credential=True)


def azure_token() -> str:
    """A token for Azure OpenAI, which azure-identity caches. Raises ExternalAPIError if no sign-in succeeds."""
    credential = identity()
    from azure.core.exceptions import ClientAuthenticationError

    try:
        return credential.get_token(OF_COGNITIVE_SERVICES).token
    except ClientAuthenticationError:
        raise ExternalAPIError("No identity could sign in to Azure.", "Run `az login`, or set the key.") from None


def has_extra() -> bool:
    """Whether the extra `azure` is installed, without loading it."""
    return find_spec("azure") is not None and find_spec("azure.identity") is not None

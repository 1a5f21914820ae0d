"""The one place that signs in to Azure by an identity: the default chain of azure-identity (environment, workload
identity, managed identity, Azure CLI). Nothing of it is ever printed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.extras import install_line

if TYPE_CHECKING:
    from azure.identity import DefaultAzureCredential

OF_COGNITIVE_SERVICES = "https://cognitiveservices.azure.com/.default"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@cache
def identity() -> DefaultAzureCredential:
    """The default chain; one for a process, for it keeps its tokens. Nothing is asked here. ConfigurationError without
    the extra `azure`."""
    if not has_extra():
        raise ConfigurationError("An identity needs the extra `azure`.", f"Install it: {install_line('azure')}")
    from azure.identity import DefaultAzureCredential

    return DefaultAzureCredential(exclude_interactive_browser_credential=True)


def azure_token() -> str:
    """A token for Azure OpenAI; azure-identity keeps it until it is old. ExternalAPIError where no one can sign in."""
    credential = identity()
    from azure.core.exceptions import ClientAuthenticationError

    try:
        return credential.get_token(OF_COGNITIVE_SERVICES).token
    except ClientAuthenticationError:
        raise ExternalAPIError("Azure: no identity could sign in.", "`az login`, or set the service's key.") from None


def has_extra() -> bool:
    """Whether the extra `azure` is installed, without loading it."""
    return find_spec("azure") is not None and find_spec("azure.identity") is not None

"""Builds clients from settings, and computes how much a role's calls may send. The HTTP library is imported only when a
client is created, because importing it is slow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, urlsplit

from monjyu_core.azure.credentials import azure_token, has_extra
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.clients.model_server import Server
from monjyu_core.models.types import Role
from monjyu_core.settings.models import ModelSettings
from monjyu_core.settings.settings import Settings

if TYPE_CHECKING:
    from monjyu_core.models.clients.chat_client import HttpChat
    from monjyu_core.models.clients.embedding_client import HttpEmbeddings
    from monjyu_core.models.clients.rerank_client import HttpRerank


# Addresses of model servers as people have them (from a portal, a variable, a log), normalised to a base address.
AZURE_API_VERSION = "2024-10-21"
"""The newest stable version of Azure OpenAI that has JSON schemas and usage in streams."""
_FOUNDRY_API_VERSION = "2024-05-01-preview"
_OPERATION = re.compile(
    r"/(?:chat/completions|completions|embeddings|responses|rerank|models|api/(?:chat|embed|generate|tags))$"
)
_DEPLOYMENT = re.compile(r"^(.*?)/openai/deployments/([^/]+)$")


@dataclass(frozen=True)
class Address:
    """The base and path that requests begin with, and their query. `deployment` is Azure's."""

    base: str
    path: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    deployment: str = ""


def address_of(setting: str, url: str, provider: str, deployment: str = "", api_version: str | None = None) -> Address:
    """The address in `url`, the value of `setting`, without the path of an operation such as /chat/completions.
    `deployment` is Azure's, used if the address names none.

    Raises ConfigurationError if it is not an address, or has a user, a password, or a query other than api-version.
    """
    parts = _parts(url)
    if parts is None:
        raise ConfigurationError(f"{setting} is not an address.", "It must begin with http:// or https://.")
    query = dict(parse_qsl(parts.query))
    if "@" in parts.netloc:
        raise ConfigurationError(f"{setting} contains a user or a password.", "Set api_key of the model instead.")
    if query and (provider != "azure" or query.keys() - {"api-version"}):
        raise ConfigurationError(
            f"{setting} contains a query ({', '.join(sorted(query))}).", "Remove the question mark and what follows it."
        )
    path = _OPERATION.sub("", parts.path.rstrip("/")).rstrip("/")
    base = f"{parts.scheme}://{parts.netloc}{path}"
    if provider == "ollama":
        return Address(base.removesuffix("/v1").removesuffix("/api"))
    if provider != "azure":
        return Address(base)
    return _azure(base, deployment, api_version or query.get("api-version"))


def _azure(base: str, deployment: str, api_version: str | None) -> Address:
    """An Azure address: the resource's endpoint, a deployment's, `/openai/v1`, or a model's of Foundry."""
    version = {"api-version": api_version} if api_version else {}
    if base.endswith("/openai/v1"):
        # The v1 API has only the versions `preview` and `latest`; a version set for deployments does not apply.
        return Address(base, "", version if api_version in ("preview", "latest") else {})
    host = urlsplit(base).hostname or ""
    if base.endswith("/models") or (host.endswith(".services.ai.azure.com") and "/openai" not in base):
        base = base if base.endswith("/models") else f"{base}/models"
        return Address(base, "", version or {"api-version": _FOUNDRY_API_VERSION})
    if host.endswith(".models.ai.azure.com"):
        return Address(base, "", version)
    named = _DEPLOYMENT.match(base)
    endpoint = named[1] if named else base.removesuffix("/openai")
    deployment = named[2] if named else deployment
    query = version or {"api-version": AZURE_API_VERSION}
    return Address(endpoint, f"/openai/deployments/{deployment}", query, deployment)


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        return parts if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


_KEY_NEEDED = ("api.openai.com",)


def role_model(settings: Settings, role: Role) -> tuple[str, ModelSettings]:
    """The name and settings of the model that a role uses. Raises ConfigurationError if no model has that name."""
    return named_model(settings, getattr(settings.roles, role).model, f"roles.{role}.model")


def named_model(settings: Settings, name: str, where: str) -> tuple[str, ModelSettings]:
    """The name and settings of the model called `name`, which the setting `where` contains; an Azure model gets the
    missing values from `azure`. Raises ConfigurationError if no model has that name."""
    found = settings.models.get(name)
    if found is None:
        known = ", ".join(sorted(settings.models)) or "none"
        raise ConfigurationError(
            f"{where} names the model {name!r}, which is not in `models` (configured: {known}).",
            f"Add models.{name} with provider, model and base_url, or name another.",
        )
    if found.provider == "azure":
        azure = settings.azure
        key, kind = found.api_key or azure.openai_api_key, azure.credential
        by_identity = found.identity or kind == "identity" or (kind == "auto" and key is None and has_extra())
        resource = {
            "base_url": found.base_url or _resource(azure.openai_endpoint),
            "api_version": found.api_version or azure.openai_api_version,
        }
        found = found.model_copy(update={**resource, "api_key": key, "identity": by_identity})
    return name, found


def _resource(endpoint: str | None) -> str | None:
    """The endpoint without a deployment: several models may share the resource."""
    if not endpoint:
        return None
    return re.sub(r"/openai/deployments/[^/?]+(?:/[^?]*)?", "", endpoint)


def check_role(settings: Settings, role: Role) -> None:
    """Raise ConfigurationError if the model of a role is not set up, without importing the HTTP library."""
    server_of(*role_model(settings, role))


def chat_client(name: str, model: ModelSettings, timeout: float) -> HttpChat:
    """A model's chat client. `timeout`: seconds for each wait. Raises ConfigurationError if settings are missing."""
    server = server_of(name, model)
    from monjyu_core.models.clients.chat_client import HttpChat
    from monjyu_core.models.clients.replies import JsonHttp

    return HttpChat(JsonHttp(server, timeout), server, model)


def embedding_client(name: str, model: ModelSettings, timeout: float) -> HttpEmbeddings:
    """The embedding client of a model; time-out and errors are those of `chat_client`."""
    server = server_of(name, model)
    from monjyu_core.models.clients.embedding_client import HttpEmbeddings
    from monjyu_core.models.clients.replies import JsonHttp

    return HttpEmbeddings(JsonHttp(server, timeout), server, model)


def rerank_client(name: str, model: ModelSettings, timeout: float) -> HttpRerank:
    """The rerank client of a model with `provider: openai` and `/rerank` below its base_url; time-out and errors are
    those of `chat_client`."""
    if model.provider != "openai":
        raise ConfigurationError(
            f"models.{name} has provider {model.provider}, which has no rerank endpoint.",
            "Use a server that has /rerank, with provider openai.",
        )
    server = server_of(name, model)
    from monjyu_core.models.clients.replies import JsonHttp
    from monjyu_core.models.clients.rerank_client import HttpRerank

    return HttpRerank(JsonHttp(server, timeout), server)


def server_of(name: str, model: ModelSettings) -> Server:
    """A model's server, with its key in headers. Raises ConfigurationError if settings are missing or invalid."""
    address = _address(name, model)
    key = model.api_key.get_secret_value().strip() if model.api_key else ""
    azure = model.provider == "azure"
    token = azure_token if azure and model.identity else None
    if not key and token is None and (azure or urlsplit(address.base).hostname in _KEY_NEEDED):
        own = f"MONJYU_MODELS__{name.upper()}__API_KEY"
        where = f"MONJYU_AZURE__OPENAI_API_KEY or {own}" if azure else own
        raise ConfigurationError(f"models.{name}.api_key is missing.", f"Set it, preferably as {where}.")
    if not key.isascii() or not key.isprintable():
        raise ConfigurationError(f"models.{name}.api_key contains characters that no key has.", "Copy it again.")
    headers = {"api-key": key} if azure else {"authorization": f"Bearer {key}"}
    return Server(
        name=name,
        model=address.deployment or model.model,
        address=address.base,
        headers=headers if key and token is None else {},
        token=token,
        path=address.path,
        query=address.query,
        ca_file=model.ca_file,
        proxy=model.proxy,
    )


def _address(name: str, model: ModelSettings) -> Address:
    setting = f"models.{name}.base_url"
    if not model.base_url and model.provider == "azure":
        raise ConfigurationError(
            f"azure.openai_endpoint (or {setting}) is missing.",
            "Set MONJYU_AZURE__OPENAI_ENDPOINT=https://RESOURCE.openai.azure.com, MONJYU_AZURE__OPENAI_API_KEY "
            f"and, unless the deployment is called {model.model}, MONJYU_MODELS__{name.upper()}__MODEL.",
        )
    if not model.base_url:
        or_host = " Or set OLLAMA_HOST, as for Ollama itself." if model.provider == "ollama" else ""
        raise ConfigurationError(f"{setting} is missing.", f"Set it to the server's address.{or_host}")
    return address_of(setting, model.base_url, model.provider, model.model, model.api_version)


# How much a call of a role may send: the context of its model without the longest answer.
INSTRUCTIONS = 600
"""Tokens reserved for the instructions of a prompt if they are not counted."""
SPARE = 0.9
"""Share of the context that is used: tokens are counted by cl100k, and servers count by tokenizers of their own."""


def context_room(settings: Settings, role: Role) -> int:
    """The number of tokens (cl100k) that the messages of a call may have: `SPARE` of `models.NAME.context_tokens`, less
    the role's `max_tokens`; at least a quarter of the context."""
    context = role_model(settings, role)[1].context_tokens
    longest = getattr(settings.roles, role).max_tokens
    return max(int(SPARE * context) - int(longest), context // 4)


def room_for_sources(settings: Settings, role: Role, most: int) -> int:
    """The number of tokens of sources in one call: at most `most`, and at most what the context leaves after
    the instructions, but at least `INSTRUCTIONS`."""
    return min(most, max(context_room(settings, role) - INSTRUCTIONS, INSTRUCTIONS))

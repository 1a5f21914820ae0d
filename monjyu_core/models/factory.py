"""From settings to clients. The libraries are imported here, when a client is made, for they take half a second."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from monjyu_core.azure.credentials import azure_token, has_extra
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.clients.model_server import Server, server_for
from monjyu_core.models.types import ChatClient, EmbeddingClient, RerankClient, Role
from monjyu_core.settings.models_settings import ModelSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from monjyu_core.settings.settings import Settings

_KEY_NEEDED = ("api.openai.com",)


def role_model(settings: Settings, role: Role) -> tuple[str, ModelSettings]:
    """Name and settings of the model that a role calls. ConfigurationError where there is none of that name."""
    return named_model(settings, getattr(settings.roles, role).model, f"roles.{role}.model")


def named_model(settings: Settings, name: str, where: str) -> tuple[str, ModelSettings]:
    """The model called `name`, which the setting `where` asks for; for azure with what `azure` says of the resource."""
    found = settings.models.get(name)
    if found is None:
        known = ", ".join(sorted(settings.models)) or "none"
        raise ConfigurationError(
            f"{where} names the model {name!r}, which is not under `models` (there: {known}).",
            f"Add models.{name} with provider, model and base_url, or name another.",
        )
    if found.provider == "azure":
        key, kind = found.api_key or settings.azure.openai_api_key, settings.azure.credential
        by_identity = found.identity or kind == "identity" or (kind == "auto" and key is None and has_extra())
        base_url = found.base_url or settings.azure.openai_endpoint
        found = found.model_copy(update={"base_url": base_url, "api_key": key, "identity": by_identity})
    return name, found


def check_role(settings: Settings, role: Role) -> None:
    """ConfigurationError where the model of a role is not set up; nothing is imported or asked."""
    server_of(*role_model(settings, role))


def chat_client(name: str, model: ModelSettings, timeout: float) -> ChatClient:
    """The chat client of a model. `timeout`: seconds for each wait. ConfigurationError for missing settings."""
    server = server_of(name, model)
    if model.provider == "ollama":
        from monjyu_core.models.clients.json_http import JsonHttp
        from monjyu_core.models.clients.ollama_chat import OllamaChat

        return OllamaChat(JsonHttp(server, timeout), server, model.context_tokens, model.native_schema)
    from monjyu_core.models.clients.openai_chat import OpenAIChat

    return OpenAIChat(_library(server, model, timeout), server, model.provider, model.native_schema)


def embedding_client(name: str, model: ModelSettings, timeout: float) -> EmbeddingClient:
    """The embedding client of a model; as `chat_client`."""
    server = server_of(name, model)
    from monjyu_core.models.clients.embedding_clients import OllamaEmbeddings, OpenAIEmbeddings

    if model.provider == "ollama":
        from monjyu_core.models.clients.json_http import JsonHttp

        return OllamaEmbeddings(JsonHttp(server, timeout), server, model.context_tokens, model.dimensions)
    return OpenAIEmbeddings(_library(server, model, timeout), server, model.provider, model.dimensions)


def _library(server: Server, model: ModelSettings, timeout: float) -> AsyncOpenAI:
    from monjyu_core.models.clients.openai_server import azure_library, openai_library

    if model.provider == "azure":
        return azure_library(server, model.api_version, timeout)
    return openai_library(server, timeout)


def rerank_client(name: str, model: ModelSettings, timeout: float) -> RerankClient:
    """The rerank client of a model with `provider: openai`, whose base_url has a `/rerank`; as `chat_client`."""
    if model.provider != "openai":
        raise ConfigurationError(
            f"models.{name} has provider {model.provider}, which has no rerank endpoint.",
            "Give a server with /rerank as provider openai.",
        )
    server = server_of(name, model)
    from monjyu_core.models.clients.json_http import JsonHttp
    from monjyu_core.models.clients.rerank_client import HttpRerank

    return HttpRerank(JsonHttp(server, timeout), server)


def server_of(name: str, model: ModelSettings) -> Server:
    """Where the model is, with the headers of its key. Nothing but the settings says it; ConfigurationError where they
    do not."""
    base_url = _checked_url(name, model)
    key = model.api_key.get_secret_value().strip() if model.api_key else ""
    if model.provider == "azure" and model.identity:
        return server_for(name, model.model, base_url, {}, azure_token)
    if not key and (model.provider == "azure" or urlsplit(base_url).hostname in _KEY_NEEDED):
        own = f"MONJYU_MODELS__{name.upper()}__API_KEY"
        where = f"MONJYU_AZURE__OPENAI_API_KEY or {own}" if model.provider == "azure" else own
        raise ConfigurationError(f"models.{name}.api_key is missing.", f"Set it, best as {where}.")
    if not key.isascii() or not key.isprintable():
        raise ConfigurationError(f"models.{name}.api_key holds characters that no key has.", "Copy it again.")
    headers = {"api-key": key} if model.provider == "azure" else {"authorization": f"Bearer {key}"}
    return server_for(name, model.model, base_url, headers if key else {})


def _checked_url(name: str, model: ModelSettings) -> str:
    setting = f"models.{name}.base_url"
    if not model.base_url:
        if model.provider == "azure":
            raise ConfigurationError(
                f"azure.openai_endpoint (or {setting}) is missing.",
                "Set MONJYU_AZURE__OPENAI_ENDPOINT=https://RESOURCE.openai.azure.com, MONJYU_AZURE__OPENAI_API_KEY "
                f"and, unless the deployment is called {model.model}, MONJYU_MODELS__{name.upper()}__MODEL.",
            )
        raise ConfigurationError(f"{setting} is missing.", "Set it to the server's address: nothing is asked without.")
    parts = _parts(model.base_url)
    if parts is None:
        raise ConfigurationError(f"{setting} is no address.", "It begins with http:// or https://.")
    if "@" in parts.netloc or parts.query:
        raise ConfigurationError(f"{setting} holds a user, a password or a query.", f"Use models.{name}.api_key.")
    address = model.base_url.rstrip("/")
    if model.provider == "ollama":
        return address.removesuffix("/v1").removesuffix("/api")
    return address.removesuffix("/openai") if model.provider == "azure" else address


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 else None
    except ValueError:
        return None

"""A model's server: its address, what is sent to it and nothing else, and its refusals in our words.

The libraries read the environment for keys, addresses, headers and proxies. Nothing of that may leave this machine, so
every request's headers are laid down here, and its address is held to the one that the settings name.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from monjyu_core.azure.credentials import LOOPBACK
from monjyu_core.models.call_errors import (
    ModelCallError,
    ModelContentFiltered,
    ModelRateLimited,
    ModelRefused,
    ModelServerError,
    ModelUnreachable,
    PromptTooLong,
)

if TYPE_CHECKING:
    import httpx2

_KEPT = frozenset({"host", "connection", "accept", "accept-encoding", "content-type", "content-length"})
_CONNECT_SECONDS = 10.0
_MOST_OF_MESSAGE = 300
_KEYS = re.compile(r"\bsk-[\w*.\-]{4,}|(?<=\bBearer )\S+")
"""What looks like a key, for servers repeat a part of it with stars."""
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|$)", re.I | re.S)
_TAG = re.compile(r"<[^<>]*>")
_MOST_OF_PAGE = 20_000
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_TOO_LONG = re.compile(r"context (?:size|length|window)", re.I)
"""Of a prompt: codes of OpenAI and llama.cpp, words of vLLM, LM Studio and others."""
_LONG_ENOUGH = 6
"""A shorter key is a word that stands in for none."""
_HIDDEN = "…"


@dataclass(frozen=True)
class Server:
    """Where a model is. `headers` carry its key, so that they stand in no repr."""

    name: str
    """The model's name under `models`."""
    model: str
    address: str
    """Base address without user, password and query."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: Callable[[], str] | None = field(default=None, repr=False)
    """Gives the token of the moment where the server wants one instead of a key; it may wait for the network."""

    def __str__(self) -> str:
        return f"Model {self.name!r} ({self.model} at {self.address})"

    def http_client(self, timeout: float) -> httpx2.AsyncClient:
        """A client that sends to this server only. `timeout` is in seconds, for each wait of a call."""
        import httpx2

        async def prepare(request: httpx2.Request) -> None:
            if _origin(str(request.url)) != _origin(self.address):
                raise httpx2.UnsupportedProtocol("A request to another server than the named one was stopped.")
            for header in set(request.headers) - _KEPT:
                del request.headers[header]
            request.headers.update({"user-agent": "monjyu", **self.headers})
            if self.token is not None:
                if request.url.scheme != "https" and request.url.host not in LOOPBACK:
                    raise httpx2.UnsupportedProtocol("A token is sent over https only.")
                request.headers["authorization"] = f"Bearer {await asyncio.to_thread(self.token)}"

        waits = httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
        return httpx2.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=waits, event_hooks={"request": [prepare]}
        )

    def shown(self, message: str) -> str:
        """A message of the server or of a library, on one line, shortened, without secrets."""
        for value in self.headers.values():
            secret = value.removeprefix("Bearer ")
            message = message.replace(secret, _HIDDEN) if len(secret) >= _LONG_ENOUGH else message
        message = " ".join(_KEYS.sub(_HIDDEN, message[: 20 * _MOST_OF_MESSAGE]).split())
        return message if len(message) <= _MOST_OF_MESSAGE else message[:_MOST_OF_MESSAGE] + _HIDDEN

    def refusal(self, status: int, headers: Mapping[str, str], body: object) -> ModelCallError:
        """The error for an answer that is not 2xx. `body` is its JSON where it is JSON, else its text."""
        summary = f"{self} answered {status}: {self.shown(_message(body)).rstrip('.') or 'no reason given'}."
        wait = retry_after(headers)
        if is_content_filter(body):
            return ModelContentFiltered(f"{self}: its content filter stopped the question.")
        if status == 429 and "insufficient_quota" not in _codes(body):
            return ModelRateLimited(summary, "Lower the role's requests_per_minute or concurrency.", retry_after=wait)
        if status in (408, 504):
            return ModelUnreachable(summary, f"See models.{self.name}.base_url.", retry_after=wait)
        if status >= 500 or status in (409, 425):
            return ModelServerError(summary, self._failing(), retry_after=wait)
        if status in (400, 413, 422) and (_codes(body) & _TOO_LONG_CODES or _TOO_LONG.search(_message(body))):
            return PromptTooLong(
                summary, f"Start the server with a larger context, or set models.{self.name}.context_tokens to its own."
            )
        return ModelRefused(summary, _hint(self.name, status))

    def unreachable(self, error: BaseException) -> ModelUnreachable:
        """The error for a connection that failed, was closed, or gave nothing in time."""
        reason = self.shown(str(error.__cause__ or error)).rstrip(".") or "no reason given"
        kind = type(error.__cause__ or error).__name__
        return ModelUnreachable(
            f"{self} was not reached or broke off: {kind}: {reason}.",
            f"Is it running? See models.{self.name}.base_url.",
        )

    def late(self) -> ModelUnreachable:
        return ModelUnreachable(
            f"{self} gave no answer in time.", "Raise the role's timeout_seconds if the model is slow."
        )

    def malformed(self, reason: str) -> ModelServerError:
        """The error for an answer that is not of the API's form; what stands behind the address may be a proxy."""
        return ModelServerError(
            f"{self} answered in a form that is not its API's: {self.shown(reason)}.", self._failing()
        )

    def _failing(self) -> str:
        return f"Look at the server, and whether models.{self.name}.base_url is its API's address."


def server_for(
    name: str, model: str, base_url: str, headers: Mapping[str, str], token: Callable[[], str] | None = None
) -> Server:
    """The server at `base_url`, whose user, password and query are left out."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    return Server(name, model, f"{parts.scheme}://{host}{parts.path}".rstrip("/"), headers, token)


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def is_content_filter(body: object) -> bool:
    """Whether an error body is of a content filter: Azure OpenAI's 400, and those of servers that copy it."""
    return bool(_codes(body) & {"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation"})


def _codes(body: object) -> set[str]:
    return {str(found[key]) for found in _objects(body) for key in ("code", "type") if found.get(key)}


def _objects(body: object) -> Iterator[dict[str, Any]]:
    """The error object with those inside it, whether or not the library has unwrapped it."""
    while isinstance(body, dict):
        yield body
        body = body.get("error") or body.get("innererror")


def _message(body: object) -> str:
    """What the server says went wrong: `error.message`, `error`, `message` or `detail`, else its text."""
    for found in _objects(body):
        for key in ("message", "error", "detail"):
            if isinstance(found.get(key), str):
                return str(found[key])
        if found.get("detail"):
            return str(found["detail"])
    return _plain(body) if isinstance(body, str) else ""


def _plain(text: str) -> str:
    """A page as proxies and gateways send it, without its markup."""
    return _TAG.sub(" ", _UNSEEN.sub(" ", text[:_MOST_OF_PAGE])) if text.lstrip().startswith("<") else text


def _hint(name: str, status: int) -> str:
    place = f"models.{name}"
    if 300 <= status < 400:
        return f"Set {place}.base_url to the address that it redirects to."
    return {
        401: f"Look at {place}.api_key.",
        403: f"Look at {place}.api_key and at what it may use.",
        404: f"Look at {place}.base_url and {place}.model.",
        429: "The quota is used up: repeating does not help.",
    }.get(status, f"Look at {place} and at the roles that use it.")

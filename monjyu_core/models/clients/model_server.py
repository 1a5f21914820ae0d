"""A model's server: its address, the headers of each request, and the errors for its failures.

Libraries read keys, addresses, headers and proxies from the environment. None of that may leave this machine, so the
headers of every request are set here, and its address must be the one in the settings.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from monjyu_core.azure.credentials import LOOPBACK
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.call_errors import ModelCallError, ModelServerError, ModelUnreachable
from monjyu_core.models.clients.refusals import refusal

if TYPE_CHECKING:
    import httpx2

_KEPT = frozenset({"host", "connection", "accept", "accept-encoding", "content-type", "content-length"})
_CONNECT_SECONDS = 10.0
_MOST_OF_MESSAGE = 300
_KEYS = re.compile(r"\b(?:sk|gsk|xai|AIza)[-_][\w*.\-]{4,}|\bAIza\w{8,}|(?<=\bBearer )\S+|(?<=://)[^/@\s]+(?=@)")
"""Matches keys, because servers repeat parts of them with stars, and the user name in an address."""
_LONG_ENOUGH = 6
"""The minimum length of a key that is masked in messages: a shorter key is a placeholder and may be a common word."""
_HIDDEN = "…"


@dataclass(frozen=True)
class Server:
    """The server of a model. `headers` contain its key, so they are not in its repr."""

    name: str
    """The model's name under `models`."""
    model: str
    address: str
    """Base address without user, password and query."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: Callable[[], str] | None = field(default=None, repr=False)
    """Returns the current token, if the server wants a token instead of a key; it may wait for the network."""
    path: str = ""
    """The path that follows the address in every request, as for Azure deployments."""
    query: Mapping[str, str] = field(default_factory=dict)
    """The query of every request, such as Azure's api-version."""
    ca_file: Path | None = None
    proxy: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"Model {self.name!r} ({self.model} at {self.address})"

    def http_client(self, timeout: float) -> httpx2.AsyncClient:
        """A client that sends to this server only. `timeout` is in seconds, for each wait of a call."""
        import httpx2

        async def prepare(request: httpx2.Request) -> None:
            if _origin(str(request.url)) != _origin(self.address):
                raise httpx2.UnsupportedProtocol("A request to a server other than the configured one was blocked.")
            for header in set(request.headers) - _KEPT:
                del request.headers[header]
            request.headers.update({"user-agent": "monjyu", **self.headers})
            if self.token is not None:
                if request.url.scheme != "https" and request.url.host not in LOOPBACK:
                    raise httpx2.UnsupportedProtocol("A token is sent over https only.")
                request.headers["authorization"] = f"Bearer {await asyncio.to_thread(self.token)}"

        return httpx2.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            params=dict(self.query),
            event_hooks={"request": [prepare]},
            verify=self._trusted(),
            proxy=self.proxy,
        )

    def _trusted(self) -> ssl.SSLContext:
        """The system's certificate authorities, and with them those of `ca_file` or SSL_CERT_FILE."""
        import httpx2

        file, setting = self.ca_file or os.environ.get("SSL_CERT_FILE"), f"models.{self.name}.ca_file"
        if not file or not self.address.startswith("https:"):
            return _system_authorities()
        context = httpx2.create_ssl_context(trust_env=False)
        try:
            context.load_verify_locations(cafile=str(file))
        except (OSError, ssl.SSLError) as error:
            named = setting if self.ca_file else "SSL_CERT_FILE"
            reason = "it contains no certificate" if isinstance(error, ssl.SSLError) else error.strerror
            raise ConfigurationError(
                f"{named} names {file}, which cannot be used: {reason}.", "It must be a file of PEM certificates."
            ) from None
        return context

    def shown(self, message: str) -> str:
        """A message of the server or of a library: on one line, shortened, without secrets."""
        for value in self.headers.values():
            secret = value.removeprefix("Bearer ")
            message = message.replace(secret, _HIDDEN) if len(secret) >= _LONG_ENOUGH else message
        message = " ".join(_KEYS.sub(_HIDDEN, message[: 20 * _MOST_OF_MESSAGE]).split())
        return message if len(message) <= _MOST_OF_MESSAGE else message[:_MOST_OF_MESSAGE] + _HIDDEN

    def refusal(self, status: int, headers: Mapping[str, str], body: object) -> ModelCallError:
        """The error for an answer that is not 2xx or contains an error. `body` is parsed JSON, or other text."""
        return refusal(str(self), self.name, self.shown, status, headers, body)

    def unreachable(self, error: BaseException) -> ModelUnreachable:
        """The error for a connection that failed, was closed or timed out."""
        cause = error.__cause__ or error
        reason = self.shown(str(cause)).rstrip(".") or "no reason given"
        place = f"models.{self.name}"
        hint = f"Is it running? See {place}.base_url."
        if _is_of_certificate(error):
            hint = (
                "If a private authority signed its certificate, "
                f"set {place}.ca_file (or SSL_CERT_FILE) to the certificate of the authority."
            )
        elif self.proxy:
            hint = f"Is it running? See {place}.base_url and {place}.proxy."
        return ModelUnreachable(
            f"{self} could not be reached or closed the connection: {type(cause).__name__}: {reason}.", hint
        )

    def late(self) -> ModelUnreachable:
        return ModelUnreachable(
            f"{self} gave no answer in time.", "Raise the role's timeout_seconds if the model is slow."
        )

    def malformed(self, reason: str) -> ModelServerError:
        """The error for a reply that does not follow the API, for example that of a proxy at the address."""
        return ModelServerError(
            f"{self} gave a reply that does not follow its API: {self.shown(reason)}.",
            f"Check the server, and whether models.{self.name}.base_url is the address of its API.",
        )


@cache
def _system_authorities() -> ssl.SSLContext:
    """The system's authorities, read once: each reading takes 17 ms of CPU time, and every role has a client."""
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)


def _is_of_certificate(error: BaseException | None) -> bool:
    for _ in range(10):
        if error is None or isinstance(error, ssl.SSLCertVerificationError):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, ssl.SSLCertVerificationError)


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)

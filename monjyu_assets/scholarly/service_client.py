"""One scholarly service over HTTP: its pace, repetitions and errors in our words. It sends to the setting's address
only, follows no redirect and reads no proxy from the environment."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from monjyu_assets.scholarly.record import SOURCES
from monjyu_assets.scholarly.services import ServiceRequest, works_in
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.call_errors import (
    ModelCallError,
    ModelRateLimited,
    ModelRefused,
    ModelServerError,
    ModelUnreachable,
)
from monjyu_core.models.calls.resilience import Guard, ignore_attempt
from monjyu_core.models.clients.refusals import retry_after
from monjyu_core.models.types import TokenUsage
from monjyu_core.settings.models import RoleSettings
from monjyu_core.settings.papers import ScholarlyService, ScholarlySettings
from monjyu_core.user_files.bounded_reading import parse_json

if TYPE_CHECKING:
    import httpx2

LARGEST_ANSWER, MOST_VALUES = 64 * 2**20, 2_000_000
"""Bytes, and commas, brackets and braces in them."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NOTHING = TokenUsage(0, 0)


class ServiceClient:
    """Requests to one service. Use it as an asynchronous context manager, in one event loop."""

    def __init__(self, service: ScholarlyService, settings: ScholarlySettings) -> None:
        """ConfigurationError where the service's address is none."""
        self.service = service
        self._name = SOURCES[service]
        self._address = _checked_address(service, getattr(settings, f"{service}_url"))
        self._headers, self._parameters = _identification(service, settings)
        self._timeout = settings.timeout_seconds
        self._guard = Guard(
            self._name,
            RoleSettings(
                timeout_seconds=4 * settings.timeout_seconds,  # the HTTP client's own waits end before
                retries=settings.retries,
                concurrency=1,
                requests_per_minute=settings.requests_per_minute,
            ),
        )

    async def __aenter__(self) -> ServiceClient:
        import httpx2

        self._http = httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=self._timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def works(self, request: ServiceRequest) -> list[Any]:
        """The works of the answer as the service sends them. Raises ModelCallError."""
        return await self._guard.call(lambda: self._once(request), lambda _: _NOTHING, 0, ignore_attempt)

    async def _once(self, request: ServiceRequest) -> list[Any]:
        import httpx2

        try:
            async with self._http.stream(
                "POST" if request.body is not None else "GET",
                self._address + request.path,
                params={**request.parameters, **self._parameters},
                json=request.body,
                headers=self._headers,
            ) as response:
                if response.status_code in request.empty_statuses:
                    return []
                if not response.is_success:
                    raise self._refusal(response)
                return works_in(self.service, parse_json((await _body(response)).decode(), MOST_VALUES))
        except httpx2.TimeoutException:
            raise ModelUnreachable(f"{self._name} gave no answer in time.", "See scholarly.timeout_seconds.") from None
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise ModelUnreachable(
                f"{self._name} was not reached or broke off: {type(error).__name__}.",
                f"See scholarly.{self.service}_url; without the service, remove it from scholarly.services.",
            ) from None
        except ValueError as error:
            raise ModelServerError(f"{self._name} answered in a form that is not its API's: {error}.") from None

    def _refusal(self, response: httpx2.Response) -> ModelCallError:
        status, wait = response.status_code, retry_after(response.headers)
        summary = f"{self._name} answered {status}."
        if status == 429:
            return ModelRateLimited(summary, "Lower scholarly.requests_per_minute.", retry_after=wait)
        if status >= 500 or status == 408:
            return ModelServerError(summary, "Try again later.", retry_after=wait)
        key = f" and MONJYU_SCHOLARLY__{self.service.upper()}_KEY" if self.service != "crossref" else ""
        return ModelRefused(summary, f"See scholarly.{self.service}_url{key}.")


async def _body(response: httpx2.Response) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST_ANSWER:
            raise ValueError(f"more than {LARGEST_ANSWER // 2**20} MiB")
        parts.append(part)
        await asyncio.sleep(0)
    return b"".join(parts)


def _identification(
    service: ScholarlyService, settings: ScholarlySettings
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Headers and parameters that say who asks: the contact where the service wants one, a key where one is set."""
    key = settings.openalex_key if service == "openalex" else settings.semantic_scholar_key
    secret = key.get_secret_value().strip() if key and service != "crossref" else ""
    contact = settings.contact if service != "semantic_scholar" else None
    headers = {"user-agent": f"monjyu (mailto:{contact})" if contact else "monjyu", "accept": "application/json"}
    if service == "semantic_scholar" and secret:
        headers["x-api-key"] = secret
    parameters = {"mailto": contact} if contact else {}
    if service == "openalex" and secret:
        parameters["api_key"] = secret
    return headers, parameters


def _checked_address(service: ScholarlyService, address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise ConfigurationError(f"scholarly.{service}_url is not an address.", "It begins with https://.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise ConfigurationError(f"scholarly.{service}_url is not encrypted.", "Write https:// before it.")
    return address.rstrip("/")

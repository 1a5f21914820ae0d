"""Builds the requests to each scholarly service, sends them, and reads the works in the answers. Identifiers and titles
come from documents, so they are only in parameters and bodies; the address comes from the settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from monjyu_assets.scholarly.record import SOURCES
from monjyu_assets.scholarly.record_matching import Lookup
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
from monjyu_core.values import Values

if TYPE_CHECKING:
    import httpx2


SEMANTIC_SCHOLAR_FIELDS = (
    "title,year,venue,abstract,authors,externalIds,citationCount,influentialCitationCount,fieldsOfStudy,isOpenAccess,"
    "references.externalIds"
)
CANDIDATES = 5
"""The number of works that a search by title requests."""
LONGEST_TITLE = 300


@dataclass(frozen=True)
class ServiceRequest:
    """A request for several papers by id, or for one paper by title. With a `body` it is a POST."""

    path: str
    parameters: dict[str, str]
    lookups: tuple[Lookup, ...]
    body: Values | None = None
    empty_statuses: tuple[int, ...] = field(default=(404,))
    """Status codes that mean that the service does not know the work."""


def id_requests(service: ScholarlyService, lookups: Iterable[Lookup]) -> Iterator[ServiceRequest]:
    """The requests for the papers that have an identifier by which the service can be asked."""
    size = _BATCH[service]
    known = [one for one in lookups if _id_of(service, one)]
    for start in range(0, len(known), size):
        yield _BY_ID[service](tuple(known[start : start + size]))


def title_requests(service: ScholarlyService, lookups: Iterable[Lookup]) -> Iterator[ServiceRequest]:
    """One request for each paper with a title."""
    return (_BY_TITLE[service](one) for one in lookups if one.title.strip())


def works_in(service: ScholarlyService, answer: object) -> list[Any]:
    """The works of an answer. Raises ValueError if it has another form."""
    if service == "crossref" and isinstance(answer, dict):
        answer = answer.get("message")
        found = answer.get("items") if isinstance(answer, dict) else None
    elif service == "openalex" and isinstance(answer, dict):
        found = answer.get("results")
    else:
        found = answer.get("data") if isinstance(answer, dict) else answer
    if not isinstance(found, list):
        raise ValueError("it contains no list of works")
    return [work for work in found if isinstance(work, dict)]


def _id_of(service: ScholarlyService, paper: Lookup) -> str | None:
    """The id of a paper for a service. None for an id with a comma or a bar, which would divide a filter; such a paper
    is searched by title."""
    if service == "semantic_scholar":
        return f"DOI:{paper.doi}" if paper.doi else f"ARXIV:{paper.arxiv_id}" if paper.arxiv_id else None
    doi = paper.doi or (f"10.48550/arxiv.{paper.arxiv_id}" if paper.arxiv_id and service == "openalex" else None)
    return doi if doi and not set(doi) & set(",|") else None


def _ids(service: ScholarlyService, lookups: Sequence[Lookup]) -> list[str]:
    return [found for one in lookups if (found := _id_of(service, one))]


def _crossref_ids(lookups: tuple[Lookup, ...]) -> ServiceRequest:
    listed = ",".join(f"doi:{doi}" for doi in _ids("crossref", lookups))
    return ServiceRequest("/works", {"filter": listed, "rows": str(2 * len(lookups))}, lookups)


def _crossref_title(paper: Lookup) -> ServiceRequest:
    words = {"query.bibliographic": _title(paper), "rows": str(CANDIDATES)}
    return ServiceRequest("/works", words | ({"query.author": paper.families[0]} if paper.families else {}), (paper,))


def _openalex_ids(lookups: tuple[Lookup, ...]) -> ServiceRequest:
    listed = "doi:" + "|".join(_ids("openalex", lookups))
    return ServiceRequest("/works", {"filter": listed, "per-page": str(min(200, 2 * len(lookups)))}, lookups)


def _openalex_title(paper: Lookup) -> ServiceRequest:
    return ServiceRequest("/works", {"search": _title(paper), "per-page": str(CANDIDATES)}, (paper,))


def _semantic_ids(lookups: tuple[Lookup, ...]) -> ServiceRequest:
    ids = {"ids": _ids("semantic_scholar", lookups)}
    fields = {"fields": SEMANTIC_SCHOLAR_FIELDS}
    return ServiceRequest("/graph/v1/paper/batch", fields, lookups, ids, (400, 404))


def _semantic_title(paper: Lookup) -> ServiceRequest:
    asked = {"query": _title(paper), "fields": SEMANTIC_SCHOLAR_FIELDS}
    return ServiceRequest("/graph/v1/paper/search/match", asked, (paper,))


def _title(paper: Lookup) -> str:
    return " ".join(paper.title.split())[:LONGEST_TITLE]


_BATCH: dict[ScholarlyService, int] = {"crossref": 20, "openalex": 50, "semantic_scholar": 100}
_BY_ID: dict[ScholarlyService, Callable[[tuple[Lookup, ...]], ServiceRequest]] = {
    "crossref": _crossref_ids,
    "openalex": _openalex_ids,
    "semantic_scholar": _semantic_ids,
}
_BY_TITLE: dict[ScholarlyService, Callable[[Lookup], ServiceRequest]] = {
    "crossref": _crossref_title,
    "openalex": _openalex_title,
    "semantic_scholar": _semantic_title,
}


# The client sends requests only to the address in the settings, follows no redirect, and reads no proxy from the
# environment. Errors have Monjyu's own messages.
LARGEST_ANSWER, MOST_VALUES = 64 * 2**20, 2_000_000
"""The maximum number of bytes of an answer, and of commas, brackets and braces in it."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NOTHING = TokenUsage(0, 0)


class ServiceClient:
    """Sends requests to one service. Use it as an asynchronous context manager, in one event loop."""

    def __init__(self, service: ScholarlyService, settings: ScholarlySettings) -> None:
        """Raise ConfigurationError if the service's address is invalid."""
        self.service = service
        self._name = SOURCES[service]
        self._address = _checked_address(service, getattr(settings, f"{service}_url"))
        self._headers, self._parameters = _identification(service, settings)
        self._timeout = settings.timeout_seconds
        self._guard = Guard(
            self._name,
            RoleSettings(
                timeout_seconds=4 * settings.timeout_seconds,  # the HTTP client's own timeouts are shorter
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
        """Send a request, and return the works as the service sends them. Raises ModelCallError."""
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
                f"{self._name} could not be reached or closed the connection: {type(error).__name__}.",
                f"Check scholarly.{self.service}_url, or remove the service from scholarly.services.",
            ) from None
        except ValueError as error:
            raise ModelServerError(f"{self._name} gave a reply that does not follow its API: {error}.") from None

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
    """The headers and parameters that identify the caller: the contact if accepted, and a key if set."""
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
        raise ConfigurationError(f"scholarly.{service}_url is not an address.", "It must begin with https://.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise ConfigurationError(f"scholarly.{service}_url is not encrypted.", "Use an https:// address.")
    return address.rstrip("/")

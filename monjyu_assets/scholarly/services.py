"""What each scholarly service is asked, and where the works stand in its answer. Pure: nothing is sent from here.

Identifiers and titles come from documents, so they stand in parameters and bodies only; the address is the setting's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from monjyu_assets.scholarly.record_matching import Lookup
from monjyu_core.settings.papers import ScholarlyService

SEMANTIC_SCHOLAR_FIELDS = (
    "title,year,venue,abstract,authors,externalIds,citationCount,influentialCitationCount,fieldsOfStudy,isOpenAccess,"
    "references.externalIds"
)
CANDIDATES = 5
"""Works that a question by title gives."""
LONGEST_TITLE = 300


@dataclass(frozen=True)
class ServiceRequest:
    """One request for several papers by id, or for one by title. `body` makes it a POST."""

    path: str
    parameters: dict[str, str]
    lookups: tuple[Lookup, ...]
    body: dict[str, Any] | None = None
    empty_statuses: tuple[int, ...] = field(default=(404,))
    """Statuses that say that there is no such work."""


def id_requests(service: ScholarlyService, lookups: Iterable[Lookup]) -> Iterator[ServiceRequest]:
    """The requests for those papers that have an identifier of the service's."""
    size = _BATCH[service]
    known = [one for one in lookups if _id_of(service, one)]
    for start in range(0, len(known), size):
        yield _BY_ID[service](tuple(known[start : start + size]))


def title_requests(service: ScholarlyService, lookups: Iterable[Lookup]) -> Iterator[ServiceRequest]:
    """One request for each paper with a title."""
    return (_BY_TITLE[service](one) for one in lookups if one.title.strip())


def works_in(service: ScholarlyService, answer: Any) -> list[Any]:
    """The works of an answer; ValueError where it has another form."""
    if service == "crossref" and isinstance(answer, dict):
        answer = answer.get("message")
        found = answer.get("items") if isinstance(answer, dict) else None
    elif service == "openalex" and isinstance(answer, dict):
        found = answer.get("results")
    else:
        found = answer.get("data") if isinstance(answer, dict) else answer
    if not isinstance(found, list):
        raise ValueError("no list of works is in it")
    return [work for work in found if isinstance(work, dict)]


def _id_of(service: ScholarlyService, paper: Lookup) -> str | None:
    """A comma or a bar would divide a filter: such a paper is asked for by title."""
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

"""Crossref, OpenAlex and Semantic Scholar on loopback: they know a few works, refuse what the real ones would refuse,
and answer in the shape of the recorded answers. `faults` come before answers; `problems` says what was wrong."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

MAIL, KEY = "librarian@example.org", "s2-key-55"


@dataclass(frozen=True)
class KnownWork:
    title: str
    doi: str | None = None
    authors: tuple[tuple[str, str], ...] = ()
    year: int | None = None
    arxiv_id: str | None = None
    venue: str = "Journal of Rooms"
    abstract: str = "We count rooms & doors."
    cited: int = 7
    references: tuple[str, ...] = ()
    retracted: bool = False


@dataclass(frozen=True)
class Fault:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    seconds: float = 0.0
    half: bool = False
    """Hang up in the middle of the answer."""


class FakeServices:
    """One server for the three: `settings()` names it for each."""

    def __init__(self, works: list[KnownWork]) -> None:
        self.works = works
        self.faults: list[Fault] = []
        self.problems: list[str] = []
        self.requests: list[str] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fake._answer(self, None)

            def do_POST(self) -> None:
                fake._answer(self, json.loads(self.rfile.read(int(self.headers["content-length"]))))

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def settings(self, *services: str, **more: Any) -> dict[str, Any]:
        places = {f"{name}_url": f"{self.url}/{name}" for name in ("crossref", "openalex", "semantic_scholar")}
        given = {"services": list(services), "contact": MAIL, "semantic_scholar_key": KEY, "requests_per_minute": 9999}
        return {"scholarly": places | given | {"retries": 1} | more}

    def _answer(self, call: BaseHTTPRequestHandler, body: Any) -> None:
        url = urlsplit(call.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.requests.append(url.path)
        fault = self.faults.pop(0) if self.faults else Fault()
        time.sleep(fault.seconds)
        status, answer = (
            (fault.status, {"error": "no"}) if fault.status != 200 else self._look_up(call, url.path, query, body)
        )
        data = fault.body if fault.body is not None else json.dumps(answer).encode()
        call.send_response(status)
        for name, value in (
            {"content-type": "application/json", "content-length": str(len(data))} | fault.headers
        ).items():
            call.send_header(name, value)
        call.end_headers()
        call.wfile.write(data[: len(data) // 2] if fault.half else data)
        call.close_connection = fault.half

    def _look_up(self, call: BaseHTTPRequestHandler, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        service, _, rest = path.lstrip("/").partition("/")
        if service == "semantic_scholar":
            if call.headers.get("x-api-key") != KEY:
                return self._wrong("no key", 403)
            return self._semantic_scholar(rest, query, body)
        if rest != "works" or query.get("mailto") != MAIL or MAIL not in call.headers["user-agent"]:
            return self._wrong(f"{path} {query}", 400)
        return self._crossref(query) if service == "crossref" else self._openalex(query)

    def _wrong(self, problem: str, status: int) -> tuple[int, Any]:
        self.problems.append(problem)
        return status, {"error": problem}

    def _crossref(self, query: dict[str, str]) -> tuple[int, Any]:
        if "filter" in query:
            dois = {one.removeprefix("doi:").lower() for one in query["filter"].split(",")}
            found = [work for work in self.works if work.doi and work.doi.lower() in dois]
        else:
            found = self._alike(query["query.bibliographic"] + " " + query.get("query.author", ""))
        items = [crossref_work(work) for work in found if work.doi and not work.doi.startswith("10.48550")]
        return 200, {"status": "ok", "message-type": "work-list", "message": {"items": items[: int(query["rows"])]}}

    def _openalex(self, query: dict[str, str]) -> tuple[int, Any]:
        if "filter" in query:
            dois = set(query["filter"].removeprefix("doi:").lower().split("|"))
            found = [work for work in self.works if openalex_doi(work).lower() in dois]
        else:
            found = self._alike(query["search"])
        return 200, {"meta": {"count": len(found)}, "results": [openalex_work(work) for work in found]}

    def _semantic_scholar(self, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if "title" not in query.get("fields", ""):
            return self._wrong("no fields", 400)
        if path == "graph/v1/paper/batch":
            return 200, [self._by_id(one) for one in body["ids"]]
        found = self._alike(query["query"])[:1]
        return (200, {"data": [semantic_work(found[0])]}) if found else (404, {"error": "Title match not found"})

    def _by_id(self, asked: str) -> Any:
        kind, _, value = asked.partition(":")
        for work in self.works:
            if value.lower() == ((work.doi if kind == "DOI" else work.arxiv_id) or "").lower():
                return semantic_work(work)
        return None

    def _alike(self, words: str) -> list[KnownWork]:
        """Works that share words, the most first: a search engine finds something for everything."""
        asked = set(re.findall(r"\w+", words.lower()))
        scored = [(len(asked & set(re.findall(r"\w+", work.title.lower()))), work) for work in self.works]
        return [work for score, work in sorted(scored, key=lambda one: -one[0])[:5] if score]


def crossref_work(work: KnownWork) -> dict[str, Any]:
    updated = {"type": "retraction", "DOI": "10.9999/notice", "updated": {"date-parts": [[2026, 2, 3]]}}
    return {
        "DOI": work.doi,
        "title": [work.title],
        "author": [{"given": given, "family": family, "sequence": "first"} for given, family in work.authors],
        "published": {"date-parts": [[work.year, 5]]} if work.year else {},
        "container-title": [work.venue],
        "abstract": f"<jats:p>{work.abstract.replace('&', '&amp;')}</jats:p>",
        "is-referenced-by-count": work.cited,
        "reference": [{"key": f"r{n}", "DOI": doi} for n, doi in enumerate(work.references)] + [{"key": "x"}],
    } | ({"updated-by": [updated | {"source": "retraction-watch"}]} if work.retracted else {})


def openalex_doi(work: KnownWork) -> str:
    return work.doi or (f"10.48550/arxiv.{work.arxiv_id}" if work.arxiv_id else "")


def openalex_work(work: KnownWork) -> dict[str, Any]:
    inverted: dict[str, list[int]] = {}
    for place, word in enumerate(work.abstract.split()):
        inverted.setdefault(word, []).append(place)
    doi = openalex_doi(work)
    return {
        "id": f"https://openalex.org/W{abs(hash(work)) % 10**9}",
        "doi": f"https://doi.org/{doi}" if doi else None,
        "title": work.title,
        "publication_year": work.year,
        "authorships": [{"author": {"display_name": f"{given} {family}"}} for given, family in work.authors],
        "primary_location": {"source": {"display_name": work.venue}},
        "open_access": {"is_oa": True, "oa_status": "diamond"},
        "cited_by_count": work.cited,
        "topics": [{"display_name": "Architecture"}],
        "is_retracted": work.retracted,
        "abstract_inverted_index": inverted,
    }


def semantic_work(work: KnownWork) -> dict[str, Any]:
    ids = {"DOI": work.doi, "ArXiv": work.arxiv_id}
    return {
        "paperId": f"{abs(hash(work)):040x}",
        "externalIds": {name: value for name, value in ids.items() if value},
        "title": work.title,
        "year": work.year,
        "venue": work.venue,
        "abstract": work.abstract,
        "authors": [{"authorId": "1", "name": f"{given[:1]}. {family}"} for given, family in work.authors],
        "citationCount": work.cited,
        "influentialCitationCount": work.cited // 10,
        "fieldsOfStudy": ["Engineering"],
        "isOpenAccess": True,
        "references": [{"externalIds": {"DOI": doi}} for doi in work.references] + [{"externalIds": None}],
    }

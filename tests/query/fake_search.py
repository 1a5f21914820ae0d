"""Azure AI Search on loopback: indexes, aliases, uploads, vector and keyword search, with the service's own rules."""

from __future__ import annotations

import json
import math
import re
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

KEY = "search-key-123456"
VERSION = "2026-04-01"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9]|-(?!-)){0,126}[a-z0-9]")


class FakeSearch:
    """`faults` are taken by the next requests: a status, or "busy" (each second document of an upload is refused)."""

    def __init__(self) -> None:
        self.faults: deque[int | str] = deque()
        self.indexes: dict[str, dict[str, Any]] = {}
        self.documents: dict[str, dict[str, dict[str, Any]]] = {}
        self.aliases: dict[str, str] = {}
        self.asked: list[str] = []
        self.wrong: list[str] = []
        fake = self

        class Handler(_Handler):
            service = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def settings(self, **more: Any) -> dict[str, Any]:
        own = {"endpoint": self.endpoint, "api_key": KEY, "timeout_seconds": 5, "retries": 2, "exhaustive": True}
        return own | more

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    service: FakeSearch
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_PUT(self) -> None:
        self._serve("PUT")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        length = int(self.headers["content-length"] or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        asked = urlsplit(self.path)
        path = unquote(asked.path)
        self.service.asked.append(f"{method} {path}")
        if self.headers["api-key"] != KEY:
            return self._answer(403, {"error": {"code": "Forbidden", "message": "no"}})
        fault = self.service.faults.popleft() if self.service.faults else None
        if isinstance(fault, int):
            headers = {"Retry-After": "0"} if fault in (429, 503) else {}
            return self._answer(fault, {"error": {"code": "", "message": "later"}}, headers)
        if parse_qs(asked.query).get("api-version") != [VERSION]:
            self.service.wrong.append(self.path)
        status, answer = self._routed(method, path, body, busy=fault == "busy")
        return self._answer(status, answer)

    def _routed(self, method: str, path: str, body: dict[str, Any], *, busy: bool) -> tuple[int, Any]:
        service = self.service
        named = re.fullmatch(r"/(indexes|aliases)\('([^']+)'\)(/.*)?", path)
        if path == "/servicestats":
            counters = ("documentCount", "indexesCount", "indexersCount", "dataSourcesCount", "storageSize",
                        "synonymMaps", "skillsetCount", "vectorIndexSize")  # fmt: skip
            usage = {"usage": len(service.indexes), "quota": 15}
            return 200, {"counters": dict.fromkeys(counters, usage), "limits": {}, "indexersRuntime": {}}
        if path == "/indexes":
            if method == "GET":
                return 200, {"value": [{"name": name} for name in service.indexes]}
            return self._create(body)
        if named is None:
            service.wrong.append(f"{method} {path}")
            return 404, {"error": {"code": "NotFound", "message": path}}
        kind, name, rest = named[1], named[2], named[3] or ""
        if kind == "aliases":
            return self._alias(method, name, body)
        if name not in service.indexes:
            return 404, {"error": {"code": "ResourceNotFound", "message": "no such index"}}
        if method == "DELETE":
            del service.indexes[name], service.documents[name]
            return 204, None
        if rest == "":
            return 200, service.indexes[name]
        if rest == "/docs/$count":
            return 200, len(service.documents[name])
        if rest == "/docs/search.index":
            return self._upload(name, body, busy=busy)
        if rest == "/docs/search.post.search":
            return 200, {"value": self._found(name, body)}
        return 404, {"error": {"code": "NotFound", "message": path}}

    def _create(self, body: dict[str, Any]) -> tuple[int, Any]:
        keys = [field for field in body["fields"] if field.get("key")]
        vectors = [field for field in body["fields"] if field["type"] == "Collection(Edm.Single)"]
        profiles = {one["name"] for one in body["vectorSearch"]["profiles"]}
        if not _NAME.fullmatch(body["name"]) or len(keys) != 1 or vectors[0]["vectorSearchProfile"] not in profiles:
            return 400, {"error": {"code": "InvalidRequestParameter", "message": "the schema"}}
        if body["name"] in self.service.indexes:
            return 409, {"error": {"code": "ResourceNameAlreadyInUse", "message": body["name"]}}
        self.service.indexes[body["name"]], self.service.documents[body["name"]] = body, {}
        return 201, body

    def _alias(self, method: str, name: str, body: dict[str, Any]) -> tuple[int, Any]:
        if method == "DELETE":
            return (204 if self.service.aliases.pop(name, None) else 404), None
        [target] = body["indexes"]
        if target not in self.service.indexes or not _NAME.fullmatch(name):
            return 400, {"error": {"code": "InvalidAlias", "message": target}}
        self.service.aliases[name] = target
        return 200, {"name": name, "indexes": [target]}

    def _upload(self, name: str, body: dict[str, Any], *, busy: bool) -> tuple[int, Any]:
        fields = {field["name"]: field for field in self.service.indexes[name]["fields"]}
        results = []
        if len(body["value"]) > 1000:
            return 413, {"error": {"code": "RequestEntityTooLarge", "message": "too many"}}
        for number, document in enumerate(body["value"]):
            key, size = document["key"], fields["vector"]["dimensions"]
            right = re.fullmatch(r"[A-Za-z0-9_=-]+", key) and len(document["vector"]) == size
            status = 400 if not right or document.keys() - fields.keys() - {"@search.action"} else 201
            status = 503 if busy and number % 2 else status
            if status == 201:
                self.service.documents[name][key] = document
            results.append({"key": key, "status": status == 201, "errorMessage": None, "statusCode": status})
        return (200 if all(one["status"] for one in results) else 207), {"value": results}

    def _found(self, name: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        documents = list(self.service.documents[name].values())
        if within := body.get("filter"):
            match = re.fullmatch(r"search\.in\(paper_id, '(.*)', '\x1f'\)", within, re.S)
            papers = set(match[1].replace("''", "'").split("\x1f")) if match else set()
            documents = [document for document in documents if document["paper_id"] in papers]
        scored = _by_vector(documents, body) if body.get("vectorQueries") else self._by_words(name, documents, body)
        best = sorted(scored, key=lambda one: (-one[0], one[1]["key"]))[: body.get("top", 50)]
        found = [{"@search.score": score, "chunk_id": document["chunk_id"]} for score, document in best]
        if body.get("queryType") == "semantic":
            for place, one in enumerate(found[:50]):
                one["@search.rerankerScore"] = 4 - 0.05 * (len(found[:50]) - place)  # the other way round
        return found

    def _by_words(
        self, name: str, documents: list[dict[str, Any]], body: dict[str, Any]
    ) -> list[tuple[float, dict[str, Any]]]:
        """BM25's shape over one field, cut by its analyzer: `whitespace` at spaces alone, else into words."""
        [field] = body["searchFields"].split(",")
        analyzers = {one["name"]: one.get("analyzer") for one in self.service.indexes[name]["fields"]}
        word = r"\S+" if analyzers[field] == "whitespace" else r"\w+"
        held = [re.findall(word, one[field]) for one in documents]
        scores = [0.0] * len(documents)
        for asked in set(re.findall(word, body["search"])):
            holding = sum(asked in words for words in held)
            weight = math.log(1 + (len(held) - holding + 0.5) / (holding + 0.5))
            for place, words in enumerate(held):
                count = words.count(asked)
                scores[place] += weight * count * 2.2 / (count + 1.2)
        return [(score, document) for score, document in zip(scores, documents, strict=True) if score > 0]

    def _answer(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        body = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _by_vector(documents: list[dict[str, Any]], body: dict[str, Any]) -> list[tuple[float, dict[str, Any]]]:
    [query] = body["vectorQueries"]
    wanted = np.array(query["vector"])
    scores = [float(np.dot(document["vector"], wanted)) for document in documents]
    pairs = sorted(zip(scores, documents, strict=True), key=lambda one: -one[0])[: query["k"]]
    return [(1 / (2 - score), document) for score, document in pairs]

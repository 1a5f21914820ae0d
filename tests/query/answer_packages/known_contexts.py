"""Run by the validator's own Python: `python known_contexts.py CACHE` fills its HTTP cache, so that it fetches nothing.

RO-Crate's context is the one that the package `rocrate` ships; that of workflow runs has the terms of its profile.
"""

import io
import json
import sys
from importlib.metadata import distribution

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

CRATE, RUNS = "https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run"
OF_RUNS = ("ParameterConnection", "connection", "sourceParameter", "targetParameter", "sha256")


class Held(HTTPAdapter):
    """Answers with what is held, and never asks a server."""

    def __init__(self, held: dict[str, object]) -> None:
        super().__init__()
        self._held = held

    def send(self, request: PreparedRequest, *_: object, **__: object) -> Response:
        body = io.BytesIO(json.dumps(self._held[request.url]).encode())
        kind = {"Content-Type": "application/ld+json"}
        return self.build_response(request, HTTPResponse(body, kind, 200, preload_content=False))


def main(cache: str) -> None:
    shipped = json.loads(distribution("rocrate").read_text("../rocrate/data/ro-crate.jsonld") or "{}")
    if shipped.get("@id") != CRATE:
        raise SystemExit(f"rocrate ships {shipped.get('@id')}, not {CRATE}")
    held = {CRATE: shipped, f"{RUNS}/context": {"@context": {name: f"{RUNS}#{name}" for name in OF_RUNS}}}
    with CachedSession(cache_name=cache, backend="sqlite", expire_after=-1) as session:
        session.mount("https://", Held(held))
        for url in held:
            session.get(url)


if __name__ == "__main__":
    main(sys.argv[1])

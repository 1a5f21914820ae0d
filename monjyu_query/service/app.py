"""Builds the FastAPI application of the HTTP service."""

import logging
import re
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI, Security
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.values import Values
from monjyu_query.service.access.audit import AuditLog
from monjyu_query.service.access.gate import Gate, open_rates
from monjyu_query.service.access.principals import Authority
from monjyu_query.service.chat_api import openai_routes
from monjyu_query.service.routes import admin as admin_routes
from monjyu_query.service.routes import answer as answer_routes
from monjyu_query.service.routes import collection as collection_routes
from monjyu_query.service.routes import correction as correction_routes
from monjyu_query.service.routes import digest as digest_routes
from monjyu_query.service.routes import graph as graph_routes
from monjyu_query.service.routes import library as library_routes
from monjyu_query.service.routes import overview as overview_routes
from monjyu_query.service.routes import page as page_routes
from monjyu_query.service.routes import paper as paper_routes
from monjyu_query.service.routes import question as question_routes
from monjyu_query.service.routes import review as review_routes
from monjyu_query.service.routes import search as search_routes
from monjyu_query.service.routes import whoami as whoami_routes
from monjyu_query.service.server import error_responses as errors
from monjyu_query.service.server.error_responses import send_error
from monjyu_query.service.server.metrics import Metrics
from monjyu_query.service.server.page_files import PageFiles
from monjyu_query.service.server.request_parts import add_examples
from monjyu_query.service.worker_state import Service

# The outermost layer adds request ids and security headers, writes metrics and the audit log, and answers uncaught
# errors.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Allows no inline script or style and nothing from another origin, so that no text of a paper can run in the page."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_log = logging.getLogger(__name__)


class Guard:
    def __init__(self, app: ASGIApp, metrics: Metrics, audit: AuditLog | None) -> None:
        self._app = app
        self._metrics = metrics
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope.setdefault("state", {})
        given = Headers(scope=scope).get("x-request-id", "")
        state["request_id"] = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex[:16]
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = state["request_id"]
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        started = time.perf_counter()
        try:
            with self._metrics.under_way():
                await self._app(scope, receive, answer)
        except Exception as error:
            _log.exception("Request %s failed", state["request_id"])
            if not status:
                await send_error(error, scope, receive, answer)
        finally:
            seconds = time.perf_counter() - started
            route = _route(scope)
            self._metrics.request(scope["method"], route, status, seconds)
            if self._audit is not None and not route.startswith("/static"):
                self._audit.write(scope, route, status, seconds)


def _route(scope: Scope) -> str:
    """Return the route's template, because metrics by path would have a series for each paper."""
    path = getattr(scope.get("route"), "path", None)
    return str(path) if isinstance(path, str) and path else "unmatched"


DESCRIPTION = """Answers questions about collections of academic papers with sentences from the papers.

Errors are `{"error": {"type", "message", "request_id"}}`."""

TOPICS = (
    search_routes,
    answer_routes,
    question_routes,
    review_routes,
    digest_routes,
    collection_routes,
    library_routes,
    paper_routes,
    correction_routes,
    graph_routes,
    overview_routes,
    openai_routes,
    admin_routes,
    whoami_routes,
    page_routes,
)
"""Modules with a `router`, one per topic, in the order of the documentation."""
COMPRESSED_FROM, COMPRESSION = 1024, 4
"""The minimum size in bytes of a response to compress, and the level: above 4, compression takes twice the time for
hardly any gain. Event streams and images are not compressed."""
BEARER = HTTPBearer(auto_error=False, description="A key from `monjyu keys create`, or a token of the issuer.")
"""Only for the API description, because the gate identifies the caller."""


class _App(FastAPI):
    def openapi(self) -> Values:
        """Return the description of the API, with examples; it is computed once."""
        if self.openapi_schema is None:
            add_examples(super().openapi())
        return super().openapi()


def create_app(data: DataFolder, settings: Settings) -> FastAPI:
    """Build the application for one data folder. Its requests share `app.state.service`."""
    service = Service(data, settings)
    app = _App(
        title="Monjyu",
        version=version("monjyu"),
        description=DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.service = service
    authority = Authority(settings.service, service.store)
    errors.add_handlers(app)
    _add_layers(app, service, authority)
    for routes in TOPICS:
        needs_key = routes is admin_routes or (routes is not page_routes and not authority.open)
        checks = [] if routes is page_routes else [Depends(errors.known_parameters)]
        app.include_router(routes.router, dependencies=[*checks, *([Security(BEARER)] if needs_key else [])])
    app.mount("/static", PageFiles(), name="static")
    return app


def _add_layers(app: FastAPI, service: Service, authority: Authority) -> None:
    """Add the layers that every request passes, the outermost last."""
    settings = service.settings.service
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM, compresslevel=COMPRESSION)
    app.add_middleware(Gate, settings=settings, authority=authority, rates=open_rates(service.settings))
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"],
            expose_headers=["X-Request-ID"],
        )
    app.add_middleware(Guard, metrics=service.metrics, audit=service.audit)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await app.state.service.index_runs.close()
    app.state.service.close()

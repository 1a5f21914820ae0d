"""The web page and its session, the API reference, health and readiness, and metrics for Prometheus."""

from contextlib import suppress
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from monjyu_core.errors import QueryError, StorageError
from monjyu_query.service.access.addresses import is_loopback
from monjyu_query.service.access.page_session import SESSION_SECONDS, cookie_name, exchange
from monjyu_query.service.access.principals import own_machine
from monjyu_query.service.server.error_responses import COMMON, Busy, Forbidden, NotFound
from monjyu_query.service.server.page_files import STATIC, page_answer
from monjyu_query.service.server.request_parts import Shared, principal_of
from monjyu_query.service.worker_state import Service

router = APIRouter(tags=["service"])


# GET /health and GET /ready.
class Health(BaseModel):
    status: str = "ok"
    version: str


class Ready(BaseModel):
    """The readiness of the service. It is `degraded` while some collections cannot be read, with reasons in
    `unreadable`; `collections` are the readable ones."""

    status: Literal["ready", "degraded"] = "ready"
    collections: list[str]
    unreadable: dict[str, str] = {}


@router.get("/health", summary="Whether the process answers")
async def health() -> Health:
    from importlib.metadata import version

    return Health(version=version("monjyu"))


@router.get("/ready", summary="Whether questions can be answered", responses={503: COMMON[503]})
def ready(service: Shared) -> Ready:
    """503 if none of the published collections can be read, or while the queue of quick searches is full. If only some
    collections cannot be read, the status is `degraded`."""
    if service.turns.full:
        raise Busy("Too many searches are waiting.", headers={"Retry-After": "5"})
    readable, unreadable = [], dict[str, str]()
    for name in service.published():
        with suppress(NotFound, QueryError):  # the collection was just deleted
            try:
                service.check(name)
                readable.append(name)
            except StorageError as error:
                unreadable[name] = str(error)
    if unreadable and not readable:
        raise StorageError(" ".join(unreadable.values()))
    return Ready(status="degraded" if unreadable else "ready", collections=readable, unreadable=unreadable)


class LinkToken(BaseModel):
    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=100, description="The part of the link after `#/open/`.", examples=["kT3v9QmZ"])


class PageSession(BaseModel):
    """The page's half of a session, which it sends in the header `X-Monjyu-Page` together with the cookie of this
    response."""

    page: str


@router.get("/", include_in_schema=False)
async def page() -> Response:
    return page_answer("index.html")


@router.post("/page/session", summary="Open the page as an editor, with a link from `monjyu up`", responses=COMMON)
def session(given: LinkToken, request: Request, response: Response) -> PageSession:
    """Only on a loopback address where reading needs no key. A link works once, within ten minutes."""
    service: Service = request.app.state.service
    if not own_machine(service.settings.service) or not is_loopback(request.client.host if request.client else ""):
        raise Forbidden(
            "This service does not accept page links.", "Sign in with a key; `monjyu keys create` creates one."
        )
    halves = exchange(service.store, given.token)
    if halves is None:
        raise Forbidden("This link was used already, or is too old.", "`monjyu keys link` creates another.")
    name = cookie_name(request.scope["server"][1])
    response.set_cookie(name, halves.cookie, max_age=SESSION_SECONDS, httponly=True, samesite="strict")
    response.headers["Cache-Control"] = "no-store"
    return PageSession(page=halves.page)


@router.get("/docs", include_in_schema=False)
async def reference() -> Response:
    return page_answer("docs.html")


@router.get("/favicon.ico", include_in_schema=False)
async def icon() -> Response:
    return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml", headers={"Cache-Control": "max-age=86400"})


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, 401: COMMON[401], 403: COMMON[403]},
)
def metrics(service: Shared, request: Request) -> Response:
    """They cover all collections, so a key for only some collections may not read them."""
    if principal_of(request).collections is not None:
        raise Forbidden("These metrics cover all collections, but the key only some.", "Use a key for all collections.")
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

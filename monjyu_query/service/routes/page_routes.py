"""The web page, the reference of this interface, and Prometheus' figures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, Response

from monjyu_query.service.server.error_responses import COMMON, Forbidden
from monjyu_query.service.server.page_files import STATIC, page_answer
from monjyu_query.service.worker_state import Service, service_of

router = APIRouter(tags=["service"])


@router.get("/", include_in_schema=False)
async def page() -> Response:
    return page_answer("index.html")


@router.get("/docs", include_in_schema=False)
async def reference() -> Response:
    return page_answer("docs.html")


@router.get("/favicon.ico", include_in_schema=False)
async def icon() -> Response:
    return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml", headers={"Cache-Control": "max-age=86400"})


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, 401: COMMON[401], 403: COMMON[403]},
)
def metrics(service: Annotated[Service, Depends(service_of)], request: Request) -> Response:
    """They cover all collections, so a key of some collections may not read them."""
    if request.scope["state"]["principal"].collections is not None:
        raise Forbidden("These figures cover all collections, but the key only some.")
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

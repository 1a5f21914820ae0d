"""GET /health and GET /ready."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from monjyu_query.service.errors import COMMON, Busy, NotFound
from monjyu_query.service.state import Service, service_of

router = APIRouter(tags=["service"])


class Health(BaseModel):
    status: str = "ok"
    version: str


class Ready(BaseModel):
    status: str = "ready"
    collections: list[str]


@router.get("/health", summary="Whether the process answers")
async def health() -> Health:
    from importlib.metadata import version

    return Health(version=version("monjyu"))


@router.get("/ready", summary="Whether questions can be answered", responses={503: COMMON[503]})
def ready(service: Annotated[Service, Depends(service_of)]) -> Ready:
    """503 while a published collection cannot be opened, or while so many searches wait that one more is refused."""
    names = service.published()
    if service.turns.full:
        raise Busy("Too many searches wait.", headers={"Retry-After": "5"})
    for name in service.loaded():
        if name in names:
            with suppress(NotFound):  # deleted meanwhile
                service.snapshot(name)
    return Ready(collections=names)

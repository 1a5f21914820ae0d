"""GET /whoami: what the caller may, so that an interface offers no more."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from monjyu_query.service.access.keys import Role
from monjyu_query.service.access.principals import LOCAL, Principal
from monjyu_query.service.server.error_responses import COMMON

router = APIRouter(tags=["service"], responses=COMMON)


class Caller(BaseModel):
    """`collections` are all that the caller may see, null = all. `keyed` is false of a caller who sent no key."""

    role: Role
    collections: list[str] | None
    keyed: bool


@router.get("/whoami", summary="What the caller may do")
async def whoami(request: Request) -> Caller:
    principal: Principal = request.scope["state"]["principal"]
    seen = None if principal.collections is None else sorted(principal.collections)
    return Caller(role=principal.role, collections=seen, keyed=principal is not LOCAL)

"""GET /whoami: what the caller may do, so that the page offers no more."""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from monjyu_query.service.access.keys import Role
from monjyu_query.service.access.principals import own_machine
from monjyu_query.service.operations.index_runs import indexes_here
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared, principal_of

router = APIRouter(tags=["service"], responses=COMMON)


class Caller(BaseModel):
    """The caller and its permissions. `collections` are those that it may see (null = all). `keyed` is false for a
    caller without a key. `own_machine`: only the service's machine can reach the service, and `monjyu keys link` opens
    its page as an editor. `indexing`: uploads are indexed by the service (`here`), by a Dagster server (`dagster`), or
    not at all."""

    role: Role
    collections: list[str] | None
    keyed: bool
    own_machine: bool
    indexing: Literal["here", "dagster", "none"]


@router.get("/whoami", summary="What the caller may do")
async def whoami(service: Shared, request: Request) -> Caller:
    principal = principal_of(request)
    seen = None if principal.collections is None else sorted(principal.collections)
    settings = service.settings.service
    return Caller(
        role=principal.role,
        collections=seen,
        keyed=principal.keyed,
        own_machine=own_machine(settings),
        indexing="here" if indexes_here(settings) else "dagster" if settings.dagster_url else "none",
    )

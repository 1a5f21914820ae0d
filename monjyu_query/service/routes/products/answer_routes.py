"""GET /answers/{trace_id}/export: an answer as a file, for whoever asked."""

from __future__ import annotations

import threading
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from starlette.requests import Request

from monjyu_query.answer_packages.asked_answer import asked_again
from monjyu_query.answer_packages.crops import crops_by
from monjyu_query.answer_packages.forms.all_forms import FORMS, written
from monjyu_query.answer_packages.package import package_of
from monjyu_query.answer_packages.package_files import as_zip
from monjyu_query.asking.fields import OneOf
from monjyu_query.service.access import audit
from monjyu_query.service.routes.search_routes import in_turn
from monjyu_query.service.routes.trace_routes import trace_for
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared

router = APIRouter(tags=["search"], responses=COMMON)


@router.get(
    "/answers/{trace_id}/export",
    response_class=Response,
    responses={200: {"content": {one.media_type.partition(";")[0]: {} for one in FORMS.values()}}},
    summary="An answer as a document or package",
)
async def export_answer(
    trace_id: Annotated[str, Path(description="`trace_id` of a result.", pattern="^[0-9a-f]{16}$")],
    request: Request,
    service: Shared,
    format: Annotated[str, OneOf(FORMS), Query(description="Format of the answer.")] = "markdown",
    crops: Annotated[bool, Query(description="Include images of the quotes (packages only).")] = False,
) -> Response:
    """Only for your own searches, as with traces. The question is asked again on its snapshot, and the file lists
    what differs or is gone. `ro-crate` is an archive that `monjyu verify` checks."""
    kept = trace_for(service, trace_id, request.scope["state"]["principal"])
    audit.note(request.scope, collection=kept["collection"], mode=f"export {format}")
    searcher = service.served(kept["collection"]).searcher

    def export(_: threading.Event) -> bytes:
        answer = asked_again(service.data, trace_id, kept, searcher)
        if format == "ro-crate" and crops:
            return as_zip(package_of(answer, crops_by(service.drawing.draw)))
        return written(answer, format)

    content = await in_turn(service, request, export)
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="answer-{trace_id}.{FORMS[format].ending}"',
    }
    return Response(content, media_type=FORMS[format].media_type, headers=headers)

"""POST /check-citations: whether the papers that a draft cites say what it says of them."""

from __future__ import annotations

import base64
import threading
from typing import Annotated

from fastapi import APIRouter, Body, Request
from fastapi.responses import Response

from monjyu_core.errors import QueryError
from monjyu_query.api.product_requests import DraftRequest
from monjyu_query.drafts.check import check_citations
from monjyu_query.drafts.checked import CheckedDraft
from monjyu_query.service.access import audit
from monjyu_query.service.routes.search_routes import in_turn
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared

router = APIRouter(tags=["search"], responses=COMMON)


def _word_file(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise QueryError("The Word file is not in Base64.", "Give the file's bytes in Base64 as the text.") from error


@router.post("/check-citations", response_model=CheckedDraft, summary="Check the citations of a draft")
async def check_draft(asked: Annotated[DraftRequest, Body()], service: Shared, request: Request) -> Response:
    """Each citing sentence with the nearest passages of the cited paper, its figures, names and quotes that occur
    nowhere in the paper, and its verdict (not_judged without a model; supported, partly, not_found,
    contradicted; not_in_collection, not_resolved)."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name)
    searcher, seconds = service.served(name).searcher, 0.9 * service.settings.service.search_seconds

    def check(cancel: threading.Event) -> bytes:
        draft = _word_file(asked.text) if asked.format == "docx" else asked.text
        checked = check_citations(searcher, draft, asked.format, asked.bibliography, seconds=seconds, cancel=cancel)
        return checked.model_dump_json().encode()

    content = await in_turn(service, request, check)
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})

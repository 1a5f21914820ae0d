"""GET /answers/{trace_id}/export, POST /locate and POST /check-citations."""

import base64
import threading
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request
from fastapi.responses import Response

from monjyu_core.errors import QueryError
from monjyu_query.answer_packages.all_forms import FORMS, written
from monjyu_query.answer_packages.asked_answer import asked_again
from monjyu_query.answer_packages.crops import crops_by
from monjyu_query.answer_packages.package import package_of
from monjyu_query.answer_packages.package_files import as_zip
from monjyu_query.api.product_requests import DraftRequest, QuoteRequest
from monjyu_query.asking.fields import OneOf
from monjyu_query.drafts.check import check_citations
from monjyu_query.drafts.checked import CheckedDraft
from monjyu_query.papers.quotes import Located, locate
from monjyu_query.service.access import audit
from monjyu_query.service.routes.search import in_turn, trace_for
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared, json_response, principal_of

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
    differences and missing quotes. `ro-crate` is an archive that `monjyu verify` checks."""
    kept = trace_for(service, trace_id, principal_of(request))
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


@router.post("/locate", summary="Find a quote in the papers")
def locate_quote(asked: QuoteRequest, service: Shared, request: Request) -> Located:
    """Returns the paper, page and rectangles of each match, best first; an empty list if nothing matches."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name)
    return locate(service.served(name).searcher.current(), asked.quote, asked.most)


def _word_file(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise QueryError("The Word file is not in Base64.", "Send the file's bytes in Base64 as `text`.") from error


@router.post("/check-citations", response_model=CheckedDraft, summary="Check the citations of a draft")
async def check_draft(asked: Annotated[DraftRequest, Body()], service: Shared, request: Request) -> Response:
    """Returns each citing sentence and, for each work that it cites, the nearest passages of the paper, the sentence's
    figures, names and quotes that occur nowhere in the paper, and a verdict. The verdicts are supported, partly,
    not_found and contradicted; not_judged if no model judged it; not_in_collection; not_resolved if the work is
    unknown; not_checked if no time was left."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name)
    searcher, seconds = service.served(name).searcher, 0.9 * service.settings.service.search_seconds

    def check(cancel: threading.Event) -> bytes:
        draft = _word_file(asked.text) if asked.format == "docx" else asked.text
        checked = check_citations(searcher, draft, asked.format, asked.bibliography, seconds=seconds, cancel=cancel)
        return checked.model_dump_json().encode()

    return json_response(await in_turn(service, request, check))

"""POST /check-citations: whether the papers that a draft cites say what it says of them."""

from __future__ import annotations

import base64
import threading
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Request
from fastapi.responses import Response
from pydantic import Field

from monjyu_core.errors import QueryError
from monjyu_query.drafts.check import check_citations
from monjyu_query.drafts.checked import CheckedDraft
from monjyu_query.search.searcher import Searcher
from monjyu_query.service.access import audit
from monjyu_query.service.routes.search_routes import watched
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import ANY_TEXT, CollectionBody, Shared
from monjyu_query.service.worker_state import Service

router = APIRouter(tags=["search"], responses=COMMON)

MOST_TEXT = 200_000
"""Characters of a draft over HTTP; a body has its own limit (`service.max_body_kb`)."""


class DraftRequest(CollectionBody):
    """`text` of a Word file (`docx`) is the file in Base64; `bibliography`: the text of the .bib file (or CSL JSON)
    that the draft's keys are of."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MOST_TEXT,
            pattern=ANY_TEXT,
            examples=["Readers hold a lease on the snapshot that they opened (Okafor, 2024)."],
        ),
    ]
    format: Literal["markdown", "latex", "text", "docx"] = "markdown"
    bibliography: Annotated[str, Field(max_length=MOST_TEXT)] = ""


@dataclass(frozen=True)
class DraftRun:
    """A check to be made when its turn comes."""

    service: Service
    searcher: Searcher
    asked: DraftRequest

    async def run(self) -> bytes:
        """The document as JSON."""
        cancel = threading.Event()
        seconds = self.service.settings.service.search_seconds
        return await self.service.long_turns.take(lambda: self._made(cancel, seconds), cancel, seconds)

    def _made(self, cancel: threading.Event, seconds: float) -> bytes:
        asked = self.asked
        how = {"seconds": 0.9 * seconds, "cancel": cancel}
        content = _word_file(asked.text) if asked.format == "docx" else asked.text
        checked = check_citations(self.searcher, content, asked.format, asked.bibliography, **how)  # type: ignore[arg-type]
        return checked.model_dump_json().encode()


def _word_file(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise QueryError("The Word file is not in Base64.", "Give the file's bytes in Base64 as the text.") from error


@router.post("/check-citations", response_model=CheckedDraft, summary="Check the citations of a draft")
async def check_draft(asked: Annotated[DraftRequest, Body()], service: Shared, request: Request) -> Response:
    """Each citing sentence with the passages of the cited paper that come nearest, what of it stands nowhere in the
    paper, and its verdict (not_judged without a model; supported, partly, not_found, contradicted; not_in_collection,
    not_resolved)."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name)
    content = await watched(DraftRun(service, service.served(name).searcher, asked), request)
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})

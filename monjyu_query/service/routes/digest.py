"""POST /summarize, POST /compare, POST /survey and POST /table."""

import threading
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from monjyu_core.errors import QueryError
from monjyu_query.api.product_requests import ComparisonRequest, SummaryRequest, SurveyRequest, TableRequest
from monjyu_query.asking.fields import OneOf
from monjyu_query.asking.request import clean_text, make_request
from monjyu_query.digests.comparison import compare
from monjyu_query.digests.result import Digest
from monjyu_query.digests.study_table import study_table
from monjyu_query.digests.summary import summarize
from monjyu_query.digests.survey import survey
from monjyu_query.digests.table_export import FORMS
from monjyu_query.papers.names import one_paper
from monjyu_query.search.searcher import Searcher
from monjyu_query.service.access import audit
from monjyu_query.service.routes.search import in_turn
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared
from monjyu_query.service.worker_state import Service

router = APIRouter(tags=["digests"], responses=COMMON)

Form = Annotated[str, OneOf(FORMS), Query(description="Format of the table.")]


@router.post("/summarize", response_model=Digest, summary="A summary of a paper in its own sentences")
async def summary(asked: SummaryRequest, service: Shared, request: Request) -> Response:
    """Purpose, method, findings, limits and conclusion; every sentence is cited."""
    searcher = _searcher(service, asked.collection, request, "summary", asked.focus)

    def make(_: threading.Event) -> Digest:
        paper = _paper(searcher, asked.paper_id)
        try:
            return summarize(searcher, paper, clean_text(asked.focus), asked.length, asked.section)
        except QueryError as error:
            raise NotFound(error.message, error.hint) from error

    return await _answered(service, request, make, long=bool(asked.focus))


@router.post("/compare", response_model=Digest, summary="Papers side by side")
async def comparison(asked: ComparisonRequest, service: Shared, request: Request) -> Response:
    """A table of aspects and papers in the papers' own, cited sentences, and which of them cite each other."""
    searcher = _searcher(service, asked.collection, request, "comparison", " ".join(asked.aspects))

    def make(_: threading.Event) -> Digest:
        return compare(searcher, [_paper(searcher, name) for name in asked.paper_ids], asked.aspects)

    return await _answered(service, request, make, long=bool(asked.aspects))


@router.post("/survey", response_model=Digest, summary="What the papers say about a topic, by theme")
async def topic_survey(asked: SurveyRequest, service: Shared, request: Request) -> Response:
    """The best papers on the topic, grouped by theme, in their own, cited sentences, and a table of them."""
    searcher = _searcher(service, asked.collection, request, "survey", asked.topic)
    topic = make_request(query=asked.topic, collection=searcher.collection).query

    def make(cancel: threading.Event) -> Digest:
        return survey(searcher, topic, asked.papers, asked.budget, asked.filters, cancel=cancel)[0]

    return await _answered(service, request, make, long=True)


@router.post(
    "/table",
    response_model=Digest,
    responses={200: {"content": {one.media_type.partition(";")[0]: {} for one in FORMS.values()}}},
    summary="A study table: one row per paper",
)
async def study_table_of(asked: TableRequest, service: Shared, request: Request, format: Form = "json") -> Response:
    """One row per paper and one column per attribute, each cell with quote and page; also as Markdown, CSV or XLSX."""
    searcher = _searcher(
        service, asked.collection, request, "table", " ".join([asked.about, *(asked.columns or ())]).strip()
    )

    def make(cancel: threading.Event) -> Digest:
        names = [_paper(searcher, name) for name in asked.paper_ids]
        how = {"about": asked.about, "filters": asked.filters, "most": asked.papers, "engine": asked.engine}
        return study_table(searcher, asked.columns or (), names, **how, cancel=cancel)  # type: ignore[arg-type]

    answer = await _answered(service, request, make, long=True, form=format)
    if format not in ("json", "markdown"):  # which are shown, not saved
        answer.headers["Content-Disposition"] = f'attachment; filename="table.{FORMS[format].ending}"'
    return answer


async def _answered(
    service: Service, request: Request, make: Callable[[threading.Event], Digest], *, long: bool, form: str = "json"
) -> Response:
    def made(cancel: threading.Event) -> bytes:
        digest = make(cancel)
        service.metrics.digested(digest)
        return FORMS[form].write(digest)

    content = await in_turn(service, request, made, long=long)
    return Response(content, media_type=FORMS[form].media_type, headers={"Cache-Control": "no-store"})


def _searcher(service: Service, collection: str | None, request: Request, kind: str, words: str) -> Searcher:
    """Return the searcher of the collection, and record the request in the audit log, with `words` only if a setting
    allows it."""
    name = service.only_collection(collection)
    said = {"query": words} if words and service.settings.service.audit_questions else {}
    audit.note(request.scope, collection=name, mode=kind, **said)
    return service.served(name).searcher


def _paper(searcher: Searcher, name: str) -> str:
    """Return the id of the paper that `name` means. Raises NotFound unless exactly one paper matches."""
    try:
        return one_paper(searcher.current(), name)
    except QueryError as error:
        raise NotFound(error.message, error.hint) from error

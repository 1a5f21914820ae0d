"""GET and POST /reviews, and below /reviews/NAME a review's screening, decisions, evidence and exports."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field, StrictBool

from monjyu_core.errors import ConfigurationError
from monjyu_core.records.reviews import Human, ReviewStore
from monjyu_query.asking.fields import CollectionBody, OneOf
from monjyu_query.digests.result import Digest
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.export import FORMS, ReviewedRecord, evidence_tables, record_json
from monjyu_query.reviews.prisma import Prisma, prisma
from monjyu_query.reviews.protocol import (
    LONGEST,
    MOST_BYTES,
    Protocol,
    parse_protocol,
    protocol_template,
    protocol_text,
)
from monjyu_query.reviews.records import Record, review_records
from monjyu_query.reviews.run import Review
from monjyu_query.search.searcher import Searcher
from monjyu_query.service.access import audit
from monjyu_query.service.routes.paper import Collection, Shared
from monjyu_query.service.routes.search import in_turn
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import json_response, principal_of
from monjyu_query.service.worker_state import Service

router = APIRouter(prefix="/reviews", tags=["reviews"], responses=COMMON)

RUN_SECONDS = 15.0
"""Seconds after which a run ends with the papers screened so far; the next request continues it."""
Name = Annotated[str, Path(examples=["budgets"], max_length=64, pattern=r"^[a-z0-9][a-z0-9_-]*$")]


class ProtocolRequest(CollectionBody):
    """A protocol to save. `protocol` is the text of a protocol file (YAML), whose `name` is the review's. It replaces
    the protocol of the same name; decisions are kept."""

    protocol: str = Field(min_length=1, max_length=MOST_BYTES, examples=["name: budgets\nquestion: Who spends?\n..."])


class ScreenRequest(CollectionBody):
    """A request to screen papers. `again`: screen unchanged papers too; send it only with the first request of a
    run."""

    again: StrictBool = False


class DecisionRequest(CollectionBody):
    """A person's decision on a paper, which needs a reason. A null `decision` removes the decision."""

    paper_id: str = Field(min_length=1, max_length=200, examples=["relevance-budget-438725c6"])
    decision: Human | None = None
    reason: str = Field(default="", max_length=LONGEST)
    criterion: str = Field(default="", max_length=64)


class ReviewSummary(BaseModel):
    """A review in a list. `problem` is the reason why its stored protocol cannot be read; the numbers are then null."""

    name: str
    title: str = ""
    question: str = ""
    counts: Prisma | None = None
    problem: str = ""


class Reviews(BaseModel):
    """The reviews of a collection. `template` is a protocol to start with."""

    collection: str
    reviews: list[ReviewSummary]
    template: str


class ReviewPage(BaseModel):
    """One review. `text` is the protocol as written; `records` are the papers that can be screened. `current`: the last
    run screened this snapshot with these criteria completely."""

    collection: str
    snapshot_id: str
    protocol: Protocol
    text: str
    counts: Prisma
    current: bool
    records: list[ReviewedRecord]


class Screened(BaseModel):
    """The result of a screening run. `whole` is false if time ran out; `kept` counts unchanged papers; `failed` are
    failed model calls."""

    screened: int
    kept: int
    whole: bool
    failed: list[str]
    page: ReviewPage


@dataclass(frozen=True)
class _Opened:
    """A stored protocol with the published snapshot."""

    searcher: Searcher
    index: OpenIndex
    review: Review
    text: str

    def records(self) -> list[Record]:
        return review_records(self.index, self.review.protocol, self.review.state(self.index))

    def included(self) -> list[str]:
        return [one.paper_id for one in self.records() if one.outcome == "included"]

    def page(self) -> ReviewPage:
        protocol, state = self.review.protocol, self.review.state(self.index)
        records = review_records(self.index, protocol, state)
        listed = [one for one in records if one.outcome in ("pending", "excluded", "unsure", "included")]
        return ReviewPage(
            collection=self.searcher.collection,
            snapshot_id=self.index.snapshot.id,
            protocol=protocol,
            text=self.text,
            counts=prisma(protocol, records),
            current=(state.snapshot_id, state.criteria) == (self.index.snapshot.id, self.review.criteria),
            records=[ReviewedRecord.model_validate(record_json(one)) for one in listed],
        )


def _open(service: Service, collection: str | None, name: str) -> _Opened:
    """Open a review. Raises NotFound if no protocol of that name is stored."""
    chosen = service.only_collection(collection)
    searcher = service.served(chosen).searcher
    store = ReviewStore(service.data, chosen)
    path = store.protocol(name)
    if not path.is_file():
        raise NotFound(f"There is no review {name!r} of {chosen}.", "GET /reviews lists the existing ones.")
    text = protocol_text(path)
    return _Opened(searcher, searcher.current(), Review(searcher, store, parse_protocol(text, name)), text)


@router.get("", summary="The living reviews of a collection")
def reviews(service: Shared, collection: Collection = None) -> Reviews:
    """Includes reviews that `monjyu review run` has run."""
    name = service.only_collection(collection)
    service.folder(name)
    found = [_summary(service, name, one) for one in ReviewStore(service.data, name).protocols()]
    return Reviews(collection=name, reviews=found, template=protocol_template("my-review", name))


def _summary(service: Service, collection: str, name: str) -> ReviewSummary:
    try:
        opened = _open(service, collection, name)
    except ConfigurationError as error:
        return ReviewSummary(name=name, problem=str(error))
    protocol = opened.review.protocol
    counts = prisma(protocol, opened.records())
    return ReviewSummary(name=name, title=protocol.title or "", question=protocol.question, counts=counts)


@router.post("", summary="Save the protocol of a review")
def save_protocol(asked: ProtocolRequest, service: Shared, request: Request) -> ReviewPage:
    """For editors. Nothing is screened yet."""
    name = service.only_collection(asked.collection)
    service.folder(name)
    protocol = parse_protocol(asked.protocol, "The protocol")
    audit.note(request.scope, collection=name, review=protocol.name)
    ReviewStore(service.data, name).keep_protocol(protocol.name, asked.protocol)
    return _open(service, name, protocol.name).page()


@router.get("/{name}", summary="A review: its protocol, counts and decisions")
def review(service: Shared, name: Name, collection: Collection = None) -> ReviewPage:
    return _open(service, collection, name).page()


@router.post("/{name}/run", response_model=Screened, summary="Screen new and changed papers")
async def screen(asked: ScreenRequest, service: Shared, request: Request, name: Name) -> Response:
    """For editors. It ends after fifteen seconds with a partial result; if `whole` is false, send the request again."""
    audit.note(request.scope, collection=asked.collection, review=name)

    def work(cancel: threading.Event) -> bytes:
        opened = _open(service, asked.collection, name)
        done = opened.review.run(opened.index, again=asked.again, cancel=cancel)
        screened = len(done.screened)
        said = Screened(screened=screened, kept=done.kept, whole=done.whole, failed=done.failed, page=opened.page())
        return said.model_dump_json().encode()

    return json_response(await in_turn(service, request, work, seconds=RUN_SECONDS))


@router.post("/{name}/decide", summary="Record your decision on a paper, or remove it")
def decide(asked: DecisionRequest, service: Shared, request: Request, name: Name) -> ReviewPage:
    """For editors. A person's decision overrides every run."""
    opened = _open(service, asked.collection, name)
    audit.note(request.scope, collection=opened.searcher.collection, review=name)
    opened.review.decide(
        opened.index, asked.paper_id, asked.decision, asked.reason, asked.criterion, by=principal_of(request).name
    )
    return opened.page()


class Evidence(BaseModel):
    """Study tables of the included papers, several if one cannot contain all."""

    tables: list[Digest]


@router.get("/{name}/evidence", response_model=Evidence, summary="The evidence table of the included papers")
async def evidence(service: Shared, request: Request, name: Name, collection: Collection = None) -> Response:
    def work(cancel: threading.Event) -> bytes:
        opened = _open(service, collection, name)
        protocol = opened.review.protocol
        tables = evidence_tables(opened.searcher, opened.index, protocol, opened.included(), cancel)
        return Evidence(tables=tables).model_dump_json().encode()

    return json_response(await in_turn(service, request, work))


@router.get(
    "/{name}/export",
    response_class=Response,
    summary="A review as a file",
    responses={200: {"content": {one.media_type.partition(";")[0]: {} for one in FORMS.values()}}},
)
def export(
    service: Shared,
    name: Name,
    collection: Collection = None,
    format: Annotated[str, OneOf(FORMS), Query()] = "markdown",
) -> Response:
    """A report, all decisions, RIS of the included papers, labels for ASReview, the evidence table or the flow
    diagram."""
    opened = _open(service, collection, name)
    form = FORMS[format]
    content = form.write(opened.searcher, opened.index, opened.review.protocol, opened.records())
    headers = {"Content-Disposition": f'attachment; filename="{name}-{format}.{form.ending}"'}
    return Response(content, media_type=form.media_type, headers=headers)

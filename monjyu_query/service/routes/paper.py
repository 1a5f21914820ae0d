"""GET /papers, one paper, its details, its citations, its sentences, and its pages as images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel

from monjyu_core.errors import QueryError
from monjyu_core.paper import ParsedPaper
from monjyu_core.storage.ids import digest
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.text.unicode_words import folded
from monjyu_core.values import Values
from monjyu_query.asking.fields import OneOf
from monjyu_query.citations.export import FORMS, entries, entries_of
from monjyu_query.citations.missing_works import MOST_WORKS, MissingWork, missing_works
from monjyu_query.citations.view import CitationView, citations_of
from monjyu_query.papers.details import (
    FoundSentences,
    PaperDetails,
    find_sentences,
    paper_details,
    sentences_at,
)
from monjyu_query.papers.records import list_papers, present_paper, show_paper
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared as Shared
from monjyu_query.service.worker_state import Service

# Images of pages with marked sentences, from the cache or the drawing process.
_SENTENCES = "SELECT spans FROM sentences WHERE paper_id = $1 AND sentence_id IN $2"
_FORM = "1"
"""Increase it when the same page is drawn differently."""


def page_image(
    service: Service,
    snapshot: Snapshot,
    paper_id: str,
    number: int,
    sentences: Sequence[str],
    width: int,
    crop: Sequence[float] | None = None,
) -> tuple[str, Callable[[], bytes]]:
    """Return the ETag, and a function that returns the page as PNG, `width` pixels wide, with the sentences marked, or
    only its part in `crop` (x0, y0, x1, y1 in points).

    Raises NotFound if the paper is not a PDF or picture, or has no such page or sentence.
    """
    cursor = snapshot.cursor()
    query = "SELECT sha256, document_type, page_count FROM papers WHERE paper_id = ?"
    sha256, kind, count = cursor.execute(query, [paper_id]).fetchall()[0]
    if kind not in ("pdf", "image"):
        raise NotFound(f"The paper is a file of type {kind}, which has no pages.", "Its text is at /papers/{id}.")
    if not 1 <= number <= (count or 0):
        raise NotFound(f"The paper has {count} pages.", f"Ask for a page from 1 to {count}.")
    boxes = _boxes(snapshot, paper_id, number, list(dict.fromkeys(sentences)))
    name = digest(_FORM, sha256, number, width, boxes, *([list(crop)] if crop else []), length=32)

    def draw() -> bytes:
        return service.drawing.draw(_source(snapshot, sha256), number, width, boxes, crop)

    return f'"{name}"', lambda: service.images.get(name, draw)


def _boxes(snapshot: Snapshot, paper_id: str, number: int, sentences: list[str]) -> list[list[float]]:
    """Return the sentences' rectangles on this page, in PDF points (of a picture in pixels) from the top left."""
    if not sentences:
        return []
    rows = snapshot.cursor().execute(_SENTENCES, [paper_id, sentences]).fetchall()
    if len(rows) < len(sentences):
        raise NotFound("The paper has no such sentence.")
    spans = [span for (found,) in rows for span in found or () if span["page"] == number]
    return sorted([float(edge) for edge in box] for span in spans for box in span["boxes"])


def _source(snapshot: Snapshot, sha256: str) -> str:
    path = snapshot.collection.sources / sha256
    if not path.is_file():
        raise NotFound("The indexed file is no longer stored.", "Index the collection again.")
    return str(path)


router = APIRouter(tags=["papers"], responses=COMMON)

Collection = Annotated[
    str | None, Query(description="Optional if there is only one.", examples=["samples"], max_length=64)
]
_BOX = r"^[0-9]{1,6}(\.[0-9]{1,3})?(,[0-9]{1,6}(\.[0-9]{1,3})?){3}$"
PaperId = Annotated[str, Path(description="As in `/papers`.", max_length=1000)]


class PaperInfo(BaseModel):
    """A paper in a list. `chunks` is the number of its passages."""

    paper_id: str
    title: str
    year: int | None
    venue: str | None
    doi: str | None
    arxiv_id: str | None
    language: str | None
    document_type: str
    page_count: int | None
    is_academic_paper: bool
    keywords: list[str]
    authors: list[str]
    chunks: int


class Papers(BaseModel):
    """A list of papers. `total` is the number of papers that match, `papers` are those from `offset` on."""

    collection: str
    snapshot_id: str
    total: int
    papers: list[PaperInfo]


@router.get("/papers", summary="The papers of a collection, by title")
def papers(
    service: Shared,
    collection: Collection = None,
    text: Annotated[str, Query(description="Words of title, authors or venue.", max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Papers:
    name = service.only_collection(collection)
    snapshot = service.snapshot(name)
    found = [paper for paper in list_papers(snapshot) if _matches(paper, text)]
    shown = [PaperInfo.model_validate(paper) for paper in found[offset : offset + limit]]
    return Papers(collection=name, snapshot_id=snapshot.id, total=len(found), papers=shown)


@router.get("/papers/{paper_id:path}/citations", summary="The papers that a paper cites here, and those that cite it")
def citations(
    paper_id: PaperId,
    service: Shared,
    collection: Collection = None,
    depth: Annotated[int, Query(ge=1, le=10, description="Number of citations to follow in a row.")] = 1,
    min_count: Annotated[
        int, Query(ge=1, le=1_000_000, description="Minimum of shared citing papers or cited works.")
    ] = 1,
) -> CitationView:
    snapshot, paper_id = _place_of(service, collection, paper_id)
    return citations_of(snapshot, paper_id, depth, min_count)


@router.get("/papers/{paper_id:path}/details", summary="A paper's resolved references, and similar papers")
def details(paper_id: PaperId, service: Shared, collection: Collection = None) -> PaperDetails:
    """Includes claims and entities if the collection's level has them."""
    name = service.only_collection(collection)
    _, paper_id = _place_of(service, name, paper_id)
    return paper_details(service.served(name).searcher.current(), paper_id)


@router.get("/papers/{paper_id:path}/sentences", summary="The sentences of a paper that contain words, or have ids")
def sentences(
    paper_id: PaperId,
    service: Shared,
    collection: Collection = None,
    text: Annotated[str, Query(description="All of these words.", max_length=200)] = "",
    sentence_id: Annotated[list[str], Query(description="Ids of sentences.", max_length=50)] = [],  # noqa: B006
    around: Annotated[int, Query(ge=0, le=3, description="Sentences before and after each id.")] = 0,
) -> FoundSentences:
    """At most 200 sentences are returned, in the order of the paper; `total` counts all."""
    snapshot, paper_id = _place_of(service, collection, paper_id)
    cursor = snapshot.cursor()
    if sentence_id:
        return sentences_at(cursor, paper_id, sentence_id, around)
    return find_sentences(cursor, paper_id, text)


@router.get("/bibliography", summary="Papers as BibTeX, RIS or CSL JSON", response_class=Response)
def bibliography(
    service: Shared,
    collection: Collection = None,
    paper_id: Annotated[list[str], Query(description="Only these papers; by default all.", max_length=200)] = [],  # noqa: B006
    format: Annotated[str, OneOf(FORMS), Query()] = "bibtex",
) -> Response:
    name = service.only_collection(collection)
    snapshot = service.snapshot(name)
    form = FORMS[format]
    try:
        found = entries_of(snapshot, paper_id) if paper_id else entries(snapshot, None)
    except QueryError as error:
        raise NotFound(error.message, "GET /papers lists its papers.") from error
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form.ending}"', "Cache-Control": "no-store"}
    return Response(form.write(found), media_type=form.media_type, headers=headers)


@router.get("/missing", summary="Works that the papers cite and the collection lacks")
def missing(
    service: Shared,
    collection: Collection = None,
    min_count: Annotated[int, Query(ge=1, le=10_000, description="Minimum number of citing papers.")] = 2,
    limit: Annotated[int, Query(ge=1, le=MOST_WORKS)] = 100,
) -> list[MissingWork]:
    """The most cited come first. References that were matched to the same work count as one."""
    return missing_works(service.snapshot(service.only_collection(collection)), min_count, limit)


@router.get(
    "/papers/{paper_id:path}/pages/{number}.png",
    summary="A page as an image, with sentences highlighted",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}, 304: {"description": "The image that the client has is current."}},
)
def page(
    paper_id: PaperId,
    number: Annotated[int, Path(ge=1, le=100_000)],
    service: Shared,
    collection: Collection = None,
    highlight: Annotated[list[str], Query(description="Ids of sentences.", max_length=50)] = [],  # noqa: B006
    width: Annotated[int, Query(ge=100, le=2400, description="Pixels.")] = 1100,
    box: Annotated[
        str | None, Query(description="Only this part: x0,y0,x1,y1 in points.", pattern=_BOX, max_length=80)
    ] = None,
    if_none_match: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """404 if the paper is not a PDF or picture, or has no such page or sentence."""
    snapshot, paper_id = _place_of(service, collection, paper_id)
    crop = [float(edge) for edge in box.split(",")] if box else None
    if crop and (crop[0] >= crop[2] or crop[1] >= crop[3]):
        raise NotFound("The box is empty.", "Give left, top, right and bottom in points.")
    etag, content = page_image(service, snapshot, paper_id, number, highlight, width, crop)
    headers = {"ETag": etag, "Cache-Control": "private, max-age=3600"}
    if if_none_match == etag:
        return Response(status_code=304, headers=headers)
    return Response(content(), media_type="image/png", headers=headers)


@router.get("/papers/{paper_id:path}", summary="One paper with sections, references and all fields")
def paper(paper_id: PaperId, service: Shared, collection: Collection = None) -> ParsedPaper:
    """`source_path` contains only the file's name."""
    found = show_paper(*_place_of(service, collection, paper_id))
    return found.model_copy(update={"source_path": PurePath(found.source_path).name})


def _place_of(service: Service, collection: str | None, paper_id: str) -> tuple[Snapshot, str]:
    """Return the published snapshot of the collection, and the paper's current id in it. Raises NotFound if the
    snapshot does not have the paper."""
    snapshot = service.snapshot(service.only_collection(collection))
    present = present_paper(snapshot, paper_id)
    known = snapshot.cursor().execute("SELECT 1 FROM papers WHERE paper_id = ?", [present]).fetchone()
    if known is None:
        raise NotFound(f"The collection has no paper {paper_id!r}.", "GET /papers lists its papers.")
    return snapshot, present


def _matches(paper: Values, text: str) -> bool:
    if not text.strip():
        return True
    held = folded(" ".join(filter(None, [paper["title"], paper["venue"], *paper["authors"]])))
    return all(word in held for word in folded(text).split())

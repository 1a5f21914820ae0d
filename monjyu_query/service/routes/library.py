"""GET /library: the papers as a table with counts by facet; GET /library/values: matching values of one facet; GET
/library/problems: files that could not be read, and why."""

from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel

from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import read_other_files
from monjyu_query.papers.library_table import (
    FacetValues,
    LibraryPage,
    Searched,
    Sort,
    Wanted,
    facet_values,
    library_page,
)
from monjyu_query.service.operations.index_runs import takes_uploads
from monjyu_query.service.routes.paper import Collection, Shared
from monjyu_query.service.server.error_responses import COMMON

router = APIRouter(tags=["papers"], responses=COMMON)

MOST_PROBLEMS = 500


class Library(LibraryPage):
    """A page of the list of papers. `total` is the number of papers that pass the filters, `papers` are those from
    `offset` on. `facets` count the papers by value of each facet, given the filters of the other facets."""

    collection: str
    snapshot_id: str


class Problem(BaseModel):
    """A file that is not among the papers: its name, the kind of error, and the message."""

    file: str
    error_type: str
    message: str


class Problems(BaseModel):
    """Files of a collection that are not in its index. `failed` could not be read; `unsupported` are those of
    unsupported types, up to a limit; `sources` are the last parts of the paths of the sources. `takes_uploads`: whether
    POST /admin/papers adds to the collection."""

    collection: str
    failed: list[Problem]
    failed_count: int
    unsupported: list[Problem]
    unsupported_count: int
    sources: list[str]
    takes_uploads: bool


def _wanted(wanted: Annotated[Wanted, Query()]) -> Wanted:
    return wanted


@router.get("/library", summary="The papers as a table: filtered, sorted, with counts by facet")
def library(
    service: Shared,
    wanted: Annotated[Wanted, Depends(_wanted)],
    collection: Collection = None,
    sort: Sort = "title",
    descending: bool = False,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Library:
    name = service.only_collection(collection)
    snapshot = service.snapshot(name)
    page = library_page(snapshot, wanted, sort, descending=descending, offset=offset, limit=limit)
    return Library(collection=name, snapshot_id=snapshot.id, **page.model_dump())


@router.get("/library/values", summary="Authors, venues, tags or shelves that match words, with their number of papers")
def values(
    service: Shared,
    wanted: Annotated[Wanted, Depends(_wanted)],
    kind: Searched,
    collection: Collection = None,
    words: Annotated[str, Query(description="Each must occur in the value.", max_length=200)] = "",
) -> FacetValues:
    """For a filter with more values than GET /library shows. The other filters apply."""
    return facet_values(service.snapshot(service.only_collection(collection)), wanted, kind, words)


@router.get("/library/problems", summary="Files that could not be read, with causes, and the sources")
def problems(service: Shared, collection: Collection = None) -> Problems:
    """Files and folders are named without their paths."""
    name = service.only_collection(collection)
    cursor = service.snapshot(name).cursor()
    failed = cursor.execute(
        "SELECT source_path, error_type, message FROM failures ORDER BY source_path, paper_id LIMIT ?", [MOST_PROBLEMS]
    ).fetchall()
    count = cursor.execute("SELECT count(*) FROM failures").fetchall()[0][0]
    others = read_other_files(service.folder(name))
    return Problems(
        collection=name,
        failed=[_problem(*row) for row in failed],
        failed_count=count,
        unsupported=[
            _problem(one.source_path, one.error_type, one.message) for one in others.unsupported[:MOST_PROBLEMS]
        ],
        unsupported_count=others.unsupported_count,
        sources=sorted({PurePath(source).name for source in known_record(service.data, name).sources}),
        takes_uploads=takes_uploads(service.data, service.settings.service, name),
    )


def _problem(path: object, error_type: str, message: str) -> Problem:
    """Return a problem with the file's name instead of its path, also in the message."""
    path = str(path)
    folder = str(PurePath(path).parent)
    told = message.replace(f"{folder}/", "") if len(folder) > 1 else message
    return Problem(file=PurePath(path).name, error_type=error_type, message=told)

"""GET and POST /corrections: what people corrected of papers, and correcting."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict
from pydantic import Field as Described

from monjyu_core.corrections.corrected_values import LONGEST, MOST_AUTHORS, Field, Value
from monjyu_core.corrections.correcting import correct
from monjyu_core.corrections.correction_record import CorrectedPaper, read_corrections
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.service.access import audit
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.routes.paper_routes import Collection, Shared
from monjyu_query.service.server.error_responses import COMMON, NotFound

router = APIRouter(tags=["papers"], responses=COMMON)

_Text = Annotated[str, Described(max_length=LONGEST)]


class CorrectionRequest(BaseModel):
    """`value`: the names of `authors`, a text for any other field (a date is `2021`, `2021-03` or `2021-03-05`; an
    empty text says that the paper has none); null takes a correction back. `note` is for those who read it later."""

    model_config = ConfigDict(extra="forbid")
    collection: str | None = Described(default=None, max_length=64, examples=["samples"])
    paper_id: str = Described(min_length=1, max_length=1000)
    field: Field
    value: _Text | Annotated[list[Annotated[str, Described(max_length=200)]], Described(max_length=MOST_AUTHORS)] | None
    note: str = Described(default="", max_length=1000)


class KeptCorrection(BaseModel):
    """`at`: when (ISO, UTC); `by`: whose key or name. It is seen once the collection is indexed again."""

    field: Field
    value: Value
    note: str
    at: str
    by: str


class PaperCorrections(BaseModel):
    """`changed`: whether the request has changed anything."""

    collection: str
    paper_id: str
    corrections: list[KeptCorrection]
    changed: bool = False


@router.get("/corrections", summary="What was corrected of a paper")
def corrections(
    service: Shared, paper_id: Annotated[str, Query(min_length=1, max_length=1000)], collection: Collection = None
) -> PaperCorrections:
    """With those that wait for the next index."""
    name = service.only_collection(collection)
    _content_hash(service.snapshot(name), paper_id)
    return _of_paper(service, name, paper_id)


@router.post("/corrections", summary="Correct a field of a paper, or take a correction back")
def correct_field(asked: CorrectionRequest, service: Shared, request: Request) -> PaperCorrections:
    """For editors. POST /admin/index then brings it into the index: only this paper is computed again."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name, paper_id=asked.paper_id, field=asked.field)
    sha256 = _content_hash(service.snapshot(name), asked.paper_id)
    principal: Principal = request.scope["state"]["principal"]
    changed = correct(
        service.folder(name),
        service.settings,
        asked.paper_id,
        asked.field,
        asked.value,
        sha256=sha256,
        by=principal.name,
        note=asked.note,
    )
    return _of_paper(service, name, asked.paper_id).model_copy(update={"changed": changed})


def _of_paper(service: Shared, name: str, paper_id: str) -> PaperCorrections:
    paper = read_corrections(service.folder(name)).papers.get(paper_id, CorrectedPaper())
    kept = [KeptCorrection(field=field, **one.model_dump()) for field, one in sorted(paper.fields.items())]
    return PaperCorrections(collection=name, paper_id=paper_id, corrections=kept)


def _content_hash(snapshot: Snapshot, paper_id: str) -> str:
    """Of a paper of the snapshot, or a file of it that could not be read. NotFound where it has none."""
    row = snapshot.cursor().execute("SELECT sha256 FROM manifest WHERE paper_id = ?", [paper_id]).fetchone()
    if row is None:
        raise NotFound(f"The collection has no paper {paper_id!r}.", "GET /papers lists what it has.")
    return str(row[0])

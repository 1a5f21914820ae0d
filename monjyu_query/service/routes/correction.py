"""GET and POST /corrections: list and make corrections of papers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from pydantic import Field as Described

from monjyu_core.records.corrected_values import LONGEST, MOST_AUTHORS, Field, Value
from monjyu_core.records.corrections import CORRECTIONS, CorrectedPaper, PaperIdentity, correct
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.asking.fields import CollectionBody
from monjyu_query.papers.records import fields_corrected, identify_paper
from monjyu_query.service.access import audit
from monjyu_query.service.routes.paper import Collection
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared, principal_of

router = APIRouter(tags=["papers"], responses=COMMON)

_Text = Annotated[str, Described(max_length=LONGEST)]


class CorrectionRequest(CollectionBody):
    """A request to correct a field. `value`: the names of `authors`, a text for any other field (a date is `2021`,
    `2021-03` or `2021-03-05`; an empty text means that the paper has none); null removes a correction. `note` is for
    later readers."""

    paper_id: str = Described(min_length=1, max_length=1000)
    field: Field
    value: _Text | Annotated[list[Annotated[str, Described(max_length=200)]], Described(max_length=MOST_AUTHORS)] | None
    note: str = Described(default="", max_length=1000)


class KeptCorrection(BaseModel):
    """A stored correction. `at`: its time (ISO, UTC); `by`: the key or name of its author. `counts`: whether the
    published snapshot includes it; if not, the next indexing run applies it."""

    field: Field
    value: Value
    note: str
    at: str
    by: str
    counts: bool = False


class PaperCorrections(BaseModel):
    """The corrections of a paper. `taken_back` are removed corrections that the published snapshot still includes.
    `changed`: whether the request changed anything."""

    collection: str
    paper_id: str
    corrections: list[KeptCorrection]
    taken_back: list[str] = []
    changed: bool = False


@router.get("/corrections", summary="Corrections of a paper")
def corrections(
    service: Shared, paper_id: Annotated[str, Query(min_length=1, max_length=1000)], collection: Collection = None
) -> PaperCorrections:
    """Includes corrections that the next indexing run will apply."""
    name = service.only_collection(collection)
    snapshot = service.snapshot(name)
    _identity(snapshot, paper_id)
    return _of_paper(service, snapshot, name, paper_id)


@router.post("/corrections", summary="Correct a field of a paper, or remove a correction")
def correct_field(asked: CorrectionRequest, service: Shared, request: Request) -> PaperCorrections:
    """For editors. POST /admin/index then applies the correction; only this paper is processed again."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name, paper_id=asked.paper_id, field=asked.field)
    snapshot = service.snapshot(name)
    seen = _identity(snapshot, asked.paper_id)
    changed = correct(
        service.folder(name),
        service.settings,
        asked.paper_id,
        asked.field,
        asked.value,
        seen=seen,
        by=principal_of(request).name,
        note=asked.note,
    )
    return _of_paper(service, snapshot, name, asked.paper_id).model_copy(update={"changed": changed})


def _of_paper(service: Shared, snapshot: Snapshot, name: str, paper_id: str) -> PaperCorrections:
    paper = CORRECTIONS.read(service.folder(name)).papers.get(paper_id, CorrectedPaper())
    counting = {one.field: one.at for one in fields_corrected(snapshot.cursor(), paper_id)}
    kept = [
        KeptCorrection(field=field, counts=counting.get(field) == one.at, **one.model_dump())
        for field, one in sorted(paper.fields.items())
    ]
    taken_back = sorted(counting.keys() - set(paper.fields))
    return PaperCorrections(collection=name, paper_id=paper_id, corrections=kept, taken_back=taken_back)


def _identity(snapshot: Snapshot, paper_id: str) -> PaperIdentity:
    """Return the identity of a paper in the snapshot, or of a file that could not be read. Raises NotFound if the
    snapshot has neither."""
    found = identify_paper(snapshot.cursor(), paper_id)
    if found is None:
        raise NotFound(f"The collection has no paper {paper_id!r}.", "GET /papers lists its papers.")
    return found

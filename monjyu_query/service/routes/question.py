"""GET, POST and DELETE /questions, POST /questions/run, GET /questions/changes: saved questions and their answers."""

from __future__ import annotations

import threading
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field, StrictBool

from monjyu_core.records.question_list import QUESTIONS, remove_question
from monjyu_core.records.questions import ANY_TEXT, ID, LONGEST, Expectations, Severity
from monjyu_core.storage.snapshot import published
from monjyu_query.asking.fields import CollectionBody
from monjyu_query.asking.request import Budget, Mode
from monjyu_query.saved.ask_questions import ask_all, record_answers
from monjyu_query.saved.digest import Digest, as_atom, as_markdown, watch
from monjyu_query.saved.listing import SavedQuestion, SavedQuestions, listed, shown
from monjyu_query.saved.saving import checked, save
from monjyu_query.service.access import audit
from monjyu_query.service.routes.paper import Collection
from monjyu_query.service.routes.search import in_turn
from monjyu_query.service.searches.running_search import SNAPSHOT
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared, json_response, principal_of

router = APIRouter(tags=["questions"], responses=COMMON)

MOST_ASKED = 20
"""The maximum number of questions per request."""
_FORMS = {"atom": "application/atom+xml", "markdown": "text/markdown; charset=utf-8"}


class QuestionRequest(CollectionBody):
    """A question to save, which replaces a question with the same `id`. Without an `id`, it gets one derived from its
    words."""

    id: str | None = Field(default=None, pattern=ID, examples=["leiden"])
    text: str = Field(min_length=1, max_length=LONGEST, pattern=ANY_TEXT, examples=["What does Leiden guarantee?"])
    mode: Mode = "auto"
    budget: Budget | None = None
    severity: Severity = "warn"
    expect: Expectations = Expectations()


class RunRequest(CollectionBody):
    """A request to ask saved questions, by default the first twenty. With `anew`, questions that were already answered
    on a snapshot with the same content are asked again."""

    ids: Annotated[list[Annotated[str, Field(pattern=ID)]], Field(max_length=MOST_ASKED)] = Field([])
    anew: StrictBool = False


@router.get("/questions", summary="The saved questions")
def questions(service: Shared, collection: Collection = None) -> SavedQuestions:
    """Includes the recorded answers of the existing snapshots."""
    name = service.only_collection(collection)
    return listed(service.folder(name), service.snapshot(name))


@router.get(
    "/questions/changes",
    summary="Changes of the answers to saved questions",
    responses={200: {"model": Digest, "content": {media.partition(";")[0]: {} for media in _FORMS.values()}}},
)
def changes(
    service: Shared,
    collection: Collection = None,
    since: Annotated[
        str | None, Query(description="Compare with the newest snapshot at this date.", max_length=40)
    ] = None,
    older: Annotated[
        str | None, Query(description="Older snapshot; by default the one before `newer`.", pattern=SNAPSHOT)
    ] = None,
    newer: Annotated[
        str | None, Query(description="Newer snapshot; by default the published one.", pattern=SNAPSHOT)
    ] = None,
    format: Annotated[Literal["json", "atom", "markdown"], Query()] = "json",
) -> Response:
    """Citations gained, lost and moved since a date or between two snapshots, each with its cause."""
    name = service.only_collection(collection)
    kept = published(service.folder(name))
    for one in (older, newer):
        if one is not None and one not in kept:
            raise NotFound(f"Snapshot {one} of {name} does not exist.", "GET /questions lists the existing ones.")
    digest = watch(service.data, name, older, newer, since)
    if format == "json":
        return Response(digest.model_dump_json(), media_type="application/json")
    return Response(as_atom(digest) if format == "atom" else as_markdown(digest), media_type=_FORMS[format])


@router.post("/questions", summary="Save a question")
def save_question(asked: QuestionRequest, service: Shared, request: Request) -> SavedQuestion:
    """For editors. The next publish answers it before readers see the snapshot."""
    name = service.only_collection(asked.collection)
    question = checked(asked.model_dump(exclude={"collection"}), by=principal_of(request).name)
    audit.note(request.scope, collection=name, question_id=question.id)
    save(service.served(name).searcher, [question])
    return shown(question)


@router.post("/questions/run", response_model=SavedQuestions, summary="Ask saved questions now")
async def run_questions(asked: RunRequest, service: Shared, request: Request) -> Response:
    """For editors. The answers of the published snapshot are checked and recorded."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name, questions=len(asked.ids))
    saved = QUESTIONS.read(service.folder(name)).questions
    for one in asked.ids:
        if one not in saved:
            raise _unknown(one)
    chosen = [saved[one] for one in dict.fromkeys(asked.ids or list(saved)[:MOST_ASKED])]

    def ask(cancel: threading.Event) -> bytes:
        """Ask until cancelled and record the answers."""
        snapshot_id = service.snapshot(name).id
        searcher = service.served(name).searcher.at(snapshot_id).untraced()
        answers = ask_all(searcher, chosen, anew=asked.anew, cancel=cancel).answers
        record_answers(searcher, snapshot_id, answers)
        return listed(searcher.folder, searcher.current().snapshot).model_dump_json().encode()

    return json_response(await in_turn(service, request, ask))


@router.delete("/questions/{question_id}", summary="Remove a saved question")
def delete_question(
    question_id: Annotated[str, Path(max_length=64, pattern=ID)],
    service: Shared,
    request: Request,
    collection: Collection = None,
) -> SavedQuestion:
    """For editors. Recorded answers stay with their snapshots."""
    name = service.only_collection(collection)
    audit.note(request.scope, collection=name, question_id=question_id)
    found = QUESTIONS.read(service.folder(name)).questions.get(question_id)
    if found is None:
        raise _unknown(question_id)
    remove_question(service.folder(name), service.settings, question_id)
    return shown(found)


def _unknown(question_id: str) -> NotFound:
    return NotFound(f"There is no saved question {question_id!r}.", "GET /questions lists them.")

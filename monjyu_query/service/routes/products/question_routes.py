"""GET, POST and DELETE /questions: the saved questions, and what changed in their answers."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from monjyu_core.questions.question import ANY_TEXT, ID, LONGEST, MOST_QUESTIONS, Expectations, Question, Severity
from monjyu_core.questions.question_record import read_questions, remove_question
from monjyu_core.questions.recorded_answers import kept_answers
from monjyu_core.questions.saved_answer import Failure
from monjyu_query.saved.changes.digest import Digest, as_atom, as_markdown, watch
from monjyu_query.saved.keeping import checked, save
from monjyu_query.search.request import NUMBER, Mode
from monjyu_query.service.access import audit
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.routes.paper_routes import Collection, Shared
from monjyu_query.service.server.error_responses import COMMON, NotFound

router = APIRouter(tags=["questions"], responses=COMMON)

_FORMS = {"atom": "application/atom+xml", "markdown": "text/markdown; charset=utf-8"}


class QuestionRequest(BaseModel):
    """Saved in place of one of the same `id`; without one it gets one of its words."""

    model_config = ConfigDict(extra="forbid")
    collection: str | None = Field(default=None, max_length=64, examples=["samples"])
    id: str | None = Field(default=None, pattern=ID, examples=["leiden"])
    text: str = Field(min_length=1, max_length=LONGEST, pattern=ANY_TEXT, examples=["What does Leiden guarantee?"])
    mode: Mode = "auto"
    budget: Literal["z100", "z500", "z1500"] | Annotated[int, Field(ge=0, le=100_000), NUMBER] | None = None
    severity: Severity = "warn"
    expect: Expectations = Expectations()


class RecordedAnswer(BaseModel):
    """What the published snapshot answers, and which expectations do not hold."""

    snapshot_id: str
    status: str
    answer: str
    failures: list[Failure]


class SavedQuestion(BaseModel):
    """`at`: when it was saved (ISO, UTC); `by`: by whom. `answer` is null where none is recorded yet."""

    id: str
    text: str
    mode: str
    budget: str | int | None
    severity: Severity
    expect: Expectations
    at: str
    by: str
    answer: RecordedAnswer | None = None


class SavedQuestions(BaseModel):
    collection: str
    questions: list[SavedQuestion] = Field(max_length=MOST_QUESTIONS)


@router.get("/questions", summary="The saved questions")
def questions(service: Shared, collection: Collection = None) -> SavedQuestions:
    """With what the published snapshot answers to each."""
    name = service.only_collection(collection)
    folder = service.folder(name)
    answers = kept_answers(folder, service.current_id(name))
    saved = read_questions(folder).questions.values()
    listed = []
    for one in saved:
        found = answers.get(one.id)
        answer = found and RecordedAnswer.model_validate(found, from_attributes=True)
        listed.append(_shown(one).model_copy(update={"answer": answer}))
    return SavedQuestions(collection=name, questions=listed)


@router.get(
    "/questions/changes",
    summary="What changed in their answers",
    responses={200: {"model": Digest, "content": {media.partition(";")[0]: {} for media in _FORMS.values()}}},
)
def changes(
    service: Shared,
    collection: Collection = None,
    since: Annotated[str | None, Query(description="A date; else since the snapshot before.", max_length=40)] = None,
    format: Annotated[Literal["json", "atom", "markdown"], Query()] = "json",
) -> Response:
    """Citations gained, lost and moved since a date, each with the document that caused it."""
    name = service.only_collection(collection)
    service.folder(name)
    digest = watch(service.data, name, since=since)
    if format == "json":
        return Response(digest.model_dump_json(), media_type="application/json")
    return Response(as_atom(digest) if format == "atom" else as_markdown(digest), media_type=_FORMS[format])


@router.post("/questions", summary="Save a question")
def save_question(asked: QuestionRequest, service: Shared, request: Request) -> SavedQuestion:
    """For editors. The next publish answers it before readers see the snapshot."""
    name = service.only_collection(asked.collection)
    principal: Principal = request.scope["state"]["principal"]
    question = checked(asked.model_dump(exclude={"collection"}), by=principal.name)
    audit.note(request.scope, collection=name, question_id=question.id)
    save(service.served(name).searcher, [question])
    return _shown(question)


@router.delete("/questions/{question_id}", summary="Remove a saved question")
def delete_question(
    question_id: Annotated[str, Path(max_length=64, pattern=ID)],
    service: Shared,
    request: Request,
    collection: Collection = None,
) -> SavedQuestion:
    """For editors. Answers that snapshots gave stay with them."""
    name = service.only_collection(collection)
    audit.note(request.scope, collection=name, question_id=question_id)
    found = read_questions(service.folder(name)).questions.get(question_id)
    if found is None:
        raise NotFound(f"There is no saved question {question_id!r}.", "GET /questions lists them.")
    remove_question(service.folder(name), service.settings, question_id)
    return _shown(found)


def _shown(question: Question) -> SavedQuestion:
    return SavedQuestion.model_validate(question.model_dump(exclude={"baseline"}))

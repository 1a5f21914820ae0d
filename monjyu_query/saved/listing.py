"""Lists a collection's saved questions with their expectations and each snapshot's answers."""

from datetime import UTC, datetime
from importlib.metadata import version as installed_version

from pydantic import BaseModel, Field

from monjyu_core.errors import QueryError
from monjyu_core.records.question_list import QUESTIONS
from monjyu_core.records.questions import (
    MOST_QUESTIONS,
    Expectations,
    Failure,
    Question,
    SavedAnswer,
    SavedCitation,
    SavedSegment,
    Severity,
)
from monjyu_core.records.recorded_answers import recorded, stored_answers
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import Manifest
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import Snapshot, published
from monjyu_query.asking.which_collection import no_paper
from monjyu_query.papers.records import present_paper

# An answer is reused while the hash of everything on which it depends is unchanged.
SETTINGS = {"search", "answer", "roles", "models", "language"}
"""Groups of settings on which answers depend."""


def settings_json(settings: Settings) -> str:
    """Return the settings on which answers depend, as JSON. API keys are masked, because they are `SecretStr`."""
    return settings.model_dump_json(include=SETTINGS)


def basis_of(manifest: Manifest, settings: Settings) -> str:
    """Return a hash of everything on which a snapshot's answers depend, except the question: the rows that readers see,
    the search files (vectors and terms), the level, the embedding model, the settings, and Monjyu's version."""
    parts = sorted(
        f"{part.table}/{part.shard}/{part.data_version}"
        for part in manifest.parts
        if part.table in TABLES and TABLES[part.table].served
    )
    files = sorted(entry.name for entry in manifest.search)
    nearest = manifest.nearest.table if manifest.nearest else ""
    model, code = manifest.embedding.model_dump_json(), installed_version("monjyu")
    return digest(manifest.level, model, nearest, code, settings_json(settings), *parts, "|", *files, length=32)


def key_of(question: Question, basis: str) -> str:
    return digest(asked_as(question), basis, length=32)


def asked_as(question: Question) -> str:
    """Return a hash of what a question asks (text, mode and budget), independent of its id."""
    return digest(question.text, question.mode, question.budget, length=32)


_ID_TIME = "%Y%m%dT%H%M%S%fZ"
_KNOWN = "SELECT paper_id FROM papers WHERE paper_id IN $1"
_TITLES = "SELECT paper_id, title FROM papers WHERE paper_id IN $1 AND title <> ''"


class RecordedAnswer(BaseModel):
    """The published snapshot's answer. `segments` are its pieces with their citations; `failures` are the expectations
    that it does not meet."""

    snapshot_id: str
    status: str
    answer: str
    segments: list[SavedSegment]
    citations: list[SavedCitation]
    failures: list[Failure]


class Outcome(BaseModel):
    """The judgement of a snapshot's answer; `at`: when the question was asked (ISO, UTC)."""

    snapshot_id: str
    at: str
    status: str
    error: str
    failures: list[Failure]


class SavedQuestion(BaseModel):
    """A saved question in the list. `at`: when it was saved (ISO, UTC); `by`: who saved it. `answer` is null if no
    answer is recorded yet. `outcomes` are those of the existing snapshots that answered it, newest first."""

    id: str
    text: str
    mode: str
    budget: str | int | None
    severity: Severity
    expect: Expectations
    at: str
    by: str
    answer: RecordedAnswer | None = None
    outcomes: list[Outcome] = []


class ListedSnapshot(BaseModel):
    """A snapshot in the list. `at` is its time (ISO, UTC) according to its id; null if the id contains no time."""

    snapshot_id: str
    at: str | None


class SavedQuestions(BaseModel):
    """The saved questions of a collection. `snapshots` are the existing ones, newest first; `snapshot_id` is the
    published one; `titles` are those of the papers in expectations."""

    collection: str
    snapshot_id: str
    questions: list[SavedQuestion] = Field(max_length=MOST_QUESTIONS)
    snapshots: list[ListedSnapshot] = []
    titles: dict[str, str] = {}


def listed(folder: CollectionFolder, snapshot: Snapshot) -> SavedQuestions:
    """Return all questions, with the answers of the existing snapshots."""
    saved = list(QUESTIONS.read(folder).questions.values())
    names = sorted({*published(folder), snapshot.id}, reverse=True)
    known = {*names} & {*recorded(folder)}
    answers = {name: stored_answers(folder, name) for name in names if name in known}
    return SavedQuestions(
        collection=folder.name,
        snapshot_id=snapshot.id,
        questions=[shown(one, answers, snapshot.id) for one in saved],
        snapshots=[ListedSnapshot(snapshot_id=name, at=_creation_time(name)) for name in names],
        titles=_titles(snapshot, saved),
    )


def shown(
    question: Question, answers: dict[str, dict[str, SavedAnswer]] | None = None, current: str = ""
) -> SavedQuestion:
    """Return a question for the list. `answers` are by snapshot, newest first, then by question id."""
    asked = asked_as(question)  # a question saved again with other words has no answer yet
    by_snapshot = {name: one.get(question.id) for name, one in (answers or {}).items()}
    found = {name: one for name, one in by_snapshot.items() if one is not None and one.asked == asked}
    now = found.get(current)
    return SavedQuestion.model_validate(
        question.model_dump(exclude={"baseline"})
        | {
            "answer": now and RecordedAnswer.model_validate(now, from_attributes=True),
            "outcomes": [_outcome(one) for one in found.values()],
        }
    )


def _outcome(one: SavedAnswer) -> Outcome:
    about = one.model_dump(include={"snapshot_id", "status", "error", "failures"})
    return Outcome.model_validate(about | {"at": one.asked_at})


def _creation_time(snapshot_id: str) -> str | None:
    try:
        moment = datetime.strptime(snapshot_id.partition("-")[0], _ID_TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment.isoformat(timespec="seconds")


def unknown_papers(snapshot: Snapshot, question: Question) -> list[QueryError]:
    """Return an error for each paper in a question's expectations that the snapshot does not have. Its id may be
    misspelt, or it may be added later."""
    named = dict.fromkeys([*(place.paper for place in question.expect.must_cite), *question.expect.must_not_cite])
    known = snapshot.cursor().execute(_KNOWN, [list(named)]).fetchall() if named else []
    missing = [name for name in named if (name,) not in known]
    return [no_paper(snapshot.cursor(), name) for name in missing if present_paper(snapshot, name) == name]


def _titles(snapshot: Snapshot, saved: list[Question]) -> dict[str, str]:
    named = {paper for one in saved for paper in one.expect.must_not_cite}
    named |= {place.paper for one in saved for place in one.expect.must_cite}
    return dict(snapshot.cursor().execute(_TITLES, [sorted(named)]).fetchall()) if named else {}

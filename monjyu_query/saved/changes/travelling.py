"""The answers of two snapshots: those that are recorded, else asked now of the snapshots that are kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from monjyu_core.errors import ConfigurationError, QueryError, StorageError
from monjyu_core.questions.question import Question
from monjyu_core.questions.recorded_answers import kept_answers
from monjyu_core.questions.saved_answer import SavedAnswer
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import published, read_current
from monjyu_query.saved.answer_keys import asked_as, basis_of
from monjyu_query.saved.ask_questions import ask
from monjyu_query.saved.changes.answer_changes import AnswerDiff
from monjyu_query.saved.changes.causes import Causes
from monjyu_query.saved.changes.documents import Documents, documents_of
from monjyu_query.saved.changes.side_by_side import compare
from monjyu_query.search.searcher import Searcher


@dataclass
class _Side:
    """One snapshot. What is not recorded is asked with the settings of now."""

    data: DataFolder
    folder: CollectionFolder
    snapshot_id: str

    @cached_property
    def recorded(self) -> dict[str, SavedAnswer]:
        """By what was asked."""
        return {one.asked: one for one in kept_answers(self.folder, self.snapshot_id).values()}

    @cached_property
    def searcher(self) -> Searcher:
        return Searcher(self.data, self.folder.name, snapshot_id=self.snapshot_id)

    @cached_property
    def documents(self) -> Documents:
        return documents_of(self.folder, self.snapshot_id)

    def answer(self, question: Question) -> tuple[SavedAnswer, bool]:
        """The answer, and whether it was recorded."""
        found = self.recorded.get(asked_as(question))
        if found is not None:
            return found.model_copy(update={"question_id": question.id}), True
        return self.ask(question), False

    def ask(self, question: Question) -> SavedAnswer:
        index = self.searcher.current()
        return ask(self.searcher, index, question, basis_of(index.snapshot.manifest, self.searcher.settings))


@dataclass
class Journey:
    """From one snapshot of a collection to another."""

    data: DataFolder
    collection: str
    older: str
    newer: str
    sides: tuple[_Side, _Side] = field(init=False)

    def __post_init__(self) -> None:
        folder = self.data.collection(self.collection)
        self.sides = _Side(self.data, folder, self.older), _Side(self.data, folder, self.newer)

    def diff(self, question: Question) -> AnswerDiff:
        """StorageError where a snapshot is needed and gone."""
        (older, was_kept), (newer, is_kept) = (side.answer(question) for side in self.sides)
        papers = {one.paper_id for answer in (older, newer) for one in answer.citations}

        def causes() -> Causes:
            documents = self.sides[0].documents, self.sides[1].documents
            return Causes(*documents, (older, newer), papers, lambda: self.sides[0].ask(question))

        return compare(older, newer, self.collection, causes, (was_kept, is_kept))

    def diffs(self, questions: Iterable[Question]) -> list[AnswerDiff]:
        return [self.diff(one) for one in questions]


def snapshots_between(
    folder: CollectionFolder, older: str | None, newer: str | None, since: str | None = None
) -> tuple[str, str]:
    """The snapshots that are meant: `newer` by default the published one; `older` by default the one before it, or the
    one that was the newest at the time `since` (ISO), or the oldest kept. QueryError or ConfigurationError where there
    is none."""
    ids = published(folder)
    for name in (older, newer):
        if name is not None and name not in ids:
            raise ConfigurationError(f"{folder.name} has no snapshot {name[:80]!r}.", "See `monjyu snapshots list`.")
    newer = newer or read_current(folder)
    if newer is None:
        raise QueryError(f"Collection {folder.name!r} has no published index.", "Index it first.")
    if older is not None:
        return older, newer
    before = [name for name in ids if name < newer]
    if since is not None:
        return _newest_at(folder, [*before, newer], _moment(since)), newer
    if not before:
        raise QueryError(f"{folder.name} has one snapshot only.", "There is nothing to compare it with yet.")
    return before[-1], newer


def _newest_at(folder: CollectionFolder, ids: list[str], moment: datetime) -> str:
    chosen = ids[0]
    for name in ids:
        try:
            created = datetime.fromisoformat(read_manifest(folder, name).created_at)
        except StorageError:
            continue  # of another version
        if created <= moment:
            chosen = name
    return chosen


def _moment(since: str) -> datetime:
    """A day counts from its beginning; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(since)
    except ValueError as error:
        raise QueryError(f"{since[:80]!r} is not a date.", "As 2026-11-25, or 2026-11-25T08:00.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

"""Compares the answers of two snapshots. They are recorded, or else asked now if the snapshot still exists."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal, NamedTuple

from monjyu_core.errors import ConfigurationError, QueryError, StorageError
from monjyu_core.records.questions import Question, SavedAnswer, SavedCitation
from monjyu_core.records.recorded_answers import stored_answers
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import published, read_current
from monjyu_query.saved.ask_questions import ask
from monjyu_query.saved.causes import AnswerDiff, Cause, Causes, CitationChange, Documents, SentenceChange, documents_of
from monjyu_query.saved.listing import asked_as, basis_of
from monjyu_query.search.searcher import Searcher

# Two answers to one question side by side.
What = Literal["page", "boxes", "order", "retracted", "paper_id"]
CausesOf = Callable[[], Causes]
"""Reads the snapshots; not called if the answers are equal."""


class _Pair(NamedTuple):
    older: SavedCitation
    newer: SavedCitation


def is_same(older: SavedAnswer, newer: SavedAnswer) -> bool:
    """Whether both answers have the same status, text and citations with positions."""
    return _comparable(older) == _comparable(newer)


def _comparable(answer: SavedAnswer) -> tuple[object, ...]:
    citations = [one.model_copy(update={"paper_sha256": "", "chunk_id": ""}) for one in answer.citations]
    return answer.status, answer.error, answer.answer, citations


def compare(
    older: SavedAnswer, newer: SavedAnswer, collection: str, causes_of: CausesOf, recorded: tuple[bool, bool]
) -> AnswerDiff:
    """Return the citations and sentences that differ between the answers, with the causes."""
    diff = AnswerDiff(
        question_id=newer.question_id or None,
        query=newer.text,
        collection=collection,
        older=older.snapshot_id,
        newer=newer.snapshot_id,
        same=is_same(older, newer),
        status=(older.status or older.error, newer.status or newer.error),
        recorded=recorded,
    )
    if not diff.same:
        causes = causes_of()
        diff.citations = list(_citations(older, newer, causes))
        diff.sentences = list(_sentences(older, newer, causes, diff.citations))
    return diff


def _citations(older: SavedAnswer, newer: SavedAnswer, causes: Causes) -> Iterator[CitationChange]:
    pairs, lost, gained = _matched(older.citations, newer.citations, causes)
    for one in gained:
        cause = causes.of(None, one.paper_id, one.quote, gained=True)
        yield _change("gained", None, one, cause)
    for one in lost:
        cause = causes.of(one.paper_id, None, one.quote, gained=False)
        yield _change("lost", one, None, cause)
    shifted = _out_of_order(pairs)
    for place, pair in enumerate(pairs):
        what = _moved(pair, in_order=place not in shifted)
        if what:
            cause = causes.of(pair.older.paper_id, pair.newer.paper_id, pair.newer.quote, gained=True)
            yield _change("marked" if what == ["retracted"] else "moved", pair.older, pair.newer, cause, what)


def _matched(
    older: list[SavedCitation], newer: list[SavedCitation], causes: Causes
) -> tuple[list[_Pair], list[SavedCitation], list[SavedCitation]]:
    """Return pairs of equal quotes from the same paper, or from files with equal bytes; then the citations that only
    the older and only the newer answer has."""
    waiting: dict[tuple[str, str], list[SavedCitation]] = {}
    for one in older:
        waiting.setdefault((one.paper_id, one.quote), []).append(one)
    pairs, gained = [], []
    for one in newer:
        names = (one.paper_id, causes.older.by_content.get(one.paper_sha256, ""))
        found = next((waiting[name, one.quote] for name in names if waiting.get((name, one.quote))), None)
        if found:
            pairs.append(_Pair(found.pop(0), one))
        else:
            gained.append(one)
    return pairs, [one for left in waiting.values() for one in left], gained


def _out_of_order(pairs: list[_Pair]) -> set[int]:
    """Return the indices of pairs whose rank among the common citations changed; gains and losses do not count."""
    before = sorted(range(len(pairs)), key=lambda place: pairs[place].older.n)
    return {place for rank, place in enumerate(before) if rank != place}


def _moved(pair: _Pair, *, in_order: bool) -> list[What]:
    older, newer = pair
    what: list[What] = []
    if older.page != newer.page:
        what.append("page")
    elif older.spans != newer.spans:
        what.append("boxes")
    if not in_order:
        what.append("order")
    if older.paper_id != newer.paper_id:
        what.append("paper_id")
    if older.retracted != newer.retracted:
        what.append("retracted")
    return what


def _change(
    change: Literal["gained", "lost", "moved", "marked"],
    older: SavedCitation | None,
    newer: SavedCitation | None,
    cause: Cause,
    what: list[What] | None = None,
) -> CitationChange:
    shown = newer or older
    assert shown is not None
    return CitationChange(
        change=change,
        what=what or [],
        n=(older.n if older else None, newer.n if newer else None),
        page=(older.page if older else None, newer.page if newer else None),
        **shown.model_dump(include={"paper_id", "paper_title", "quote", "sentence_ids", "spans"}),
        cause=cause,
    )


def _sentences(
    older: SavedAnswer, newer: SavedAnswer, causes: Causes, changes: list[CitationChange]
) -> Iterator[SentenceChange]:
    """Yield the pieces of each answer that the other does not have, ignoring differences in white space."""
    said = [{" ".join(one.text.split()) for one in answer.segments} for answer in (older, newer)]
    sides: tuple[tuple[Literal["lost", "gained"], SavedAnswer, set[str], int], ...] = (
        ("lost", older, said[1], 0),
        ("gained", newer, said[0], 1),
    )
    for change, answer, elsewhere, side in sides:
        for segment in answer.segments:
            text = " ".join(segment.text.split())
            if not text or text in elsewhere:
                continue
            found = {one.n[side]: one.cause for one in changes if one.n[side] is not None}
            own = [found[n] for n in segment.citations if n in found] or _of_papers(answer, segment.citations, causes)
            yield SentenceChange(change=change, text=text, causes=_once(own))


def _of_papers(answer: SavedAnswer, cited: list[int], causes: Causes) -> list[Cause]:
    """Return the changes of the cited papers, such as a corrected title."""
    papers = {one.paper_id for one in answer.citations if one.n in cited}
    return [cause for paper_id in sorted(papers) if (cause := causes.of_paper(paper_id)) is not None]


def _once(causes: list[Cause]) -> list[Cause]:
    return [one for place, one in enumerate(causes) if one not in causes[:place]]


@dataclass
class _Side:
    """One of the two snapshots. Questions without a recorded answer are asked with the current settings."""

    data: DataFolder
    folder: CollectionFolder
    snapshot_id: str

    @cached_property
    def recorded(self) -> dict[str, SavedAnswer]:
        """The recorded answers, by the hash of what was asked."""
        return {one.asked: one for one in stored_answers(self.folder, self.snapshot_id).values()}

    @cached_property
    def searcher(self) -> Searcher:
        return Searcher(self.data, self.folder.name, snapshot_id=self.snapshot_id)

    @cached_property
    def documents(self) -> Documents:
        return documents_of(self.folder, self.snapshot_id)

    def answer(self, question: Question) -> tuple[SavedAnswer, bool]:
        """Return the answer, and whether it was recorded."""
        found = self.recorded.get(asked_as(question))
        if found is not None:
            return found.model_copy(update={"question_id": question.id}), True
        return self.ask(question), False

    def ask(self, question: Question) -> SavedAnswer:
        index = self.searcher.current()
        return ask(self.searcher, index, question, basis_of(index.snapshot.manifest, self.searcher.settings))


@dataclass
class Journey:
    """The change from one snapshot of a collection to another."""

    data: DataFolder
    collection: str
    older: str
    newer: str
    sides: tuple[_Side, _Side] = field(init=False)

    def __post_init__(self) -> None:
        folder = self.data.collection(self.collection)
        self.sides = _Side(self.data, folder, self.older), _Side(self.data, folder, self.newer)

    def diff(self, question: Question) -> AnswerDiff:
        """Return the differences between the answers. Raises StorageError if a needed snapshot no longer exists."""
        (older, older_recorded), (newer, newer_recorded) = (side.answer(question) for side in self.sides)
        papers = {one.paper_id for answer in (older, newer) for one in answer.citations}

        def causes() -> Causes:
            documents = self.sides[0].documents, self.sides[1].documents
            return Causes(*documents, (older, newer), papers, lambda: self.sides[0].ask(question))

        return compare(older, newer, self.collection, causes, (older_recorded, newer_recorded))

    def diffs(self, questions: Iterable[Question]) -> list[AnswerDiff]:
        return [self.diff(one) for one in questions]


def snapshots_between(
    folder: CollectionFolder, older: str | None, newer: str | None, since: str | None = None
) -> tuple[str, str]:
    """Return the two snapshots to compare. `newer` is by default the published one, `older` the one before it; with
    `since` (ISO), `older` is the newest snapshot at that time, or the oldest if all are later. Raises QueryError or
    ConfigurationError if one does not exist."""
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
        raise QueryError(f"{folder.name} has only one snapshot.", "There is nothing to compare it with yet.")
    return before[-1], newer


def _newest_at(folder: CollectionFolder, ids: list[str], moment: datetime) -> str:
    chosen = ids[0]
    for name in ids:
        try:
            created = datetime.fromisoformat(read_manifest(folder, name).created_at)
        except StorageError:
            continue  # written by another version of Monjyu
        if created <= moment:
            chosen = name
    return chosen


def _moment(since: str) -> datetime:
    """Return the point in time: the beginning of a day; without a time zone in UTC."""
    try:
        moment = datetime.fromisoformat(since)
    except ValueError as error:
        raise QueryError(f"{since[:80]!r} is not a date.", "Use the form 2026-11-25 or 2026-11-25T08:00.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

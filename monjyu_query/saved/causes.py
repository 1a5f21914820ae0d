"""Finds the document, or the setting, that made a citation appear, disappear or move.

A change of the cited document itself comes first, because the two snapshots show it. Otherwise the cause is the
settings or the other documents. If both changed, the older snapshot is asked again with the current settings: a
difference that this answer already shows is due to the settings.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import duckdb
from pydantic import BaseModel

from monjyu_core.errors import StorageError
from monjyu_core.paper import RETRACTED
from monjyu_core.records.questions import SavedAnswer, SavedSpan
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.manifest import Manifest, read_manifest, unreadable
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.values import Values

# The changes of an answer, as `monjyu answer diff --json` prints them.
CauseKind = Literal[
    "added",
    "removed",
    "edited",
    "renamed",
    "unreadable",
    "retracted",
    "reinstated",
    "corrected",
    "reparsed",
    "settings",
    "ranking",
]


class Cause(BaseModel):
    """The cause of a change: an event of the cited document (`paper_id`), changed `settings`, or `ranking` if other
    `documents` or a rebuilt index moved the citation. `detail` is an explanation."""

    kind: CauseKind
    paper_id: str | None = None
    documents: list[str] = []
    detail: str = ""


class CitationChange(BaseModel):
    """A citation that was gained, lost, moved (to another page, other rectangles, another place in the answer) or
    marked (as retracted). `n` is its number in the answer, `page` its first page; None on the side without it.
    `sentence_ids` and `spans` (rectangles by page) are those of the newer side; for a lost citation, of the older
    side."""

    change: Literal["gained", "lost", "moved", "marked"]
    what: list[Literal["page", "boxes", "order", "retracted", "paper_id"]] = []
    paper_id: str
    paper_title: str
    quote: str
    n: tuple[int | None, int | None]
    page: tuple[int | None, int | None]
    sentence_ids: list[str] = []
    spans: list[SavedSpan] = []
    cause: Cause


class SentenceChange(BaseModel):
    """A piece of the answer that was gained or lost, with the causes of the changes in its citations."""

    change: Literal["gained", "lost"]
    text: str
    causes: list[Cause]


class AnswerDiff(BaseModel):
    """The changes from one snapshot's answer to another's. `recorded`: whether each answer was recorded; if not, it was
    asked now."""

    question_id: str | None
    query: str
    collection: str
    older: str
    newer: str
    same: bool
    status: tuple[str, str]
    recorded: tuple[bool, bool]
    citations: list[CitationChange] = []
    sentences: list[SentenceChange] = []


# The content of a snapshot on which answers depend: documents and settings.
_TEXT = """
    SELECT paper_id, sum(h) FROM (
        SELECT paper_id, hash(sentence_id, text, spans::VARCHAR)::HUGEINT AS h FROM sentences WHERE paper_id IN $papers
        UNION ALL
        SELECT paper_id, hash(title, year, language)::HUGEINT AS h FROM papers WHERE paper_id IN $papers
        UNION ALL
        SELECT paper_id, hash(chunk_id, ord, page_start)::HUGEINT AS h FROM chunks WHERE paper_id IN $papers)
    GROUP BY paper_id"""
"""A hash per paper of its parsed content: sentences with their positions, title, year, language, and chunks."""
_CORRECTED = """
    SELECT paper_id, sum(hash(field, value)::HUGEINT) FROM corrected_fields WHERE paper_id IN $papers
    GROUP BY paper_id"""


@dataclass(frozen=True)
class Documents:
    """The documents of one snapshot, read on demand."""

    snapshot: Snapshot

    @property
    def manifest(self) -> Manifest:
        return self.snapshot.manifest

    @cached_property
    def files(self) -> dict[str, str]:
        """The SHA-256 of each file of the sources, by paper."""
        return self._pairs("SELECT paper_id, sha256 FROM manifest")

    @cached_property
    def by_content(self) -> dict[str, str]:
        return {sha256: paper_id for paper_id, sha256 in self.files.items()}

    @cached_property
    def unread(self) -> frozenset[str]:
        return frozenset(self._pairs("SELECT paper_id, error_type FROM failures"))

    @cached_property
    def retracted(self) -> frozenset[str]:
        return frozenset(self._pairs(f"SELECT paper_id, source FROM ({RETRACTED})"))

    def texts(self, papers: Collection[str]) -> Values:
        """Return a hash of the parsed content by paper."""
        return self._pairs(_TEXT, papers)

    def corrected(self, papers: Collection[str]) -> Values:
        """Return a hash of the corrections by paper, for the papers that have some."""
        return self._pairs(_CORRECTED, papers)

    def _pairs(self, query: str, papers: Collection[str] | None = None) -> Values:
        values = {} if papers is None else {"papers": sorted(papers)}
        try:
            rows = self.snapshot.cursor().execute(query, values or None).fetchall()
        except duckdb.CatalogException:
            return {}  # a snapshot without corrections has no table of them
        except (duckdb.Error, OSError) as error:
            raise unreadable(self.snapshot.collection.name, self.snapshot.id, error) from error
        return dict(rows)


def documents_of(folder: CollectionFolder, snapshot_id: str) -> Documents:
    """Return the documents of a snapshot. Raises StorageError if it no longer exists."""
    try:
        return Documents(Snapshot(folder, read_manifest(folder, snapshot_id)))
    except StorageError as error:
        error.hint = "See `monjyu snapshots list`."
        raise


def settings_changed(older: Manifest, newer: Manifest, asked: tuple[str, str]) -> list[str]:
    """Return what differs: settings of the index, the embedding model, the level, and settings in `asked`, which are
    those of the two answers as JSON (ignored if one is empty)."""
    names = [
        name for name in {*older.settings, *newer.settings} if older.settings.get(name) != newer.settings.get(name)
    ]
    names += ["embedding"] if older.embedding != newer.embedding else []
    names += [f"level ({older.level} to {newer.level})"] if older.level != newer.level else []
    before, after = (_leaves(json.loads(text)) if text else None for text in asked)
    if before is not None and after is not None:
        names += [name for name in {*before, *after} if before.get(name) != after.get(name)]
    return sorted(set(names))


def _leaves(value: Values, above: str = "") -> Values:
    found: Values = {}
    for name, one in value.items():
        found |= _leaves(one, f"{above}{name}.") if isinstance(one, dict) else {above + name: one}
    return found


_NAMED = 5
"""The maximum number of other documents to name if ranking moved a citation."""

Again = Callable[[], SavedAnswer | None]
"""Asks the older snapshot with the current settings."""


@dataclass
class Causes:
    """The causes of changes between two snapshots in the answers to one question."""

    older: Documents
    newer: Documents
    answers: tuple[SavedAnswer, SavedAnswer]
    papers: Collection[str]
    """The papers that either answer cites."""
    again: Again

    def of(self, older_id: str | None, newer_id: str | None, quote: str, *, gained: bool) -> Cause:
        """Return the cause of a citation's change. Ids are the paper's before and after, None where uncited."""
        paper_id = older_id or newer_id or ""
        return self.of_paper(paper_id) or self._elsewhere(paper_id, quote, gained=gained)

    def of_paper(self, paper_id: str) -> Cause | None:
        """Return the change of a document, or None if it did not change."""
        before, after = self.older.files.get(paper_id), self.newer.files.get(paper_id)
        if before is None or after is None:
            return self._came_or_went(paper_id, before, after)
        if paper_id in self.older.retracted ^ self.newer.retracted:
            now = paper_id in self.newer.retracted
            return Cause(kind="retracted" if now else "reinstated", paper_id=paper_id)
        if paper_id in self.newer.unread - self.older.unread:
            return Cause(kind="unreadable", paper_id=paper_id, detail="it can no longer be read")
        if before != after:
            return Cause(kind="edited", paper_id=paper_id)
        if self._corrected[0].get(paper_id) != self._corrected[1].get(paper_id):
            return Cause(kind="corrected", paper_id=paper_id)
        if self._texts[0].get(paper_id) != self._texts[1].get(paper_id):
            return self._reparsed(paper_id)
        return None

    def _came_or_went(self, paper_id: str, before: str | None, after: str | None) -> Cause | None:
        if before is None and after is None:
            return None
        other = self.newer.by_content.get(before or "") or self.older.by_content.get(after or "")
        known_to_both = other in self.older.files and other in self.newer.files
        if other is not None and not known_to_both:
            names = (paper_id, other) if after is None else (other, paper_id)
            return Cause(kind="renamed", paper_id=paper_id, detail=f"{names[0]} is now {names[1]}")
        return Cause(kind="added" if before is None else "removed", paper_id=paper_id)

    def _reparsed(self, paper_id: str) -> Cause:
        """Return the cause for an unchanged file with other parsed content: changed settings, or else other code."""
        names = settings_changed(self.older.manifest, self.newer.manifest, ("", ""))
        if names:
            return Cause(kind="settings", paper_id=paper_id, detail=", ".join(names))
        versions = self.older.manifest.code_version, self.newer.manifest.code_version
        told = f"Monjyu {versions[0]} and {versions[1]}" if versions[0] != versions[1] else "other code"
        return Cause(kind="reparsed", paper_id=paper_id, detail=f"the same file, read by {told}")

    def _elsewhere(self, paper_id: str, quote: str, *, gained: bool) -> Cause:
        names, others = self._settings, self.others
        if names and (not others or self._is_so_already(paper_id, quote, gained=gained)):
            return Cause(kind="settings", paper_id=paper_id, detail=", ".join(names))
        detail = "" if others else "no document changed: the index was rebuilt"
        return Cause(kind="ranking", paper_id=paper_id, documents=others[:_NAMED], detail=detail)

    def _is_so_already(self, paper_id: str, quote: str, *, gained: bool) -> bool:
        """Whether the older snapshot, asked with the current settings, already shows this change of the citation."""
        answer = self._asked_again
        return answer is not None and gained == any(
            one.paper_id == paper_id and one.quote == quote for one in answer.citations
        )

    @cached_property
    def others(self) -> list[str]:
        """The documents that were added, removed, changed or retracted, those that an answer cites first."""
        old, new = self.older.files, self.newer.files
        changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
        changed |= self.older.retracted ^ self.newer.retracted
        return sorted(changed, key=lambda name: (name not in self.papers, name))

    @cached_property
    def _settings(self) -> list[str]:
        asked = self.answers[0].settings, self.answers[1].settings
        return settings_changed(self.older.manifest, self.newer.manifest, asked)

    @cached_property
    def _asked_again(self) -> SavedAnswer | None:
        return self.again()

    @cached_property
    def _texts(self) -> tuple[dict[str, object], dict[str, object]]:
        return self.older.texts(self.papers), self.newer.texts(self.papers)

    @cached_property
    def _corrected(self) -> tuple[dict[str, object], dict[str, object]]:
        return self.older.corrected(self.papers), self.newer.corrected(self.papers)

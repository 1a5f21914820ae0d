"""The corrections of a collection: `data/index/<collection>/corrections.json`, next to its record.

They are an input, like the papers: runs read them, and no computation changes them. Only the publish after a move or a
deletion renames or drops them.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import BaseModel

from monjyu_core.errors import ConfigurationError
from monjyu_core.records.corrected_values import Field, Value, checked, checked_note
from monjyu_core.records.input_file import InputFile
from monjyu_core.remote.single_file import change_in_store
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder

MOST_PAPERS = 10_000
"""The maximum number of corrected papers of a collection: the file must be small, because it is read as a whole."""


class Correction(BaseModel):
    """The correction of one field. `at`: the time (ISO, UTC); `by`: the author, as named in the audit log (`key:ID`,
    `local`); `note`: the reason."""

    value: Value
    at: str
    by: str
    note: str = ""


Fields = dict[Field, Correction]


class CorrectedPaper(BaseModel):
    """The corrections of one paper. `sha256` is the file's hash when last seen, with which a moved paper is recognised.
    `name` is its file name if no other file of the collection had that name then; otherwise, and for a record, it is
    empty."""

    sha256: str = ""
    name: str = ""
    fields: Fields = {}


class PaperIdentity(NamedTuple):
    """How a paper is recognised: the hash of its bytes, and its file's name (empty for a record)."""

    sha256: str
    name: str = ""


class Corrections(BaseModel):
    """The corrections, by paper."""

    papers: dict[str, CorrectedPaper] = {}

    def applying(self, papers: Mapping[str, PaperIdentity]) -> dict[str, Fields]:
        """The corrections by paper id; `papers` must be all papers of the collection. Corrections of a missing paper
        apply to a paper with the same bytes (the file was moved), otherwise to the file of the same name if only one
        file had that name then and now (it was moved and edited)."""
        found = {paper_id: one.fields for paper_id, one in self.papers.items() if paper_id in papers}
        gone = {paper_id: one for paper_id, one in self.papers.items() if paper_id not in papers}
        if not gone:
            return found
        by_bytes, by_name = _first_with(papers, found), _alone(papers)
        for one in (gone[paper_id] for paper_id in sorted(gone)):
            new_id = by_bytes.pop(one.sha256, None) or by_name.pop(one.name, None)
            if new_id is not None and new_id not in found:
                found[new_id] = one.fields
        return found


def _first_with(papers: Mapping[str, PaperIdentity], taken: Mapping[str, Fields]) -> dict[str, str]:
    """For each hash of bytes, the first paper without corrections."""
    free = sorted((paper_id for paper_id in papers if paper_id not in taken), reverse=True)
    return {papers[paper_id].sha256: paper_id for paper_id in free}


def _alone(papers: Mapping[str, PaperIdentity]) -> dict[str, str]:
    """For each file name that only one file has, its paper."""
    counts = Counter(one.name for one in papers.values())
    return {one.name: paper_id for paper_id, one in papers.items() if one.name and counts[one.name] == 1}


CORRECTIONS = InputFile("corrections.json", Corrections)


def forget_corrections(folder: CollectionFolder, paper_id: str) -> None:
    """Remove the corrections of a purged paper and of every paper with the same bytes."""
    if CORRECTIONS.path(folder).is_file():
        others = lambda held: Corrections(papers={k: v for k, v in held.papers.items() if k != paper_id})  # noqa: E731
        CORRECTIONS.change(folder, others)


def settle_corrections(folder: CollectionFolder, papers: Mapping[str, PaperIdentity]) -> None:
    """Rename the corrections to the current papers, and drop those of missing papers."""

    def settled(held: Corrections) -> Corrections:
        kept, alone = held.applying(papers), set(_alone(papers).values())
        return Corrections(
            papers={
                one: CorrectedPaper(
                    sha256=papers[one].sha256, name=papers[one].name if one in alone else "", fields=kept[one]
                )
                for one in kept
            }
        )

    CORRECTIONS.change(folder, settled)


def hand_over(folder: CollectionFolder, kept: Mapping[str, Fields]) -> None:
    """Write the corrections that apply into a folder with a part of the papers. They have no hash and no name, so that
    they apply to no other paper."""
    papers = {paper_id: CorrectedPaper(fields=fields) for paper_id, fields in kept.items()}
    CORRECTIONS.change(folder, lambda held: Corrections(papers=papers))


def correct(
    folder: CollectionFolder,
    settings: Settings,
    paper_id: str,
    field: Field,
    value: object,
    *,
    seen: PaperIdentity,
    by: str,
    note: str = "",
) -> bool:
    """Store a correction of a paper (None removes one) and return whether that changes anything. It takes effect when
    the collection is indexed again. `seen` identifies the file as last seen, with its name only if no other file has
    it.

    Raises ConfigurationError for a value that the field does not accept, StorageError if the store's copy stays locked.
    """
    kept = None if value is None else checked(field, value)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = None if kept is None else Correction(value=kept, at=now, by=by, note=checked_note(note))
    changed = False

    def change(held: Corrections) -> Corrections:
        nonlocal changed
        before = held.papers.get(paper_id, CorrectedPaper()).fields.get(field)
        if (before and (before.value, before.note)) == (made and (made.value, made.note)):
            return held
        changed = True
        return _with(held, paper_id, seen, field, made)

    if not change_in_store(folder, settings, CORRECTIONS.name, lambda text: CORRECTIONS.changed(text, change)):
        CORRECTIONS.change(folder, change)
    return changed


def _with(held: Corrections, paper_id: str, seen: PaperIdentity, field: Field, made: Correction | None) -> Corrections:
    paper = held.papers.pop(paper_id, CorrectedPaper())
    paper.sha256, paper.name = seen
    if made is None:
        paper.fields.pop(field, None)
    else:
        paper.fields[field] = made
    if paper.fields:
        held.papers[paper_id] = paper
    if len(held.papers) > MOST_PAPERS:
        raise ConfigurationError(
            f"{MOST_PAPERS} papers already have corrections.", "Correct the files themselves, or remove corrections."
        )
    return held

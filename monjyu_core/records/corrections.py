"""The corrections of a collection: `data/index/<collection>/corrections.json`, beside its record.

They are an input, as the papers are: runs read them, and nothing that is computed changes them. Only the publish that
follows a move or a deletion names them anew, or drops them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from monjyu_core.records.corrected_values import Field, Value
from monjyu_core.records.input_file import InputFile
from monjyu_core.storage.folders import CollectionFolder

MOST_PAPERS = 10_000
"""Papers of a collection that can be corrected: the record is small, and read as a whole."""


class Correction(BaseModel):
    """`at`: when (ISO, UTC); `by`: who, as the audit log names them (`key:ID`, `local`); `note`: why."""

    value: Value
    at: str
    by: str
    note: str = ""


Fields = dict[Field, Correction]


class CorrectedPaper(BaseModel):
    """`sha256`: of the file when it was last seen, by which a paper that has moved is known again. `name`: of its file,
    if no other file of the collection had that name then; else, and of a record, empty."""

    sha256: str = ""
    name: str = ""
    fields: Fields = {}


class SeenPaper(NamedTuple):
    """What a paper of the manifest is known by: the hash of its bytes, and the name of its file (empty of a record)."""

    sha256: str
    name: str = ""


class Corrections(BaseModel):
    """By paper."""

    papers: dict[str, CorrectedPaper] = {}

    def applying(self, papers: Mapping[str, SeenPaper]) -> dict[str, Fields]:
        """The corrections of each of these papers, which are all of the collection, by id. Those of a paper that is
        gone go to one with the same bytes: the file has moved. If there is none, they go to the file of its name, where
        only one file had that name then and now: it has moved and was edited."""
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


def _first_with(papers: Mapping[str, SeenPaper], taken: Mapping[str, Fields]) -> dict[str, str]:
    """By the hash of its bytes the first paper that has no corrections of its own."""
    free = sorted((paper_id for paper_id in papers if paper_id not in taken), reverse=True)
    return {papers[paper_id].sha256: paper_id for paper_id in free}


def _alone(papers: Mapping[str, SeenPaper]) -> dict[str, str]:
    """By the name of its file the paper, where no other file has that name."""
    counts = Counter(one.name for one in papers.values())
    return {one.name: paper_id for paper_id, one in papers.items() if one.name and counts[one.name] == 1}


def _in_order(held: Corrections) -> Corrections:
    return Corrections(papers=dict(sorted(held.papers.items())))


CORRECTIONS = InputFile("corrections.json", Corrections, _in_order)


def corrections_path(folder: CollectionFolder) -> Path:
    return CORRECTIONS.path(folder)


def read_corrections(folder: CollectionFolder) -> Corrections:
    """StorageError where the file is damaged: computing without it would undo what people did."""
    return CORRECTIONS.read(folder)


def change_corrections(folder: CollectionFolder, change: Callable[[Corrections], Corrections]) -> None:
    """Write what `change` makes of them, where that is anything else; no file where there are none."""
    CORRECTIONS.change(folder, change)


def forget_corrections(folder: CollectionFolder, paper_id: str) -> None:
    """Of a purged paper, whatever has the same bytes."""
    if corrections_path(folder).is_file():
        others = lambda held: Corrections(papers={k: v for k, v in held.papers.items() if k != paper_id})  # noqa: E731
        change_corrections(folder, others)


def settle_corrections(folder: CollectionFolder, papers: Mapping[str, SeenPaper]) -> None:
    """Name them by the papers that there are, as they are now; those of papers that are gone go."""

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

    change_corrections(folder, settled)


def hand_over(folder: CollectionFolder, kept: Mapping[str, Fields]) -> None:
    """Give a folder that has not all papers the corrections that hold. They have no hash and no name, so that they go
    to no other paper."""
    papers = {paper_id: CorrectedPaper(fields=fields) for paper_id, fields in kept.items()}
    change_corrections(folder, lambda held: Corrections(papers=papers))

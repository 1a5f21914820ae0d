"""The corrections of a collection: `data/index/<collection>/corrections.json`, beside its record.

They are an input, as the papers are: runs read them, and nothing that is computed changes them. Only the publish that
follows a move or a deletion names them anew, or drops them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel

from monjyu_core.errors import ConfigurationError
from monjyu_core.records.input_file import InputFile
from monjyu_core.remote.single_file import change_in_store
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.text.unicode_words import has_controls

# Which fields of a paper can be corrected, and what may stand in each.


Field = Literal["title", "authors", "publication_date", "venue", "doi", "abstract", "language"]
FIELDS: tuple[Field, ...] = get_args(Field)
Value = str | list[str]
"""The names of the authors, in order; any other field is a text. An empty one says that the paper has none."""

MOST_AUTHORS = 1000
LONGEST = 20_000
"""Characters of the longest field, the abstract."""
_ALL_HAVE = ("title", "language")
_LENGTHS: dict[Field, int] = {"title": 1000, "authors": 200, "venue": 500, "doi": 250, "abstract": LONGEST}
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_BEFORE_DOI = re.compile(r"(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|doi:?\s*)", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2}", re.ASCII)
_FIRST, _LAST = 1500, 2099


def checked(field: Field, value: object) -> Value:
    """The value as it is kept: one line (an abstract may have several), NFC, no DOI's address. ConfigurationError for
    what the field cannot hold."""
    if field == "authors":
        if not isinstance(value, list) or not value or len(value) > MOST_AUTHORS:
            raise _wrong(field, f"a list of one to {MOST_AUTHORS} names")
        return [_text(field, name, needed=True) for name in value]
    text = _text(field, value, needed=field in _ALL_HAVE)
    return _CHECKS[field](text) if text and field in _CHECKS else text


def checked_note(note: str) -> str:
    return _text("abstract", note, needed=False)[:1000]


def _text(field: Field, value: object, *, needed: bool) -> str:
    if not isinstance(value, str):
        raise _wrong(field, "a text")
    text = unicodedata.normalize("NFC", value).replace("\r\n", "\n").strip()
    lines = text.split("\n") if field == "abstract" else [text]
    if has_controls(text) or any(unicodedata.category(sign) in ("Cc", "Cs", "Cn") for sign in "".join(lines)):
        raise _wrong(field, "a text without control characters")
    if needed and not text:
        raise _wrong(field, "not empty; `null` takes a correction back")
    most = _LENGTHS.get(field, 100)
    if len(text) > most:
        raise _wrong(field, f"of at most {most} characters")
    return text


def bare_doi(text: str) -> str | None:
    """A DOI without its address or `doi:`; None for what is not a DOI."""
    bare = _BEFORE_DOI.sub("", text.strip(), count=1)
    return bare if _DOI.fullmatch(bare) else None


def _doi(text: str) -> str:
    if (bare := bare_doi(text)) is None:
        raise _wrong("doi", "of the form 10.1234/abcd")
    return bare


def _date(text: str) -> str:
    found = _DATE.fullmatch(text)
    if (
        found is None
        or not _FIRST <= int(found[1]) <= _LAST
        or not _is_day(*(int(part or 1) for part in found.groups()))
    ):
        raise _wrong("publication_date", "a year, or a date as 2021-03 or 2021-03-05")
    return text


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _language(text: str) -> str:
    if not _LANGUAGE.fullmatch(text):
        raise _wrong("language", "a code of two letters, as en or ja")
    return text


_CHECKS: dict[str, Callable[[str], str]] = {"doi": _doi, "publication_date": _date, "language": _language}


def _wrong(field: Field, what: str) -> ConfigurationError:
    return ConfigurationError(f"`{field}` is to be {what}.", "Nothing was changed.")


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


# Correcting a field of a paper: here, and in the object store where collections are kept there.


def correct(
    folder: CollectionFolder,
    settings: Settings,
    paper_id: str,
    field: Field,
    value: object,
    *,
    seen: SeenPaper,
    by: str,
    note: str = "",
) -> bool:
    """Keep a correction of a paper (None takes one back); whether that changes anything. It is seen once the collection
    is indexed again. `seen` is what its file was last known by, its name only if no other file has it.

    ConfigurationError for a value that the field cannot hold, StorageError where the store's copy is held too long.
    """
    kept = None if value is None else checked(field, value)
    made = None if kept is None else Correction(value=kept, at=_now(), by=by, note=checked_note(note))
    changed = False

    def change(held: Corrections) -> Corrections:
        nonlocal changed
        before = held.papers.get(paper_id, CorrectedPaper()).fields.get(field)
        if (before and (before.value, before.note)) == (made and (made.value, made.note)):
            return held
        changed = True
        return _with(held, paper_id, seen, field, made)

    if not change_in_store(folder, settings, CORRECTIONS.name, lambda text: CORRECTIONS.changed(text, change)):
        change_corrections(folder, change)
    return changed


def _with(held: Corrections, paper_id: str, seen: SeenPaper, field: Field, made: Correction | None) -> Corrections:
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
            f"{MOST_PAPERS} papers are corrected already.", "Correct the files themselves, or remove corrections."
        )
    return held


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

"""The files of a collection's sources that are not indexed: of no readable type, or passed over for a reason.

One small file beside the record, written whole after each scan, so that it always says what the sources hold now: it
keys nothing, is no part of a snapshot, and makes no paper be parsed again.
"""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from monjyu_core.storage.folders import CollectionFolder, write_atomically

MOST_LISTED = 1000
"""Files of no readable type that are listed; all are counted."""
MOST_NAMED = 100
"""Files that are named for each reason to pass files over; all are counted."""
UNSUPPORTED = "UnsupportedDocument"

REASONS = {
    "hidden": "hidden files and folders",
    "system": "files of the system or of programs: locks, thumbnails, unfinished downloads",
    "settings": "settings of the collection",
    "companion": "bibliographies, styles, pictures and other files that belong to papers",
    "part": "LaTeX files that other papers include",
    "patterns": "files that the patterns of the source leave out",
    "link": "links that lead out of the source, to a folder, or nowhere",
    "special": "neither files nor folders",
    "unreadable": "folders that cannot be opened",
    "purged": "papers that were purged",
}
"""Why a file is passed over, in words."""


class UnsupportedFile(BaseModel):
    """A file of no readable type, in the shape of a failure; `message` says what to do."""

    source_path: str
    error_type: str = UNSUPPORTED
    message: str


class PassedOver(BaseModel):
    """How many files one reason holds for, and the first of them."""

    count: int = 0
    files: list[str] = []


class OtherFiles(BaseModel):
    """What a scan has met besides papers."""

    unsupported_count: int = 0
    unsupported: list[UnsupportedFile] = []
    skipped: dict[str, PassedOver] = {}

    def add(self, path: str, message: str) -> None:
        """A file of no readable type."""
        self.unsupported_count += 1
        if len(self.unsupported) < MOST_LISTED:
            self.unsupported.append(UnsupportedFile(source_path=path, message=message))

    def skip(self, reason: str, path: str) -> None:
        """A file, or a folder with all in it, for one of `REASONS`."""
        held = self.skipped.setdefault(reason, PassedOver())
        held.count += 1
        if len(held.files) < MOST_NAMED:
            held.files.append(path)

    @property
    def skipped_count(self) -> int:
        return sum(held.count for held in self.skipped.values())


def read_other_files(folder: CollectionFolder) -> OtherFiles:
    """As the last scan has left it; empty where there is none, or where it is damaged: the next scan writes it anew."""
    try:
        return OtherFiles.model_validate_json(folder.other_files.read_bytes())
    except (FileNotFoundError, ValidationError):
        return OtherFiles()


def save_other_files(folder: CollectionFolder, found: OtherFiles) -> None:
    """Write it where it says anything new."""
    if read_other_files(folder) != found:
        write_atomically(folder.other_files, found.model_dump_json().encode())


def describe_other_files(found: OtherFiles, *, most: int, reasons: bool) -> list[str]:
    """Lines for a person: up to `most` files of no readable type, and with `reasons` what was passed over."""
    lines = []
    if found.unsupported_count:
        lines.append(f"  unsupported {found.unsupported_count}: files of types that are not read")
        lines += [f"    {row.source_path}: {row.error_type}: {row.message}" for row in found.unsupported[:most]]
        left = found.unsupported_count - min(most, len(found.unsupported))
        lines += [f"    … and {left} more"] if left and most else []
    if reasons:
        for reason, held in sorted(found.skipped.items()):
            lines.append(f"  passed over {held.count}: {REASONS.get(reason, reason)}")
            lines += [f"    {path}" for path in held.files]
            lines += [f"    … and {held.count - len(held.files)} more"] if held.count > len(held.files) else []
    return lines

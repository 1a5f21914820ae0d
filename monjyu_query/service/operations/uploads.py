"""Stores uploaded files. Names are made safe, types are checked by extension and first bytes, and a file is written
completely or not at all."""

import os
import re
import shutil
import unicodedata
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Literal

from pydantic import BaseModel

import monjyu_core
from monjyu_core.storage.folders import DataFolder, remove_dead_temporaries, temporary_for
from monjyu_core.storage.ids import file_sha256
from monjyu_query.service.server.error_responses import Conflict

_TEXTS = (".md", ".txt", ".jsonl", ".html", ".htm", ".xhtml", ".xml", ".nxml", ".tex", ".tar", ".bib", ".bbl")
KINDS: dict[str, bytes] = {
    ".pdf": b"%PDF",
    **dict.fromkeys((".docx", ".pptx", ".zip"), b"PK\x03\x04"),
    **dict.fromkeys((".gz", ".tgz"), b"\x1f\x8b"),
    **dict.fromkeys(_TEXTS, b""),
}
"""Extensions that may be uploaded, with the first bytes of such a file (for a PDF within its first kilobyte)."""
_HEAD = 1024
_LONGEST_STEM = 100
_UNWANTED = re.compile(r"[^\w.()+ -]+")


class Stored(BaseModel):
    """An uploaded file. `name` is its stored name, or the end of the given name if the file was refused."""

    name: str
    bytes: int = 0
    sha256: str | None = None
    outcome: Literal["added", "replaced", "unchanged", "refused"]
    message: str = ""


def store_uploads(folder: Path, files: Iterable[tuple[str, IO[bytes]]], *, replace: bool) -> list[Stored]:
    """Store the files one by one. Raises Conflict if none could be stored."""
    remove_dead_temporaries(folder)
    done: list[Stored] = []
    for given, content in files:
        try:
            done.append(store_upload(folder, given, content, replace=replace))
        except Conflict as error:
            done.append(Stored(name=given[-_LONGEST_STEM:], outcome="refused", message=str(error)))
    if all(one.outcome == "refused" for one in done):
        raise Conflict(" ".join(one.message for one in done))
    return done


def safe_name(given: str) -> str:
    """Return the last part of a Unix or Windows path, with unusual characters replaced and the extension in lower case.
    Raises Conflict for a type that cannot be indexed."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given.encode("utf-8", "replace").decode()))[-1]
    stem, dot, ending = last.rpartition(".")
    kind = f".{ending.lower()}" if dot else ""
    if kind not in KINDS:
        raise Conflict(f"{last[:100]!r} has a type that cannot be indexed.", f"Known types: {' '.join(KINDS)}.")
    stem = _UNWANTED.sub("-", stem).strip(" .-_")[:_LONGEST_STEM].strip(" .-_")
    return f"{stem or 'paper'}{kind}"


def store_upload(folder: Path, given: str, content: IO[bytes], *, replace: bool) -> Stored:
    """Write a file into the folder. Raises Conflict if its type does not fit its content, or if a file with other
    content has its name and may not be replaced."""
    name = safe_name(given)
    _check_kind(name, content)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    temporary = temporary_for(path)
    try:
        with temporary.open("xb") as file:
            shutil.copyfileobj(content, file)
            file.flush()
            os.fsync(file.fileno())
        sha256, size = file_sha256(temporary), temporary.stat().st_size
        there = path.is_file() and not path.is_symlink()
        if there and file_sha256(path) == sha256:
            return Stored(name=name, bytes=size, sha256=sha256, outcome="unchanged")
        if path.exists() and not (there and replace):
            raise Conflict(f"Another file is named {name}.", "Choose another name, or send replace=true.")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return Stored(name=name, bytes=size, sha256=sha256, outcome="replaced" if there else "added")


def _check_kind(name: str, content: IO[bytes]) -> None:
    """Raise Conflict for an empty file, or one whose first bytes do not fit its extension."""
    head = content.read(_HEAD)
    content.seek(0)
    begins = KINDS[Path(name).suffix]
    found = begins in head if name.endswith(".pdf") else head.startswith(begins)
    if not head or not found:
        raise Conflict(f"{name} is empty, or its content does not fit its extension.", "It was not stored.")


# The sample papers of the source tree, which a user can index for a first look.
SAMPLES = "samples"
_FOLDER = Path(monjyu_core.__file__).resolve().parents[1] / "data" / "samples" / "papers"


def bring_in(data: DataFolder) -> None:
    """Copy the sample papers to the upload folder, unless the collection `samples` exists. Raises Conflict if this
    installation has no samples."""
    papers = sorted(path for path in _FOLDER.glob("*") if path.suffix in KINDS)
    if not papers:
        raise Conflict("This installation has no sample papers.", "Upload some of your own.")
    if not data.collection(SAMPLES).record.is_file():
        with ExitStack() as opened:
            files = [(path.name, opened.enter_context(path.open("rb"))) for path in papers]
            store_uploads(data.papers / SAMPLES, files, replace=True)

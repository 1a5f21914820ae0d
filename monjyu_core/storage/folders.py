"""Locations in a data folder, and writing files and folders there so that readers never see half of one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import socket
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.settings.settings import data_folder
from monjyu_core.storage.ids import check_collection_name

LANCE = "lance"
"""The folder of a snapshot with its Lance tables."""
DATABASE = "index.duckdb"
"""The database of a snapshot, in the snapshot's folder."""


@dataclass(frozen=True)
class CollectionFolder:
    """The outputs of one collection: `data/index/<collection>/`."""

    root: Path

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def parts(self) -> Path:
        return self.root / "parts"

    @property
    def search(self) -> Path:
        """The folder with vectors and full text of the chunks, in files that never change."""
        return self.root / "search"

    @property
    def lance(self) -> Path:
        """The folder with approximate indexes of the vectors, for large collections only."""
        return self.root / "lance"

    @property
    def snapshots(self) -> Path:
        return self.root / "snapshots"

    def snapshot(self, snapshot_id: str) -> Path:
        return self.snapshots / snapshot_id

    def tables(self, snapshot_id: str) -> Path:
        """The Lance tables of a snapshot, for `lancedb.connect`."""
        return self.snapshot(snapshot_id) / LANCE

    def database(self, snapshot_id: str) -> Path:
        return self.snapshot(snapshot_id) / DATABASE

    @property
    def sources(self) -> Path:
        return self.root / "sources"

    @property
    def analyses(self) -> Path:
        """The folder of a paid service's results, by the hashes of the sources."""
        return self.root / "analyses"

    @property
    def current(self) -> Path:
        return self.root / "CURRENT"

    @property
    def hold(self) -> Path:
        return self.root / "HOLD"

    @property
    def at_work(self) -> Path:
        """Exists while a command runs Dagster; a killed command leaves it behind."""
        return self.root / "AT_WORK"

    @property
    def other_files(self) -> Path:
        """The file that lists the files of the sources that are not papers, as of the last scan."""
        return self.root / "other_files.json"

    @property
    def renamed(self) -> Path:
        """The current ids of renamed files."""
        return self.root / "renamed.json"

    @property
    def record(self) -> Path:
        return self.root / "collection.json"


@dataclass(frozen=True)
class DataFolder:
    """A data folder: sources in `papers/`, outputs in `index/`, the rest in `state/`.

    `only`: the collections that the caller may see (None = all); others do not exist for the caller.
    """

    root: Path
    only: frozenset[str] | None = None

    @classmethod
    def default(cls) -> DataFolder:
        return cls(data_folder())

    @property
    def papers(self) -> Path:
        return self.root / "papers"

    @property
    def index(self) -> Path:
        return self.root / "index"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def dagster(self) -> Path:
        return self.root / "state" / "dagster"

    def collection(self, name: str) -> CollectionFolder:
        """The folder of a collection. Raises ConfigurationError for an invalid name and, before any look-up, for a
        collection that the caller may not see."""
        folder = CollectionFolder(self.index / check_collection_name(name))
        if self.only is not None and name not in self.only:
            known = ", ".join(self.collections()) or "none"
            raise ConfigurationError(f"Collection {name!r} is not published here.", f"Known: {known}.")
        return folder

    def collections(self) -> list[str]:
        """Sorted names of the collections published here, without those whose first run has not ended."""
        if not self.index.is_dir():
            return []
        published = (path.parent for path in self.index.glob("[!.]*/CURRENT"))
        found = sorted(folder.name for folder in published if CollectionFolder(folder).record.is_file())
        return [name for name in found if self.only is None or name in self.only]

    def seen_by(self, collections: frozenset[str] | None) -> DataFolder:
        """The same folder for a caller who may see only `collections`; None = all."""
        return replace(self, only=collections)


def link_or_copy(source: Path, target: Path) -> None:
    """Put a file that never changes at another path too: as a hard link, or as a copy if the disk supports none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def write_atomically(path: Path, content: bytes) -> None:
    """Write through a temporary file: readers see the old content or the new one, even after a crash."""
    temporary = temporary_for(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Check free space and permissions; nothing is lost.",
        ) from error


def temporary_for(path: Path) -> Path:
    """A name next to `path` with the writing process in it, so that a dead process's file can be removed."""
    return path.with_name(f".{path.name}.{host_id()}-{os.getpid()}-{uuid.uuid4().hex[:12]}.tmp")


GONE = ".gone-"
"""Prefix of a folder that is being removed."""


def remove_folder(folder: Path) -> None:
    """Rename a folder to a hidden name, then remove it, so that a killed process leaves no partial folder;
    `remove_leftovers` removes the remains."""
    gone = folder.with_name(f"{GONE}{folder.name}-{uuid.uuid4().hex[:12]}")
    folder.rename(gone)
    _remove(gone)


def remove_leftovers(parent: Path) -> set[str]:
    """Remove what killed processes left of folders inside `parent`; return the names of these folders."""
    found = list(parent.glob(f"{GONE}*"))
    for path in found:
        _remove(path)
    return {path.name.removeprefix(GONE).rpartition("-")[0] for path in found}


def _remove(folder: Path) -> None:
    """Remove a folder that another process may be removing too."""
    while folder.exists():
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder; files that vanish meanwhile do not count."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def remove_dead_temporaries(root: Path) -> None:
    """Remove unfinished files of killed processes of this host."""
    for path in root.rglob(".*.tmp"):
        if owner_is_dead(path.name.removesuffix(".tmp").rpartition(".")[2]):
            path.unlink(missing_ok=True)


def host_id() -> str:
    """A short name of this host (or container), for names that identify the writing process."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def new_owner() -> str:
    """A unique name of host and process, from which other processes of the host can determine whether it still runs."""
    return f"{host_id()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"


def owner_is_dead(owner: str) -> bool:
    """Whether the owner was a process of this host that no longer runs; owners on other hosts are unknown."""
    host, _, rest = owner.partition("-")
    process = rest.partition("-")[0]
    return host == host_id() and process.isdigit() and not alive(int(process))


def alive(process: int) -> bool:
    """Whether a process of this host runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def sync_folder(path: Path) -> None:
    """Make renames inside a folder durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# The files of a collection's sources that are not indexed: those of unsupported types, and those skipped for a reason.
# One small file next to the record, rewritten after each scan, so that it always describes the current sources. No key
# depends on it, it is not part of a snapshot, and it causes no paper to be parsed again.
MOST_LISTED = 1000
"""The number of unreadable files that are listed; all are counted."""
MOST_NAMED = 100
"""The number of files listed for each reason to skip files; all are counted."""
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
"""The reasons for which files are skipped, as texts."""


class UnsupportedFile(BaseModel):
    """A file of no readable type, as a failure; `message` contains the advice."""

    source_path: str
    error_type: str = UNSUPPORTED
    message: str


class PassedOver(BaseModel):
    """The number of files skipped for one reason, and the first of them."""

    count: int = 0
    files: list[str] = []


class OtherFiles(BaseModel):
    """The files of the sources that are not papers."""

    unsupported_count: int = 0
    unsupported: list[UnsupportedFile] = []
    skipped: dict[str, PassedOver] = {}

    def add(self, path: str, message: str) -> None:
        """Record a file of no readable type."""
        self.unsupported_count += 1
        if len(self.unsupported) < MOST_LISTED:
            self.unsupported.append(UnsupportedFile(source_path=path, message=message))

    def skip(self, reason: str, path: str) -> None:
        """Record a skipped file, or folder with its content, with one of `REASONS`."""
        held = self.skipped.setdefault(reason, PassedOver())
        held.count += 1
        if len(held.files) < MOST_NAMED:
            held.files.append(path)

    @property
    def skipped_count(self) -> int:
        return sum(held.count for held in self.skipped.values())


def read_other_files(folder: CollectionFolder) -> OtherFiles:
    """The last scan's list of other files; empty if it is missing or damaged, because the next scan writes it again."""
    try:
        return OtherFiles.model_validate_json(folder.other_files.read_bytes())
    except (FileNotFoundError, ValidationError):
        return OtherFiles()


def save_other_files(folder: CollectionFolder, found: OtherFiles) -> None:
    """Write the result if it has changed."""
    if read_other_files(folder) != found:
        write_atomically(folder.other_files, found.model_dump_json().encode())


def describe_other_files(found: OtherFiles, *, most: int, reasons: bool) -> list[str]:
    """Lines for a person: up to `most` files of unsupported types, and with `reasons` the skipped files."""
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

"""The imported content of a library: a folder in `papers/<collection>/` with its files (hard links if possible), a file
with one record per line for works without a file, and `.library.json` with the library's data about each work."""

import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from monjyu_assets.scholarly.record import ScholarlyRecord
from monjyu_assets.sources.records import rules_of, source_root
from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.storage.collection import CollectionRecord
from monjyu_core.storage.folders import DataFolder, temporary_for, write_atomically
from monjyu_core.storage.ids import digest, file_paper_id
from monjyu_core.values import Values

MOST_ITEMS = 100_000
MOST_FILES = 200
"""The maximum number of files per item."""
LARGEST_FILE = 512 * 2**20
"""The maximum size in bytes of the file that contains a library."""
_DEEPEST_SHELF, _LONGEST_SHELF = 50, 500
"""The maximum depth of a shelf (the top levels of deeper ones are cut), and number of characters in its path."""


@dataclass(frozen=True)
class LibraryItem:
    """A work of a library. `key` is the permanent id that the program gives it. `files` are those of a readable type in
    the library or its folder of linked files, the best one first. `outside` is the number of files that are elsewhere
    or missing."""

    key: str
    record: ScholarlyRecord
    files: tuple[Path, ...] = ()
    outside: int = 0


def own_files(
    root: Path, named: list[Path], readable: tuple[str, ...], linked: Path | None = None
) -> tuple[tuple[Path, ...], int]:
    """The files in `named` that have a readable type and are inside the folder `root` or `linked`, PDFs first and
    supplements last; and the number of those with a readable type that are elsewhere or missing."""
    types = [path for path in named[:MOST_FILES] if path.suffix.lower() in readable]
    bases = [folder.resolve() for folder in (root, linked) if folder is not None]
    inside = [path for path in types if _is_inside(path, bases)]
    inside.sort(key=lambda path: ("suppl" in path.name.lower(), readable.index(path.suffix.lower())))
    return tuple(inside), len(types) - len(inside)


def _is_inside(path: Path, bases: list[Path]) -> bool:
    """Whether a path is a file inside one of `bases`; False for a name that no file system accepts."""
    try:
        return path.is_file() and any(map(path.resolve().is_relative_to, bases))
    except (OSError, ValueError, RuntimeError):
        return False


def shelf_paths(shelves: Mapping[Any, tuple[str, Any]], gone: Collection[object] = ()) -> dict[Any, str]:
    """The path of each shelf, such as `Thesis/Chapter 2`, from its name and the key of the shelf above it. Shelves in
    `gone`, or inside one of them, are omitted."""
    paths = {}
    for key in shelves:
        names, at = dict[Any, str](), key
        while at in shelves and at not in names and len(names) < _DEEPEST_SHELF:
            name, above = shelves[at]
            names[at], at = name.replace("/", "∕"), above
        if not names.keys() & gone:
            paths[key] = "/".join(reversed(names.values()))[:_LONGEST_SHELF]
    return paths


STATE = ".library.json"
RECORDS = "records.jsonl"


@dataclass(frozen=True)
class ImportedWork:
    """An imported work. `name` is that of its file in the folder; a work without a file has the id `record_id`."""

    name: str | None
    record_id: str
    record: ScholarlyRecord


class Synced(BaseModel):
    """The result of an import: the numbers of changed works. `with_file` counts works with a readable file, `outside`
    files that are elsewhere or missing, `unreadable` entries that have no title or could not be read."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    with_file: int = 0
    outside: int = 0
    unreadable: int = 0


def folder_for(data: DataFolder, collection: str, library: Path, stem: str) -> Path:
    """The folder of a library in a collection: the existing one, or a new one named `stem`."""
    base = data.papers / collection
    for state in sorted(base.glob(f"*/{STATE}")):
        if _state(state).get("library") == str(library):
            return state.parent
    stem = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-")[:40] or "library"
    names = (stem, *(f"{stem}-{number}" for number in range(2, 1000)))
    return next(base / name for name in names if not (base / name).exists())


def sync_folder(
    folder: Path, library: Path, items: Sequence[LibraryItem], excluded: Sequence[str], salt: str, mark: str = ""
) -> Synced:
    """Synchronise a folder with the works `items` of `library`. Everything is written before anything is removed, so
    that the next import completes a killed one. Works whose paper id is in `excluded` (purged) are skipped. `mark`
    identifies the state of the library."""
    before = {item.name or item.record_id: item for item in library_items(folder)}
    titled = [item for item in items if item.record.title]
    kept, done = {}, Synced(outside=sum(item.outside for item in items), unreadable=len(items) - len(titled))
    folder.mkdir(parents=True, exist_ok=True)
    for item in titled:
        entry = _entry(folder, item)
        place = entry.name or entry.record_id
        if place in kept or _paper_id(folder, entry, salt) in excluded:
            continue
        changed = bool(entry.name) and _brought(item.files[0], folder / str(entry.name))
        kept[place] = entry
        done.with_file += entry.name is not None
        old = before.get(place)
        if old is None:
            done.added += 1
        elif changed or old != entry:
            done.updated += 1
        else:
            done.unchanged += 1
    done.removed = len(before.keys() - kept.keys())
    _write(folder, {"library": str(library), "mark": mark}, list(kept.values()))
    return done


def forget_excluded(data: DataFolder, record: CollectionRecord) -> None:
    """Remove everything that was imported about purged papers: files, records and metadata."""
    for state in (data.papers / record.name).glob(f"*/{STATE}"):
        items = library_items(state.parent)
        salt = salt_of(record, state.parent)
        stay = [item for item in items if _paper_id(state.parent, item, salt) not in record.excluded]
        if len(stay) < len(items):
            _write(state.parent, _state(state), stay)


def library_records(
    data: DataFolder, record: CollectionRecord, *, with_file: bool = False
) -> Iterator[tuple[str, ScholarlyRecord]]:
    """Yield the paper id and the library's record of each imported work, or only of those with a file."""
    for state in library_states(data, record.name):
        salt = salt_of(record, state.parent)
        for item in library_items(state.parent):
            if item.name is None and with_file:
                continue
            yield _paper_id(state.parent, item, salt), item.record


def mark_of(data: DataFolder, collection: str, library: Path) -> str:
    """The mark of a library at its last import into a collection; "" if there was none."""
    states = map(_state, library_states(data, collection))
    return next((str(state.get("mark", "")) for state in states if state.get("library") == str(library)), "")


def library_states(data: DataFolder, collection: str) -> list[Path]:
    return sorted((data.papers / collection).glob(f"*/{STATE}"))


def library_items(folder: Path) -> list[ImportedWork]:
    """The works of a library's folder. Raises StorageError if it is damaged."""
    try:
        return _KEPT.validate_python(_state(folder / STATE).get("items", []))
    except ValidationError:
        raise _damaged(folder / STATE) from None


_KEPT = TypeAdapter(list[ImportedWork])


def salt_of(record: CollectionRecord, folder: Path) -> str:
    """The salt of the source that contains the folder; "" if none does."""
    holds = [
        rules.salt for source, rules in rules_of(record).items() if folder.is_relative_to(source_root(Path(source)))
    ]
    return holds[0] if holds else ""


def _paper_id(folder: Path, item: ImportedWork, salt: str) -> str:
    return file_paper_id(f"{folder.name}/{item.name}", salt) if item.name else item.record_id


def _entry(folder: Path, item: LibraryItem) -> ImportedWork:
    """The imported work of an item. Its name is from the key, so that the paper's id survives changes."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", item.key).strip("-.")[:60]
    if stem != item.key:
        stem = f"{stem}-{digest(item.key, length=8)}".lstrip("-")
    name = f"{stem}{item.files[0].suffix.lower()}" if item.files else None
    return ImportedWork(name, file_paper_id(f"{folder.name}/{stem}.pdf"), item.record)


def _brought(source: Path, target: Path) -> bool:
    """Link or copy a file; return False if it is already there unchanged."""
    if target.is_file():
        there, here = source.stat(), target.stat()
        if os.path.samestat(there, here) or (there.st_size, there.st_mtime_ns) == (here.st_size, here.st_mtime_ns):
            return False
    temporary = temporary_for(target)
    try:
        try:
            os.link(source.resolve(), temporary)
        except OSError:  # another file system, or one without links
            shutil.copy2(source, temporary)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"{source} cannot be copied: {error.strerror or error}.", "Import again.") from error
    return True


def _write(folder: Path, about: Mapping[str, object], items: list[ImportedWork]) -> None:
    alone = [item for item in items if item.name is None]
    if alone:
        write_atomically(folder / RECORDS, "".join(map(_line, alone)).encode())
    state = {"library": "", **about, "items": [asdict(item) for item in items]}
    write_atomically(folder / STATE, json.dumps(state, ensure_ascii=False, indent=0).encode())
    wanted = {STATE, *(item.name for item in items), *([RECORDS] if alone else [])}
    for path in folder.iterdir():
        if path.name not in wanted and path.is_file():
            path.unlink()


def _line(item: ImportedWork) -> str:
    """A work without a file as a line of JSON, which is indexed like a paper, with its title and abstract."""
    said = item.record
    metadata = {"venue": said.venue, "arxiv_id": said.arxiv_id, "keywords": list(said.tags)}
    record: Values = {
        "id": item.record_id,
        "title": said.title,
        "text": said.abstract or "",
        "authors": list(said.authors),
        "year": said.year,
        "doi": said.doi,
        "metadata": {name: value for name, value in metadata.items() if value},
    }
    return json.dumps({name: value for name, value in record.items() if value is not None}, ensure_ascii=False) + "\n"


def _state(path: Path) -> Values:
    if not path.is_file():
        return {}
    try:
        state = json.loads(path.read_bytes())
    except (OSError, ValueError):
        raise _damaged(path) from None
    if not isinstance(state, dict):
        raise _damaged(path)
    return state


def _damaged(path: Path) -> StorageError:
    return StorageError(f"{path} is damaged.", "Delete it and import the library again.")


def check_library(path: Path) -> Path:
    """The absolute path of a library. Raises ConfigurationError if nothing is there."""
    path = path.expanduser().absolute()
    if not path.exists():
        raise ConfigurationError(f"{path} does not exist.", "Name Zotero's data folder or an exported file.")
    return path

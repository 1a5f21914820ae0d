"""Scans sources into rows of the manifest, with a stable id and a content hash for each paper, without parsing; and
parses files for `monjyu parse`."""

import hashlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.parsing.bibliography.companions import companion_files, joined_sha256
from monjyu_assets.parsing.sandbox.pool import Outcome, ParserPool, Task
from monjyu_assets.sources.records import rules_of, source_root
from monjyu_assets.sources.walking import ALL_TYPES, DOCUMENT_TYPES, ending_of, readable_types, walk, way_for
from monjyu_core.errors import (
    ConfigurationError,
    DocumentError,
    IndexBuildError,
    MalformedDocument,
    UnsupportedDocument,
)
from monjyu_core.settings.settings import PublishSettings, load_settings, parser_settings
from monjyu_core.storage.collection import CollectionRecord
from monjyu_core.storage.folders import OtherFiles
from monjyu_core.storage.ids import digest, file_paper_id
from monjyu_core.storage.rows_papers import ManifestRow
from monjyu_core.storage.schemas import table_of
from monjyu_core.values import Values

WHOLE_FILES = frozenset(ALL_TYPES.values()) - {"jsonl"}
DUPLICATE, UNREADABLE = "duplicate", "unreadable"
Say = Callable[[str], None]
Count = Callable[[int, int], None]
"""Called with (files done, total). The total is 0 while files are still being found."""


@dataclass(frozen=True)
class SourceFile:
    """A document: its path, its path within the folder `root` of its source, and the salt that distinguishes its id
    from those of other sources."""

    path: Path
    relative: str
    salt: str
    root: Path


def find_files(
    record: CollectionRecord,
    say: Say = lambda text: None,
    count: Count = lambda done, total: None,
    others: OtherFiles | None = None,
    types: Mapping[str, str] = DOCUMENT_TYPES,
) -> list[SourceFile]:
    """All documents of `types` that the rules of a collection's sources select, without duplicates, in path order. Ids
    are derived from the path inside the source, so a copied folder has the same ids; a second source has a salt. All
    other files are added to `others`. `say` is called with a message about LaTeX files that are parts of other papers.
    """
    others = OtherFiles() if others is None else others
    files: dict[Path, SourceFile] = {}
    for source, rules in ((Path(name), kept) for name, kept in rules_of(record).items()):
        root = source_root(source)
        inside = len(f"{root}".rstrip("/")) + 1
        for path in walk(source, rules, others, types):
            files.setdefault(path, SourceFile(path, str(path)[inside:], rules.salt, root))
            count(len(files), 0)
    if pieces := others.skipped.get("part"):
        roots = [source_root(Path(source)) for source in record.sources]
        named = ", ".join(_inside(roots, path) for path in pieces.files[:3]) + (", …" if pieces.count > 3 else "")
        say(f"Skipped as parts of other papers ({pieces.count} .tex without \\documentclass): {named}")
    return sorted(files.values(), key=lambda file: (bool(file.salt), file.relative, file.salt))


def _inside(roots: Sequence[Path], path: str) -> str:
    return next(Path(path).relative_to(root).as_posix() for root in roots if Path(path).is_relative_to(root))


def scan(
    record: CollectionRecord,
    previous: pa.Table,
    *,
    allow_missing: bool = False,
    say: Say = lambda text: None,
    count: Count = lambda done, total: None,
    others: OtherFiles | None = None,
    types: Mapping[str, str] = DOCUMENT_TYPES,
) -> pa.Table:
    """The manifest of all sources. Files with the size and time recorded in `previous` are not read again. All other
    files of the sources are added to `others`.

    Raises IndexBuildError if a source is missing and `previous` has papers of it or is empty, unless `allow_missing`.
    """
    known = _known(previous)
    excluded = set(record.excluded)
    rows: dict[str, ManifestRow] = {}
    others = OtherFiles() if others is None else others
    files = find_files(_readable(record, previous, allow_missing, say), say, count, others, types)
    for done, file in enumerate(files, start=1):
        count(done, len(files))
        try:
            beside = companion_files(file.path, file.root)
            stats = [path.stat() for path in (file.path, *beside)]
        except OSError:  # it was removed after the walk, or its path is too long for a system call
            others.skip("unreadable", str(file.path))
            continue
        for row in _rows_of(file, beside, stats, known):
            if row["paper_id"] in rows:
                row = _as_duplicate(row)
            if row["paper_id"] in excluded:
                others.skip("purged", row["source_path"])
            else:
                rows[row["paper_id"]] = row
    return table_of("manifest", list(rows.values()))


def _readable(record: CollectionRecord, previous: pa.Table, allow_missing: bool, say: Say) -> CollectionRecord:
    """The record without missing sources. `say` is called with a message about each, which names the commands to move
    or remove it. Raises IndexBuildError if `previous` has papers of a missing source or is empty."""
    gone = [source for source in record.sources if not Path(source).exists()]
    for source in gone:
        quoted = shlex.quote(source)
        ways = (
            f"`monjyu sources move {quoted} NEW -c {record.name}` sets its new location, "
            f"`monjyu sources remove {quoted} -c {record.name}` removes it for good"
        )
        harm = previous.num_rows == 0 or pc.any(papers_under(previous, source)).as_py()
        if harm and not allow_missing:
            hint = f"Restore it; or {ways}; --allow-deletes drops its papers until it is back."
            raise IndexBuildError(f"Source {source} cannot be read.", hint)
        say(f"Source {source} cannot be read, so none of its papers is indexed. Restore it; or {ways}.")
    kept = [source for source in record.sources if source not in gone]
    return record.model_copy(update={"sources": kept, "rules": rules_of(record)})


def papers_under(manifest: pa.Table, source: str) -> pa.ChunkedArray:
    """Whether each row of a manifest belongs to `source`, a folder or a file."""
    paths = manifest["source_path"]
    return pc.or_(pc.equal(paths, source), pc.starts_with(paths, f"{source.rstrip('/')}/"))


def _known(previous: pa.Table) -> dict[tuple[str, int], list[ManifestRow]]:
    """The rows of the previous manifest by path and modification time."""
    known: dict[tuple[str, int], list[ManifestRow]] = {}
    for row in previous.to_pylist():
        known.setdefault((row["source_path"], row["mtime_ns"]), []).append(row)
    return known


def _rows_of(
    file: SourceFile,
    beside: Sequence[Path],
    stats: Sequence[os.stat_result],
    known: dict[tuple[str, int], list[ManifestRow]],
) -> list[ManifestRow]:
    size, mtime_ns = sum(stat.st_size for stat in stats), max(stat.st_mtime_ns for stat in stats)
    before = known.get((str(file.path), mtime_ns), [])
    document_type = ALL_TYPES[ending_of(file.path)]
    paper_id = file_paper_id(file.relative, file.salt)
    if document_type == "jsonl":
        return before if _cover_file(before, size) else record_rows(file.path, paper_id, mtime_ns)
    unchanged = [row for row in before if row["paper_id"] == paper_id and row["size"] == size]
    if unchanged and unchanged[0]["document_type"] != UNREADABLE:
        return unchanged
    try:
        sha256 = joined_sha256(file.path, beside)
    except OSError:  # reported by a failure of the paper; the scan continues
        sha256, document_type = digest(UNREADABLE, mtime_ns, length=64), UNREADABLE
    return [
        {
            "paper_id": paper_id,
            "sha256": sha256,
            "document_type": document_type,
            "size": size,
            "record": None,
            "source_path": str(file.path),
            "mtime_ns": mtime_ns,
            "offset": None,
        }
    ]


def _cover_file(rows: list[ManifestRow], size: int) -> bool:
    """Whether the rows cover their file to its end, and none was renamed because of an id in another file."""
    return (
        bool(rows)
        and 0 <= size - max((row["offset"] or 0) + row["size"] for row in rows) <= len(b"\r\n")
        and all(row["document_type"] != DUPLICATE for row in rows)
    )


def record_rows(path: Path, file_id: str, mtime_ns: int = 0) -> list[ManifestRow]:
    """The rows of a file of records, one per line. A line without a readable id gets an id from its number, so that its
    failure can be shown."""
    from monjyu_assets.parsing.text.jsonl_records import read_records

    with path.open("rb") as file:
        return [
            {
                "paper_id": line.record["id"] if line.record else f"{file_id}-line-{line.line}",
                "sha256": _hash_range(file, line.offset, line.size),
                "document_type": "jsonl",
                "size": line.size,
                "source_path": str(path),
                "mtime_ns": mtime_ns,
                "record": line.line,
                "offset": line.offset,
            }
            for line in read_records(path)
        ]


def _hash_range(file: BinaryIO, offset: int, size: int) -> str:
    hasher = hashlib.sha256()
    file.seek(offset)
    while size > 0 and (block := file.read(min(size, 2**20))):
        hasher.update(block)
        size -= len(block)
    return hasher.hexdigest()


def _as_duplicate(row: ManifestRow) -> ManifestRow:
    suffix = digest(row["source_path"].rsplit("/", 1)[-1], row["record"], row["sha256"], length=8)
    return {**row, "paper_id": f"{row['paper_id']}~{suffix}", "document_type": DUPLICATE}


def guard_deletes(old: set[str], new: set[str], limits: PublishSettings, *, allow: bool) -> None:
    """Raise IndexBuildError if a scan would delete too many papers: an unmounted disk must not empty an index."""
    gone = len(old - new)
    if allow or not gone:
        return
    emptied = not new
    if emptied or (gone > limits.delete_papers and gone > limits.delete_share * len(old)):
        raise IndexBuildError(
            f"{gone} of {len(old)} papers are no longer in the sources; is a disk or folder missing?",
            "If they should be deleted, run again with --allow-deletes. Nothing was changed.",
        )


def check_source(source: Path, types: Mapping[str, str] = DOCUMENT_TYPES) -> Path:
    """The absolute path of a source to index. Raises ConfigurationError if it is missing or of an unknown type."""
    source = source.expanduser().absolute()
    if not source.exists():
        raise ConfigurationError(f"{source} does not exist.", "Name a folder of papers or a file.")
    if source.is_file() and ending_of(source) not in types:
        raise ConfigurationError(f"{source.name} has a type that cannot be indexed.", way_for(source))
    return source


def parse_files(files: Sequence[Path], document_type: str | None = None) -> Iterator[Values]:
    """Parse files in parser processes. Yield one paper as `monjyu parse` prints it, or `{"source_path", "error"}`, for
    each file (each line of a JSONL file), in the given order. The type of the files is `document_type`, one of the
    values of `ALL_TYPES`, if it is given, otherwise that of their suffix."""
    waiting: dict[int, Values] = {}
    tasks: list[Task] = []
    for path in files:
        if refused := _no_file(path, document_type):
            waiting[len(waiting) + len(tasks)] = refused
        else:
            tasks += [
                task | {"number": len(waiting) + len(tasks) + ahead}
                for ahead, task in enumerate(_tasks(path, document_type))
            ]
    following = 0
    with ParserPool(parser_settings(load_settings())) as pool:
        for task, outcome in pool.map(tasks):
            waiting[task["number"]] = _answer(task, outcome)
            while following in waiting:
                yield waiting.pop(following)
                following += 1
    yield from (waiting[number] for number in sorted(waiting))


def _no_file(path: Path, forced: str | None) -> Values | None:
    """The answer for a path that is not a file or has an unreadable type; None if it can be parsed."""
    if path.is_dir():
        error: DocumentError = UnsupportedDocument("It is a folder.", f"Name its files: `monjyu parse '{path}'/*.pdf`.")
    elif not os.path.lexists(path):
        error = MalformedDocument("There is no such file.")
    elif forced is None and ending_of(path) not in readable_types(load_settings()):
        error = UnsupportedDocument(way_for(path))
    else:
        return None
    return {"source_path": str(path), "error": {"type": error.error_type, "message": str(error)}}


def _tasks(path: Path, forced: str | None) -> list[Task]:
    by_ending = ALL_TYPES.get(ending := ending_of(path), ending.removeprefix(".") or "unknown")
    document_type = forced or by_ending
    paper_id = file_paper_id(path.name)
    task: Task = {"source_path": str(path), "path": str(path.absolute()), "paper_id": paper_id}
    if not path.is_file() or not os.access(path, os.R_OK):
        return [task | {"document_type": "unreadable"}]
    if document_type != "jsonl":
        beside = [str(other) for other in companion_files(path, path.parent)]
        return [task | {"document_type": document_type, "beside": beside}]
    names = {"paper_id", "document_type", "size", "record", "offset"}
    return [task | {name: value for name, value in row.items() if name in names} for row in record_rows(path, paper_id)]


def _answer(task: Task, outcome: Outcome) -> Values:
    if isinstance(outcome, DocumentError):
        error = {"type": outcome.error_type, "message": str(outcome)}
        return {"source_path": task["source_path"], "error": error}
    outcome.paper_id, outcome.source_path = task["paper_id"], task["source_path"]
    return outcome.model_dump(mode="json")

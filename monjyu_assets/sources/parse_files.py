"""`monjyu parse`: turns files into printed papers, each in a parser process, in the order given."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from monjyu_assets.parsing.bibliography.companions import files_beside
from monjyu_assets.parsing.sandbox.pool import Outcome, ParserPool, Task
from monjyu_assets.sources.scan import record_rows
from monjyu_assets.sources.walking import ALL_TYPES, ending_of, readable_types, way_for
from monjyu_core.errors import DocumentError, MalformedDocument, UnsupportedDocument
from monjyu_core.settings.settings import load_settings, parser_settings
from monjyu_core.storage.ids import file_paper_id


def parse_files(files: Sequence[Path], document_type: str | None = None) -> Iterator[dict[str, Any]]:
    """One printed paper, or `{"source_path", "error"}`, for each file (for each line of a JSONL file). All are read as
    the `document_type`, one of those in `ALL_TYPES`, where it is given; else by their endings."""
    waiting: dict[int, dict[str, Any]] = {}
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


def _no_file(path: Path, forced: str | None) -> dict[str, Any] | None:
    """The answer where a path is no file, or one of no type that is read; None where it is parsed."""
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
        beside = [str(other) for other in files_beside(path, path.parent)]
        return [task | {"document_type": document_type, "beside": beside}]
    names = {"paper_id", "document_type", "size", "record", "offset"}
    return [task | {name: value for name, value in row.items() if name in names} for row in record_rows(path, paper_id)]


def _answer(task: Task, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, DocumentError):
        error = {"type": outcome.error_type, "message": str(outcome)}
        return {"source_path": task["source_path"], "error": error}
    outcome.paper_id, outcome.source_path = task["paper_id"], task["source_path"]
    return outcome.model_dump(mode="json")

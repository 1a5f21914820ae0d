"""JSONL: one document a line, `{"id", "title", "text"}` plus any of authors, year, doi, language, metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from monjyu_assets.parsing.bibliography.references import find_doi
from monjyu_assets.parsing.text.common import complete, parse_date, split_keywords
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.outline import blocks_of, outline
from monjyu_core.errors import DocumentError, DocumentTooLarge, MalformedDocument
from monjyu_core.paper import Author, ParsedPaper

MAX_LINE_BYTES = 20 * 2**20
"""Longest line that is read; a longer one is skipped and reported."""

_EXAMPLE = 'Write {"id": "…", "title": "…", "text": "…"}.'
_LONGEST_ID = 500
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class RecordLine:
    """One line of a JSONL file: where it stands (1-based line, byte offset, bytes without the line end) and either
    its record, checked and with `id` as a string, or the error that makes it a failure."""

    line: int
    offset: int
    size: int
    record: dict[str, Any] | None = None
    error: DocumentError | None = None


def read_records(path: Path) -> Iterator[RecordLine]:
    """Every line that is not blank, in order, in constant memory; a bad line is an item with `error`, never a raise."""
    with path.open("rb") as file:
        offset, number = 0, 0
        while line := file.readline(MAX_LINE_BYTES + 2):
            number += 1
            start, whole = offset, line.endswith(b"\n") or len(line) <= MAX_LINE_BYTES
            offset += len(line)
            if not whole:
                offset += _skip_line(file)
                message = f"Line {number} has more than {MAX_LINE_BYTES // 2**20} MiB."
                error = DocumentTooLarge(message, "Split the document or shorten it.")
                yield RecordLine(number, start, offset - start, error=error)
                continue
            if number == 1 and line.startswith(_BYTE_ORDER_MARK):
                start, line = start + len(_BYTE_ORDER_MARK), line[len(_BYTE_ORDER_MARK) :]
            line = line.rstrip(b"\r\n")
            if line.strip():
                yield _record_line(number, start, line)


def _record_line(number: int, offset: int, line: bytes) -> RecordLine:
    try:
        return RecordLine(number, offset, len(line), record=decode_record(line))
    except DocumentError as error:
        error.message = f"Line {number}: {error.message}"
        return RecordLine(number, offset, len(line), error=error)


def _skip_line(file: BufferedReader) -> int:
    skipped = 0
    while chunk := file.readline(2**20):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped


def decode_record(line: bytes) -> dict[str, Any]:
    """One line as a checked record: `id` a string, `title` and `text` strings, the rest of the right type.

    Raises MalformedDocument.
    """
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise MalformedDocument(f"not UTF-8 at byte {error.start}.", "Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise MalformedDocument(f"no JSON: {str(error)[:200]}.", "Mend the line.") from None
    return check_record(record)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def check_record(record: object) -> dict[str, Any]:
    """The record with `id` as a string and null fields dropped. Raises MalformedDocument, naming the field."""
    if not isinstance(record, dict):
        raise MalformedDocument("no JSON object.", _EXAMPLE)
    found = {key: value for key, value in record.items() if value is not None}
    found["id"] = _checked_id(found.get("id"))
    for name in ("title", "text", "doi", "language", "source", "venue"):
        if not isinstance(found.get(name, ""), str):
            raise MalformedDocument(f"`{name}` is no text but {_type(found[name])}.", _EXAMPLE)
    _check_list(found, "authors", or_text=False)
    _check_list(found, "keywords", or_text=True)
    if not isinstance(found.get("metadata", {}), dict):
        raise MalformedDocument(f"`metadata` is no object but {_type(found['metadata'])}.")
    if "year" in found:
        found["year"] = _year(found["year"])
    for name in ("id", "title", "text"):
        if "\x00" in found.get(name, ""):
            raise MalformedDocument(f"`{name}` holds NUL characters.", "Remove them.")
    return found


def _type(value: object) -> str:
    names = {"str": "text", "int": "a number", "float": "a number", "bool": "true or false", "list": "a list"}
    return names.get(type(value).__name__, "an object")


def _checked_id(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        problem = "`id` is missing." if value is None else f"`id` is no text but {_type(value)}."
        raise MalformedDocument(problem, _EXAMPLE)
    text = clean(str(value)).strip() if "\x00" not in str(value) else str(value)
    if not text or len(text) > _LONGEST_ID:
        raise MalformedDocument("`id` is empty." if not text else f"`id` is longer than {_LONGEST_ID} characters.")
    return text


def _check_list(record: dict[str, Any], name: str, *, or_text: bool) -> None:
    value = record.get(name, [])
    if or_text and isinstance(value, str):
        return
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise MalformedDocument(f"`{name}` is no list of texts.", f'Write "{name}": ["…", "…"].')


def _year(value: object) -> int | None:
    if isinstance(value, str):
        if not value.strip():
            return None
        value = int(value) if value.strip().isascii() and value.strip().isdigit() and len(value) < 10 else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1000 <= value <= 2999:
        raise MalformedDocument(f"`year` is no year: {str(value)[:40]!r}.", 'Write "year": 2024.')
    return value


def parse_record(record: dict[str, Any]) -> ParsedPaper:
    """One record as a paper; its text may have headings on lines of their own and a reference list.

    `keywords` may be a list or one text, `source` or `venue` names the venue; the same names in `metadata` count where
    the record itself has none. Raises MalformedDocument for a field of a wrong type, EmptyDocument where title and text
    are empty.
    """
    record = check_record(record)
    extra = record.get("metadata", {})
    paper = ParsedPaper(paper_id=record["id"], document_type="jsonl", processor="jsonl")
    paper.title = " ".join(clean(record.get("title", "")).split())
    names = (" ".join(clean(name).split()) for name in record.get("authors", []))
    paper.authors = [Author(name=name) for name in names if name]
    keywords = record.get("keywords", extra.get("keywords", []))
    words = split_keywords(keywords) if isinstance(keywords, str) else keywords if isinstance(keywords, list) else []
    paper.keywords = [clean(word).strip() for word in words if isinstance(word, str) and word.strip()]
    paper.venue = _first_text(record.get("venue"), record.get("source"), extra.get("venue"), extra.get("source"))
    paper.doi = find_doi(_first_text(record.get("doi"), extra.get("doi")) or "")
    for name in ("arxiv_id", "pmid", "volume", "issue", "pages"):
        setattr(paper, name, _first_text(extra.get(name)))
    year = record.get("year")
    paper.publication_date = str(year) if year else parse_date(extra.get("publication_date") or extra.get("date") or "")
    structure = outline(blocks_of(clean(record.get("text", ""))))
    paper.sections = structure.sections
    return complete(paper, structure.entries, _language(record.get("language", "")))


def _first_text(*values: object) -> str | None:
    """The first that is a text or a whole number and not blank."""
    for value in values:
        if isinstance(value, str | int) and not isinstance(value, bool) and (text := clean(str(value)).strip()):
            return text
    return None


def _language(value: str) -> str | None:
    code = value.strip().lower().replace("_", "-").split("-")[0]
    return code if len(code) == 2 and code.isalpha() and code.isascii() else None

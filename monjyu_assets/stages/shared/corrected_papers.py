"""Corrections as an input of `parsed_papers`: which apply to which papers, and how they change rows. A library's
metadata of a file that it imported counts as a correction of fields that the file does not contain. The value read from
the file is stored with the corrected one, so that neither a correction nor its removal needs the paper to be parsed
again.
"""

import json
import re
from collections.abc import Collection, Iterable
from pathlib import PurePath

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.libraries.library_folder import library_records
from monjyu_assets.scholarly.record import ScholarlyRecord
from monjyu_assets.work.work import Work, rows_of
from monjyu_core.errors import ConfigurationError
from monjyu_core.paper import ParsedPaper
from monjyu_core.records.corrected_values import Field, checked
from monjyu_core.records.corrections import CORRECTIONS, Correction, Fields, PaperIdentity
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import read_all
from monjyu_core.storage.rows_papers import FailureRow
from monjyu_core.storage.schemas import ASSET_TABLES, TABLES, Record, table_of
from monjyu_core.values import Values

PaperRows = dict[str, list[Record]]
"""Rows of the `parsed_papers` tables, by table."""

_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


def sentence_id(paper_id: str, number: int) -> str:
    return f"{paper_id}.s{number}"


def paper_rows(paper: ParsedPaper, sha256: str) -> PaperRows:
    """The rows of a parsed paper by table. Ordinals follow the reading order; a sentence's id is made of the paper's id
    and its ordinal."""
    rows: PaperRows = {name: [] for name in ASSET_TABLES["parsed_papers"]}
    rows["papers"].append(_paper_row(paper, sha256))
    for name, items in _lists(paper).items():
        columns = set(TABLES[name].schema.names)
        rows[name] = [
            {"paper_id": paper.paper_id, "ord": number} | {k: v for k, v in item.items() if k in columns}
            for number, item in enumerate(items)
        ]
    number = 0
    for section_ord, section in enumerate(paper.sections):
        row = section.model_dump(exclude={"sentences"})
        rows["sections"].append({"paper_id": paper.paper_id, "section_ord": section_ord} | row)
        for sentence in section.sentences:
            identity = {"sentence_id": sentence_id(paper.paper_id, number), "paper_id": paper.paper_id, "ord": number}
            rows["sentences"].append(identity | {"section_ord": section_ord} | sentence.model_dump())
            number += 1
    return rows


def year_of(publication_date: str | None) -> int | None:
    year = _YEAR.search(publication_date or "")
    return int(year[1]) if year else None


def _lists(paper: ParsedPaper) -> dict[str, list[dict[str, object]]]:
    names = ("authors", "references", "inline_citations", "tables", "figures", "equations")
    return {name: [item.model_dump() for item in getattr(paper, name)] for name in names}


def _paper_row(paper: ParsedPaper, sha256: str) -> Record:
    columns = set(TABLES["papers"].schema.names)
    row = {key: value for key, value in paper.model_dump(exclude={"sections"}).items() if key in columns}
    characters = sum(len(section.text) for section in paper.sections)
    counts = {"characters": characters, "raw_characters": paper.raw_characters}
    return row | {"sha256": sha256, "year": year_of(paper.publication_date)} | counts


def failure_row(paper_id: str, error_type: str, message: str) -> FailureRow:
    return {"paper_id": paper_id, "error_type": error_type, "message": message, "source_path": ""}


INPUT = "corrections"
"""The name of the corrections among a part's inputs; a part without corrections does not have it."""
TABLE = "corrected_fields"
_MARK = "+"
_LIBRARY = "library:"
"""The beginning of `corrected_by` for a value from a library."""
_SEEN_BY = ["paper_id", "sha256", "record", "source_path"]
Tables = dict[str, pa.Table]
Row = Values
Kept = dict[str, Fields]
"""Corrections by paper_id."""


def contents_of(work: Work) -> dict[str, PaperIdentity]:
    """The properties by which corrections recognise each paper of the current manifest."""
    return _contents(read_all("manifest", work.parts.heads("manifest"), _SEEN_BY))


def _contents(manifest: pa.Table) -> dict[str, PaperIdentity]:
    rows = zip(*(manifest[name].to_pylist() for name in _SEEN_BY), strict=True)
    return {
        paper_id: PaperIdentity(sha256, PurePath(path).name if record is None else "")
        for paper_id, sha256, record, path in rows
    }


def corrections_for(work: Work, manifest: pa.Table | None = None) -> Kept:
    """The corrections of the papers of `manifest` (default: the current one), with imported libraries' metadata."""
    said = {paper_id: _record_fields(one) for paper_id, one in library_records(work.data, work.record, with_file=True)}
    if not CORRECTIONS.path(work.folder).is_file():
        return {paper_id: fields for paper_id, fields in said.items() if fields}
    kept = CORRECTIONS.read(work.folder).applying(contents_of(work) if manifest is None else _contents(manifest))
    both = {paper_id: {**said.get(paper_id, {}), **kept.get(paper_id, {})} for paper_id in said.keys() | kept.keys()}
    return {paper_id: fields for paper_id, fields in both.items() if fields}


def _record_fields(record: ScholarlyRecord) -> Fields:
    """The values of a library's record, as corrections of fields that the file does not contain."""
    given: dict[Field, object] = {
        "title": record.title,
        "authors": list(record.authors),
        "publication_date": str(record.year or ""),
        "venue": record.venue,
    }
    fields: Fields = {}
    for name, value in given.items():
        try:
            if value:
                fields[name] = Correction(value=checked(name, value), at="", by=f"{_LIBRARY}{record.source}")
        except ConfigurationError:
            continue  # the field does not accept the value
    return fields


def digest_of(fields: Fields | None) -> str:
    """A digest that changes with the corrections of a paper; empty without corrections."""
    return digest(*(f"{name}\t{fields[name].model_dump_json()}" for name in sorted(fields))) if fields else ""


def keyed(key: str, fields: Fields | None) -> str:
    """The key of a paper's rows: the key of its parsed rows, extended by the digest of its corrections."""
    return f"{key}{_MARK}{digest_of(fields)}" if fields else key


def key_as_read(key: str) -> str:
    return key.partition(_MARK)[0]


def inputs_of(kept: Kept, papers: Iterable[str]) -> dict[str, str]:
    """The input of a bucket for the corrections of `papers`; empty if they have none."""
    held = [f"{paper_id}\t{digest_of(kept[paper_id])}" for paper_id in sorted(papers) if paper_id in kept]
    return {INPUT: digest(*held)} if held else {}


def stale_by_corrections(work: Work, manifest: pa.Table) -> set[str]:
    """The buckets whose rows were built with corrections other than the current ones."""
    kept = corrections_for(work, manifest)
    by_bucket: dict[str, list[str]] = {}
    for paper_id in kept:
        by_bucket.setdefault(work.parts.bucket_of(paper_id), []).append(paper_id)
    return {
        part.shard
        for part in work.parts.heads("papers")
        if part.inputs.get(INPUT) != inputs_of(kept, by_bucket.get(part.shard, ())).get(INPUT)
    }


def with_corrections(tables: Tables, kept: Kept) -> Tables:
    """The tables of a bucket with its corrections. Reused rows of an earlier build are first restored to the values
    read from the file."""
    before: list[Row] = tables[TABLE].to_pylist()
    there = kept.keys() & set(tables["papers"]["paper_id"].to_pylist()) if kept else set()
    touched = {row["paper_id"] for row in before} | there
    if not touched:
        return tables
    papers: dict[str, Row] = {row["paper_id"]: row for row in rows_of(tables["papers"], touched).to_pylist()}
    authors: dict[str, list[Row]] = {paper_id: [] for paper_id in papers}
    for row in rows_of(tables["authors"], touched).sort_by("ord").to_pylist():
        authors[row["paper_id"]].append(row)
    for row in before:
        paper_id, read = row["paper_id"], json.loads(row["original"])
        if row["field"] == "authors":
            authors[paper_id] = read
        else:
            _set(papers[paper_id], row["field"], read)
    corrected: list[Row] = []
    for paper_id in sorted(there):
        for field, one in sorted(kept[paper_id].items()):
            read = authors[paper_id] if field == "authors" else papers[paper_id][field]
            if read and one.by.startswith(_LIBRARY):
                continue
            if isinstance(one.value, list):
                authors[paper_id] = _named(one.value, authors[paper_id])
            else:
                _set(papers[paper_id], field, one.value)
            said = {"value": _json(one.value), "original": _json(read), "corrected_at": one.at, "corrected_by": one.by}
            corrected.append({"paper_id": paper_id, "field": field} | said)
    named = [row | {"paper_id": one, "ord": ord} for one, rows in authors.items() for ord, row in enumerate(rows)]
    return tables | {
        "papers": pa.concat_tables([_without(tables["papers"], touched), table_of("papers", list(papers.values()))]),
        "authors": pa.concat_tables([_without(tables["authors"], touched), table_of("authors", named)]),
        TABLE: table_of(TABLE, corrected),
    }


def _set(paper: Row, field: str, value: str | None) -> None:
    """Set a field of a row of `papers`. An empty value becomes null where allowed; a date also sets the year."""
    paper[field] = value if value or field in ("title", "abstract", "language") else None
    if field == "publication_date":
        paper["year"] = year_of(value)


def _named(names: list[str], read: list[Row]) -> list[Row]:
    """The rows of authors with `names`, with the details that the file gives of those with the same name."""
    known: dict[object, Row] = {row["name"]: row for row in reversed(read)}
    nobody: Row = {"affiliation": None, "email": None, "orcid": None, "is_corresponding": False}
    return [known.get(name, nobody | {"name": name}) for name in names]


def _json(value: object) -> str:
    """A value as JSON. Rows of authors lose their ids and positions, which may change."""
    plain = [_of_author(row) for row in value] if isinstance(value, list) else value
    return json.dumps(plain, ensure_ascii=False, sort_keys=True)


def _of_author(row: object) -> object:
    return {key: one for key, one in row.items() if key not in ("paper_id", "ord")} if isinstance(row, dict) else row


def _without(table: pa.Table, papers: Collection[str]) -> pa.Table:
    return table.filter(pc.invert(pc.is_in(table["paper_id"], pa.array(sorted(papers), pa.string()))))

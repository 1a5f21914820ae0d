"""A parsed paper as rows of the `parsed_papers` tables."""

from __future__ import annotations

import re

from monjyu_core.paper import ParsedPaper
from monjyu_core.storage.rows_papers import FailureRow
from monjyu_core.storage.schemas import ASSET_TABLES, TABLES, Record

PaperRows = dict[str, list[Record]]
"""Rows of the `parsed_papers` tables, by table."""

_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


def sentence_id(paper_id: str, number: int) -> str:
    return f"{paper_id}.s{number}"


def paper_rows(paper: ParsedPaper, sha256: str) -> PaperRows:
    """Rows by table. Ordinals follow the reading order; a sentence's id is the paper's id with its ordinal."""
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

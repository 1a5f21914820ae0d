"""The papers of a snapshot as records: in short for a list, in full (as `monjyu parse` prints them) for one."""

import json

import duckdb

from monjyu_core.paper import CorrectedField, ParsedPaper, retractions
from monjyu_core.records.corrections import PaperIdentity
from monjyu_core.records.renamed_papers import present_id
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.values import Values
from monjyu_query.asking.which_collection import no_paper

_SHORT = (
    *("paper_id", "title", "year", "venue", "doi", "arxiv_id", "language", "document_type", "page_count"),
    *("is_academic_paper", "keywords", "source_path"),
)
_LISTED = f"""SELECT {", ".join(_SHORT)},
  coalesce((SELECT list(name ORDER BY ord) FROM authors a WHERE a.paper_id = p.paper_id), []),
  (SELECT count(*) FROM chunks c WHERE c.paper_id = p.paper_id) FROM papers p ORDER BY lower(title), paper_id"""
_CHILDREN = {
    "authors": ("name", "affiliation", "email", "orcid", "is_corresponding"),
    "sections": ("heading", "level", "section_type", "page_start", "page_end", "text"),
    "references": ("ref_id", "raw_text", "title", "authors", "year", "venue", "doi", "arxiv_id"),
    "inline_citations": ("ref_id", "context", "section", "position"),
    "tables": ("page", "box", "caption", "headers", "rows"),
    "figures": ("page", "box", "caption"),
    "equations": ("page", "box", "text", "latex", "inline"),
}
"""Tables and columns that are lists of a parsed paper; fixed names, never user input."""


_NOT_OF_A_TABLE = ("characters", "corrected", "notes", "processing_time_ms")
"""Fields of a parsed paper that are not columns of `papers` (whose `characters` are those of the text)."""


def list_papers(snapshot: Snapshot) -> list[Values]:
    """A short record of every paper, by title: `authors` are names, `chunks` is a count, notices decide `retracted`."""
    rows = snapshot.cursor().execute(_LISTED).fetchall()
    retracted, names = retractions(snapshot.cursor()), (*_SHORT, "authors", "chunks")
    return [dict(zip(names, row, strict=True)) | {"retracted": row[0] in retracted} for row in rows]


def present_paper(snapshot: Snapshot, paper_id: str) -> str:
    """The current id of a paper whose file was renamed; the same id if the snapshot has it, or never had it."""
    cursor = snapshot.cursor()
    known = "SELECT 1 FROM papers WHERE paper_id = ?"
    return present_id(snapshot.collection, paper_id, lambda one: bool(cursor.execute(known, [one]).fetchone()))


def show_paper(snapshot: Snapshot, paper_id: str) -> ParsedPaper:
    """One paper with its sections, references and all fields. Raises QueryError if the snapshot does not have it."""
    cursor, paper_id = snapshot.cursor(), present_paper(snapshot, paper_id)
    fields = ParsedPaper.model_fields.items()
    columns = [name for name, field in fields if name not in (*_CHILDREN, *_NOT_OF_A_TABLE) and not field.exclude]
    listed = ", ".join(f'"{name}"' for name in columns)
    row = cursor.execute(f"SELECT {listed} FROM papers WHERE paper_id = ?", [paper_id]).fetchone()
    if row is None:
        raise no_paper(cursor, paper_id)
    values = dict(zip(columns, row, strict=True))
    values |= {table: _children(cursor, table, paper_id) for table in _CHILDREN}
    values |= _counted_by_services(cursor, paper_id)
    return ParsedPaper.model_validate(values | {"corrected": fields_corrected(cursor, paper_id)})


def _counted_by_services(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> Values:
    """The id and the counts of the paper in Semantic Scholar, otherwise the newest count of another service."""
    query = """SELECT CASE WHEN source = 'Semantic Scholar' THEN source_id END AS semantic_scholar_id,
        citation_count, influential_citation_count
    FROM scholarly_records JOIN paper_identity ON scholarly_records.paper_id = canonical_id
    WHERE paper_identity.paper_id = ? AND citation_count IS NOT NULL
    ORDER BY source = 'Semantic Scholar' DESC, retrieved DESC NULLS LAST, ord LIMIT 1"""
    found = cursor.execute(query, [paper_id]).fetchone()
    return dict(zip(("semantic_scholar_id", "citation_count", "influential_citation_count"), found or (), strict=False))


def identify_paper(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> PaperIdentity | None:
    """The properties by which a paper, or a file that could not be read, is recognised after it was moved; None if the
    snapshot does not have it."""
    query = """SELECT sha256, CASE WHEN record IS NULL AND 1 = (SELECT count(*) FROM manifest AS other
            WHERE other.record IS NULL AND parse_filename(other.source_path) = parse_filename(m.source_path))
        THEN parse_filename(source_path) ELSE '' END FROM manifest AS m WHERE paper_id = ?"""
    row = cursor.execute(query, [paper_id]).fetchone()
    return PaperIdentity(*row) if row else None


def fields_corrected(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> list[CorrectedField]:
    """The corrected fields of a paper; empty for a snapshot without corrections.

    No Python variable here may have the table's name, because DuckDB would query the variable.
    """
    query = "SELECT field, original, corrected_at, corrected_by FROM corrected_fields WHERE paper_id = ? ORDER BY field"
    try:
        rows = cursor.execute(query, [paper_id]).fetchall()
    except duckdb.CatalogException:
        return []
    return [CorrectedField(field=name, original=_as_read(text), at=at, by=by) for name, text, at, by in rows]


def _as_read(text: str) -> str | list[str] | None:
    """The value in the file; for authors only the names."""
    read: str | list[Values] | None = json.loads(text)
    return [author["name"] for author in read] if isinstance(read, list) else read


def _children(cursor: duckdb.DuckDBPyConnection, table: str, paper_id: str) -> list[Values]:
    columns = _CHILDREN[table]
    order = "section_ord" if table == "sections" else "ord"
    listed = ", ".join(f'"{name}"' for name in columns)
    rows = cursor.execute(f'SELECT {listed} FROM "{table}" WHERE paper_id = ? ORDER BY {order}', [paper_id]).fetchall()
    return [dict(zip(columns, row, strict=True)) for row in rows]

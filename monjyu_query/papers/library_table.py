"""The papers of a snapshot as a table, filtered, sorted and counted by facet in the database."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import duckdb
from pydantic import AfterValidator, BaseModel, Field

from monjyu_core.paper import RETRACTED
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.text.unicode_words import folded_sql
from monjyu_query.asking.fields import OneOf
from monjyu_query.asking.request import encodable

Sort = Literal["title", "year", "venue", "author", "citations", "pages"]
_COLUMNS = {
    "venues": "venue",
    "languages": "language",
    "types": "document_type",
    "years": "CAST(year AS VARCHAR)",
    "retracted": "CASE WHEN retracted THEN 'true' END",
    "authors": "authors",
    "tags": "tags",
    "shelves": "shelves",
}
_LISTS = frozenset({"authors", "tags", "shelves"})
_KINDS = ("text", *_COLUMNS)
SEARCHED = ("venues", "authors", "tags", "shelves")
Facet = Annotated[str, OneOf(_COLUMNS)]
Searched = Annotated[str, OneOf(SEARCHED)]
MOST_VALUES = 40
"""The number of values of one facet that are counted and shown."""


_Year = Annotated[int, Field(ge=0, le=9999)]
_Values = Annotated[list[Annotated[str, AfterValidator(encodable)]], Field(max_length=50)]


class Wanted(BaseModel):
    """Filters on the list of papers. A paper must pass every filter; a filter with several values needs one of them.
    `text`: every word is in the title, the venue, an author's name or the text without references."""

    text: Annotated[str, Field(description="Words of title, authors, venue or text.", max_length=200)] = ""
    year_from: _Year | None = None
    year_to: _Year | None = None
    venues: _Values = Field([], alias="venue")
    authors: _Values = Field([], alias="author")
    languages: _Values = Field([], alias="language")
    types: _Values = Field([], alias="type")
    tags: _Values = Field([], alias="tag")
    shelves: _Values = Field([], alias="shelf")
    retracted: bool | None = None


FACETS = {field.alias: name for name, field in Wanted.model_fields.items() if field.alias}
"""The facets with a filter by value, by the name of the filter in an address."""


class LibraryPaper(BaseModel):
    """A paper in a row. `citations` counts the papers of the collection that cite it."""

    paper_id: str
    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    language: str | None
    document_type: str
    page_count: int | None
    citations: int
    retracted: bool
    tags: list[str]
    shelves: list[str]


class Count(BaseModel):
    """The number of papers with a value, among papers that pass the filters of the other facets."""

    value: str
    papers: int


class LibraryPage(BaseModel):
    """A page of the list of papers. `values` is the number of different values of each facet; `facets` has the most
    frequent ones."""

    total: int
    papers: list[LibraryPaper]
    facets: dict[Facet, list[Count]] = Field(default_factory=dict)
    values: dict[Facet, int] = Field(default_factory=dict)


class FacetValues(BaseModel):
    """The most frequent matching values of one facet, and the number of all matching values."""

    total: int
    values: list[Count]


_ORDERS: dict[Sort, str] = {
    "title": "lower(title)",
    "year": "year",
    "venue": "lower(venue)",
    "author": "lower(authors[1])",
    "citations": "citations",
    "pages": "nullif(page_count, 0)",
}

_BASE = """
WITH names AS (SELECT paper_id, list(name ORDER BY ord) AS authors FROM authors GROUP BY paper_id),
cited AS (SELECT cited_id, count(DISTINCT citing_id) AS citations FROM citation_edges GROUP BY cited_id),
labels AS ({labels}),
retracted_papers AS ({retracted}),
base AS (
    SELECT p.paper_id, coalesce(p.title, '') AS title, coalesce(n.authors, []) AS authors, p.year, p.venue, p.language,
        p.document_type, p.page_count, coalesce(c.citations, 0) AS citations, r.paper_id IS NOT NULL AS retracted,
        coalesce(l.tags, []) AS tags, coalesce(l.shelves, []) AS shelves
    FROM papers p LEFT JOIN names n USING (paper_id) LEFT JOIN paper_identity i USING (paper_id)
    LEFT JOIN cited c ON c.cited_id = coalesce(i.canonical_id, p.paper_id)
    LEFT JOIN labels l ON l.paper_id = coalesce(i.canonical_id, p.paper_id)
    LEFT JOIN retracted_papers r ON r.paper_id = coalesce(i.canonical_id, p.paper_id)),
judged AS (SELECT *, {conditions} FROM base)
"""
_SAID = f"""(contains({folded_sql("concat_ws(' ', title, venue, array_to_string(authors, ' '))")}, {folded_sql("?")})
    OR paper_id IN (SELECT s.paper_id FROM sections s WHERE s.section_type <> 'references'
        AND contains({folded_sql("s.text")}, {folded_sql("?")})))"""
_LABELS = """SELECT paper_id, list_distinct(flatten(list(tags))) AS tags,
    list_distinct(flatten(list(shelves))) AS shelves FROM scholarly_records GROUP BY paper_id"""


def library_page(
    snapshot: Snapshot,
    wanted: Wanted,
    sort: Sort = "title",
    *,
    descending: bool = False,
    offset: int = 0,
    limit: int = 50,
) -> LibraryPage:
    """The papers that pass, from `offset` on, with facet counts; those without a sort value come last."""
    cursor = snapshot.cursor()
    base, values = _judged(wanted)
    columns = list(LibraryPaper.model_fields)
    direction = "DESC" if descending else "ASC"
    rows = cursor.execute(
        f"{base} SELECT {', '.join(columns)} FROM judged WHERE {_all_but()} "
        f"ORDER BY {_ORDERS[sort]} {direction} NULLS LAST, lower(title), paper_id LIMIT ? OFFSET ?",
        [*values, limit, offset],
    ).fetchall()
    facets, known, total = _counted(cursor, base, values)
    papers = [LibraryPaper(**dict(zip(columns, row, strict=True))) for row in rows]
    return LibraryPage(total=total, papers=papers, facets=facets, values=known)


def facet_values(snapshot: Snapshot, wanted: Wanted, kind: Searched, text: str) -> FacetValues:
    """The values of a facet that contain every word of `text`, among papers that pass the other facets."""
    cursor = snapshot.cursor()
    base, values = _judged(wanted)
    asked = text.split()
    holds = _holding("value", asked)
    rows = cursor.execute(f"{base} {_most_frequent(kind, MOST_VALUES, holds)}", [*values, *asked]).fetchall()
    return FacetValues(
        total=rows[0][3] if rows else 0, values=[Count(value=value, papers=papers) for _, value, papers, _ in rows]
    )


def _judged(wanted: Wanted) -> tuple[str, list[Any]]:
    """The base query with a column `ok_KIND` for each filter, and the values of its parameters."""
    conditions, values = [], list[Any]()
    for kind in _KINDS:
        condition, some = _condition(kind, wanted)
        conditions.append(f"coalesce({condition}, false) AS ok_{kind}")
        values += some
    return _BASE.format(labels=_LABELS, retracted=RETRACTED, conditions=", ".join(conditions)), values


def _condition(kind: str, wanted: Wanted) -> tuple[str, list[Any]]:
    if kind == "text":
        asked = wanted.text.split()
        return " AND ".join([_SAID] * len(asked)) or "true", [word for word in asked for _ in range(2)]
    if kind == "years":
        return "(?::INT IS NULL OR year >= ?) AND (?::INT IS NULL OR year <= ?)", [
            *(wanted.year_from, wanted.year_from, wanted.year_to, wanted.year_to)
        ]
    if kind == "retracted":
        return "?::BOOLEAN IS NULL OR retracted = ?", [wanted.retracted, wanted.retracted]
    values = getattr(wanted, kind)
    if not values:
        return "true", []
    column = _COLUMNS[kind]
    return (f"list_has_any({column}, ?)" if kind in _LISTS else f"list_contains(?, {column})"), [values]


def _holding(value: str, asked: Sequence[str]) -> str:
    """SQL condition: a value contains all words of a search, ignoring accents."""
    return " AND ".join([f"contains({folded_sql(value)}, {folded_sql('?')})"] * len(asked)) or "true"


def _all_but(kind: str = "") -> str:
    return " AND ".join(f"ok_{other}" for other in _KINDS if other != kind)


def _most_frequent(kind: str, most: int, holds: str = "true") -> str:
    """SQL for rows of facet, value, number of papers, and number of values."""
    value = f"unnest({_COLUMNS[kind]})" if kind in _LISTS else _COLUMNS[kind]
    return (
        f"SELECT '{kind}' AS kind, value, count(*) AS papers, count(*) OVER () AS known FROM (SELECT {value} AS value "
        f"FROM judged WHERE {_all_but(kind)}) WHERE value IS NOT NULL AND value <> '' AND {holds} "
        f"GROUP BY value ORDER BY papers DESC, value LIMIT {most}"
    )


def _counted(
    cursor: duckdb.DuckDBPyConnection, base: str, values: list[Any]
) -> tuple[dict[Facet, list[Count]], dict[Facet, int], int]:
    """Each facet's most frequent values (years in order) and their number, and the number of passing papers."""
    parts = ["SELECT 'total' AS kind, '' AS value, count(*) AS papers, 0 AS known FROM judged WHERE " + _all_but()]
    for kind in _COLUMNS:
        parts.append(f"SELECT * FROM ({_most_frequent(kind, 400 if kind == 'years' else MOST_VALUES)})")
    marked = base.replace("judged AS (", "judged AS MATERIALIZED (")
    rows = cursor.execute(f"{marked} {' UNION ALL '.join(parts)}", values).fetchall()
    facets: dict[Facet, list[Count]] = {}
    known: dict[Facet, int] = {}
    total = 0
    for kind, value, papers, among in rows:
        if kind == "total":
            total = papers
        else:
            known[kind] = among
            facets.setdefault(kind, []).append(Count(value=value, papers=papers))
    for kind, counts in facets.items():
        counts.sort(key=(lambda one: (one.value, 0)) if kind == "years" else (lambda one: (-one.papers, one.value)))
    return facets, known, total

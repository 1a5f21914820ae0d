"""Details of a paper in a snapshot: the targets of its references, the origins of its fields, its claims and entities,
similar papers; and a search in its sentences."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import duckdb
import numpy as np
from pydantic import BaseModel

from monjyu_core.values import Values
from monjyu_query.papers.records import fields_corrected
from monjyu_query.ranking.open_index import OpenIndex

MOST_ENTITIES = 60
MOST_CLAIMS = 200
MOST_SIMILAR = 8
MOST_SENTENCES = 200
M = TypeVar("M", bound=BaseModel)
Origin = Literal["file", "derived", "corrected", "library", "unknown"]

_FIELDS = ("title", "authors", "publication_date", "venue", "doi", "abstract", "language", "keywords")
_REFERENCES = """
SELECT r.ord, r.raw_text, r.title, r.doi, r.arxiv_id, e.cited_id, c.title FROM "references" r
LEFT JOIN citation_edges e ON e.paper_id = r.paper_id AND e.ref_ord = r.ord
LEFT JOIN papers c ON c.paper_id = e.cited_id WHERE r.paper_id = ? ORDER BY r.ord
"""
_CLAIMS = f"""
SELECT c.statement, c.kind, c.sentence_ids, s.spans[1].page FROM claims c
LEFT JOIN sentences s ON s.paper_id = c.paper_id AND s.sentence_id = c.sentence_ids[1]
WHERE c.paper_id = ? ORDER BY s.section_ord, s.ord, c.claim_id LIMIT {MOST_CLAIMS}
"""
_ENTITIES = f"""
SELECT e.name, e.type, e.description, sum(ec.mentions)::INT AS n, e.papers FROM entity_chunks ec
JOIN entities e USING (entity_id) WHERE ec.paper_id = ? GROUP BY ALL ORDER BY n DESC, e.name LIMIT {MOST_ENTITIES}
"""
_FOUND = """
SELECT s.sentence_id, s.text, s.spans[1].page, s.section_ord, p.heading, s.start, s."end", count(*) OVER ()
FROM sentences s JOIN sections p USING (paper_id, section_ord)
WHERE s.paper_id = ? AND {words} ORDER BY s.section_ord, s.ord LIMIT ?
"""
_PLACES = """
SELECT s.sentence_id, s.text, s.spans[1].page, s.section_ord, '', s.start, s."end", 0 FROM sentences s
WHERE s.paper_id = $paper AND EXISTS (
    SELECT 1 FROM sentences n WHERE n.paper_id = $paper AND list_contains($ids, n.sentence_id)
    AND n.section_ord = s.section_ord AND abs(n.ord - s.ord) <= $around)
ORDER BY s.section_ord, s.ord
"""


class ResolvedReference(BaseModel):
    """A reference as printed, and its target: a paper of the collection, a DOI, arXiv, or none."""

    text: str
    title: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    paper_id: str | None = None
    paper_title: str | None = None


class FieldOrigin(BaseModel):
    """The origin of a field's value: printed in the `file`, `derived` from its text, `corrected` by someone or taken
    from a `library` (the file has `read`), or `unknown` (no value). `told`: the values of services, by service."""

    field: str
    value: str
    origin: Origin
    read: str | None = None
    told: dict[str, str] = {}


class PaperClaim(BaseModel):
    statement: str
    kind: str
    sentence_ids: list[str]
    page: int | None = None


class PaperEntity(BaseModel):
    """An entity of a paper, with its number of `mentions` there and of `papers` of the collection that mention it."""

    name: str
    type: str
    description: str
    mentions: int
    papers: int


class SimilarPaper(BaseModel):
    """A paper with a similar text (`score`: the mean cosine of its passages to the mean of this paper's)."""

    paper_id: str
    title: str
    year: int | None = None
    score: float


class PaperDetails(BaseModel):
    """The details of a paper. `claims` and `entities` are null if the collection's level has none. `processor` is the
    library that parsed the file."""

    paper_id: str
    processor: str
    warnings: list[str]
    fields: list[FieldOrigin]
    references: list[ResolvedReference]
    claims: list[PaperClaim] | None
    entities: list[PaperEntity] | None
    similar: list[SimilarPaper]


class FoundSentence(BaseModel):
    """A sentence of the paper. `section` is the number of its section; `start` and `end` are offsets in its text."""

    sentence_id: str
    text: str
    page: int | None
    section: int
    heading: str
    start: int
    end: int


class FoundSentences(BaseModel):
    total: int
    sentences: list[FoundSentence]


def paper_details(index: OpenIndex, paper_id: str) -> PaperDetails:
    """The details of a paper, which must be in the snapshot."""
    cursor = index.snapshot.cursor()
    columns = [name for name in _FIELDS if name != "authors"]
    row = cursor.execute(
        f"SELECT processor, warnings, {', '.join(columns)} FROM papers WHERE paper_id = ?", [paper_id]
    ).fetchall()[0]
    names = cursor.execute("SELECT name FROM authors WHERE paper_id = ? ORDER BY ord", [paper_id]).fetchall()
    values = dict(zip(columns, row[2:], strict=True)) | {"authors": [name for (name,) in names]}
    references = cursor.execute(_REFERENCES, [paper_id]).fetchall()
    claims, entities = _rows(cursor, _CLAIMS, paper_id), _rows(cursor, _ENTITIES, paper_id)
    return PaperDetails(
        paper_id=paper_id,
        processor=row[0] or "",
        warnings=row[1] or [],
        fields=_origins(cursor, paper_id, values),
        references=[_validated(ResolvedReference, one[1:]) for one in references],
        claims=None if claims is None else [_validated(PaperClaim, one) for one in claims],
        entities=None if entities is None else [_validated(PaperEntity, one) for one in entities],
        similar=similar_papers(index, paper_id),
    )


def find_sentences(cursor: duckdb.DuckDBPyConnection, paper_id: str, text: str) -> FoundSentences:
    """The first `MOST_SENTENCES` sentences with all words of a text, in the paper's order, and their total."""
    words = text.lower().split()
    if not words:
        return FoundSentences(total=0, sentences=[])
    held = " AND ".join(["contains(lower(s.text), ?)"] * len(words))
    rows = cursor.execute(_FOUND.format(words=held), [paper_id, *words, MOST_SENTENCES]).fetchall()
    return FoundSentences(
        total=rows[0][-1] if rows else 0, sentences=[_validated(FoundSentence, row[:-1]) for row in rows]
    )


def sentences_at(
    cursor: duckdb.DuckDBPyConnection, paper_id: str, sentence_ids: Sequence[str], around: int = 0
) -> FoundSentences:
    """The sentences with `sentence_ids`, in the order of the paper, each with up to `around` neighbouring sentences on
    either side within its section. Headings are omitted."""
    values = {"paper": paper_id, "ids": list(sentence_ids), "around": around}
    rows = cursor.execute(_PLACES, values).fetchall()
    return FoundSentences(total=len(rows), sentences=[_validated(FoundSentence, row[:-1]) for row in rows])


def similar_papers(index: OpenIndex, paper_id: str, most: int = MOST_SIMILAR) -> list[SimilarPaper]:
    """The most similar papers, by the mean similarity of their passages to the mean vector of the paper's passages."""
    corpus = index.corpus
    if paper_id not in corpus.paper_ids:
        return []
    code = corpus.paper_ids.index(paper_id)
    own = np.flatnonzero(corpus.paper == code)
    if not len(own):
        return []
    mean = corpus.vectors[own].mean(axis=0)
    mean /= max(float(np.linalg.norm(mean)), 1e-9)
    scores = corpus.vectors.similarities(mean.astype(np.float32))
    papers = len(corpus.paper_ids)
    counts = np.bincount(corpus.paper, minlength=papers)
    means = np.bincount(corpus.paper, weights=scores, minlength=papers) / np.maximum(counts, 1)
    means[np.unique(corpus.paper[corpus.work == corpus.work[own[0]]])] = -np.inf
    means[counts == 0] = -np.inf
    best = [place for place in np.argsort(-means, kind="stable")[:most] if np.isfinite(means[place])]
    found = []
    for place in best:
        about = index.about_papers[corpus.paper_ids[place]]
        score = round(float(means[place]), 3)
        found.append(SimilarPaper(paper_id=corpus.paper_ids[place], title=about.title, year=about.year, score=score))
    return found


def _origins(cursor: duckdb.DuckDBPyConnection, paper_id: str, values: Values) -> list[FieldOrigin]:
    told = _service_values(cursor, paper_id)
    corrected = fields_corrected(cursor, paper_id)
    read = {one.field: _text(one.original) for one in corrected}
    of_library = {one.field for one in corrected if one.by.startswith("library:")}
    found = []
    for name in _FIELDS:
        value = _text(values[name])
        printed: Origin = "unknown" if not value else "derived" if name == "language" else "file"
        origin: Origin = "library" if name in of_library else "corrected" if name in read else printed
        said = {source: _text(given[name]) for source, given in told.items() if _text(given.get(name))}
        found.append(FieldOrigin(field=name, value=value, origin=origin, read=read.get(name), told=said))
    return found


def _service_values(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> dict[str, Values]:
    """The values of the fields in each service's record."""
    query = """SELECT source, title, authors, CAST(year AS VARCHAR), venue, doi FROM scholarly_records
        JOIN paper_identity ON scholarly_records.paper_id = canonical_id WHERE paper_identity.paper_id = ?"""
    columns = ("title", "authors", "publication_date", "venue", "doi")
    rows = _rows(cursor, query, paper_id) or []
    return {row[0]: dict(zip(columns, row[1:], strict=True)) for row in rows}


def _rows(cursor: duckdb.DuckDBPyConnection, query: str, paper_id: str) -> list[Any] | None:
    """The rows; None if the snapshot has no such table."""
    try:
        return cursor.execute(query, [paper_id]).fetchall()
    except duckdb.CatalogException:
        return None


def _text(value: object) -> str:
    return "; ".join(value) if isinstance(value, list) else str(value or "")


def _validated(model: type[M], row: Sequence[object]) -> M:
    return model.model_validate(dict(zip(model.model_fields, row, strict=True)))

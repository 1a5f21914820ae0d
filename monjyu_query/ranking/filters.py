"""Turns filters into a mask over the chunks. User input reaches SQL as parameters only."""

from __future__ import annotations

import duckdb
import numpy as np

from monjyu_core.errors import QueryError
from monjyu_core.text.unicode_words import expanded_sql, folded_sql
from monjyu_core.values import Values
from monjyu_query.asking.request import Filters
from monjyu_query.asking.which_collection import no_paper
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Mask

_WORDS = r"regexp_extract_all({}, '[\p{{L}}\p{{N}}][\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}]*')"
# A name in a script without spaces is one word, of which a part is enough.
_NAMED = """len({wanted}) > 0 AND (list_has_all({words}, {wanted})
    OR list_has_all({words_expanded}, {wanted_expanded}) OR list_has_all({words_expanded}, {wanted})
    OR (regexp_matches(wanted.name, '[^\\x00-\\x{{024F}}]') AND contains(lower({name}), lower(wanted.name))))"""


def _named(name: str) -> str:
    """SQL that checks whether all words of `wanted.name` are words of the column `name`."""
    words, wanted = (_WORDS.format(folded_sql(column)) for column in (name, "wanted.name"))
    expanded = [_WORDS.format(expanded_sql(column)) for column in (name, "wanted.name")]
    return _NAMED.format(name=name, words=words, wanted=wanted, words_expanded=expanded[0], wanted_expanded=expanded[1])


_AUTHORED = f"""EXISTS (FROM authors, (SELECT unnest($authors::VARCHAR[]) AS name) AS wanted
    WHERE authors.paper_id = papers.paper_id AND {_named("authors.name")})"""
# If a paper's venue has exactly this name, only that venue is meant: Nature is not Nature Communications.
_SAME = f"{folded_sql('{}')} = {folded_sql('wanted.name')}"
_IN_VENUE = f"""EXISTS (FROM (SELECT unnest($venues::VARCHAR[]) AS name) AS wanted
    WHERE {_SAME.format("papers.venue")} OR ({_named("papers.venue")}
        AND NOT EXISTS (FROM papers AS other WHERE {_SAME.format("other.venue")})))"""
_WITH_DOI = """paper_id IN (SELECT of_work.paper_id FROM paper_identity AS of_work JOIN paper_identity AS named
    USING (canonical_id) JOIN papers AS p ON p.paper_id = named.paper_id
    WHERE list_contains($dois::VARCHAR[], lower(p.doi)))"""

# A label on one file of a paper applies to all its files. A shelf includes the papers of the shelves inside it.
_LABEL, _ONE = folded_sql("label"), folded_sql("one")
_LABELLED = """
SELECT f.paper_id FROM paper_identity f WHERE f.canonical_id IN (
    SELECT i.canonical_id FROM scholarly_records JOIN paper_identity i USING (paper_id), unnest({labels}) AS l(label)
    WHERE len(list_filter($wanted::VARCHAR[], lambda one: {fits})) > 0)"""
_TAGGED = _LABELLED.format(labels="tags", fits=f"{_LABEL} = {_ONE}")
_SHELVED = _LABELLED.format(labels="shelves", fits=f"{_LABEL} = {_ONE} OR starts_with({_LABEL}, {_ONE} || '/')")

_PASSING = f"""SELECT paper_id FROM papers
WHERE ($year_from::INT IS NULL OR year >= $year_from::INT)
  AND ($year_to::INT IS NULL OR year <= $year_to::INT)
  AND ($academic::BOOLEAN IS NULL OR is_academic_paper = $academic::BOOLEAN)
  AND (len($languages::VARCHAR[]) = 0 OR list_contains($languages::VARCHAR[], lower(language)))
  AND (len($paper_ids::VARCHAR[]) = 0 OR list_contains($paper_ids::VARCHAR[], paper_id))
  AND (len($authors::VARCHAR[]) = 0 OR {_AUTHORED})
  AND (len($venues::VARCHAR[]) = 0 OR {_IN_VENUE})
  AND (len($dois::VARCHAR[]) = 0 OR {_WITH_DOI})"""

_UNKNOWN = "SELECT unnest($paper_ids::VARCHAR[]) AS paper_id EXCEPT SELECT paper_id FROM papers ORDER BY paper_id"


def passing_chunks(corpus: Corpus, cursor: duckdb.DuckDBPyConnection, filters: Filters) -> Mask:
    """Mask (n,) of the chunks whose paper and section pass. Raises QueryError for an unknown paper."""
    mask = np.ones(len(corpus), dtype=np.bool_)
    if filters.empty:
        return mask
    if filters.section_types:
        mask &= np.isin(corpus.section_type, corpus.section_codes(filters.section_types))
    if filters.model_copy(update={"section_types": []}).empty:
        return mask
    return mask & corpus.of_papers(passing_papers(cursor, filters))


def passing_papers(cursor: duckdb.DuckDBPyConnection, filters: Filters) -> list[str]:
    """The ids of the papers that pass. Raises QueryError for a paper the collection does not have."""
    values: Values = filters.model_dump(exclude={"section_types", "tags", "shelves"})
    values["languages"] = [language.lower() for language in filters.languages]
    if filters.paper_ids:
        _check_known(cursor, filters.paper_ids)
    passing = [row[0] for row in cursor.execute(_PASSING, values).fetchall()]
    for query, wanted in ((_TAGGED, filters.tags), (_SHELVED, filters.shelves)):
        if wanted:
            rows = cursor.execute(query, {"wanted": [one.strip("/ ") for one in wanted]}).fetchall()
            labelled = {row[0] for row in rows}
            passing = [paper_id for paper_id in passing if paper_id in labelled]
    return passing


def _check_known(cursor: duckdb.DuckDBPyConnection, paper_ids: list[str]) -> None:
    unknown = [row[0] for row in cursor.execute(_UNKNOWN, {"paper_ids": paper_ids}).fetchall()]
    if len(unknown) == 1:
        raise no_paper(cursor, unknown[0])
    if unknown:
        listed = ", ".join(map(repr, unknown[:5]))
        raise QueryError(f"The collection has no paper {listed}.", "`monjyu papers list` shows what it has.")

"""References resolved inside the collection: by DOI, by arXiv id, then by title with first author and year, or by an
equal title alone where it is long and nothing else can be compared."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
from rapidfuzz import fuzz, process

SURE_TITLE, LIKELY_TITLE = 96.0, 88.0
"""Similarity (0-100) of a reference's title to a paper's that is enough with the first author or the year alone, and
with both. `python bench/bench_citations.py --sweep` prints precision and recall around them."""
SHORT_TITLE = 25
"""Characters. A shorter title must match surely, and author and year must agree."""
LONG_TITLE = 35
"""Characters. A title this long inside the raw entry is enough with the author where the entry has no year; and an
equal one is enough alone where author and year cannot be compared, and no two papers bear it."""
EQUAL = 99.5
TOGETHER = 20_000
"""References that are compared with all titles at once: each shares words with some hundred of them."""
BESIDE_THE_TITLE = 6
"""Characters of an entry beside the paper's title that may be its number or a stop: where there is no more, the entry
names no author, rather than another one."""

_KEYS = """
CREATE TABLE reference_keys AS
SELECT r.paper_id, r.ord, fold(coalesce(r.title, '')) AS title_key, fold(r.raw_text) AS raw_key,
       clean_doi(r.doi) AS doi, arxiv_of(r.arxiv_id, r.doi) AS arxiv_id, r.year,
       row_number() OVER (ORDER BY r.paper_id, r.ord) AS number
FROM "references" r ORDER BY number
"""
_BY_ID = """
CREATE TABLE resolved AS
SELECT r.paper_id, r.ord, p.paper_id AS cited, 'doi' AS method, 100.0::FLOAT AS score
FROM reference_keys r JOIN paper_keys p ON r.doi = p.doi
UNION ALL
SELECT r.paper_id, r.ord, p.paper_id, 'arxiv_id', 100.0::FLOAT
FROM reference_keys r JOIN paper_keys p ON r.arxiv_id = p.arxiv_id AND r.doi IS DISTINCT FROM p.doi
"""
_TITLE_WORDS = """
CREATE TABLE title_words AS
WITH each AS (
    SELECT DISTINCT paper_id, unnest(parts) AS word FROM (
        SELECT paper_id, CASE WHEN contains(title_key, ' ') THEN words(title_key)
               ELSE pairs_of_letters(title_key) END AS parts
        FROM paper_keys WHERE title_key <> '')
), frequency AS (SELECT word, count(*) AS papers FROM each GROUP BY word)
SELECT paper_id, word, count(*) OVER (PARTITION BY paper_id) AS kept FROM (
    SELECT *, row_number() OVER (PARTITION BY paper_id ORDER BY papers, length(word) DESC, word) AS rarity
    FROM each JOIN frequency USING (word)) WHERE rarity <= 5
"""
"""The five rarest words of each title (pairs of letters where it has no spaces): a reference that lacks more than two
of them does not cite that title."""
_CANDIDATES = """
WITH open AS (
    SELECT r.* FROM reference_keys r ANTI JOIN resolved USING (paper_id, ord)
    WHERE r.number BETWEEN $first AND $last
), reference_words AS (
    SELECT DISTINCT paper_id AS citing, ord, unnest(words(raw_key)) AS word FROM open
    UNION
    SELECT DISTINCT paper_id, ord, unnest(pairs_of_letters(left(raw_key, 400))) FROM open
    WHERE regexp_matches(raw_key, '[\\p{Han}\\p{Hiragana}\\p{Katakana}]')
), pairs AS (
    SELECT w.citing, w.ord, t.paper_id AS cited FROM reference_words w JOIN title_words t USING (word)
    WHERE w.citing <> t.paper_id GROUP BY ALL HAVING count(*) >= greatest(1, any_value(t.kept) - 2)
)
SELECT c.citing, c.ord, c.cited, p.title_key AS title, p.main_key AS main, r.title_key AS printed, r.raw_key AS raw,
       length(p.title_key) AS length, numerals(p.title_key) = numerals(r.title_key) AS same_numerals,
       list_has_all(numerals(p.title_key), numerals(r.title_key)) AS no_more_numerals,
       length(p.main_key) AS main_length,
       p.title_authors < 2 AS one_bearer,
       CASE WHEN len(p.families) = 0 THEN NULL
            WHEN list_contains(words(r.raw_key), p.families[1])
            OR (NOT contains(r.raw_key, ' ') AND contains(r.raw_key, p.families[1])) THEN true
            WHEN length(r.raw_key) <= length(p.title_key) + $beside THEN NULL ELSE false END AS author,
       abs(r.year - p.year) AS gap,
       coalesce(r.doi <> p.doi AND r.arxiv_id IS NULL AND p.arxiv_id IS NULL AND NOT (
           $follow_preprints AND (is_preprint(r.doi) OR is_preprint(p.doi))), false)
       OR coalesce(r.arxiv_id <> p.arxiv_id, false) AS other_id,
       coalesce(p.year > c2.year + 1, false) AS too_late
FROM pairs c JOIN paper_keys p ON p.paper_id = c.cited JOIN paper_keys c2 ON c2.paper_id = c.citing
JOIN reference_keys r ON r.paper_id = c.citing AND r.ord = c.ord
ORDER BY ALL
"""
_ACCEPTED = """
SELECT citing AS paper_id, ord, cited, 'title' AS method, greatest(title_score, main_score, raw_score) AS score
FROM scored WHERE NOT other_id AND NOT too_late AND (
    (length >= $short AND title_score >= $sure AND same_numerals AND coalesce(gap, 0) <= 3
        AND (author OR (coalesce(author, length >= 2 * $short) AND coalesce(gap, 9) <= 1)))
    OR (length >= $short AND title_score >= $likely AND same_numerals
        AND author AND coalesce(gap, 9) <= 1)
    OR (length >= $short AND raw_score >= $sure AND no_more_numerals
        AND author AND coalesce(gap, CASE WHEN length >= $long THEN 0 END, 9) <= 1)
    OR (main_length >= $short AND main_score >= $sure AND no_more_numerals
        AND author AND coalesce(gap, 9) <= 1)
    OR (title_score >= $sure AND same_numerals AND author AND coalesce(gap, 9) <= 1)
    OR (length >= $long AND title_score >= $equal AND same_numerals
        AND author IS NULL AND gap IS NULL AND one_bearer)
)
"""
_BEST = """
INSERT INTO resolved
SELECT paper_id, ord, cited, method, score FROM (
    SELECT *, row_number() OVER (PARTITION BY paper_id, ord ORDER BY score DESC, cited) AS place
    FROM accepted) WHERE place = 1
"""


def resolve(
    connection: duckdb.DuckDBPyConnection,
    references: pa.Table,
    *,
    follow_preprints: bool,
    sure: float = SURE_TITLE,
    likely: float = LIKELY_TITLE,
) -> None:
    """Add the tables `reference_keys` and `resolved` (paper_id, ord, cited, method, score) to `keys.connect`'s.

    `references` needs paper_id, ord, raw_text, title, year, doi, arxiv_id. `cited` is a file's paper_id, and a
    reference may be resolved to several files of one paper. `score` is a similarity of 0-100.

    A printed DOI names one version of a work, and a title does not overrule it, unless `follow_preprints` says that a
    reference to a preprint counts as one to the published paper (and the other way round).
    """
    connection.register("references", references)
    connection.execute(_KEYS)
    connection.execute(_BY_ID)
    connection.execute(_TITLE_WORDS)
    limits = {"sure": sure, "likely": likely, "short": SHORT_TITLE, "long": LONG_TITLE, "equal": EQUAL}
    how = {"follow_preprints": follow_preprints, "beside": BESIDE_THE_TITLE}
    accepted = []
    for first in range(1, references.num_rows + 1, TOGETHER):
        some = how | {"first": first, "last": first + TOGETHER - 1}
        connection.register("scored", _scored(connection.sql(_CANDIDATES, params=some).to_arrow_table()))
        accepted.append(connection.sql(_ACCEPTED, params=limits).to_arrow_table())
    if accepted:
        connection.register("accepted", pa.concat_tables(accepted))
        connection.execute(_BEST)


def _scored(candidates: pa.Table) -> pa.Table:
    """The candidates with the similarity of the titles, of the title without its subtitle to the printed one, and of
    the title to the best place in the raw entry (for entries whose title was not found, or was cut elsewhere)."""
    for name, one, other, scorer in (
        ("title_score", "title", "printed", fuzz.ratio),
        ("main_score", "main", "printed", fuzz.ratio),
        ("raw_score", "title", "raw", fuzz.partial_ratio),
    ):
        pairs = candidates[one].to_pylist(), candidates[other].to_pylist()
        scores = np.asarray(process.cpdist(*pairs, scorer=scorer, dtype=np.float32)).reshape(-1)
        candidates = candidates.append_column(name, pa.array(scores, pa.float32()))
    return candidates.drop_columns(["title", "main", "printed", "raw"])

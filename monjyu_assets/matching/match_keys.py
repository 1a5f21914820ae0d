"""The keys that papers and references are compared by, made in SQL: a collection can have over 100,000 references."""

from __future__ import annotations

import tempfile

import duckdb
import pyarrow as pa

PREPRINT_DOIS = r"^10\.(48550|1101|2139|20944|26434|31234|31219|5281|21203|36227|22541)/"
"""DOIs of preprint servers and open archives (arXiv, bioRxiv, SSRN, Zenodo, OSF, ...): a paper there may have
another DOI at its publisher."""
ARXIV_DOI = r"^10\.48550/arxiv\.(.+)$"
NUMERALS = r"^([0-9]+|[ivx]+|one|two|three|four|five)$"
"""Words that tell parts of a series apart ("Part II"), however alike the rest of the title is."""

ABOUT_ANOTHER = (
    r"^(correction|corrections|corrigendum|corrigenda|erratum|errata|addendum|author correction|publisher correction|"
    r"comment|comments|reply|response|rebuttal|retraction|expression of concern)\b"
)
"""How a folded title begins that may be of a notice on another paper, and is then none of the paper itself."""
RETRACTED_TITLE = r"^\s*(retracted|withdrawn)(\s+(article|paper))?\s*:"
"""What publishers put before the title of a paper that they take back: it stays the paper's own."""

MEMORY = "2GB"
"""Memory of DuckDB; it spills to the system's temporary folder where that is not enough."""

_MACROS = (
    "bare(x) AS regexp_replace(x, '" + RETRACTED_TITLE + "', '', 'i')",
    "about_another(x) AS regexp_extract(x, '" + ABOUT_ANOTHER + "')",
    # Case, accents, markup and punctuation do not count; words are divided by one space.
    "fold(x) AS trim(regexp_replace(strip_accents(lower(regexp_replace(x, '</?[A-Za-z][^<>]{0,20}>', '', 'g'))), "
    "'[^\\p{L}\\p{N}]+', ' ', 'g'))",
    "words(x) AS string_split(x, ' ')",
    "numerals(x) AS list_sort(list_filter(words(x), lambda w: regexp_matches(w, '" + NUMERALS + "')))",
    "clean_doi(x) AS nullif(regexp_replace(lower(trim(x)), '^(https?://)?(dx\\.)?(doi\\.org/|doi:\\s*)', ''), '')",
    "clean_arxiv(x) AS nullif(regexp_replace(regexp_replace(lower(trim(x)), '^arxiv:\\s*', ''), 'v[0-9]+$', ''), '')",
    "arxiv_of(arxiv, doi) AS coalesce(clean_arxiv(arxiv), clean_arxiv(nullif(regexp_extract(clean_doi(doi), '"
    + ARXIV_DOI
    + "', 1), '')))",
    "pairs_of_letters(x) AS list_transform(range(greatest(length(x) - 1, 0)), lambda i: x[i + 1 : i + 2])",
    # A hash of a value, so that several can be set side by side and no two lists of values look alike.
    "sealed(x) AS coalesce(md5(x::VARCHAR), '-')",
    # Two bytes of a word's hash, by which the few entries that may hold it are found before their text is read.
    "word_hash(x) AS (md5_number_lower(x) & 65535)::USMALLINT",
    # The words of a folded entry, with pairs of its letters where its writing has no spaces.
    "entry_words(x) AS list_distinct(list_concat(words(x), CASE WHEN "
    "regexp_matches(x, '[\\p{Han}\\p{Hiragana}\\p{Katakana}]') THEN pairs_of_letters(left(x, 400)) ELSE [] END))",
    "is_preprint(doi) AS regexp_matches(doi, '" + PREPRINT_DOIS + "')",
    # "Smith, John" and "John Smith Jr." are both of the family "smith"; a name without spaces is a family.
    "family(name) AS CASE WHEN contains(name, ',') THEN list_last(words(fold(split_part(name, ',', 1)))) ELSE "
    "list_last(list_filter(words(fold(name)), lambda w: w NOT IN ('jr', 'sr', 'ii', 'iii', 'phd'))) END",
)

_PAPERS = """
CREATE TABLE paper_keys AS
SELECT p.paper_id, fold(bare(p.title)) AS title_key, fold(split_part(bare(p.title), ': ', 1)) AS main_key,
       clean_doi(p.doi) AS doi, arxiv_of(p.arxiv_id, p.doi) AS arxiv_id, p.year,
       p.characters, coalesce(a.families, []) AS families,
       count(DISTINCT a.families[1]) OVER (PARTITION BY fold(p.title)) AS title_authors
FROM papers p LEFT JOIN (
    SELECT paper_id, list_filter(list(family(name) ORDER BY ord), lambda f: f IS NOT NULL AND f <> '') AS families
    FROM authors GROUP BY paper_id
) a USING (paper_id) ORDER BY paper_id
"""


def with_macros() -> duckdb.DuckDBPyConnection:
    """A connection in memory that has the macros above."""
    connection = duckdb.connect(":memory:", config={"memory_limit": MEMORY, "temp_directory": tempfile.gettempdir()})
    for macro in _MACROS:
        connection.execute(f"CREATE MACRO {macro}")
    return connection


def connect(papers: pa.Table, authors: pa.Table) -> duckdb.DuckDBPyConnection:
    """A connection with the macros above and the table `paper_keys` (paper_id, title_key, main_key without
    the subtitle, doi, arxiv_id, year, characters, families in the order of the authors, title_authors: how many first
    authors the papers of this title have).

    `papers` needs paper_id, title, doi, arxiv_id, year, characters; `authors` paper_id, ord, name.
    """
    connection = with_macros()
    connection.register("papers", papers)
    connection.register("authors", authors)
    connection.execute(_PAPERS)
    return connection

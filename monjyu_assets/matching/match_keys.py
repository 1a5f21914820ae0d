"""The keys by which papers and references are compared, in SQL because there can be over 100,000 references."""

import os
import tempfile
from collections.abc import Hashable
from functools import cache
from typing import Generic, TypeVar

import duckdb
import pyarrow as pa

PREPRINT_DOIS = r"^10\.(48550|1101|2139|20944|26434|31234|31219|5281|21203|36227|22541)/"
"""Matches DOIs of preprint servers and open archives (arXiv, bioRxiv, SSRN, Zenodo, OSF, …), whose papers may have a
second DOI from a publisher."""
ARXIV_DOI = r"^10\.48550/arxiv\.(.+)$"
NUMERALS = r"^([0-9]+|[ivx]+|one|two|three|four|five)$"
"""Matches words that distinguish parts of a series ("Part II"), however similar the rest of their titles is."""

ABOUT_ANOTHER = (
    r"^(correction|corrections|corrigendum|corrigenda|erratum|errata|addendum|author correction|publisher correction|"
    r"comment|comments|reply|response|rebuttal|retraction|expression of concern)\b"
)
"""Matches the beginnings of folded titles of notices about another paper, which are not that paper."""
RETRACTED_TITLE = r"^\s*(retracted|withdrawn)(\s+(article|paper))?\s*:"
"""Matches the words that publishers put before the title of a retracted paper."""

BESIDE_THE_TITLE = 6
"""The maximum number of characters in addition to the title in an entry without an author (such as a number or a full
stop). An entry with more names an author."""
MEMORY = "2GB"
"""DuckDB's memory limit; it spills to the system's temporary folder if that is not enough."""

_MACROS = (
    "bare(x) AS regexp_replace(x, '" + RETRACTED_TITLE + "', '', 'i')",
    "about_another(x) AS regexp_extract(x, '" + ABOUT_ANOTHER + "')",
    # Without case, accents, markup and punctuation, with single spaces.
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
    # A hash of a value, so that different lists of values have different concatenations.
    "sealed(x) AS coalesce(md5(x::VARCHAR), '-')",
    # Two bytes of a word's hash, by which the few entries that may contain it are found before their text is read.
    "word_hash(x) AS (md5_number_lower(x) & 65535)::USMALLINT",
    "has_word(spaced, word) AS contains(spaced, ' ' || word || ' ')",
    # Whether a script without spaces is used.
    "has_letters(x) AS regexp_matches(x, '[\\p{Han}\\p{Hiragana}\\p{Katakana}]')",
    # The words of a folded entry, and its pairs of letters if its script has no spaces.
    "entry_words(x) AS list_distinct(list_concat(words(x), CASE WHEN has_letters(x) "
    "THEN pairs_of_letters(left(x, 400)) ELSE [] END))",
    # An entry's words, the empty word if it has no spaces, and each word after a space if it is little but a title.
    "sought_words(x, title) AS list_concat(entry_words(x), CASE WHEN contains(x, ' ') THEN [] ELSE [''] END, "
    f"CASE WHEN length(x) <= 1.25 * length(title) + {BESIDE_THE_TITLE} THEN "
    "list_transform(entry_words(x), lambda w: ' ' || w) ELSE [] END)",
    "is_preprint(doi) AS regexp_matches(doi, '" + PREPRINT_DOIS + "')",
    # "Smith, John" and "John Smith Jr." both have the family name "smith"; a name without spaces is a family name.
    "family(name) AS CASE WHEN contains(name, ',') THEN list_last(words(fold(split_part(name, ',', 1)))) ELSE "
    "list_last(list_filter(words(fold(name)), lambda w: w NOT IN ('jr', 'sr', 'ii', 'iii', 'phd'))) END",
)

PAPER_COLUMNS = ["paper_id", "title", "doi", "arxiv_id", "year"]
AUTHOR_COLUMNS = ["paper_id", "ord", "name"]
REFERENCE_COLUMNS = ["paper_id", "ord", "ref_id", "raw_text", "title", "year", "doi", "arxiv_id"]
_PAPERS = """
SELECT p.paper_id, fold(bare(p.title)) AS title_key, fold(split_part(bare(p.title), ': ', 1)) AS main_key,
       fold(p.title) AS whole_key, clean_doi(p.doi) AS doi, arxiv_of(p.arxiv_id, p.doi) AS arxiv_id, p.year,
       coalesce(a.families, []) AS families
FROM given_papers p LEFT JOIN (
    SELECT paper_id, list_filter(list(family(name) ORDER BY ord), lambda f: f IS NOT NULL AND f <> '') AS families
    FROM given_authors GROUP BY paper_id
) a USING (paper_id) ORDER BY paper_id
"""
_REFERENCES = """
WITH folded AS (
    SELECT paper_id, ord, ref_id, fold(coalesce(title, '')) AS title_key, clean_doi(doi) AS doi,
           arxiv_of(arxiv_id, doi) AS arxiv_id, year, fold(raw_text) AS raw_key
    FROM given_references
), lists AS (
    SELECT paper_id, md5(string_agg(
        ord || ':' || sealed(title_key) || sealed(doi) || sealed(arxiv_id) || sealed(year) || sealed(raw_key)
        ORDER BY ord))[:16] AS cites
    FROM folded GROUP BY paper_id
)
SELECT paper_id, ord, ref_id, title_key, doi, arxiv_id, year, words(raw_key)[1] AS name,
       list_sort(list_distinct(list_transform(sought_words(raw_key, title_key), lambda w: word_hash(w)))) AS words,
       cites
FROM folded JOIN lists USING (paper_id) ORDER BY paper_id, ord
"""
_WITH_AUTHORS = """
CREATE TEMP TABLE paper_keys AS
SELECT p.*, title_authors FROM given_keys p JOIN (
    SELECT whole_key, count(DISTINCT families[1]) AS title_authors FROM given_keys GROUP BY whole_key
) USING (whole_key) ORDER BY paper_id
"""


def with_macros() -> duckdb.DuckDBPyConnection:
    """An in-memory connection with the macros above. Only temporary tables belong to the connection alone."""
    return _database(os.getpid()).cursor()


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """A process's database, not shared after a fork. To open one takes 1000 times as long as a connection."""
    connection = duckdb.connect(":memory:", config={"memory_limit": MEMORY, "temp_directory": tempfile.gettempdir()})
    for macro in _MACROS:
        connection.execute(f"CREATE MACRO {macro}")
    return connection


def paper_keys(connection: duckdb.DuckDBPyConnection, papers: pa.Table, authors: pa.Table) -> pa.Table:
    """The rows of the table `paper_keys`, from PAPER_COLUMNS and AUTHOR_COLUMNS. The connection needs the macros."""
    connection.register("given_papers", papers)
    connection.register("given_authors", authors)
    return connection.sql(_PAPERS).to_arrow_table()


def reference_keys(connection: duckdb.DuckDBPyConnection, references: pa.Table) -> pa.Table:
    """The rows of the table `reference_keys`, from REFERENCE_COLUMNS. The connection needs the macros."""
    connection.register("given_references", references)
    return connection.sql(_REFERENCES).to_arrow_table()


def connect_keys(keys: pa.Table) -> duckdb.DuckDBPyConnection:
    """A connection with the macros above and the table `paper_keys`, which has an additional column `title_authors`:
    the number of different first authors of papers with the same title."""
    connection = with_macros()
    connection.register("given_keys", keys)
    connection.execute(_WITH_AUTHORS)
    return connection


def connect(papers: pa.Table, authors: pa.Table) -> duckdb.DuckDBPyConnection:
    """A connection as from `connect_keys`, from PAPER_COLUMNS and AUTHOR_COLUMNS, with a view of all `papers`."""
    with with_macros() as connection:
        keys = paper_keys(connection, papers, authors)
    connection = connect_keys(keys)
    connection.register("papers", papers)
    return connection


Item = TypeVar("Item", bound=Hashable)


class UnionFind(Generic[Item]):
    """Disjoint sets of items, which are joined in pairs (union-find with path halving)."""

    def __init__(self) -> None:
        self._parent: dict[Item, Item] = {}

    def find(self, item: Item) -> Item:
        parent = self._parent
        parent.setdefault(item, item)
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, one: Item, other: Item) -> bool:
        """Join two items; return whether they were separate."""
        a, b = self.find(one), self.find(other)
        self._parent[b] = a
        return a != b

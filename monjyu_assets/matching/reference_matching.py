"""Resolves references inside the collection: by DOI, by arXiv id, then by title with first author and year, or by an
equal title alone if it is long and nothing else can be compared."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from monjyu_assets.matching.match_keys import BESIDE_THE_TITLE
from monjyu_core.storage.schemas import empty

Numbers = NDArray[Any]

SURE_TITLE, LIKELY_TITLE = 96.0, 88.0
"""The minimum similarities (0-100) of the titles of a reference and a paper if only the first author or the year
agrees, and if both agree. `python bench/bench_citations.py --sweep` prints precision and recall around them."""
SHORT_TITLE = 25
"""In characters. A shorter title must have the similarity `SURE_TITLE`, and author and year must agree."""
LONG_TITLE = 35
"""In characters. A title of at least this length in the raw entry matches with the author if the entry has no year. An
equal title of this length matches alone if author and year cannot be compared and no two papers have it."""
EQUAL = 99.5
TOGETHER = 100_000
"""The number of candidates whose titles are compared at once."""
PAIRS_TOGETHER = 2_000_000
"""The number of pairs of words that are looked up at once."""
MANY_WORDS = 1_000
"""In words. The pairs of a longer entry are not formed; all pairs of titles are sought in it instead."""
WIDEST_GAP = 3
"""In years, between the printed year and the paper's."""
MANY = 5_000
"""The number of changed papers above which all references are compared with all papers, instead of with the changed
ones only."""
_BY_ID = """
CREATE TEMP TABLE resolved AS
SELECT r.paper_id, r.ord, p.paper_id AS cited, 'doi' AS method, 100.0::FLOAT AS score
FROM reference_keys r JOIN paper_keys p ON r.doi = p.doi
UNION ALL
SELECT r.paper_id, r.ord, p.paper_id, 'arxiv_id', 100.0::FLOAT
FROM reference_keys r JOIN paper_keys p ON r.arxiv_id = p.arxiv_id AND r.doi IS DISTINCT FROM p.doi
"""
_TITLE_WORDS = """
CREATE TEMP TABLE title_words AS
WITH each AS (
    SELECT DISTINCT paper_id, unnest(parts) AS word FROM (
        SELECT paper_id, CASE WHEN contains(title_key, ' ') THEN words(title_key)
               ELSE pairs_of_letters(title_key) END AS parts
        FROM paper_keys WHERE title_key <> '')
), frequency AS (SELECT word, count(*) AS papers FROM each GROUP BY word)
SELECT paper_id, word, rarity, count(*) OVER (PARTITION BY paper_id) AS kept FROM (
    SELECT *, row_number() OVER (PARTITION BY paper_id ORDER BY papers, length(word) DESC, word) AS rarity
    FROM each JOIN frequency USING (word)) WHERE rarity <= 5
"""
"""The five rarest words of each title (pairs of letters if it has no spaces). A reference that lacks more than two of
them does not cite the title."""
_MATCHED = """
CREATE TEMP TABLE matched_papers AS
SELECT p.paper_id, md5(concat(
    sealed(title_key), sealed(main_key), sealed(doi), sealed(arxiv_id), sealed(year), sealed(families[1]),
    title_authors < 2, rarest))[:16] AS known, coalesce(cites, '') AS cites
FROM paper_keys p
LEFT JOIN (SELECT paper_id, string_agg(word, ' ' ORDER BY word) AS rarest FROM title_words GROUP BY ALL)
    USING (paper_id)
LEFT JOIN (SELECT DISTINCT paper_id, cites FROM reference_keys) USING (paper_id)
"""
"""Hashes of all fields on which a match depends: those of a cited paper (`known`), and the reference list of a citing
paper (`cites`)."""
_CHANGED = """
CREATE TEMP TABLE changed_papers AS
SELECT coalesce(a.paper_id, b.paper_id) AS paper_id, a.known IS DISTINCT FROM b.known AS known,
       a.cites IS DISTINCT FROM b.cites AS cites
FROM matched_papers a FULL JOIN matched_before b USING (paper_id)
WHERE a.known IS DISTINCT FROM b.known OR a.cites IS DISTINCT FROM b.cites
"""
_WHOLLY = """
CREATE TEMP TABLE open_references AS
SELECT r.number, r.paper_id, r.ord,
       c.paper_id IS NOT NULL OR coalesce(d.known, false)
       OR (SELECT count(*) FROM changed_papers WHERE known) > $many AS wholly
FROM reference_keys r
ANTI JOIN resolved USING (paper_id, ord)
LEFT JOIN changed_papers c ON c.paper_id = r.paper_id
LEFT JOIN (SELECT paper_id, ord, min(cited) AS cited FROM matches_before GROUP BY ALL) m
    ON m.paper_id = r.paper_id AND m.ord = r.ord
LEFT JOIN changed_papers d ON d.paper_id = m.cited
"""
"""The references that were not resolved by an identifier. Those of a changed paper, and those whose previously matched
paper has changed, are compared `wholly`, with all papers; the others only with changed papers, unless many have
changed."""
_KEPT = """
SELECT paper_id, ord, cited, method, score FROM matches_before
SEMI JOIN (FROM open_references WHERE NOT wholly) USING (paper_id, ord)
"""
_TITLE_PAIRS = """
WITH kept_words AS (
    SELECT t.*, place, families[1] AS family, length(title_key) >= $long AS long,
           CASE WHEN families[1] IS NULL THEN '' ELSE ' ' END AS beside
    FROM title_words t JOIN (SELECT *, row_number() OVER (ORDER BY paper_id) - 1 AS place FROM paper_keys)
        USING (paper_id)
    WHERE $wholly OR t.paper_id IN (SELECT paper_id FROM changed_papers WHERE known)
), pairs AS (
    SELECT place, word AS one, unnest([family, '']) AS other FROM kept_words
    WHERE rarity <= 3 AND family IS NOT NULL
    UNION ALL
    SELECT place, a.beside || a.word, b.beside || b.word
    FROM kept_words a JOIN kept_words b USING (place) WHERE a.long AND (CASE a.kept
        WHEN 5 THEN b.rarity - a.rarity = 4 OR (a.rarity < b.rarity AND a.rarity > 1 AND b.rarity < 5)
        WHEN 4 THEN a.rarity < b.rarity ELSE a.rarity = b.rarity END)
), hashed AS (SELECT place, word_hash(one) AS one, word_hash(other) AS other FROM pairs)
SELECT DISTINCT place, (least(one, other)::UBIGINT * 65536 + greatest(one, other))::UINTEGER AS pair
FROM hashed ORDER BY pair, place
"""
"""Pairs of words, as hashes. Every reference that may cite a title contains at least one of the title's pairs.
It lacks at most two of the five words, so it contains one of the three rarest, with the first author. If the paper or
the reference has no author, the title is long; then the reference contains two of the second to fourth of five words,
or the first and the fifth."""
_NEEDED = "CREATE OR REPLACE TEMP TABLE entries AS SELECT paper_id, ord, fold(raw_text) AS raw_key FROM texts"
_CANDIDATES = """
WITH open AS (
    SELECT number, r.paper_id AS citing, ord, r.title_key AS printed, raw_key AS raw, ' ' || raw_key || ' ' AS spaced,
           numerals(r.title_key) AS numerals, r.doi, r.arxiv_id, r.year, p.year AS citing_year
    FROM reference_keys r SEMI JOIN asked USING (number) JOIN entries e USING (paper_id, ord)
    JOIN paper_keys p USING (paper_id)
), titles AS (
    SELECT *, length(title_key) AS length, numerals(title_key) AS numerals
    FROM paper_keys SEMI JOIN asked USING (paper_id)
), pairs AS MATERIALIZED (
    SELECT number, citing, ord, p.paper_id AS cited, title_key AS title, main_key AS main, printed, raw, spaced, length,
           families, p.numerals AS numerals, r.numerals AS printed_numerals, title_authors,
           abs(r.year - p.year) AS gap, coalesce(p.year > citing_year + 1, false) AS too_late,
           coalesce(r.doi <> p.doi AND r.arxiv_id IS NULL AND p.arxiv_id IS NULL AND NOT (
               $follow_preprints AND (is_preprint(r.doi) OR is_preprint(p.doi))), false)
           OR coalesce(r.arxiv_id <> p.arxiv_id, false) AS other_id
    FROM asked a JOIN open r USING (number) JOIN titles p ON p.paper_id = a.paper_id
), authors AS MATERIALIZED (
    SELECT *, CASE WHEN len(families) = 0 THEN NULL
                   WHEN has_word(spaced, families[1]) OR (NOT contains(raw, ' ') AND contains(raw, families[1]))
                   THEN true
                   WHEN length(raw) <= length + $beside THEN NULL ELSE false END AS author
    FROM pairs WHERE citing <> cited AND NOT too_late AND NOT other_id
    AND (author OR (author IS NULL AND length >= $long))
), shared AS MATERIALIZED (
    SELECT number, cited FROM authors JOIN title_words t ON t.paper_id = cited
    WHERE has_word(spaced, word) OR (length(word) = 2 AND has_letters(raw) AND contains(left(raw, 400), word))
    GROUP BY ALL HAVING count(*) >= greatest(1, any_value(kept) - 2)
)
SELECT citing, ord, cited, title, main, printed, raw, length, numerals = printed_numerals AS same_numerals,
       list_has_all(numerals, printed_numerals) AS no_more_numerals,
       length(main) AS main_length, title_authors < 2 AS one_bearer, author, gap
FROM authors JOIN shared USING (number, cited)
"""
"""The pairs of a reference and a paper whose titles are compared."""
_ACCEPTED = """
SELECT citing AS paper_id, ord, cited, 'title' AS method, greatest(title_score, main_score, raw_score) AS score
FROM scored WHERE (
    (length >= $short AND title_score >= $sure AND same_numerals AND coalesce(gap, 0) <= $widest
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


@dataclass(frozen=True)
class Before:
    """The tables `matched_papers` and `reference_matches` of the previous run."""

    papers: pa.Table
    matches: pa.Table


NOTHING = Before(empty("matched_papers"), empty("reference_matches"))
Texts = Callable[[pa.Array], pa.Table]
"""Returns `paper_id`, `ord` and `raw_text` of the references of the given papers."""


def resolve(
    connection: duckdb.DuckDBPyConnection,
    keys: pa.Table,
    texts: Texts,
    before: Before = NOTHING,
    *,
    follow_preprints: bool,
    sure: float = SURE_TITLE,
    likely: float = LIKELY_TITLE,
) -> None:
    """Resolve references, and add the tables `reference_keys`, `resolved` (paper_id, ord, cited, method, score),
    `matched_papers` and `changed_papers` to the connection, which is from `match_keys.connect_keys`.

    `keys` has the rows of the table `reference_keys`. `cited` is the paper_id of a file, and a reference may be
    resolved to several files of one paper. `score` is a similarity of 0 to 100. Pairs in `before` are not compared
    again; the result does not depend on it. A printed DOI identifies one version of a work and takes precedence over a
    title. With `follow_preprints`, a reference to a preprint counts as one to the published paper, and vice versa.
    """
    _prepare(connection, keys, before)
    limits = {"sure": sure, "likely": likely, "short": SHORT_TITLE, "long": LONG_TITLE, "equal": EQUAL}
    limits["widest"] = WIDEST_GAP
    how = {"follow_preprints": follow_preprints, "beside": BESIDE_THE_TITLE, "long": LONG_TITLE}
    accepted = [connection.sql(_KEPT).to_arrow_table()]
    for asked in itertools.chain.from_iterable(_asked(connection, keys, wholly=wholly) for wholly in (True, False)):
        connection.register("asked", asked)
        connection.register("texts", texts(pc.unique(keys["paper_id"].take(asked["number"]))))
        connection.execute(_NEEDED)
        connection.register("scored", _scored(connection.sql(_CANDIDATES, params=how).to_arrow_table()))
        accepted.append(connection.sql(_ACCEPTED, params=limits).to_arrow_table())
    connection.register("accepted", pa.concat_tables(accepted))
    connection.execute(_BEST)


def _prepare(connection: duckdb.DuckDBPyConnection, keys: pa.Table, before: Before) -> None:
    numbers = pa.array(np.arange(keys.num_rows))
    connection.register("reference_keys", keys.drop_columns(["words"]).append_column("number", numbers))
    connection.register("matched_before", before.papers)
    connection.register("matches_before", before.matches)
    for statement in (_BY_ID, _TITLE_WORDS, _MATCHED, _CHANGED):
        connection.execute(statement)
    connection.execute(_WHOLLY, {"many": MANY})


def _asked(connection: duckdb.DuckDBPyConnection, keys: pa.Table, *, wholly: bool) -> Iterator[pa.Table]:
    """Yield the candidates: the number of each open reference with the id of each paper whose title shares a pair of
    words with it. References that are not compared `wholly` are compared with changed papers only."""
    titles = connection.execute(_TITLE_PAIRS, {"wholly": wholly, "long": LONG_TITLE}).fetchnumpy()
    papers = connection.sql("SELECT paper_id, year FROM paper_keys ORDER BY paper_id").to_arrow_table()
    query = "SELECT number FROM open_references WHERE wholly = $wholly ORDER BY number"
    numbers = connection.execute(query, {"wholly": wholly}).fetchnumpy()["number"].astype(np.int64)
    sought = np.zeros(1 << 16, bool)
    sought[titles["pair"] >> 16] = sought[titles["pair"] & 0xFFFF] = True
    cited, years = _years(keys), _years(papers)
    found = [np.empty((2, 0), np.int64)]
    for first in range(0, len(numbers) if len(titles["pair"]) else 0, TOGETHER):
        some = numbers[first : first + TOGETHER]
        for entry, place in _sharing(*_words(keys.take(pa.array(some)), sought), titles["pair"]):
            pairs = np.stack([some[entry], titles["place"][place]])
            pairs = pairs[:, ~(np.abs(cited[pairs[0]] - years[pairs[1]]) > WIDEST_GAP)]
            found.append(np.unique(pairs, axis=1))
        if sum(pairs.shape[1] for pairs in found) >= TOGETHER or first + TOGETHER >= len(numbers):
            number, place = np.concatenate(found, axis=1)
            if len(number):
                yield pa.table({"number": number, "paper_id": papers["paper_id"].take(pa.array(place))})
            found = found[:1]


def _years(rows: pa.Table) -> Numbers:
    """The years of `rows`; NaN if unknown, so that no gap to it is too wide."""
    years: Numbers = rows["year"].cast(pa.float32()).to_numpy()
    return years


def _words(entries: pa.Table, sought: Numbers) -> tuple[Numbers, Numbers]:
    """The hashes of the words of all entries that are `sought`, and the index at which each entry's words end."""
    lengths = pc.list_value_length(entries["words"]).fill_null(0).to_numpy()
    words = np.concatenate([np.empty(0, np.uint16), *(chunk.flatten().to_numpy() for chunk in entries["words"].chunks)])
    there = sought[words]
    return words[there], np.append(0, np.cumsum(there))[np.cumsum(lengths, dtype=np.int64)]


def _sharing(words: Numbers, ends: Numbers, sought: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield arrays of entries, and of the positions of their pairs of words in the sorted array `sought`."""
    lengths = np.diff(ends, prepend=0)
    for entry in np.flatnonzero(lengths > MANY_WORDS):
        there = np.zeros(1 << 16, bool)
        there[words[ends[entry] - lengths[entry] : ends[entry]]] = True
        places = np.flatnonzero(there[sought >> 16] & there[sought & 0xFFFF])
        yield np.full(len(places), entry), places
    maybe = np.zeros(1 << 24, bool)
    maybe[_slot(sought)] = True
    partners = np.repeat(ends, lengths) - np.arange(len(words))
    partners[np.repeat(lengths > MANY_WORDS, lengths)] = 0
    entries = np.repeat(np.arange(len(ends)), lengths)
    steps = np.append(0, np.cumsum(partners))[ends] // PAIRS_TOGETHER
    cuts = np.append(0, ends[np.flatnonzero(np.diff(steps, append=-1))])
    for start, end in itertools.pairwise(cuts.tolist()):
        one = np.repeat(np.arange(start, end), partners[start:end])
        pairs = words[one].astype(np.uint32) << 16 | words[one + _ramp(partners[start:end])]
        hits = np.flatnonzero(maybe[_slot(pairs)])
        first = np.searchsorted(sought, pairs[hits])
        times = np.searchsorted(sought, pairs[hits], side="right") - first
        yield np.repeat(entries[one[hits]], times), np.repeat(first, times) + _ramp(times)


def _slot(pairs: Numbers) -> Numbers:
    """24 bits by which a pair is looked up before it is searched."""
    slots: Numbers = (pairs.astype(np.uint32) * np.uint32(2654435761)) >> np.uint32(8)
    return slots


def _ramp(counts: Numbers) -> Numbers:
    """The numbers from 0 to each count, one range after the other."""
    ramp: Numbers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return ramp


def _scored(candidates: pa.Table) -> pa.Table:
    """The candidates with three similarities (0 to 100): of the titles, of the paper's title without its subtitle and
    the printed title, and of the paper's title and the most similar part of the raw entry."""
    for name, one, other, scorer in (
        ("title_score", "title", "printed", fuzz.ratio),
        ("main_score", "main", "printed", fuzz.ratio),
        ("raw_score", "title", "raw", fuzz.partial_ratio),
    ):
        pairs = candidates[one].to_pylist(), candidates[other].to_pylist()
        scores = np.asarray(process.cpdist(*pairs, scorer=scorer, dtype=np.float32)).reshape(-1)
        candidates = candidates.append_column(name, pa.array(scores, pa.float32()))
    return candidates.drop_columns(["title", "main", "printed", "raw"])

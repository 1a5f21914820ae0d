"""Filters to masks, over a database made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from monjyu_core.errors import QueryError
from monjyu_core.paper import SectionType
from monjyu_query.asking.request import Filters
from monjyu_query.ranking.corpus import ChunkIds, Corpus, Vectors
from monjyu_query.ranking.filters import passing_chunks
from tests.properties import given, st

PAPERS = [
    ("a", 1999, "en", True, ["Perlis, A. J.", "Samelson,K."], "Nature", "10.1000/ABC"),
    ("b", 2010, "ja", True, ["山田 太郎", "鈴木一郎"], "情報処理学会論文誌", "10.1000/xyz(1)"),
    ("c", None, "en", False, ["Jörg Müller-Lüdenscheidt", "Ángel Ó Súilleabháin"], None, None),
    ("d", 2020, "en", True, ["Oliver Li"], "Nature Communications", "10.1000/abcd"),
]
PREPRINT_OF = {"c": "a"}
"""c is a version of a, without a DOI of its own."""
CHUNKS = [("a", "abstract"), ("a", "methods"), ("b", "methods"), ("c", "results"), ("d", "other")]


@pytest.fixture(scope="module")
def cursor() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    columns = "paper_id VARCHAR, year INT, language VARCHAR, is_academic_paper BOOLEAN, venue VARCHAR, doi VARCHAR"
    connection.execute(f"CREATE TABLE papers ({columns})").fetchall()
    connection.execute("CREATE TABLE authors (paper_id VARCHAR, ord INT, name VARCHAR)").fetchall()
    connection.execute("ALTER TABLE papers ADD COLUMN title VARCHAR DEFAULT ''").fetchall()
    connection.execute("CREATE TABLE paper_identity (paper_id VARCHAR, canonical_id VARCHAR)").fetchall()
    for paper_id, year, language, academic, names, venue, doi in PAPERS:
        values = [paper_id, year, language, academic, venue, doi]
        connection.execute("INSERT INTO papers VALUES (?, ?, ?, ?, ?, ?, '')", values).fetchall()
        same = [paper_id, PREPRINT_OF.get(paper_id, paper_id)]
        connection.execute("INSERT INTO paper_identity VALUES (?, ?)", same).fetchall()
        for ord, name in enumerate(names):
            connection.execute("INSERT INTO authors VALUES (?, ?, ?)", [paper_id, ord, name]).fetchall()
    yield connection.cursor()
    connection.close()


def corpus() -> Corpus:
    papers = [paper[0] for paper in PAPERS]
    types = get_args(SectionType)
    codes = [types.index(section) for _, section in CHUNKS]
    owners = np.array([papers.index(paper) for paper, _ in CHUNKS], np.int32)
    return Corpus(
        chunk_ids=ChunkIds(pa.array([f"{paper}{n}" for n, (paper, _) in enumerate(CHUNKS)])),
        paper_ids=papers,
        paper=owners,
        work=owners,
        passage=None,
        section_type=np.array(codes, np.int8),
        vectors=Vectors([np.zeros((len(CHUNKS), 2), np.float32)], np.arange(len(CHUNKS), dtype=np.int32)),
    )


def passing(cursor: duckdb.DuckDBPyConnection, **filters: Any) -> str:
    """The papers of the chunks that pass, in order."""
    mask = passing_chunks(corpus(), cursor, Filters(**filters))
    return "".join(CHUNKS[row][0] for row in np.flatnonzero(mask))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "aabcd"),
        ({"year_from": 2010}, "bd"),
        ({"year_from": 2011}, "d"),
        ({"year_to": 2010}, "aab"),
        ({"year_to": 2009}, "aa"),
        ({"year_from": 2000, "year_to": 2015}, "b"),
        ({"languages": ["EN"]}, "aacd"),
        ({"languages": ["ja", "fr"]}, "b"),
        ({"languages": ["English"]}, "aacd"),
        ({"academic": True}, "aabd"),
        ({"academic": False}, "c"),
        ({"paper_ids": ["d", "a"]}, "aad"),
        ({"section_types": ["methods"]}, "ab"),
        ({"section_types": ["methods", "results"], "languages": ["en"]}, "ac"),
        ({"authors": ["perlis"]}, "aa"),
        ({"authors": ["A. J. Perlis"]}, "aa"),
        ({"authors": ["Samelson"]}, "aa"),
        ({"authors": ["Perlis Samelson"]}, ""),  # words of one name, not of two
        ({"authors": ["Perlis", "Li"]}, "aad"),
        ({"authors": ["li"]}, "d"),  # a whole word: not Perlis, not Oliver
        ({"authors": ["jorg muller"]}, "c"),
        ({"authors": ["O Suilleabhain"]}, "c"),
        ({"authors": ["山田"]}, "b"),
        ({"authors": ["鈴木"]}, "b"),
        ({"venues": ["nature"]}, "aa"),  # named in full: not Nature Communications
        ({"venues": ["communications"]}, "d"),
        ({"venues": ["Communications, Nature"]}, "d"),
        ({"venues": ["natur"]}, ""),
        ({"venues": ["情報処理学会"]}, "b"),
        ({"venues": ["Nature", "情報処理学会論文誌"]}, "aab"),
        ({"venues": ["..."]}, ""),
        ({"dois": ["10.1000/abc"]}, "aac"),  # the version without a DOI too, but not 10.1000/abcd
        ({"dois": ["https://doi.org/10.1000/ABCD", "doi:10.1000/XYZ(1)"]}, "bd"),
        ({"dois": ["10.1000/none"]}, ""),
        ({"authors": ["..."]}, ""),
        ({"authors": ["%"]}, ""),
        ({"authors": ["x' OR '1'='1"]}, ""),
    ],
)
def test_filters(cursor: duckdb.DuckDBPyConnection, filters: dict[str, Any], expected: str) -> None:
    assert passing(cursor, **filters) == expected


def test_an_unknown_paper_is_an_error(cursor: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(QueryError, match="'z'"):
        passing(cursor, paper_ids=["a", "z"])
    with pytest.raises(QueryError, match="DROP"):
        passing(cursor, paper_ids=["'; DROP TABLE papers; --"])


@given(st.text(min_size=1, max_size=30).filter(str.strip))
def test_no_text_breaks_a_filter(cursor: duckdb.DuckDBPyConnection, text: str) -> None:
    assert set(passing(cursor, authors=[text], venues=[text])) <= set(passing(cursor))

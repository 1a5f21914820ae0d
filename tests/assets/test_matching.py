"""Files of one paper, references to papers, and works outside the collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from monjyu_assets.matching.match_keys import connect, reference_keys
from monjyu_assets.matching.reference_matching import resolve
from monjyu_assets.matching.same_paper import Identity, identify
from monjyu_assets.matching.works import find_works
from monjyu_assets.work.work import rows_of
from monjyu_core.storage.schemas import TABLES
from tests.properties import examples, given, st

TITLE = "Community structure in large citation networks"
PAPER = {
    "title": TITLE,
    "doi": None,
    "arxiv_id": None,
    "year": 2020,
    "characters": 100,
    "names": ("Ada Berg", "Jun Ito"),
}


def tables(papers: dict[str, dict[str, Any]]) -> tuple[pa.Table, pa.Table]:
    rows = [PAPER | {"paper_id": paper_id} | given for paper_id, given in papers.items()]
    authors = [
        {"paper_id": row["paper_id"], "ord": n, "name": name} for row in rows for n, name in enumerate(row["names"])
    ]
    author_schema = pa.schema([TABLES["authors"].schema.field(name) for name in ("paper_id", "ord", "name")])
    paper_schema = pa.schema(
        [TABLES["papers"].schema.field(n) for n in ("paper_id", "title", "doi", "arxiv_id", "year", "characters")]
    )
    return pa.Table.from_pylist(rows, schema=paper_schema), pa.Table.from_pylist(authors, schema=author_schema)


def identities(papers: dict[str, dict[str, Any]]) -> list[Identity]:
    own, authors = tables(papers)
    sizes = own.select(["paper_id", "characters"])
    with connect(own, authors) as connection:
        return identify(connection, lambda some: rows_of(sizes, some))[0]


def reasons(papers: dict[str, dict[str, Any]]) -> dict[str, tuple[str, str]]:
    return {found.paper_id: (found.canonical_id, found.reason) for found in identities(papers)}


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ({"doi": "10.1/x"}, {"doi": "https://doi.org/10.1/X", "title": "Community structures, large networks"}, "doi"),
        ({"arxiv_id": "2001.00001v2"}, {"arxiv_id": "arXiv:2001.00001", "title": "Other"}, "arxiv_id"),
        ({"arxiv_id": "2001.00001"}, {"doi": "10.48550/arXiv.2001.00001", "title": "Other"}, "arxiv_id"),
        ({}, {"title": "Community Structure in Large Citation-Networks"}, "title_authors"),
        ({"doi": "10.1/x"}, {"doi": "10.48550/arxiv.2001.00001"}, "title_authors"),
        ({}, {"names": ("Berg, Ada", "Ito, Jun")}, "title_authors"),
    ],
)
def test_files_of_one_paper(one: dict[str, Any], other: dict[str, Any], reason: str) -> None:
    found = reasons({"a": {"characters": 200} | one, "b": other})
    canonical = found["a"][0]
    assert found["b"][0] == canonical
    assert found["b" if canonical == "a" else "a"][1] == reason


@pytest.mark.parametrize(
    "other",
    [
        {"title": f"{TITLE} II"},
        {"title": f"{TITLE}: part 2"},
        {"names": ("Omar Diaz", "Lea Frank")},
        {"names": ()},
        {"doi": "10.1/y"},
        {"year": 2009},
        {"title": "Community structure in small citation networks"},
        {"doi": "10.1/x", "title": "Errata of the whole volume", "names": ("Omar Diaz",)},
    ],
)
def test_papers_that_only_look_alike(other: dict[str, Any]) -> None:
    found = reasons({"a": {"doi": "10.1/x"}, "b": other})
    assert {reason for _, reason in found.values()} == {"only"}


def test_equal_files_are_one_paper_whatever_they_are_called() -> None:
    own, authors = tables({"a": {"title": "Frogs"}, "b": {"title": "Frogs", "names": ()}, "c": {"title": "Frogs"}})
    sizes = own.select(["paper_id", "characters"])
    with connect(own, authors) as connection:
        found = identify(connection, lambda some: rows_of(sizes, some), same_files=[("a", "b"), ("b", "unread")])[0]
    assert [(one.paper_id, one.reason) for one in found] == [("a", "canonical"), ("b", "same_file"), ("c", "only")]


def test_short_titles_say_nothing() -> None:
    assert reasons({"a": {"title": "Editorial"}, "b": {"title": "Editorial"}})["b"][1] == "only"


def test_the_published_file_stands_for_the_paper() -> None:
    papers = {
        "preprint": {"doi": "10.48550/arxiv.2001.00001", "characters": 900},
        "journal": {"doi": "10.1/x", "characters": 800},
    }
    assert {canonical for canonical, _ in reasons(papers).values()} == {"journal"}


@pytest.mark.slow
@given(
    st.permutations(["a", "b", "c", "d"]), st.lists(st.sampled_from(["10.1/x", "10.1/y", None]), min_size=4, max_size=4)
)
@examples(25)
def test_identity_does_not_depend_on_the_order_of_files(order: Sequence[str], dois: list[str | None]) -> None:
    papers = {name: {"doi": doi} for name, doi in zip("abcd", dois, strict=True)}
    assert identities({name: papers[name] for name in order}) == identities(papers)


def reference(**given: Any) -> dict[str, Any]:
    blank = {
        "paper_id": "citing",
        "ord": 0,
        "ref_id": "r",
        "raw_text": "",
        "title": None,
        "year": None,
        "doi": None,
        "arxiv_id": None,
    }
    return blank | given


def cited(references: list[dict[str, Any]], papers: dict[str, dict[str, Any]], **how: Any) -> dict[int, str]:
    """The method by which each reference to paper `b` was resolved."""
    rows = [row | {"ord": n} for n, row in enumerate(references)]
    fields = [TABLES["references"].schema.field(name) for name in reference()]
    citing = {"citing": {"title": "A citing paper of its own kind", "year": 2023, "names": ("Zoe Quist",)}}
    with connect(*tables(citing | papers)) as connection:
        given = pa.Table.from_pylist(rows, schema=pa.schema(fields))
        resolve(connection, reference_keys(connection, given), lambda _: given, **{"follow_preprints": False} | how)
        found = connection.execute("SELECT ord, cited, method FROM resolved WHERE cited = 'b' ORDER BY ord").fetchall()
    return {number: method for number, _, method in found}


APA = "Berg, A., & Ito, J. (2020). Community structure in large citation networks. Journal of Graphs, 1(2), 3-4."


@pytest.mark.parametrize(
    "entry",
    [
        reference(raw_text="x", doi="10.1/X"),
        reference(raw_text=APA, title=TITLE, year=2020),
        reference(raw_text=APA.replace("2020", "2021"), title=TITLE.upper(), year=2021),
        reference(raw_text=APA, title="Comunity structure in large citation network", year=2020),
        reference(raw_text=APA, title=None, year=2020),
        reference(raw_text=APA.replace(" (2020)", ""), title=f"{TITLE}. Journal of Graphs", year=None),
        reference(raw_text=APA, title=TITLE, year=2020, arxiv_id="2001.00001"),
    ],
)
def test_references_that_name_the_paper(entry: dict[str, Any]) -> None:
    assert cited([entry], {"b": {"doi": "10.1/x"}}) == {0: "doi" if entry["doi"] else "title"}


@pytest.mark.parametrize(
    "entry",
    [
        reference(raw_text=f"Berg, A. (2020). {TITLE} II.", title=f"{TITLE} II", year=2020),
        reference(raw_text=f"Diaz, O. (2005). {TITLE}.", title=TITLE, year=2005),
        reference(raw_text=f"Berg, A. (2020). {TITLE}. doi:10.1/z", title=TITLE, year=2020, doi="10.1/z"),
        reference(raw_text="Berg, A. (2020). Graphs of citations.", title="Graphs of citations", year=2020),
        reference(raw_text="", title="", year=None),
    ],
)  # fmt: skip
def test_references_that_name_another(entry: dict[str, Any]) -> None:
    assert cited([entry], {"b": {"doi": "10.1/x"}}) == {}


BARE = {"names": (), "year": None}


def test_a_short_entry_with_its_author_is_no_bare_title() -> None:
    entry = reference(raw_text=f"Berg (2020). {TITLE}.", title=TITLE, year=2020)
    assert cited([entry], {"b": {}}) == {0: "title"}
    assert cited([reference(raw_text=f"Diaz (2020). {TITLE}.", title=TITLE, year=2020)], {"b": {}}) == {}


@pytest.mark.parametrize(
    ("entry", "paper"),
    [
        (reference(raw_text=TITLE, title=TITLE), BARE),
        (reference(raw_text=f"[3] {TITLE}.", title=TITLE), {}),
        (reference(raw_text=f"Berg, A. (2020). {TITLE}.", title=TITLE, year=2020), BARE),
        (reference(raw_text=f"{TITLE.upper()}.", title=TITLE.upper()), {"year": None}),
    ],
)
def test_an_equal_title_is_enough_where_nothing_else_can_be_compared(
    entry: dict[str, Any], paper: dict[str, Any]
) -> None:
    assert cited([entry], {"b": paper}) == {0: "title"}


@pytest.mark.parametrize(
    ("entry", "paper", "others"),
    [
        (reference(raw_text=f"{TITLE} II", title=f"{TITLE} II"), BARE, {}),
        (
            reference(raw_text="Community structure", title="Community structure"),
            BARE | {"title": "Community structure"},
            {},
        ),
        (reference(raw_text=TITLE.replace("large", "small"), title=TITLE.replace("large", "small")), BARE, {}),
        (reference(raw_text=f"Diaz, O. {TITLE}. Journal of Graphs, 1(2).", title=TITLE), {"year": None}, {}),
        (reference(raw_text=TITLE, title=TITLE), {}, {"c": {"names": ("Omar Diaz",)}}),
    ],
)
def test_a_title_alone_names_no_paper_where_it_is_short_other_or_of_two(
    entry: dict[str, Any], paper: dict[str, Any], others: dict[str, Any]
) -> None:
    assert cited([entry], {"b": paper} | others) == {}


def test_a_reference_to_the_preprint_counts_where_the_setting_says_so() -> None:
    entry = reference(raw_text=APA, title=TITLE, year=2020, doi="10.1101/2020.01.01")
    assert cited([entry], {"b": {"doi": "10.1/x"}}) == {}
    assert cited([entry], {"b": {"doi": "10.1/x"}}, follow_preprints=True) == {0: "title"}


def test_a_paper_is_not_cited_before_its_time() -> None:
    entry = reference(raw_text=APA.replace("2020", "2026"), title=TITLE, year=2026)
    assert cited([entry], {"b": {"year": 2026}}) == {}


def test_japanese_titles_without_spaces() -> None:
    title = "引用ネットワークにおける共同体構造の検出手法"
    entry = reference(raw_text=f"鈴木太郎, 山田花子. {title}. 情報処理学会論文誌, 2020.", title=title, year=2020)
    assert cited([entry], {"b": {"title": title, "names": ("鈴木太郎", "山田花子")}}) == {0: "title"}


def test_works_outside_are_one_by_doi_or_title() -> None:
    rows = [
        reference(raw_text="Moe, K. 2001", title="Elements of statistical graph theory", doi="10.5/a", year=2001),
        reference(raw_text="Moe, K. 2001", title="Elements of Statistical Graph Theory", year=2001),
        reference(raw_text="Moe, K. 2001", title="Elements of statistical graf theory", year=2001),
        reference(raw_text="Moe, K. 2001", title="Elements of statistical graph theory", doi="10.5/b", year=2001),
        reference(raw_text="Moe, K. 2001", title=None, year=2001),
    ]
    rows = [row | {"ord": n} for n, row in enumerate(rows)]
    schema = pa.schema([TABLES["references"].schema.field(name) for name in reference()])
    with connect(*tables({"citing": {}})) as connection:
        given = pa.Table.from_pylist(rows, schema=schema)
        resolve(connection, reference_keys(connection, given), lambda _: given, follow_preprints=False)
        ids = find_works(connection).unresolved["work_id"].to_pylist()
    assert ids[0] == ids[1] == ids[2]
    assert len({ids[0], ids[3], ids[4]}) == 3

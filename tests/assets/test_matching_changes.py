"""What is matched after a change is what is matched from nothing: which files are one paper, which paper a reference
names, which works are outside.

`MONJYU_EXAMPLES=300 pytest tests/assets/test_matching_changes.py` tries as many random sequences.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from monjyu_assets.matching import alike_titles, reference_matching, same_paper, works
from monjyu_assets.matching.match_keys import connect_keys, paper_keys, reference_keys, with_macros
from monjyu_assets.stages.shared.work import rows_of
from monjyu_core.storage.parts import rows_hash
from monjyu_core.storage.schemas import TABLES, Record, table_of

EXAMPLES = int(os.environ.get("MONJYU_EXAMPLES", "0"))
WORDS = ("graph", "citation", "networks", "sampling", "communities", "structure", "large", "ii", "détection", "2")
NAMES = ("Ada Berg", "Ito, Jun", "Lea Frank")
DOIS = (None, "10.1/a", "10.1/b", "10.48550/arXiv.2001.00001")
ARXIV = (None, None, "2001.00001v2", "2001.00002")
YEARS = (None, 2019, 2020, 2021, 2026)

TITLE = st.lists(st.sampled_from(WORDS), min_size=0, max_size=7).map(" ".join)
AUTHORS = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)


@dataclass(frozen=True)
class Reference:
    title: str
    like: int | None
    """The paper whose title it has, where there is one."""
    typo: bool
    printed: bool
    author: str
    year: int | None
    doi: str | None
    arxiv_id: str | None


@dataclass(frozen=True)
class Paper:
    title: str
    doi: str | None
    arxiv_id: str | None
    year: int | None
    authors: list[str]
    characters: int
    references: list[Reference] = field(default_factory=list)


REFERENCE = st.builds(
    Reference,
    TITLE,
    st.none() | st.integers(0, 6),
    st.booleans(),
    st.booleans(),
    st.sampled_from(("Berg, A.", "Ito", "Frank, L.", "")),
    st.sampled_from(YEARS),
    st.sampled_from((None, None, *DOIS)),
    st.sampled_from((None, *ARXIV)),
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "title": TITLE,
    "doi": st.sampled_from(DOIS),
    "arxiv_id": st.sampled_from(ARXIV),
    "year": st.sampled_from(YEARS),
    "authors": AUTHORS,
    "characters": st.sampled_from((100, 900)),
    "references": st.lists(REFERENCE, max_size=5),
}
PAPER = st.builds(Paper, **FIELDS)
CHANGE = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 6), PAPER),
    st.tuples(st.just("delete"), st.integers(0, 6), st.none()),
    *(st.tuples(st.just(name), st.integers(0, 6), values) for name, values in FIELDS.items()),
)
Papers = dict[int, Paper]


def changed(papers: Papers, what: str, number: int, value: Any) -> Papers:
    if what == "put":
        return papers | {number: value}
    if what == "delete":
        return {other: paper for other, paper in papers.items() if other != number}
    return papers | ({number: replace(papers[number], **{what: value})} if number in papers else {})


def rows(papers: Papers) -> dict[str, list[Record]]:
    """Rows of papers, authors and references."""
    made: dict[str, list[Record]] = {"papers": [], "authors": [], "references": []}
    for number, paper in sorted(papers.items()):
        paper_id = f"p{number}"
        given = {name: getattr(paper, name) for name in ("title", "doi", "arxiv_id", "year", "characters")}
        made["papers"].append({"paper_id": paper_id, **given})
        made["authors"] += [{"paper_id": paper_id, "ord": n, "name": name} for n, name in enumerate(paper.authors)]
        for place, entry in enumerate(paper.references):
            title = papers[entry.like].title if entry.like in papers else entry.title
            title = title.replace("networks", "netwoks") if entry.typo else title
            made["references"].append(
                {
                    "paper_id": paper_id,
                    "ord": place,
                    "ref_id": f"r{place}",
                    "raw_text": f"{entry.author} ({entry.year or ''}). {title}. Journal",
                    "title": title if entry.printed else None,
                    "year": entry.year,
                    "doi": entry.doi,
                    "arxiv_id": entry.arxiv_id,
                }
            )
    return made


@dataclass
class Kept:
    """What a run keeps for the next one; as it is made, nothing."""

    identities: same_paper.Kept = same_paper.NOTHING
    matches: reference_matching.Before = reference_matching.NOTHING
    alike: pa.Table | None = None


def match(papers: Papers, kept: Kept) -> tuple[dict[str, str], Kept]:
    """Hashes of all tables, and what is kept."""
    given = {name: table_of(name, some) for name, some in rows(papers).items()}
    with with_macros() as connection:
        own = paper_keys(connection, given["papers"], given["authors"])
        references = reference_keys(connection, given["references"]).cast(TABLES["reference_keys"].schema)
    made: dict[str, pa.Table] = {}
    sizes = given["papers"].select(["paper_id", "characters"])
    with connect_keys(own) as connection:
        identities, found = same_paper.identify(connection, lambda some: rows_of(sizes, some), kept.identities)
        made["paper_identity"] = pa.Table.from_pylist([vars(one) for one in identities])
        made["alike_papers"] = found.alike.sort_by([("one", "ascending"), ("other", "ascending")])
    with connect_keys(own) as connection:
        reference_matching.resolve(
            connection, references, lambda _: given["references"], kept.matches, follow_preprints=False
        )
        outside = works.find_works(connection, kept.alike)
        for name, query in (
            ("reference_matches", "FROM resolved ORDER BY ALL"),
            ("matched_papers", "FROM matched_papers ORDER BY ALL"),
        ):
            made[name] = connection.sql(query).to_arrow_table()
    made["unresolved_references"] = outside.unresolved
    made["alike_titles"] = outside.alike.sort_by([(name, "ascending") for name in ("year", "name", "one", "other")])
    now = Kept(found, reference_matching.Before(made["matched_papers"], made["reference_matches"]), outside.alike)
    return {name: rows_hash(table) for name, table in made.items()}, now


@pytest.mark.parametrize("many", [reference_matching.MANY, 1])
def test_a_change_gives_what_a_build_from_nothing_gives(many: int) -> None:
    @settings(
        max_examples=EXAMPLES or 12,
        derandomize=not EXAMPLES,
        phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if EXAMPLES else [])],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(PAPER, min_size=3, max_size=7), st.lists(CHANGE, min_size=1, max_size=5))
    def check(first: list[Paper], changes: list[tuple[str, int, Any]]) -> None:
        papers = dict(enumerate(first))
        _, kept = match(papers, Kept())
        for change in changes:
            papers = changed(papers, *change)
            anew, _ = match(papers, Kept())
            after, kept = match(papers, kept)
            assert after == anew, change

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference_matching, "MANY", many)
        patch.setattr(works, "LARGEST_BLOCK", 3)
        patch.setattr(alike_titles, "LARGEST_BLOCK", 3)
        check()

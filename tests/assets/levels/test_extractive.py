"""The extractive engines: what they find in sentences, English and Japanese, and what they leave out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from monjyu_assets.levels.claims.extractive_claims import ExtractiveClaims, assertion
from monjyu_assets.levels.engines import chunk_engine
from monjyu_assets.levels.engines.chunk_engine import (
    SourceAuthor,
    SourceChunk,
    SourcePaper,
    SourceReference,
    SourceSentence,
)
from monjyu_assets.levels.entities.cited import person_key
from monjyu_assets.levels.entities.entity_tables import Ids, entity_graph
from monjyu_assets.levels.entities.paper_entities import ExtractiveEntities, paper_results

NO_IDS = Ids({}, {}, {})


def paper(sentences: Sequence[str], paper_id: str = "p", **more: object) -> SourcePaper:
    numbers = count()
    inside = tuple(SourceSentence(f"{paper_id}.s{next(numbers)}", text) for text in sentences)
    chunk = SourceChunk(f"{paper_id}-c", "A title > Results", "results", " ".join(sentences), inside)
    values: dict[str, object] = {
        "paper_id": paper_id, "title": "A study of sorting", "abstract": "", "language": "en", "doi": None,
        "arxiv_id": None, "keywords": (), "authors": (), "references": (), "chunks": (chunk,),
    }  # fmt: skip
    return SourcePaper(**(values | more))  # type: ignore[arg-type]


def found(*sentences: str, **more: object) -> dict[str, str]:
    """Name to type of what is found."""
    return {row["name"]: row["type"] for r in paper_results(paper(sentences, **more)) for row in r.entities}


def links(*sentences: str) -> set[tuple[str, str, str]]:
    rows = [row for result in paper_results(paper(sentences)) for row in result.relationships]
    return {(row["source_key"], row["type"], row["target_key"]) for row in rows}


def test_names_get_the_type_that_is_said_of_them() -> None:
    names = found(
        "We sort with the Quixel library and store rows in PostgreSQL.",
        "Zorbas is a benchmark for sorting programs.",
        "We trained several models such as FlipNet and BERT.",
        "Latent semantic analysis (LSA) reaches an accuracy of 90 %, and LSA needs linear regression.",
    )
    assert names["Quixel"] == "tool"
    assert names["PostgreSQL"] == "tool"
    assert names["BERT"] == names["FlipNet"] == "model"
    assert names["linear regression"] == "method"
    assert any(name.endswith("(LSA)") and kind == "method" for name, kind in names.items())


def test_a_book_is_hashed_once_for_all_its_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashed for each of them, 2,000 chunks took a minute."""
    chunks = tuple(SourceChunk(f"c{n}", "A book", "other", "One sentence.", ()) for n in range(2000))
    book = paper([], chunks=chunks)
    hashed: list[int] = []
    monkeypatch.setattr(chunk_engine, "digest", lambda *parts, length: str(hashed.append(len(parts))))
    for engine in (ExtractiveClaims(5, 0.5), ExtractiveEntities()):
        assert len({engine.key(book, chunk) for chunk in chunks}) == 1
    assert len(hashed) == 1


def test_places_bare_heads_and_boilerplate_are_no_entities() -> None:
    names = found(
        "In Nashville, a new approach and the method were shown to the authors.",
        "In Nashville, the approach was shown again.",
        "This article is licensed under a Creative Commons license.",
    )
    assert not {name.casefold() for name in names} & {"nashville", "new approach", "approach", "method", "authors"}


def test_relationships_need_a_verb_between_and_the_passive_turns_them_round() -> None:
    said = links("Jupyter uses Python.", "Matplotlib was extended by Bokeh.", "Docker, Kubernetes and Git.")
    assert ("jupyter", "uses", "python") in said
    assert ("bokeh", "based_on", "matplotlib") in said
    assert ("docker", "co_occurs", "git") in said or ("docker", "co_occurs", "kubernetes") in said
    assert not {ends for ends in said if "docker" in ends and ends[1] != "co_occurs"}


def test_negation_hedges_and_the_ends_that_cannot_be_are_seen() -> None:
    result = paper_results(
        paper(
            ["Jupyter does not use Fortran.", "Matplotlib may use NumPy.", "It uses Python.", "Does Bokeh use Julia?"]
        )
    )
    rows = [row for one in result for row in one.relationships if row["type"] != "co_occurs"]
    assert {(row["source_key"], row["target_key"], row["stance"]) for row in rows} == {
        ("jupyter", "fortran", "negated"),
        ("matplotlib", "numpy", "hedged"),
    }


def test_we_are_the_paper_and_lists_are_kinds() -> None:
    said = links("We use Matplotlib.", "Libraries such as NumPy and SciPy help.", "NumPy is part of SciPy.")
    assert any(source == "a paper" or target == "matplotlib" for source, _, target in said)
    assert ("numpy", "part_of", "scipy") in said
    assert ("flipsort", "part_of", "quixel") in links("The Quixel library includes the FlipSort algorithm.")


def test_the_reference_list_gives_papers_and_researchers_at_the_sentences_that_cite_them() -> None:
    cited = SourceReference(
        "1",
        "Quick sorting of rows",
        ("T. Hoare", "van Dam, Ann"),
        1961,
        None,
        None,
        ("As Hoare showed (1961), it sorts.",),
    )
    made = paper_results(
        paper(
            ["As Hoare showed (1961), it sorts."],
            references=(cited,),
            authors=(SourceAuthor("Ada Lovelace", "Computing Lab, University of London, UK", None),),
        )
    )
    rows = {(row["type"], row["entity_key"]): row for row in made[0].entities}
    assert rows["paper", "quick sorting of rows"]["sentence_ids"] == ["p.s0"]
    assert {("researcher", "t hoare"), ("researcher", "ann van dam"), ("researcher", "ada lovelace")} <= rows.keys()
    assert ("organization", "university of london") in rows
    assert person_key("R Core Team") == person_key("Google") == ""


def test_japanese_sentences_have_entities_and_relationships() -> None:
    sentences = ["提案手法は形態素解析を用いる。", "日本語データセットで深層学習モデルを評価した。"]
    names = found(*sentences, language="ja")
    assert names.get("形態素解析") == "method"
    assert "dataset" in names.values() and "model" in names.values()
    assert ("提案手法", "uses", "形態素解析") in links(*sentences)


def graph(*papers: SourcePaper) -> list[dict[str, object]]:
    mentions = [
        row | {"paper_id": p.paper_id, "chunk_id": r.chunk_id, "engine": "e"}
        for p in papers
        for r in paper_results(p)
        for row in r.entities
    ]
    return entity_graph(mentions, [], {p.paper_id: 2000 for p in papers}, NO_IDS)["entities"].to_pylist()


def test_entities_merge_by_acronym_and_initials_and_never_across_types() -> None:
    one = paper(
        ["Latent semantic analysis (LSA) works.", "We use LSA."], "a", authors=(SourceAuthor("John Smith", None, None),)
    )
    two = paper(["LSA is a method that we use."], "b", authors=(SourceAuthor("J. Smith", None, None),))
    rows = graph(one, two)
    merged = [row for row in rows if "LSA" in [row["name"], *row["aliases"]] and row["type"] == "method"]  # type: ignore[misc]
    assert len(merged) == 1 and merged[0]["papers"] == 2
    [smith] = [row for row in rows if row["type"] == "researcher"]
    assert smith["papers"] == 2 and smith["aliases"] == ["J. Smith"]
    third = paper(["We met."], "c", authors=(SourceAuthor("Jane Smith", None, None),))
    assert len([row for row in graph(one, two, third) if row["type"] == "researcher"]) == 3
    assert graph(two, one) == rows


def test_claims_are_sentences_that_assert() -> None:
    texts = [
        "Our method is 12 % faster than the baseline on every collection that we tried (p < 0.05).",
        "Is it faster than the baseline on every collection that we tried?",
        "In future work we will be faster than the baseline on each of them.",
        "Journal of Open Source Education and its many friends of sorting.",
        "from sorting import quick # result = quick(rows) is better than slow(rows).",
    ]
    engine = ExtractiveClaims(3, 0.4)
    source = paper(texts)
    [result] = engine.run([source], {"p": {"p-c"}})
    assert [row["quote"] for row in result.claims] == texts[:1]
    assert result.claims[0]["kind"] == "result"
    assert result.claims[0]["subject"] == "method"
    said = assertion("提案手法は従来手法より12%高い精度を示した。", "results", unspaced=True)
    assert said is not None and said.kind == "result" and said.confidence > 0.5
    assert assertion("それは本当に速いのだろうか。", "results", unspaced=True) is None

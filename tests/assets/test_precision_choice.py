"""The precision settled with the embedding model: 8 bits for new collections; others keep what they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_assets.stages.chunk_embeddings import embedding_recipe
from monjyu_assets.work import model_choice
from monjyu_assets.work.model_choice import ENGLISH_MODEL, MULTILINGUAL_MODEL, changing_record, settle_model
from monjyu_core.embedding import load_embedder
from monjyu_core.errors import QueryError
from monjyu_core.settings.settings import EmbeddingModel, load_settings
from monjyu_core.storage.collection import CollectionRecord
from monjyu_query import Monjyu
from tests.assets.worlds import World, write_records

TEXT = "The graph of noun phrases is pruned before the pairs are counted."


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    made = World(tmp_path / "data", tmp_path / "papers")
    write_records(made.papers, {"r1": TEXT})
    return made


def write_model(world: World, model: EmbeddingModel) -> None:
    work = world.work
    with changing_record(work):
        work.record.embedding_model = model


def settled(world: World) -> CollectionRecord:
    work = world.work
    settle_model(work)
    return work.record


@pytest.mark.parametrize(
    ("model", "setting", "vnni", "precision"),
    [
        (ENGLISH_MODEL, "auto", True, "int8"),
        (ENGLISH_MODEL, "auto", False, None),
        (ENGLISH_MODEL, "int8", False, "int8"),
        (ENGLISH_MODEL, "f32", True, None),
        (MULTILINGUAL_MODEL, "auto", True, None),
        (MULTILINGUAL_MODEL, "int8", True, "int8"),
    ],
)
def test_settled_with_the_model(
    world: World, monkeypatch: pytest.MonkeyPatch, model: str, setting: str, vnni: bool, precision: str | None
) -> None:
    monkeypatch.setenv("MONJYU_EMBEDDING__MODEL", model)
    monkeypatch.setenv("MONJYU_EMBEDDING__PRECISION", setting)
    monkeypatch.setattr(model_choice, "multiplies_integers", lambda: vnni)
    assert settled(world).embedding_precision == precision
    assert world.work.settings.embedding.precision == (precision or setting)


def test_a_collection_of_an_earlier_version_keeps_its_vectors(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_choice, "multiplies_integers", lambda: True)
    before = load_settings({"embedding": {"model": ENGLISH_MODEL}})
    write_model(world, ENGLISH_MODEL)
    assert settled(world).embedding_precision is None
    now = world.work.settings
    assert embedding_recipe(now, load_embedder(now)) == embedding_recipe(before, load_embedder(before))
    write_model(world, MULTILINGUAL_MODEL)
    monkeypatch.setenv("MONJYU_EMBEDDING__MODEL", ENGLISH_MODEL)  # all of it is embedded anew
    assert settled(world).embedding_precision == "int8"


def test_a_question_in_another_precision_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_EMBEDDING__PRECISION", "int8")
    world.build()
    monkeypatch.delenv("MONJYU_EMBEDDING__PRECISION")
    with Monjyu(world.data.root) as monjyu:
        assert monjyu.search("noun phrases", collection="c", mode="vector").hits
    monkeypatch.setenv("MONJYU_EMBEDDING__PRECISION", "f32")
    with Monjyu(world.data.root) as monjyu, pytest.raises(QueryError, match="was embedded with"):
        monjyu.search("noun phrases", collection="c", mode="vector")

"""A collection embedded by a model on a server: indexed, searched, kept apart from other models, nothing paid twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monjyu_assets.planning.pending import level_failures, look
from monjyu_core.embedding import Embedder, embed_each, load, load_embedder
from monjyu_core.embedding.remote import RemoteEmbedder
from monjyu_core.errors import ConfigurationError, QueryError
from monjyu_core.models.account import Accounting
from monjyu_core.models.call_errors import (
    CostCapReached,
    ModelAnswerUnusable,
    ModelCallError,
    ModelRefused,
    ModelServerError,
)
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.models.ledger import Scope
from monjyu_core.models.ledger_totals import CallFilter, usage_of
from monjyu_core.settings.settings import EmbeddingSettings, Settings, load_settings
from monjyu_core.storage.collection import load_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import open_current
from monjyu_query.asking.request import SearchRequest
from monjyu_query.ranking.corpus import Vectors
from monjyu_query.ranking.query_embedding import SCALES, nearness, scale_of
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World, records_file, write_records
from tests.core.models.fake_server import (
    DIMENSIONS,
    KEY,
    FakeModels,
    Reply,
    Request,
    closing,
    failing,
    say,
    word_vector,
)

RECORDS = {
    "graph": "The noun graph is pruned before pairs of phrases are counted. Pruning saves most of the work.",
    "water": "Water boils at lower temperatures on high mountains. Pressure decides when a liquid boils.",
    "cells": "Membranes of cells are made of lipids. Proteins float in membranes.",
}


@pytest.fixture(autouse=True)
def own_embedders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(load, "_models", {})
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MONJYU_CACHE__ENABLED", "false")


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: FakeModels) -> Callable[..., Settings]:
    """Writes settings with `embedding.remote` and gives them."""
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))

    def write(provider: str = "openai", **model: Any) -> Settings:
        settings = {
            "models": {"mine": fake.models(**model)[provider]},
            "embedding": {"remote": "mine"},
            "roles": {"embed": {"retries": 1}},
        }
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / "monjyu.yaml").write_text(json.dumps(settings))
        return load_settings()

    return write


@pytest.fixture
def new_world(tmp_path: Path, configure: Callable[..., Settings]) -> World:
    configure()
    made = World(tmp_path / "data", tmp_path / "papers")
    write_records(made.papers, RECORDS)
    return made


@pytest.fixture
def world(tmp_path: Path, configure: Callable[..., Settings], fake: FakeModels) -> World:
    """The same, built: a copy, so that the model was asked nothing yet."""
    configure()
    made = World.of(tmp_path, records_file(RECORDS), variant="fake-model-1")
    fake.requests.clear()
    load._models.clear()
    return made


def texts_sent(fake: FakeModels) -> list[str]:
    return [text for request in fake.requests for text in request.body["input"]]


def ask(world: World, query: str, mode: str = "vector") -> Any:
    return Searcher(world.data, "c").search(SearchRequest(query=query, collection="c", mode=mode))


def test_index_search_and_answer(fake: FakeModels, new_world: World) -> None:
    new_world.build()
    manifest = open_current(new_world.data.collection("c")).manifest
    assert manifest.embedding.model == "fake-model-1"
    assert manifest.embedding.dimensions == DIMENSIONS
    assert manifest.rows["chunks"] == 3
    rows = [row for part in new_world.work.parts.heads("chunk_embeddings") for row in part.read().to_pylist()]
    for row in rows:
        assert np.linalg.norm(row["vector"]) == pytest.approx(1, abs=1e-5)
    for query, paper in (("when does water boil", "water"), ("pruned noun graph", "graph"), ("lipids", "cells")):
        for mode in ("vector", "hybrid"):
            assert ask(new_world, query, mode).hits[0].paper_id == paper
    answer = ask(new_world, "Which membranes are made of lipids?", "hybrid")
    assert answer.status == "complete"
    assert "lipids" in answer.answer
    assert fake.problems == []


def test_only_new_texts_are_sent_and_an_unchanged_collection_asks_nothing(fake: FakeModels, new_world: World) -> None:
    new_world.build()
    assert len(fake.requests) == len({request.prompt for request in fake.requests})
    assert all(sum(text in sent for sent in texts_sent(fake)) == 1 for text in RECORDS.values())
    fake.requests.clear()
    write_records(new_world.papers, RECORDS | {"new": "Volcanoes erupt where plates of the crust meet each other."})
    new_world.build()
    assert [text.rpartition("\n")[2][:9] for text in texts_sent(fake)] == ["Volcanoes"]
    fake.requests.clear()
    load._models.clear()  # as in a new process
    assert new_world.build()["embed"] == set()
    assert fake.requests == []


def test_one_request_for_a_question(fake: FakeModels, world: World) -> None:
    load._models.clear()
    ask(world, "when does water boil")
    assert texts_sent(fake) == ["when does water boil"]


def test_a_question_to_another_model_is_refused(
    fake: FakeModels, world: World, configure: Callable[..., Settings]
) -> None:
    for other in ({"model": "fake-model-2"}, {"dimensions": 32}, {"provider": "ollama"}):
        configure(**other)
        with pytest.raises(QueryError, match="was embedded with fake-model-1"):
            ask(world, "when does water boil")
        assert ask(world, "water", "keyword").hits
    assert fake.requests == []
    configure()
    fake.default = Reply(vectors=[[1.0, 2.0, 3.0]])
    with pytest.raises((QueryError, ModelAnswerUnusable), match="3 dimensions"):
        ask(world, "when does water boil")


def test_another_model_embeds_anew_and_a_key_or_address_does_not(
    fake: FakeModels, world: World, configure: Callable[..., Settings], tmp_path: Path
) -> None:
    with FakeModels(key="another-key") as moved:
        models = {"mine": moved.models()["openai"]}
        (tmp_path / "data" / "monjyu.yaml").write_text(json.dumps({"models": models, "embedding": {"remote": "mine"}}))
        assert world.build()["embed"] == set()
        assert moved.requests == []
    configure(model="fake-model-2")
    assert world.build()["embed"] == set(RECORDS)
    configure(model="fake-model-2", context_tokens=512)
    assert world.build()["chunk"] == set(RECORDS)


def test_no_packaged_model_is_settled_for_such_a_collection(world: World) -> None:
    record = load_record(world.data.collection("c"))
    assert record is not None
    assert (record.language, record.embedding_model) == ("en", None)


def test_no_secret_and_no_address_is_kept(fake: FakeModels, world: World) -> None:
    kept = [path for path in world.data.collection("c").root.rglob("*") if path.is_file()]
    assert len(kept) > 20
    for path in kept:
        content = path.read_bytes()
        assert KEY.encode() not in content
        assert fake.url.encode() not in content


def embedder(fake: FakeModels, provider: str = "openai", batch: int = 32, **model: Any) -> RemoteEmbedder:
    roles = {"embed": {"retries": 1, "timeout_seconds": 20}}
    own = {"models": {"mine": fake.models(**model)[provider]}, "embedding": {"batch_size": batch}}
    settings = load_settings({**own, "roles": roles})
    return RemoteEmbedder("mine", settings.models["mine"], settings)


@pytest.mark.parametrize(("provider", "batch"), [("openai", 32), ("azure", 100), ("ollama", 7)])
def test_vectors_of_many_texts(fake: FakeModels, provider: str, batch: int) -> None:
    model: Embedder = embedder(fake, provider, batch)
    texts = [f"text number {number} of the graph" for number in range(3 * batch + 5)]
    vectors = model.embed_passages(texts)
    expected = np.array([word_vector(text) for text in texts])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert vectors.dtype == np.float32
    assert sorted(len(request.body["input"]) for request in fake.requests) == [5, batch, batch, batch]
    assert (model.dimensions, len(fake.requests)) == (DIMENSIONS, 4)
    assert model.embed_passages([]).shape == (0, DIMENSIONS)


def test_what_it_says_of_itself_costs_no_call(fake: FakeModels) -> None:
    model = embedder(fake, dimensions=16, context_tokens=2048)
    model.warm_up()
    assert (model.model_id, model.max_tokens, model.dimensions) == ("fake-model-1", 2048, 16)
    assert list(model.count_tokens(["one two", ""])) == [2, 0]
    assert "fake-model-1" in model.fingerprint and "openai" in model.fingerprint and "16" in model.fingerprint
    others = [embedder(fake, "azure", dimensions=16), embedder(fake), embedder(fake, model="other", dimensions=16)]
    assert len({model.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert fake.requests == []
    assert embedder(fake).dimensions == DIMENSIONS


def test_calls_are_on_the_ledger_failed_ones_too_and_paid_once(
    fake: FakeModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONJYU_CACHE__ENABLED", "true")
    settings = load_settings({"models": fake.models(), "embedding": {"remote": "openai"}})
    data, scope = DataFolder(tmp_path), Scope("asset", "chunk_embeddings", 0, "c")
    model = embedder(fake)
    fake.script(closing("before"))
    with charged_to(Accounting(settings, data).account(scope)):
        model.embed_passages(["one", "two"])
        model.embed_passages(["two", "one", "three"])
    used = usage_of(data, CallFilter(collection="c"))
    assert (used.llm_calls, len(fake.requests)) == (3, 3)
    assert fake.requests[-1].body["input"] == ["three"], "the others are in the cache"
    fake.script(failing(401))
    with pytest.raises(ModelRefused):
        model.embed_passages(["a"] * 70)


def test_vectors_of_another_length_than_before_are_an_error(fake: FakeModels) -> None:
    model = embedder(fake)
    model.embed_query("a")
    fake.default = Reply(vectors=[[1.0, 2.0]])
    with pytest.raises(ModelAnswerUnusable, match="2 dimensions; earlier ones had 64"):
        model.embed_query("b")


def test_a_build_that_the_server_stops_keeps_what_was_published(fake: FakeModels, world: World) -> None:
    before = open_current(world.data.collection("c")).manifest.snapshot_id
    write_records(world.papers, RECORDS | {"new": "Volcanoes erupt where plates of the crust meet."})
    fake.default = failing(500)
    with pytest.raises(ModelServerError):
        world.build()
    assert open_current(world.data.collection("c")).manifest.snapshot_id == before
    fake.default = say("")
    world.build()
    assert open_current(world.data.collection("c")).manifest.rows["chunks"] == 4


def refusing(wrong: Callable[[list[str]], Reply | None]) -> Callable[[Request], Reply]:
    """A server that refuses requests by their texts."""

    def reply(request: Request) -> Reply:
        texts = request.body["input"]
        return wrong(texts if isinstance(texts, list) else [texts]) or say("")

    return reply


def sizes(fake: FakeModels) -> list[int]:
    return [len(request.body["input"]) for request in fake.requests]


@pytest.mark.parametrize(
    ("most", "status", "said"),
    [
        (10, 400, "<400> InternalError.Algo.InvalidParameter: Value error, batch size is invalid, it should not be "
         "larger than 10.: input.contents"),
        (8, 413, "batch size 32 > maximum allowed batch size 8"),
        (16, 400, "Invalid 'input': array too long. Expected an array with maximum length 16, but got 32 instead."),
        (20, 422, "input batch size 32 > maximum allowed batch size 20"),
        (4, 413, "Request Entity Too Large"),
        (5, 400, "Bad request"),
        (1, 400, "only one input is supported"),
    ],
)  # fmt: skip
def test_a_batch_that_is_refused_is_divided_and_its_size_learned(
    fake: FakeModels, most: int, status: int, said: str
) -> None:
    model = embedder(fake)
    texts = [f"text number {number}" for number in range(40)]
    fake.default = refusing(lambda sent: failing(status, said) if len(sent) > most else None)
    np.testing.assert_allclose(
        model.embed_passages(texts) @ model.embed_query(texts[7]), unit(texts) @ unit([texts[7]])[0], atol=1e-6
    )
    fake.requests.clear()
    model.embed_passages([f"another text {number}" for number in range(40)])
    assert max(sizes(fake)) <= most, "it is not tried again"


def unit(texts: list[str]) -> Any:
    vectors = np.array([word_vector(text) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "reply",
    [
        failing(500, "failed to encode response: json: unsupported value: NaN"),
        failing(500),
        failing(400, "Invalid input"),
        failing(422, "The text was filtered", code="content_filter"),
        failing(400, "Input data may contain inappropriate content.", code="data_inspection_failed"),
        Reply(body=b'{"data": [{"index": 0, "embedding": null}]}'),
        Reply(body=b'{"data": [{"index": 0, "embedding": [NaN, NaN]}]}'),
        Reply(body=b'{"data": [{"index": 0, "embedding": [nan]}]}'),
        closing("before"),
    ],
)
def test_texts_that_a_server_does_not_embed_are_found_and_named(
    fake: FakeModels, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monjyu_core.models.calls.resilience.FIRST_WAIT", 0.001)
    model = embedder(fake)
    texts = [f"text number {number}" for number in range(20)]
    texts[3] = texts[11] = "about the alpine lake"
    fake.default = refusing(lambda sent: reply if any("lake" in text for text in sent) else None)
    vectors, failures = embed_each(model, texts)
    assert set(failures) == {3, 11} and all(isinstance(error, ModelCallError) for error in failures.values())
    assert not vectors[3].any() and not vectors[11].any()
    kept = [place for place in range(20) if place not in (3, 11)]
    np.testing.assert_allclose(vectors[kept], unit([texts[place] for place in kept]), atol=1e-6)
    assert len(fake.requests) < 40
    with pytest.raises(ModelCallError):
        model.embed_query("alpine lake")
    assert model.embed_query("alpine meadow").any()


def test_a_server_that_embeds_nothing_is_asked_a_few_times(fake: FakeModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monjyu_core.models.calls.resilience.FIRST_WAIT", 0.001)
    for reply in (failing(500), failing(400, "no"), failing(401), Reply(body=b"<html>proxy</html>")):
        fake.requests.clear()
        fake.default = reply
        with pytest.raises(ModelCallError):
            embedder(fake).embed_passages([f"text {number}" for number in range(200)])
        assert len(fake.requests) < 40, "texts are not blamed one by one"


def test_a_server_that_fails_for_a_moment_is_asked_again(fake: FakeModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monjyu_core.models.calls.resilience.FIRST_WAIT", 0.001)
    fake.script(failing(500), failing(500), failing(500))
    vectors, failures = embed_each(embedder(fake), ["one", "two"])
    assert len(vectors) == 2 and not failures


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "This model's maximum context length is 512 tokens, however you requested 900 tokens."),
        (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 900"),
        (500, "input (900 tokens) is too large to process. increase the physical batch size (current batch size: 512)"),
        (400, "the input length exceeds the context length"),
        (400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 2048]"),
    ],
)
def test_a_text_that_is_too_long_is_read_in_windows(
    fake: FakeModels, status: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = embedder(fake)
    long = "ice on the lake in winter " * 60 + "and bees in summer " * 60
    fake.default = refusing(lambda sent: failing(status, said) if max(map(len, sent)) > 900 else None)
    vectors, failures = embed_each(model, ["short one", long, "short two"])
    assert not failures and "embedded in windows" in caplog.text
    assert vectors[1] @ unit(["ice on the lake and bees"])[0] > 0.8
    assert vectors[1] @ unit([long])[0] > 0.95
    fake.default = refusing(lambda sent: failing(status, said) if max(map(len, sent)) > 50 else None)
    _, failures = embed_each(embedder(fake), ["short one", long])
    assert set(failures) == {1} and "too long" in str(failures[1])


def test_a_paper_that_cannot_be_embedded_is_a_failure_and_the_rest_is_published(
    fake: FakeModels, new_world: World
) -> None:
    fake.default = refusing(lambda sent: failing(500, "NaN") if any("Membranes" in text for text in sent) else None)
    new_world.build()
    manifest = open_current(new_world.data.collection("c")).manifest
    tables = ("chunks", "chunk_embeddings", "embedding_failures")
    assert [manifest.rows[name] for name in tables] == [3, 2, 1]
    [failure] = level_failures(new_world.work)
    assert failure.asset == "chunk_embeddings" and "cells" in failure.message and "NaN" in failure.message
    for mode in ("keyword", "hybrid"):
        assert ask(new_world, "Which membranes are made of lipids?", mode).hits[0].paper_id == "cells", mode
    assert ask(new_world, "when does water boil").hits[0].paper_id == "water"
    answer = ask(new_world, "Which membranes are made of lipids?", "hybrid")
    assert answer.citations[0].paper_id == "cells"
    requests = len(fake.requests)
    assert look(new_world.work, "papers", allow_deletes=False).shards[0] == [], "no schedule asks again"
    again = look(new_world.work, "papers", allow_deletes=False, again=True).shards[0]
    assert len(again) == 1 and len(fake.requests) == requests
    fake.default = say("")
    new_world.build()
    manifest = open_current(new_world.data.collection("c")).manifest
    assert manifest.rows["chunk_embeddings"] == 3 and "embedding_failures" not in manifest.rows
    assert ask(new_world, "lipids in membranes", "vector").hits[0].paper_id == "cells"
    assert level_failures(new_world.work) == []


def test_a_remote_model_must_be_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"embedding.remote names the model 'mine'"):
        load_embedder(load_settings({"embedding": {"remote": "mine"}}))
    with pytest.raises(ConfigurationError, match=r"models.mine.base_url is missing"):
        load_embedder(load_settings({"embedding": {"remote": "mine"}, "models": {"mine": {"model": "x"}}}))
    with pytest.raises(ConfigurationError, match="this call has no models"):
        load_embedder(EmbeddingSettings(remote="mine"))


def mapped(vectors: Any) -> Vectors:
    return Vectors([vectors], np.arange(len(vectors), dtype=np.int32))


def cone(mean: float, count: int = 300, size: int = 256) -> Any:
    """Unit vectors whose mean similarity is about `mean`."""
    spread = np.random.default_rng(5).standard_normal((count, size)).astype(np.float32)
    spread *= np.sqrt((1 - mean) / (spread**2).sum(axis=1, keepdims=True))
    spread[:, 0] = np.sqrt(mean)
    return spread / np.linalg.norm(spread, axis=1, keepdims=True)


def test_the_scale_of_an_unknown_model_follows_its_vectors() -> None:
    for mean, model in ((0.32, "all-MiniLM-L6-v2"), (0.85, "multilingual-e5-small")):
        assert scale_of("unknown", mapped(cone(mean))) == pytest.approx(SCALES[model], abs=0.1)
        assert scale_of(model, mapped(cone(0.5))) == SCALES[model]
    for vectors in (cone(0.5)[:0], cone(0.5)[:1], np.ones((5, 1), dtype=np.float32)):
        low, high = scale_of("unknown", mapped(vectors))
        assert low < high
        assert nearness(high, (low, high)) == 1


def test_the_asset_says_what_its_models_took(
    fake: FakeModels, new_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    from monjyu_assets.orchestration.assets.level_0 import LEVEL_0
    from monjyu_assets.orchestration.resources import DataFolderResource, resources_of

    monkeypatch.setenv("MONJYU_SPENDING__PRICES", '{"fake-model-1": {"prompt": 100}}')
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("collections", ["c"])
        resources = resources_of(DataFolderResource(root=str(new_world.data.root)))
        result = dg.materialize(LEVEL_0, instance=instance, resources=resources, partition_key="c")
    events = [event.materialization.metadata for event in result.get_asset_materialization_events()]
    embedded = next(metadata for metadata in events if "tokens" in metadata)
    used = usage_of(new_world.data, CallFilter(collection="c"))
    assert embedded["tokens"].value == used.prompt_tokens > 0
    assert embedded["cost_usd"].value == pytest.approx(used.prompt_tokens * 100 / 1e6)


def test_a_cap_per_run_stops_the_index_and_a_higher_one_pays_for_the_rest_alone(
    fake: FakeModels, new_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONJYU_CACHE__ENABLED", "true")
    long = {f"r{n}": " ".join(f"Sentence {k} of record {n} says more." for k in range(400)) for n in range(4)}
    write_records(new_world.papers, long)
    monkeypatch.setenv("MONJYU_SPENDING__MAX_CALLS_PER_RUN", "1")
    with pytest.raises(CostCapReached, match="cap per run"):
        new_world.build()
    assert len(fake.requests) == 1
    monkeypatch.setenv("MONJYU_SPENDING__MAX_CALLS_PER_RUN", "0")
    new_world.build()
    sent = [text for request in fake.requests for text in request.body["input"]]
    assert len(sent) == len(set(sent)), "nothing was paid twice"


def test_every_question_that_is_embedded_is_on_the_ledger(fake: FakeModels, world: World) -> None:
    for mode in ("vector", "keyword"):
        before = len(fake.requests)
        result = ask(world, f"Which membranes have lipids, by {mode}?", mode)
        assert len(fake.requests) - before == result.usage.llm_calls == 1
    Searcher(world.data, "c").rank_papers("Where does water boil?", "vector", 3)
    assert usage_of(world.data, CallFilter(kind="query")).llm_calls == 3

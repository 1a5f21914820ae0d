"""8 bits: vectors equal to the byte whatever the batch, close to those of floats, with and without 8-bit kernels."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from monjyu_core.embedding.local import calibration, compiled, encoder
from monjyu_core.embedding.local.calibration import read_calibration
from monjyu_core.embedding.local.compiled import multiplies_integers
from monjyu_core.embedding.local.e5 import E5
from monjyu_core.embedding.local.encoder import SentenceEncoder
from monjyu_core.embedding.local.encoder_graph import EightBitProducts, build_model, to_integers
from monjyu_core.embedding.local.minilm import MiniLM
from monjyu_core.embedding.local.runtime import ov
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import EmbeddingSettings
from monjyu_query.evaluation.retrieval_quality import judged, ndcg, read_qrels, read_queries
from tests.conftest import CORPORA, needs_corpora

MODELS: list[type[SentenceEncoder]] = [MiniLM, E5]
WORDS = [
    "graph",
    "chunk",
    "of",
    "the",
    "snapshot",
    "naïve",
    "retrieval",
    "in",
    "α-helix",
    "42",
    "claims",
    "グラフ",
    "検索",
]
Vectors = NDArray[np.float32]


def texts_of(seed: int, count: int) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, k=chosen.choice([0, 1, 3, 20, 21, 90, 300]))) for _ in range(count)]


@pytest.fixture(
    scope="module", params=[MODELS[0], pytest.param(MODELS[1], marks=pytest.mark.slow)], ids=["MiniLM", "e5"]
)
def encoder_8(request: pytest.FixtureRequest) -> SentenceEncoder:
    made: SentenceEncoder = request.param("int8")
    return made


@pytest.fixture(scope="module")
def alone(encoder_8: SentenceEncoder) -> tuple[list[str], Vectors]:
    texts = texts_of(0, 24)
    return texts, np.vstack([encoder_8.embed_passages([text]) for text in texts])


def test_equal_to_the_byte_in_any_batch_and_order(
    encoder_8: SentenceEncoder, alone: tuple[list[str], Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, expected = alone
    for seed, tokens in ((1, 512), (2, 64), (3, 4096)):
        monkeypatch.setattr(encoder, "BATCH_TOKENS", max(tokens, encoder_8.max_tokens))
        order = random.Random(seed).sample(range(len(texts)), len(texts))
        mixed = [texts[place] for place in order] + texts_of(seed, 10 * seed)
        found = encoder_8.embed_passages(mixed)[: len(texts)]
        assert found.tobytes() == expected[order].tobytes()


def test_equal_to_the_byte_in_other_threads_and_another_form(
    encoder_8: SentenceEncoder, alone: tuple[list[str], Vectors]
) -> None:
    texts, expected = alone
    narrow = type(encoder_8)("int8", threads=1)
    assert narrow.embed_passages(texts).tobytes() == expected.tobytes()
    questions = [narrow.embed_query(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(encoder_8.embed_query, texts))
    assert np.array(together).tobytes() == np.array(questions).tobytes()


def test_a_question_is_a_passage_to_the_byte() -> None:
    found, texts = MiniLM("int8"), texts_of(4, 12)
    assert np.array([found.embed_query(text) for text in texts]).tobytes() == found.embed_passages(texts).tobytes()


def test_close_to_floats(encoder_8: SentenceEncoder, alone: tuple[list[str], Vectors]) -> None:
    texts, found = alone
    cosines = np.vecdot(found, type(encoder_8)("f32").embed_passages(texts))
    assert cosines.mean() > 0.995
    assert cosines.min() > 0.96  # a word repeated to the end of the window, or none, is far from text
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6


def test_the_same_integers_without_8_bit_kernels(
    encoder_8: SentenceEncoder, alone: tuple[list[str], Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last digits of the floats between the layers differ, so that now and then an integer is the next one."""
    monkeypatch.setattr(compiled, "_processor_flags", set)
    texts, expected = alone
    plain = type(encoder_8)("int8")
    assert plain.fingerprint == encoder_8.fingerprint
    assert np.vecdot(plain.embed_passages(texts), expected).min() > 0.99


@pytest.mark.skipif(not multiplies_integers(), reason="this processor has no VNNI")
def test_the_layers_run_in_8_bits(encoder_8: SentenceEncoder) -> None:
    products = EightBitProducts(read_calibration(encoder_8.model_id), integers=True)
    model = build_model(encoder_8.read_weights(), encoder_8.shape, products)
    running = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).get_runtime_model()
    kinds = [str(node.get_rt_info()["primitiveType"].astype(str)) for node in running.get_ops() if is_linear(node)]
    assert len(kinds) == 6 * encoder_8.shape.layers
    floats = 6 * encoder_8.shape.layers - len(rounded_layers(encoder_8.model_id))
    assert sum("i8" not in kind.lower() for kind in kinds) == floats <= encoder_8.shape.layers / 2


def rounded_layers(model: str) -> list[str]:
    """The layers with 8-bit weights: three read what `query` reads."""
    return [layer for name in read_calibration(model) for layer in [name] * (3 if name.endswith(".query") else 1)]


def is_linear(node: object) -> bool:
    return str(node.get_rt_info()["layerType"].astype(str)) == "FullyConnected"  # type: ignore[attr-defined]


def test_rows_keep_their_own_scale() -> None:
    values, scales = to_integers(np.array([[1, -2, 0.5], [0, 0, 0], [100, 0, -127]], dtype=np.float32))
    assert values.tolist() == [[64, -127, 32], [0, 0, 0], [100, 0, -127]]
    assert scales.tolist() == [np.float32(2 / 127), 1, 1]


def test_fingerprint_names_the_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    found = MiniLM("int8").fingerprint
    assert found.endswith(f"-int8 calibration:{calibration.SHA256['all-MiniLM-L6-v2'][:16]}")
    monkeypatch.setitem(calibration.SHA256, "all-MiniLM-L6-v2", "0" * 64)
    assert MiniLM("int8").fingerprint != found


def test_a_damaged_calibration_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "all-MiniLM-L6-v2.json"
    data = (calibration.FOLDER / name).read_bytes()
    monkeypatch.setattr(calibration, "FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        MiniLM("int8").embed_query("a")
    (tmp_path / name).write_bytes(data.replace(b"1", b"2", 1))
    with pytest.raises(ConfigurationError, match="damaged"):
        MiniLM("int8").embed_query("a")


def test_the_setting_names_it() -> None:
    assert EmbeddingSettings.model_validate({"precision": "int8"}).precision == "int8"


@pytest.mark.slow
@needs_corpora
def test_finds_as_floats_do() -> None:
    """A part of cranfield; all of it, cacm and jsquad are in docs/benchmarks.md."""
    folder = CORPORA / "cranfield"
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:200]
    documents = {record["id"]: record["text"] for record in map(json.loads, lines)}
    qrels = {
        query: {key: grade for key, grade in grades.items() if key in documents}
        for query, grades in read_qrels(folder / "qrels.tsv").items()
    }
    queries = judged(read_queries(folder / "queries.jsonl"), qrels)
    quality = {}
    for model in (MiniLM("f32"), MiniLM("int8")):
        passages = model.embed_passages(list(documents.values()))
        ranked = [best(passages, model.embed_query(query.text), list(documents)) for query in queries]
        pairs = zip(ranked, queries, strict=True)
        quality[model.fingerprint] = float(np.mean([ndcg(names, query.grades, 10) for names, query in pairs]))
    floats, eight = quality.values()
    assert floats > 0.45
    assert eight > floats - 0.01


def best(passages: Vectors, query: Vectors, names: Sequence[str]) -> list[str]:
    return [names[place] for place in np.argsort(-(passages @ query), kind="stable")[:10]]

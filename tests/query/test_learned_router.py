"""The learned router: its weights, questions that none of it was fitted to, its time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from monjyu_core.embedding.local.e5 import E5
from monjyu_core.embedding.local.minilm import MiniLM
from monjyu_core.errors import ConfigurationError
from monjyu_query.search.routing import learned_router as module
from monjyu_query.search.routing.learned_router import WEIGHTS, WEIGHTS_SHA256, learned_router
from monjyu_query.search.routing.question_kinds import QUERY_TYPES, kind_of
from tests.limits import ends

TRAINING = Path(__file__).parents[2] / "training"
HELD_OUT = [json.loads(line) for line in (TRAINING / "router_held_out.jsonl").open(encoding="utf-8")]
"""Never trained on or chosen by; other kinds of authors, other subjects."""


def test_the_weights_are_those_that_the_code_names() -> None:
    assert hashlib.sha256(WEIGHTS.read_bytes()).hexdigest() == WEIGHTS_SHA256
    assert WEIGHTS.stat().st_size < 300_000


def test_damaged_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w.npz").write_bytes(WEIGHTS.read_bytes()[:-1] + b"x")
    for path in (tmp_path / "w.npz", tmp_path / "none.npz"):
        monkeypatch.setattr(module, "WEIGHTS", path)
        with pytest.raises(ConfigurationError, match="weights"):
            learned_router.__wrapped__()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_questions_set_aside_are_told_right(language: str) -> None:
    router, model = learned_router(), MiniLM("auto", 1)
    own = [row for row in HELD_OUT if row["language"] == language]
    found = [router.kind(row["text"], model.embed_query(row["text"]), model.model_id) for row in own]
    right = np.array([kind.name == row["kind"] for kind, row in zip(found, own, strict=True)])
    patterns = np.mean([kind_of(row["text"]).name == row["kind"] for row in own])
    assert right.mean() >= 0.85 and right.mean() >= patterns + 0.1
    sure = np.array([kind.confidence or 0 for kind in found])
    assert abs(sure.mean() - right.mean()) < 0.12, "chances are what comes true"
    assert all(kind.runner_up in QUERY_TYPES and kind.runner_up != kind.name for kind in found)


def test_a_japanese_question_is_told_by_its_words_where_the_model_reads_english() -> None:
    router, query, name = learned_router(), "二つの手法の違いは何ですか", MiniLM("auto", 1).model_id
    noise = np.ones(384, np.float32)
    assert name in router.models() and E5("auto", 1).model_id in router.models()
    assert router.kind(query, noise, name) == router.kind(query)
    assert router.kind("What sets the two methods apart?", noise, name) != router.kind(
        "What sets the two methods apart?"
    )


def test_no_training_question_is_among_those_set_aside() -> None:
    trained = [json.loads(line) for line in (TRAINING / "router_questions.jsonl").open(encoding="utf-8")]
    assert len({row["text"] for row in trained}) == len(trained) >= 600
    for name in ("text", "author"):
        assert not {row[name] for row in trained} & {row[name] for row in HELD_OUT}
    assert {row["kind"] for row in trained} == set(QUERY_TYPES)


def test_the_longest_question_ends() -> None:
    ends(lambda: learned_router().kind("how does the method compare " * 350))

"""Train the router: python training/router.py [--write] [--held-out] [--corpora FOLDER]

Reads router_questions.jsonl beside it and prints, for each head, how many questions are told right where their kind of
author or their subject was left out of training, with 95 % bootstrap intervals. --write replaces the weights of the
package and prints their hash. --held-out asks the questions set aside (for a last look, never to choose by), and with
--corpora questions of others, all of which ask for a fact or a yes. Needs scipy, one of the developers' tools.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from monjyu_core.embedding.local.e5 import E5
from monjyu_core.embedding.local.minilm import MiniLM
from monjyu_query.ranking.scripts import LATIN_MODELS
from monjyu_query.search.routing import learned_router
from monjyu_query.search.routing.learned_router import (
    WORDS,
    LearnedRouter,
    cues,
    grams,
    read_router,
    unspaced,
)
from monjyu_query.search.routing.question_kinds import QUERY_TYPES, kind_of

HERE = Path(__file__).parent
OWN = HERE.parent / "tests" / "query" / "router_questions.jsonl"
GRAMS_SCALE = 2.0
VECTOR_SCALE = {"minilm": 2.0, "e5": 3.0}
CUES_SCALE = 0.8
L2 = 1.0
LEAST_GROUPS = 2
"""An n-gram counts that questions of so many pairs of author and subject have: one alone may be of the subject."""
KEPT = 9000
"""N-grams with the largest weights; the others say next to nothing."""
DRAWS = 2000
Rows = list[dict[str, Any]]


def read(path: Path) -> Rows:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row | {"kind": row.get("kind") or row.get("type")} for row in rows]


def vectors(model: Any, rows: Rows) -> np.ndarray:
    """(n, d); zeros for a question of a language that the model does not know."""
    made = np.stack([model.embed_query(row["text"]) for row in rows])
    if model.model_id in LATIN_MODELS:
        made[[unspaced(row["text"]) for row in rows]] = 0
    return made


def gram_matrix(rows: Rows, places: dict[str, int]) -> sp.csr_matrix:
    at, columns, values = [], [], []
    for n, row in enumerate(rows):
        known = [places[gram] for gram in grams(row["text"]) if gram in places]
        at += [n] * len(known)
        columns += known
        values += [1 / np.sqrt(max(len(known), 1))] * len(known)
    return sp.csr_matrix((values, (at, columns)), shape=(len(rows), len(places)))


def vocabulary(rows: Rows) -> dict[str, int]:
    groups: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for gram in grams(row["text"]):
            groups[gram].add(row["author"] + row["subject"])
    kept = sorted(gram for gram, seen in groups.items() if len(seen) >= LEAST_GROUPS)
    return {gram: place for place, gram in enumerate(kept)}


def fit(rows: Rows, made: np.ndarray, scale: float) -> tuple[dict[str, int], np.ndarray, np.ndarray, np.ndarray]:
    """Places of n-grams and weights of n-grams, cues and vector, for inputs as they come: scales and the mean of the
    vectors are in them (the mean in the weight of the last cue, which is always 1)."""
    places = vocabulary(rows)
    there = np.any(made != 0, axis=1) if made.shape[1] else np.zeros(len(rows), bool)
    mean = made[there].mean(axis=0) if there.any() else np.zeros(made.shape[1])
    centred = (made - mean) * there[:, None]
    size = np.linalg.norm(centred[there], axis=1).mean() if there.any() else 1.0
    shown = np.array([cues(row["text"]) for row in rows])
    x = sp.hstack(
        [
            gram_matrix(rows, places) * GRAMS_SCALE,
            sp.csr_matrix(shown * CUES_SCALE),
            sp.csr_matrix(centred * scale / size),
        ]
    ).tocsr()
    y = np.array([QUERY_TYPES.index(row["kind"]) for row in rows])
    truth = np.eye(len(QUERY_TYPES))[y]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(x.shape[1], -1)
        chances = softmax(x @ weights)
        cost = -np.log(chances[np.arange(len(y)), y] + 1e-12).sum() + L2 / 2 * (weights**2).sum()
        return cost, (x.T @ (chances - truth) + L2 * weights).ravel()

    found = minimize(loss, np.zeros(x.shape[1] * truth.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 80})
    weights = found.x.reshape(x.shape[1], -1)
    of_grams, of_cues, of_vector = np.split(weights, [len(places), len(places) + shown.shape[1]])
    of_grams, of_cues, of_vector = of_grams * GRAMS_SCALE, of_cues * CUES_SCALE, of_vector * scale / size
    of_cues[-1] -= mean @ of_vector
    return places, of_grams, of_cues, of_vector


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def scores_of(rows: Rows, made: np.ndarray, fitted: tuple[Any, ...]) -> np.ndarray:
    places, of_grams, of_cues, of_vector = fitted
    there = np.any(made != 0, axis=1)[:, None] if made.shape[1] else np.zeros((len(rows), 1))
    shown = np.array([cues(row["text"]) for row in rows])
    return gram_matrix(rows, places) @ of_grams + shown @ of_cues + made @ of_vector * there


def left_out(rows: Rows, made: np.ndarray, scale: float, by: str) -> np.ndarray:
    """The scores (n, k) of each question by weights that saw none of its group."""
    groups = np.array([row[by] for row in rows])
    scores = np.zeros((len(rows), len(QUERY_TYPES)))
    for group in sorted(set(groups)):
        own, others = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        fitted = fit([rows[n] for n in others], made[others], scale)
        scores[own] = scores_of([rows[n] for n in own], made[own], fitted)
    return scores


def told(rows: Rows, right: np.ndarray) -> str:
    """`en .91 [.88, .94]  ja ...`"""
    random = np.random.default_rng(16)
    parts = []
    for language in ("en", "ja"):
        own = right[[row["language"] == language for row in rows]].astype(float)
        if len(own):
            low, high = np.quantile(own[random.integers(0, len(own), (DRAWS, len(own)))].mean(axis=1), (0.025, 0.975))
            parts.append(f"{language} {own.mean():.3f} [{low:.3f}, {high:.3f}] of {len(own)}")
    return "  ".join(parts)


def temperature(scores: np.ndarray, y: np.ndarray) -> float:
    """What to multiply scores by so that chances are what comes true (maximum likelihood)."""
    tried = np.linspace(0.3, 3, 109)
    return float(min(tried, key=lambda by: -np.log(softmax(scores * by)[np.arange(len(y)), y]).sum()))


def calibration_error(chances: np.ndarray, y: np.ndarray) -> float:
    """Mean distance of the best chance from the share that is right, over ten bins."""
    best, right = chances.max(axis=1), chances.argmax(axis=1) == y
    bins = np.minimum((best * 10).astype(int), 9)
    return float(sum(abs(best[bins == b].sum() - right[bins == b].sum()) for b in range(10)) / len(y))


def packed(heads: dict[str, tuple[Any, ...]], heat: dict[str, float]) -> bytes:
    from io import BytesIO

    places = next(iter(heads.values()))[0]
    size = sum(np.abs(of_grams).max(axis=1) for _, of_grams, _, _ in heads.values())
    kept = set(np.argsort(-size, kind="stable")[:KEPT])
    names = [gram for gram, place in places.items() if place in kept]
    arrays: dict[str, np.ndarray] = {
        "grams": np.frombuffer("\n".join(names).encode(), np.uint8),
        "heads": np.frombuffer("\n".join(heads).encode(), np.uint8),
    }
    for name, (_, of_grams, of_cues, of_vector) in heads.items():
        arrays[f"{name}|grams"] = (of_grams[[places[gram] for gram in names]] * heat[name]).astype(np.float16)
        arrays[f"{name}|cues"] = (of_cues * heat[name]).astype(np.float16)
        arrays[f"{name}|vector"] = (of_vector * heat[name]).astype(np.float16)
    held = BytesIO()
    np.savez(held, **arrays)
    return held.getvalue()


def asked(router: LearnedRouter, rows: Rows, model: Any) -> list[str]:
    name = model.model_id if model else ""
    return [router.kind(row["text"], model.embed_query(row["text"]) if model else None, name).name for row in rows]


def controls(folder: Path, router: LearnedRouter, models: dict[str, Any]) -> None:
    """Questions by others, of single papers: survey and comparison are wrong nearly always."""
    for corpus in ("covidqa_dev", "pubmedqa_dev", "jsquad"):
        rows = read(folder / corpus / "queries.jsonl")[:300]
        print(corpus, "patterns", dict(Counter(kind_of(row["text"]).name for row in rows)))
        for name, model in models.items():
            print(corpus, name, dict(Counter(asked(router, rows, model))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true", help="no figures by group left out: the weights only")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--corpora", type=Path)
    options = parser.parse_args()
    rows = read(HERE / "router_questions.jsonl")
    y = np.array([QUERY_TYPES.index(row["kind"]) for row in rows])
    models = {"words": None, "minilm": MiniLM("f32", 2), "e5": E5("f32", 2)}
    print("patterns      ", told(rows, np.array([kind_of(row["text"]).name == row["kind"] for row in rows])))
    heads, heat = {}, {}
    for name, model in models.items():
        made = vectors(model, rows) if model else np.zeros((len(rows), 0))
        scale = VECTOR_SCALE.get(name, 0.0)
        scores = left_out(rows, made, scale, "author")
        by = temperature(scores, y)
        key = model.model_id if model else WORDS
        heads[key], heat[key] = fit(rows, made, scale), by
        error = calibration_error(softmax(scores * by), y)
        print(f"{name:6} author ", told(rows, scores.argmax(axis=1) == y), f"calibration error {error:.3f} (x{by:.2f})")
        if not options.quick:
            print(
                f"{name:6} subject", told(rows, left_out(rows, made, scale, "subject").argmax(axis=1) == y), flush=True
            )
    data = packed(heads, heat)
    print(f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")
    if options.write:
        learned_router.WEIGHTS.write_bytes(data)
    router = read_router(data)
    own = read(OWN)
    for name, model in models.items():
        print(
            f"{name:6} tests' questions (patterns, which are cues, were fitted to them)",
            told(own, np.array([k == r["kind"] for k, r in zip(asked(router, own, model), own, strict=True)])),
        )
    if options.held_out:
        held = read(HERE / "router_held_out.jsonl")
        print("held out: patterns", told(held, np.array([kind_of(row["text"]).name == row["kind"] for row in held])))
        for name, model in models.items():
            right = np.array([k == r["kind"] for k, r in zip(asked(router, held, model), held, strict=True)])
            print(f"held out: {name:6}", told(held, right))
    if options.corpora:
        controls(options.corpora, router, models)


if __name__ == "__main__":
    main()

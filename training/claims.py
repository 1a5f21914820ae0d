"""Learn which kind of claim a sentence makes: `claim_kinds.json` in `monjyu_assets/levels/claims/`.

A softmax regression over the cues of `claim_cues`, drawn to weights set by hand (`claim_prior.json`, of which it
keeps seven tenths where the labels say nothing): two hundred labelled sentences are few. Rare kinds weigh a little
more. Prints the share of kinds that are right with whole papers left out; `--write` writes the weights. The labels of
`claims_judge.tsv` are never read.

    PYTHONPATH=.:bench .venv/bin/python training/claims.py --data ../data-knowledge --write
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

import numpy as np
from bench_knowledge import SETS, Collection
from numpy.typing import NDArray

from monjyu_assets.levels.claims.extractive_claims import NAMES, cues_of
from monjyu_core.storage.folders import DataFolder

OUT = Path("monjyu_assets/levels/claims/claim_kinds.json")
PRIOR = Path(__file__).with_name("claim_prior.json")
OF_THE_PRIOR, STRENGTH, RARE = 0.7, 2.0, 0.3
STEPS, RATE, FOLDS = 3000, 0.02, 8
SURE = 0.55
Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="A folder as `bench_knowledge.py --data` takes it.")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kinds, prior = read_prior()
    cues, labels, papers = samples(given.data, kinds)
    fold = {paper: place % FOLDS for place, paper in enumerate(sorted(set(papers)))}
    folds = np.array([fold[paper] for paper in papers])
    chances = np.zeros((len(labels), len(kinds)))
    for one in range(FOLDS):
        chances[folds == one] = softmax(cues[folds == one] @ learned(cues[folds != one], labels[folds != one], prior).T)
    sure = (chances.max(axis=1) >= SURE) & (chances.argmax(axis=1) != kinds.index("none"))
    right = (chances.argmax(axis=1) == labels)[sure].mean()
    print(f"papers left out: {sure.sum()} of {len(labels)} sentences claimed, kind right {right:.2f}")
    if given.write:
        weights = learned(cues, labels, prior)
        found = {"kinds": kinds, "signs": list(NAMES), "weights": weights[:, 1:].round(3).tolist()}
        OUT.write_text(json.dumps(found | {"bias": weights[:, 0].round(3).tolist()}))


def read_prior() -> tuple[list[str], Array]:
    """The kinds, and their weights set by hand (kinds, 1 + cues), the bias first."""
    found = json.loads(PRIOR.read_text(encoding="utf-8"))
    rows = [[row.get(name, 0.0) for name in ("bias", *NAMES)] for row in found.values()]
    return list(found), OF_THE_PRIOR * np.array(rows)


def samples(data: Path, kinds: list[str]) -> tuple[Array, Array, list[str]]:
    """Cues with a leading 1 (sentences, 1 + cues), labels as numbers, papers."""
    cues, labels, papers = [], [], []
    collections = {name: Collection(DataFolder(data), name) for name in ("jose", "layouts")}
    with (SETS / "claims_dev.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            sentence = collections[row["collection"]].sentences[row["sentence"]]
            cues.append([1.0, *cues_of(sentence.text, sentence.section_type, sentence.heading, sentence.title)])
            labels.append(kinds.index(row["kind"]))
            papers.append(sentence.paper_id)
    return np.array(cues), np.array(labels), papers


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def learned(cues: Array, labels: Array, prior: Array) -> Array:
    """Weights (kinds, 1 + cues), by gradient descent from the prior."""
    counts = np.bincount(labels, minlength=len(prior))
    share = (len(labels) / np.maximum(3, counts)) ** RARE
    share = share[labels] / share[labels].mean()
    wanted = np.eye(len(prior))[labels]
    strength = STRENGTH * np.r_[0.3, np.ones(prior.shape[1] - 1)]
    weights = prior.copy()
    for _ in range(STEPS):
        error = (softmax(cues @ weights.T) - wanted) * share[:, None]
        weights -= RATE * (error.T @ cues + 2 * strength * (weights - prior)) / np.sqrt(len(labels))
    return weights


if __name__ == "__main__":
    main()

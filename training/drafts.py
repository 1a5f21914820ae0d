"""Learn how much each sign weighs in the check of a draft's claims: `claim_weights.json` in `monjyu_query/drafts/`.

A multinomial logistic regression over `claim_signs.NAMES` with an L2 penalty, learned from the develop part of the set
of `bench/citation_set.py`, without its real citing sentences, and from the written part, each of whose claims counts
three times; each class weighs alike. `--write` writes the weights. `--data` is a data folder as `bench/bench_drafts.py`
takes it. Of the written part it tells what weights say that were learned without the claim's collection.

    PYTHONPATH=.:bench .venv/bin/python training/drafts.py --data DATA --write
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from bench_drafts import Signed, confusion_of, signed
from bench_search import CORPORA
from citation_set import make
from numpy.typing import NDArray

from monjyu_query.drafts.claim_signs import NAMES
from monjyu_query.drafts.judging import LABELS, chances, likeliest

OUT = Path("monjyu_query/drafts/claim_weights.json")
STEPS, RATE, PENALTY = 3000, 0.3, 0.003
WRITTEN = 3
"""How often a written claim counts: there are 300, and 1,137 that rules made."""
Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = signed(given.data, make(given.data, given.corpora))
    develop = [row for row in rows if row.claim.part == "develop" and row.claim.kind != "citing"]
    written = [row for row in rows if row.claim.part == "written"]
    weights = learned(develop + WRITTEN * written)
    for part in ("develop", "held_out", "outside"):
        of_part = [row for row in rows if row.claim.part == part]
        print(part, confusion_of(of_part, said(of_part, weights)))
    print("written, unseen", confusion_of(*unseen(develop, written)))
    if given.write:
        table = {
            label: {
                name: round(float(value), 3) for name, value in zip(("bias", *NAMES), weights[:, place], strict=True)
            }
            for place, label in enumerate(LABELS)
        }
        OUT.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def said(rows: list[Signed], weights: Array) -> list[str]:
    """The verdicts by these weights."""
    table = chances(np.array([[row.signs[name] for name in NAMES] for row in rows]), weights)
    return [LABELS[likeliest(row)] for row in table]


def unseen(develop: list[Signed], written: list[Signed]) -> tuple[list[Signed], list[str]]:
    """The written claims, each with its verdict by weights learned from the other collections only."""
    found: list[Signed] = []
    verdicts: list[str] = []
    for name in sorted({row.claim.collection for row in written}):
        alike = {name, "pubmed"} if name == "abstracts" else {name}
        others = [row for row in develop + WRITTEN * written if row.claim.collection not in alike]
        here = [row for row in written if row.claim.collection == name]
        found += here
        verdicts += said(here, learned(others))
    return found, verdicts


def learned(rows: list[Signed]) -> Array:
    """(1 + signs, labels), by gradient descent."""
    signs = np.array([[1.0, *(row.signs[name] for name in NAMES)] for row in rows])
    truth = np.array([[float(row.claim.label == label) for label in LABELS] for row in rows])
    share = (truth / truth.sum(axis=0)).sum(axis=1) / len(LABELS)
    weights = np.zeros((signs.shape[1], len(LABELS)))
    for _ in range(STEPS):
        chance = chances(signs[:, 1:], weights)
        slope = signs.T @ (share[:, None] * (chance - truth))
        slope[1:] += PENALTY * weights[1:]
        weights -= RATE * slope
    return weights


if __name__ == "__main__":
    main()

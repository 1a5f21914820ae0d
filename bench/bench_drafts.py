"""How often the check of a draft's citations is right: precision and recall of each verdict, and by kind of claim.

The claims are those of `citation_set.py`: the develop part gave the weights, the held-out part shares no paper with it.

    PYTHONPATH=.:bench .venv/bin/python bench/citation_set.py --data DATA --out set.jsonl
    PYTHONPATH=.:bench .venv/bin/python bench/bench_drafts.py --data DATA --claims set.jsonl
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from citation_set import Claim

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.paper_label import paper_labels
from monjyu_query.drafts.claim_signs import claim_signs
from monjyu_query.drafts.evidence import Evidence
from monjyu_query.drafts.judging import LABELS, verdict_of
from monjyu_query.search.searcher import Searcher


@dataclass(frozen=True)
class Signed:
    claim: Claim
    signs: dict[str, float]


def claims_of(path: Path) -> list[Claim]:
    return [Claim(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def signed(data: Path, claims: Sequence[Claim]) -> list[Signed]:
    """The signs of every claim, as the check takes them."""
    found = []
    for name in sorted({claim.collection for claim in claims}):
        searcher = Searcher(DataFolder(data), name, None)
        index = searcher.current()
        evidence = Evidence(index, searcher.tools)
        labels = paper_labels(index, [claim.paper_id for claim in claims if claim.collection == name])
        for claim in claims:
            if claim.collection == name:
                sentences = evidence.find(claim.text, claim.paper_id, claim.without)
                about = f"{labels[claim.paper_id]} {index.about_papers[claim.paper_id].title}"
                found.append(Signed(claim, claim_signs(claim.text, sentences, about)[0]))
    return found


def confusion_of(rows: Sequence[Signed], said: Sequence[str]) -> dict[str, dict[str, float]]:
    """Precision, recall and count of each label."""
    found = {}
    for label in LABELS:
        right = sum(row.claim.label == label == one for row, one in zip(rows, said, strict=True))
        truth = sum(row.claim.label == label for row in rows)
        named = sum(one == label for one in said)
        found[label] = {
            "precision": round(right / max(1, named), 2),
            "recall": round(right / max(1, truth), 2),
            "n": truth,
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--claims", type=Path, required=True)
    given = parser.parse_args()
    rows = signed(given.data, claims_of(given.claims))
    for part in ("develop", "held_out", "outside"):
        of_part = [row for row in rows if row.claim.part == part]
        said = [verdict_of(row.signs)[0] for row in of_part]
        print(json.dumps({"part": part, **confusion_of(of_part, said)}))
        for kind in sorted({row.claim.kind for row in of_part}):
            counts = Counter(one for row, one in zip(of_part, said, strict=True) if row.claim.kind == kind)
            print(f"  {kind:14}", dict(counts))


if __name__ == "__main__":
    main()

"""How often the check of a draft's citations is right: precision and recall of each verdict, and by kind of claim.

The claims are those of `citation_set.py`: the develop part and the written one gave the weights, the held-out part
shares no paper with the first. How the written ones fare unseen `training/drafts.py` tells.

    PYTHONPATH=.:bench .venv/bin/python bench/bench_drafts.py --data DATA

Without `--data` the corpora are indexed into a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_search import CORPORA
from citation_set import COLLECTIONS, UNSEEN, Claim, make, write_pubmed, write_unseen

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.paper_label import paper_labels
from monjyu_query.drafts.claim_evidence import Evidence
from monjyu_query.drafts.claim_signs import claim_signs
from monjyu_query.drafts.judging import LABELS, verdict_of
from monjyu_query.search.searcher import Searcher

PARTS = ("develop", "held_out", "outside", "written", "unseen")


@dataclass(frozen=True)
class Signed:
    claim: Claim
    signs: dict[str, float]


def indexed(data: Path, corpora: Path) -> None:
    """Index what is there of the set's collections to level 1."""
    for name, folder in (COLLECTIONS | dict.fromkeys(UNSEEN, "")).items():
        source = corpora / folder
        if not source.is_dir():
            continue
        if name in UNSEEN:
            source = data / "made" / name
            source.mkdir(parents=True)
            write_unseen(name, source)
        if name == "pubmed":
            source = data / "made" / "pubmed"
            source.mkdir(parents=True)
            write_pubmed(corpora, source / "pubmed.jsonl")
        command = [sys.executable, "-m", "monjyu_core", "index", str(source), "-c", name, "--level", "1", "--json"]
        environment = os.environ | {"MONJYU_DATA": str(data)}
        subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)


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
                paper = evidence.whole(claim.paper_id, about, claim.without)
                found.append(Signed(claim, claim_signs(claim.text, sentences, paper, evidence.rarity(claim.text))[0]))
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
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--data", type=Path, help="A data folder that has the collections.")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        data = given.data or Path(made)
        if given.data is None:
            indexed(data, given.corpora)
        rows = signed(data, make(data, given.corpora))
    found = {part: _part([row for row in rows if row.claim.part == part]) for part in PARTS}
    print(json.dumps(found, indent=None if given.json else 1))


def _part(rows: Sequence[Signed]) -> dict[str, object]:
    """Figures of the labels, and of each kind how often which verdict was said."""
    said = [verdict_of(row.signs)[0] for row in rows]
    kinds: dict[str, Counter[str]] = {}
    for row, one in zip(rows, said, strict=True):
        kinds.setdefault(row.claim.kind, Counter())[one] += 1
    return {"claims": len(rows), **confusion_of(rows, said), "kinds": kinds}


if __name__ == "__main__":
    main()

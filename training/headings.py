"""Learn which lines of a PDF are headings from PDFs with an outline: `heading_trees.npz` in `.../formats/pdf/body/`.

A line that an entry of the outline names is a heading, and any other candidate is not; what the outline may leave out
(known headings such as thanks, deeper numbers, lines that overlap) is not learned from. The outline itself is hidden.
Prints precision and recall on collections that were left out; `--write` learns from all of them and writes the trees.

    PYTHONPATH=. ../train/bin/python training/headings.py --papers ../papers [--write]

`../papers` has a folder a collection (a repository, a journal) with PDFs. A `NAME.json` beside a PDF lists its headings
in place of an outline. It needs scikit-learn beside Monjyu's packages.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from monjyu_assets.parsing.formats.pdf.body.heading import Heading
from monjyu_assets.parsing.formats.pdf.body.heading_features import candidate_features
from monjyu_assets.parsing.formats.pdf.body.heading_trees import WEIGHTS
from monjyu_assets.parsing.formats.pdf.body.headings import heading_candidates, outline_marks
from monjyu_assets.parsing.formats.pdf.labelling import Labelled, settle_lines
from monjyu_assets.parsing.formats.pdf.page.layout import OutlineItem, squeezed
from monjyu_assets.parsing.formats.pdf.reading import read_layout
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_core.errors import DocumentError
from monjyu_core.settings.papers import OcrSettings, ParseSettings

FOLDS = 5
THRESHOLD = 0.45
STOPPED = 7
USUAL_COUNT = 60
"""Candidates of a paper; the many of one with large tables weigh less."""
Marks = dict[int, tuple[int, OutlineItem]]


@dataclass
class Paper:
    """`labels`: 1 a heading, 0 none, -1 not known."""

    collection: str
    features: NDArray[np.float64]
    labels: NDArray[np.int64]


def paper_of(path: Path) -> Paper | None:
    """None where the outline names few lines, or is not that of the text."""
    try:
        layout, _ = read_layout(path, ParseSettings(), OcrSettings(enabled="off"), "not for training")
    except DocumentError:
        return None
    outline, layout.outline = layout.outline, []
    labelled = settle_lines(layout)
    if (listed := path.with_suffix(".json")).exists():
        wanted = {squeezed(heading) for heading in json.loads(listed.read_text())}
        found = _candidates(labelled)
        own = np.array([int(squeezed(heading.text) in wanted) for heading in found])
        return Paper(path.parent.name, candidate_features(layout, found), own) if found else None
    marks: Marks = {}
    layout.outline = outline
    for first, last in labelled.ranges:
        marks |= outline_marks(layout, first, last)
    layout.outline = []
    title = squeezed(labelled.title)
    items = [
        item for item in outline
        if section_type(item.title) not in ("references", "abstract") and squeezed(item.title) != title
    ]  # fmt: skip
    if len(marks) < max(4, 0.7 * len(items)):
        return None
    found = _candidates(labelled)
    if not found:
        return None
    styles = {layout.lines[start].style for start in marks}
    deepest = max(len((strip_numbering(item.title)[0] or "").split(".")) for _, item in marks.values())
    labels = [_label(heading, marks, deepest, heading.style in styles) for heading in found]
    if len(path.stem) % STOPPED == 0:  # in some papers each heading ends with a full stop
        for heading, label in zip(found, labels, strict=True):
            heading.text += "." * (label == 1)
    return Paper(path.parent.name, candidate_features(layout, found), np.array(labels))


def _candidates(labelled: Labelled) -> list[Heading]:
    return [
        heading for first, last in labelled.ranges
        for heading in heading_candidates(labelled.layout, first, last, labelled.words, {}) if not heading.run_in
    ]  # fmt: skip


def _label(heading: Heading, marks: Marks, deepest: int, usual: bool) -> int:
    if heading.start in marks:
        return 1 if abs(marks[heading.start][0] - heading.end) <= 1 else -1
    if any(start < heading.end and heading.start < end for start, (end, _) in marks.items()):
        return -1
    if section_type(heading.text) != "other" and (usual or any(heading.style[1:])):
        return -1
    deeper = re.fullmatch(r"\d+(?:\.\d+)+", heading.number or "") and (heading.number or "").count(".") >= deepest
    return -1 if deeper else 0


def learned(papers: Sequence[Paper]) -> HistGradientBoostingClassifier:
    features = np.vstack([paper.features for paper in papers])
    labels = np.concatenate([paper.labels for paper in papers])
    weights = np.concatenate([np.full(len(p.labels), min(1, USUAL_COUNT / len(p.labels))) for p in papers])
    known = labels >= 0
    model = HistGradientBoostingClassifier(
        max_iter=120, max_leaf_nodes=12, max_bins=63, learning_rate=0.08, min_samples_leaf=10, l2_regularization=1,
        random_state=0,
    )  # fmt: skip
    return model.fit(features[known], labels[known], sample_weight=weights[known])


def judge(papers: Sequence[Paper]) -> None:
    """Each collection is judged by trees that have not seen it."""
    names = sorted({paper.collection for paper in papers})
    fold = {name: k % FOLDS for k, name in enumerate(np.random.RandomState(0).permutation(names))}
    hits = wrong = missed = clean = 0
    for k in range(FOLDS):
        model = learned([paper for paper in papers if fold[paper.collection] != k])
        for paper in papers:
            if fold[paper.collection] == k:
                likely = model.predict_proba(paper.features)[:, 1] >= THRESHOLD
                extra, lost = (likely & (paper.labels == 0)).sum(), (~likely & (paper.labels == 1)).sum()
                hits += (likely & (paper.labels == 1)).sum()
                wrong, missed = wrong + extra, missed + lost
                clean += extra + lost <= 0.1 * (paper.labels == 1).sum()
    print(f"{len(papers)} papers of {len(names)} collections, {hits + missed} headings")
    print(f"recall {hits / (hits + missed):.3f}, precision {hits / (hits + wrong):.3f}")
    print(f"papers with at most a tenth wrong: {clean}")


def write(model: HistGradientBoostingClassifier) -> None:
    trees = [step[0].nodes for step in model._predictors]
    roots = np.cumsum([0, *(len(nodes) for nodes in trees)])[:-1]
    nodes = np.concatenate(trees)
    place = np.arange(len(nodes))
    offset = np.repeat(roots, [len(tree) for tree in trees])
    leaf = nodes["is_leaf"].astype(bool)
    np.savez_compressed(
        WEIGHTS, roots=roots.astype(np.uint16), feature=np.where(leaf, 0, nodes["feature_idx"]).astype(np.uint8),
        threshold=np.where(leaf, 0, nodes["num_threshold"]), value=np.where(leaf, nodes["value"], 0),
        left=np.where(leaf, place, nodes["left"] + offset).astype(np.uint16),
        right=np.where(leaf, place, nodes["right"] + offset).astype(np.uint16),
        base=np.array([float(model._baseline_prediction.ravel()[0]), max(int(tree["depth"].max()) for tree in trees)]),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    papers = [paper for path in sorted(arguments.papers.glob("*/*.pdf")) if (paper := paper_of(path))]
    judge(papers)
    if arguments.write:
        write(learned(papers))


if __name__ == "__main__":
    main()

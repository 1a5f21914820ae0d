"""Learn how confident an answer may be: `confidence_*.json` in `monjyu_query/answers/evidence_ranking/weights/`.

Every question of the developers' sets is asked twice, with all papers and without the one that answers it. An answer is
right where its quotes have hold of the gold; without the paper none is. A logistic regression over what the evidence
shows (`monjyu_query.answers.outcome.FEATURES`) gives the chance; the outcomes begin where the wanted shares lie among
questions that were left out of learning. A question without its paper counts half: two of three can be answered.

    PYTHONPATH=. .venv/bin/python training/confidence.py --data ../data-evidence --corpora ../shared/corpora --write
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from evidence import Array, papers_of, regression
from numpy.typing import NDArray

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.composition import asked_of, weighed
from monjyu_query.answers.evidence_ranking.evidence_ranker import Regression
from monjyu_query.answers.outcome import FEATURES
from monjyu_query.answers.selection import Question
from monjyu_query.evaluation.gold_answers import Gold, PaperTexts, Quote, SpanQuestion, read_gold
from monjyu_query.modes.passages.best_passages import evidence_passages
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.passages import load_sentences
from monjyu_query.search.request import Filters, make_request
from monjyu_query.search.searcher import Searcher

EVERY = {"covidqa": 2, "pubmedqa": 2, "jsquad": 14}
SCRIPTS = {"spaced": ("covidqa", "pubmedqa"), "wide": ("jsquad",)}
OUT = Path("monjyu_query/answers/evidence_ranking/weights")
FOLDS = 5
WITHOUT = 0.5
"""What a question without its paper counts beside one with it."""
ABSTAINED = 0.01
"""Share of answerable questions that may go without an answer."""
CAUGHT = 0.8
"""Share of questions without their paper that must not be answered as if all were well."""


@dataclass
class Sample:
    """`right`: the quotes have hold of the gold; `whole`: asked with all papers."""

    features: Array
    right: bool
    whole: bool
    missing: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--kept", type=Path, help="a file that samples are kept in")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.kept and given.kept.exists():
        samples = pickle.loads(given.kept.read_bytes())
    else:
        samples = {name: sampled(name, given.data, given.corpora) for name in EVERY}
        if given.kept:
            given.kept.write_bytes(pickle.dumps(samples))
    for script, names in SCRIPTS.items():
        every = [one for name in names for one in samples[name]]
        fold = np.concatenate([np.arange(len(samples[name])) // 2 % FOLDS for name in names])
        chances = left_out(every, fold)
        least, sure = thresholds(every, chances)
        print(f"{script}: least {least:.3f} sure {sure:.3f}")
        sets = np.repeat(names, [len(samples[name]) for name in names])
        for name in names:
            report(f"{name}, questions left out", samples[name], chances[sets == name], least, sure)
            others = [one for other in names if other != name for one in samples[other]]
            if others:
                report(f"{name}, set left out", samples[name], learned(others)(features_of(samples[name])), least, sure)
        if given.write:
            write(script, learned(every), least, sure)


def learned(samples: Sequence[Sample]) -> Regression:
    shares = np.array([1.0 if one.whole else WITHOUT for one in samples])
    return regression(features_of(samples), labels_of(samples), shares)


def left_out(samples: Sequence[Sample], fold: NDArray[np.intp]) -> Array:
    chances = np.zeros(len(samples))
    for number in range(FOLDS):
        model = learned([one for one, own in zip(samples, fold, strict=True) if own != number])
        chances[fold == number] = model(features_of(samples)[fold == number])
    return chances


def write(script: str, model: Regression, least: float, sure: float) -> None:
    held = {name: round(float(weight), 6) for name, weight in zip(FEATURES, model.weights, strict=True)}
    held |= {"bias": round(model.bias, 6), "least": round(least, 4), "sure": round(sure, 4)}
    content = (json.dumps(held, indent=1) + "\n").encode()
    (OUT / f"confidence_{script}.json").write_bytes(content)
    print(f'"confidence_{script}": "{hashlib.sha256(content).hexdigest()}"')


def sampled(name: str, data: Path, corpora: Path) -> list[Sample]:
    folder = corpora / (name if (corpora / name).exists() else f"{name}_dev")
    searcher = Searcher(DataFolder(data), name)
    searcher.prepare()
    relevant = papers_of(folder / "qrels.tsv")
    papers = PaperTexts(searcher.current().snapshot.cursor())
    found = []
    for one in read_gold(folder / "queries.jsonl")[:: EVERY[name]]:
        paper = relevant.get(one.question_id, one.doc or "")
        found += [sample(searcher, one, papers, ""), sample(searcher, one, papers, paper)]
    print(name, len(found), flush=True)
    return found


def sample(searcher: Searcher, one: SpanQuestion, papers: PaperTexts, without: str) -> Sample:
    """As mode hybrid answers, with all papers or without one."""
    index = searcher.current()
    others = [name for name in index.corpus.paper_ids if name != without] if without else []
    request = make_request(
        query=one.text, collection=searcher.collection, mode="hybrid", filters=Filters(paper_ids=others)
    )
    ask = searcher._ask(index, request, None, None)
    ranking = rank(index, searcher.tools.embedder, one.text, "hybrid", request.filters, ask.settings)
    passages = evidence_passages(ask, ranking)
    question = Question.of(index.keywords.query_terms(one.text).result(), len(index.corpus))
    near = float(ranking.similarity[ranking.scores > -np.inf].max()) if ranking.similarity is not None else None
    sentences = load_sentences(index.snapshot.cursor(), passages)
    _, windows, support = weighed(asked_of(searcher.tools, ask, question), passages, sentences, near)
    right = not without and Gold(one, papers).is_found([Quote(w.key.passage.paper_id, w.text) for w in windows])
    return Sample(np.array(support.features), right, not without, support.missing)


def features_of(samples: Sequence[Sample]) -> Array:
    return np.array([one.features for one in samples])


def labels_of(samples: Sequence[Sample]) -> Array:
    return np.array([float(one.right) for one in samples])


def thresholds(samples: Sequence[Sample], chances: Array) -> tuple[float, float]:
    whole = np.array([one.whole for one in samples])
    least = float(np.quantile(chances[whole], ABSTAINED))
    return least, max(least, float(np.quantile(chances[~whole], CAUGHT)))


def outcomes(samples: Sequence[Sample], chances: Array, least: float, sure: float) -> tuple[str, ...]:
    whole = np.array([one.whole for one in samples])
    right = labels_of(samples) > 0
    return (
        f"answerable: abstained {np.mean(chances[whole] < least):.2f} complete {np.mean(chances[whole] >= sure):.2f}",
        f"right: abstained {np.mean(chances[right] < least):.2f} complete {np.mean(chances[right] >= sure):.2f}",
        f"without source: abstained {np.mean(chances[~whole] < least):.2f} complete "
        f"{np.mean(chances[~whole] >= sure):.2f}",
    )


def report(name: str, own: Sequence[Sample], chances: Array, least: float, sure: float) -> None:
    """How often each outcome, how well right answers are told from others, and how far the chance is off."""
    label = labels_of(own)
    order = np.argsort(chances)
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    positive = label > 0
    auc = (ranks[positive].mean() - (positive.sum() + 1) / 2) / (~positive).sum()
    off = np.mean([abs(chances[some].mean() - label[some].mean()) for some in np.array_split(order, 10)])
    print(f"{name}: AUC {auc:.3f}, off by {off:.3f};", *outcomes(own, chances, least, sure))


if __name__ == "__main__":
    main()

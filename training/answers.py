"""Learn the weights by which an answer's sentences are chosen and its confidence told (`WEIGHTS` of
`monjyu_query/answers/sentence_ranking.py`), from questions whose answering sentences are known.

    PYTHONPATH=. .venv/bin/python training/answers.py --data FOLDER [--reader off]

Indexes the developers' sets into FOLDER (once), asks every n-th question with all papers and without the one that
answers, and prints the weights that each set gives, with how they do on the others: how often gold is quoted, in how
many words, AUC and calibration error of the confidence, and how many questions are kept back at each confidence.
The English reader has seen neither of its sets, the multilingual one not jsquad (training/README.md).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.citing import Neighbours, Window
from monjyu_query.answers.composition import FACT, asked_of
from monjyu_query.answers.selection import Question, choose_windows, word_count
from monjyu_query.answers.sentence_ranking import Judge, log_odds, share_of_all
from monjyu_query.asking.passages import PassageSentence, load_sentences
from monjyu_query.asking.request import Filters, make_request
from monjyu_query.evaluation.gold_answers import Gold, PaperTexts, Quote, SpanQuestion, read_gold
from monjyu_query.modes.best_passages import evidence_passages
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.searcher import Searcher

Array = NDArray[np.float64]
SETS = {"covidqa_dev": 4, "pubmedqa_dev": 5, "jsquad": 60}
"""With the step in which their questions are asked; every second of these is asked without its paper, too."""
ENGLISH = ("covidqa_dev", "pubmedqa_dev")
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6)
"""Of the best sentence's worth, which a further one must have."""
RIDGE, LISTWISE_RIDGE = 1.0, 0.02


@dataclass
class Sample:
    """A question's sentences with their signals (n, 4) and which are evidence (n,). `whole`: asked with all papers."""

    whole: bool
    question: Question
    sentences: Sequence[PassageSentence]
    terms: Sequence[Sequence[str]]
    neighbours: Neighbours
    signals: Array
    answered: float
    label: Array
    gold: Gold


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--reader", choices=["auto", "off"], default="auto")
    given = parser.parse_args()
    os.environ["MONJYU_SEARCH__READER"] = given.reader
    samples = {name: list(sampled(name, given.data, given.corpora)) for name in SETS}
    for name, own in samples.items():
        others = [one for other in ENGLISH if other != name for one in samples[other]] if name in ENGLISH else own
        report(f"{name}, learned from others" if name in ENGLISH else f"{name}, learned from itself", others, own)
    for names in (ENGLISH, ("jsquad",)):
        every = [one for name in names for one in samples[name]]
        weights = sentence_weights(every)
        print(", ".join(names), "sentences", np.round(weights, 3), "confidence", np.round(sure(every, weights), 3))


def sampled(name: str, data: Path, corpora: Path) -> Iterator[Sample]:
    if not (data / "index" / name).exists():
        command = [sys.executable, "-m", "monjyu_core", "index", str(corpora / name / "corpus.jsonl"), "-c", name]
        subprocess.run(command, check=True, env=os.environ | {"MONJYU_DATA": str(data)})
    searcher = Searcher(DataFolder(data), name)
    lines = (corpora / name / "qrels.tsv").read_text().splitlines()[1:] if name == "jsquad" else []
    relevant = {line.split("\t")[0]: line.split("\t")[1] for line in lines}
    papers = PaperTexts(searcher.current().snapshot.cursor())
    for number, one in enumerate(read_gold(corpora / name / "queries.jsonl")[:: SETS[name]]):
        paper = relevant.get(one.question_id, one.doc or "")
        yield sample(searcher, one, papers, paper, whole=True)
        if number % 2 == 0:
            yield sample(searcher, one, papers, paper, whole=False)


def sample(searcher: Searcher, one: SpanQuestion, papers: PaperTexts, paper: str, *, whole: bool) -> Sample:
    """As mode hybrid answers, with all papers or without one."""
    index = searcher.current()
    others = [] if whole else [name for name in index.corpus.paper_ids if name != paper]
    request = make_request(
        query=one.text, collection=searcher.collection, mode="hybrid", filters=Filters(paper_ids=others)
    )
    ask = searcher._ask(index, request, None, None)
    passages = evidence_passages(
        ask, rank(index, searcher.tools.embedder, one.text, "hybrid", request.filters, ask.settings)
    )
    sentences = load_sentences(index.snapshot.cursor(), passages)
    question = Question.of(index.keywords.query_terms(one.text), len(index.corpus))
    asked = asked_of(searcher.tools, ask, question)
    terms = question.read(index.keywords.terms([sentence.text for sentence in sentences]))
    judge = Judge(index, one.text, question, asked.similarities, asked.readings)
    signals, answered = judge.signals(sentences, terms)
    gold, its = Gold(one, papers), [one.doc is not None or s.passage.paper_id == paper for s in sentences]
    right = [
        whole and mine and gold.is_evidence(Quote(s.passage.paper_id, s.text))
        for s, mine in zip(sentences, its, strict=True)
    ]
    label = np.array(right, dtype=float)
    return Sample(
        whole,
        question,
        sentences,
        terms,
        Neighbours(sentences),
        signals,
        0.5 if answered is None else answered,
        label,
        gold,
    )


def regression(features: Array, label: Array, steps: int = 30) -> Array:
    """Logistic regression with a ridge on standardised features, by iteratively reweighted least squares: weights (k)
    and a bias."""
    mean, deviation = features.mean(0), features.std(0) + 1e-9
    design = np.hstack([(features - mean) / deviation, np.ones((len(features), 1))])
    ridge = np.diag([RIDGE] * features.shape[1] + [0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-(design @ weights)))
        curvature = design.T @ (design * (chance * (1 - chance))[:, None]) + ridge
        weights += np.linalg.solve(curvature, design.T @ (label - chance) - ridge @ weights)
    plain = weights[:-1] / deviation
    return np.append(plain, weights[-1] - plain @ mean)


def ordering(samples: Sequence[Sample], steps: int = 60) -> Array:
    """Weights (4) that put evidence before the other sentences of its question: a softmax over them, with a ridge. That
    of the passage is 0, because most candidates are of one paper."""
    weights, used = np.zeros(4), [0, 2, 3]
    for _ in range(steps):
        slope, curvature = -2 * LISTWISE_RIDGE * len(samples) * weights[used], LISTWISE_RIDGE * len(samples) * np.eye(3)
        for one in samples:
            own = one.signals[:, used]
            chance = np.exp((scores := own @ weights[used]) - scores.max())
            chance /= chance.sum()
            evidence = chance * one.label / (chance * one.label).sum()
            slope += (evidence - chance) @ own
            curvature += (own * chance[:, None]).T @ own - np.outer(chance @ own, chance @ own)
        weights[used] += np.linalg.solve(curvature + LISTWISE_RIDGE * len(samples) * np.eye(3), slope)
    return weights


def sentence_weights(samples: Sequence[Sample]) -> Array:
    """Of the four signals, and a bias: those of the order, with the slope and bias that make probabilities of it."""
    some = [one for one in samples if one.whole]
    weights = ordering([one for one in some if one.label.any()])
    every = np.concatenate([one.signals @ weights for one in some])
    slope, bias = regression(every[:, None], np.concatenate([one.label for one in some]))
    return np.append(slope * weights, bias)


def worth(one: Sample, weights: Array) -> Array:
    chances: Array = 1 / (1 + np.exp(-(one.signals @ weights[:-1] + weights[-1])))
    return chances


def quoted(one: Sample, weights: Array, share: float) -> list[Window]:
    limits = replace(FACT, share=share)
    return choose_windows(one.question, worth(one, weights), one.sentences, one.terms, limits, one.neighbours)


def measured(samples: Sequence[Sample], weights: Array, share: float) -> tuple[float, float, float, float]:
    """Share of questions whose gold is quoted, mean and median words of an answer, share of quotes that are gold."""
    found, words, right = [], [], []
    for one in samples:
        windows = quoted(one, weights, share) if one.whole else []
        quotes = [Quote(window.key.passage.paper_id, window.text) for window in windows]
        if one.whole:
            found.append(one.gold.is_found(quotes))
            words.append(sum(word_count(window.text) for window in windows))
            right += [one.gold.is_evidence(quote) for quote in quotes]
    return float(np.mean(found)), float(np.mean(words)), float(np.median(words)), float(np.mean(right))


def facts(samples: Sequence[Sample], weights: Array) -> tuple[Array, Array]:
    """Log odds of the best sentence and of the best passage, and the best sentence's share of all (n, 3), and whether
    the answer is right (n,)."""
    rows, right = [], []
    for one in samples:
        chances = worth(one, weights)
        best, total = float(chances.max(initial=0.0)), float(chances.sum())
        rows.append([log_odds(np.array(best)), log_odds(np.array(one.answered)), share_of_all(best, total)])
        quotes = [Quote(w.key.passage.paper_id, w.text) for w in quoted(one, weights, FACT.share)]
        right.append(one.whole and one.gold.is_found(quotes))
    return np.array(rows), np.array(right, dtype=float)


def sure(samples: Sequence[Sample], weights: Array) -> Array:
    """Weights of the confidence (3), and a bias. Those that would be negative are 0."""
    rows, right = facts(samples, weights)
    used = [0, 1, 2]
    while (fitted := regression(rows[:, used], right))[:-1].min() < 0:
        used = [column for column, weight in zip(used, fitted, strict=False) if weight >= 0]
    found = np.zeros(4)
    found[[*used, 3]] = fitted
    return found


def report(name: str, learned_from: Sequence[Sample], own: Sequence[Sample]) -> None:
    weights = sentence_weights(learned_from)
    confidence = sure(learned_from, weights)
    for share in SHARES:
        found, mean, median, precision = measured(own, weights, share)
        print(f"{name}, {share}: gold {found:.3f} in {mean:.0f} words (median {median:.0f}), precise {precision:.3f}")
    rows, right = facts(own, weights)
    chances = 1 / (1 + np.exp(-(rows @ confidence[:-1] + confidence[-1])))
    ranks = np.argsort(np.argsort(chances)) + 1
    count = right.sum()
    auc = (ranks[right > 0].mean() - (count + 1) / 2) / (len(right) - count)
    parts = np.array_split(np.argsort(chances), 10)
    off = np.mean([abs(chances[part].mean() - right[part].mean()) for part in parts])
    print(f"{name}: confidence AUC {auc:.3f}, off by {off:.3f}")
    whole = np.array([one.whole for one in own])
    for limit in (0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
        below = [float(np.mean(chances[some] < limit)) for some in (whole, ~whole)]
        print(f"{name}: below {limit}: {below[0]:.2f} of all, {below[1]:.2f} without their paper")


if __name__ == "__main__":
    main()

"""Learn the weights of the evidence ranker from questions whose answering sentences are known.

    python training/evidence.py --data FOLDER --corpora ../shared/corpora [--write]

Indexes the developers' sets into FOLDER (once), makes the features with the code that answers use, and prints how often
the gold is quoted at a given number of words, with papers left out (five folds) and with whole collections left out.
`--write` learns from all and writes the weights and the labels (ids and offsets; no text of a paper).

Weights of `spaced` are learned from covidqa_dev and pubmedqa_dev, those of `wide` from jsquad (CC BY-SA 4.0), apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import AnswerSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.evidence_ranking.answer_types import asked_types
from monjyu_query.answers.evidence_ranking.evidence_ranker import READ, Regression
from monjyu_query.answers.evidence_ranking.sentence_features import (
    VECTOR_FEATURES,
    WORD_FEATURES,
    vector_features,
    word_count,
    word_features,
)
from monjyu_query.answers.quote_windows import Neighbours
from monjyu_query.answers.selection import Limits, Question, choose_windows
from monjyu_query.evaluation.gold_answers import Gold, PaperTexts, Quote, SpanQuestion, read_gold
from monjyu_query.modes.passages.best_passages import EVIDENCE_PASSAGES, EVIDENCE_PER_PAPER
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.passages import PassageSentence, load_passages, load_sentences
from monjyu_query.search.request import Filters
from monjyu_query.search.searcher import Searcher

Array = NDArray[np.float64]
SETS = {"covidqa": "spaced", "pubmedqa": "spaced", "jsquad": "wide"}
LICENCES = {"spaced": "MIT (as Monjyu)", "wide": "CC BY-SA 4.0 (learned from JSQuAD)"}
SHARES = {"pubmedqa": 0.3}
"""What a question weighs in learning: all of pubmedqa have one form, a title that asks yes or no."""
EVERY = {"jsquad": 4}
"""Of so many questions one is taken: jsquad has 4,442."""
WORDS = {"spaced": 90.0, "wide": 55.0}
"""Mean words of an answer that the thresholds allow; in Japanese more adds little (.90 at 55, .93 at 80)."""
FOLDS = 5
RIDGE = 1.0
WEIGHTS = Path(__file__).parent.parent / "monjyu_query/answers/evidence_ranking/weights"


@dataclass
class Asked:
    """A question with its sentences: features (n, k) of words, cosines (n,), which are evidence (n,); it weighs `share`
    in learning."""

    share: float
    question: SpanQuestion
    weights: Question
    group: str
    sentences: list[PassageSentence]
    terms: list[list[str]]
    words: Array
    near: Array
    scale: tuple[float, float]
    label: Array
    gold: Gold


Scorer = Callable[[Asked], Array]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    asked = {name: ask_all(name, given.data, given.corpora) for name in SETS}
    for name in SETS:
        others = [one for other in SETS if other != name and SETS[other] == SETS[name] for one in asked[other]]
        report(name, "papers left out", asked[name], crossed(asked[name], others))
        if others:
            scorer = learn(others)
            report(name, "collection left out", asked[name], [scorer(one) for one in asked[name]])
    if given.write:
        for script in sorted(set(SETS.values())):
            some = {name: asked[name] for name in SETS if SETS[name] == script}
            write(script, some, WORDS[script])


def ask_all(name: str, data: Path, corpora: Path) -> list[Asked]:
    """Every question's best sentences, as an answer would be made from them."""
    folder = corpora / (name if (corpora / name).exists() else f"{name}_dev")
    if not (data / "index" / name).exists():
        command = [sys.executable, "-m", "monjyu_core", "index", str(folder / "corpus.jsonl"), "-c", name]
        subprocess.run(command, check=True, env=os.environ | {"MONJYU_DATA": str(data)})
    searcher = Searcher(DataFolder(data), name)
    searcher.prepare()
    questions = read_gold(folder / "queries.jsonl")[:: EVERY.get(name, 1)]
    relevant = papers_of(folder / "qrels.tsv")
    papers = PaperTexts(searcher.current().snapshot.cursor())
    asked = [ask(searcher, papers, one, relevant.get(one.question_id, one.doc or "")) for one in questions]
    give_cosines(searcher, asked)
    return asked


def give_cosines(searcher: Searcher, asked: Sequence[Asked]) -> None:
    """Each sentence is embedded once, all of them in one call."""
    texts = list(dict.fromkeys(s.text for one in asked for s in one.sentences))
    vectors = dict(zip(texts, load_embedder(searcher.settings).embed_passages(texts), strict=True))
    for one in asked:
        vector = searcher.tools.embedder.embed(one.question.text, searcher.current().snapshot.manifest)
        one.near = np.array([float(vectors[s.text] @ vector) for s in one.sentences])


def papers_of(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return {line.split("\t")[0]: line.split("\t")[1] for line in lines}


def ask(searcher: Searcher, papers: PaperTexts, one: SpanQuestion, paper: str) -> Asked:
    index, embedder = searcher.current(), searcher.tools.embedder
    ranking = rank(index, embedder, one.text, "hybrid", Filters(), searcher.settings.search)
    rows = best_rows(
        ranking.scores, index.corpus.work, EVIDENCE_PASSAGES, EVIDENCE_PER_PAPER, None, index.corpus.passage
    )
    cursor = index.snapshot.cursor()
    passages = load_passages(cursor, [index.corpus.chunk_ids[row] for row in rows], [0.0] * len(rows))
    sentences = load_sentences(cursor, passages)
    terms = index.keywords.terms([sentence.text for sentence in sentences])
    question = Question.of(index.keywords.query_terms(one.text).result(), len(index.corpus))
    gold = Gold(one, papers)
    label = [
        gold.is_evidence(Quote(s.passage.paper_id, s.text)) and (one.doc is not None or s.passage.paper_id == paper)
        for s in sentences
    ]
    words = word_features(one.text, question, sentences, terms)
    group = paper.split("#")[0]
    share, near = SHARES.get(searcher.collection, 1.0), np.zeros(len(sentences))
    return Asked(
        share, one, question, group, sentences, terms, words, near, index.scale, np.array(label, dtype=float), gold
    )


def learn(asked: Sequence[Asked]) -> Scorer:
    words, vectors = learn_both(asked)
    return lambda one: scored(one, words, vectors)


def learn_both(asked: Sequence[Asked]) -> tuple[Regression, Regression]:
    some = [one for one in asked if len(one.sentences)]
    shares = np.concatenate([np.full(len(one.label), one.share) for one in some])
    words = regression(np.vstack([one.words for one in some]), np.concatenate([one.label for one in some]), shares)
    read = [(one, best(words(one.words))) for one in some]
    features = np.vstack([second_features(one, rows) for one, rows in read])
    shares = np.concatenate([np.full(len(rows), one.share) for one, rows in read])
    return words, regression(features, np.concatenate([one.label[rows] for one, rows in read]), shares)


def best(probability: Array) -> NDArray[np.intp]:
    return np.sort(np.argsort(-probability, kind="stable")[:READ])


def second_features(one: Asked, rows: NDArray[np.intp]) -> Array:
    return np.hstack([one.words[rows], vector_features(one.near[rows].astype(np.float32), one.scale)])


def scored(one: Asked, words: Regression, vectors: Regression) -> Array:
    probability = np.zeros(len(one.sentences))
    if len(probability):
        rows = best(words(one.words))
        probability[rows] = vectors(second_features(one, rows))
    return probability


def regression(features: Array, label: Array, shares: Array, steps: int = 30) -> Regression:
    """Logistic regression with a ridge on standardised features, by iteratively reweighted least squares."""
    mean, deviation = features.mean(0), features.std(0) + 1e-9
    design = np.hstack([(features - mean) / deviation, np.ones((len(features), 1))])
    ridge = np.diag([RIDGE] * features.shape[1] + [0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(steps):
        probability = 1 / (1 + np.exp(-(design @ weights)))
        curvature = design.T @ (design * (shares * probability * (1 - probability))[:, None]) + ridge
        step = np.linalg.solve(curvature, design.T @ (shares * (label - probability)) - ridge @ weights)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    plain = weights[:-1] / deviation
    return Regression(plain, float(weights[-1] - plain @ mean))


def crossed(asked: Sequence[Asked], others: Sequence[Asked]) -> list[Array]:
    """Each question by weights learned without its paper."""
    groups = {group: number % FOLDS for number, group in enumerate(dict.fromkeys(one.group for one in asked))}
    fold = [groups[one.group] for one in asked]
    scorers = [
        learn([one for one, own in zip(asked, fold, strict=True) if own != number] + list(others))
        for number in range(FOLDS)
    ]
    return [scorers[own](one) for one, own in zip(asked, fold, strict=True)]


def measured(asked: Sequence[Asked], probabilities: Sequence[Array], least: float) -> tuple[float, float, float]:
    """Share of questions whose gold is quoted, mean words of an answer, share of quotes that are evidence."""
    found, words, right = [], [], []
    limits = Limits(AnswerSettings().max_sentences)
    for one, probability in zip(asked, probabilities, strict=True):
        types, neighbours = asked_types(one.question.text), Neighbours(one.sentences)
        windows = choose_windows(one.weights, probability, least, one.sentences, one.terms, limits, neighbours, types)
        quotes = [Quote(window.key.passage.paper_id, window.text) for window in windows]
        found.append(one.gold.is_found(quotes))
        words.append(sum(word_count(window.text) for window in windows))
        right += [one.gold.is_evidence(quote) for quote in quotes]
    return float(np.mean(found)), float(np.mean(words)), float(np.mean(right))


def threshold(asked: Sequence[Asked], probabilities: Sequence[Array], words: float) -> float:
    """The least probability at which answers have this many words in the mean, at most."""
    low, high = 0.0, 1.0
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if measured(asked, probabilities, middle)[1] > words else (low, middle)
    return high


def report(name: str, what: str, asked: Sequence[Asked], probabilities: Sequence[Array]) -> None:
    for words in (55.0, 80.0, 90.0):
        least = threshold(asked, probabilities, words)
        found, mean, right = measured(asked, probabilities, least)
        print(
            f"{name:9} {what:20} gold {found:.3f} at {mean:5.1f} words, precision {right:.3f}, least {least:.3f}",
            flush=True,
        )


def write(script: str, sets: dict[str, list[Asked]], words: float) -> None:
    """Weights from all questions, and thresholds at which no set has more than `words` in the mean."""
    every = [one for asked in sets.values() for one in asked]
    first, second = learn_both(every)
    least = max(
        threshold(asked, crossed(asked, [o for n, some in sets.items() if n != name for o in some]), words)
        for name, asked in sets.items()
    )
    by_words = max(threshold(asked, [first(one.words) for one in asked], words) for asked in sets.values())
    names = {"words": WORD_FEATURES, "vectors": (*WORD_FEATURES, *VECTOR_FEATURES)}
    held = {
        "licence": LICENCES[script],
        "learned_from": list(sets),
        "least": round(least, 4),
        "least_by_words": round(by_words, 4),
    }
    for key, model in (("words", first), ("vectors", second)):
        held[key] = {"bias": round(model.bias, 6)} | {
            n: round(float(w), 6) for n, w in zip(names[key], model.weights, strict=True)
        }
    WEIGHTS.mkdir(exist_ok=True)
    (WEIGHTS / f"{script}.json").write_text(json.dumps(held, indent=1) + "\n")
    lines = ["question\tpaper\tsection\tstart\tend\n"]
    for name, asked in sets.items():
        for one in asked:
            for s in (s for s, label in zip(one.sentences, one.label, strict=True) if label):
                lines.append(
                    f"{name}/{one.question.question_id}\t{s.passage.paper_id}\t{s.section_ord}\t{s.start}\t{s.end}\n"
                )
    (Path(__file__).parent / f"evidence_labels_{script}.tsv").write_text("".join(lines))
    digest = hashlib.sha256((WEIGHTS / f"{script}.json").read_bytes()).hexdigest()
    print(f"{script}: least {least:.4f}, by words {by_words:.4f}, sha256 {digest}")


if __name__ == "__main__":
    main()

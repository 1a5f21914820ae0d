"""Learn noun phrases from spaCy's parser: `phrase_tagger.npz` in `monjyu_assets/levels/phrases/`.

`en_core_web_sm` parses text of others, and a token's label says where the phrases that Monjyu makes of its noun chunks
begin and end (`tagged_phrases.LABELS`). The network is the first two layers of the model's own `tok2vec`, left as they
are, and four narrow ones above them, trained with thinc (spaCy's library), always in the same order and on one thread.
Prints the F1 of spans and of phrases against the parser's on collections that were not learned from; `--without` leaves
another out and judges by it too; `--write` writes the weights. The corpora are read, never copied.

    PYTHONPATH=. .venv/bin/python training/phrases.py --corpora ../shared/corpora --data ../data --write

Files under `--corpora` are named in `CORPORA` (covidqa_dev: CORD-19, Apache-2.0; pubmedqa_dev: MIT; cacm and cranfield:
test collections of abstracts). `--data` has jose and layouts at level 0.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import (
    Adam,
    Maxout,
    Model,
    NumpyOps,
    Softmax_v2,
    chain,
    expand_window,
    fix_random_seed,
    residual,
    set_current_ops,
)
from threadpoolctl import threadpool_limits

from monjyu_assets.levels.phrases import tagged_phrases as tagged
from monjyu_assets.levels.phrases.cleaning import clean, is_boilerplate, is_unspaced, windows
from monjyu_assets.levels.phrases.english_phrases import Phrase, core_of, names_joined, parser, phrase_of
from monjyu_assets.levels.phrases.network import Maxout as Layer
from monjyu_assets.levels.phrases.network import with_neighbours
from monjyu_assets.levels.phrases.paper_phrases import without_definitions
from monjyu_assets.levels.phrases.tagged_phrases import TokenTable
from monjyu_assets.levels.phrases.words import agreed, definitions
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import open_current
from monjyu_core.text.sentences import split_sentences

CORPORA = ("covidqa_dev", "pubmedqa_dev", "cacm", "cranfield")
TITLED = ("cacm",)
"""Collections whose texts do not begin with their titles."""
JUDGES = ("jose", "layouts")
KEPT_LAYERS, LAYERS, WIDTH, PIECES = 2, 4, 64, 2
EPOCHS, RATE, TOKENS, WARM_UP = 6, 3e-3, 1500, 80_000
AT_ONCE = 64
Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Arrays = dict[str, NDArray[np.floating]]


@dataclass
class Sample:
    """A window, the parser's phrases, the (first, last) tokens of each, and the label of each token and of the gap."""

    text: str
    phrases: list[Phrase]
    spans: list[tuple[int, int]]
    labels: NDArray[np.int64]
    inputs: Halves


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--corpora", type=Path, required=True)
    arguments.add_argument("--data", type=Path, help="A data folder with the judges at level 0.")
    arguments.add_argument("--without", choices=CORPORA, help="Judge by this one too, without learning from it.")
    arguments.add_argument("--epochs", type=float, default=EPOCHS)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    set_current_ops(NumpyOps(use_blis=False))
    fix_random_seed(1)
    with threadpool_limits(1, "blas"):
        learned_from = [name for name in CORPORA if name != given.without]
        found = [sample for name in learned_from for sample in samples(corpus(given.corpora / name))]
        judges = {name: samples(indexed(given.data, name)) for name in JUDGES} if given.data else {}
        if given.without:
            judges[given.without] = samples(corpus(given.corpora / given.without))
        kept = kept_layers()
        read(found, kept)
        weights = rounded(kept) | rounded(learned(found, given.epochs))
        for name, judged in judges.items():
            print(name, score(judged, weights))
    if given.write:
        np.savez_compressed(tagged.WEIGHTS, allow_pickle=False, **weights)
        print("sha256", hashlib.sha256(tagged.WEIGHTS.read_bytes()).hexdigest())


def corpus(folder: Path) -> Iterator[list[str]]:
    """The sentences of each document."""
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            text = f"{row['title']}\n\n{row['text']}" if folder.name in TITLED else row["text"]
            yield [text[start:end] for start, end in split_sentences(text)]


def indexed(data: Path, name: str) -> Iterator[list[str]]:
    """The sentences of each paper of a collection that are in chunks."""
    snapshot = open_current(DataFolder(data).collection(name))
    query = (
        "SELECT paper_id, text FROM sentences SEMI JOIN chunk_sentences USING (paper_id, sentence_id) "
        "ORDER BY paper_id, ord"
    )
    papers: dict[str, list[str]] = {}
    for paper, text in snapshot.cursor().execute(query).fetchall():
        papers.setdefault(paper, []).append(text)
    snapshot.close()
    yield from papers.values()


def samples(papers: Iterator[list[str]]) -> list[Sample]:
    """Each window once, as level 1 cuts it, with what the parser finds."""
    seen: dict[str, None] = {}
    for paper in papers:
        kept = [sentence for sentence in dict.fromkeys(paper) if not is_boilerplate(sentence)]
        known = agreed(pair for sentence in kept for pair in definitions(sentence))
        for sentence in kept:
            seen |= dict.fromkeys(w for w in windows(clean(without_definitions(sentence, known))) if not is_unspaced(w))
    pipeline, lemmatizer = parser()
    found = []
    with pipeline.memory_zone():
        for text, doc in zip(seen, pipeline.pipe(seen, batch_size=AT_ONCE, disable=["ner"]), strict=True):
            one = Sample(text, [], [], np.zeros(len(doc) + 1, np.int64), np.zeros((0, 0), np.float16))
            for span in names_joined(doc):
                tokens = core_of(span)
                if tokens:
                    first, last = tokens[0].i, tokens[-1].i
                    one.spans.append((first, last))
                    one.labels[first : last + 1] = labels_of(
                        last - first + 1, tokens[-1].tag_ == "NNS" and tokens[-1].pos_ == "NOUN"
                    )
                phrase = phrase_of(span, text, lemmatizer)
                if phrase:
                    one.phrases.append(phrase)
            found.append(one)
    return found


def labels_of(size: int, plural: bool) -> list[int]:
    if size == 1:
        return [tagged.ONLY_PLURAL if plural else tagged.ONLY]
    return [tagged.BEGIN, *[tagged.INSIDE] * (size - 2), tagged.LAST_PLURAL if plural else tagged.LAST]


def kept_layers() -> Arrays:
    """The first layers of the English model's `tok2vec`, by thinc's shapes."""
    network = parser()[0].get_pipe("tok2vec").model  # type: ignore[attr-defined]
    found: Arrays = {}
    for number, layer in enumerate(network.layers[1].layers[0].layers[:KEPT_LAYERS]):
        found |= named(number, layer.layers[0].layers[1].layers[0])
    return found


def named(number: int, maxout: Any) -> Arrays:
    layer, norm = maxout.layers
    return {
        f"weights{number}": layer.get_param("W"),
        f"bias{number}": layer.get_param("b"),
        f"gain{number}": norm.get_param("G"),
        f"shift{number}": norm.get_param("b"),
    }


def rounded(arrays: Arrays) -> Arrays:
    return {name: np.asarray(array, np.float16) for name, array in arrays.items()}


def read(found: list[Sample], kept: Arrays) -> None:
    """Give each sample what the kept layers make of its tokens; leave out those that the table reads otherwise."""
    table = TokenTable(parser()[0])
    layers = [
        Layer.of(
            *(np.asarray(rounded(kept)[f"{name}{n}"], np.float32) for name in ("weights", "bias", "gain", "shift"))
        )
        for n in range(KEPT_LAYERS)
    ]
    for start in range(0, len(found), AT_ONCE):
        part = found[start : start + AT_ONCE]
        table.meet([sample.text for sample in part])
        for sample in part:
            rows = table.vectors[table.read([sample.text]).rows]
            for layer in layers:
                rows = layer(with_neighbours(rows), len(rows)) + rows
                rows[-1] = 0
            sample.inputs = rows.astype(np.float16)
    found[:] = [sample for sample in found if len(sample.inputs) == len(sample.labels)]


def masked(layer: Any) -> Any:
    """The layer, but rows of zeros stay zeros, as in `Network.scores`."""

    def forward(model: Any, rows: Floats, is_train: bool) -> tuple[Floats, Any]:
        gaps = ~rows.any(axis=1)
        found, back = model.layers[0](rows, is_train)
        found[gaps] = 0

        def backwards(slope: Floats) -> Any:
            slope = slope.copy()
            slope[gaps] = 0
            return back(slope)

        return found, backwards

    return Model("masked", forward, layers=[layer])


def learned(found: Sequence[Sample], epochs: float) -> Arrays:
    """The layers above the kept ones, and the output."""
    first = Maxout(WIDTH, found[0].inputs.shape[1], nP=PIECES, normalize=True)
    wide = [Maxout(WIDTH, 3 * WIDTH, nP=PIECES, normalize=True) for _ in range(LAYERS)]
    output = Softmax_v2(len(tagged.LABELS), WIDTH)
    layers = [masked(first), *(masked(residual(chain(expand_window(1), layer))) for layer in wide)]
    for layer in (first, *wide, output):
        layer.initialize()
    model: Any = chain(*layers, output)
    optimizer = Adam(RATE, L2=0.0, grad_clip=1.0)
    order = np.random.default_rng(1)
    total, done = epochs * sum(len(sample.labels) for sample in found), 0
    while done < total:
        for rows, labels in batches([found[place] for place in order.permutation(len(found))]):
            optimizer.learn_rate = RATE * max(0.01, 1 - done / total) * min(1, 0.2 + done / WARM_UP)
            chances, back = model.begin_update(rows)
            slope = chances.copy()
            slope[np.arange(len(labels)), labels] -= 1
            slope[~rows.any(axis=1)] = 0
            back(slope / 500)
            model.finish_update(optimizer)
            done += len(labels)
    arrays: Arrays = {}
    for number, layer in enumerate((first, *wide), KEPT_LAYERS):
        arrays |= named(number, layer)
    arrays["output_weights"], arrays["output_bias"] = map(np.asarray, map(output.get_param, "Wb"))
    return arrays


def batches(found: Sequence[Sample]) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
    """Inputs (n, width) and labels (n,) of windows with some `TOKENS` tokens together."""
    inputs, labels, size = [], [], 0
    for sample in found:
        inputs.append(sample.inputs)
        labels.append(sample.labels)
        size += len(sample.labels)
        if size >= TOKENS or sample is found[-1]:
            yield np.concatenate(inputs).astype(np.float32), np.concatenate(labels)
            inputs, labels, size = [], [], 0


def score(judged: Sequence[Sample], weights: Arrays) -> str:
    """F1 of the spans and of the phrases, as level 1 finds them with these weights."""
    tagger = tagged.PhraseTagger.of(weights)
    texts = [sample.text for sample in judged]
    tagger.table.meet(texts)
    pairs: dict[str, list[tuple[Counter[Any], Counter[Any]]]] = {"spans": [], "phrases": []}
    for sample, phrases in zip(judged, tagger.phrases(texts), strict=True):
        tokens = tagger.table.read([sample.text])
        scores = tagger.network.scores(tagger.table.vectors[tokens.rows])
        first, last, _ = tagged.spans(scores, tokens.rows == 0)
        pairs["spans"].append((Counter(zip(first.tolist(), last.tolist(), strict=True)), Counter(sample.spans)))
        pairs["phrases"].append((Counter(phrases), Counter(sample.phrases)))
    return "; ".join(f"{name}: {agreement(found)}" for name, found in pairs.items())


def agreement(pairs: Sequence[tuple[Counter[Any], Counter[Any]]]) -> str:
    """F1, precision and recall of (ours, theirs) of each window."""
    both = sum((ours & theirs).total() for ours, theirs in pairs)
    all_ours, all_theirs = (sum(pair[side].total() for pair in pairs) for side in (0, 1))
    f1 = 2 * both / (all_ours + all_theirs)
    return f"F1 {f1:.4f}, precision {both / all_ours:.4f}, recall {both / all_theirs:.4f}"


if __name__ == "__main__":
    main()

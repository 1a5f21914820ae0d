"""Find how the inputs of an encoder's linear layers are rounded to 8 bits: `monjyu_core/embedding/local/int8/`.

The model runs in floats over texts of pubmedqa_dev, covidqa_dev, layouts and, for the multilingual one, ja_wiki, and
rows of what each layer reads are kept. Of some ways to share the outliers between inputs and weights (Xiao et al.
2023), and some ranges, the one is taken that changes the layer's output least (mean square). Only numbers of the
channels are written, no text. cranfield, cacm and jsquad, by which the result is judged, are not read.

    PYTHONPATH=. .venv/bin/python training/int8.py --model all-MiniLM-L6-v2 --corpora ../shared/corpora --write
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.calibration import FOLDER, Rounding
from monjyu_core.embedding.local.e5 import E5
from monjyu_core.embedding.local.encoder import SentenceEncoder
from monjyu_core.embedding.local.encoder_graph import build_model, float_product, read_by, to_integers
from monjyu_core.embedding.local.minilm import MiniLM
from monjyu_core.embedding.local.runtime import ov
from monjyu_core.embedding.local.weights import Weights

ROWS = 4000
"""Rows kept of what a layer reads, of all texts."""
SHARES = (0.65, 0.8)
"""How much of a channel's outliers goes into the weights: 1 is all."""
PERCENTILES = (100, 99.99)
"""Ends of the range; what lies beyond is clipped."""
MOST_ERROR = -31.5
"""In dB, of a layer's output: where the best choice errs more, the layer is left in floats."""
JUDGED = 1200
"""Rows by which a choice is judged."""
LARGEST_EXPONENT = 120
SIGNED_ZERO = 128

SHORT = 24
"""Short texts, of none to as many words (or characters) less one."""

Array = NDArray[np.float32]
Texts = list[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Choice:
    """`error`: of the layer's output, relative, in dB."""

    rounding: Rounding
    share: float
    error: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["all-MiniLM-L6-v2", "multilingual-e5-small"], required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="write the file and print its hash")
    arguments = parser.parse_args()
    encoder = MiniLM("f32") if arguments.model == "all-MiniLM-L6-v2" else E5("f32")
    weights = encoder.read_weights()
    inputs: dict[str, Any] = {}
    for layer, rows in inputs_of(encoder, weights, texts_of(encoder, arguments.corpora)).items():
        found = choose(rows, matrix_of(weights, layer))
        print(f"{layer:42} {found.error:6.1f} dB  share {found.share}  step {found.rounding.step:.5f}", flush=True)
        if found.error > MOST_ERROR:
            continue
        inputs[layer] = {
            "step": found.rounding.step,
            "zero": found.rounding.zero,
            "exponents": found.rounding.exponents.tolist(),
        }
    if arguments.write:
        write(encoder, inputs)


def write(encoder: SentenceEncoder, inputs: dict[str, Any]) -> None:
    lines = ",\n".join(f"  {json.dumps(layer)}: {json.dumps(entry)}" for layer, entry in inputs.items())
    head = f'"model": "{encoder.model_id}", "weights_sha256": "{encoder.weights_sha256}"'
    data = f'{{{head}, "inputs": {{\n{lines}\n}}}}\n'.encode()
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{encoder.model_id}.json").write_bytes(data)
    print(hashlib.sha256(data).hexdigest())


def texts_of(encoder: SentenceEncoder, corpora: Path) -> Texts:
    """Prefix and texts, the model's languages mixed."""
    english, questions = (
        list(english_passages(corpora)),
        fields(corpora / "pubmedqa_dev/queries.jsonl", "text")[200:260],
    )
    if isinstance(encoder, MiniLM):
        return [(encoder.passage_prefix, english), (encoder.query_prefix, questions)]
    japanese = [
        paragraph[:600]
        for path in sorted((corpora / "ja_wiki").glob("*.txt"))
        for paragraph in [each for each in path.read_text(encoding="utf-8").split("\n\n") if len(each) > 60][:12]
    ]
    japanese += [paragraph[:length] for length, paragraph in enumerate(japanese[:SHORT])]
    asked = fields(corpora / "ja_wiki/qa.jsonl", "question")[::10][:60]
    return [(encoder.passage_prefix, japanese + english[::4]), (encoder.query_prefix, asked + questions[::3])]


def english_passages(corpora: Path) -> Iterator[str]:
    """Abstracts, beginnings of some, the shortest of no word, parts of bodies, and ends of papers with references."""
    abstracts = fields(corpora / "pubmedqa_dev/corpus.jsonl", "text")
    yield from abstracts[:100]
    yield from (" ".join(text.split()[:length]) for length, text in enumerate(abstracts[100 : 100 + SHORT]))
    for text in fields(corpora / "covidqa_dev/corpus.jsonl", "text")[:40]:
        yield from (text[2000:3200], text[-1500:-700])
    for path in sorted((corpora / "layouts/body").glob("*.json")):
        for section in json.loads(path.read_text(encoding="utf-8"))["sections"][:8]:
            yield f"{section['title']}. {section['text'][:1000]}"


def fields(path: Path, name: str) -> list[str]:
    return [json.loads(line)[name] for line in path.read_text(encoding="utf-8").splitlines()]


def inputs_of(encoder: SentenceEncoder, weights: Weights, texts: Texts) -> dict[str, Array]:
    """Rows (r, k) of what each layer reads, by the layer under whose name its rounding is kept."""
    read: dict[str, Any] = {}

    def product(hidden: Any, weight: Array, layer: str) -> Any:
        read.setdefault(read_by(layer), hidden)
        return float_product(hidden, weight, layer)

    model = build_model(weights, encoder.shape, product)
    model.add_outputs([node.output(0) for node in read.values()])
    request = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    pieces = [ids for prefix, some in texts for ids in encoder.encode([prefix + text for text in some])]
    generator = np.random.default_rng(0)
    kept: dict[str, list[Array]] = {layer: [] for layer in read}
    for ids in pieces:
        cut = np.array([ids[: encoder.max_tokens]], dtype=np.int32)
        request.infer(dict(enumerate(encoder.inputs(cut))))
        places = generator.permutation(cut.shape[1])[: max(4, ROWS // len(pieces))]
        for number, rows in enumerate(kept.values(), start=1):
            rows.append(request.get_output_tensor(number).data[0][places])
    return {layer: np.concatenate(rows) for layer, rows in kept.items()}


def matrix_of(weights: Weights, layer: str) -> Array:
    """The weights of all layers that read this input (m, k)."""
    names = [name for name in weights if name.endswith(".weight") and read_by(name.removesuffix(".weight")) == layer]
    return np.concatenate([weights[name] for name in names])


def choose(rows: Array, weight: Array) -> Choice:
    return min(candidates(rows, weight), key=lambda choice: choice.error)


def candidates(rows: Array, weight: Array) -> Iterator[Choice]:
    judged = rows[:: max(1, len(rows) // JUDGED)]
    expected = judged @ weight.T
    most, heaviest = np.abs(rows).max(axis=0) + 1e-6, np.abs(weight).max(axis=0) + 1e-6
    for share in SHARES:
        logarithms = share * np.log2(most) - (1 - share) * np.log2(heaviest)
        exponents = np.rint(4 * (logarithms - logarithms.mean()))
        exponents = np.clip(exponents, -LARGEST_EXPONENT, LARGEST_EXPONENT).astype(np.int8)
        factors = Rounding(1, 0, exponents).factors
        values, scales = to_integers(weight * factors)
        rounded_weight = values * scales[:, None]
        even, part = rows / factors, judged / factors
        for percentile in PERCENTILES:
            step, zero = grid(even, percentile)
            rounded = (np.clip(np.rint(part / step) + zero, 0, 255) - zero) * step
            error = np.square(rounded @ rounded_weight.T - expected).mean() / np.square(expected).mean()
            yield Choice(Rounding(step, zero, exponents), share, float(10 * np.log10(error)))


def grid(even: Array, percentile: float) -> tuple[float, int]:
    """Step and zero point: around 0, or from the least value where values reach much farther up than down (GELU)."""
    low, high = float(even.min()), float(np.percentile(even, percentile))
    if -low > high / 4:
        return float(np.float32(np.percentile(np.abs(even), percentile) / 127)), SIGNED_ZERO
    step = float(np.float32((high - low) / 255))
    return step, round(-low / step)


if __name__ == "__main__":
    main()

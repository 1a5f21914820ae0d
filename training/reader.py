"""Train the reader: which sentences of a passage answer a question, whether it is answered, what becomes of a claim.

    python training/reader.py train --model english --extra FOLDER --work FOLDER --without covidqa --name no_covidqa

Needs torch in an environment of its own beside Monjyu's packages. Seeded: equal settings on an equal processor give
equal weights. `--resume` goes on from the last checkpoint. Runs on one core, or on a GPU where there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from reader_claims import Claim, ClaimSampler, load_claims
from reader_data import ENGLISH, JAPANESE, OTHERS, Example, Sampler, Source, load_sources
from reader_figures import claim_calibration, figures, platt
from reader_model import CLAIM, NAMES, QUESTION, Batch, Reader
from reader_tokens import Tokens, assemble
from torch import Tensor
from torch.nn import functional

from monjyu_core.reader.trained_weights import FILES, FOLDER, packed

SHARES = {
    "english": {},
    "multilingual": {
        "jaquad": 0.4, "jsquad": 1.0, "ja_wiki": 1.0, "selqa": 0.5, "qed": 0.5, "new_wiki": 0.3, "medquad": 0.15,
        "boolq": 0.2, "covidqa": 1.0, "pubmedqa": 0.7, **dict.fromkeys(("xquad_en", *OTHERS), 0.4),
    },
}  # fmt: skip
"""How often a question is drawn, where it is not as its source says."""


TOPICS = ("scitldr", "tldr", "titles")
"""Sources whose questions are what a text is about: it does not answer them."""


@dataclass
class Settings:
    model: str = "english"
    seed: int = 1
    rate: float = 1e-4
    head_rate: float = 5e-4
    decay: float = 0.9
    """Of the learning rate from one layer to the one below."""
    steps: int = 1000
    warm: int = 100
    average: float = 0.995
    frozen: int = 0
    """Layers from below that are not trained."""
    sources: tuple[str, ...] = ()
    """Of the questions; `name:share` says how often one is drawn, where it is not as its source says."""
    altered: float = 0.15
    headers: float = 0.5
    """The share of questions whose passages have their titles before them."""
    groups: int = 8
    """Questions in a step."""
    passages: int = 3
    """Of each question."""
    claims: int = 16
    """In a step."""
    begin: str = ""
    """The name of a training whose weights this one begins with."""

    @property
    def shares(self) -> dict[str, float]:
        """By source, the share that was given for it, else 0."""
        return {name: float(share or 0) for name, _, share in (one.partition(":") for one in self.sources)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["papers", "train", "evaluate", "write"])
    parser.add_argument("--model", choices=["english", "multilingual"], default="english")
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--extra", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="papers: a data folder in which jose and layouts are indexed")
    parser.add_argument("--name", default="")
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--judge", nargs="*", default=[])
    parser.add_argument("--every", type=int, default=1, help="judge by every so-many-th question")
    parser.add_argument("--calibrate", default="", help="write: the training whose logits on --judge calibrate")
    parser.add_argument("--bare", action="store_true", help="judge passages without their titles")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--set", nargs="*", default=[], help="settings as name=value")
    given = parser.parse_args()
    torch.set_num_threads(1)
    settings = Settings(given.model)
    known = list(ENGLISH) if given.model == "english" else [*ENGLISH, *JAPANESE, *OTHERS]
    settings.sources = tuple(name for name in known if name not in given.without)
    for name, _, value in (text.partition("=") for text in given.set):
        old = getattr(settings, name)
        setattr(settings, name, tuple(value.split(",")) if isinstance(old, tuple) else type(old)(value))
    given.work.mkdir(parents=True, exist_ok=True)
    if given.what == "papers":
        write_papers(given)
        return
    tokens = Tokens(given.model)
    if given.what == "train":
        reader = train(settings, tokens, given)
    else:
        reader = tokens.reader(dropout=0)
        kept = torch.load(given.work / f"{given.name}.pt")
        reader.load(kept["average"])
    if given.what == "write":
        write(reader, tokens, kept["settings"], given)
        return
    for judged in given.judge:
        print(judged, json.dumps(figures(reader, tokens, judged, given)), flush=True)


def write_papers(given: argparse.Namespace) -> None:
    """The sentences of the papers as Monjyu reads them: what claims about them are held against."""
    from monjyu_core.storage.folders import DataFolder
    from monjyu_core.storage.snapshot import reading

    for name in ("jose", "layouts"):
        papers: dict[str, dict[str, object]] = {}
        with reading(DataFolder(given.data).collection(name)) as snapshot:
            rows = snapshot.cursor().execute(
                "SELECT p.paper_id, coalesce(p.title, ''), list(s.text ORDER BY s.section_ord, s.ord) "
                "FROM sentences s JOIN papers p USING (paper_id) GROUP BY ALL ORDER BY ALL"
            )
            for paper, title, sentences in rows.fetchall():
                papers[paper] = {"title": title, "sentences": [" ".join(one.split()) for one in sentences]}
        (given.work / f"papers-{name}.json").write_text(json.dumps(papers), encoding="utf-8")


def train(settings: Settings, tokens: Tokens, given: argparse.Namespace) -> Reader:
    torch.manual_seed(settings.seed)
    reader = tokens.reader()
    average = {name: value.detach().clone() for name, value in reader.state_dict().items()}
    if settings.begin:
        reader.load(torch.load(given.work / f"{settings.begin}.pt")["average"])
        average = {name: value.detach().clone() for name, value in reader.state_dict().items()}
    sources = load_sources(settings.shares, given.corpora, given.extra)
    for source in sources:
        source.share = settings.shares[source.name] or SHARES[settings.model].get(source.name, source.share)
    claims = claims_of(settings, sources, given)
    drawn = ClaimSampler(claims)
    sampler = Sampler(sources, tokens.length, settings.passages, settings.altered, settings.headers)
    optimizer = torch.optim.AdamW(groups_of(reader, settings), weight_decay=0.01)
    peaks = [group["lr"] for group in optimizer.param_groups]
    path = given.work / f"{given.name}.pt"
    first = 0
    if given.resume and path.exists():
        kept = torch.load(path)
        reader.load_state_dict(kept["reader"])
        optimizer.load_state_dict(kept["optimizer"])
        average, first = kept["average"], kept["step"]
    print(given.name, asdict(settings), sum(len(source.questions) for source in sources), len(claims), flush=True)
    saved, began, sums = time.time(), time.time(), [0.0] * 5
    reader.train()
    for step, examples in steps(sampler, settings, first):
        share = min(
            (step + 1) / settings.warm, max(0.02, 1 - (step - settings.warm) / (settings.steps - settings.warm))
        )
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = peak * share
        chance = random.Random(f"{settings.seed} claims {step}")
        losses = losses_of(reader, tokens, examples, [drawn.draw(chance) for _ in range(settings.claims)])
        optimizer.zero_grad()
        sum(losses).backward()  # type: ignore[union-attr]
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        keep = min(settings.average, (step + 1) / (step + 10))
        with torch.no_grad():
            for name, value in reader.state_dict().items():
                average[name].lerp_(value, 1 - keep)
        sums = [0.98 * total + 0.02 * float(loss) for total, loss in zip(sums, losses, strict=True)]
        if step % 50 == 49:
            scale = 1 / (1 - 0.98 ** (step + 1 - first))
            shown = " ".join(f"{total * scale:.3f}" for total in sums)
            print(f"{step + 1} {shown} {(time.time() - began) / (step + 1 - first):.2f} s a step", flush=True)
        if time.time() - saved > 600 or step + 1 == settings.steps:
            state = {"reader": reader.state_dict(), "optimizer": optimizer.state_dict(), "average": average}
            torch.save(state | {"step": step + 1, "settings": asdict(settings)}, path.with_suffix(".part"))
            path.with_suffix(".part").replace(path)
            saved = time.time()
    reader.load_state_dict(average)
    return reader


def groups_of(reader: Reader, settings: Settings) -> list[dict]:  # type: ignore[type-arg]
    """The layers with a rate that falls from the top down, and the heads."""
    layers = list(reader.layers)
    found = []
    for number, layer in enumerate(layers):
        if number >= settings.frozen:
            rate = settings.rate * settings.decay ** (len(layers) - 1 - number)
            found.append({"params": list(layer.parameters()), "lr": rate})
        else:
            layer.requires_grad_(False)
    low = [reader.positions, reader.kinds, *reader.norm.parameters()]
    if settings.frozen:
        low = [reader.kinds]
        reader.positions.requires_grad_(False)
        reader.norm.requires_grad_(False)
    found.append({"params": low, "lr": settings.rate * settings.decay ** len(layers)})
    heads = [
        *reader.sentence.parameters(),
        *reader.passage.parameters(),
        *reader.claim.parameters(),
        reader.passage_best,
    ]
    return [*found, {"params": heads, "lr": settings.head_rate}]


def steps(sampler: Sampler, settings: Settings, first: int) -> Iterator[tuple[int, list[Example]]]:
    """The examples of each step, whatever step begins: passages of one length, so that few pieces are padding."""
    step, turn = 0, 0
    while True:
        order = sampler.order(random.Random(f"{settings.seed} {turn}"))
        for start in range(0, len(order) - settings.groups + 1, settings.groups):
            if step >= settings.steps:
                return
            if step >= first:
                chance = random.Random(f"{settings.seed} {turn} {start}")
                room = sampler.room(chance)
                yield step, [sampler.draw(place, room, chance) for place in order[start : start + settings.groups]]
            step += 1
        turn += 1


def claims_of(settings: Settings, sources: Sequence[Source], given: argparse.Namespace) -> list[Claim]:
    """The claims by the settings; none of the papers of a collection that is not learned from."""
    left_out = [name for name in ("covidqa", "pubmedqa") if name not in settings.shares]
    covid = next((source.documents for source in sources if source.name == "covidqa"), [])
    return load_claims(settings.model, given.corpora, given.extra, given.work, left_out, covid, settings.seed)


def losses_of(reader: Reader, tokens: Tokens, examples: Sequence[Example], claims: Sequence[Claim]) -> list[Tensor]:
    """Of the sentences: each question's against one another, and each alone; the same of the passages; and of the
    claims, with their evidence."""
    rows = [(e.question, p.header, p.sentences, QUESTION) for e in examples for p in e.passages]
    count_read = len(rows)
    batch = assemble(tokens, rows + [(claim.text, "", claim.sentences, CLAIM) for claim in claims])
    sentence, passage, verdict = reader(batch)
    of_claims = verdict_losses(sentence[batch.row_of >= count_read], verdict[count_read:], batch, claims, count_read)
    read = batch.row_of < count_read
    sentence, passage = sentence[read], passage[:count_read]
    labels = torch.tensor([label for e in examples for p in e.passages for label in p.labels], dtype=torch.float32)
    answered = torch.tensor([p.answered for e in examples for p in e.passages], dtype=torch.float32)
    example_of_row = torch.tensor([number for number, e in enumerate(examples) for _ in e.passages])
    example_of_sentence = example_of_row[batch.row_of[read]]
    known = labels >= 0
    count = len(examples)
    lists = listwise(sentence[known], labels[known], example_of_sentence[known], count)
    alone = functional.binary_cross_entropy_with_logits(sentence[known], labels[known])
    passages = listwise(passage, answered, example_of_row, count)
    answering = torch.tensor([float(e.source not in TOPICS) for e in examples])[example_of_row]
    answer = functional.binary_cross_entropy_with_logits(passage, answered, answering)
    return [lists, 2 * alone, passages, answer, 1.5 * of_claims]


def verdict_losses(sentence: Tensor, verdict: Tensor, batch: Batch, claims: Sequence[Claim], first: int) -> Tensor:
    if not claims:
        return verdict.sum() * 0
    loss = functional.cross_entropy(verdict, torch.tensor([claim.label for claim in claims]))
    labels = torch.tensor([float(n in c.evidence) for c in claims for n in range(len(c.sentences))])
    owner = batch.row_of[batch.row_of >= first] - first
    return loss + 0.3 * listwise(sentence, labels, owner, len(claims))


def listwise(logits: Tensor, labels: Tensor, owner: Tensor, count: int) -> Tensor:
    """Mean over the questions of -log of the softmax share of the right ones together."""
    most = torch.full((count,), -1e4).index_reduce(0, owner, logits.detach(), "amax")
    power = torch.exp(logits - most[owner])
    total = torch.zeros(count).index_add(0, owner, power)
    right = torch.zeros(count).index_add(0, owner, power * labels)
    there = right > 0
    if not there.any():
        return logits.sum() * 0
    return -(torch.log(right[there].clamp(min=1e-9)) - torch.log(total[there])).mean()


def write(reader: Reader, tokens: Tokens, settings: dict[str, object], given: argparse.Namespace) -> None:
    """Calibrate by collections that another training, or this one, has not seen, and write the file."""
    logits: dict[str, list[list[float]]] = {"sentence": [], "passage": [], "claim": []}
    for judged in given.judge:
        kept = json.loads((given.work / f"logits-{given.calibrate or given.name}-{judged}.json").read_text())
        for head, rows in kept.items():
            logits[head] += rows
    calibration = {head: list(platt(*np.array(logits[head], dtype=float).T)) for head in ("sentence", "passage")} | {
        "claim": claim_calibration(np.array(logits["claim"])) if logits["claim"] else [1.0, 0.0, 0.0, 0.0]
    }
    print(calibration)
    record = {
        "base": tokens.encoder.model_id, "settings": settings, "calibrated_on": given.judge,
        "licence": "CC BY-SA 4.0", "sources": "training/README.md",
    }  # fmt: skip
    data = shipped(reader, tokens, calibration, record)
    file = FILES[tokens.encoder.model_id].name
    (FOLDER / file).write_bytes(data)
    print(file, len(data), hashlib.sha256(data).hexdigest())


def shipped(reader: Reader, tokens: Tokens, calibration: dict[str, list[float]], record: dict[str, object]) -> bytes:
    """The file of `monjyu_core/reader/trained_weights.py`: matrices change in 4 bits, the rest in half precision."""
    base = tokens.encoder.read_weights()
    arrays: dict[str, np.ndarray] = {"kinds": reader.kinds.detach().numpy().astype(np.float16)}  # type: ignore[type-arg]
    published = {
        "embeddings.position_embeddings.weight": reader.positions,
        "embeddings.LayerNorm.weight": reader.norm.weight,
        "embeddings.LayerNorm.bias": reader.norm.bias,
    }
    for number, layer in enumerate(reader.layers):
        for own, name in NAMES.items():
            for kind in ("weight", "bias"):
                published[f"encoder.layer.{number}.{name}.{kind}"] = getattr(getattr(layer, own), kind)
    for name, value in published.items():
        trained = value.detach().numpy()
        change = trained - base[name][: len(trained)]
        if not np.abs(change).max():
            continue
        if change.ndim == 2:
            arrays[f"{name}:steps"], arrays[f"{name}:scale"] = packed(change)
        else:
            arrays[f"{name}:change"] = change.astype(np.float16)
    for head in ("sentence", "passage", "claim"):
        for name, value in getattr(reader, head).state_dict().items():
            arrays[f"head:{head}.{name}"] = value.numpy().astype(np.float16)
    arrays["head:passage_best"] = reader.passage_best.detach().numpy().astype(np.float16)
    for name, values in calibration.items():
        arrays[f"calibration:{name}"] = np.array(values)
    arrays["record"] = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


if __name__ == "__main__":
    main()

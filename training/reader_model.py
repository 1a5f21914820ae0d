"""The reader in torch: an encoder over (question, passage) with heads for sentences, passages and claims."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from monjyu_core.embedding.local.e5 import E5
from monjyu_core.embedding.local.e5_file import from_blocks
from monjyu_core.embedding.local.minilm import MiniLM

HEADS, WIDTH, HIDDEN = 12, 384, 128
MOST_PIECES, MOST_QUESTION = 254, 64
QUESTION, PASSAGE, CLAIM = 0, 1, 2
CHUNK = 3072
"""Tokens that run together."""


@dataclass(frozen=True)
class Special:
    begin: int
    separator: int
    padding: int
    first_position: int


class Tokens:
    """Pieces of texts without special tokens, kept for texts that come again."""

    def __init__(self, model: str) -> None:
        if model == "english":
            self.encoder: MiniLM | E5 = MiniLM("f32")
            self.special = Special(101, 102, 0, 0)
        else:
            self.encoder = E5("f32")
            self.special = Special(0, 2, 1, 0)
        self.of = lru_cache(maxsize=200_000)(self._of)

    def _of(self, text: str) -> array[int]:
        return array("i", self.encoder.encode([text])[0][1:-1])

    def length(self, text: str) -> int:
        return len(self.of(text))


@dataclass
class Batch:
    """Rows of (question, passage). `sentence` (n, tokens) numbers the sentence of each token over the whole batch, -1
    for none; `row_of` (sentences,) is the row of each."""

    ids: Tensor
    kinds: Tensor
    sentence: Tensor
    row_of: Tensor
    counts: list[int]


def assemble(tokens: Tokens, rows: Sequence[tuple[str, str, Sequence[str], int]]) -> Batch:
    """Rows of (question or claim, header, sentences, QUESTION or CLAIM). What does not fit is cut; a piece is left of
    each sentence."""
    special = tokens.special
    built = []
    total = 0
    row_of: list[int] = []
    counts: list[int] = []
    for number, (text, header, sentences, kind) in enumerate(rows):
        ids = [special.begin, *tokens.of(text)[:MOST_QUESTION], special.separator]
        kinds = [kind] * len(ids)
        marks = [-1] * len(ids)
        if header:
            ids += tokens.of(header)[:40]
        for place, sentence in enumerate(sentences):
            room = MOST_PIECES - 1 - len(ids) - (len(sentences) - 1 - place)
            pieces = tokens.of(sentence)[: max(1, room)] or array("i", [special.separator])
            marks += [-1] * (len(ids) - len(marks)) + [total + place] * len(pieces)
            ids += pieces
        ids.append(special.separator)
        kinds += [PASSAGE] * (len(ids) - len(kinds))
        marks += [-1] * (len(ids) - len(marks))
        built.append((ids, kinds, marks))
        row_of += [number] * len(sentences)
        counts.append(len(sentences))
        total += len(sentences)
    width = -(-max(len(ids) for ids, _, _ in built) // 8) * 8
    arrays = [np.full((len(built), width), fill, dtype=np.int64) for fill in (special.padding, PASSAGE, -1)]
    for number, columns in enumerate(built):
        for column, values in zip(arrays, columns, strict=True):
            column[number, : len(values)] = values
    ids, kinds, sentence = (torch.from_numpy(column) for column in arrays)
    return Batch(ids, kinds, sentence, torch.tensor(row_of, dtype=torch.long), counts)


class Layer(nn.Module):
    """Weights of one layer in floats. The arithmetic runs in `dtype`, on casts of them."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.attended = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm_attended, self.norm_outer = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def cast(self, dtype: torch.dtype) -> Cast:
        parts = (self.query, self.key, self.value)
        joined = (torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts]))
        others = (self.attended, self.norm_attended, self.inner, self.outer, self.norm_outer)
        return [(w.to(dtype), b.to(dtype)) for w, b in (joined, *((part.weight, part.bias) for part in others))]


Cast = list[tuple[Tensor, Tensor]]


def run_layer(hidden: Tensor, mask: Tensor, cast: Cast) -> Tensor:
    """Plain attention: on a CPU its backward pass is faster than that of the fused one."""
    joined, attended, norm_attended, inner, outer, norm_outer = cast
    n, t, _ = hidden.shape
    query, key, value = functional.linear(hidden, *joined).view(n, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
    shares = (torch.matmul(query * (WIDTH // HEADS) ** -0.5, key.transpose(-1, -2)) + mask).softmax(-1)
    mixed = torch.matmul(shares, value).transpose(1, 2).reshape(n, t, WIDTH)
    hidden = normalised(hidden + functional.linear(mixed, *attended), norm_attended)
    grown = functional.gelu(functional.linear(hidden, *inner))
    return normalised(hidden + functional.linear(grown, *outer), norm_outer)


def normalised(hidden: Tensor, cast: tuple[Tensor, Tensor]) -> Tensor:
    return functional.layer_norm(hidden, (WIDTH,), *cast, eps=1e-12)


NAMES = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "attended": "attention.output.dense", "norm_attended": "attention.output.LayerNorm",
    "inner": "intermediate.dense", "outer": "output.dense", "norm_outer": "output.LayerNorm",
}  # fmt: skip


class Reader(nn.Module):
    def __init__(self, tokens: Tokens, dropout: float = 0.1, dtype: torch.dtype = torch.bfloat16) -> None:
        super().__init__()
        self.dtype = dtype
        encoder = tokens.encoder
        weights = encoder.read_weights()
        if "embeddings.word_embeddings.weight" in weights:
            table = np.array(weights["embeddings.word_embeddings.weight"])
        else:
            table = from_blocks(encoder._file.word_blocks).astype(np.float16)  # type: ignore[union-attr]
        self.words = torch.from_numpy(table)
        self.padding = tokens.special.padding
        self.positions = nn.Parameter(
            torch.from_numpy(np.array(weights["embeddings.position_embeddings.weight"][: MOST_PIECES + 2]))
        )
        types = np.array(weights["embeddings.token_type_embeddings.weight"])
        kinds = np.stack([types[0], types[-1], types[0]])
        self.kinds = nn.Parameter(torch.from_numpy(kinds))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(encoder.shape.layers))
        with torch.no_grad():
            self._take(self.norm, weights, "embeddings.LayerNorm")
            for number, layer in enumerate(self.layers):
                for own, name in NAMES.items():
                    self._take(getattr(layer, own), weights, f"encoder.layer.{number}.{name}")
        self.sentence = nn.Sequential(
            nn.Linear(3 * WIDTH, HIDDEN), nn.GELU("tanh"), nn.Dropout(dropout), nn.Linear(HIDDEN, 1)
        )
        self.passage = nn.Sequential(
            nn.Linear(2 * WIDTH, HIDDEN), nn.GELU("tanh"), nn.Dropout(dropout), nn.Linear(HIDDEN, 1)
        )
        self.passage_best = nn.Parameter(torch.tensor(0.5))
        self.claim = nn.Sequential(
            nn.Linear(5 * WIDTH, HIDDEN), nn.GELU("tanh"), nn.Dropout(dropout), nn.Linear(HIDDEN, 3)
        )

    @staticmethod
    def _take(module: nn.Module, weights: dict, name: str) -> None:  # type: ignore[type-arg]
        module.weight.copy_(torch.from_numpy(np.array(weights[f"{name}.weight"])))  # type: ignore[operator,union-attr]
        module.bias.copy_(torch.from_numpy(np.array(weights[f"{name}.bias"])))  # type: ignore[operator,union-attr]

    def load(self, weights: dict[str, Tensor]) -> None:
        """Those that fit: a head of another shape stays as it is."""
        own = self.state_dict()
        self.load_state_dict(
            {name: weights[name] if weights[name].shape == value.shape else value for name, value in own.items()}
        )

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of the sentences (s,), of the passages (n,) and of the claims (n, 3)."""
        parts = [self.pooled(*part) for part in self.encode(batch)]
        back = torch.argsort(torch.cat([part[2] for part in parts]))
        first, asked = (torch.cat([part[number] for part in parts])[back] for number in (0, 1))
        place = torch.argsort(torch.cat([part[5] for part in parts]))
        mean, most = (torch.cat([part[number] for part in parts])[place] for number in (3, 4))
        row_of = batch.row_of
        sentence = self.sentence(torch.cat([mean, most, first[row_of]], 1))[:, 0]
        n = len(first)
        best = torch.full((n,), -1e4).index_reduce(0, row_of, sentence, "amax")
        weight = torch.exp(sentence - best[row_of].detach())
        total = torch.zeros(n).index_add(0, row_of, weight)
        share = (weight / total.clamp(min=1e-6)[row_of])[:, None]
        evidence, strongest = (torch.zeros(n, WIDTH).index_add(0, row_of, part * share) for part in (mean, most))
        passage = self.passage(torch.cat([first, evidence], 1))[:, 0] + self.passage_best * best
        claim = self.claim(torch.cat([first, evidence, strongest, asked], 1))
        return sentence, passage, claim

    def encode(self, batch: Batch) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Of rows of like length: hidden states, which tokens are of the question, sentences of tokens, and which rows
        they are."""
        lengths = (batch.ids != self.padding).sum(1)
        casts = [layer.cast(self.dtype) for layer in self.layers]  # type: ignore[operator]
        order = torch.argsort(lengths, stable=True)
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop + 1 - start) * int(lengths[order[stop]]) <= CHUNK:
                stop += 1
            rows = order[start:stop]
            start = stop
            width = int(lengths[rows].max())
            ids, kinds, sentence = (part[rows, :width] for part in (batch.ids, batch.kinds, batch.sentence))
            there = ids != self.padding
            mask = torch.zeros(there.shape).masked_fill(~there, -1e9)[:, None, None, :].to(self.dtype)
            hidden = self.words[ids].float() + self.positions[:width] + self.kinds[kinds]
            hidden = functional.layer_norm(hidden, (WIDTH,), self.norm.weight, self.norm.bias, 1e-12).to(self.dtype)
            for cast in casts:
                hidden = run_layer(hidden, mask, cast)
            yield hidden.float(), kinds != PASSAGE, sentence, rows

    @staticmethod
    def pooled(hidden: Tensor, asking: Tensor, sentence: Tensor, rows: Tensor) -> tuple[Tensor, ...]:
        """Of each row the first token, and mean and maximum of its question's tokens (with the special ones); which
        rows; mean and maximum of each sentence; and which sentences."""
        flat, marks = hidden.reshape(-1, WIDTH), sentence.reshape(-1)
        inside = marks >= 0
        tokens, numbers = flat[inside], marks[inside]
        owner, local = torch.unique(numbers, return_inverse=True)
        sizes = torch.bincount(local).float()
        mean = torch.zeros(len(owner), WIDTH).index_add(0, local, tokens) / sizes[:, None]
        most = torch.full((len(owner), WIDTH), -1e4).index_reduce(0, local, tokens, "amax")
        marked = asking[:, :, None].float()
        asked = [(hidden * marked).sum(1) / marked.sum(1), (hidden - 1e4 * (1 - marked)).amax(1)]
        return hidden[:, 0], torch.cat(asked, 1), rows, mean, most, owner

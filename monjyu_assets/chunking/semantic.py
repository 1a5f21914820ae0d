"""Finds topic breaks, at which a sentence is less similar to the previous one than most sentences of the paper are.

Every sentence is embedded, so a collection takes about twice as long as embedding its chunks alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.chunking.strategies import SectionText
from monjyu_core.embedding import Embedder, embed_each

BLOCK = 4096
"""The minimum number of sentences embedded together, from several papers if necessary. It limits the memory."""
STEP = 8
"""In word pieces. Texts whose lengths are in the same step are embedded together."""

Paper = Sequence[SectionText]
Vectors = NDArray[np.float32]


def with_topics(papers: Sequence[Paper], embedder: Embedder, percentile: float) -> Iterator[list[SectionText]]:
    """Yield the sections of each paper with their topic breaks, where the similarity of neighbouring sentences is below
    the `percentile` (0 to 100) of the paper's similarities."""
    for block in _blocks(papers):
        sentences = [[section.cut(sentence) for sentence in section.sentences] for paper in block for section in paper]
        vectors = _embed([text for section in sentences for text in section], embedder)
        ends = np.cumsum([len(section) for section in sentences])
        by_section = iter(np.split(vectors, ends[:-1]))
        for paper in block:
            yield _broken(paper, [_likeness(next(by_section)) for _ in paper], percentile)


def _blocks(papers: Sequence[Paper]) -> Iterator[list[Paper]]:
    block: list[Paper] = []
    count = 0
    for paper in papers:
        block.append(paper)
        count += sum(len(section.sentences) for section in paper)
        if count >= BLOCK:
            yield block
            block, count = [], 0
    if block:
        yield block


def _embed(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """The vectors (n, d) of the texts. Each is independent of the other texts, bit for bit: padding to another length
    would change the last bits of a vector, which might move a break, so only texts of similar length share a call.
    """
    distinct = list(dict.fromkeys(texts))
    lengths = np.minimum(embedder.count_tokens(distinct), embedder.max_tokens)
    groups: dict[int, list[int]] = defaultdict(list)
    for place, length in enumerate(lengths.tolist()):
        groups[-(-length // STEP)].append(place)
    vectors = np.empty((len(distinct), embedder.dimensions), dtype=np.float32)
    for places in groups.values():
        vectors[places], _ = embed_each(embedder, [distinct[place] for place in places])
    row = {text: place for place, text in enumerate(distinct)}
    return vectors[[row[text] for text in texts]]


def _likeness(vectors: Vectors) -> NDArray[np.float64]:
    """The cosines (n - 1,) between each sentence of a section and the previous one."""
    wide = vectors.astype(np.float64)
    return np.asarray((wide[1:] * wide[:-1]).sum(axis=1))


def _broken(paper: Paper, likeness: Sequence[NDArray[np.float64]], percentile: float) -> list[SectionText]:
    """The sections, with breaks where the similarity is below the percentile of the whole paper's similarities."""
    threshold = np.percentile(np.concatenate(likeness), percentile) if any(map(len, likeness)) else 0.0
    return [
        replace(
            section,
            topics=frozenset(
                section.sentences[place + 1].start for place in np.flatnonzero(found < threshold).tolist()
            ),
        )
        for section, found in zip(paper, likeness, strict=True)
    ]

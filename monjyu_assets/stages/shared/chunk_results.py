"""Code shared by the stages of entities and claims, which process only new chunks and record failures as rows. A part
contains a key for each chunk with a result. A failed chunk has no key, so it is retried when its bucket is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import pyarrow as pa

from monjyu_assets.levels.engines.chunk_engine import (
    ChunkEngine,
    ChunkResult,
    SourceAuthor,
    SourceChunk,
    SourcePaper,
    SourceReference,
    SourceSentence,
    failure_cause,
)
from monjyu_assets.work.closed_set import input_versions, primary
from monjyu_assets.work.run_limits import tries_again
from monjyu_assets.work.work import ShardReport, Work, grouped, records_of, rows_of, unchanged
from monjyu_core.errors import StorageError
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.rows_levels import ChunkFailureRow, ChunkPlace
from monjyu_core.storage.rows_papers import ChunkSentenceRow
from monjyu_core.storage.schemas import ASSET_TABLES, TABLES, Record, table_of

# Engines of levels 2 to 4 read their input from the parts of level 0.


class _Paper(TypedDict):
    paper_id: str
    title: str
    abstract: str
    language: str
    doi: str | None
    arxiv_id: str | None
    keywords: list[str]


class _Author(TypedDict):
    paper_id: str
    name: str
    affiliation: str | None
    orcid: str | None


class _Reference(TypedDict):
    paper_id: str
    ref_id: str
    title: str | None
    authors: list[str]
    year: int | None
    doi: str | None
    arxiv_id: str | None


class _Citation(TypedDict):
    paper_id: str
    ref_id: str
    context: str


class _Chunk(TypedDict):
    paper_id: str
    ord: int
    chunk_id: str
    header: str
    section_type: str
    text: str


def read_papers(work: Work, shard: str) -> list[SourcePaper]:
    """The papers of a bucket that have chunks, in order of their ids."""
    if work.parts.head("chunks", shard) is None:
        raise StorageError(f"Shard {shard} of {work.name} has no chunks.", "Materialise chunks first.")
    chunks = _chunks(work, shard)
    papers = {row["paper_id"]: row for row in records_of(work, "papers", shard, _Paper)}
    authors = grouped(records_of(work, "authors", shard, _Author), lambda row: row["paper_id"])
    references = grouped(records_of(work, "references", shard, _Reference), lambda row: row["paper_id"])
    contexts: dict[tuple[str, str], list[str]] = {}
    for row in records_of(work, "inline_citations", shard, _Citation):
        contexts.setdefault((row["paper_id"], row["ref_id"]), []).append(row["context"])
    return [
        SourcePaper(
            paper_id,
            papers[paper_id]["title"] or "",
            papers[paper_id]["abstract"] or "",
            papers[paper_id]["language"] or "en",
            papers[paper_id]["doi"],
            papers[paper_id]["arxiv_id"],
            tuple(papers[paper_id]["keywords"] or ()),
            tuple(SourceAuthor(row["name"], row["affiliation"], row["orcid"]) for row in authors.get(paper_id, ())),
            tuple(_reference(row, contexts) for row in references.get(paper_id, ())),
            tuple(chunks[paper_id]),
        )
        for paper_id in sorted(chunks)
    ]


def _chunks(work: Work, shard: str) -> dict[str, list[SourceChunk]]:
    links: dict[str, list[ChunkSentenceRow]] = {}
    for link in records_of(work, "chunk_sentences", shard, ChunkSentenceRow):
        links.setdefault(link["chunk_id"], []).append(link)
    by_paper: dict[str, list[SourceChunk]] = {}
    for row in sorted(records_of(work, "chunks", shard, _Chunk), key=lambda row: (row["paper_id"], row["ord"])):
        sentences = tuple(
            SourceSentence(link["sentence_id"], row["text"][link["start"] : link["end"]])
            for link in links.get(row["chunk_id"], ())
        )
        chunk = SourceChunk(row["chunk_id"], row["header"], row["section_type"], row["text"], sentences)
        by_paper.setdefault(row["paper_id"], []).append(chunk)
    return by_paper


def _reference(row: _Reference, contexts: dict[tuple[str, str], list[str]]) -> SourceReference:
    cited = tuple(dict.fromkeys(contexts.get((row["paper_id"], row["ref_id"]), ())))
    return SourceReference(
        row["ref_id"], row["title"] or "", tuple(row["authors"] or ()), row["year"], row["doi"], row["arxiv_id"], cited
    )


def only(papers: list[SourcePaper], chunk_ids: Collection[str]) -> dict[str, set[str]]:
    """The ids in `chunk_ids` by paper, without papers that have none of these chunks."""
    by_paper = {paper.paper_id: {c.chunk_id for c in paper.chunks if c.chunk_id in chunk_ids} for paper in papers}
    return {paper_id: chunks for paper_id, chunks in by_paper.items() if chunks}


TOGETHER = 16
"""The number of buckets whose chunks an engine gets at once, so that its processes have enough work. They are all in
memory."""
Finisher = Callable[[dict[str, pa.Table]], dict[str, pa.Table]]
"""Returns tables derived from the given ones, such as vectors of claims."""


@dataclass(frozen=True)
class ChunkStage:
    """An asset computed chunk by chunk. `failures` is its table of failures; `chosen` are the ids of its chunks (None
    for all).

    `made_with` is the recipe of the part. `rows_recipe` covers only what the engine's rows depend on.
    """

    asset: str
    failures: str
    engine: ChunkEngine
    made_with: str
    rows_recipe: str
    chosen: frozenset[str] | None = None
    finisher: Finisher | None = None

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of the engine's rows."""
        return tuple(n for n in ASSET_TABLES[self.asset] if n != self.failures and "chunk_id" in TABLES[n].schema.names)


@dataclass
class _Shard:
    shard: str
    papers: list[SourcePaper]
    previous: Part | None
    keys: dict[str, str]
    kept: set[str]
    results: list[ChunkResult] = field(default_factory=list)

    @property
    def new(self) -> set[str]:
        return self.keys.keys() - self.kept


def chunk_results(work: Work, shards: tuple[str, ...], stage: ChunkStage) -> Iterator[ShardReport]:
    """Compute and write the results of changed chunks of `shards`. With an engine that costs money, each bucket is
    written before the next is computed."""
    todo: list[str] = []
    for bucket in work.buckets(shards):
        failures = work.parts.head(stage.failures, bucket)
        retried = failures is not None and failures.rows and tries_again()
        report = None if retried else unchanged(work, stage.asset, bucket, stage.made_with)
        if report is None:
            todo.append(bucket)
        else:
            yield report
    size = 1 if stage.engine.pays else TOGETHER
    groups = [todo[start : start + size] for start in range(0, len(todo), size)]
    done = 0
    for group in groups:
        plans = [_plan(work, shard, stage) for shard in group]
        wanted = {paper_id: ids for plan in plans for paper_id, ids in only(plan.papers, plan.new).items()}
        home = {chunk_id: plan for plan in plans for chunk_id in plan.new}
        papers = [paper for plan in plans for paper in plan.papers if paper.paper_id in wanted]
        for result in stage.engine.run(papers, wanted) if wanted else ():
            home[result.chunk_id].results.append(result)
            done += 1
            work.progress(stage.asset, done, max(done, len(home)))
        for plan in plans:
            yield _write(work, plan, stage)


def new_chunks(
    work: Work, asset: str, shard: str, engine: ChunkEngine, rows_recipe: str, chosen: frozenset[str] | None
) -> Iterator[tuple[SourcePaper, SourceChunk]]:
    """Yield the chunks of a bucket that have no result yet, for estimates."""
    papers = read_papers(work, shard)
    previous = work.parts.head(primary(asset), shard)
    keys = _keys(papers, engine, rows_recipe, chosen)
    for paper in papers:
        for chunk in paper.chunks:
            key = keys.get(chunk.chunk_id)
            if key is not None and (previous is None or previous.keys.get(chunk.chunk_id) != key):
                yield paper, chunk


def _keys(
    papers: list[SourcePaper], engine: ChunkEngine, rows_recipe: str, chosen: frozenset[str] | None
) -> dict[str, str]:
    return {
        chunk.chunk_id: digest(rows_recipe, engine.key(paper, chunk))
        for paper in papers
        for chunk in paper.chunks
        if chosen is None or chunk.chunk_id in chosen
    }


def _plan(work: Work, shard: str, stage: ChunkStage) -> _Shard:
    papers = read_papers(work, shard)
    previous = work.parts.head(primary(stage.asset), shard)
    keys = _keys(papers, stage.engine, stage.rows_recipe, stage.chosen)
    kept = {chunk_id for chunk_id, key in keys.items() if previous and previous.keys.get(chunk_id) == key}
    return _Shard(shard, papers, previous, keys, kept)


def _write(work: Work, plan: _Shard, stage: ChunkStage) -> ShardReport:
    paper_of = {chunk.chunk_id: paper.paper_id for paper in plan.papers for chunk in paper.chunks}
    rows: dict[str, list[Record]] = {name: [] for name in stage.tables}
    failures: list[ChunkFailureRow] = []
    for result in plan.results:
        place: ChunkPlace = {"paper_id": paper_of[result.chunk_id], "chunk_id": result.chunk_id}
        if result.failure or result.dropped:
            failures.append({**place, **failure_cause(result.failure, result.dropped)})
        for name, several in result.rows.items():
            rows[name] += [{**place, "engine": stage.engine.name, **row} for row in several]
    tables = {name: _with_unchanged(work, plan, name, several) for name, several in rows.items()}
    tables[stage.failures] = _with_unchanged(work, plan, stage.failures, failures)
    if stage.finisher:
        tables |= stage.finisher(tables)
    failed = {row["chunk_id"]: row["error_type"] for row in failures if row["failed"]}
    keys = {chunk_id: key for chunk_id, key in plan.keys.items() if chunk_id not in failed}
    inputs = input_versions(work.parts, stage.asset, plan.shard)
    work.parts.write(stage.asset, plan.shard, tables, inputs=inputs, keys=keys, code_version=stage.made_with)
    return _report(plan, paper_of, failed)


def _with_unchanged(work: Work, plan: _Shard, name: str, rows: Sequence[Record]) -> pa.Table:
    table = table_of(name, rows)
    part = work.parts.head(name, plan.shard) if plan.kept else None  # a part of an older version may lack columns
    return pa.concat_tables([table, rows_of(part.read(), sorted(plan.kept), "chunk_id")]) if part else table


def _report(plan: _Shard, paper_of: dict[str, str], failed: dict[str, str]) -> ShardReport:
    papers = {paper_of[chunk_id] for chunk_id in plan.keys}
    changed = sorted({paper_of[chunk_id] for chunk_id in plan.new})
    causes = list(failed.values())
    before = set(plan.previous.read(["paper_id"])["paper_id"].to_pylist()) if plan.previous else set()
    return ShardReport(
        plan.shard,
        total=len(papers),
        reused=len(papers) - len(changed),
        recomputed=len(changed),
        deleted=len(before - {paper.paper_id for paper in plan.papers}),
        failed=len({paper_of[chunk_id] for chunk_id in failed}),
        recomputed_ids=changed,
        failures={cause: causes.count(cause) for cause in sorted(set(causes))},
    )

"""Level 0, third stage: the chunks of parsed papers. Only papers with new text or settings are chunked.

The chunker is imported when it runs, because comparing recipes needs none of its patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa

from monjyu_assets.work.model_choice import settle_model
from monjyu_assets.work.work import ShardReport, Work, grouped, recipe, records_of, rows_of, unchanged
from monjyu_core.embedding import load_embedder
from monjyu_core.errors import StorageError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import table_of

if TYPE_CHECKING:
    from monjyu_assets.chunking.papers import Chunker, Rows

ASSET = "chunks"
CODE_VERSION = "3"


class _Title(TypedDict):
    paper_id: str
    title: str


def chunk_recipe(settings: Settings) -> str:
    """The recipe of chunks. It includes the window of a remote embedding model and, for semantic chunks, the model's
    fingerprint, because its vectors decide where chunks end."""
    model = load_embedder(settings)
    window = [str(model.max_tokens)] if settings.embedding.remote else []
    weights = [model.fingerprint] if settings.chunking.strategy == "semantic" else []
    return recipe(ASSET, CODE_VERSION, settings, *window, *weights)


def chunk_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Chunk the changed papers of `shards`."""
    from monjyu_assets.chunking.papers import Chunker

    settle_model(work)
    chunker, made_with = Chunker(work.settings), chunk_recipe(work.settings)
    buckets = work.buckets(shards)
    for done, bucket in enumerate(buckets, start=1):
        yield unchanged(work, ASSET, bucket, made_with) or _chunk_bucket(work, bucket, chunker, made_with)
        work.progress("chunk", done, len(buckets))


def unchunked_papers(work: Work, bucket: str, made_with: str) -> int:
    """The number of papers of a bucket that have no chunks of the recipe `made_with`."""
    papers, previous = work.parts.head("papers", bucket), work.parts.head(ASSET, bucket)
    keys = {paper_id: digest(key, made_with) for paper_id, key in papers.keys.items()} if papers else {}
    return sum(previous is None or previous.keys.get(paper_id) != key for paper_id, key in keys.items())


def _chunk_bucket(work: Work, shard: str, chunker: Chunker, made_with: str) -> ShardReport:
    papers = work.parts.head("papers", shard)
    if papers is None:
        raise StorageError(f"Shard {shard} of {work.name} has no papers.", "Materialise parsed_papers first.")
    rows = {row["paper_id"]: row for row in papers.records(_Title)}
    keys = {paper_id: digest(papers.keys[paper_id], made_with) for paper_id in rows}
    previous = work.parts.head(ASSET, shard)
    kept = [paper_id for paper_id, key in keys.items() if previous and previous.keys.get(paper_id) == key]
    new = sorted(keys.keys() - set(kept))
    chunks, links = _new_rows(work, shard, {paper_id: rows[paper_id] for paper_id in new}, chunker)
    tables = {"chunks": table_of("chunks", chunks), "chunk_sentences": table_of("chunk_sentences", links)}
    if previous:
        tables = {name: _with_unchanged(work, previous, name, table, kept) for name, table in tables.items()}
    work.parts.write(
        ASSET, shard, tables, inputs={"parsed_papers": papers.asset_version}, keys=keys, code_version=made_with
    )
    deleted = len(previous.keys.keys() - keys.keys()) if previous else 0
    return ShardReport(
        shard, total=len(keys), reused=len(kept), recomputed=len(new), deleted=deleted, recomputed_ids=new
    )


def _new_rows(work: Work, shard: str, papers: Mapping[str, _Title], chunker: Chunker) -> Rows:
    if not papers:
        return [], []
    from monjyu_assets.chunking.papers import Document, Section, Sentence

    sections = grouped(records_of(work, "sections", shard, Section, papers), lambda row: row["paper_id"])
    sentences = grouped(records_of(work, "sentences", shard, Sentence, papers), lambda row: row["paper_id"])
    documents = [
        Document(paper_id, paper["title"], sections.get(paper_id, []), sentences.get(paper_id, []))
        for paper_id, paper in papers.items()
    ]
    with charged_to(work.account(ASSET)):  # semantic chunks embed sentences
        return chunker.chunk_papers(documents)


def _with_unchanged(work: Work, previous: Part, name: str, table: pa.Table, kept: list[str]) -> pa.Table:
    part = previous if name == previous.table else work.parts.open(name, previous.shard, previous.siblings[name])
    return pa.concat_tables([table, rows_of(part.read(), kept)])

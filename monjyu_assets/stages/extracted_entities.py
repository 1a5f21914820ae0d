"""Level 2, first stage: entities and relationships of each chunk, by the engine of `roles.extract`."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_assets.engines.protocol import ChunkEngine
from monjyu_assets.entities.extractive import ExtractiveEntities
from monjyu_assets.graph.centrality import central_chunks
from monjyu_assets.stages.chunk_results import ChunkStage, chunk_results
from monjyu_assets.stages.collection_stage import whole_table
from monjyu_assets.stages.common import ShardReport, Work, recipe

ASSET = "extracted_entities"
CODE_VERSION = "1"


def entity_engine(work: Work) -> ChunkEngine:
    return ExtractiveEntities(work.settings.graph.workers)


def entity_recipe(work: Work) -> str:
    return recipe(ASSET, CODE_VERSION, work.settings, entity_engine(work).made_with)


def extract_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Extract from the chunks of these shards that have changed."""
    engine = entity_engine(work)
    stage = ChunkStage(ASSET, "entity_failures", engine, entity_recipe(work), "entities", chosen=chosen_chunks(work))
    yield from chunk_results(work, shards, stage)


def chosen_chunks(work: Work) -> frozenset[str] | None:
    """The chunks that `levels.entities.extract_share` takes; None for all."""
    share = work.settings.levels.entities.extract_share
    if share >= 1:
        return None
    chunks = whole_table(work, "chunks", ["chunk_id"])
    mentions = whole_table(work, "phrase_mentions", ["chunk_id", "phrase"])
    nodes = whole_table(work, "graph_nodes", ["phrase", "degree"])
    return central_chunks(chunks, mentions, nodes, share)

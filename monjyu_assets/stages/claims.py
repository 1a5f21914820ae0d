"""Level 4: the claims of each chunk, by the engine of `roles.extract`, with their vectors."""

from collections.abc import Iterator

import pyarrow as pa

from monjyu_assets.levels.claims.extractive_claims import ExtractiveClaims
from monjyu_assets.levels.claims.model_claims import ModelClaimEngine
from monjyu_assets.levels.engines.chunk_engine import ChunkEngine
from monjyu_assets.levels.engines.model_calls import ModelCalls, ModelClaims
from monjyu_assets.stages.shared.chunk_results import ChunkStage, chunk_results
from monjyu_assets.stages.shared.collection_stage import vector_table
from monjyu_assets.work.work import ShardReport, Work, recipe
from monjyu_core.embedding import load_embedder
from monjyu_core.models.factory import check_role
from monjyu_core.storage.ids import digest

ASSET = "claims"
CODE_VERSION = "3"


def claim_engine(work: Work) -> ChunkEngine:
    """The engine that `roles.extract.engine` names. Raises ConfigurationError if its model is not set up."""
    settings, role = work.settings.levels.claims, work.settings.roles.extract
    if role.engine == "extractive":
        return ExtractiveClaims(settings.max_per_chunk, settings.min_confidence)
    check_role(work.settings, "extract")
    return ModelClaimEngine(
        work.settings, lambda: ModelCalls(work.session(ASSET), "extract", ModelClaims, role.concurrency)
    )


def claim_recipe(work: Work) -> str:
    """The recipe of the asset, with the embedding model, whose vectors are compared with those of questions."""
    return digest(rows_recipe(work), load_embedder(work.settings).fingerprint)


def rows_recipe(work: Work) -> str:
    """The recipe of the claims. It excludes the embedding model, because a different one needs no new claims."""
    return recipe(ASSET, CODE_VERSION, work.settings, claim_engine(work).made_with)


def claim_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Extract the claims of the changed chunks of `shards`."""

    def vectors(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
        rows = tables[ASSET].select(["claim_id", "paper_id", "statement"]).to_pylist()
        ids = [{"claim_id": row["claim_id"], "paper_id": row["paper_id"]} for row in rows]
        texts = [row["statement"] for row in rows]
        return {"claim_embeddings": vector_table(work, ASSET, "claim_embeddings", ids, texts)}

    stage = ChunkStage(
        ASSET, "claim_failures", claim_engine(work), claim_recipe(work), rows_recipe(work), finisher=vectors
    )
    yield from chunk_results(work, shards, stage)

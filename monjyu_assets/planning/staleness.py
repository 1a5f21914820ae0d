"""Finds the stale parts of a collection, which differ from those that its current sources, code and settings would
produce. Stages of levels that a collection does not have are not imported, because they load thousands of patterns.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from monjyu_assets.stages import chunk_embeddings as embeddings
from monjyu_assets.stages import chunks, citation_network, scholarly_metadata
from monjyu_assets.stages import paper_identity as identity
from monjyu_assets.stages import paper_manifest as manifest
from monjyu_assets.stages.shared.corrected_papers import stale_by_corrections
from monjyu_assets.stages.shared.parse_plan import parse_recipe
from monjyu_assets.work.closed_set import FAILURES, has_failed, is_current, lagging, level_of, primary
from monjyu_assets.work.work import Work, recipe
from monjyu_core.embedding import load_embedder
from monjyu_core.storage.ids import shard_of_bucket
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import COLLECTION_SHARD, SHARDS


def stale_shards(work: Work, scanned: pa.Table, *, again: bool = False) -> list[str]:
    """The shards whose parts of level 0 differ from those that the current sources, code and settings would produce;
    with `again` also those with chunks that could not be embedded."""
    recipes = _recipes(work)
    other = manifest.changed_buckets(work, scanned) | stale_by_corrections(work, scanned)
    changed = {shard_of_bucket(bucket) for bucket in other}
    return [
        shard
        for shard in SHARDS
        if shard in changed
        or lagging(work.parts, shard) is not None
        or any(_bucket_recipes(work.parts, asset, shard) != {made} for asset, made in recipes.items())
        or (again and has_failed(work.parts, embeddings.ASSET, shard))
    ]


def _recipes(work: Work) -> dict[str, str]:
    """The recipes of the parts by paper of level 0, by asset."""
    return {
        "parsed_papers": parse_recipe(work.settings),
        "chunks": chunks.chunk_recipe(work.settings),
        "chunk_embeddings": embeddings.embedding_recipe(work.settings, load_embedder(work.settings)),
    }


def paper_recipes(work: Work, level: int) -> dict[str, str]:
    """The current recipes of the parts by paper of levels 0 and 1, by asset."""
    recipes = _recipes(work)
    if level:
        from monjyu_assets.stages import noun_phrases

        recipes[noun_phrases.ASSET] = noun_phrases.phrase_recipe(work.settings)
    return recipes


def built_otherwise(work: Work, assets: Mapping[str, str], shards: Sequence[str]) -> list[str]:
    """The assets of which some shard was not built with the current recipe, to which `assets` maps them."""
    return [
        asset
        for asset, recipe in assets.items()
        if any(_bucket_recipes(work.parts, asset, shard) != {recipe} for shard in shards)
    ]


def stale_shards_of(work: Work, asset: str, recipe: str) -> list[str]:
    """The shards in which an asset by paper is missing, older than its inputs, or built with another recipe."""
    return [
        shard
        for shard in SHARDS
        if _bucket_recipes(work.parts, asset, shard) != {recipe}
        or not all(is_current(work.parts, asset, bucket) for bucket in work.parts.buckets(shard))
    ]


def stale_level(work: Work, level: int, *, again: bool = False) -> list[str]:
    """The shards of level 1, 2 or 4 that are missing, older than their inputs, or built with other code, settings or
    models; with `again` also those with failed chunks."""
    if level == 1:
        from monjyu_assets.stages import noun_phrases

        asset, recipe = noun_phrases.ASSET, noun_phrases.phrase_recipe(work.settings)
    elif level == 2:
        from monjyu_assets.stages import extracted_entities

        asset, recipe = extracted_entities.ASSET, extracted_entities.entity_recipe(work)
    elif level == 4:
        from monjyu_assets.stages import claims

        asset, recipe = claims.ASSET, claims.claim_recipe(work)
    else:
        return []
    return [
        shard
        for shard in SHARDS
        if lagging(work.parts, shard, level=level)
        or _bucket_recipes(work.parts, asset, shard) != {recipe}
        or (again and has_failed(work.parts, asset, shard))
    ]


def stale_collection_assets(work: Work, level: int, *, again: bool = False) -> list[str]:
    """The collection-level tables up to a level that are missing, older than their inputs, or built with other code,
    settings or models; with `again` also those with failures."""
    recipes = _collection_recipes(work, level, again=again)
    lags = [asset for one in range(level + 1) if (asset := lagging(work.parts, COLLECTION_SHARD, one))]
    other = [asset for asset, made in recipes.items() if _bucket_recipes(work.parts, asset, COLLECTION_SHARD) != {made}]
    failed = [
        asset
        for asset in FAILURES
        if again and asset in recipes and level_of(asset) <= level and has_failed(work.parts, asset, COLLECTION_SHARD)
    ]
    return [*lags, *other, *failed]


def _collection_recipes(work: Work, level: int, *, again: bool) -> dict[str, str]:
    """The recipes of the collection-level parts up to a level, by asset."""
    settings = work.settings
    recipes = {
        "paper_identity": recipe("paper_identity", identity.CODE_VERSION, settings),
        "citation_network": recipe("citation_network", citation_network.CODE_VERSION, settings),
        "scholarly_metadata": scholarly_metadata.scholarly_recipe(work, again=again),
    }
    if level >= 1:
        from monjyu_assets.stages import communities, noun_graph

        recipes["noun_graph"] = recipe("noun_graph", noun_graph.CODE_VERSION, settings)
        recipes["communities"] = recipe("communities", communities.CODE_VERSION, settings)
    if level >= 2:
        from monjyu_assets.stages import entity_communities, entity_graph

        recipes["entity_graph"] = recipe("entity_graph", entity_graph.CODE_VERSION, settings)
        recipes["entity_communities"] = recipe("entity_communities", entity_communities.CODE_VERSION, settings)
    if level >= 3:
        from monjyu_assets.stages import community_reports

        recipes["community_reports"] = community_reports.report_recipe(work)
    return recipes


def _bucket_recipes(parts: PartStore, asset: str, shard: str) -> set[str | None]:
    """The recipes of an asset's buckets in a shard, None for one that is missing."""
    heads = [parts.head(primary(asset), bucket) for bucket in parts.buckets(shard)]
    return {part.code_version if part else None for part in heads}

"""The jobs: a Dagster job takes assets of one partition definition, so a level has one for shards, one for the rest."""

from __future__ import annotations

import dagster as dg

from monjyu_assets.assets.index_snapshot import (
    COLLECTION_ASSETS,
    LEVEL_1_COLLECTION_ASSETS,
    LEVEL_1_PAPER_ASSETS,
    PAPER_ASSETS,
    index_snapshot,
)

level_0_papers = dg.define_asset_job(
    "level_0_papers",
    dg.AssetSelection.assets(*PAPER_ASSETS),
    description="Level 0 of a collection's papers: scan, parse, chunk, embed. Only what changed is computed.",
)
level_0_collection = dg.define_asset_job(
    "level_0_collection",
    dg.AssetSelection.assets(*COLLECTION_ASSETS, index_snapshot),
    description="Level 0 of a whole collection: files of one paper, citations, and the published snapshot.",
)
level_1_papers = dg.define_asset_job(
    "level_1_papers",
    dg.AssetSelection.assets(*LEVEL_1_PAPER_ASSETS),
    description="Level 1 of a collection's papers: noun phrases. Only what changed is computed.",
)
level_1_collection = dg.define_asset_job(
    "level_1_collection",
    dg.AssetSelection.assets(*COLLECTION_ASSETS, *LEVEL_1_COLLECTION_ASSETS, index_snapshot),
    description="Levels 0 and 1 of a whole collection: noun graph and communities too, and one snapshot of both "
    "levels, so that readers never fall back to level 0 while a collection is brought up to date.",
)
JOBS = [level_0_papers, level_0_collection, level_1_papers, level_1_collection]

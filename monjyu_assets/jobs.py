"""The jobs: a Dagster job takes assets of one partition definition, so a level has one for shards, one for the rest."""

from __future__ import annotations

import dagster as dg

from monjyu_assets.assets.index_snapshot import COLLECTION_ASSETS, PAPER_ASSETS, index_snapshot

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
JOBS = [level_0_papers, level_0_collection]

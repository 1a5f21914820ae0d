"""External assets, which Dagster does not run: where papers come from, and who reads the index."""

import dagster as dg

from monjyu_assets.orchestration.code_location import owners

papers_folder = dg.AssetSpec(
    "papers_folder",
    group_name="sources",
    kinds={"file"},
    owners=owners(),
    description="The folders and files that collections are made of: `papers/<collection>/` in the data folder, and "
    "what `monjyu index FOLDER` or the launch form of a level's job names. They are read and never written. The sensor "
    "watch_sources looks at them; `monjyu sources list` lists them.",
)

query_service = dg.AssetSpec(
    "query_service",
    deps=["index_snapshot"],
    group_name="readers",
    kinds={"fastapi"},
    owners=owners(),
    description="Who reads the published snapshot: the page and the HTTP service (`monjyu up`, `monjyu serve`), MCP "
    "(`monjyu mcp`), `monjyu search` and programs in Python. Each takes the snapshot that CURRENT names; a new one is "
    "served with the next question.",
)

EXTERNAL_ASSETS = [papers_folder, query_service]

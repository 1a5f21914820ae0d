"""Asset `paper_likeness`: a picture of how alike the papers of a collection are."""

from pathlib import Path

import dagster as dg
import numpy as np
import polars as pl
from dagster_duckdb import DuckDBResource
from matplotlib.figure import Figure

from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import SearchFilesResource


@dg.asset(
    ins={"chunks": dg.AssetIn("index_snapshot", metadata={"table": "chunks", "columns": ["chunk_id", "paper_id"]})},
    partitions_def=collections,
    group_name="analytics",
    kinds={"polars", "matplotlib"},
    automation_condition=dg.AutomationCondition.eager(),
)
def paper_likeness(
    context: dg.AssetExecutionContext,
    chunks: pl.DataFrame,
    search_files: SearchFilesResource,
    analytics: DuckDBResource,
) -> dg.MaterializeResult:
    """Cosine similarity of each pair of papers, by the mean vector of their chunks, as PNG beside the database."""
    with search_files.reading(context.partition_key) as held:
        ids = [chunk_id for file in held.files for chunk_id in file.chunk_ids.to_pylist()]
        vectors = np.concatenate([file.vectors for file in held.files])
    of_papers = pl.DataFrame({"chunk_id": ids, "row": range(len(ids))}).join(chunks, on="chunk_id")
    grouped = of_papers.group_by("paper_id").agg("row").sort("paper_id")
    means = np.stack([vectors[rows].mean(axis=0) for rows in grouped["row"].to_list()])
    means /= np.linalg.norm(means, axis=1, keepdims=True)

    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(means @ means.T, vmax=1, cmap="viridis")
    axes.set_yticks(range(len(grouped)), [paper_id[:24] for paper_id in grouped["paper_id"]], fontsize=7)
    axes.set_xticks([])
    figure.colorbar(image, label="cosine similarity")
    path = Path(analytics.database).absolute().with_name(f"likeness-{context.partition_key}.png")
    figure.savefig(path)
    return dg.MaterializeResult(metadata={"papers": len(grouped), "picture": dg.MetadataValue.path(path)})

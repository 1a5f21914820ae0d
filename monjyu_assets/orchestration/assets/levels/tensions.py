"""Asset `tensions`: pairs of claims that do not go together."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run, spent
from monjyu_assets.orchestration.assets.chunks import chunks
from monjyu_assets.orchestration.assets.levels.claims import claims
from monjyu_assets.orchestration.assets.paper_identity import paper_identity
from monjyu_assets.orchestration.resources import DataFolderResource, ModelGateway
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.stages.comparisons.opposed_statements import CODE_VERSION, find_tensions


@dg.asset(
    **collection_asset_arguments("tensions", CODE_VERSION, {"parquet", "python"}),
    deps=[chunks, claims, paper_identity],
    description="Pairs of statements about the same thing with opposite directions, of which one denies the other, or "
    "with numbers of one measure that lie apart: by rules over parsed claims and sentences, and their vectors. The "
    "statements of changed papers are compared with all; other pairs stay. No chat model is called.",
)
def tensions(
    context: dg.AssetExecutionContext, data: DataFolderResource, models: ModelGateway
) -> MaterializedAndChecked:
    with collection_run(context, data) as run:
        with models.within_caps(run.work.settings), spent(run.work, "tensions") as cost:
            report = find_tensions(run.work)
        kinds = report.part.read(["kind"])["kind"].value_counts().to_pylist()
        yield dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=run.metadata(report, **cost)
            | {
                "tensions": report.part.rows,
                "kinds": dg.MetadataValue.json({row["values"]: row["counts"] for row in kinds}),
            },
        )

"""What the asset `index_snapshot` says of a snapshot: what is in it, where it lies, what it cost, how good it is."""

from __future__ import annotations

import dagster as dg

from monjyu_assets.orchestration.plots import bars, line
from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.orchestration.telling.failed_papers import failed_papers_metadata
from monjyu_assets.orchestration.telling.served import served_metadata
from monjyu_assets.orchestration.telling.table_metadata import column_schema, rows_by_table
from monjyu_assets.publishing.gates.retrieval_gate import RetrievalGate
from monjyu_assets.publishing.publish import Published
from monjyu_assets.stages.shared.work import Work
from monjyu_core.errors import StorageError
from monjyu_core.models.accounting.ledger_totals import usage_by_level
from monjyu_core.remote.state import prefix_of
from monjyu_core.storage.manifest import Manifest, read_manifest
from monjyu_core.storage.other_files import OtherFiles
from monjyu_core.storage.schemas import LEVEL_NAMES, TABLES
from monjyu_core.text.controls import without_controls

MOST_FILES = 50
"""Files of unreadable types that the metadata names."""
MOST_NAMED = 8
"""Tables that the log names one by one."""
COUNTED = "chunks"
"""The table whose rows count as those of the snapshot: what is searched."""
NDCG = "ndcg_at_10"
MOST_SNAPSHOTS = 50
"""Measured snapshots that the plot of retrieval has."""


def described_snapshot() -> Metadata:
    """For the definition: all tables of a snapshot, and the columns of the one that its row count is of."""
    columns = [dg.TableColumn("table"), dg.TableColumn("a row is")]
    records = [dg.TableRecord({"table": spec.name, "a row is": spec.row_is}) for spec in TABLES.values() if spec.served]
    return {
        "dagster/column_schema": column_schema(COUNTED),
        "row_count_is_of": f"{COUNTED}: {TABLES[COUNTED].row_is}",
        "tables": dg.MetadataValue.table(records, dg.TableSchema(columns)),
    }


def snapshot_metadata(work: Work, published: Published, seconds: float) -> Metadata:
    manifest = published.manifest
    return {
        "snapshot_id": manifest.snapshot_id,
        "new": published.new,
        **served_metadata(work.folder, manifest.snapshot_id),
        "level": manifest.level,
        "level_name": LEVEL_NAMES[manifest.level],
        "collection": manifest.collection,
        "behind": "; ".join(manifest.behind) or "nothing",
        "dagster/row_count": manifest.rows[COUNTED],
        "dagster/partition_row_count": manifest.rows[COUNTED],
        **_places(work, manifest),
        "papers": manifest.rows["papers"],
        "embedding_model": manifest.embedding.model,
        "seconds": seconds,
        "rows": rows_by_table(manifest.rows),
        **failed_papers_metadata(work),
        **cost_metadata(work),
    }


def _places(work: Work, manifest: Manifest) -> Metadata:
    """Where the database lies, and the page where people ask it."""
    store, service = work.settings.storage.uri, work.settings.service
    place = f"{store.rstrip('/')}/{prefix_of(work.name)}" if store else None
    uri = place or work.folder.database(manifest.snapshot_id).as_uri()
    page: Metadata = {"page": dg.MetadataValue.url(f"http://{service.host}:{service.port}/")} if service.port else {}
    return {"dagster/uri": uri, **page}


def cost_metadata(work: Work) -> Metadata:
    """What models have cost until now to build the collection, in all and by level."""
    used = usage_by_level(work.data, work.name) if work.settings.models else {}
    costs = {f"level {level}": round(float(sums["cost_usd"]), 6) for level, sums in used.items()}
    metadata: Metadata = {"cost_usd_until_now": round(sum(costs.values()), 6)}
    if any(costs.values()):
        metadata["cost_by_level"] = dg.MetadataValue.md(bars(costs, "USD until now"))
    return metadata


def retrieval_metadata(context: dg.AssetExecutionContext, gate: RetrievalGate) -> Metadata:
    """nDCG@10 of the user's questions where it was measured, and its course over the snapshots of the collection."""
    if gate.ndcg is None:
        return {}
    asked = dg.AssetRecordsFilter(asset_key=context.asset_key, asset_partitions=[context.partition_key])
    records = context.instance.fetch_materializations(asked, limit=MOST_SNAPSHOTS - 1).records
    events = [record.asset_materialization for record in reversed(records)]
    earlier = [event.metadata[NDCG].value for event in events if event and NDCG in event.metadata]
    values = [float(value) for value in earlier if isinstance(value, (int, float))] + [gate.ndcg]
    drawn = line(values, "measured snapshots, oldest first", "nDCG@10")
    return {NDCG: gate.ndcg, "retrieval_over_snapshots": dg.MetadataValue.md(drawn)}


def published_told(work: Work, published: Published) -> str:
    """What a publish did, in a sentence of the run's log."""
    now = published.manifest
    if not published.new:
        return f"index_snapshot of {work.name}: nothing changed, {now.snapshot_id} stays what readers open."
    try:
        before = read_manifest(work.folder, now.previous) if now.previous else None
    except StorageError:
        before = None
    if before is None:
        return f"index_snapshot of {work.name}: {now.snapshot_id} is published, without an earlier one to compare with."
    changed = sorted(_tables(before) ^ _tables(now))
    names = sorted({table for table, _ in changed})
    some = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} of {len(now.rows)} tables"
    what = f"other rows in {some}" if names else "the same rows, made or served in another way"
    level = f"; level {before.level} -> {now.level}" if before.level != now.level else ""
    where = f"{now.snapshot_id} is published in place of {before.snapshot_id}"
    return f"index_snapshot of {work.name}: {where}: {what}{level}."


def _tables(manifest: Manifest) -> set[tuple[str, str]]:
    return {(part.table, part.data_version) for part in manifest.parts}


def other_files_metadata(others: OtherFiles) -> Metadata:
    """Other files of the sources: counts, and the first files of unreadable types."""
    rows = [
        f"| `{without_controls(row.source_path).replace('|', ' ')}` | {row.message} |"
        for row in others.unsupported[:MOST_FILES]
    ]
    rows += [f"| {others.unsupported_count - len(rows)} more | |"] if others.unsupported_count > len(rows) else []
    table = "\n".join(["| file | what to do |", "| --- | --- |", *rows]) if rows else "none"
    passed = {reason: held.count for reason, held in sorted(others.skipped.items())}
    return {
        "files_unsupported": others.unsupported_count,
        "files_not_read": dg.MetadataValue.md(table),
        "files_skipped": dg.MetadataValue.json(passed),
    }


def lineage_metadata(counts: dict[str, dict[str, int]]) -> Metadata:
    """What became of the previous snapshot's communities, for each graph."""
    return {f"communities_of_{graph}": dg.MetadataValue.json(fates) for graph, fates in counts.items()}

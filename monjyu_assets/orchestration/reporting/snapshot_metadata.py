"""The metadata of the asset `index_snapshot`: the content, location, cost and quality of a snapshot."""

from collections import Counter
from contextlib import suppress

import dagster as dg

from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.partitions import COLLECTIONS
from monjyu_assets.orchestration.reporting.run_log import bars, line
from monjyu_assets.orchestration.reporting.table_metadata import Metadata, as_code, column_schema, rows_by_table
from monjyu_assets.publishing.drift import diff
from monjyu_assets.publishing.publish import Published
from monjyu_assets.publishing.retrieval_gate import RetrievalGate
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.work.work import Work
from monjyu_core.errors import StorageError, counted
from monjyu_core.models.ledger_totals import usage_by_level
from monjyu_core.remote.state import prefix_of
from monjyu_core.storage.folders import CollectionFolder, DataFolder, OtherFiles
from monjyu_core.storage.manifest import Manifest, read_manifest
from monjyu_core.storage.schemas import LEVEL_NAMES, TABLES
from monjyu_core.storage.snapshot import read_current

MOST_FAILED = 50
"""The maximum number of papers listed."""
WHAT_TO_DO = {
    "PDFProcessError": "Open the PDF in another program and save it again.",
    "EncryptedDocument": "Save a copy without a password in its place.",
    "EmptyDocument": "The file has no text: replace or remove it.",
    "ScannedDocument": "Its pages are images: set up OCR (`monjyu doctor` shows how), or use a file with text.",
    "MalformedDocument": "The file is damaged, or its extension is wrong: download or save it again.",
    "UnsupportedDocument": "Save it as PDF or another supported format (docs/index.md lists them).",
    "DocumentTooLarge": "Split it, or raise the limit that its message names (parse.max_file_mb, ...).",
    "DocumentTimeout": "Raise parse.timeout_seconds; the next run then tries it again.",
    "DocumentMemory": "Raise parse.memory_mb; the next run then tries it again.",
    "ParserCrash": "The file may be damaged: save it again. The other papers are not affected.",
    "DuplicatePaperId": "Two records have one id: give each its own.",
}
"""The advice by cause, which is the name of the error."""

MOST_FILES = 50
"""The maximum number of files of unreadable types named in the metadata."""
MOST_NAMED = 8
"""The maximum number of changed tables that the log names individually."""
COUNTED = "chunks"
"""The table whose number of rows is the snapshot's row count in Dagster: the searchable chunks."""
NDCG = "ndcg_at_10"
MOST_SNAPSHOTS = 50
"""The maximum number of measured snapshots in the plot of retrieval."""


def described_snapshot() -> Metadata:
    """Metadata for the definition of the asset: all tables of a snapshot, and the columns of the table that gives its
    row count. These are not under Dagster's own label for columns, because Dagster would show them above all else.
    """
    columns = [dg.TableColumn("table"), dg.TableColumn("a row is")]
    records = [dg.TableRecord({"table": spec.name, "a row is": spec.row_is}) for spec in TABLES.values() if spec.served]
    return {
        f"table {COUNTED}": dg.MetadataValue.table_schema(column_schema(COUNTED)),
        "row_count_is_of": f"{COUNTED}: {TABLES[COUNTED].row_is}",
        "tables": dg.MetadataValue.table(records, dg.TableSchema(columns)),
    }


def snapshot_metadata(work: Work, published: Published, seconds: float) -> Metadata:
    """The metadata of a published snapshot: first a summary, then numbers that Dagster plots, locations, and tables."""
    manifest = published.manifest
    failed = failed_papers_metadata(work)
    return {
        "summary": dg.MetadataValue.md(_summary(work, published, int(str(failed["failed_papers"])))),
        "papers": manifest.rows["papers"],
        "dagster/row_count": manifest.rows[COUNTED],
        "dagster/partition_row_count": manifest.rows[COUNTED],
        "level": manifest.level,
        "new": published.new,
        "snapshot_id": manifest.snapshot_id,
        **served_metadata(work.folder, manifest.snapshot_id),
        "behind": "; ".join(manifest.behind) or "nothing",
        **_places(work, manifest),
        "embedding_model": manifest.embedding.model,
        "seconds": seconds,
        **failed,
        **cost_metadata(work),
        "rows": rows_by_table(manifest.rows),
    }


def _summary(work: Work, published: Published, failed: int) -> str:
    """The summary of a snapshot in up to six lines, for the top of the asset's page."""
    manifest, service = published.manifest, work.settings.service
    failures = f"{failed} could not be read (`monjyu status {work.name}`)" if failed else "all were read"
    lines = [
        f"[Ask it](http://{service.host}:{service.port}/)" if service.port else "",
        f"**{manifest.collection}**, level {manifest.level} ({LEVEL_NAMES[manifest.level]})",
        f"{manifest.rows['papers']} papers: {failures}; {manifest.rows[COUNTED]} chunks",
        publish_summary(work, published).partition(": ")[2],
        f"Behind: {'; '.join(manifest.behind) or 'nothing'}",
        f"Served: {served_metadata(work.folder, manifest.snapshot_id)['served']}",
    ]
    return "\n".join(f"- {line}" for line in lines if line)


def _places(work: Work, manifest: Manifest) -> Metadata:
    """The location of the database, and the address of the page for questions."""
    store, service = work.settings.storage.uri, work.settings.service
    place = f"{store.rstrip('/')}/{prefix_of(work.name)}" if store else None
    uri = place or work.folder.database(manifest.snapshot_id).as_uri()
    page: Metadata = {"page": dg.MetadataValue.url(f"http://{service.host}:{service.port}/")} if service.port else {}
    return {"dagster/uri": uri, **page}


def cost_metadata(work: Work) -> Metadata:
    """The cost of model calls so far for building the collection, in USD, in total and by level."""
    used = usage_by_level(work.data, work.name) if work.settings.models else {}
    costs = {f"level {level}": round(float(sums["cost_usd"]), 6) for level, sums in used.items()}
    metadata: Metadata = {"cost_usd_until_now": round(sum(costs.values()), 6)}
    if any(costs.values()):
        metadata["cost_by_level"] = dg.MetadataValue.md(bars(costs, "USD until now"))
    return metadata


def retrieval_metadata(context: dg.AssetExecutionContext, gate: RetrievalGate) -> Metadata:
    """The nDCG@10 of the user's questions with its history over snapshots; empty if it was not measured."""
    if gate.ndcg is None:
        return {}
    asked = dg.AssetRecordsFilter(asset_key=context.asset_key, asset_partitions=[context.partition_key])
    records = context.instance.fetch_materializations(asked, limit=MOST_SNAPSHOTS - 1).records
    events = [record.asset_materialization for record in reversed(records)]
    earlier = [event.metadata[NDCG].value for event in events if event and NDCG in event.metadata]
    values = [float(value) for value in earlier if isinstance(value, (int, float))] + [gate.ndcg]
    drawn = line(values, "measured snapshots, oldest first", "nDCG@10")
    return {NDCG: gate.ndcg, "retrieval_over_snapshots": dg.MetadataValue.md(drawn)}


def publish_summary(work: Work, published: Published) -> str:
    """A log line about a publish."""
    now = published.manifest
    if not published.new:
        return f"index_snapshot of {work.name}: nothing changed, {now.snapshot_id} stays the published snapshot."
    try:
        before = read_manifest(work.folder, now.previous) if now.previous else None
        differing = diff(work.folder, before.snapshot_id, now.snapshot_id) if before else None
    except StorageError:
        before = differing = None
    if before is None or differing is None:
        return (
            f"index_snapshot of {work.name}: {now.snapshot_id} is published. There is no earlier one to compare with."
        )
    changed = sorted(_tables(before) ^ _tables(now))
    names = sorted({table for table, _ in changed})
    some = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} of {len(now.rows)} tables"
    papers = {"added": differing["added"], "changed": differing["changed"], "deleted": differing["deleted"]}
    what = ", ".join(f"{counted(len(ids), 'paper')} {verb}" for verb, ids in papers.items() if ids)
    what = what or (f"other rows in {some}" if names else "the same rows, computed or served differently")
    level = f"; level {before.level} -> {now.level}" if before.level != now.level else ""
    where = f"{now.snapshot_id} is published in place of {before.snapshot_id}"
    return f"index_snapshot of {work.name}: {where}: {what}{level}."


def _tables(manifest: Manifest) -> set[tuple[str, str]]:
    return {(part.table, part.data_version) for part in manifest.parts}


def other_files_metadata(others: OtherFiles) -> Metadata:
    """The numbers of other files in the sources, and the first files of unreadable types."""
    rows = [f"| {as_code(row.source_path)} | {as_code(row.message)} |" for row in others.unsupported[:MOST_FILES]]
    rows += [f"| {others.unsupported_count - len(rows)} more | |"] if others.unsupported_count > len(rows) else []
    table = "\n".join(["| file | what to do |", "| --- | --- |", *rows]) if rows else "none"
    passed = {reason: held.count for reason, held in sorted(others.skipped.items())}
    return {
        "files_unsupported": others.unsupported_count,
        "files_not_read": dg.MetadataValue.md(table),
        "files_skipped": dg.MetadataValue.json(passed),
    }


def lineage_metadata(counts: dict[str, dict[str, int]]) -> Metadata:
    """What became of the previous snapshot's communities, by graph."""
    return {f"communities_of_{graph}": dg.MetadataValue.json(fates) for graph, fates in counts.items()}


def failed_papers_metadata(work: Work) -> Metadata:
    """The number of the collection's unreadable papers and, if there are any, a list and a plot of causes."""
    failed = whole_table(work, "failures", ["paper_id", "error_type"]).sort_by("paper_id").to_pylist()
    causes = Counter(row["error_type"] for row in failed)
    metadata: Metadata = {"failed_papers": len(failed)}
    if failed:
        metadata["failed_papers_list"] = dg.MetadataValue.table(
            [
                dg.TableRecord(
                    {
                        "paper": row["paper_id"],
                        "cause": row["error_type"],
                        "what to do": WHAT_TO_DO.get(row["error_type"], "See its message in the table failures."),
                    }
                )
                for row in failed[:MOST_FAILED]
            ],
            dg.TableSchema(
                [dg.TableColumn("paper"), dg.TableColumn("cause"), dg.TableColumn("what to do")],
                constraints=dg.TableConstraints([f"{len(failed)} papers; `monjyu status {work.name}` lists all."]),
            ),
        )
        metadata["failures_by_cause"] = dg.MetadataValue.md(bars(dict(causes.most_common()), "papers"))
    return metadata


def report_served(data: DataFolder, name: str) -> None:
    """Report the current snapshot as the asset's newest event, without a run.

    Readers have already switched, so a failure to inform Dagster stops nothing.
    """
    folder = data.collection(name)
    current = read_current(folder)
    if current is None:
        return
    manifest = read_manifest(folder, current)
    with suppress(Exception), open_instance(data) as instance:
        if not instance.has_dynamic_partition(COLLECTIONS, name):
            return
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key="index_snapshot",
                partition=name,
                description=f"{name} serves {current}: {_why(folder)}.",
                metadata={
                    "snapshot_id": current,
                    "new": False,
                    "level": manifest.level,
                    "dagster/row_count": manifest.rows["chunks"],
                    "papers": manifest.rows["papers"],
                    **served_metadata(folder, current),
                },
                tags={
                    "dagster/data_version": manifest.content,
                    "dagster/data_version_is_user_provided": "true",
                    "dagster/partition/collection": name,
                },
            )
        )


def _why(folder: CollectionFolder) -> str:
    return "an operator rolled back to it" if folder.hold.is_file() else "a rollback has ended"


def served_metadata(folder: CollectionFolder, published: str) -> Metadata:
    """Whether readers get the published snapshot, or an older one that a rollback pins."""
    current = read_current(folder)
    held = " (held by a rollback: `monjyu snapshots rollback --release` ends it)" if folder.hold.is_file() else ""
    return {"served": "this snapshot" + held if current == published else f"{current}{held}"}

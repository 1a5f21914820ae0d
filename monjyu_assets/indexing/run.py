"""`monjyu index`: bring a collection to its sources, by one Dagster run, or by none where nothing changed."""

from __future__ import annotations

from monjyu_assets.planning.goals import cap_of
from monjyu_assets.planning.index_result import (
    IndexResult,
    PaperCounts,
    Usage,
    failure_rows,
    level_causes,
    level_failures,
)
from monjyu_assets.planning.pending import look
from monjyu_assets.publishing.candidate import newest_level
from monjyu_assets.stages import paper_manifest as manifest
from monjyu_assets.work.record_keeping import keep_record
from monjyu_assets.work.run_rules import Scan, having_scanned
from monjyu_assets.work.work import Timer, Work
from monjyu_core.models.accounting.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.storage.collection import target_level
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.other_files import read_other_files
from monjyu_core.storage.snapshot import read_current


def bring_up(
    work: Work,
    source: str,
    *,
    allow_deletes: bool,
    asked_for: bool = False,
    max_cost_usd: float | None = None,
) -> IndexResult:
    """Compute and publish what has changed, up to the level that the collection is kept at. Levels that call models are
    updated only where the user asked for it or the settings allow it."""
    timer = Timer()
    before = used_by(work)
    pending = look(work, source, allow_deletes=allow_deletes, asked_for=asked_for, again=True)
    if pending.needed:
        from monjyu_assets.orchestration.runs import run_build

        with having_scanned(Scan(work.folder, pending.scanned, work.others)):
            run_build(
                work,
                pending.level,
                again=asked_for,
                cap=cap_of(work, max_cost_usd),
                asked={"sources": list(work.record.sources), "allow_deletes": allow_deletes},
            )
    else:
        keep_record(work, newest_level(work.folder))
        if work.folder.at_work.exists():
            from monjyu_assets.orchestration.runs import end_killed

            end_killed(work)
    manifest.keep_other_files(work)
    done = result(work, pending.counts, timer.seconds, before)
    target = target_level(work.record)
    if done.level < target and pending.level < target:
        work.warn(
            f"Levels {pending.level + 1} to {target} of {work.name} call models and are left behind; `monjyu upgrade "
            f"{work.name} --level {target}` brings them up to date (or this command, with levels.follow_changes)."
        )
    return done


def used_by(work: Work) -> Used:
    """Model usage of the collection's assets until now. Reads nothing where no model is set up."""
    return usage_of(work.data, CallFilter("asset", collection=work.name)) if work.settings.models else Used()


def result(work: Work, counts: PaperCounts, seconds: float, before: Used) -> IndexResult:
    """The state after the run, from the published snapshot."""
    after = used_by(work)
    usage = {name: getattr(after, name) - getattr(before, name) for name in Usage.model_fields}
    snapshot_id = read_current(work.folder) or ""
    published = read_manifest(work.folder, snapshot_id)
    failures = failure_rows(work)
    of_chunks = level_failures(work)
    unembedded = {failure.source_path for failure in of_chunks if failure.asset == "chunk_embeddings"}
    counts.failed = len(failures) + len(unembedded)
    others = read_other_files(work.folder)
    counts.unsupported, counts.skipped = others.unsupported_count, others.skipped_count
    return IndexResult(
        collection=work.name,
        level=published.level,
        snapshot_id=snapshot_id,
        papers=counts,
        chunks=published.rows["chunks"],
        seconds=round(seconds, 3),
        usage=Usage(**usage),
        failures=[*failures, *of_chunks],
        causes=level_causes(work),
        behind=published.behind,
        unsupported=others.unsupported,
    )

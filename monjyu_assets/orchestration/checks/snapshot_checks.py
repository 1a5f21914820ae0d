"""Checks of `index_snapshot`: those of the published set, which block; and warnings about how well papers were
understood, the difference from the snapshot before, and the user's questions.
"""

from collections.abc import Iterator

import dagster as dg

from monjyu_assets.orchestration.checks.rebuild_check import REBUILD_SPEC
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.reporting.metadata_types import Metadata
from monjyu_assets.orchestration.resources import SearchFilesResource
from monjyu_assets.publishing.checks import CHECKS, CheckResult
from monjyu_assets.publishing.drift import DRIFT_CHECKS, Drift, drift
from monjyu_assets.publishing.gates import questions_gate, retrieval_gate, vector_check
from monjyu_assets.publishing.gates.questions_gate import QuestionsGate
from monjyu_assets.publishing.gates.retrieval_gate import RetrievalGate
from monjyu_assets.publishing.snapshot_quality import snapshot_quality
from monjyu_assets.stages.shared.work import Work
from monjyu_core.quality import QUALITY_CHECKS, SHOWN, QualityResult
from monjyu_core.search_files.nearest_table import MIN_RECALL
from monjyu_core.storage.manifest import Manifest

MAX_QUESTIONS = 20
"""Questions that the metadata lists."""
BLOCKING = {name: what for name, (what, _) in CHECKS.items()} | {vector_check.NAME: vector_check.WHAT}
"""Checks that keep a snapshot from being published, and what they ask."""
WARNING = {
    **{name: check.description for name, check in QUALITY_CHECKS.items()},
    **DRIFT_CHECKS,
    retrieval_gate.NAME: retrieval_gate.WHAT + " It keeps a snapshot from readers if checks.retrieval_blocks is set.",
    "nearest_found": "The approximate index of a large collection finds nearly all of the nearest chunks.",
    questions_gate.NAME: questions_gate.WHAT,
}
"""Checks that warn, and what they ask."""


def snapshot_check_specs() -> list[dg.AssetCheckSpec]:
    return [
        *(_spec(name, what, blocking=True) for name, what in BLOCKING.items()),
        *(_spec(name, what, blocking=False) for name, what in WARNING.items()),
        REBUILD_SPEC,
    ]


def _spec(name: str, what: str, *, blocking: bool) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name, asset="index_snapshot", description=what, blocking=blocking, partitions_def=collections
    )


def nearest_result(manifest: Manifest, search_files: SearchFilesResource) -> dg.AssetCheckResult:
    nearest, expected = manifest.nearest, sum(entry.rows for entry in manifest.search)
    with search_files.reading(manifest.collection, manifest.snapshot_id) as held:
        there = held.chunks
    metadata: Metadata = {"chunks": there}
    if nearest:
        metadata |= {"recall": nearest.recall, "probes": nearest.probes, "indexed": nearest.rows}
    found = f"{nearest.recall:.1%} of the nearest chunks are candidates." if nearest else "All chunks are compared."
    return dg.AssetCheckResult(
        check_name="nearest_found",
        passed=there == expected and (nearest is None or nearest.recall >= MIN_RECALL),
        severity=dg.AssetCheckSeverity.WARN,
        description=found,
        metadata=metadata,
    )


def check_result(check: CheckResult) -> dg.AssetCheckResult:
    metadata: Metadata = {"offending": check.count, "examples": check.examples}
    description = "Nothing offends." if check.passed else f"{check.count} rows offend: the examples are their ids."
    return dg.AssetCheckResult(check_name=check.name, passed=check.passed, description=description, metadata=metadata)


def quality_results(work: Work, manifest: Manifest) -> Iterator[dg.AssetCheckResult]:
    """The checks over the parts of a snapshot."""
    for result in snapshot_quality(work, manifest):
        yield dg.AssetCheckResult(
            check_name=result.name,
            passed=result.passed,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{result.count} of {result.looked_at} papers do not hold it; {result.threshold:.0%} may.",
            metadata=_quality_metadata(result),
        )


def _quality_metadata(result: QualityResult) -> Metadata:
    lines = ["| paper | |", "| --- | --- |", *(f"| `{paper_id}` | {detail} |" for paper_id, detail in result.papers)]
    if result.count > SHOWN:
        lines.append(f"| and {result.count - SHOWN} more | |")
    return {
        "offending": result.count,
        "looked_at": result.looked_at,
        "share": round(result.share, 4),
        "allowed": f"{result.threshold:.0%}",  # as text: Dagster plots numbers, and this is the same each time
        "list": dg.MetadataValue.md("\n".join(lines) if result.papers else "none"),
    }


def drift_results(work: Work, manifest: Manifest, gate: RetrievalGate) -> Iterator[dg.AssetCheckResult]:
    """All checks, even where there is nothing to compare: a check without a report looks as if it had not run."""
    drifts = {one.name: one for one in drift(work.folder, manifest, work.settings.checks)}
    for name in DRIFT_CHECKS:
        yield _drift_result(name, drifts.get(name))
    yield retrieval_result(gate)


def _drift_result(name: str, measured: Drift | None) -> dg.AssetCheckResult:
    metadata: Metadata = {}
    if measured is not None:
        rows = (f"| {what} | {before:.4g} | {after:.4g} |" for what, (before, after) in measured.figures.items())
        table = "\n".join(["| | before | now |", "| --- | ---: | ---: |", *rows])
        metadata = {
            "change": round(measured.value, 4),
            "allowed": str(measured.most),
            "figures": dg.MetadataValue.md(table),
        }
    return dg.AssetCheckResult(
        check_name=name,
        passed=measured is None or measured.passed,
        severity=dg.AssetCheckSeverity.WARN,
        description=None if measured else "There is no snapshot before to compare with, or none of this level.",
        metadata=metadata,
    )


def retrieval_result(gate: RetrievalGate) -> dg.AssetCheckResult:
    if gate.ndcg is None:
        why = "No questions are set (checks.questions), or the snapshot is the one that was measured before."
        return dg.AssetCheckResult(check_name=retrieval_gate.NAME, passed=True, description=why)
    return dg.AssetCheckResult(
        check_name=retrieval_gate.NAME,
        passed=gate.passed,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"ndcg_at_10": gate.ndcg, "required": gate.checks.min_ndcg, "queries": gate.queries},
    )


def questions_result(gate: QuestionsGate) -> dg.AssetCheckResult:
    """A failure that blocks is an error, any other a warning."""
    failed = gate.failed
    severe = any(one.blocks for one in failed)
    why = "There are no saved questions, or this snapshot has answered them before."
    return dg.AssetCheckResult(
        check_name=questions_gate.NAME,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        description=None if gate.answers else why,
        metadata=questions_metadata(gate) if gate.answers else {},
    )


def questions_metadata(gate: QuestionsGate) -> Metadata:
    """Counts, and what of each question does not hold."""
    lines = ["| question | severity | does not hold |", "| --- | --- | --- |"]
    for one in gate.failed[:MAX_QUESTIONS]:
        what = "; ".join(f"{failure.expectation}: {failure.detail}" for failure in one.failures)
        lines.append(f"| `{one.question_id}` | {one.severity} | {what.replace('|', ' ')} |")
    if len(gate.failed) > MAX_QUESTIONS:
        lines.append(f"| and {len(gate.failed) - MAX_QUESTIONS} more | | |")
    return {
        "questions": len(gate.answers),
        "hold": len(gate.answers) - len(gate.failed),
        "answered_before": gate.reused,
        "seconds_to_answer": gate.seconds,
        "list": dg.MetadataValue.md("\n".join(lines) if gate.failed else "none"),
    }

"""Checks of `index_snapshot` that do not block: its difference from the one before, and the user's questions."""

from collections.abc import Iterator

import dagster as dg

from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.publishing.drift import DRIFT_CHECKS, Drift, drift
from monjyu_assets.publishing.gates.retrieval_gate import NAME, WHAT, RetrievalGate
from monjyu_assets.stages.shared.work import Work
from monjyu_core.storage.manifest import Manifest


def drift_specs(asset: str) -> list[dg.AssetCheckSpec]:
    described = DRIFT_CHECKS | {NAME: WHAT + " It keeps a snapshot from readers if checks.retrieval_blocks is set."}
    return [
        dg.AssetCheckSpec(name, asset=asset, description=what, partitions_def=collections)
        for name, what in described.items()
    ]


def drift_results(work: Work, manifest: Manifest, gate: RetrievalGate) -> Iterator[dg.AssetCheckResult]:
    """All checks, even where there is nothing to compare: a check without a report looks as if it had not run."""
    drifts = {one.name: one for one in drift(work.folder, manifest, work.settings.checks)}
    for name in DRIFT_CHECKS:
        yield _result(name, drifts.get(name))
    yield retrieval_result(gate)


def _result(name: str, measured: Drift | None) -> dg.AssetCheckResult:
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
        return dg.AssetCheckResult(check_name=NAME, passed=True, description=why)
    return dg.AssetCheckResult(
        check_name=NAME,
        passed=gate.passed,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"ndcg_at_10": gate.ndcg, "required": gate.checks.min_ndcg, "queries": gate.queries},
    )

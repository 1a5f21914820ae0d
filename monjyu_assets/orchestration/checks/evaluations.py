"""Results of checks as events, for those that Dagster does not report by itself: from jobs of ops."""

from __future__ import annotations

import dagster as dg


def evaluation_of(asset: str, partition: str, result: dg.AssetCheckResult) -> dg.AssetCheckEvaluation:
    """The result as an event of the asset's partition, for `context.log_event`."""
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(asset),
        check_name=result.check_name or "",
        passed=result.passed,
        severity=result.severity,
        description=result.description,
        metadata=result.metadata,
        partition=partition,
    )

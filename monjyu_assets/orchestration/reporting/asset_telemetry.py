"""Telemetry of an asset's work, in addition to Dagster's events: structured logs, spans and metrics."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import dagster as dg

from monjyu_assets.orchestration.lineage.lineage_events import report_made
from monjyu_assets.work.work import ShardReport, Work
from monjyu_core.logs import log_event
from monjyu_core.storage.parts import read_all
from monjyu_core.telemetry import telemetry


def asset_done(
    work: Work,
    asset: str,
    seconds: float,
    *,
    rows: int,
    tokens: int = 0,
    cost_usd: float = 0.0,
    checks: Sequence[dg.AssetCheckResult] = (),
) -> None:
    """Report to logs, telemetry and OpenLineage that an asset of a collection was built."""
    name = {"collection": work.name, "asset": asset}
    spent = {"seconds": round(seconds, 3), "tokens": tokens, "cost_usd": cost_usd}
    log_event("asset done", {"run": work.run_id, **name, "rows": rows, **spent})
    report_made(work, asset, seconds, checks)
    sink = telemetry()
    if sink is None:
        return
    sink.past_span(f"asset {asset}", seconds, name | {"run": work.run_id, "rows": rows})
    sink.measure("monjyu.asset.seconds", seconds, "s", name)
    if tokens:
        sink.count("monjyu.tokens", tokens, name)
        sink.count("monjyu.cost_usd", cost_usd, name)


def papers_done(work: Work, asset: str, reports: Sequence[ShardReport], failed: dict[str, str]) -> None:
    """Report what an asset did to its papers. `failed`: papers that could not be read this time, with the cause."""
    name = {"collection": work.name, "asset": asset}
    outcomes = {
        "reused": sum(report.reused for report in reports),
        "recomputed": sum(report.recomputed for report in reports),
        "deleted": sum(report.deleted for report in reports),
        "failed": sum(report.failed for report in reports),
    }
    where = {"run": work.run_id, **name}
    log_event("papers done", {**where, "papers": sum(report.total for report in reports), **outcomes})
    for paper, cause in failed.items():
        log_event("paper failed", {**where, "paper": paper, "cause": cause}, logging.WARNING)
    sink = telemetry()
    if sink is not None:
        for outcome, count in outcomes.items():
            if count:
                sink.count("monjyu.papers", count, name | {"outcome": outcome})


def failed_papers(work: Work, asset: str, reports: Sequence[ShardReport]) -> dict[str, str]:
    """The papers that this run parsed and could not read, with the cause."""
    again = {paper_id for report in reports if report.failed for paper_id in report.recomputed_ids}
    if asset != "parsed_papers" or not again:
        return {}
    rows = read_all("failures", work.parts.heads("failures"), ["paper_id", "error_type"]).to_pylist()
    return {row["paper_id"]: row["error_type"] for row in rows if row["paper_id"] in again}

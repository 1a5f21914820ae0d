"""Checks of how well papers were understood: they warn and name the papers, but do not block.

They belong to `index_snapshot`, whose partition is a whole collection: a share of the two papers of a shard says
little.
"""

from collections.abc import Iterator

import dagster as dg

from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.publishing.snapshot_quality import snapshot_quality
from monjyu_assets.stages.shared.work import Work
from monjyu_core.quality import QUALITY_CHECKS, SHOWN, QualityResult
from monjyu_core.storage.manifest import Manifest


def quality_specs(asset: str) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(name, asset=asset, description=check.description, partitions_def=collections)
        for name, check in QUALITY_CHECKS.items()
    ]


def quality_results(work: Work, manifest: Manifest) -> Iterator[dg.AssetCheckResult]:
    """The checks over the parts of a snapshot."""
    for result in snapshot_quality(work, manifest):
        yield dg.AssetCheckResult(
            check_name=result.name,
            passed=result.passed,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{result.count} of {result.looked_at} papers do not hold it; {result.threshold:.0%} may.",
            metadata=_metadata(result),
        )


def _metadata(result: QualityResult) -> Metadata:
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

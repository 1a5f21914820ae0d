"""Check `saved_questions` of `index_snapshot`: whether the answers to the saved questions are as expected."""

from __future__ import annotations

import dagster as dg

from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.publishing.gates.questions_gate import NAME, WHAT, QuestionsGate

SHOWN = 20
QUESTIONS_SPEC = dg.AssetCheckSpec(NAME, asset="index_snapshot", description=WHAT, partitions_def=collections)


def questions_result(gate: QuestionsGate) -> dg.AssetCheckResult:
    """A failure that blocks is an error, any other a warning."""
    failed = gate.failed
    severe = any(one.blocks for one in failed)
    why = "There are no saved questions, or this snapshot has answered them before."
    return dg.AssetCheckResult(
        check_name=NAME,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        description=None if gate.answers else why,
        metadata=questions_metadata(gate) if gate.answers else {},
    )


def questions_metadata(gate: QuestionsGate) -> Metadata:
    """Counts, and what of each question does not hold."""
    lines = ["| question | severity | does not hold |", "| --- | --- | --- |"]
    for one in gate.failed[:SHOWN]:
        what = "; ".join(f"{failure.expectation}: {failure.detail}" for failure in one.failures)
        lines.append(f"| `{one.question_id}` | {one.severity} | {what.replace('|', ' ')} |")
    if len(gate.failed) > SHOWN:
        lines.append(f"| and {len(gate.failed) - SHOWN} more | | |")
    return {
        "questions": len(gate.answers),
        "hold": len(gate.answers) - len(gate.failed),
        "answered_before": gate.reused,
        "seconds_to_answer": gate.seconds,
        "list": dg.MetadataValue.md("\n".join(lines) if gate.failed else "none"),
    }

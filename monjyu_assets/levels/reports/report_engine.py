"""The protocol of engines that write reports, and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from monjyu_assets.levels.engines.chunk_engine import Failure
from monjyu_assets.levels.reports.report_sources import CommunitySource
from monjyu_core.storage.rows.rows_levels import CommunityReportRow, FindingRow


@dataclass(frozen=True)
class Finding:
    summary: str
    explanation: str
    sentence_ids: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    title: str
    summary: str
    findings: tuple[Finding, ...]
    rating: float
    rating_reason: str

    @property
    def text(self) -> str:
        """The whole report as prose, for prompts and full text."""
        return "\n\n".join([self.title, self.summary, *(f"{f.summary} {f.explanation}".strip() for f in self.findings)])


@dataclass
class ReportResult:
    """A community's report or its failure; the `dropped` findings or citations are not in the source."""

    community_id: str
    report: Report | None = None
    failure: Failure | None = None
    dropped: int = 0


class ReportEngine(Protocol):
    """Writes reports, as `ChunkEngine` makes rows of chunks."""

    @property
    def name(self) -> str: ...

    @property
    def made_with(self) -> str: ...

    def run(self, communities: Sequence[CommunitySource]) -> Iterator[ReportResult]: ...


def report_row(source: CommunitySource, report: Report, engine: str) -> CommunityReportRow:
    """The row of `community_reports`."""
    findings: list[FindingRow] = [
        {"summary": f.summary, "explanation": f.explanation, "sentence_ids": list(f.sentence_ids)}
        for f in report.findings
    ]
    return {
        "community_id": source.community_id,
        "level": source.level,
        "title": report.title,
        "summary": report.summary,
        "findings": findings,
        "rating": report.rating,
        "rating_reason": report.rating_reason,
        "text": report.text,
        "paper_ids": [paper for paper, _ in source.papers],
        "engine": engine,
    }

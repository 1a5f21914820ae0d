"""Checks of the noun graph and its communities. They warn, except the one on community size, which holds the code to
its promise."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import dagster as dg

from monjyu_assets.levels.graph.rules import partition_rules
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.publishing.checks import over_parts
from monjyu_assets.work.work import Work
from monjyu_core.settings.settings import Settings


@dataclass(frozen=True)
class GraphCheck:
    """One query for (measured value, what it is measured against); passes while the value is not above `most`."""

    description: str
    tables: tuple[str, ...]
    query: str
    most: float | Callable[[Settings], float]
    blocking: bool = False


ISOLATES = GraphCheck(
    "Not more than a third of the phrases are left without an edge.",
    ("graph_nodes",),
    "SELECT coalesce(avg((degree = 0)::INT), 0) FROM graph_nodes",
    1 / 3,
)
HUBS = GraphCheck(
    "No phrase is joined to more than half of all others (in graphs of 200 phrases or more).",
    ("graph_nodes",),
    "SELECT CASE WHEN count(*) < 200 THEN 0 ELSE max(degree) / count(*) END FROM graph_nodes",
    0.5,
)
COVERAGE = GraphCheck(
    "Not more than a tenth of the chunks are in no community; those are found through vectors and keywords only.",
    ("chunks", "phrase_mentions", "community_members", "paper_identity"),
    "SELECT coalesce(avg((chunk_id NOT IN (SELECT chunk_id FROM phrase_mentions "
    "SEMI JOIN community_members USING (phrase) SEMI JOIN (SELECT canonical_id AS paper_id FROM paper_identity) "
    "USING (paper_id)))::INT), 0) FROM chunks",
    0.1,
)
SIZE = GraphCheck(
    "No community without children is larger than graph.max_community_size.",
    ("communities",),
    "SELECT coalesce(max(size), 0) FROM communities WHERE community_id NOT IN "
    "(SELECT parent_id FROM communities WHERE parent_id IS NOT NULL)",
    lambda settings: partition_rules(settings.graph).max_size,
    blocking=True,
)
ENTITY_COVERAGE = GraphCheck(
    "Not more than half of the entities are in no relationship; those are found by name and vector only.",
    ("entities",),
    "SELECT coalesce(avg((degree = 0)::INT), 0) FROM entities",
    0.5,
)
ENTITY_TYPES = GraphCheck(
    "Not more than two thirds of the entities are of one type (in graphs of 200 entities or more).",
    ("entities",),
    "SELECT CASE WHEN sum(n) < 200 THEN 0 ELSE coalesce(max(n) / sum(n), 0) END FROM "
    "(SELECT count(*) AS n FROM entities GROUP BY type)",
    2 / 3,
)
ENTITY_SIZE = GraphCheck(
    "No community without children is larger than levels.entities.max_community_size.",
    ("entity_communities",),
    "SELECT coalesce(max(size), 0) FROM entity_communities WHERE community_id NOT IN "
    "(SELECT parent_id FROM entity_communities WHERE parent_id IS NOT NULL)",
    lambda settings: settings.levels.entities.max_community_size,
    blocking=True,
)
REPORTED = GraphCheck(
    "Not more than levels.max_failed_share of the communities have no report.",
    ("community_reports", "report_failures"),
    "SELECT coalesce((SELECT count(*) FROM report_failures WHERE failed) / "
    "nullif((SELECT count(*) FROM report_failures WHERE failed) + (SELECT count(*) FROM community_reports), 0), 0)",
    lambda settings: settings.levels.max_failed_share,
)
CITED = GraphCheck(
    "Every finding cites a sentence.",
    ("community_reports",),
    "SELECT count(*) FROM (SELECT unnest(findings) AS finding FROM community_reports) "
    "WHERE len(finding.sentence_ids) = 0",
    0,
)

GRAPH_CHECKS = {"few_isolates": ISOLATES, "no_dominant_hub": HUBS}
ENTITY_CHECKS = {"entities_related": ENTITY_COVERAGE, "no_dominant_type": ENTITY_TYPES}
ENTITY_COMMUNITY_CHECKS = {"entity_community_size_kept": ENTITY_SIZE}
REPORT_CHECKS = {"communities_reported": REPORTED, "findings_cited": CITED}
COMMUNITY_CHECKS = {"chunks_covered": COVERAGE, "community_size_kept": SIZE}


def check_specs(asset: str, checks: dict[str, GraphCheck]) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            name, asset=asset, description=check.description, blocking=check.blocking, partitions_def=collections
        )
        for name, check in checks.items()
    ]


def measure(work: Work, checks: dict[str, GraphCheck]) -> dict[str, float]:
    """The value of each check over the current parts."""
    tables = {table for check in checks.values() for table in check.tables}
    with over_parts([part for table in sorted(tables) for part in work.parts.heads(table)]) as connection:
        return {name: float(connection.execute(check.query).fetchall()[0][0]) for name, check in checks.items()}


def check_results(
    work: Work, checks: dict[str, GraphCheck], values: dict[str, float] | None = None
) -> Iterator[dg.AssetCheckResult]:
    """The checks over the current parts, with the `values` that were measured."""
    for name, value in (measure(work, checks) if values is None else values).items():
        check = checks[name]
        most = check.most(work.settings) if callable(check.most) else check.most
        severity = dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN
        yield dg.AssetCheckResult(
            check_name=name,
            passed=value <= most,
            severity=severity,
            metadata={"measured": round(value, 4), "allowed": f"{most:g}"},
        )

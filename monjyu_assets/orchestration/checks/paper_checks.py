"""Checks of assets with results by paper, which run before anything is published, and checks of graphs."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import dagster as dg
import duckdb

from monjyu_assets.levels.graph.rules import partition_rules
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.publishing.checks import over_parts
from monjyu_assets.work.work import Work
from monjyu_core.settings.settings import Settings

SHOWN = 20
FAILED_FROM = 5
"""The minimum number of examined rows for a meaningful share."""


@dataclass(frozen=True)
class PaperCheck:
    """A query for (id, paper_id) of the rows that violate the check. Without `of`, the check fails if there is any.
    `of` is a query for all rows examined: the check then fails if more than `share` of at least FAILED_FROM do."""

    description: str
    tables: tuple[str, ...]
    query: str
    of: str | None = None
    share: float = 0.0

    @property
    def blocking(self) -> bool:
        return self.of is None


PAPER_CHECKS: Mapping[str, Mapping[str, PaperCheck]] = {
    "parsed_papers": {
        "papers_have_sentences": PaperCheck(
            "Every parsed paper has sentences, each inside one of its sections.",
            ("papers", "sections", "sentences"),
            "SELECT paper_id, paper_id FROM papers ANTI JOIN sentences USING (paper_id) UNION ALL "
            "SELECT sentence_id, s.paper_id FROM sentences s LEFT JOIN sections x USING (paper_id, section_ord) "
            "WHERE x.paper_id IS NULL OR s.start < 0 OR s.end > length(x.text) OR s.start >= s.end",
        ),
        "papers_readable": PaperCheck(
            "Not more than half of the papers could not be read.",
            ("papers", "failures"),
            "SELECT paper_id, paper_id FROM failures",
            of="SELECT paper_id FROM papers UNION ALL SELECT paper_id FROM failures",
            share=0.5,
        ),
    },
    "chunks": {
        "chunks_have_sentences": PaperCheck(
            "Every chunk has text, and sentences of its paper.",
            ("chunks", "chunk_sentences", "sentences"),
            "SELECT chunk_id, paper_id FROM chunks WHERE trim(text) = '' UNION ALL "
            "SELECT chunk_id, paper_id FROM chunks ANTI JOIN chunk_sentences USING (chunk_id) UNION ALL "
            "SELECT sentence_id, paper_id FROM chunk_sentences ANTI JOIN sentences USING (sentence_id)",
        ),
        "papers_have_chunks": PaperCheck(
            "Not more than a tenth of the papers have no chunk; those are found by title only.",
            ("papers", "chunks"),
            "SELECT paper_id, paper_id FROM papers ANTI JOIN chunks USING (paper_id)",
            of="SELECT paper_id FROM papers",
            share=0.1,
        ),
    },
    "chunk_embeddings": {
        "vectors_of_chunks": PaperCheck(
            "Every chunk has one vector of its own text or is recorded as a failure, and every vector has a chunk.",
            ("chunks", "chunk_embeddings", "embedding_failures"),
            "SELECT coalesce(c.chunk_id, e.chunk_id), coalesce(c.paper_id, e.paper_id) FROM chunks c "
            "FULL JOIN chunk_embeddings e USING (chunk_id) LEFT JOIN embedding_failures f ON f.chunk_id = c.chunk_id "
            "WHERE (e.input_hash IS DISTINCT FROM c.input_hash) = (f.chunk_id IS NULL)",
        ),
        "vectors_of_length_one": PaperCheck(
            "Every vector is finite and of length one.",
            ("chunk_embeddings",),
            "SELECT chunk_id, paper_id FROM chunk_embeddings "
            "WHERE NOT coalesce(abs(list_inner_product(vector, vector) - 1) < 0.01, false)",
        ),
    },
    "noun_phrases": {
        "phrases_of_chunks": PaperCheck(
            "Every phrase is in a chunk.",
            ("chunks", "phrase_mentions"),
            "SELECT phrase, paper_id FROM phrase_mentions ANTI JOIN chunks USING (chunk_id)",
        ),
        "chunks_have_phrases": PaperCheck(
            "Not more than a fifth of the chunks have no phrase.",
            ("chunks", "phrase_mentions"),
            "SELECT chunk_id, paper_id FROM chunks ANTI JOIN phrase_mentions USING (chunk_id)",
            of="SELECT paper_id FROM chunks",
            share=0.2,
        ),
    },
    "extracted_entities": {
        "entities_cited": PaperCheck(
            "Every entity and relationship belongs to a chunk and to sentences in it.",
            ("chunks", "chunk_sentences", "entity_mentions", "relationship_mentions"),
            "SELECT chunk_id, paper_id FROM (SELECT chunk_id, paper_id, unnest(sentence_ids) AS sentence_id "
            "FROM entity_mentions UNION ALL SELECT chunk_id, paper_id, unnest(sentence_ids) "
            "FROM relationship_mentions) ANTI JOIN chunk_sentences USING (chunk_id, sentence_id) UNION ALL "
            "SELECT chunk_id, paper_id FROM entity_mentions ANTI JOIN chunks USING (chunk_id)",
        ),
        "chunks_understood": PaperCheck(
            "The engine failed on not more than a fifth of the chunks.",
            ("chunks", "entity_failures"),
            "SELECT chunk_id, paper_id FROM entity_failures WHERE failed",
            of="SELECT paper_id FROM chunks",
            share=0.2,
        ),
    },
    "claims": {
        "claims_cited": PaperCheck(
            "Every claim cites sentences of its paper.",
            ("claims", "sentences"),
            "SELECT claim_id, paper_id FROM claims WHERE len(sentence_ids) = 0 UNION ALL "
            "SELECT claim_id, paper_id FROM (SELECT claim_id, paper_id, unnest(sentence_ids) AS sentence_id "
            "FROM claims) ANTI JOIN sentences USING (sentence_id)",
        ),
        "claims_found": PaperCheck(
            "The engine failed on not more than a fifth of the chunks.",
            ("chunks", "claim_failures"),
            "SELECT chunk_id, paper_id FROM claim_failures WHERE failed",
            of="SELECT paper_id FROM chunks",
            share=0.2,
        ),
    },
}
"""All checks, by asset and name. Blocking checks detect faults of Monjyu's code; the others warn."""


def check_papers(work: Work, asset: str, changed: Collection[str]) -> Iterator[dg.AssetCheckResult]:
    """Yield one result per check. Blocking checks examine only the `changed` buckets, because the others have passed;
    shares are those of the whole collection."""
    checks = PAPER_CHECKS.get(asset, {})
    every, tables = work.parts.all_buckets(), sorted({table for check in checks.values() for table in check.tables})
    if not checks:
        return
    heads = [part for table in tables for part in work.parts.heads(table)]
    new = [part for part in heads if part.shard in changed]
    shares = sorted({table for check in checks.values() if not check.blocking for table in check.tables})
    with over_parts(heads, shares) as everything, over_parts(new, tables, within=everything) as written:
        for name, check in checks.items():
            yield _result(name, check, written if check.blocking else everything, len(changed), len(every))


def _result(
    name: str, check: PaperCheck, connection: duckdb.DuckDBPyConnection, changed: int, of: int
) -> dg.AssetCheckResult:
    """The result of a check, with counts and ids but no text, because the log outlives a purge."""
    ids = [row_id for row_id, _ in connection.execute(check.query).fetchall()]
    among = connection.execute(f"SELECT count(*) FROM ({check.of})").fetchall()[0][0] if check.of else 0
    passed = not ids if check.blocking else among < FAILED_FROM or len(ids) <= check.share * among
    said = f"{len(ids)}{f' of {among}' if check.of else ''} offend." if ids else "Nothing offends."
    if check.blocking:
        said += f" {changed} of {of} parts are new and were checked."
    return dg.AssetCheckResult(
        check_name=name,
        passed=passed,
        severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
        description=said,
        metadata={"offending": len(ids), "examples": ", ".join(ids[:SHOWN]) or "none"},
    )


# Checks of graphs, communities and reports. They warn, except the checks of community size, which fail only because of
# a fault in the code.
@dataclass(frozen=True)
class GraphCheck:
    """A query for one measured value. The check passes if the value is at most `most`."""

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


def check_specs(asset: str, checks: Mapping[str, PaperCheck | GraphCheck]) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            name, asset=asset, description=check.description, blocking=check.blocking, partitions_def=collections
        )
        for name, check in checks.items()
    ]


def measure(work: Work, checks: dict[str, GraphCheck]) -> dict[str, float]:
    """The measured value of each check over the current parts."""
    tables = {table for check in checks.values() for table in check.tables}
    with over_parts([part for table in sorted(tables) for part in work.parts.heads(table)]) as connection:
        return {name: float(connection.execute(check.query).fetchall()[0][0]) for name, check in checks.items()}


def check_results(
    work: Work, checks: dict[str, GraphCheck], values: dict[str, float] | None = None
) -> Iterator[dg.AssetCheckResult]:
    """The results of the checks, from `values` if they have been measured."""
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

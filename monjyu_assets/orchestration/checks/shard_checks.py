"""Checks of paper-level assets, shard by shard: a bad shard shows where it was made, before anything is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import dagster as dg

from monjyu_assets.orchestration.checks.evaluations import evaluation_of
from monjyu_assets.orchestration.partitions import papers, shard_key
from monjyu_assets.publishing.checks import over_parts
from monjyu_assets.stages.shared.work import Work
from monjyu_core.storage.ids import shard_of

SHOWN = 20
FAILED_FROM = 5
"""Papers (or chunks) of a shard from which on the share that failed says something."""


@dataclass(frozen=True)
class ShardCheck:
    """A query for (id, paper_id) of rows that offend, over the tables of shards. Each of them does, or where `of` names
    what they are among (a query for paper_id), a share above `share` of a shard with FAILED_FROM of these."""

    description: str
    tables: tuple[str, ...]
    query: str
    of: str | None = None
    share: float = 0.0

    @property
    def blocking(self) -> bool:
        return self.of is None


@dataclass
class Found:
    """What a check found in one shard."""

    offending: list[str] = field(default_factory=list)
    among: int = 0

    def passes(self, check: ShardCheck) -> bool:
        if check.of is None:
            return not self.offending
        return self.among < FAILED_FROM or len(self.offending) <= check.share * self.among


SHARD_CHECKS: Mapping[str, Mapping[str, ShardCheck]] = {
    "parsed_papers": {
        "papers_have_sentences": ShardCheck(
            "Every parsed paper has sentences, each inside one of its sections.",
            ("papers", "sections", "sentences"),
            "SELECT paper_id, paper_id FROM papers ANTI JOIN sentences USING (paper_id) UNION ALL "
            "SELECT sentence_id, s.paper_id FROM sentences s LEFT JOIN sections x USING (paper_id, section_ord) "
            "WHERE x.paper_id IS NULL OR s.start < 0 OR s.end > length(x.text) OR s.start >= s.end",
        ),
        "papers_readable": ShardCheck(
            "Not more than half of the shard's papers could not be read.",
            ("papers", "failures"),
            "SELECT paper_id, paper_id FROM failures",
            of="SELECT paper_id FROM papers UNION ALL SELECT paper_id FROM failures",
            share=0.5,
        ),
    },
    "chunks": {
        "chunks_have_sentences": ShardCheck(
            "Every chunk has text, and sentences of its paper.",
            ("chunks", "chunk_sentences", "sentences"),
            "SELECT chunk_id, paper_id FROM chunks WHERE trim(text) = '' UNION ALL "
            "SELECT chunk_id, paper_id FROM chunks ANTI JOIN chunk_sentences USING (chunk_id) UNION ALL "
            "SELECT sentence_id, paper_id FROM chunk_sentences ANTI JOIN sentences USING (sentence_id)",
        ),
        "papers_have_chunks": ShardCheck(
            "Not more than a tenth of the shard's papers have no chunk; those are found by title only.",
            ("papers", "chunks"),
            "SELECT paper_id, paper_id FROM papers ANTI JOIN chunks USING (paper_id)",
            of="SELECT paper_id FROM papers",
            share=0.1,
        ),
    },
    "chunk_embeddings": {
        "vectors_of_chunks": ShardCheck(
            "Every chunk has one vector of its own text, or is a failure, and every vector a chunk.",
            ("chunks", "chunk_embeddings", "embedding_failures"),
            "SELECT coalesce(c.chunk_id, e.chunk_id), coalesce(c.paper_id, e.paper_id) FROM chunks c "
            "FULL JOIN chunk_embeddings e USING (chunk_id) LEFT JOIN embedding_failures f ON f.chunk_id = c.chunk_id "
            "WHERE (e.input_hash IS DISTINCT FROM c.input_hash) = (f.chunk_id IS NULL)",
        ),
        "vectors_of_length_one": ShardCheck(
            "Every vector is finite and of length one.",
            ("chunk_embeddings",),
            "SELECT chunk_id, paper_id FROM chunk_embeddings "
            "WHERE NOT coalesce(abs(list_inner_product(vector, vector) - 1) < 0.01, false)",
        ),
    },
    "noun_phrases": {
        "phrases_of_chunks": ShardCheck(
            "Every phrase stands in a chunk.",
            ("chunks", "phrase_mentions"),
            "SELECT phrase, paper_id FROM phrase_mentions ANTI JOIN chunks USING (chunk_id)",
        ),
        "chunks_have_phrases": ShardCheck(
            "Not more than a fifth of the shard's chunks have no phrase.",
            ("chunks", "phrase_mentions"),
            "SELECT chunk_id, paper_id FROM chunks ANTI JOIN phrase_mentions USING (chunk_id)",
            of="SELECT paper_id FROM chunks",
            share=0.2,
        ),
    },
    "extracted_entities": {
        "entities_cited": ShardCheck(
            "Every entity and relationship is of a chunk and of sentences that are in it.",
            ("chunks", "chunk_sentences", "entity_mentions", "relationship_mentions"),
            "SELECT chunk_id, paper_id FROM (SELECT chunk_id, paper_id, unnest(sentence_ids) AS sentence_id "
            "FROM entity_mentions UNION ALL SELECT chunk_id, paper_id, unnest(sentence_ids) "
            "FROM relationship_mentions) ANTI JOIN chunk_sentences USING (chunk_id, sentence_id) UNION ALL "
            "SELECT chunk_id, paper_id FROM entity_mentions ANTI JOIN chunks USING (chunk_id)",
        ),
        "chunks_understood": ShardCheck(
            "The engine failed on not more than a fifth of the shard's chunks.",
            ("chunks", "entity_failures"),
            "SELECT chunk_id, paper_id FROM entity_failures WHERE failed",
            of="SELECT paper_id FROM chunks",
            share=0.2,
        ),
    },
    "claims": {
        "claims_cited": ShardCheck(
            "Every claim cites sentences of its paper.",
            ("claims", "sentences"),
            "SELECT claim_id, paper_id FROM claims WHERE len(sentence_ids) = 0 UNION ALL "
            "SELECT claim_id, paper_id FROM (SELECT claim_id, paper_id, unnest(sentence_ids) AS sentence_id "
            "FROM claims) ANTI JOIN sentences USING (sentence_id)",
        ),
        "claims_found": ShardCheck(
            "The engine failed on not more than a fifth of the shard's chunks.",
            ("chunks", "claim_failures"),
            "SELECT chunk_id, paper_id FROM claim_failures WHERE failed",
            of="SELECT paper_id FROM chunks",
            share=0.2,
        ),
    },
}
"""By asset and name. Those that block say that our own code went wrong; the others warn."""


def shard_check_specs(asset: str) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            name, asset=asset, description=check.description, blocking=check.blocking, partitions_def=papers
        )
        for name, check in SHARD_CHECKS.get(asset, {}).items()
    ]


Results = dict[str, dict[str, Found]]
"""By check and shard."""


def look_at_shards(work: Work, asset: str, shards: Iterable[str]) -> Results:
    """Ask the asset's checks of these shards, over their current parts."""
    checks, asked = SHARD_CHECKS.get(asset, {}), list(shards)
    if not checks or not asked:
        return {}
    tables = sorted({table for check in checks.values() for table in check.tables})
    buckets = work.buckets(tuple(asked))
    heads = [part for table in tables for bucket in buckets if (part := work.parts.head(table, bucket))]
    results: Results = {}
    with over_parts(heads) as connection:
        for name, check in checks.items():
            found = {shard: Found() for shard in asked}
            for row_id, paper_id in connection.execute(check.query).fetchall():
                found[shard_of(paper_id)].offending.append(row_id)
            counted = f"SELECT paper_id, count(*) FROM ({check.of}) GROUP BY paper_id"
            for paper_id, count in connection.execute(counted).fetchall() if check.of else ():
                found[shard_of(paper_id)].among += count
            results[name] = found
    return results


def check_events(asset: str, collection: str, results: Results) -> Iterator[dg.AssetCheckEvaluation]:
    """What each check found in each shard, for Dagster: a run of many shards reports only the whole by itself."""
    for name, by_shard in results.items():
        for shard, found in by_shard.items():
            result = _result(name, SHARD_CHECKS[asset][name], {shard: found})
            yield evaluation_of(asset, shard_key(collection, shard), result)


def check_results(asset: str, looked: Mapping[str, Results]) -> Iterator[dg.AssetCheckResult]:
    """One result a check for the run, over all shards that were asked (in `looked`, by collection)."""
    for name, check in SHARD_CHECKS.get(asset, {}).items():
        found = {
            str(shard_key(collection, shard)): one
            for collection, results in looked.items()
            for shard, one in results.get(name, {}).items()
        }
        yield _result(name, check, found)


def _result(name: str, check: ShardCheck, found: Mapping[str, Found]) -> dg.AssetCheckResult:
    """Counts and ids, but no text: the log outlives a purge."""
    bad = [where for where, one in found.items() if not one.passes(check)]
    ids = [row_id for one in found.values() for row_id in one.offending]
    among = f" of {sum(one.among for one in found.values())}" if check.of else ""
    said = f"{len(ids)}{among} offend." if ids else "Nothing offends."
    return dg.AssetCheckResult(
        check_name=name,
        passed=not bad,
        severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
        description=f"{said} In {', '.join(bad)}." if bad else said,
        metadata={
            "offending": len(ids),
            "shards": str(len(found)),  # as text: Dagster plots numbers
            "examples": ", ".join(ids[:SHOWN]) or "none",
        },
    )

"""Estimates the cost of an upgrade: its prompts are built and counted, but not sent. Those about chunks are known
beforehand, those about communities only when level 2 is built. Before that, the extractive engine substitutes for the
model, because it finds communities of similar number and size.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from urllib.parse import urlsplit

from pydantic import BaseModel

from monjyu_assets.analysis.analyst import page_price
from monjyu_assets.levels.engines.chunk_engine import ChunkEngine
from monjyu_assets.levels.engines.model_calls import ModelChunkEngine, ModelClaims, ModelEntities, ModelReport
from monjyu_assets.levels.entities.entity_community_tables import community_tables
from monjyu_assets.levels.entities.entity_tables import entity_graph
from monjyu_assets.levels.entities.paper_entities import ExtractiveEntities
from monjyu_assets.levels.phrases.paper_phrases import ChunkText, paper_mentions
from monjyu_assets.levels.reports.model_reports import ModelReports
from monjyu_assets.levels.reports.sources import CommunitySource
from monjyu_assets.planning.staleness import stale_collection_assets, stale_level
from monjyu_assets.sources.records import StoredAnalyses, analysed_types
from monjyu_assets.stages import claims, community_reports, extracted_entities
from monjyu_assets.stages.community_reports import graph_rows, sources_of
from monjyu_assets.stages.entity_communities import entity_partition_rules
from monjyu_assets.stages.entity_graph import external_ids, years_of
from monjyu_assets.stages.extracted_entities import chosen_chunks
from monjyu_assets.stages.noun_phrases import chunks_of_papers
from monjyu_assets.stages.shared.chunk_results import new_chunks, only, read_papers
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.work.closed_set import all_lagging, primary
from monjyu_assets.work.work import Work
from monjyu_core.errors import ConfigurationError, counted
from monjyu_core.models.estimate import Estimate, PlannedCall, PriceTable, estimate
from monjyu_core.models.factory import role_model
from monjyu_core.models.ledger_totals import mean_completions
from monjyu_core.models.types import ChatRole
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.rows_levels import ChunkPlace, EntityMentionRow, RelationshipMentionRow


# Forecasts level 2 in memory, for estimates of the levels above it.
def forecast_sources(work: Work) -> list[CommunitySource]:
    """The inputs of the reports on the communities that the extractive engine would find."""
    canonical = set(whole_table(work, "paper_identity", ["canonical_id"])["canonical_id"].to_pylist())
    papers = [paper for part in work.parts.heads("chunks") for paper in read_papers(work, part.shard)]
    papers = [paper for paper in papers if paper.paper_id in canonical]
    chosen = chosen_chunks(work)
    wanted = only(papers, chosen if chosen is not None else {c.chunk_id for paper in papers for c in paper.chunks})
    engine = ExtractiveEntities(work.settings.graph.workers)
    home = {chunk.chunk_id: paper.paper_id for paper in papers for chunk in paper.chunks}
    mentions: list[EntityMentionRow] = []
    links: list[RelationshipMentionRow] = []
    for result in engine.run([paper for paper in papers if paper.paper_id in wanted], wanted):
        place: ChunkPlace = {"paper_id": home[result.chunk_id], "chunk_id": result.chunk_id}
        mentions += [{"engine": engine.name, **place, **mention} for mention in result.entities]
        links += [{"engine": engine.name, **place, **link} for link in result.relationships]
    graph = entity_graph(mentions, links, years_of(work), external_ids(work))
    entities, places, relationships = (
        graph[name].to_pylist() for name in ("entities", "entity_chunks", "relationships")
    )
    tables = community_tables(entities, places, relationships, entity_partition_rules(work))
    communities = tables["entity_communities"].to_pylist()
    members = tables["entity_community_members"].to_pylist()
    return sources_of(work, communities, graph_rows(work, entities, members, places, relationships))


SAMPLED = 8
"""The number of papers whose phrases are extracted to time this step."""
GRAPH_SHARE, RUN_SECONDS = 1.25, 5.0
"""The factor on the time of phrases that includes graph and communities, and the seconds that the start and the publish
of a run take, both measured on the corpus jose."""


def estimate_upgrade(data: DataFolder, name: str, level: int) -> Estimate:
    """The calls, tokens and US dollars of an upgrade to a level. Results in parts or in the cache cost nothing."""
    work = Work(data, name)
    reading = _reading(work)
    if level >= 1:
        reading += Estimate(seconds=_graph_seconds(work))
    if level < 2 or "llm" not in (work.settings.roles.extract.engine, work.settings.roles.report.engine):
        return reading
    if not work.parts.heads("chunks"):
        raise ConfigurationError(
            f"{name} has no chunks yet, so nothing can be counted.",
            "Index it at level 0 or 1 first, which is free.",
        )
    engine, recipe = extracted_entities.entity_engine(work), extracted_entities.entity_recipe(work)
    chosen = extracted_entities.chosen_chunks(work)
    calls = _chunk_calls(work, extracted_entities.ASSET, engine, recipe, chosen, ModelEntities)
    total = reading + _of(work, "extract", calls)
    if level >= 3:
        total += _of(work, "report", _report_calls(work))
    if level >= 4:
        engine, recipe = claims.claim_engine(work), claims.rows_recipe(work)
        total += _of(work, "extract", _chunk_calls(work, claims.ASSET, engine, recipe, None, ModelClaims))
    work.close()
    return total


def describe_estimate(cost: Estimate, level: int) -> str:
    """The estimate as text."""
    pages = f" Azure Document Intelligence would read {counted(cost.pages, 'page')}." if cost.pages else ""
    pages += f" The noun graph takes about {cost.seconds:.0f} s on this machine." if cost.seconds else ""
    if not cost.llm_calls:
        money = f" ${cost.cost_usd:.2f}." if cost.pages else ""
        return f"Level {level} makes no model calls.{pages}{money}"
    tokens = f"{cost.prompt_tokens} + {cost.completion_tokens} tokens"
    calls = counted(cost.llm_calls, "model call")
    return f"Level {level} would make about {calls}: {tokens}, ${cost.cost_usd:.2f}.{pages}"


def _graph_seconds(work: Work) -> float:
    """The seconds that level 1 takes on this machine, measured on some papers; 0.0 if it is up to date."""
    if not all_lagging(work.parts, 1):
        return 0.0
    total, papers = 0, dict[str, tuple[ChunkText, ...]]()
    for part in work.parts.heads("chunks"):
        total += part.rows
        links = work.parts.head("chunk_sentences", part.shard)
        if links is not None and len(papers) < SAMPLED:
            papers |= chunks_of_papers(part, links)
    sample = [papers[paper_id] for paper_id in sorted(papers)[:SAMPLED]]
    find = partial(paper_mentions, phrase_model=work.settings.graph.phrase_model)
    find([ChunkText("", ("Models are loaded.",))])
    start = time.perf_counter()
    for chunks in sample:
        find(chunks)
    seconds = time.perf_counter() - start
    return round(RUN_SECONDS + GRAPH_SHARE * seconds * total / max(1, sum(map(len, sample))), 1)


def _reading(work: Work) -> Estimate:
    """The pages that `pdf.processor: document_intelligence` has yet to read, with their price. Those of `pdf.fallback`
    are known only after parsing."""
    settings = work.settings.azure.document_intelligence
    if work.settings.pdf.processor != "document_intelligence":
        return Estimate()
    kept = StoredAnalyses(work.folder, formulas=settings.formulas)
    columns = ["sha256", "document_type", "page_count"]
    rows = [row for part in work.parts.heads("papers") for row in part.read(columns).to_pylist()]
    new = {row["sha256"]: row["page_count"] for row in rows if row["document_type"] in analysed_types(work.settings)}
    pages = sum(count or 1 for sha256, count in new.items() if not (kept.found(sha256) or kept.refused(sha256)))
    return Estimate(pages=pages, cost_usd=pages * page_price(settings))


def _of(work: Work, role: ChatRole, calls: Iterator[PlannedCall]) -> Estimate:
    cache = work.accounting.cache
    return estimate(
        calls,
        PriceTable(work.settings.spending.prices),
        completions=mean_completions(work.data),
        cached=cache.has_many if cache is not None else None,
        schema_is_sent=_counts_schema(work, role),
    )


def _counts_schema(work: Work, role: ChatRole) -> bool:
    """Whether the schema of answers counts as prompt tokens: OpenAI and Azure add it to the prompt and charge for it,
    and Monjyu adds it if a server does not accept a schema."""
    if getattr(work.settings.roles, role).engine != "llm":
        return False
    _, model = role_model(work.settings, role)
    charges = model.provider == "azure" or urlsplit(model.base_url or "").hostname == "api.openai.com"
    return charges or not model.native_schema


def _chunk_calls(
    work: Work, asset: str, engine: ChunkEngine, made_with: str, chosen: frozenset[str] | None, answer: type[BaseModel]
) -> Iterator[PlannedCall]:
    """The calls about chunks without a result; none if the engine calls no model."""
    if not isinstance(engine, ModelChunkEngine):
        return
    session = work.session(asset)
    for part in work.parts.heads("chunks"):
        for paper, chunk in new_chunks(work, asset, part.shard, engine, made_with, chosen):
            question = engine.question(paper, chunk)
            yield session.plan("extract", question.messages, question.prompt_hash, answer)


def _report_calls(work: Work) -> Iterator[PlannedCall]:
    engine = community_reports.report_engine(work)
    if not isinstance(engine, ModelReports):
        return
    session = work.session(community_reports.ASSET)
    for source in _new_sources(work):
        question = engine.question(source)
        yield session.plan("report", question.messages, question.prompt_hash, ModelReport)


def _new_sources(work: Work) -> list[CommunitySource]:
    """The inputs of the reports that an upgrade would write: of the existing communities, or of those expected."""
    if all_lagging(work.parts, 2):
        return forecast_sources(work)
    if stale_level(work, 2) or stale_collection_assets(work, 2):  # reports of the current communities will be replaced
        return community_reports.read_sources(work)
    previous = next(iter(work.parts.heads(primary(community_reports.ASSET))), None)
    made_with = community_reports.rows_recipe(work)
    sources = community_reports.read_sources(work)
    return [
        s for s in sources if previous is None or previous.keys.get(s.community_id) != digest(made_with, s.content())
    ]

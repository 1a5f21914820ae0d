"""Settings of level 1 (noun graph, communities) and of levels 2 to 4: entities, reports, claims. `roles.extract` and
`roles.report` name the engines."""

from typing import Annotated, Literal

from pydantic import Field

from monjyu_core.settings.marks import Changes, Group, NoResult

NODES = Changes("noun_graph")
PARTITION = Changes("communities", "entity_communities")


class GraphSettings(Group):
    profile: Annotated[Literal["monjyu", "graphrag_compat"], Changes("noun_graph", "communities")] = Field(
        "monjyu",
        description="graphrag_compat = microsoft/graphrag's order and defaults of pruning and community size, instead "
        "of the values below",
    )
    phrase_model: Annotated[Literal["tagger", "parser"], Changes("noun_phrases")] = Field(
        "tagger",
        description="what finds English noun phrases: a small tagger that was trained on spaCy's parser, or the parser",
    )
    min_df: Annotated[int, NODES] = Field(2, ge=1, description="minimum number of chunks with a phrase")
    max_df_share: Annotated[float, NODES] = Field(
        0.15,
        gt=0,
        le=1,
        description="a phrase in more than this share of the chunks (and in more than 20) is dropped",
    )
    min_cooccurrences: Annotated[int, NODES] = Field(
        1, ge=1, description="minimum number of chunks that two phrases share"
    )
    edge_weight: Annotated[Literal["information", "count"], NODES] = Field(
        "information", description="mutual information of two phrases, or the number of chunks that they share"
    )
    min_degree: Annotated[int, NODES] = Field(1, ge=0)
    max_degree_std: Annotated[float | None, NODES] = Field(
        None,
        gt=0,
        description="drop phrases with more neighbours than the mean plus this number of standard deviations",
    )
    edge_percentile: Annotated[float, NODES] = Field(
        40.0, ge=0, lt=100, description="drop edges with a weight below this percentile"
    )
    max_edges: Annotated[int, NODES] = Field(
        50,
        ge=0,
        description="heaviest edges kept per phrase, so that a graph grows with its phrases; 0 = no limit",
    )
    backend: Annotated[Literal["igraph", "leidenalg", "graspologic-native", "louvain"], PARTITION] = Field(
        "igraph",
        description="Leiden implementation; all are equally good, igraph is the fastest. louvain = the older algorithm",
    )
    max_community_size: Annotated[int, Changes("communities")] = Field(
        10, ge=2, description="phrases per community at the lowest level; larger communities are split"
    )
    resolution: Annotated[float, PARTITION] = Field(1.0, gt=0)
    seed: Annotated[int, PARTITION] = Field(42, ge=0, lt=2**31)
    workers: Annotated[int, NoResult("speed only")] = Field(0, ge=0, description="parser processes; 0 = one per core")


class EntitySettings(Group):
    extract_share: Annotated[float, Changes("extracted_entities")] = Field(
        1.0,
        gt=0,
        le=1,
        description="share of the chunks to extract from, the most central of the noun graph first",
    )
    max_community_size: Annotated[int, Changes("entity_communities")] = Field(
        20, ge=2, description="entities per community at the lowest level; larger communities are split"
    )


class ReportSettings(Group):
    min_size: Annotated[int, Changes("community_reports")] = Field(
        3, ge=1, description="entities; smaller communities have no report"
    )
    per_100_chunks: Annotated[float, Changes("community_reports")] = Field(
        20, gt=0, description="limit of reports per 100 chunks (at least 10), for the largest communities"
    )
    source_tokens: Annotated[int, Changes("community_reports")] = Field(
        1500, ge=200, description="tokens of a community's sentences, most central first, in a report's source"
    )
    max_findings: Annotated[int, Changes("community_reports")] = Field(7, ge=1, le=20)


class ClaimSettings(Group):
    max_per_chunk: Annotated[int, Changes("claims")] = Field(3, ge=1, le=20)
    min_confidence: Annotated[float, Changes("claims")] = Field(
        0.55, ge=0, le=1, description="drop claims whose type is less certain"
    )


class LevelSettings(Group):
    entities: EntitySettings = EntitySettings()
    reports: ReportSettings = ReportSettings()
    claims: ClaimSettings = ClaimSettings()
    max_failed_share: Annotated[float, NoResult("decides whether a level is published, changes no row")] = Field(
        0.2,
        ge=0,
        le=1,
        description="do not publish a level if a larger share of chunks or communities has no result",
    )
    follow_changes: Annotated[bool, NoResult("when models are asked, not what")] = Field(
        False,
        description="`monjyu index` may call models for levels 2 to 4, not only `monjyu upgrade`",
    )

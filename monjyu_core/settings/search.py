"""Settings of searches: what each mode reads, its weights, and how answers are composed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from monjyu_core.settings.marks import QUERY_TIME, Group

SettledMode = Literal["auto", "vector", "keyword", "hybrid", "lazy", "local", "global", "multi"]
FusedMode = Literal["vector", "keyword", "hybrid", "lazy", "local", "global"]


class LocalSettings(Group):
    """Local search: what is read around the question's entities, and their shares of an answer's context."""

    context_tokens: Annotated[int, QUERY_TIME] = Field(8000, ge=500, description="tokens of the context of an answer")
    text_share: Annotated[float, QUERY_TIME] = Field(0.5, ge=0, le=1, description="share of the context for passages")
    report_share: Annotated[float, QUERY_TIME] = Field(
        0.25, ge=0, le=1, description="share for community reports; the rest is for entities, relationships and claims"
    )
    entities: Annotated[int, QUERY_TIME] = Field(10, ge=1, le=100, description="entities that a question is mapped to")
    relationships: Annotated[int, QUERY_TIME] = Field(10, ge=0, le=200, description="limit per entity")

    @model_validator(mode="after")
    def _shares(self) -> LocalSettings:
        if self.text_share + self.report_share > 1:
            raise ValueError("text_share and report_share are more than 1 together")
        return self


class ReportSearchSettings(Group):
    """Global search: the reports that it reads, and the content of its answers."""

    selection: Annotated[Literal["dynamic", "static"], QUERY_TIME] = Field(
        "dynamic", description="dynamic = from the root to relevant reports; static = all reports of one level"
    )
    level: Annotated[int, QUERY_TIME] = Field(2, ge=0, description="static: reports of this level, and leaves above it")
    relevant_from: Annotated[float, QUERY_TIME] = Field(
        3.0, ge=0, le=10, description="rating from which a report is followed"
    )
    map_tokens: Annotated[int, QUERY_TIME] = Field(6000, ge=500, description="tokens of reports per call")
    reduce_tokens: Annotated[int, QUERY_TIME] = Field(4000, ge=100, description="tokens of points per answer")
    max_sentences: Annotated[int, QUERY_TIME] = Field(8, ge=1, le=50, description="sentences of an extractive answer")


class MultiSettings(Group):
    """Several modes fused by reciprocal ranks."""

    modes: Annotated[list[FusedMode], QUERY_TIME] = Field(
        ["hybrid", "lazy", "local", "global"],
        min_length=1,
        description="modes that the collection's level does not serve are skipped",
    )
    rrf_k: Annotated[int, QUERY_TIME] = Field(20, ge=1)


class ProgressiveSettings(Group):
    """The controller that begins with the cheapest mode and continues while the answer is insufficient."""

    max_cost_usd: Annotated[float, QUERY_TIME] = Field(0.0, ge=0, description="no step beyond this cost; 0 = no limit")
    max_calls: Annotated[int, QUERY_TIME] = Field(
        0, ge=0, description="no step beyond this number of calls; 0 = no limit"
    )
    min_coverage: Annotated[float, QUERY_TIME] = Field(
        0.6, ge=0, le=1, description="weighted share of the question's terms that the quotes must contain"
    )


class LazySettings(Group):
    """Lazy search: how communities are visited, what counts as relevant, and how much goes into an answer."""

    rank: Annotated[Literal["vector", "hybrid"], QUERY_TIME] = Field(
        "hybrid", description="order of chunks and communities for a subquery"
    )
    opening: Annotated[int, QUERY_TIME] = Field(
        5, ge=0, description="most similar chunks, tested first in any community"
    )
    chunks_per_call: Annotated[int, QUERY_TIME] = Field(
        5, ge=1, le=20, description="chunks that a model judges per call"
    )
    worth_reading: Annotated[float, QUERY_TIME] = Field(
        4.0,
        ge=0,
        le=10,
        description="reader's score of a chunk's best sentence below which a model does not judge it (except opening "
        "chunks); 0 = judge all",
    )
    chunks_per_visit: Annotated[int, QUERY_TIME] = Field(3, ge=1, le=50, description="tests per visit of a community")
    patience: Annotated[int, QUERY_TIME] = Field(
        5, ge=1, description="z: consecutive visits without a relevant chunk before the search descends"
    )
    max_depth: Annotated[int, QUERY_TIME] = Field(10, ge=0, description="levels that a subquery may descend")
    relevant_from: Annotated[float, QUERY_TIME] = Field(5.0, gt=0, le=10, description="score of a relevant sentence")
    enough_from: Annotated[float, QUERY_TIME] = Field(
        7.0, ge=0, le=10, description="score from which a sentence counts towards enough"
    )
    sufficiency: Annotated[Literal["count", "model", "off"] | Annotated[int, Field(ge=1)], QUERY_TIME] = Field(
        "count",
        description="condition for ending a search early: enough relevant sentences (the preset's number, or your "
        "own), or also a model (roles.assess)",
    )
    max_subqueries: Annotated[int, QUERY_TIME] = Field(5, ge=1, le=10)
    follow_ups: Annotated[int, QUERY_TIME] = Field(
        0,
        ge=0,
        le=5,
        description="questions raised by the evidence, asked with the second half of the budget (as in DRIFT)",
    )
    claim_tokens: Annotated[int, QUERY_TIME] = Field(
        4000, ge=100, description="tokens of claims per call of the writing model; more claims are split"
    )


class SearchSettings(Group):
    mode: Annotated[SettledMode, QUERY_TIME] = Field(
        "auto", description="mode of questions with mode auto; auto = the router chooses"
    )
    backend: Annotated[Literal["local", "azure_search"], QUERY_TIME] = Field(
        "local",
        description="where passages are retrieved: from the snapshot, or from Azure AI Search, to which each snapshot "
        "is then published (docs/azure.md)",
    )
    exact_up_to: Annotated[int, QUERY_TIME] = Field(
        100_000,
        ge=1000,
        description="chunks compared exactly; a larger collection is published with an approximate index, whose "
        "candidates are compared",
    )
    reader: Annotated[Literal["auto", "off"], QUERY_TIME] = Field(
        "auto",
        description="packaged model that reads question and passage together: selects sentences, judges passages, "
        "estimates confidence; off = compare shared words, for weak machines",
    )
    router: Annotated[Literal["learned", "patterns", "model"], QUERY_TIME] = Field(
        "learned",
        description="classifier of question types: packaged weights, patterns only, or the model of roles.expand",
    )
    top_k: Annotated[int, QUERY_TIME] = Field(10, ge=1, le=1000)
    alpha: Annotated[float, QUERY_TIME] = Field(0.55, ge=0, le=1, description="weight of the vector score in hybrid")
    fusion: Annotated[Literal["zscore", "rrf"], QUERY_TIME] = "zscore"
    rrf_k: Annotated[int, QUERY_TIME] = Field(20, ge=1)
    min_score: Annotated[float | None, QUERY_TIME] = Field(
        None, description="lowest score of a passage, on the scale of the mode; not for local and multi"
    )
    expand: Annotated[int, QUERY_TIME] = Field(
        0,
        ge=0,
        le=20,
        description="modes vector, keyword and hybrid: number of related terms to add, or of a model's rewordings",
    )
    rerank: Annotated[bool, QUERY_TIME] = Field(
        True,
        description="the same modes: rerank with roles.rerank, if it is the reader or a model; a question that "
        "requests it uses the reader by default",
    )
    per_paper: Annotated[int, QUERY_TIME] = Field(
        3, ge=0, description="limit of passages per paper, three times as many of the one that leads; 0 = no limit"
    )
    retracted: Annotated[Literal["mark", "lower", "exclude"], QUERY_TIME] = Field(
        "mark",
        description="passages of retracted papers: mark; rank lower (half as far above the lowest); exclude",
    )
    lazy: LazySettings = LazySettings()
    local: LocalSettings = LocalSettings()
    reports: ReportSearchSettings = ReportSearchSettings()
    multi: MultiSettings = MultiSettings()
    progressive: ProgressiveSettings = ProgressiveSettings()


class AnswerSettings(Group):
    unsupported: Annotated[Literal["drop", "mark"], QUERY_TIME] = Field(
        "drop", description="treatment of a model's unsupported sentences: drop, or mark"
    )
    max_sentences: Annotated[int, QUERY_TIME] = Field(5, ge=1, le=50)
    min_confidence: Annotated[float | None, QUERY_TIME] = Field(
        None, ge=0, le=1, description="confidence below which an answer abstains; by default as learned"
    )
    sure_confidence: Annotated[float | None, QUERY_TIME] = Field(
        None, ge=0, le=1, description="confidence below which an answer is partial; by default as learned"
    )

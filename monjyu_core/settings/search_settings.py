"""Settings of searches: what each mode reads and weighs, and how answers are made."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from monjyu_core.settings.setting_marks import QUERY_TIME, Group

SettledMode = Literal["auto", "vector", "keyword", "hybrid", "lazy", "local", "global", "multi"]
FusedMode = Literal["vector", "keyword", "hybrid", "lazy", "local", "global"]


class LocalSettings(Group):
    """Local search: what is read around the question's entities, and how it shares the context of an answer."""

    context_tokens: Annotated[int, QUERY_TIME] = Field(8000, ge=500, description="of all that an answer is made from")
    text_share: Annotated[float, QUERY_TIME] = Field(0.5, ge=0, le=1, description="of it for passages")
    report_share: Annotated[float, QUERY_TIME] = Field(
        0.25, ge=0, le=1, description="of it for community reports; the rest is for entities, relationships, claims"
    )
    entities: Annotated[int, QUERY_TIME] = Field(10, ge=1, le=100, description="that a question is mapped to")
    relationships: Annotated[int, QUERY_TIME] = Field(10, ge=0, le=200, description="for each entity at most")

    @model_validator(mode="after")
    def _shares(self) -> LocalSettings:
        if self.text_share + self.report_share > 1:
            raise ValueError("text_share and report_share are more than 1 together")
        return self


class ReportSearchSettings(Group):
    """Global search: which reports are read, and what goes into an answer."""

    selection: Annotated[Literal["dynamic", "static"], QUERY_TIME] = Field(
        "dynamic", description="from the root down to what is relevant, or all reports of one level"
    )
    level: Annotated[int, QUERY_TIME] = Field(2, ge=0, description="static: reports at this level, leaves above it too")
    relevant_from: Annotated[float, QUERY_TIME] = Field(3.0, ge=0, le=10, description="rating of a report to follow")
    map_tokens: Annotated[int, QUERY_TIME] = Field(6000, ge=500, description="of the reports in one call")
    reduce_tokens: Annotated[int, QUERY_TIME] = Field(4000, ge=100, description="of the points an answer is made from")
    max_sentences: Annotated[int, QUERY_TIME] = Field(8, ge=1, le=50, description="of an extractive answer")


class MultiSettings(Group):
    """Several modes fused by reciprocal ranks."""

    modes: Annotated[list[FusedMode], QUERY_TIME] = Field(
        ["hybrid", "lazy", "local", "global"],
        min_length=1,
        description="those that the level does not serve are left out",
    )
    rrf_k: Annotated[int, QUERY_TIME] = Field(20, ge=1)


class ProgressiveSettings(Group):
    """The controller that begins with the cheapest mode and goes on while the answer is insufficient."""

    max_cost_usd: Annotated[float, QUERY_TIME] = Field(0.0, ge=0, description="no step beyond this cost; 0 = no cap")
    max_calls: Annotated[int, QUERY_TIME] = Field(0, ge=0, description="no step beyond so many calls; 0 = no cap")
    min_coverage: Annotated[float, QUERY_TIME] = Field(
        0.6, ge=0, le=1, description="share of the question's terms, by weight, that an answer's quotes must have"
    )


class LazySettings(Group):
    """Lazy search: how communities are visited, what counts as relevant, and how much goes into an answer."""

    rank: Annotated[Literal["vector", "hybrid"], QUERY_TIME] = Field(
        "hybrid", description="what orders chunks and communities for a subquery"
    )
    opening: Annotated[int, QUERY_TIME] = Field(
        5, ge=0, description="chunks most like the question that are tested first, in whatever community they are"
    )
    chunks_per_call: Annotated[int, QUERY_TIME] = Field(
        5, ge=1, le=20, description="chunks that a model judges in one call"
    )
    worth_reading: Annotated[float, QUERY_TIME] = Field(
        4.0,
        ge=0,
        le=10,
        description="score that the reader must give a sentence of a chunk before a model judges it (the "
        "opening chunks it judges in any case); 0 = it judges all",
    )
    chunks_per_visit: Annotated[int, QUERY_TIME] = Field(3, ge=1, le=50, description="tests of one visit")
    patience: Annotated[int, QUERY_TIME] = Field(
        5, ge=1, description="z: visits in a row without a relevant chunk before the search goes down"
    )
    max_depth: Annotated[int, QUERY_TIME] = Field(10, ge=0, description="how often a subquery may go down")
    relevant_from: Annotated[float, QUERY_TIME] = Field(5.0, gt=0, le=10, description="score of a relevant sentence")
    enough_from: Annotated[float, QUERY_TIME] = Field(
        7.0, ge=0, le=10, description="score from which a relevant sentence counts towards enough"
    )
    sufficiency: Annotated[Literal["count", "model", "off"] | Annotated[int, Field(ge=1)], QUERY_TIME] = Field(
        "count",
        description="what ends a search early: enough relevant sentences (as the presets say, or your own number), or "
        "a model (roles.assess) as well",
    )
    max_subqueries: Annotated[int, QUERY_TIME] = Field(5, ge=1, le=10)
    follow_ups: Annotated[int, QUERY_TIME] = Field(
        0, ge=0, le=5, description="questions raised by the evidence that the second half of the budget asks (as DRIFT)"
    )
    claim_tokens: Annotated[int, QUERY_TIME] = Field(
        4000, ge=100, description="of the claims that a model writes from at once; more are written from in parts"
    )


class PriorSettings(Group):
    """What is added to a hybrid score for a passage's paper, in deviations of that score."""

    cited: Annotated[float, QUERY_TIME] = Field(
        0.0, ge=-2, le=2, description="times how often papers of the collection cite it (logarithm, standardised)"
    )
    coupled: Annotated[float, QUERY_TIME] = Field(
        0.0,
        ge=-2,
        le=2,
        description="times how closely it cites, is cited by or shares works with the best hits, 0 to 1",
    )
    recent: Annotated[float, QUERY_TIME] = Field(0.0, ge=-2, le=2, description="times its year (standardised)")

    @property
    def in_use(self) -> bool:
        return bool(self.cited or self.coupled or self.recent)


class SearchSettings(Group):
    mode: Annotated[SettledMode, QUERY_TIME] = Field("auto", description="of mode auto; auto = the router chooses")
    backend: Annotated[Literal["local", "azure_search"], QUERY_TIME] = Field(
        "local",
        description="where passages are looked up: in the snapshot, or in Azure AI Search, to which each snapshot is "
        "published then (docs/azure.md)",
    )
    exact_up_to: Annotated[int, QUERY_TIME] = Field(
        100_000,
        ge=1000,
        description="chunks that a question is compared with one by one; a larger collection is published with an "
        "approximate index, whose candidates are compared",
    )
    prior: PriorSettings = PriorSettings()
    reader: Annotated[Literal["auto", "off"], QUERY_TIME] = Field(
        "auto",
        description="the packaged model that reads question and passage together: chooses sentences, judges passages, "
        "tells how sure an answer is; off = by the words they share, for machines that cannot afford it",
    )
    router: Annotated[Literal["learned", "patterns", "model"], QUERY_TIME] = Field(
        "learned",
        description="what tells the kind of a question: the weights of the package, patterns alone, or the model of "
        "roles.expand",
    )
    top_k: Annotated[int, QUERY_TIME] = Field(10, ge=1, le=1000)
    alpha: Annotated[float, QUERY_TIME] = Field(0.55, ge=0, le=1, description="weight of the vector score in hybrid")
    fusion: Annotated[Literal["zscore", "rrf"], QUERY_TIME] = "zscore"
    rrf_k: Annotated[int, QUERY_TIME] = Field(20, ge=1)
    min_score: Annotated[float | None, QUERY_TIME] = Field(
        None, description="lowest score of a passage, on the scale of the mode; local and multi refuse it"
    )
    expand: Annotated[int, QUERY_TIME] = Field(
        0, ge=0, le=20, description="of modes vector, keyword and hybrid: related terms to add, or a model's rewordings"
    )
    rerank: Annotated[bool, QUERY_TIME] = Field(
        True,
        description="of the same modes: by roles.rerank, where that is the reader or a model; a question may ask "
        "for it, and gets the reader where the role has no engine",
    )
    per_paper: Annotated[int, QUERY_TIME] = Field(3, ge=0, description="most passages of one paper; 0 = no cap")
    retracted: Annotated[Literal["mark", "lower", "exclude"], QUERY_TIME] = Field(
        "mark",
        description="what retracted papers say: marked only; ranked lower (half as far above the lowest); not found",
    )
    lazy: LazySettings = LazySettings()
    local: LocalSettings = LocalSettings()
    reports: ReportSearchSettings = ReportSearchSettings()
    multi: MultiSettings = MultiSettings()
    progressive: ProgressiveSettings = ProgressiveSettings()


class AnswerSettings(Group):
    unsupported: Annotated[Literal["drop", "mark"], QUERY_TIME] = Field(
        "drop", description="what is done with a model's sentence that no source supports"
    )
    max_sentences: Annotated[int, QUERY_TIME] = Field(5, ge=1, le=50)
    min_confidence: Annotated[float | None, QUERY_TIME] = Field(
        None, ge=0, le=1, description="below this confidence the answer abstains; by default as learned"
    )
    sure_confidence: Annotated[float | None, QUERY_TIME] = Field(
        None, ge=0, le=1, description="below this confidence the answer is one in part; by default as learned"
    )

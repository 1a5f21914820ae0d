"""Settings of the search modes over entities, reports and several modes together."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from monjyu_core.settings_marks import QUERY_TIME, Group

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

"""Settings of levels 2 to 4: entities, reports, claims. `roles.extract` and `roles.report` say what makes them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from monjyu_core.settings.setting_marks import Changes, Group, NoResult


class EntitySettings(Group):
    extract_share: Annotated[float, Changes("extracted_entities")] = Field(
        1.0,
        gt=0,
        le=1,
        description="share of the chunks, those in the middle of the noun graph; the rest stays level 1",
    )
    max_community_size: Annotated[int, Changes("entity_communities")] = Field(
        20, ge=2, description="entities; a larger community is split until none is larger at the lowest level"
    )


class ReportSettings(Group):
    min_size: Annotated[int, Changes("community_reports")] = Field(
        3, ge=1, description="entities; a smaller community has no report"
    )
    per_100_chunks: Annotated[float, Changes("community_reports")] = Field(
        20, gt=0, description="most reports for 100 chunks (10 in any case); the largest communities have them"
    )
    source_tokens: Annotated[int, Changes("community_reports")] = Field(
        1500, ge=200, description="of a community's sentences, most central first, that a report is made from"
    )
    max_findings: Annotated[int, Changes("community_reports")] = Field(7, ge=1, le=20)


class ClaimSettings(Group):
    max_per_chunk: Annotated[int, Changes("claims")] = Field(3, ge=1, le=20)
    min_confidence: Annotated[float, Changes("claims")] = Field(
        0.55, ge=0, le=1, description="claims whose kind is less sure are left out"
    )


class LevelSettings(Group):
    entities: EntitySettings = EntitySettings()
    reports: ReportSettings = ReportSettings()
    claims: ClaimSettings = ClaimSettings()
    max_failed_share: Annotated[float, NoResult("decides whether a level is published, changes no row")] = Field(
        0.2,
        ge=0,
        le=1,
        description="a level where more chunks or communities have no result is not published",
    )
    follow_changes: Annotated[bool, NoResult("when models are asked, not what")] = Field(
        False,
        description="`monjyu index` may call models for levels 2 to 4; else only `monjyu upgrade` does",
    )

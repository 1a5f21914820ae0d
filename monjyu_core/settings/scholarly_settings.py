"""Settings of what scholarly services say of the papers. Nothing is asked until a service is named."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from monjyu_core.settings.setting_marks import Group, NoResult

ScholarlyService = Literal["crossref", "openalex", "semantic_scholar"]
_IN_FILES = NoResult("what the files hold is part of the recipe of scholarly_metadata")
_ANSWERS = NoResult("what the services answered is part of the recipe of scholarly_metadata")
_PACE = NoResult("how often and how fast a service is asked, not what it answers")


class ScholarlySettings(Group):
    notices: Annotated[list[str], _IN_FILES] = Field(
        [],
        description="files with retractions and corrections, relative to the data folder: Retraction Watch's CSV, "
        "works of Crossref or OpenAlex as JSON Lines; nothing is fetched",
    )
    records: Annotated[list[str], _IN_FILES] = Field(
        [],
        description="files with records of papers, relative to the data folder: works of Crossref or OpenAlex as JSON "
        "Lines (also their notices), papers of Semantic Scholar, exported libraries (.bib, .json, .rdf); nothing is "
        "fetched",
    )
    services: Annotated[list[ScholarlyService], _ANSWERS] = Field(
        [], description="services to look up each paper by DOI, arXiv id or title: crossref, openalex, semantic_scholar"
    )
    contact: Annotated[str | None, _PACE] = Field(
        None,
        pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
        description="e-mail address sent to crossref and openalex, as they request of frequent users",
    )
    refresh_days: Annotated[float, _PACE] = Field(30.0, gt=0, description="days until a paper is looked up again")
    timeout_seconds: Annotated[float, _PACE] = Field(30.0, gt=0, description="limit of one request")
    retries: Annotated[int, _PACE] = Field(
        3, ge=0, le=10, description="retries of temporary failures, with growing delays"
    )
    requests_per_minute: Annotated[int, _PACE] = Field(60, ge=1, description="per service and process")
    openalex_key: Annotated[SecretStr | None, NoResult("a secret")] = None
    semantic_scholar_key: Annotated[SecretStr | None, NoResult("a secret")] = None
    crossref_url: Annotated[str, _PACE] = Field("https://api.crossref.org", description="or a mirror's address")
    openalex_url: Annotated[str, _PACE] = "https://api.openalex.org"
    semantic_scholar_url: Annotated[str, _PACE] = "https://api.semanticscholar.org"

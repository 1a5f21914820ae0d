"""Settings of the HTTP service and the MCP server: where they listen, whom they answer, what a request may take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from monjyu_core.settings.setting_marks import Group, NoResult

SERVED = NoResult("how the service answers, not what is indexed")


class OidcSettings(Group):
    """Bearer tokens of an OpenID Connect issuer (Microsoft Entra ID, Keycloak, ...), beside or instead of API keys."""

    issuer: Annotated[str | None, SERVED] = Field(
        None, description="as the tokens' `iss` has it; none = no such tokens"
    )
    audience: Annotated[str | None, SERVED] = Field(None, description="as the tokens' `aud` has it; required")
    jwks_url: Annotated[str | None, SERVED] = Field(None, description="none = what the issuer's configuration says")
    roles_claim: Annotated[str, SERVED] = Field("roles", description="the claim that lists a user's roles")
    reader_role: Annotated[str | None, SERVED] = Field(
        None, description="reads all collections; none = every valid token does, unless there are collection_roles"
    )
    collection_roles: Annotated[dict[str, list[str]], SERVED] = Field(
        {}, description="roles that read some collections only, as {biology-staff: [biology, methods]}"
    )
    editor_role: Annotated[str | None, SERVED] = Field(
        None, description="reads all collections, uploads, corrects and indexes papers; none = no token does"
    )
    admin_role: Annotated[str | None, SERVED] = Field(None, description="none = no token is an administrator's")


class ServiceSettings(Group):
    host: Annotated[str, SERVED] = Field(
        "127.0.0.1", description="any other than a loopback address needs a key or an issuer"
    )
    port: Annotated[int, SERVED] = Field(8000, ge=0, le=65535, description="0 = any free one")
    workers: Annotated[int, SERVED] = Field(1, ge=1, le=64, description="processes")
    allowed_hosts: Annotated[list[str], SERVED] = Field(
        [], description="names in the Host header, beside loopback and `host`; with one, reading needs a key"
    )
    require_key: Annotated[bool, SERVED] = Field(False, description="reading needs a key on the loopback address, too")
    oidc: OidcSettings = OidcSettings()
    cors_origins: Annotated[list[str], SERVED] = Field([], description="pages of other addresses that may read")
    requests_per_minute: Annotated[int, SERVED] = Field(
        1200,
        ge=0,
        description="of one key (without one: of one address) and worker, or with cache = redis of all workers; "
        "0 = no limit",
    )
    searches: Annotated[int, SERVED] = Field(
        16, ge=1, le=256, description="quick searches at once in one worker; together they share the embedding model"
    )
    long_searches: Annotated[int, SERVED] = Field(
        8, ge=1, le=256, description="lazy and other long searches at once in one worker"
    )
    waiting: Annotated[int, SERVED] = Field(
        256, ge=0, description="searches that wait for their turn; more are refused"
    )
    search_seconds: Annotated[float, SERVED] = Field(
        300.0, gt=0, description="a lazy search is then ended, with what it has"
    )
    header_seconds: Annotated[float, SERVED] = Field(10.0, gt=0, description="until the headers have arrived")
    body_seconds: Annotated[float, SERVED] = Field(30.0, gt=0, description="until a body has arrived, uploads excepted")
    upload_seconds: Annotated[float, SERVED] = Field(600.0, gt=0, description="until an upload has arrived")
    max_header_kb: Annotated[int, SERVED] = Field(16, ge=1)
    max_body_kb: Annotated[int, SERVED] = Field(256, ge=1, description="of a body, uploads excepted")
    max_upload_mb: Annotated[int, SERVED] = Field(100, ge=1, description="of an upload")
    cache: Annotated[Literal["memory", "redis", "off"], SERVED] = Field(
        "memory", description="where results are kept; redis = at cache.redis_url, shared by workers"
    )
    cache_mb: Annotated[int, SERVED] = Field(64, ge=1, description="of results in memory, of one worker")
    page_cache_mb: Annotated[int, SERVED] = Field(64, ge=1, description="of page images in memory, of one worker")
    page_seconds: Annotated[float, SERVED] = Field(20.0, gt=0, description="for drawing one page")
    page_memory_mb: Annotated[int, SERVED] = Field(1024, ge=128, description="of the process that draws pages")
    dagster_url: Annotated[str | None, SERVED] = Field(
        None, description="the Dagster web server that /admin/index and /admin/upgrade start runs at"
    )
    audit: Annotated[bool, SERVED] = Field(True, description="a line a request in state/audit/")
    audit_questions: Annotated[bool, SERVED] = Field(False, description="with the text of the questions")


class McpSettings(Group):
    """What clients of the MCP server may index, and what they are given."""

    port: Annotated[int, SERVED] = Field(8001, ge=0, le=65535, description="with --http; 0 = any free one")
    index: Annotated[bool, SERVED] = Field(True, description="clients may index what lies in `index_folders`")
    index_folders: Annotated[list[Path], SERVED] = Field(
        [], description="folders whose content clients may index; none named = papers/ of the data folder"
    )
    index_minutes: Annotated[float, SERVED] = Field(60.0, gt=0, description="until an indexing run is ended")
    most_characters: Annotated[int, SERVED] = Field(
        20_000, ge=1000, description="of a paper's text in one answer of monjyu_get_paper"
    )

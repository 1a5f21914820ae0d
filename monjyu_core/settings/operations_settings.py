"""Settings of operation: what runs by itself, how runs are spread, what is logged and measured."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from monjyu_core.settings.setting_marks import Group, NoResult

WHEN_NOT_WHAT = NoResult("when something runs, not what comes of it")
OBSERVES = NoResult("only tells of the work")


OWNER = r"^(team:[A-Za-z0-9_.-]+|[^@\s:]+@[^@\s:]+)$"


class AutomationSettings(Group):
    """What `monjyu automation on` puts on. What costs nothing follows the sources; what may cost money is asked for."""

    auto_refresh_levels: Annotated[tuple[Literal[2, 3, 4], ...] | Literal["free"], WHEN_NOT_WHAT] = Field(
        "free",
        description="levels beyond 1 that follow changes by themselves, once somebody has built them; free = those "
        "that no model is paid for",
    )
    allow_paid_embeddings: Annotated[bool, WHEN_NOT_WHAT] = Field(
        False, description="whether changes are embedded by themselves where embedding.remote names a model"
    )
    interval_seconds: Annotated[int, WHEN_NOT_WHAT] = Field(30, ge=1, description="between two looks at the sources")
    settle_seconds: Annotated[float, WHEN_NOT_WHAT] = Field(
        5.0, ge=0, description="a file changed since then is still being copied: the next look decides"
    )
    nightly: Annotated[str, WHEN_NOT_WHAT] = Field("0 2 * * *", description="when all is brought up to date (cron)")
    time_zone: Annotated[str, WHEN_NOT_WHAT] = Field("UTC", description="of nightly, such as Asia/Tokyo")
    freshness_seconds: Annotated[int, WHEN_NOT_WHAT] = Field(
        3600, ge=1, description="how often snapshot_fresh is asked"
    )
    publish_within_hours: Annotated[float | None, WHEN_NOT_WHAT] = Field(
        None, gt=0, description="Dagster's freshness policy of index_snapshot: some collection is published so often"
    )
    code_location: Annotated[str, WHEN_NOT_WHAT] = Field(
        "monjyu", min_length=1, description="Dagster's code location of Monjyu's definitions: runs stand under its name"
    )
    owners: Annotated[tuple[Annotated[str, Field(pattern=OWNER)], ...], WHEN_NOT_WHAT] = Field(
        ("team:data-engineering",),
        description="who answers for the assets, as Dagster shows it: team:NAME or an e-mail address",
    )
    git_url: Annotated[str, WHEN_NOT_WHAT] = Field(
        "",
        pattern=r"^(https://(github|gitlab)\.com/[^\s/]+/[^\s/]+)?$",
        description="repository on GitHub or GitLab that assets link to for their code; empty = files on this machine",
    )
    git_branch: Annotated[str, WHEN_NOT_WHAT] = Field("main", min_length=1, description="branch or tag of git_url")


class RunSettings(Group):
    """How work is spread over run workers, and how long runs are kept."""

    shards_per_run: Annotated[int, NoResult("speed only")] = Field(
        0, ge=0, le=16, description="of the 16 shards of a collection, how many a run worker takes; 0 = an equal share"
    )
    keep_days: Annotated[int, NoResult("history of runs only")] = Field(
        90,
        ge=1,
        description="days that the job `tidy` keeps runs in Dagster, with their events and logs; the last "
        "materialization of each asset and collection stays",
    )
    workers: Annotated[int, NoResult("speed only")] = Field(
        0,
        ge=0,
        le=16,
        description="run workers that `monjyu index` gives levels 0 and 1 of its papers to, by the run launcher of "
        "dagster.yaml (Celery, Kubernetes); needs storage.uri; 0 = it does them itself",
    )
    least_papers: Annotated[int, NoResult("speed only")] = Field(
        16, ge=0, description="fewer changed papers than this are no work for run workers"
    )
    start_seconds: Annotated[float, NoResult("speed only")] = Field(
        300.0, gt=0, description="a run that no worker has begun for so long is given out once more"
    )
    runs_calling_models: Annotated[int, NoResult("speed only")] = Field(
        1, ge=1, description="runs at once of each asset that calls models; `monjyu automation limits` sets it"
    )


class TraceSettings(Group):
    """Traces of searches in state/state.sqlite: each has the question and its history, and ids of what was found."""

    newest: Annotated[int, OBSERVES] = Field(1000, ge=0, description="so many are kept; 0 = none, and old ones go")
    days: Annotated[float, OBSERVES] = Field(
        0, ge=0, description="older ones go, too, with later searches; 0 = no limit"
    )


class LogSettings(Group):
    format: Annotated[Literal["text", "json"], OBSERVES] = Field(
        "text", description="json = one object a line on stderr, with run, collection, asset, shard and paper"
    )


WHERE = NoResult("where the index lies, not what is in it")


class StorageSettings(Group):
    """An object store that holds the collections (extra `objects`): the data folder is then this machine's copy."""

    uri: Annotated[str | None, WHERE] = Field(
        None,
        description="s3://BUCKET/…, az://CONTAINER/…, gs://BUCKET/… or file:///FOLDER; none = the data folder is all "
        "there is",
    )
    endpoint: Annotated[str | None, WHERE] = Field(None, description="of a store that speaks S3, or of Azurite")
    region: Annotated[str | None, WHERE] = None
    retries: Annotated[int, WHERE] = Field(5, ge=0, le=20, description="of what may pass, with growing waits")
    timeout_seconds: Annotated[float, WHERE] = Field(60.0, gt=0, description="for each request")
    lease_seconds: Annotated[float, WHERE] = Field(
        60.0, ge=1, description="a machine that publishes and says nothing for so long is taken to have died"
    )
    follow_seconds: Annotated[float, WHERE] = Field(
        5.0, gt=0, description="between two looks of `monjyu serve` for a newer snapshot"
    )
    keep_minutes: Annotated[float, WHERE] = Field(
        30.0, ge=0, description="objects needed no longer stay for readers that are fetching them; purge waits for none"
    )


class TelemetrySettings(Group):
    """OpenTelemetry traces and metrics (extra `otel`). OTEL_… variables (headers, sampling) are obeyed as well."""

    endpoint: Annotated[str | None, OBSERVES] = Field(
        None, description="where an OTLP collector takes HTTP, such as http://127.0.0.1:4318; none = nothing is sent"
    )
    service_name: Annotated[str, OBSERVES] = "monjyu"


WEBHOOK = r"^(https://[^\s/@?#]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?)(/\S*)?$"


class WatchSettings(Group):
    """Where `monjyu watch --send` tells what changed in the answers to saved questions. Not a collection's to set."""

    webhooks: Annotated[list[Annotated[str, Field(pattern=WEBHOOK, max_length=2000)]], OBSERVES] = Field(
        [],
        max_length=10,
        description="https addresses (http on this machine) that take the event as JSON; none = nothing is sent",
    )
    timeout_seconds: Annotated[float, OBSERVES] = Field(10.0, gt=0, le=300, description="for each of them")


class OpenLineageSettings(Group):
    """OpenLineage events of every asset that is made (extra `openlineage`). OPENLINEAGE_API_KEY is sent as the key."""

    url: Annotated[str | None, OBSERVES] = Field(
        None, description="where a catalogue takes events over HTTP, such as http://127.0.0.1:5000; none = nowhere"
    )
    file: Annotated[str | None, OBSERVES] = Field(
        None, description="file of JSON lines that events are added to, in the data folder unless absolute"
    )
    namespace: Annotated[str, OBSERVES] = Field("monjyu", min_length=1, description="of its jobs and tables")

"""Settings of operation: automation, distribution of runs, logs and metrics."""

from typing import Annotated, Literal

from pydantic import Field

from monjyu_core.settings.marks import Group, NoResult

WHEN_NOT_WHAT = NoResult("the time of a run, not its result")
OBSERVES = NoResult("only reports the work")


OWNER = r"^(team:[A-Za-z0-9_.-]+|[^@\s:]+@[^@\s:]+)$"


class AutomationSettings(Group):
    """Settings of the work that `monjyu automation on` enables. Free work follows the sources; work that may cost money
    needs a setting."""

    auto_refresh_levels: Annotated[tuple[Literal[2, 3, 4], ...] | Literal["free"], WHEN_NOT_WHAT] = Field(
        "free",
        description="levels above 1 that follow changes once they are built; free = those without paid models",
    )
    allow_paid_embeddings: Annotated[bool, WHEN_NOT_WHAT] = Field(
        False, description="embed changes automatically with the model of embedding.remote"
    )
    interval_seconds: Annotated[int, WHEN_NOT_WHAT] = Field(
        30, ge=1, description="seconds between checks of the sources"
    )
    settle_seconds: Annotated[float, WHEN_NOT_WHAT] = Field(
        5.0, ge=0, description="seconds without a change before a file counts as completely copied"
    )
    nightly: Annotated[str, WHEN_NOT_WHAT] = Field(
        "0 2 * * *", description="cron schedule of the update of all collections"
    )
    time_zone: Annotated[str, WHEN_NOT_WHAT] = Field("UTC", description="of nightly, such as Asia/Tokyo")
    freshness_seconds: Annotated[int, WHEN_NOT_WHAT] = Field(
        3600, ge=1, description="seconds between evaluations of snapshot_fresh"
    )
    publish_within_hours: Annotated[float | None, WHEN_NOT_WHAT] = Field(
        None, gt=0, description="Dagster's freshness policy of index_snapshot, in hours"
    )
    code_location: Annotated[str, WHEN_NOT_WHAT] = Field(
        "monjyu",
        min_length=1,
        description="Dagster's code location of Monjyu's definitions, under which runs are listed",
    )
    owners: Annotated[tuple[Annotated[str, Field(pattern=OWNER)], ...], WHEN_NOT_WHAT] = Field(
        ("team:data-engineering",),
        description="owners of the assets in Dagster: team:NAME or an e-mail address",
    )
    git_url: Annotated[str, WHEN_NOT_WHAT] = Field(
        "",
        pattern=r"^(https://(github|gitlab)\.com/[^\s/]+/[^\s/]+)?$",
        description="repository on GitHub or GitLab for code links of assets; empty = local files",
    )
    git_branch: Annotated[str, WHEN_NOT_WHAT] = Field("main", min_length=1, description="branch or tag of git_url")


class RunSettings(Group):
    """Settings of the distribution of work over run workers, and of the retention of runs."""

    shards_per_run: Annotated[int, NoResult("speed only")] = Field(
        0,
        ge=0,
        le=16,
        description="the number of a collection's 16 shards that a run worker takes; 0 = an equal share",
    )
    keep_days: Annotated[int, NoResult("history of runs only")] = Field(
        90,
        ge=1,
        description="days for which the job `tidy` keeps runs with their events and logs; the last materialization of "
        "each asset and collection stays",
    )
    workers: Annotated[int, NoResult("speed only")] = Field(
        0,
        ge=0,
        le=16,
        description="run workers that compute levels 0 and 1 for `monjyu index`, by the run launcher of dagster.yaml "
        "(Celery, Kubernetes); needs storage.uri; 0 = the command computes them",
    )
    least_papers: Annotated[int, NoResult("speed only")] = Field(
        16, ge=0, description="changed papers from which run workers are used"
    )
    start_seconds: Annotated[float, NoResult("speed only")] = Field(
        300.0, gt=0, description="seconds until a run that no worker has started is launched again"
    )
    runs_calling_models: Annotated[int, NoResult("speed only")] = Field(
        1, ge=1, description="concurrent runs of each asset that calls models; applied by `monjyu automation limits`"
    )


class TraceSettings(Group):
    """Traces of searches in state/state.sqlite: each has the question, its history, and ids of the results."""

    newest: Annotated[int, OBSERVES] = Field(
        1000, ge=0, description="number of traces kept; 0 = none, and existing ones are deleted"
    )
    days: Annotated[float, OBSERVES] = Field(0, ge=0, description="days for which a trace is kept; 0 = no limit")


class LogSettings(Group):
    format: Annotated[Literal["text", "json"], OBSERVES] = Field(
        "text", description="json = one object per line on stderr, with run, collection, asset, shard and paper"
    )


WHERE = NoResult("the location of the index, not its content")


class StorageSettings(Group):
    """An object store with the collections (extra `objects`): the data folder is then this machine's copy."""

    uri: Annotated[str | None, WHERE] = Field(
        None,
        description="s3://BUCKET/…, az://CONTAINER/…, gs://BUCKET/… or file:///FOLDER; none = only the data "
        "folder is used",
    )
    endpoint: Annotated[str | None, WHERE] = Field(None, description="address of an S3-compatible store, or of Azurite")
    region: Annotated[str | None, WHERE] = None
    retries: Annotated[int, WHERE] = Field(
        5, ge=0, le=20, description="retries of temporary failures, with growing delays"
    )
    timeout_seconds: Annotated[float, WHERE] = Field(60.0, gt=0, description="per request")
    lease_seconds: Annotated[float, WHERE] = Field(
        60.0, ge=1, description="seconds without a sign of life until a publishing machine counts as dead"
    )
    follow_seconds: Annotated[float, WHERE] = Field(
        5.0, gt=0, description="seconds between checks of `monjyu serve` for a newer snapshot"
    )
    keep_minutes: Annotated[float, WHERE] = Field(
        30.0,
        ge=0,
        description="minutes for which unused objects stay for readers that are fetching them; a purge removes them "
        "immediately",
    )


class TelemetrySettings(Group):
    """OpenTelemetry traces and metrics (extra `otel`). OTEL_… variables (headers, sampling) apply as well."""

    endpoint: Annotated[str | None, OBSERVES] = Field(
        None,
        description="address of an OTLP collector over HTTP, such as http://127.0.0.1:4318; null = nothing is sent",
    )
    service_name: Annotated[str, OBSERVES] = "monjyu"


WEBHOOK = r"^(https://[^\s/@?#]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?)(/\S*)?$"


class WatchSettings(Group):
    """The addresses to which `monjyu watch --send` reports changes in the answers to saved questions. A collection
    cannot set it."""

    webhooks: Annotated[list[Annotated[str, Field(pattern=WEBHOOK, max_length=2000)]], OBSERVES] = Field(
        [],
        max_length=10,
        description="https addresses (http on this machine) that receive the event as JSON; empty = nothing is sent",
    )
    timeout_seconds: Annotated[float, OBSERVES] = Field(10.0, gt=0, le=300, description="per address")


class OpenLineageSettings(Group):
    """OpenLineage events of every materialized asset (extra `openlineage`). OPENLINEAGE_API_KEY is sent as the key."""

    url: Annotated[str | None, OBSERVES] = Field(
        None,
        description="address of a catalogue over HTTP, such as http://127.0.0.1:5000; null = nothing is sent",
    )
    file: Annotated[str | None, OBSERVES] = Field(
        None, description="file of JSON Lines for events, relative to the data folder"
    )
    namespace: Annotated[str, OBSERVES] = Field("monjyu", min_length=1, description="namespace of jobs and tables")

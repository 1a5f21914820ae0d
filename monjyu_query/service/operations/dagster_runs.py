"""Starts backfills through the GraphQL interface of a Dagster web server, so that its UI shows them, and reads the
server's recent runs and check results for operators.

This module contains no asset names: it asks the server for the assets in the groups of the levels.
"""

import json
import urllib.error
import urllib.request
from datetime import UTC, datetime
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel

from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.settings.service import ServiceSettings
from monjyu_core.storage.collection import known_record, target_level
from monjyu_core.storage.folders import DataFolder
from monjyu_core.values import Values
from monjyu_query.service.access.addresses import answer_of
from monjyu_query.service.server.error_responses import Conflict, NotFound

# Recent runs and the last results of checks.
MOST_RUNS = 200
"""The maximum number of runs to read; the list contains the runs of all collections."""
_RUNS = """query ($most: Int!) { runsOrError(limit: $most) { __typename ... on Runs { results {
  runId jobName status creationTime startTime endTime tags { key value } } } ... on PythonError { message } } }"""
_CHECKS = """{ assetNodes { assetKey { path } assetChecksOrError { ... on AssetChecks { checks { name description
  executionForLatestMaterialization { status runId timestamp evaluation { success severity description } } } } } } }"""
_OF_COLLECTION = ("monjyu/collection", "dagster/partition", "dagster/asset_partition_range_start")
"""The tags of a run that name its collection."""


class SeenRun(BaseModel):
    """A recent run. `status` is Dagster's (SUCCESS, FAILURE, STARTED, ...); times are ISO, UTC; `url` is its page in
    Dagster's UI."""

    run_id: str
    job: str
    collection: str | None
    status: str
    started_at: str | None
    ended_at: str | None
    url: str


class SeenCheck(BaseModel):
    """The last result of a check. `collection` is that of its run, or null if the run is not among the recent ones.
    `passed` is null if the check did not finish; a failed check of `severity` ERROR blocks the publish."""

    asset: str
    name: str
    collection: str | None
    passed: bool | None
    severity: str | None
    message: str
    at: str | None
    url: str


class DagsterSeen(BaseModel):
    """The state of Dagster. `url` is the address of its UI; `problem` is the reason why the state is unknown. The
    newest runs and the failed checks come first."""

    url: str | None
    problem: str = ""
    runs: list[SeenRun] = []
    checks: list[SeenCheck] = []


def look_at_dagster(settings: ServiceSettings, collection: str | None, most: int) -> DagsterSeen:
    """Return up to `most` runs, and the checks, of one collection or of all."""
    if settings.dagster_url is None:
        return DagsterSeen(
            url=None, problem="No Dagster web server is configured: `monjyu up` starts one with the page."
        )
    server = settings.dagster_url.rstrip("/")
    try:
        found = asked_of(server, _RUNS, {"most": MOST_RUNS})["runsOrError"].get("results", [])
        nodes = asked_of(server, _CHECKS, {})["assetNodes"]
    except ExternalAPIError as error:
        return DagsterSeen(url=server, problem=str(error))
    return visible_state(server, found, nodes, collection, most)


def visible_state(
    server: str, runs: list[Values], nodes: list[Values], collection: str | None, most: int
) -> DagsterSeen:
    """Return the runs and checks in the server's replies, of one collection or of all. A caller who asks for one
    collection sees no check of another, because its message contains numbers of papers, and may name papers."""
    shown = [_run(server, run) for run in runs]
    known = {run.run_id: run.collection for run in shown}
    made = (
        _check(server, node, check, known) for node in nodes for check in node["assetChecksOrError"].get("checks", [])
    )
    checks = [one for one in made if one is not None and collection in (None, one.collection)]
    return DagsterSeen(
        url=server,
        runs=[run for run in shown if collection in (None, run.collection)][:most],
        checks=sorted(checks, key=lambda one: (bool(one.passed), one.asset, one.name)),
    )


def _run(server: str, run: Values) -> SeenRun:
    tags = {tag["key"]: tag["value"] for tag in run["tags"]}
    named = next((tags[key].partition("|")[0] for key in _OF_COLLECTION if key in tags), None)
    return SeenRun(
        run_id=run["runId"],
        job=run["jobName"],
        collection=named,
        status=run["status"],
        started_at=_iso(run["startTime"] or run["creationTime"]),
        ended_at=_iso(run["endTime"]),
        url=f"{server}/runs/{run['runId']}",
    )


def _check(server: str, node: Values, check: Values, known: dict[str, str | None]) -> SeenCheck | None:
    last = check["executionForLatestMaterialization"]
    if last is None:
        return None
    said = last["evaluation"] or {}
    asset = "/".join(node["assetKey"]["path"])
    return SeenCheck(
        asset=asset,
        name=check["name"],
        collection=known.get(last["runId"]),
        passed=said.get("success"),
        severity=said.get("severity"),
        message=said.get("description") or check["description"] or "",
        at=_iso(last["timestamp"]),
        url=f"{server}/assets/{asset}?view=checks&checkDetail={check['name']}",
    )


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


_SECONDS = 60
_MOST_BYTES = 32 << 20
_ALLOW_DELETES = {"resources": {"build": {"config": {"allow_deletes": True}}}}
"""The run configuration of a build that may remove papers whose files are missing."""
_ASSETS = """{ assetNodes { assetKey { path } groupName
  repository { name location { name } } } }"""
_ADD = """mutation ($key: String!, $repository: RepositorySelector!) {
  addDynamicPartition(partitionsDefName: "collections", partitionKey: $key, repositorySelector: $repository) {
    __typename ... on PythonError { message } ... on UnauthorizedError { message } } }"""
_LAUNCH = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message }
  ... on PartitionSetNotFoundError { message } } }"""
_STATE = """query ($id: String!) { partitionBackfillOrError(backfillId: $id) {
  __typename ... on PythonError { message } ... on PartitionBackfill { status title error { message }
    assetBackfillData { assetBackfillStatuses {
      ... on AssetPartitionsStatusCounts {
        numPartitionsTargeted numPartitionsMaterialized numPartitionsFailed numPartitionsInProgress }
      ... on UnpartitionedAssetStatus { materialized failed inProgress } } } } } }"""
_ENDED: dict[str, Literal["done", "failed"]] = {
    "COMPLETED": "done",
    "COMPLETED_SUCCESS": "done",
    "COMPLETED_FAILED": "failed",
    "FAILED": "failed",
    "CANCELED": "failed",
}


class RunState(BaseModel):
    """The progress of a run: `made` of `parts` are finished, `begun` are in progress, `failed` have failed; `cause`
    gives the reason, if known. In a run of the service itself, the numbers are those of the current step, `stage`."""

    backfill_id: str
    state: Literal["running", "done", "failed"]
    parts: int
    made: int
    begun: int = 0
    failed: int
    cause: str = ""
    stage: str = ""
    url: str


class Launched(BaseModel):
    """A started run. `url` is its page in Dagster's UI; it is empty for a run of the service itself."""

    collection: str
    level: int
    backfill_id: str
    url: str


def launch(
    data: DataFolder, settings: ServiceSettings, collection: str, level: int | None, *, allow_deletes: bool = False
) -> Launched:
    """Materialize the collection's assets up to a level (by default its current target level), and publish.

    Raises ConfigurationError if no server is configured or the collection is unknown, Conflict while a command indexes
    the collection, ExternalAPIError if the server does not start the run.
    """
    server = _server_of(settings)
    kept = _level_to_build(data, collection, level)
    nodes = [node for node in asked_of(server, _ASSETS, {})["assetNodes"] if _belongs(node["groupName"], kept)]
    if not nodes:
        raise ExternalAPIError("The Dagster web server has no assets of Monjyu.", "Check its code locations.")
    repository = nodes[0]["repository"]
    selector = {"repositoryName": repository["name"], "repositoryLocationName": repository["location"]["name"]}
    added = asked_of(server, _ADD, {"key": collection, "repository": selector})["addDynamicPartition"]
    if added["__typename"] not in ("AddDynamicPartitionSuccess", "DuplicateDynamicPartitionError"):
        raise ExternalAPIError(f"Dagster refused the collection: {added.get('message', added['__typename'])}.")
    parameters: Values = {
        "partitionsByAssets": [_selected(node, collection) for node in nodes],
        "title": f"{collection} to level {kept}",
        "runConfigData": _ALLOW_DELETES if allow_deletes else {},
    }
    begun = asked_of(server, _LAUNCH, {"params": parameters})["launchPartitionBackfill"]
    if begun["__typename"] != "LaunchBackfillSuccess":
        raise ExternalAPIError(f"Dagster did not start the run: {begun.get('message', begun['__typename'])}.")
    backfill = str(begun["backfillId"])
    return Launched(collection=collection, level=kept, backfill_id=backfill, url=f"{server}/runs/b/{backfill}?tab=runs")


def _server_of(settings: ServiceSettings) -> str:
    """Return the address of the Dagster web server. Raises ConfigurationError if none is configured."""
    if settings.dagster_url is None:
        raise ConfigurationError(
            "No Dagster web server is configured.",
            "Set service.dagster_url, or start the service with `monjyu up`, which sets it.",
        )
    return settings.dagster_url.rstrip("/")


def run_state(settings: ServiceSettings, collection: str, backfill: str) -> RunState:
    """Return the progress of a backfill of the collection. Raises ConfigurationError if no server is configured,
    NotFound if the collection has no such backfill, ExternalAPIError if the server does not reply."""
    server = _server_of(settings)
    found = asked_of(server, _STATE, {"id": backfill})["partitionBackfillOrError"]
    if found["__typename"] != "PartitionBackfill" or not str(found["title"]).startswith(f"{collection} to level "):
        raise NotFound(f"Collection {collection!r} has no backfill {backfill!r}.", "Look at the Dagster UI.")
    counts = (found["assetBackfillData"] or {"assetBackfillStatuses": []})["assetBackfillStatuses"]
    return RunState(
        backfill_id=backfill,
        state=_ENDED.get(found["status"], "running"),
        parts=sum(one.get("numPartitionsTargeted", 1) for one in counts),
        made=sum(int(one.get("numPartitionsMaterialized", one.get("materialized", 0))) for one in counts),
        begun=sum(int(one.get("numPartitionsInProgress", one.get("inProgress", 0))) for one in counts),
        failed=sum(int(one.get("numPartitionsFailed", one.get("failed", 0))) for one in counts),
        cause=str((found["error"] or {}).get("message", ""))[:2000],
        url=f"{server}/runs/b/{backfill}?tab=runs",
    )


def _level_to_build(data: DataFolder, collection: str, level: int | None) -> int:
    """Return the collection's level, or the requested level if that is higher. Raises ConfigurationError for an unknown
    collection, Conflict while a command indexes it."""
    record = known_record(data, collection)
    folder = data.collection(collection)
    try:
        if folder.root.is_dir():
            with FileLock(folder.root / "index.lock", timeout=0):
                pass
    except Timeout as error:
        raise Conflict(f"{collection!r} is being indexed by a command.", "Try again when it has ended.") from error
    return max(target_level(record), level or 0)


def _belongs(group: str | None, level: int) -> bool:
    """Whether a group of assets is `publish` or that of a level up to `level` (its name is like `level_0_baseline`)."""
    name = group or ""
    return name == "publish" or (name.startswith("level_") and name[6:7].isdigit() and int(name[6]) <= level)


def _selected(node: Values, collection: str) -> Values:
    return {"assetKey": node["assetKey"], "partitions": {"range": {"start": collection, "end": collection}}}


def asked_of(server: str, query: str, variables: Values) -> Values:
    """Return the data of a GraphQL reply. Raises ExternalAPIError if there is no reply or it has an error."""
    request = urllib.request.Request(
        f"{server}/graphql",
        data=json.dumps({"query": query, "variables": variables}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        answer = json.loads(answer_of(request, _SECONDS, _MOST_BYTES))
    except urllib.error.HTTPError as error:
        raise ExternalAPIError(f"The Dagster web server answered {error.code}.", "Look at its log.") from error
    except (OSError, ValueError) as error:
        raise ExternalAPIError("The Dagster web server does not answer.", "Start it: `monjyu up`.") from error
    if answer.get("errors"):
        reason = answer["errors"][0].get("message")
        raise ExternalAPIError(f"The Dagster web server rejected the request: {reason}.", "Look at its log.")
    found: Values = answer["data"]
    return found

"""Levels 0 and 1 of a collection's papers on run workers; this process holds the collection, and takes what they give.

A worker that dies costs what it had not given back: its group goes to another one, which begins with the shards' parts
that came in time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import dagster as dg
from dagster._core.remote_origin import RemoteRepositoryOrigin

from monjyu_assets.analysis.analyses_kept import analysed_types
from monjyu_assets.indexing.staleness import made_otherwise
from monjyu_assets.orchestration.partitions import range_tags
from monjyu_assets.orchestration.workers.launching import LaunchedRun
from monjyu_assets.orchestration.workers.order_taken import ORDER_TAG
from monjyu_assets.stages.shared.corrected_papers import corrections_for
from monjyu_assets.stages.shared.model_choice import is_settled, settle_model
from monjyu_assets.stages.shared.parse_plan import Unparsed, keep_sources
from monjyu_assets.stages.shared.work import Work
from monjyu_core.errors import ConfigurationError, IndexBuildError
from monjyu_core.remote.holding import held_by_us
from monjyu_core.remote.orders import GivenOrders, Order
from monjyu_core.remote.store_opening import open_objects
from monjyu_core.settings.settings import Settings, load_settings
from monjyu_core.storage.collection import collection_yaml_text
from monjyu_core.storage.schemas import SHARDS

LOOK = 0.5
"""Seconds between two looks at the runs."""
TRIES = 5
"""Runs of a group that end without a single shard given back, in a row, before the command ends."""
_TOLD = {"died": "died", "not begun": "did not begin", "failed": "failed"}
RunHere = Callable[[str, Sequence[str], Sequence[str]], None]
"""Runs a job's assets over shards in this process."""


@dataclass(frozen=True)
class Step:
    """A job's assets, and what they rest on that is not made in the same run."""

    job: str
    assets: tuple[str, ...]
    rests_on: tuple[str, ...] = ()


PARSE = Step("step_level_0_papers", ("parsed_papers",), ("paper_manifest",))
CHUNK = Step("step_level_0_papers", ("chunks", "chunk_embeddings"), ("parsed_papers",))
ALL = Step("step_level_0_papers", (*PARSE.assets, *CHUNK.assets), PARSE.rests_on)
PHRASES = Step("step_level_1_papers", ("noun_phrases",), ("chunks",))


@dataclass
class _Group:
    """Shards that go to one worker, and what is still to be run on them, each with its order."""

    shards: tuple[str, ...]
    steps: deque[tuple[Step, str]]
    tries: int = 0
    gave: bool = False
    """Whether its run has given anything back."""


def goes_to_workers(settings: Settings) -> bool:
    """Whether papers go to run workers. Services are asked from one machine only, which has their caps, rates, ledger
    and caches."""
    asks = settings.embedding.remote is not None or bool(analysed_types(settings))
    return settings.runs.workers > 0 and not asks


def papers_on_workers(
    instance: dg.DagsterInstance,
    work: Work,
    stale: Mapping[int, Sequence[str]],
    run_here: RunHere,
    repository: RemoteRepositoryOrigin,
) -> None:
    """Make levels 0 and 1 of the stale shards. IndexBuildError where a group failed time and again, or where a worker
    has other code or settings."""
    workers = _Workers(instance, work, repository)
    fresh, phrases = stale.get(0, ()), stale.get(1, ())
    unparsed: dict[str, Unparsed] = {}
    if fresh:
        run_here("step_level_0_papers", ("paper_manifest",), fresh)
        unparsed = {shard: keep_sources(work, shard) for shard in fresh}
        for shard in (shard for shard, found in unparsed.items() if found.unreadable):
            run_here("step_level_0_papers", PARSE.assets, [shard])  # the failure says what this machine saw
        few = sum(found.papers for found in unparsed.values()) < work.settings.runs.least_papers
        if few and not made_otherwise(work, {0: fresh, 1: phrases}):
            run_here("step_level_0_papers", ALL.assets, fresh)
            if phrases:
                run_here("step_level_1_papers", PHRASES.assets, phrases)
            return
        settled = is_settled(work.record)
        if not settled:  # by the languages of all papers
            workers.run(fresh, [PARSE], unparsed)
            settle_model(work)
        # The phrases of these shards follow in the same round: nobody waits for the slowest group.
        both = [ALL if settled else CHUNK, *([PHRASES] if set(fresh) <= set(phrases) else [])]
        workers.run(fresh, both, unparsed)
        phrases = [shard for shard in phrases if shard not in fresh]
    if phrases:
        workers.run(phrases, [PHRASES], {})
    if other := made_otherwise(work, {0: fresh, 1: stale.get(1, ())}):
        raise IndexBuildError(
            f"Run workers have another version of Monjyu or other settings than this machine: {other}.",
            "Give all the same image and the same monjyu.yaml, and run the command again.",
        )


class _Workers:
    """Gives groups of shards to workers until all are made."""

    def __init__(self, instance: dg.DagsterInstance, work: Work, repository: RemoteRepositoryOrigin) -> None:
        settings = load_settings()
        objects, hold = open_objects(settings), held_by_us(work.folder)
        if objects is None or hold is None:
            raise ConfigurationError(
                "runs.workers needs storage.uri: workers share nothing but the object store.",
                "Set it, or runs.workers to 0.",
            )
        self._instance = instance
        self._work = work
        self._repository = repository
        self._settings = settings
        self._orders = GivenOrders(objects, work.folder, hold)
        self._running: dict[str, tuple[_Group, LaunchedRun]] = {}
        self._taken: dict[str, float] = {}
        """When results of a run were taken last."""

    def run(self, shards: Sequence[str], steps: Sequence[Step], unparsed: Mapping[str, Unparsed]) -> None:
        orders = [(step, self._order(step, unparsed)) for step in steps]
        waiting = deque(_Group(group, deque(orders)) for group in self._groups(shards))
        total, done = len(waiting) * len(steps), 0
        try:
            while waiting or self._running:
                while waiting and len(self._running) < self._settings.runs.workers:
                    self._launch(waiting.popleft())
                time.sleep(LOOK)
                for group in self._ended():
                    waiting.append(group)
                left = sum(len(group.steps) for group in (*waiting, *(group for group, _ in self._running.values())))
                if total - left > done:
                    done = total - left
                    self._work.progress("workers", done, total)
        finally:
            for _, run in self._running.values():
                run.give_up("The command that ordered it has ended.")
            self._running.clear()

    def _order(self, step: Step, unparsed: Mapping[str, Unparsed]) -> str:
        parses = "parsed_papers" in step.assets
        documents = {path for found in unparsed.values() for path in found.documents} if parses else set()
        order = Order(
            token=self._orders.token,
            record=self._work.record,
            yaml=collection_yaml_text(self._work.record),
            corrections=corrections_for(self._work) if parses else {},
            assets=list(step.assets),
            rests_on=list(step.rests_on),
            files={shard: found.files for shard, found in unparsed.items()} if parses else {},
            documents={path: self._orders.upload(Path(path)) for path in sorted(documents)},
        )
        return self._orders.give(order)

    def _groups(self, shards: Sequence[str]) -> list[tuple[str, ...]]:
        """Neighbours, since a run takes a range: as many a group as `runs.shards_per_run` says, else one group for each
        worker."""
        most = self._settings.runs.shards_per_run or ceil(len(shards) / self._settings.runs.workers)
        groups: list[tuple[str, ...]] = []
        for shard in sorted(shards, key=SHARDS.index):
            last = groups[-1] if groups else ()
            if last and len(last) < most and SHARDS.index(shard) == SHARDS.index(last[-1]) + 1:
                groups[-1] = (*last, shard)
            else:
                groups.append((shard,))
        return groups

    def _launch(self, group: _Group) -> None:
        step, order = group.steps[0]
        tags = range_tags(self._work.name, group.shards[0], group.shards[-1])
        tags |= {ORDER_TAG: order, **self._work.run_tags}
        run = LaunchedRun(self._instance, self._work.name, step.job, step.assets, tags, self._repository)
        self._running[run.run_id] = (group, run)

    def _ended(self) -> Iterator[_Group]:
        """Groups whose run has ended, and that need another."""
        for run_id, (group, run) in list(self._running.items()):
            storage, runs = self._settings.storage, self._settings.runs
            fate = run.look(self._orders.beat(run_id), storage.lease_seconds, runs.start_seconds)
            if fate == "running":
                self._take_meanwhile(run_id, group)
                continue
            if fate in ("died", "not begun"):
                run.give_up(f"The run worker has {fate}; another one takes over.")
            del self._running[run_id]
            group.gave |= self._orders.take_results(run_id) > 0
            if fate == "done":
                group.steps.popleft()
            else:
                self._work.warn(f"A run worker for shards {', '.join(group.shards)} {_TOLD[fate]}.")
                if not group.gave and fate != "not begun":
                    group.tries += 1
                if group.tries >= TRIES:
                    raise IndexBuildError(f"{TRIES} runs of one group ended in vain: {run.cause()}", "See their logs.")
            if group.gave:
                group.tries, group.gave = 0, False
            if group.steps:
                yield group

    def _take_meanwhile(self, run_id: str, group: _Group) -> None:
        """Now and then what a run has given so far, lest it be lost with this command."""
        now = time.monotonic()
        if now - self._taken.setdefault(run_id, now) > self._settings.storage.lease_seconds:
            group.gave |= self._orders.take_results(run_id) > 0
            self._taken[run_id] = time.monotonic()

"""What the tests let run in processes of their own."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from monjyu_core.models.ledger import Entry, Ledger, Scope, gather
from monjyu_core.models.ledger_totals import CallFilter, usage_of
from monjyu_core.models.response_cache import CHAT, once, open_cache
from monjyu_core.models.types import ChatReply, TokenUsage
from monjyu_core.settings.models import CacheSettings
from monjyu_core.storage.folders import DataFolder

CONTEXT = multiprocessing.get_context("forkserver")  # not fork: the tests' own process has threads of DuckDB
CONTEXT.set_forkserver_preload(["tests.core.models.workers", "duckdb", "redis"])


def in_processes(target: Callable[..., None], arguments: Sequence[tuple[Any, ...]], seconds: float = 120) -> None:
    """Run all at once, each in a process of its own; every one must end well."""
    processes = [CONTEXT.Process(target=target, args=one) for one in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(seconds)
    codes = [process.exitcode for process in processes]
    for process in processes:
        process.kill()
    assert codes == [0] * len(processes)


def note(path: Path, line: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def noted(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def reply(text: str) -> ChatReply:
    return ChatReply(text, "stop", TokenUsage(10, 2), "fake-1")


def ask(root: Path, settings: CacheSettings, keys: Sequence[str], at_once: int, seconds: float) -> None:
    """Ask for every key through the cache. `made` notes each call that was begun, `done` each answer handed on."""
    asyncio.run(_ask(root, settings, keys, at_once, seconds))


async def _ask(root: Path, settings: CacheSettings, keys: Sequence[str], at_once: int, seconds: float) -> None:
    cache = open_cache(settings, DataFolder(root))
    assert cache is not None
    gate = asyncio.Semaphore(at_once)

    async def one(key: str) -> None:
        async def make() -> ChatReply:
            note(root / "made", key)
            await asyncio.sleep(seconds)
            return reply(f"answer to {key}")

        async with gate:
            answer, _ = await once(cache, key, make, CHAT, claim_seconds=5)
            assert answer == reply(f"answer to {key}")
            note(root / "done", key)

    await asyncio.gather(*map(one, keys))


def write_and_read_ledger(root: Path, number: int, lines: int) -> None:
    ledger = Ledger(DataFolder(root))
    for line in range(lines):
        scope = Scope("asset", "claims", 4, "c", f"paper-{number}-{line}", run_id=f"run-{number}")
        ledger.record(Entry(scope, "extract", "m", "fake", TokenUsage(3, 1), cost_usd=0.25))
    used = usage_of(DataFolder(root), CallFilter(run_id=f"run-{number}"))  # its own lines, before it closes
    assert (used.llm_calls, used.prompt_tokens, used.cost_usd) == (lines, 3 * lines, 0.25 * lines)


def write_segments(root: Path, number: int, segments: int) -> None:
    """Many short-lived writers: a segment for each two lines."""
    for segment in range(segments):
        ledger = Ledger(DataFolder(root))
        for line in range(2):
            scope = Scope("asset", "claims", 4, "c", f"paper-{number}-{segment}-{line}")
            ledger.record(Entry(scope, "extract", "m", "fake", TokenUsage(3, 1), cost_usd=0.25))
        ledger.close()


def gather_again_and_again(root: Path, stop: Path) -> None:
    while not stop.exists():
        gather(DataFolder(root).state / "ledger", least=1)


def write_before_and_after_a_fork(root: Path) -> None:
    ledger = Ledger(DataFolder(root))
    cache = open_cache(CacheSettings(), DataFolder(root))
    assert cache is not None

    def write(who: str) -> None:
        ledger.record(Entry(Scope("asset", who), "extract", "m", "fake"))
        cache.put_many({who: b"v"})

    write("before")
    child = os.fork()
    if not child:
        write("child")
        os._exit(0)
    write("parent")
    assert os.waitpid(child, 0)[1] == 0
    write("after")
    assert len(cache) == 4

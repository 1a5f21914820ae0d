"""Runs `monjyu` commands in their own process, because they need monjyu_assets, which may not be installed."""

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from monjyu_core.errors import ConfigurationError, IndexBuildError, StorageError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.values import Values
from monjyu_query.service.server.error_responses import Conflict

_SECONDS = 300
BUILDER = "monjyu_assets"
LONGEST_LINE = 1 << 24
"""The maximum number of bytes in a line of a command's output; a result names each failed paper."""
Tell = Callable[[Values], Awaitable[None]]
"""Receives `{"stage", "text", "done", "total"}`."""
Shape = TypeVar("Shape", bound=BaseModel)


class Estimated(BaseModel):
    """The estimated model calls, tokens and cost of a run, the `pages` that a paid parser reads, and the `seconds` for
    the noun graph."""

    collection: str
    level: int
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    pages: int = 0
    seconds: float = 0.0


def can_build() -> bool:
    """Whether this installation can build indexes; if not, it only answers questions."""
    return importlib.util.find_spec(BUILDER) is not None


def printed(data: DataFolder, *command: str) -> Values:
    """Run `monjyu COMMAND` and return the JSON that it prints. Raises Conflict if the command refuses its arguments or
    this installation only answers questions, StorageError if the command fails."""
    if not can_build():
        raise Conflict(
            "This installation only answers questions: it cannot build or manage indexes.",
            "Use a complete installation of `monjyu`.",
        )
    try:
        done = subprocess.run(
            [sys.executable, "-m", "monjyu_core", *command],
            env={**os.environ, "MONJYU_DATA": str(data.root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StorageError(f"The command took longer than {_SECONDS} s; another publish may be in progress.") from error
    if done.returncode == 0:
        found: Values = json.loads(done.stdout)
        return found
    message = done.stderr.strip().rpartition("monjyu: ")[2] or "The command failed."
    raise Conflict(message) if done.returncode == 2 else StorageError(message)


async def printed_with_progress(
    data: DataFolder, arguments: list[str], shape: type[Shape], tell: Tell, settings: Mapping[str, str] | None = None
) -> Shape:
    """Run a command with `--progress` and return the JSON that it prints; `tell` receives its progress, and `settings`
    are added to its environment. Cancelling the waiting task terminates the command. Raises ConfigurationError or
    IndexBuildError if it prints no valid JSON.
    """
    async with _child(arguments, os.environ | dict(settings or {}) | {"MONJYU_DATA": str(data.root)}) as child:
        assert child.stdout is not None
        output, complaint = await asyncio.gather(child.stdout.read(), _follow(child, tell))
        await child.wait()
    try:
        return shape.model_validate_json(output)
    except ValidationError as error:
        kind = ConfigurationError if child.returncode == 2 else IndexBuildError
        raise kind(complaint or "Indexing failed.", "Nothing was changed.") from error


@contextlib.asynccontextmanager
async def _child(arguments: list[str], environment: Mapping[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start the command in its own process group, which is terminated if it still runs at the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "monjyu_core", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        limit=LONGEST_LINE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), 10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


async def _follow(process: asyncio.subprocess.Process, tell: Tell) -> str:
    """Pass the command's progress to `tell`; return its last other line on stderr, or an empty string."""
    complaint = ""
    assert process.stderr is not None
    async for raw in process.stderr:
        line = raw.decode("utf-8", "replace").strip()
        step = _step(line)
        if step is not None:
            await tell(step)
        elif line:
            complaint = line.removeprefix("monjyu: ")
    return complaint


def _step(line: str) -> Values | None:
    if not line.startswith('{"stage"'):
        return None
    with contextlib.suppress(ValueError):
        step: Values = json.loads(line)
        return step
    return None


# The output of the commands that list, compare and roll back snapshots.
class RolledBack(BaseModel):
    """The result of a rollback. `held`: readers stay with this snapshot, even after a publish, until the rollback is
    ended with `release`."""

    collection: str
    snapshot_id: str
    held: bool


class KeptSnapshot(BaseModel):
    """A stored snapshot. Fields are null if they cannot be read because another version of Monjyu wrote the
    snapshot."""

    snapshot_id: str
    created_at: str | None
    level: int | None
    papers: int | None
    chunks: int | None
    current: bool
    held: bool


class KeptSnapshots(BaseModel):
    """The stored snapshots, oldest first."""

    collection: str
    snapshots: list[KeptSnapshot]


class SnapshotsCompared(BaseModel):
    """The ids of added, changed and deleted papers, and by table the numbers of rows [older, newer]."""

    older: str
    newer: str
    added: list[str]
    changed: list[str]
    deleted: list[str]
    rows: dict[str, list[int]]

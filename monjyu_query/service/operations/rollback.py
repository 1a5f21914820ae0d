"""Rolling back by the command line, in a process of its own: what writes to an index stands in another package."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from pydantic import BaseModel

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import DataFolder
from monjyu_query.service.server.error_responses import Conflict

_SECONDS = 300


class RolledBack(BaseModel):
    """`held`: readers stay with this snapshot, whatever is published, until it is released."""

    collection: str
    snapshot_id: str
    held: bool


def roll_back(data: DataFolder, collection: str, snapshot_id: str | None, *, release: bool) -> RolledBack:
    """Conflict where there is no such snapshot, StorageError where it is damaged or cannot be set."""
    command = [sys.executable, "-m", "monjyu_core", "snapshots", "rollback", "-c", collection, "--json"]
    command += ["--release"] if release else []
    command += ["--", snapshot_id] if snapshot_id else []
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "MONJYU_DATA": str(data.root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StorageError("The rollback took too long; another publish may be under way.") from error
    if done.returncode == 0:
        return RolledBack(**json.loads(done.stdout))
    message = done.stderr.strip().rpartition("monjyu: ")[2] or "The rollback failed."
    raise Conflict(message) if done.returncode == 2 else StorageError(message)

"""Commands in a process of their own, where what they need stands in another package, which need not be installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

from pydantic import BaseModel

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import DataFolder
from monjyu_query.service.server.error_responses import Conflict

_SECONDS = 300
BUILDER = "monjyu_assets"


class Estimated(BaseModel):
    """Calls of models, tokens and dollars; `pages` for a paid service; `seconds` for the noun graph."""

    collection: str
    level: int
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    pages: int = 0
    seconds: float = 0.0


def printed(data: DataFolder, *command: str) -> dict[str, Any]:
    """The JSON that `monjyu COMMAND` prints. Conflict where it was asked for what cannot be, or where this installation
    only answers questions; StorageError where it fails."""
    if importlib.util.find_spec(BUILDER) is None:
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
        raise StorageError(f"It took longer than {_SECONDS} s; another publish may be under way.") from error
    if done.returncode == 0:
        found: dict[str, Any] = json.loads(done.stdout)
        return found
    message = done.stderr.strip().rpartition("monjyu: ")[2] or "The command failed."
    raise Conflict(message) if done.returncode == 2 else StorageError(message)

"""Writes the audit log: one JSON line per request in `data/state/audit/DAY.jsonl`. It contains no text of questions
unless a setting allows it.

Each batch of lines is appended in one write, so that several workers can share a day's file.
"""

import json
import logging
import os
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from urllib.parse import parse_qs

from starlette.types import Scope

from monjyu_core.storage.state_store import FILE, private_folder
from monjyu_core.values import Values
from monjyu_query.asking.write_behind import WriteBehind

_LONGEST = 2000
_MOST, _PAUSE = 100_000, 0.1
"""The maximum number of lines that wait to be written, and the seconds for which they are collected."""
_log = logging.getLogger(__name__)


class AuditLog:
    """Appends audit records of requests in the background, in the order of the requests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer: WriteBehind[Values] = WriteBehind(self._append, "audit", _MOST, _PAUSE)
        self._failed = False

    def write(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        """Queue the line of a request, including the facts that `note` has added to `scope["state"]["audit"]`."""
        state = scope["state"]
        principal = state.get("principal")
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "request_id": state["request_id"],
            "principal": principal.name if principal else None,
            "address": scope["client"][0] if scope.get("client") else None,
            "method": scope["method"],
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
            **_about(scope),
            **state.get("audit", {}),
        }
        self._writer.add(line)

    def close(self) -> None:
        self._writer.close()

    def _append(self, lines: list[Values]) -> None:
        try:
            private_folder(self._folder.parent)
            private_folder(self._folder)
            for day, of_day in groupby(lines, lambda line: line["time"][:10]):
                text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in of_day)
                handle = os.open(self._folder / f"{day}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE)
                try:
                    os.write(handle, text.encode())
                finally:
                    os.close(handle)
        except OSError as error:
            if not self._failed:
                _log.warning("The audit log cannot be written: %s", error)
            self._failed = True


def _about(scope: Scope) -> dict[str, str]:
    """Return the query parameter `collection` and the parameters of the path, which never contain a question."""
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("collection", [])
    found = {"collection": asked[0]} if asked else {}
    found |= {name: str(value) for name, value in scope.get("path_params", {}).items()}
    return {name: value[:_LONGEST] for name, value in found.items()}


def note(scope: Scope, **facts: str | int | None) -> None:
    """Add facts to the request's line in the audit log."""
    cut = {name: value[:_LONGEST] if isinstance(value, str) else value for name, value in facts.items()}
    scope["state"].setdefault("audit", {}).update(cut)

"""What all peers do alike, with the standard library only: each runs in an environment of its own.

A peer is run as `python PEER.py FOLDER OUT [EMBEDDING_URL]`, reads `corpus.jsonl` (`{"id", "title", "text"}`) and
`queries.jsonl` (`{"id", "text"}`) of the folder, writes `{query id: [document ids, best first]}` to OUT, and prints its
costs as JSON.
"""

from __future__ import annotations

import json
import resource
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DEPTH = 100


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def text_of(document: dict[str, Any]) -> str:
    return f"{document.get('title') or ''}\n\n{document.get('text') or ''}".strip()


def cpu() -> float:
    """CPU seconds of this process so far."""
    return time.process_time()


def megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def called(url: str, texts: list[str] | None = None) -> Any:
    body = None if texts is None else json.dumps(texts).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=600) as answer:
        return json.load(answer)


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))[:DEPTH]

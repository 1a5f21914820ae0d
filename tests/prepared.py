"""Folders that are made once and copied by the tests that start from them.

They are kept in .pytest_cache under a hash of everything that decides what an index holds: the packages that write it,
the lock file, the samples and the helpers of the tests. A change to any of these makes them again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parent.parent
KEPT = ROOT / ".pytest_cache" / "prepared"
SOURCES = ("monjyu_core", "monjyu_assets", "data/samples", "requirements-dev.lock", "tests")
OF_READINGS = (
    *("monjyu_core/embedding/local", "monjyu_core/embedding/micro_batching.py", "monjyu_core/reader"),
    *("monjyu_query/ranking/passage_readings.py", "requirements-dev.lock", "tests/query/readings.py"),
)
"""What decides how a passage is read: a change elsewhere leaves the readings, which are known by their texts.
tests/test_rooms.py compares it with what the reader's modules import."""
STALE_SECONDS = 3600
"""Age at which the folders of other sources are removed; until then another session may still copy them."""


def prepared(name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` fills, made if it is not there. Read only: copy it."""
    folder, done = home() / name, home() / f"{name}.done"
    with FileLock(home() / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
    return folder


@cache
def home(name: str = "indexes", sources: Sequence[str] = SOURCES) -> Path:
    """Where what these sources made is kept."""
    here = KEPT / name / _hash_of(sources)
    here.mkdir(parents=True, exist_ok=True)
    os.utime(here)
    for other in here.parent.iterdir():
        # Another worker may have removed it since it was listed.
        with suppress(FileNotFoundError):
            if other != here and time.time() - other.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    return here


def _hash_of(sources: Sequence[str]) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for top in sources:
        paths = [ROOT / top] if (ROOT / top).is_file() else sorted((ROOT / top).rglob("*"))
        for path in paths:
            if path.is_file() and path.suffix != ".pyc" and not path.name.startswith("test_"):
                digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

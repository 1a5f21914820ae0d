"""Files whose bytes were changed at random, through the parser processes: a paper or a document's error for each.

A finding is a parser that crashed or ran out of time or memory, or a parent that grew.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from monjyu_assets.parsing.sandbox.pool import ParserPool, Task
from monjyu_core.errors import DocumentError, DocumentMemory, DocumentTimeout, ParserCrash
from monjyu_core.settings.settings import ParseSettings
from tests.conftest import SAMPLES

FILES = int(os.environ.get("MONJYU_FUZZ", "300"))
SEED = int(os.environ.get("MONJYU_FUZZ_SEED", "11"))
TOKENS = [
    b"/Length 99999999",
    b"/Kids [1 0 R]",
    b"/Count -1",
    b"endobj",
    b"stream\n",
    b"<<",
    b">>",
    b"\x00" * 40,
    b"%%EOF",
]


def flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 8, 200])):
        data[chance.randrange(len(data))] = chance.randrange(256)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def drop(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    del data[start : start + chance.randrange(1, 5000)]


def repeat(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    data[start:start] = data[start : start + 2000] * chance.choice([1, 20])


def insert(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    data[start : start + chance.choice([0, 16])] = chance.choice(TOKENS)


def renumber(data: bytearray, chance: random.Random) -> None:
    """Other digits in the plain text of a file: object numbers, sizes, offsets."""
    digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    for place in chance.sample(digits, min(len(digits), 30)):
        data[place] = chance.choice(b"0123456789")


CHANGES: list[Callable[[bytearray, random.Random], None]] = [flip, cut, drop, repeat, insert, renumber]


def write_changed(folder: Path, count: int) -> list[Task]:
    chance = random.Random(SEED)
    seeds = sorted(path for path in SAMPLES.iterdir() if path.suffix in (".pdf", ".docx", ".pptx"))
    tasks: list[Task] = []
    for number in range(count):
        seed = seeds[number % len(seeds)]
        data = bytearray(seed.read_bytes())
        for change in chance.sample(CHANGES, chance.choice([1, 1, 2])):
            if data:
                change(data, chance)
        path = folder / f"{number}{seed.suffix}"
        path.write_bytes(data)
        tasks.append({"path": str(path), "document_type": seed.suffix[1:], "number": number})
    return tasks


@pytest.mark.slow
def test_changed_files_cost_no_crash_no_hang_and_no_memory(tmp_path: Path) -> None:
    tasks = write_changed(tmp_path, FILES)
    process = psutil.Process()
    outcomes: Counter[str] = Counter()
    bad: list[str] = []
    with ParserPool(ParseSettings(timeout_seconds=60, workers=2)) as pool:
        list(pool.map(tasks[:10]))
        before = process.memory_info().rss
        for task, outcome in pool.map(tasks[10:]):
            outcomes[outcome.error_type if isinstance(outcome, DocumentError) else "paper"] += 1
            if isinstance(outcome, ParserCrash | DocumentTimeout | DocumentMemory):
                bad.append(f"{task['number']} {task['document_type']}: {outcome}")
        grown = process.memory_info().rss - before
    assert not bad, bad
    assert outcomes.total() == FILES - 10
    assert outcomes["paper"] > 0 and outcomes["MalformedDocument"] > 0, outcomes
    assert grown < 50 * 2**20, f"{grown / 2**20:.0f} MiB"

"""Parser processes: what hangs, dies or eats memory costs one paper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.parsing.sandbox.pool import ParserPool
from monjyu_core.errors import DocumentError, DocumentMemory, DocumentTimeout, ParserCrash
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import OcrSettings, ParserSettings, ParseSettings

HOSTILE = """
import os, sys, time
from monjyu_assets.parsing import dispatch
from monjyu_assets.parsing.sandbox import worker
from monjyu_assets.parsing.sandbox.time_grants import ask_for_time

real = dispatch.parse_document
worker.hard_limit = lambda seconds: 1.5 * seconds + 1

def hostile(task, settings):
    what = task["record"]
    if what == "hang":
        time.sleep(600)
    if what == "spin":
        while True:
            pass
    if what == "die":
        os._exit(9)
    if what == "eat":
        held = [bytearray(2**24) for _ in range(1000)]
    if what in ("slow", "greedy"):
        for page in range(4 if what == "slow" else 100):
            ask_for_time(page, 3)
            until = time.process_time() + 0.22
            while time.process_time() < until:
                pass
    if what == "scan" and "no_ocr" not in task:
        ask_for_time(1, 1)
        os._exit(9)
    if what == "print":
        print("noise on stdout")
    if what == "lie":
        os.write(1, b"not json\\n")
    return real(task | {"document_type": "txt"}, settings)

task = {"path": sys.argv[2], "document_type": "txt"}
real(task, worker.ParserSettings.model_validate_json(sys.argv[1]))  # what it loads counts to no limit
dispatch.parse_document = hostile
worker.main()
"""


@pytest.fixture
def pool_of_hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A pool whose workers do what a task's `record` says, then parse."""
    import monjyu_assets.parsing.sandbox.pool as module

    script, text = tmp_path / "hostile_worker.py", tmp_path / "text.txt"
    script.write_text(HOSTILE)
    text.write_text("A Title\n\nA sentence stands here.\n")
    popen = module.subprocess.Popen

    def start(command: list[str], **arguments: Any) -> Any:
        return popen([command[0], str(script), command[3], str(text)], **arguments)

    monkeypatch.setattr(module.subprocess, "Popen", start)
    ocr = OcrSettings(timeout_seconds=0.3, max_pages=3, memory_mb=100)
    return ParserPool(ParserSettings(timeout_seconds=1, memory_mb=700, workers=2, ocr=ocr))


def test_what_hangs_dies_or_eats_memory_costs_one_paper(pool_of_hostile: ParserPool, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("A Title\n\nA sentence stands here. And another one.\n")
    kinds = ["ok", "hang", "spin", "die", "eat", "print", "lie", "scan", "ok"]
    tasks = [{"path": str(file), "document_type": "txt", "record": kind, "n": n} for n, kind in enumerate(kinds)]
    with pool_of_hostile as pool:
        outcomes = {task["n"]: outcome for task, outcome in pool.map(tasks)}
    found = [type(outcomes[n]) for n in range(len(kinds))]
    ended = [DocumentTimeout, DocumentTimeout, ParserCrash, DocumentMemory]
    assert found == [ParsedPaper, *ended, ParsedPaper, ParsedPaper, ParsedPaper, ParsedPaper]
    assert ["CPU" in str(outcomes[n]) for n in (1, 2)] == [False, True]


def test_pages_read_by_ocr_get_time_of_their_own_as_much_as_the_settings_allow(
    pool_of_hostile: ParserPool, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("A Title\n\nA sentence stands here. And another one.\n")
    pool_of_hostile.settings.timeout_seconds = 0.8
    told: list[tuple[int, int]] = []
    pool_of_hostile.on_page = lambda page, pages: told.append((page, pages))
    tasks = [{"path": str(file), "document_type": "txt", "record": kind, "n": kind} for kind in ("slow", "greedy")]
    with pool_of_hostile as pool:
        outcomes = {task["n"]: outcome for task, outcome in pool.map(tasks)}
    assert isinstance(outcomes["slow"], ParsedPaper)
    assert isinstance(outcomes["greedy"], DocumentTimeout)
    assert "ocr.timeout_seconds" in outcomes["greedy"].hint
    assert sorted(told) == sorted([(0, 3), (1, 3), (2, 3), (3, 3)] * 3)  # the greedy one is tried again without OCR


def test_the_pool_parses_real_files_and_gives_errors_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "broken.jsonl").write_text("{")
    tasks = [
        {"path": str(tmp_path / "empty.txt"), "document_type": "txt"},
        {"path": str(tmp_path / "broken.jsonl"), "document_type": "jsonl", "offset": 0, "size": 1, "record": 1},
        {"path": str(tmp_path / "a.xyz"), "document_type": "unreadable"},
    ]
    with ParserPool(ParseSettings(workers=1)) as pool:
        outcomes = [outcome for _, outcome in pool.map(tasks)]
    assert all(isinstance(outcome, DocumentError) for outcome in outcomes)
    names = [outcome.error_type for outcome in outcomes if isinstance(outcome, DocumentError)]
    assert names == ["EmptyDocument", "MalformedDocument", "MalformedDocument"]


def test_a_document_larger_than_the_limit_is_refused_unread(tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_text(json.dumps({"id": "a", "text": "x" * 2_000_000}))
    task = {"path": str(big), "document_type": "jsonl", "offset": 0, "size": big.stat().st_size, "record": 1}
    with ParserPool(ParseSettings(workers=1, max_file_mb=1)) as pool:
        [(_, outcome)] = list(pool.map([task]))
    assert isinstance(outcome, DocumentError)
    assert outcome.error_type == "DocumentTooLarge"

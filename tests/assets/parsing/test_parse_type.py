"""`monjyu parse --type`, and what is told of the reading itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from monjyu_assets.commands.parse_command import parse
from monjyu_assets.parsing.sandbox.pool import ParserPool
from monjyu_assets.sources.walking import DOCUMENT_TYPES, OLDER_TYPES

PAPER = "# Lichens on Granite\n\n## Methods\n\nWe looked at forty rocks, and counted the lichens of each.\n"


def printed(*arguments: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(parse, [*arguments, "--json"])
    [line] = done.stdout.splitlines()
    return done.exit_code, json.loads(line)


def test_a_file_is_read_as_the_type_that_is_named(tmp_path: Path) -> None:
    file = tmp_path / "paper.dat"
    file.write_text(PAPER)
    code, refused = printed(str(file))
    assert (code, refused["error"]["type"]) == (1, "UnsupportedDocument")
    code, paper = printed("--type", "md", str(file))
    assert (code, paper["title"], paper["document_type"]) == (0, "Lichens on Granite", "md")
    code, plain = printed("--type", "txt", str(file))
    assert (code, plain["sections"][0]["heading"]) == (0, "## Methods"), "plain text knows no marks"
    code, wrong = printed("--type", "pdf", str(file))
    assert (code, wrong["error"]["type"]) == (1, "MalformedDocument")


def test_the_types_are_those_that_are_read() -> None:
    [option] = [one for one in parse.params if one.name == "document_type"]
    assert isinstance(option.type, click.Choice)
    assert set(option.type.choices) == set((DOCUMENT_TYPES | OLDER_TYPES).values())


def test_how_long_a_file_took_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monjyu_assets.sources.scan.ParserPool", ParserPool)  # its processes take the time
    file = tmp_path / "paper.md"
    file.write_text(PAPER)
    _, paper = printed(str(file))
    assert isinstance(paper["processing_time_ms"], int) and 0 <= paper["processing_time_ms"] < 60_000

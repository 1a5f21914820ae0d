"""The check of licences fails on what README.md does not name, and the bill of materials has every package."""

from __future__ import annotations

import json
from pathlib import Path

from tests import licences
from tests.licences import Package, bill_of_materials, main, named_exceptions, packages, problems


def test_every_licence_is_permissive_or_named(tmp_path: Path) -> None:
    assert main([str(tmp_path / "sbom.json")]) == 0
    told = json.loads((tmp_path / "sbom.json").read_text())
    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    by_name = {one["name"]: one for one in told["components"]}
    assert {"duckdb", "dagster", "igraph", "leidenalg"} <= by_name.keys() and len(by_name) > 150
    duckdb = by_name["duckdb"]
    assert duckdb["purl"] == f"pkg:pypi/duckdb@{duckdb['version']}" and duckdb["hashes"] and duckdb["licenses"]


def test_the_check_sees_what_is_not_named() -> None:
    found = [
        Package("good", "1", [], ["MIT", "Apache-2.0"]),
        Package("copyleft", "2", [], ["AGPL-3.0-only"]),
        Package("silent", "3", [], []),
        Package("elsewhere", "4", [], None),
    ]
    assert problems(found, {}) == ["copyleft 2: AGPL-3.0-only", "silent 3: none stated"]
    assert problems(found, {"copyleft": "AGPL", "silent": "none", "gone": "GPL"}) == [
        "gone: named in README.md, and not installed"
    ]
    assert bill_of_materials(found) == bill_of_materials(found)


def test_exceptions_are_needed() -> None:
    """Nothing stays in the table that is permissive by now."""
    assert "igraph" in named_exceptions()
    assert {line.split()[0] for line in problems(packages(), {})} == named_exceptions().keys()
    assert licences.licences_of("not-a-package-of-anyone") is None

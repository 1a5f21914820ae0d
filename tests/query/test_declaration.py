"""Every field that is declared for a question is there in every way in: commands, HTTP, MCP, Python, the page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from jsonschema import validate

import monjyu_query
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking import request
from monjyu_query.asking.fields import asked_as
from monjyu_query.asking.request import (
    OWNERS_FIELDS,
    Filters,
    FurtherOptions,
    SearchOptions,
    SearchQuestion,
    SearchRequest,
)
from monjyu_query.commands.digest_commands import survey, table
from monjyu_query.commands.options import QuestionCommand
from monjyu_query.commands.papers_command import papers_list
from monjyu_query.commands.search_command import OTHERWISE, search
from monjyu_query.digests import table_export
from monjyu_query.mcp_server.app import build_server
from monjyu_query.mcp_server.caller_identity import CallersMonjyu
from monjyu_query.ranking import filters
from monjyu_query.service.app import create_app
from monjyu_query.service.server.page_files import html

FILTERS = set(Filters.model_fields)
QUESTION = set(SearchQuestion.model_fields)
MOST_OPTIONS, MOST_ARGUMENTS = 21, 10


def options_of(command: click.Command) -> set[str]:
    return {str(one.name) for one in command.params if isinstance(one, click.Option) and not one.hidden}


def test_every_field_says_what_it_is() -> None:
    for name, field in (SearchRequest.model_fields | Filters.model_fields).items():
        assert field.description and field.description.endswith("."), name


@pytest.mark.parametrize(
    ("command", "without"),
    [
        (search, set()),
        (survey, set()),
        (table, {"paper_ids", "section_types"}),  # a row is a whole paper; it names them as PAPER
        (papers_list, {"section_types"}),
    ],
)
def test_commands_have_all_filters(command: click.Command, without: set[str]) -> None:
    assert options_of(command) >= FILTERS - without


def test_search_has_all_options() -> None:
    """Those of lazy search in one; the help shows few, and all filters in a paragraph."""
    gathered = {name for name, field in SearchRequest.model_fields.items() if asked_as(field).under}
    assert options_of(search) | gathered >= set(SearchRequest.model_fields) - set(OTHERWISE)
    assert not options_of(search) & gathered
    assert isinstance(search, QuestionCommand)
    shown = search.get_help(click.Context(search, info_name="search", max_content_width=100))
    options, filters = shown.split("Options:")[1].split("Filters")
    assert len(re.findall(r"^  -", options, re.MULTILINE)) <= MOST_OPTIONS + 1, "and --help"
    assert all(f"--{name}" in filters for name in ("year-from", "author", "venue", "doi", "section-type", "academic"))


def test_python_has_all_options() -> None:
    assert set(SearchOptions.__annotations__) == set(SearchRequest.model_fields) - {"query", "collection"}


def test_http_has_all_fields(tmp_path: Path) -> None:
    schemas = create_app(DataFolder(tmp_path), load_settings()).openapi()["components"]["schemas"]
    assert set(schemas["SearchOfSnapshot"]["properties"]) == QUESTION | {"snapshot"}
    assert set(schemas["Filters"]["properties"]) == FILTERS
    for body in ("SurveyRequest", "TableRequest", "VectorQuestion", "SearchOfSnapshot"):
        assert "Filters" in str(schemas[body]["properties"]["filters"]), body


def test_mcp_has_all_fields(tmp_path: Path) -> None:
    tools = {
        tool.name: tool.parameters
        for tool in build_server(CallersMonjyu(tmp_path), load_settings())._tool_manager.list_tools()
    }
    taken = tools["monjyu_search"]["properties"]
    assert set(taken) | set(FurtherOptions.model_fields) == QUESTION | {"options"}
    assert len(taken) <= MOST_ARGUMENTS
    within: dict[str, Any] = tools["monjyu_search"]["$defs"]
    assert set(within["FurtherOptions"]["properties"]) == set(FurtherOptions.model_fields)
    for name in ("monjyu_search", "monjyu_survey", "monjyu_table"):
        assert set(tools[name]["$defs"]["Filters"]["properties"]) == FILTERS, name
    assert not OWNERS_FIELDS & (set(taken) | set(within["FurtherOptions"]["properties"]))


def test_the_page_has_all_filters() -> None:
    """Its form is built from what the page is served with; what has no label is chosen elsewhere, as papers are."""
    served = re.search(r'<script type="application/json" id="declared">(.*?)</script>', html("index.html"))
    assert served
    fields = {one["name"]: one for one in json.loads(served[1])["filters"]}
    assert set(fields) == FILTERS
    assert {name for name, one in fields.items() if not one["labels"]} == {"paper_ids"}
    assert all(set(one["labels"]) == {"en", "ja"} for one in fields.values() if one["labels"])
    assert len({one["one"] for one in fields.values()}) == len(fields), "an address tells them apart"


def test_http_has_an_example_of_every_request(tmp_path: Path) -> None:
    """Of each body, as its own schema has it, and of each parameter that is needed."""
    app = create_app(DataFolder(tmp_path), load_settings())
    described = app.openapi()
    bodies = 0
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                assert not parameter["required"] or parameter["example"] is not None, (method, path, parameter["name"])
            for content in operation.get("requestBody", {}).get("content", {}).values():
                bodies += 1
                schema = {**content["schema"], "components": described["components"]}
                for example in content["examples"].values():
                    validate(example["value"], schema)
                    assert (
                        "collection" in example["value"]
                        or "model" in example["value"]
                        or {"keys", "session"} & {*path.split("/")}
                    )
    assert bodies >= 20
    assert app.openapi() is described


def path_of(module: ModuleType) -> str:
    return str(Path(str(module.__file__)).relative_to(Path(monjyu_query.__file__).parent))


@pytest.mark.parametrize(
    ("word", "places"),
    [
        ("dois", {path_of(request), path_of(filters)}),  # a filter: what it is called, and what it means
        ("xlsx", {path_of(table_export)}),  # a format of an export
    ],
)
def test_it_is_written_in_few_files(word: str, places: set[str]) -> None:
    """No way in names a filter or format of its own accord, so that a new one needs no more files than these."""
    package = Path(monjyu_query.__file__).parent
    files = [one for kind in ("py", "js", "html") for one in package.rglob(f"*.{kind}") if one.stem != "messages_ja"]
    naming = {path for path in files if re.search(rf"\b{word}\b", path.read_text("utf-8"))}
    naming = {path for path in naming if path.name != "messages_ja.js"}  # an error of the filter's own, translated
    assert {str(path.relative_to(package)) for path in naming} == places


ADDED = {
    path_of(request): (
        (
            "    tags: list[_Name] = asked(",
            '    funders: list[_Name] = asked("Only of this funder.", [], "funder", ("Funder", "助成"))\n',
        ),
        (
            "    controller: Controller = asked(",
            '    mood: Literal["calm", "bold"] | None = asked("How it is said.")\n',
        ),
        ("    controller: Controller\n", "    mood: str | None\n"),
    ),
    path_of(table_export): (
        ('    "csv": ExportForm(', '    "tsv": ExportForm(as_csv, "text/tab-separated-values", "tsv", "TSV"),\n'),
    ),
}
"""A filter, an option and a format, as lines before these. What the first two do would be one file more."""
_WAYS_IN = """
import json
from pathlib import Path
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_query.commands.search_command import search
from monjyu_query.commands.digest_commands import table
from monjyu_query.mcp_server.caller_identity import CallersMonjyu
from monjyu_query.mcp_server.app import build_server
from monjyu_query.asking.request import SearchOptions
from monjyu_query.service.app import create_app
from monjyu_query.service.server.page_files import html

served = create_app(DataFolder(Path()), load_settings()).openapi()
tools = build_server(CallersMonjyu(Path()), load_settings())._tool_manager.list_tools()
print(json.dumps({
    "search": [one.name for one in search.params],
    "table": str([[*getattr(one.type, "choices", ())] for one in table.params]),
    "http": json.dumps(served), "mcp": json.dumps([tool.parameters for tool in tools]), "page": html("index.html"),
    "python": [*SearchOptions.__annotations__],
}))
"""


def test_what_is_declared_once_is_in_every_way_in(tmp_path: Path) -> None:
    package = Path(monjyu_query.__file__).parent
    shutil.copytree(package, tmp_path / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, lines in ADDED.items():
        path = tmp_path / package.name / name
        text = path.read_text("utf-8")
        for before, line in lines:
            assert text.count(before) == 1, before
            text = text.replace(before, line + before)
        path.write_text(text, "utf-8")
    paths = os.pathsep.join([str(tmp_path), str(package.parent)])
    done = subprocess.run(
        [sys.executable, "-c", _WAYS_IN],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"funders", "mood"} <= set(found["search"]) and "mood" in found["python"]
    assert "tsv" in found["table"]
    assert all(word in found[way] for way in ("http", "mcp") for word in ("funders", "mood"))
    assert "tsv" in found["http"] and "tsv" in found["page"] and "funders" in found["page"]

"""The ARM template of deploy/azure, by its structure: names that it uses are declared, its outputs are settings."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from monjyu_core.settings.names import leaves
from monjyu_core.settings.settings import Settings
from tests.conftest import ROOT

TEMPLATE: dict[str, Any] = json.loads((ROOT / "deploy" / "azure" / "template.json").read_text("utf-8"))
EXPRESSIONS = re.findall(r"\[[^\[\]]*\]", json.dumps({**TEMPLATE, "metadata": {}}))


@pytest.mark.parametrize("kind", ["parameters", "variables"])
def test_what_is_named_is_declared_and_used(kind: str) -> None:
    used = {name for text in EXPRESSIONS for name in re.findall(rf"{kind}\('(\w+)'\)", text)}
    assert used == set(TEMPLATE[kind])


def test_brackets_and_quotes_close() -> None:
    for text in EXPRESSIONS:
        assert text.count("(") == text.count(")") and text.count("'") % 2 == 0, text


def test_resources_have_what_azure_asks_for() -> None:
    assert TEMPLATE["$schema"].endswith("deploymentTemplate.json#") and TEMPLATE["contentVersion"]
    kinds = [resource["type"] for resource in TEMPLATE["resources"]]
    for resource in TEMPLATE["resources"]:
        assert {"type", "apiVersion", "name"} <= resource.keys()
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", resource["apiVersion"])
        needs_place = resource["type"].count("/") == 1 and "roleAssignments" not in resource["type"]
        assert ("location" in resource) == needs_place
        for needed in resource.get("dependsOn", []):
            assert re.search(r"resourceId\('([\w./]+)'", needed)[1] in kinds  # type: ignore[index]


def test_no_secret_leaves_it_and_keys_are_off() -> None:
    text = json.dumps(TEMPLATE)
    assert "listKeys" not in text and TEMPLATE["parameters"]["withKeys"]["defaultValue"] is False
    accounts = [one for one in TEMPLATE["resources"] if one["type"] == "Microsoft.CognitiveServices/accounts"]
    assert len(accounts) == 2
    assert all(one["properties"]["disableLocalAuth"] == "[not(parameters('withKeys'))]" for one in accounts)


def test_its_outputs_are_settings() -> None:
    known = {name for name, _ in leaves(Settings)}
    ours = [name for name in TEMPLATE["outputs"] if name.startswith("MONJYU_")]
    named = {name.removeprefix("MONJYU_").lower().replace("__", ".") for name in ours}
    assert {name for name in named if not name.startswith("models.")} <= known and len(named) == 4

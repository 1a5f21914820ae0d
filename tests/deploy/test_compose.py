"""deploy/compose.yaml: read by the specification's rules, and held against the images, the settings and the proxy."""

from __future__ import annotations

import copy
import json
import re
from importlib.metadata import version
from typing import Any

import compose_spec
import pytest

from tests.deploy.composed import COMPOSE, DEPLOY, SERVICES, filled, image_of, volumes
from tests.deploy.variables import settings_under

OURS = [name for name, service in SERVICES.items() if "build" in service]


def read(document: dict[str, Any]) -> compose_spec.PyCompose:
    found = compose_spec.PyCompose.from_json(filled(json.dumps(document), {}))
    found.validate()
    return found


def test_the_file_is_what_compose_takes() -> None:
    wanted = {"postgres", "redis", "azurite", "code-location", "webserver", "daemon", "worker", "query", "proxy"}
    assert wanted <= set(read(COMPOSE).service_names())
    for wrong in ({"depends_on": {"redis": {"condition": "healthy"}}}, {"networks": ["nowhere"]}, {"prots": ["80"]}):
        document = copy.deepcopy(COMPOSE)
        document["services"]["query"] |= wrong
        with pytest.raises(ValueError):
            read(document)


def test_images_are_pinned_and_ours_are_of_this_version() -> None:
    for name, service in SERVICES.items():
        tag = service["image"].rpartition(":")[2]
        assert re.match(r"\d+\.\d+", tag), name
        if name in OURS:
            assert tag == version("monjyu")


def test_only_the_proxy_and_dagsters_page_are_reached_from_this_machine_alone() -> None:
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert ports == {"webserver": ["127.0.0.1:3000:3000"], "proxy": ["127.0.0.1:8000:8000"]}


def test_there_are_two_workers_and_two_replicas_of_the_service() -> None:
    assert {name for name, service in SERVICES.items() if service.get("deploy", {}).get("replicas") == 2} == {
        "worker",
        "query",
    }
    assert not any(":/data" in volume.replace("/data/papers", "") for volume in volumes("worker"))


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting_and_every_service_waits_for_what_it_needs(name: str) -> None:
    service = SERVICES[name]
    settings = settings_under({key: filled(value, {}) for key, value in service["environment"].items()})
    if "MONJYU_STORAGE__URI" in service["environment"]:
        assert settings.storage.uri and settings.storage.endpoint
    else:
        assert name == "schema"
    assert set(service["depends_on"]) <= SERVICES.keys()
    for needed, how in service["depends_on"].items():
        if how["condition"] == "service_healthy":
            assert SERVICES[needed].get("healthcheck") or needed in OURS


def test_bound_files_are_there_and_named_volumes_are_declared() -> None:
    for name in SERVICES:
        for volume in volumes(name):
            source = volume.split(":")[0]
            if source.startswith("../data"):
                continue  # made at the first start
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in COMPOSE["volumes"], (
                name,
                volume,
            )


def test_the_proxy_and_the_workspace_name_services_and_their_ports() -> None:
    proxy = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    host, port = re.findall(r"\$replicas (\S+):(\d+);", proxy)[0]
    assert host in SERVICES and port in SERVICES[host]["command"]
    workspace = (DEPLOY / "workspace.compose.yaml").read_text(encoding="utf-8")
    assert "host: code-location" in workspace
    (port,) = re.findall(r"port: (\d+)", workspace)
    assert port in SERVICES["code-location"]["command"]
    assert SERVICES["code-location"]["command"] == image_of("code-location")["command"]
    assert SERVICES["query"]["command"] == image_of("query")["command"]

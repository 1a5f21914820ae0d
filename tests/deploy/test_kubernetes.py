"""The manifests against Kubernetes' own schemas, and the values for Dagster's chart as far as its packages know them.

The chart itself comes from no package index, so its templates are not rendered here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import kubernetes_validate
import pytest
import yaml
from dagster._config import process_config, resolve_to_config_type
from dagster_k8s import K8sRunLauncher
from dagster_k8s.container_context import K8sContainerContext

from monjyu_core.errors import ConfigurationError
from tests.conftest import ROOT
from tests.deploy.variables import settings_under

FOLDER = ROOT / "deploy" / "kubernetes"
VALUES: dict[str, Any] = yaml.safe_load((FOLDER / "dagster-values.yaml").read_text(encoding="utf-8"))
(CODE,) = VALUES["dagster-user-deployments"]["deployments"]


def manifests(*names: str) -> list[dict[str, Any]]:
    texts = [(FOLDER / f"{name}.yaml").read_text(encoding="utf-8") for name in names]
    return [document for text in texts for document in yaml.safe_load_all(text)]


ALL = manifests("settings", "query")


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = [one for one in manifests("query") if one["kind"] == kind]
    return found


def maps() -> dict[str, dict[str, str]]:
    return {one["metadata"]["name"]: one["data"] for one in ALL if one["kind"] == "ConfigMap"}


def values_named(tree: Any, key: str) -> Iterator[Any]:
    """Everything that stands under this key, at any depth."""
    if isinstance(tree, dict):
        yield from (value for name, value in tree.items() if name == key)
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from values_named(branch, key)


@pytest.mark.parametrize("manifest", ALL, ids=lambda one: f"{one['kind']} {one['metadata']['name']}")
def test_manifests_are_what_kubernetes_takes(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    assert manifest["metadata"]["namespace"] == "monjyu"


def test_the_validator_sees_what_is_wrong() -> None:
    wrong = of_kind("Deployment")
    wrong["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


def test_what_manifests_select_and_name_is_there() -> None:
    pod = of_kind("Deployment")["spec"]["template"]
    labels = pod["metadata"]["labels"].items()
    selectors = [
        of_kind("Deployment")["spec"]["selector"]["matchLabels"],
        of_kind("Service")["spec"]["selector"],
        of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(selector.items() <= labels for selector in selectors)
    target = of_kind("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
    assert target["name"] == of_kind("Deployment")["metadata"]["name"]
    assert {one["name"] for one in values_named(pod, "configMapRef")} == maps().keys()
    assert {one["name"] for one in values_named(VALUES, "envConfigMaps") for one in one} <= maps().keys()
    assert {one["name"] for one in values_named(pod, "secretRef")} == {one["name"] for one in CODE["envSecrets"]}
    claims = {one["metadata"]["name"] for one in ALL if one["kind"] == "PersistentVolumeClaim"}
    assert {one["claimName"] for one in values_named(VALUES, "persistentVolumeClaim")} == claims


def test_the_service_may_write_its_volumes_only_and_is_not_root() -> None:
    pod = of_kind("Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"]
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert container["resources"]["requests"] and container["resources"]["limits"]
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
    user = re.search(r"--uid (\d+)", (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8"))
    assert user and {int(user[1])} == {pod["securityContext"]["runAsUser"], CODE["podSecurityContext"]["runAsUser"]}


def test_probes_ask_what_the_service_answers() -> None:
    (container,) = of_kind("Deployment")["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    asked = {name: container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {probe["port"] for probe in asked.values()} == {port["name"]}
    assert asked["livenessProbe"]["path"] == "/health" and asked["readinessProbe"]["path"] == "/ready"
    assert str(port["containerPort"]) in container["args"]


def test_every_variable_is_a_setting() -> None:
    settings = settings_under({name: value for data in maps().values() for name, value in data.items()})
    assert settings.storage.uri and settings.service.oidc.issuer and settings.service.cache == "redis"
    with pytest.raises(ConfigurationError):
        settings_under({"MONJYU_STORAGE__URL": "az://monjyu"})


def test_the_code_location_is_the_one_that_definitions_name_and_of_this_version() -> None:
    assert CODE["name"] == settings_under({}).automation.code_location
    images = [
        CODE["image"]["tag"],
        *(one["image"].rpartition(":")[2] for one in values_named(ALL, "containers") for one in one),
    ]
    assert set(images) == {version("monjyu")}
    readme = (FOLDER / "dagster-values.yaml").read_text(encoding="utf-8")
    assert f"--version {version('dagster')} " in readme


def test_dagsters_launcher_and_code_location_take_the_values() -> None:
    launcher = VALUES["runLauncher"]
    assert launcher["type"] == "K8sRunLauncher"
    given = launcher["config"]["k8sRunLauncher"]
    config = {
        "service_account_name": "dagster",
        "instance_config_map": "dagster-instance",
        "postgres_password_secret": "dagster-postgresql-secret",
        "dagster_home": "/opt/dagster/dagster_home",
        "image_pull_policy": given["imagePullPolicy"],
        "load_incluster_config": given["loadInclusterConfig"],
        **{name: given[name] for name in ("labels", "resources", "volumes")},
        "run_k8s_config": {
            "container_config": given["runK8sConfig"]["containerConfig"],
            "job_spec_config": given["runK8sConfig"]["jobSpecConfig"],
        },
    }
    result = process_config(resolve_to_config_type(K8sRunLauncher.config_type()), config)
    assert result.success, result.errors
    context = {
        "env_config_maps": [one["name"] for one in CODE["envConfigMaps"]],
        "env_secrets": [one["name"] for one in CODE["envSecrets"]],
        "resources": CODE["resources"],
        "volumes": CODE["volumes"],
        "volume_mounts": CODE["volumeMounts"],
        "run_k8s_config": {
            "pod_spec_config": {"security_context": CODE["podSecurityContext"]},
            "container_config": {"security_context": CODE["securityContext"]},
        },
    }
    made = K8sContainerContext.create_from_config({"k8s": context})
    assert made.run_k8s_config.pod_spec_config["volumes"][1]["persistent_volume_claim"] == {
        "claim_name": "monjyu-papers"
    }
    with pytest.raises(Exception, match="emptyDirr"):
        K8sContainerContext.create_from_config({"k8s": {"volumes": [{"name": "data", "emptyDirr": {}}]}})

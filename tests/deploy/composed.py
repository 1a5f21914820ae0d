"""deploy/compose.yaml without Docker: a service's command and environment as processes of this machine.

Hosts, ports and folders of containers are replaced by others; everything else is what the file says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
HOME, DATA = "/opt/dagster/dagster_home", "/data"
_VARIABLE = re.compile(r"\$\{(\w+)(?::([?-])([^}]*))?\}")


def image_of(service: str) -> dict[str, Any]:
    """`environment`, `entrypoint` and `command` of the stage of the Dockerfile that the service is built from."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    stages = dict(re.findall(r"^FROM \S+ AS (\S+)\n(.*?)(?=^FROM |\Z)", text, flags=re.MULTILINE | re.DOTALL))
    own = stages[SERVICES[service]["build"]["target"]]

    def words(instruction: str) -> list[str]:
        found = re.search(rf"^{instruction} (\[.*\])$", own, flags=re.MULTILINE)
        return yaml.safe_load(found[1]) if found else []

    variables = dict(
        pair.split("=", 1)
        for line in re.findall(r"^ENV (.*)$", stages["runtime"], re.MULTILINE)
        for pair in line.split()
    )
    return {"environment": variables, "entrypoint": words("ENTRYPOINT"), "command": words("CMD")}


def filled(text: str, variables: Mapping[str, str]) -> str:
    """A text of the file with its ${VARIABLES}, `:-` with a default."""
    return _VARIABLE.sub(lambda found: variables.get(found[1], found[3] if found[2] == "-" else found[1]), text)


def volumes(service: str) -> list[str]:
    return [filled(volume, {}) for volume in SERVICES[service].get("volumes", [])]


@dataclass
class Composed:
    """The services on this machine. `hosts`: what stands in the file (a host with its port, an address) and what takes
    its place; `ports`: of a service, the port that stands in its command and the one here."""

    folder: Path
    hosts: Mapping[str, str]
    ports: Mapping[str, tuple[str, int]]
    secrets: Mapping[str, str]
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def log(self, service: str) -> str:
        return (self.folder / f"{service}.log").read_text(errors="replace")

    def data(self, service: str) -> Path:
        return self.folder / service / "data"

    def prepare(self, service: str) -> None:
        """What containers find on their file system: bound files of deploy/, the folder of papers, its own data."""
        home = self.folder / service / "home"
        for folder in (home, self.data(service)):
            folder.mkdir(parents=True, exist_ok=True)
        for source, target in (bind.split(":")[:2] for bind in volumes(service) if bind.startswith(".")):
            if target.startswith(HOME):
                text = (DEPLOY / source).read_text(encoding="utf-8")
                (home / Path(target).name).write_text(self._here(text, service))
            elif not (self.data(service) / "papers").exists():
                (self.data(service) / "papers").symlink_to(self.folder / "papers")

    def environment(self, service: str) -> dict[str, str]:
        given = image_of(service)["environment"] | SERVICES[service]["environment"]
        own = {name: self._here(str(value), service) for name, value in given.items() if name != "HOME"}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MONJYU_", "DAGSTER_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return inherited | own | {"PATH": path, "PYTHONPATH": str(ROOT)}

    def command(self, service: str, *instead: str) -> list[str]:
        image = image_of(service)
        words = [*image["entrypoint"], *(instead or SERVICES[service].get("command") or image["command"])]
        there, here = self.ports.get(service, ("", 0))
        return [str(here) if word == there else self._here(word, service) for word in words]

    def run(self, service: str, *instead: str, **more: str) -> str:
        """A service that ends, as `docker compose run`: its output."""
        self.prepare(service)
        done = subprocess.run(
            self.command(service, *instead),
            env=self.environment(service) | more,
            cwd=self.data(service),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def start(self, service: str, **more: str) -> subprocess.Popen[bytes]:
        self.prepare(service)
        with (self.folder / f"{service}.log").open("wb") as log:
            process = subprocess.Popen(
                self.command(service),
                env=self.environment(service) | more,
                cwd=self.data(service),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def stop(self) -> None:
        """End all of them, the last first, with what they have started."""
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder / "papers", ignore_errors=True)

    def _here(self, text: str, service: str) -> str:
        text = filled(text, self.secrets)
        for there, here in self.hosts.items():
            text = text.replace(there, here)
        text = text.replace(HOME, str(self.folder / service / "home"))
        return str(self.data(service)) if text == DATA else text

"""Object stores of a test's own on the loopback address: moto's S3, and Azurite for Azure Blob."""

from __future__ import annotations

import base64
import hmac
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.conftest import ROOT
from tests.waiting import free_port, wait_until

AZURITE = shutil.which("azurite-blob", path=str(ROOT / ".venv" / "azurite" / "node_modules" / ".bin"))
MISSING = "no Azurite: apt-get install npm, then npm install --prefix .venv/azurite azurite"
ACCOUNT, KEY = "monjyu", "bW9uanl1LXRlc3Qta2V5LW9mLW5vLWFjY291bnQ="
"""Of no real account: Azurite takes what AZURITE_ACCOUNTS names. The key is base64, as Azure's are."""


def s3_settings(endpoint: str, bucket: str) -> dict[str, str]:
    """Environment of a machine whose collections lie in the bucket."""
    return {
        "MONJYU_STORAGE__URI": f"s3://{bucket}/library",
        "MONJYU_STORAGE__ENDPOINT": endpoint,
        "MONJYU_STORAGE__REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }


@contextmanager
def moto() -> Iterator[str]:
    """The address of moto's server for S3, in a process of its own; `make_bucket` comes next."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with _running(command, port, {}):
        yield f"http://127.0.0.1:{port}"


def make_bucket(endpoint: str, name: str) -> None:
    httpx.put(f"{endpoint}/{name}").raise_for_status()


@contextmanager
def azurite() -> Iterator[dict[str, str]]:
    """Environment of a machine whose collections lie in a container of Azurite. Skip the test where AZURITE is None."""
    assert AZURITE is not None
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="monjyu-azurite-") as folder:
        command = [AZURITE, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", folder]
        command += ["--silent", "--skipApiVersionCheck", "--disableTelemetry", "--disableProductStyleUrl"]
        with _running(command, port, {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}):
            endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
            _make_container(endpoint, "library")
            yield {
                "MONJYU_STORAGE__URI": "az://library/monjyu",
                "MONJYU_AZURE__STORAGE__CONNECTION_STRING": f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};"
                f"AccountKey={KEY};BlobEndpoint={endpoint};",
            }


def _make_container(endpoint: str, name: str) -> None:
    """By a request signed with the account's key: creating containers is no part of what Monjyu does."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    path = urlsplit(f"{endpoint}/{name}").path
    lines = ["PUT", *[""] * 11, *(f"{key}:{value}" for key, value in headers.items())]
    text = "\n".join([*lines, f"/{ACCOUNT}{path}", "restype:container"])
    signed = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), "sha256")).decode()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{signed}"
    httpx.put(f"{endpoint}/{name}?restype=container", headers=headers).raise_for_status()


@contextmanager
def _running(command: list[str], port: int, environment: Mapping[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=Path("/")
    )
    try:
        wait_until(lambda: _answers(port), 60, process=process)
        yield
    finally:
        process.terminate()
        process.wait(30)


def _answers(port: int) -> bool:
    try:
        httpx.get(f"http://127.0.0.1:{port}/")
    except httpx.TransportError:
        return False
    return True

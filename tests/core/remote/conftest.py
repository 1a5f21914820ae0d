"""The object stores that these tests run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monjyu_core.remote.object_store import Objects, open_objects
from monjyu_core.settings.settings import Settings, load_settings
from tests.object_servers import AZURITE, MISSING, azurite, make_bucket, moto, s3_settings


@pytest.fixture(scope="package")
def s3() -> Iterator[str]:
    """The address of moto's server."""
    with moto() as endpoint:
        yield endpoint


@pytest.fixture(scope="package")
def blob() -> Iterator[dict[str, str]]:
    if AZURITE is None:
        pytest.skip(MISSING)
    with azurite() as environment:
        yield environment


@pytest.fixture(params=["file", "s3", pytest.param("az", marks=pytest.mark.slow)])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Environment of machines whose collections lie in a store that nobody else uses: a folder, moto's S3, Azurite."""
    own = tmp_path.name.replace("_", "-")
    if request.param == "file":
        return {"MONJYU_STORAGE__URI": (tmp_path / "store").as_uri()}
    if request.param == "s3":
        endpoint = request.getfixturevalue("s3")
        return bucket_of(endpoint, own)
    environment = request.getfixturevalue("blob")
    return environment | {"MONJYU_STORAGE__URI": f"az://library/{own}"}


def bucket_of(endpoint: str, name: str) -> dict[str, str]:
    bucket = f"b-{abs(hash(name))}"
    make_bucket(endpoint, bucket)
    return s3_settings(endpoint, bucket)


@pytest.fixture
def settings(any_store: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in any_store.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MONJYU_STORAGE__LEASE_SECONDS", "2")
    return load_settings()


@pytest.fixture
def objects(settings: Settings) -> Objects:
    found = open_objects(settings)
    assert found is not None
    return found

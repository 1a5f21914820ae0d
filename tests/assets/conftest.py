"""One small world that tests change and find again as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.assets.changes import full_paper
from tests.assets.in_process import parsed_here
from tests.assets.worlds import World, keep, put_back
from tests.conftest import SAMPLES

PROVENANCE = "answer-provenance.md"


@pytest.fixture(autouse=True, scope="session")
def _without_a_pool_of_parsers() -> Iterator[None]:
    """Each pool of processes takes half a second to begin; those that are about it start one by themselves."""
    with parsed_here():
        yield


@pytest.fixture(scope="session")
def kept_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five made papers, `zqsecret1` and so on in their text, and a real one, at level 0."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", str(folder / "live" / "data"))
        world = World(folder / "live" / "data", folder / "live" / "papers")
        for number in range(1, 6):
            text = full_paper(number).replace("faster than", f"faster (zqsecret{number}) than")
            (world.papers / f"p{number}.md").write_text(text)
        (world.papers / PROVENANCE).write_bytes((SAMPLES / PROVENANCE).read_bytes())
        world.build()
    keep(folder)
    return folder


@pytest.fixture
def world(kept_world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    found = put_back(kept_world)
    monkeypatch.setenv("MONJYU_DATA", str(found.data.root))
    yield found

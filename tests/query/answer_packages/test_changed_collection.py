"""What becomes of an answer whose papers were edited, deleted or purged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from monjyu_assets.indexing.index_operations import purge_paper
from monjyu_core.errors import QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore
from monjyu_query.answer_packages.all_forms import FORMS, written
from monjyu_query.answer_packages.asked_answer import asked_again, asked_now
from monjyu_query.answer_packages.package import package_of
from monjyu_query.answer_packages.package_files import write_package
from monjyu_query.answer_packages.verification import verify_package
from monjyu_query.asking.request import make_request
from monjyu_query.search.traces import NAMESPACE, read_trace
from tests.assets.worlds import World

HERONS = """# Herons and their lakes

## Results

{more}The night heron hunts after sunset because its large eyes gather the little light of the moon. The chicks of the
night heron leave their nest after seven weeks and sleep on the lower branches of the willow for another month.
"""
OWLS = """# Owls of the heath

## Results

The heath owl hunts after sunset because its soft feathers let it fly in silence over the dry grass of the moor.
"""
HUNTS = "Why do the night heron and the heath owl hunt after sunset?"
SECRET = "silence over the dry grass"


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DataFolder, Path]]:
    root = tmp_path_factory.mktemp("birds")
    data, papers = root / "data", root / "papers"
    papers.mkdir()
    (papers / "herons.md").write_text(HERONS.format(more=""))
    (papers / "owls.md").write_text(OWLS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", str(data))
        World(data, papers, "birds").build()
        yield DataFolder(data), papers


def test_edited_then_purged(birds: tuple[DataFolder, Path], tmp_path: Path) -> None:
    data, papers = birds
    asked = asked_now(data, make_request(query=HUNTS, collection="birds"))
    owls = next(one.paper_id for one in asked.result.citations if one.paper_id.startswith("owls"))
    assert {one.paper_id.partition("-")[0] for one in asked.result.citations} == {"herons", "owls"}
    write_package(package_of(asked), tmp_path / "package")
    store = StateStore(data.state)
    trace = read_trace(store, asked.trace_id)

    (papers / "herons.md").write_text(HERONS.format(more="All herons wade. "))
    World(data.root, papers, "birds").build()
    found = {check.check: check for check in verify_package(tmp_path / "package", data).checks}
    assert found["quotes"].outcome == found["answer"].outcome == "holds", "the old snapshot is still kept"

    purge_paper(data, "birds", owls)
    with pytest.raises(QueryError):  # traces go with a purge
        asked_again(data, asked.trace_id)
    verified = verify_package(tmp_path / "package", data)
    found = {check.check: check for check in verified.checks}
    assert not verified.ok and found["quotes"].outcome == found["package"].outcome == "not_checked"
    assert len(found["quotes"].details) == len(asked.result.citations), "one paper is gone, the other was read again"

    store.put(NAMESPACE, asked.trace_id, trace)  # as one that came back from a backup
    again = asked_again(data, asked.trace_id)
    assert "citations" in again.differs and {one.why for one in again.left_out} == {"purged"}
    for form in FORMS.keys() - {"ro-crate"}:
        content = written(again, form)
        assert SECRET.encode() not in content
        assert form not in ("markdown", "bibtex") or b"purged" in content
    package = package_of(again)
    assert not any(SECRET.encode() in content or owls.encode() in content for content in package.values())
    assert json.loads(package["question.json"])["again"]["left_out"] == [{"why": "purged"}]
    write_package(package, tmp_path / "after")
    assert verify_package(tmp_path / "after", data).ok

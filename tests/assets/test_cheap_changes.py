"""What makes a change of a large collection cheap gives what the dear way gives."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from monjyu_assets.parsing.bibliography import companions
from monjyu_assets.publishing import checks
from monjyu_assets.stages.paper_manifest import _differing, scan_manifest
from monjyu_assets.work.run_limits import Scan, having_scanned
from monjyu_assets.work.work import Work
from monjyu_core import quality
from monjyu_core.storage.folders import DataFolder, OtherFiles
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import table_of
from tests.properties import given, st

ROWS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.sampled_from("xy"), st.integers(0, 1), st.sampled_from([None, 1, 2])),
)


def manifest_of(rows: dict[str, tuple[str, int, int | None]]) -> pa.Table:
    records = [
        {"paper_id": paper_id, "sha256": content, "mtime_ns": time, "record": record, "document_type": "md"}
        for paper_id, (content, time, record) in sorted(rows.items())
    ]
    return table_of("manifest", records).combine_chunks()


@given(ROWS, ROWS)
def test_manifests_differ_in_the_papers_whose_rows_do(before: dict[str, tuple], after: dict[str, tuple]) -> None:
    wanted = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert _differing(manifest_of(before), manifest_of(after)) == wanted


@given(st.lists(st.sampled_from(["\ufeff", " ", "\n", "\x1c", "\u3000", "---\n", "-", "#", "é", "a: b\n"]), max_size=9))
def test_front_matter_is_never_missed(pieces: list[str]) -> None:
    text = "".join(pieces)
    if companions._FRONT_MATTER.match(text):
        assert not companions._has_no_front_matter(text.encode())


def test_a_run_takes_the_papers_of_the_scan_that_chose_it(tmp_path: Path) -> None:
    work, others = Work(DataFolder(tmp_path), "c"), OtherFiles(unsupported_count=3)
    rows = manifest_of({"a": ("x", 1, None)})
    with having_scanned(Scan(work.folder, rows, others)):
        assert scan_manifest(work) is rows
    assert work.others is others


def test_only_parts_that_nobody_names_are_removed(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    versions = []
    for content in "xyz":
        tables = {"manifest": manifest_of({"a": (content, 1, None)})}
        versions.append(store.write("paper_manifest", "0", tables, inputs={}, code_version="1").version)
    named = [("manifest", "0", versions[0])]
    assert store.have([*named, ("manifest", "0", versions[1])])
    store.remove_all_but(named)
    left = {path.stem for path in tmp_path.rglob("*.parquet")}
    assert left == {versions[0], versions[2]}  # the second was neither current nor named
    assert not store.have([("manifest", "0", versions[1])])
    assert not store.have([("chunks", "0", versions[0])])


@pytest.mark.parametrize(
    "queries", [list(checks.WHOLE.values()), [quality.QUALITY_CHECKS[n].bad for n in quality.WHOLE]]
)
def test_checks_of_the_whole_see_the_tables_that_they_read(queries: list[str]) -> None:
    """A table that is not named is an error and not an empty one."""
    tables = checks.OF_THE_WHOLE if queries[0] in checks.WHOLE.values() else quality.OF_THE_WHOLE
    with checks.over_parts([], tables) as connection:
        for query in queries:
            assert connection.execute(query).fetchall() == []
        with pytest.raises(duckdb.CatalogException):
            connection.execute("FROM figures")
    assert set(tables) <= checks.STORED

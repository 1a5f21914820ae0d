"""Scanning: stable ids, duplicates, hostile names, and the question before many papers go."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from monjyu_assets.sources.scan import check_source, guard_deletes, scan
from monjyu_core.errors import ConfigurationError, IndexBuildError
from monjyu_core.settings.settings import PublishSettings
from monjyu_core.storage.collection import CollectionRecord
from monjyu_core.storage.folders import OtherFiles
from monjyu_core.storage.schemas import empty


def scanned(
    *sources: Path, previous: pa.Table | None = None, allow_missing: bool = False
) -> dict[str, dict[str, object]]:
    record = CollectionRecord(name="c", sources=[str(source) for source in sources])
    table = scan(record, previous or empty("manifest"), allow_missing=allow_missing)
    return {row["paper_id"]: row for row in table.to_pylist()}


def test_ids_survive_edits_and_copies_of_the_folder(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder / "sub").mkdir(parents=True)
        (tmp_path / folder / "sub" / "a.md").write_text("text")
    first = scanned(tmp_path / "one")
    (tmp_path / "one" / "sub" / "a.md").write_text("edited")
    second = scanned(tmp_path / "one")
    assert first.keys() == second.keys() == scanned(tmp_path / "two").keys()
    assert [row["sha256"] for row in first.values()] != [row["sha256"] for row in second.values()]


def test_two_files_never_share_an_id(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text(folder)
    (tmp_path / "one" / "a.txt").write_text("x")
    assert len(scanned(tmp_path / "one", tmp_path / "two")) == 3
    assert scanned(tmp_path / "one").keys() < scanned(tmp_path / "one", tmp_path / "two").keys()


def test_a_file_in_two_sources_is_one_paper(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("x")
    assert len(scanned(tmp_path, tmp_path / "sub" / "a.md")) == 1


def test_records_keep_their_ids_and_bad_lines_get_one(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": "a", "text": "x"}),
        "",
        "{broken",
        json.dumps({"id": 7}),
        json.dumps({"id": "a", "text": "y"}),
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    rows = scanned(tmp_path / "r.jsonl")
    types = sorted((row["document_type"], row["record"]) for row in rows.values())
    assert types == [("duplicate", 5), ("jsonl", 1), ("jsonl", 3), ("jsonl", 4)]
    assert {"a", "7"} <= rows.keys()


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    file, records = tmp_path / "a.md", tmp_path / "r.jsonl"
    file.write_text("text")
    records.write_text(json.dumps({"id": "a", "text": "x"}) + "\n")
    record = CollectionRecord(name="c", sources=[str(tmp_path)])
    before = scan(record, empty("manifest"))
    marked = before.set_column(1, "sha256", pa.array(["kept"] * len(before), pa.string()))
    assert scan(record, marked)["sha256"].to_pylist() == ["kept", "kept"]


def test_links_out_of_a_source_and_hidden_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    source = tmp_path / "papers"
    source.mkdir()
    (source / "link.md").symlink_to(tmp_path / "secret.md")
    (source / ".hidden.md").write_text("x")
    (source / "inside.md").write_text("x")
    (source / "also.md").symlink_to(source / "inside.md")
    assert sorted(Path(str(row["source_path"])).name for row in scanned(source).values()) == ["also.md", "inside.md"]


def test_an_unreadable_source_stops_unless_deletes_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.md").write_text("x")
    with pytest.raises(IndexBuildError, match="--allow-deletes"):
        scanned(tmp_path / "a", tmp_path / "gone")
    assert len(scanned(tmp_path / "a", tmp_path / "gone", allow_missing=True)) == 1


@pytest.mark.parametrize(
    ("old", "gone", "stops"),
    [(36, 1, False), (36, 7, False), (36, 8, True), (10, 5, False), (10, 6, True), (3, 3, True)],
)
def test_many_deletes_are_a_question(old: int, gone: int, stops: bool) -> None:
    before, after = {str(n) for n in range(old)}, {str(n) for n in range(gone, old)}
    guard_deletes(before, after, PublishSettings(), allow=True)
    if stops:
        with pytest.raises(IndexBuildError, match="--allow-deletes"):
            guard_deletes(before, after, PublishSettings(), allow=False)
    else:
        guard_deletes(before, after, PublishSettings(), allow=False)


def test_a_source_that_cannot_be_indexed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.exe").write_text("x")
    for name in ("missing", "a.exe"):
        with pytest.raises(ConfigurationError):
            check_source(tmp_path / name)


def test_a_path_longer_than_the_system_takes_costs_no_other_paper(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("# A\n\nIt is read.\n")
    folder, length = os.open(tmp_path, os.O_RDONLY), len(str(tmp_path))
    for _ in range((3_860 - length) // 201 + 1):
        os.mkdir("d" * 200, dir_fd=folder)
        folder = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        length += 201
    for ending in (".md", ".tex", ".zip", ".jsonl", ".pdf"):
        os.close(os.open("x" * 240 + ending, os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    others, record = OtherFiles(), CollectionRecord(name="c", sources=[str(tmp_path)])
    found = scan(record, empty("manifest"), others=others)["source_path"].to_pylist()
    assert found == [str(tmp_path / "good.md")] and 3_800 < length < 4_095 < length + 240
    assert others.skipped["unreadable"].count >= 3

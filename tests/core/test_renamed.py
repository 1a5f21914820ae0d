"""What a former id of a paper is now."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from monjyu_core.records.renamed_papers import present_id, remember_renamed
from monjyu_core.storage.folders import CollectionFolder


def test_a_renamed_file_is_found_by_its_bytes_however_often_it_moves(tmp_path: Path) -> None:
    folder = CollectionFolder(tmp_path)
    steps = [
        {"a": "1", "b": "2", "x": ""},
        {"a2": "1", "b": "2"},  # renamed; a file that could not be read is gone
        {"a3": "1", "b": "2", "y": ""},
        {"a3": "9", "b": "2"},  # edited
        {"a3": "9", "copy": "2", "b": "2"},
        {"a3": "9", "copy": "2"},  # the copy is left
    ]
    for before, after in pairwise(steps):
        remember_renamed(folder, before, after)
    known = steps[-1].__contains__
    assert [present_id(folder, one, known) for one in ("a", "a2", "a3", "b")] == ["a3", "a3", "a3", "copy"]
    assert [present_id(folder, one, known) for one in ("x", "never")] == ["x", "never"]


def test_nothing_is_kept_of_papers_that_are_gone(tmp_path: Path) -> None:
    folder = CollectionFolder(tmp_path)
    remember_renamed(folder, {"a": "1"}, {"b": "1"})
    remember_renamed(folder, {"b": "1"}, {})
    assert folder.renamed.read_text() == "{}"
    folder.renamed.write_text("[damaged")
    assert present_id(folder, "a", {"b"}.__contains__) == "a"


def test_a_name_that_is_taken_again_is_the_new_paper(tmp_path: Path) -> None:
    folder = CollectionFolder(tmp_path)
    remember_renamed(folder, {"a": "1"}, {"b": "1"})
    remember_renamed(folder, {"b": "1"}, {"a": "3", "c": "1"})
    assert present_id(folder, "a", {"a", "c"}.__contains__) == "a"
    assert present_id(folder, "b", {"a", "c"}.__contains__) == "c"

"""`monjyu parse`: every path has its answer, in the order given, and one that is no document says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_assets.parsing.sandbox.pool import ParserPool
from monjyu_assets.sources.scan import parse_files
from monjyu_core.text.unicode_words import has_controls
from tests.conftest import call_monjyu


def test_the_name_of_a_file_does_nothing_in_a_terminal(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a\x1b[2J\u202eb"
    folder.mkdir()
    good, bad = folder / "c\u2066.md", folder / "d.pdf"
    good.write_text("# Graphs\n\nA paper on graphs. It has two sentences.")
    bad.write_bytes(b"none")
    read = [["parse", good], ["parse", good, "--json"], ["parse", bad], ["import", "bibtex", bad, "-c", "c"]]
    index = [["index", folder, "-c", "c", "--level", "0"], ["sources", "list"], ["sources", "list", "--json"]]
    ask = [["sources", "remove", bad, "-c", "c"], ["search", "graphs"], ["search", "graphs", "--json"], ["status"]]
    for command in [*read, *index, *ask]:
        done = call_monjyu(tmp_path / "data", *command)
        assert done.stdout + done.stderr and not has_controls(done.stdout + done.stderr), command


def test_paths_that_are_no_documents_say_why_in_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monjyu_assets.sources.scan.ParserPool", ParserPool)  # each in a process, as a user's
    for name in ("one.txt", "two.md", "old.odt", "scan.png", "empty.txt"):
        (tmp_path / name).write_text("" if name == "empty.txt" else "A paper on graphs. It has two sentences.")
    (tmp_path / "dead.md").symlink_to(tmp_path / "gone.md")
    wanted = {
        "missing.pdf": "There is no such file.",
        "one.txt": None,
        ".": "It is a folder. Name its files: ",
        "old.odt": "Save it as .docx.",
        "two.md": None,
        "scan.png": "Make a PDF of it",
        "dead.md": "The file cannot be read.",
        "empty.txt": "The file is empty.",
    }
    answers = list(parse_files([tmp_path / name for name in wanted]))
    assert [answer["source_path"] for answer in answers] == [str(tmp_path / name) for name in wanted]
    for answer, said in zip(answers, wanted.values(), strict=True):
        assert (said is None) == ("error" not in answer)
        assert said is None or said in answer["error"]["message"], answer
    assert [answer["error"]["type"] for answer in parse_files([tmp_path])] == ["UnsupportedDocument"]

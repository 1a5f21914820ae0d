"""Every file under a source is a paper, of a type that is not read, or passed over for a reason that is told."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from monjyu_assets.indexing.requests import index_collection
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.sources.scan import check_source, scan
from monjyu_core.core_commands import status
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import CollectionRecord, SourceRules
from monjyu_core.storage.folders import MOST_LISTED, DataFolder, OtherFiles, read_other_files
from monjyu_core.storage.schemas import empty
from monjyu_query.service.app import create_app

MAIN = "\\documentclass{article}\\begin{document}Text.\\input{part}\\end{document}"


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return folder


def found(folder: Path, **record: object) -> tuple[set[str], OtherFiles]:
    """Names of the papers, and what else there is."""
    others = OtherFiles()
    table = scan(CollectionRecord(name="c", sources=[str(folder)], **record), empty("manifest"), others=others)  # type: ignore[arg-type]
    return {str(Path(path).relative_to(folder)) for path in table["source_path"].to_pylist()}, others


def skipped(folder: Path, others: OtherFiles) -> dict[str, list[str]]:
    return {reason: [path.removeprefix(f"{folder}/") for path in held.files] for reason, held in others.skipped.items()}


def test_each_type_says_what_to_do(tmp_path: Path) -> None:
    fill(tmp_path, "a.md", "b.doc", "c.PPT", "d.odt", "e.rtf", "f.epub", "g.zip", "h.png", "i.xlsx", "j.strange", "k")
    papers, others = found(tmp_path)
    assert papers == {"a.md"} and not others.skipped and others.unsupported_count == 10
    said = {Path(row.source_path).name: row.message for row in others.unsupported}
    assert {row.error_type for row in others.unsupported} == {"UnsupportedDocument"}
    assert said["b.doc"].startswith(".doc files are not read. Save it as .docx, or install LibreOffice")
    assert said["c.PPT"].startswith(".ppt files are not read. Save it as .pptx, or install LibreOffice")
    assert ".docx" in said["d.odt"] and ".docx" in said["e.rtf"] and ".html" in said["f.epub"]
    assert "Unpack" in said["g.zip"] and "ocr" in said["h.png"] and "Data" in said["i.xlsx"]
    assert "Known types: .pdf" in said["j.strange"] and "ending" in said["k"]


def test_a_name_that_is_no_utf_8_stops_nothing(tmp_path: Path) -> None:
    """Old archives leave such names; Parquet, JSON and the page cannot hold them."""
    fill(tmp_path, "a.md", "論文.md")
    for name in (b"caf\xe9.md", b"old\xff/b.md"):
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    papers, others = found(tmp_path)
    assert papers == {"a.md", "論文.md"}
    said = {row.source_path.removeprefix(f"{tmp_path}/"): row.message for row in others.unsupported}
    assert said == dict.fromkeys((r"caf\xe9.md", r"old\xff"), "Its name is not UTF-8. Rename it.")
    OtherFiles.model_validate_json(others.model_dump_json().encode())


def test_each_reason(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    fill(papers, "a.md", "a.json", "refs.bib", "figures/one.png", "collection.yaml", "sub/collection.yaml")
    fill(papers, ".hidden.pdf", ".git/HEAD", ".git/config", "Thumbs.db", "~$a.docx", "a.pdf.part", "drafts/b.md")
    fill(papers, "page.html", "page_files/script.js", "page_files/inner/frame.html", "tex/part.tex", "tex/plot.eps")
    (papers / "tex" / "main.tex").write_text(MAIN)
    (papers / "out.md").symlink_to(fill(tmp_path, "secret.md") / "secret.md")
    (papers / "dead.md").symlink_to(papers / "gone.md")
    (papers / "also.md").symlink_to(papers / "a.md")
    (papers / "again").symlink_to(papers / "figures")
    os.mkfifo(papers / "pipe.pdf")
    rules = {str(papers): SourceRules(exclude=["drafts"])}
    names, others = found(papers, rules=rules)
    assert names == {"a.md", "also.md", "page.html", "tex/main.tex"}
    assert skipped(papers, others) == {
        "hidden": [".git/", ".hidden.pdf"],
        "system": ["Thumbs.db", "a.pdf.part", "~$a.docx"],
        "settings": ["collection.yaml"],
        "companion": [
            *["a.json", "refs.bib", "figures/one.png", "page_files/script.js", "page_files/inner/frame.html"],
            "tex/plot.eps",
        ],
        "part": ["tex/part.tex"],
        "patterns": ["drafts/b.md"],
        "link": ["again", "dead.md", "out.md"],
        "special": ["pipe.pdf"],
    }
    assert [Path(row.source_path).name for row in others.unsupported] == ["collection.yaml"]  # that of a folder below


def test_purged_papers_are_told(tmp_path: Path) -> None:
    fill(tmp_path, "a.md", "b.md")
    table = scan(CollectionRecord(name="c", sources=[str(tmp_path)]), empty("manifest"))
    names, others = found(tmp_path, excluded=table["paper_id"].to_pylist()[:1])
    assert names == {"b.md"} and skipped(tmp_path, others) == {"purged": ["a.md"]}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open any folder")
def test_a_folder_that_cannot_be_opened(tmp_path: Path) -> None:
    fill(tmp_path, "a.md", "closed/b.md")
    (tmp_path / "closed").chmod(0)
    try:
        names, others = found(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert names == {"a.md"} and skipped(tmp_path, others) == {"unreadable": ["closed/"]}


def test_many_files_are_counted_and_the_first_listed(tmp_path: Path) -> None:
    fill(tmp_path, "a.md", *(f"data/{number:05}.dcm" for number in range(MOST_LISTED + 500)))
    _, others = found(tmp_path)
    assert others.unsupported_count == MOST_LISTED + 500
    assert [Path(row.source_path).name for row in others.unsupported] == [f"{n:05}.dcm" for n in range(MOST_LISTED)]


def test_a_file_of_such_a_type_is_refused_with_the_way(tmp_path: Path) -> None:
    fill(tmp_path, "thesis.odt")
    with pytest.raises(ConfigurationError, match=r"Save it as \.docx"):
        check_source(tmp_path / "thesis.odt")
    with pytest.raises(ConfigurationError, match=r"1 of other types, such as .*thesis\.odt.*Save it as \.docx"):
        index_collection(DataFolder(tmp_path / "data"), tmp_path, "c")
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_the_list_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, data = tmp_path / "papers", DataFolder(tmp_path / "data")
    fill(source, "b.rtf", ".hidden").joinpath("a.txt").write_text("A title\n\nSome words about a thing. And more.")
    first = index_collection(data, source, "c")
    assert (first.papers.total, first.papers.failed, first.papers.unsupported, first.papers.skipped) == (1, 0, 1, 1)
    assert [Path(row.source_path).name for row in first.unsupported] == ["b.rtf"] and not first.failures
    with open_instance(data) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("index_snapshot"))
    assert event is not None and event.asset_materialization is not None
    shown = event.asset_materialization.metadata
    assert shown["files_unsupported"].value == 1 and "b.rtf" in str(shown["files_not_read"].value)
    assert shown["files_skipped"].value == {"hidden": 1}
    with TestClient(create_app(data, load_settings()), base_url="http://127.0.0.1") as client:
        [collection] = client.get("/collections").json()["collections"]
    assert collection["unsupported"] == 1
    fill(source, "c.odt")
    (source / "b.rtf").unlink()
    second = index_collection(data, source, "c")
    assert [Path(row.source_path).name for row in second.unsupported] == ["c.odt"]
    assert second.snapshot_id == first.snapshot_id and second.papers.unchanged == 1  # nothing was parsed or published
    others = OtherFiles()
    scan(CollectionRecord(name="c", sources=[str(source)]), empty("manifest"), others=others)
    assert read_other_files(data.collection("c")) == others
    monkeypatch.setenv("MONJYU_DATA", str(data.root))
    said = CliRunner().invoke(status, ["c", "--files"]).output
    assert "c.odt: UnsupportedDocument: .odt files are not read. Save it as .docx." in said
    assert "passed over 1: hidden files and folders" in said and "failed  0" in said
    (source / "c.odt").unlink()
    assert index_collection(data, source, "c").unsupported == []
    assert "unsupported" not in CliRunner().invoke(status, ["c"]).output

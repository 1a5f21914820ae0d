"""A Zotero library brought in, edited and brought in again: what is added, changed, removed, filtered and forgotten."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.indexing.requests import import_library
from monjyu_assets.libraries.syncing import READABLE
from monjyu_assets.libraries.zotero_database import read_zotero_folder
from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import file_sha256
from tests.assets.libraries.zotero_library import ZoteroLibrary
from tests.conftest import CORPORA, SAMPLES, call_monjyu, needs_corpora
from tests.limits import ends

PDF = next(iter(sorted(SAMPLES.glob("*.pdf"))))


@pytest.fixture
def library(tmp_path: Path) -> ZoteroLibrary:
    made = ZoteroLibrary(tmp_path / "Zotero")
    made.add("AAAA2222", file=PDF, title="A paper with a file", tags=("Teaching",), shelf="Thesis/Methods/Old")
    made.add(
        "BBBB2222",
        authors=(("Grace", "Hopper"),),
        tags=("compilers",),
        shelf="Thesis",
        title="The education of a computer",
        date="1952-05-00 May 1952",
        publicationTitle="Proceedings of the ACM",
        abstractNote="A compiling routine makes programs out of subroutines.",
        DOI="10.1145/609784.609818",
    )
    made.add("CCCC2222", title="Notes on graph theory", abstractNote="Graphs have nodes and edges.", library=2)
    return made


@pytest.mark.slow
def test_a_library_in_and_in_again(library: ZoteroLibrary, tmp_path: Path) -> None:
    data = tmp_path / "data"
    before = file_sha256(library.folder / "zotero.sqlite")
    first = _import(data, library)
    assert (first["library"]["added"], first["library"]["with_file"], first["index"]["papers"]["total"]) == (3, 1, 3)
    assert file_sha256(library.folder / "zotero.sqlite") == before

    assert _found(data, "--tag", "TEACHING") == _found(data, "--shelf", "thesis/methods") == {"AAAA2222"}
    assert _found(data, "--shelf", "Thesis") == {"AAAA2222", "BBBB2222"}
    assert _found(data, "--tag", "none such") == set()
    labels = json.loads(call_monjyu(data, "papers", "tags", "-c", "lib", "--json").stdout)
    assert labels["tags"] == [{"name": "compilers", "papers": 1}, {"name": "Teaching", "papers": 1}]
    assert [one["name"] for one in labels["shelves"]] == ["Thesis", "Thesis/Methods/Old"]
    listed = json.loads(call_monjyu(data, "papers", "list", "-c", "lib", "--shelf", "Thesis", "--json").stdout)
    assert len(listed) == 2
    shown = json.loads(call_monjyu(data, "papers", "show", _ids(data)["BBBB2222"], "-c", "lib", "--json").stdout)
    assert (shown["publication_date"], shown["doi"], shown["authors"][0]["name"]) == (
        "1952",
        "10.1145/609784.609818",
        "Grace Hopper",
    )
    everything = "".join(path.read_text("utf-8", "ignore") for path in (data / "papers").rglob("*.json*"))
    assert "my secret note" not in everything

    again = _import(data, library)
    assert (again["library"]["unchanged"], again["index"]["papers"]["unchanged"]) == (3, 3)
    library.retag("BBBB2222", "Teaching")
    library.edit("CCCC2222", title="Notes on the theory of graphs")
    library.bin("AAAA2222")
    library.add("DDDD2222", title="A later paper", abstractNote="It came later.")
    edited = _import(data, library)
    assert {name: edited["library"][name] for name in ("added", "updated", "removed", "unchanged")} == {
        "added": 1,
        "updated": 2,
        "removed": 1,
        "unchanged": 0,
    }
    counts = edited["index"]["papers"]
    assert (counts["added"], counts["changed"], counts["deleted"]) == (1, 2, 1)
    assert _found(data, "--tag", "teaching") == {"BBBB2222"}
    assert not list((data / "papers").rglob("*.pdf"))


@pytest.mark.slow
def test_a_paper_keeps_its_id_when_its_file_arrives(library: ZoteroLibrary, tmp_path: Path) -> None:
    data = DataFolder(tmp_path / "data")
    library.add("EEEE2222", title="A paper whose file comes later")
    import_library(data, "zotero", library.folder, "lib")
    before = _ids(data.root)["EEEE2222"]
    library.bin("EEEE2222")
    import_library(data, "zotero", library.folder, "lib", allow_deletes=True)
    other = ZoteroLibrary(tmp_path / "Other")
    other.add("EEEE2222", title="A paper whose file comes later", file=PDF)
    library.folder.rename(tmp_path / "gone")
    other.folder.rename(library.folder)
    import_library(data, "zotero", library.folder, "lib", allow_deletes=True)
    assert _ids(data.root)["EEEE2222"] == before


@pytest.mark.slow
def test_purge_takes_what_the_library_brought(library: ZoteroLibrary, tmp_path: Path) -> None:
    data = tmp_path / "data"
    _import(data, library)
    for key in ("AAAA2222", "BBBB2222"):
        done = call_monjyu(data, "purge", _ids(data)[key], "-c", "lib")
        assert done.returncode == 0, done.stderr
    brought = [path for path in (data / "papers").rglob("*") if path.is_file()]
    assert not [path for path in brought if path.suffix == ".pdf" or "subroutines" in path.read_text()]
    again = _import(data, library)
    assert again["index"]["papers"]["total"] == 1
    assert set(_ids(data)) == {"g2-CCCC2222"}


@pytest.mark.parametrize("path", ["storage:../../outside.pdf", "/etc/outside.pdf", "attachments:outside.pdf"])
def test_files_outside_the_library_are_not_read(library: ZoteroLibrary, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.pdf").write_bytes(PDF.read_bytes())
    library.link("BBBB2222", path if path != "/etc/outside.pdf" else str(tmp_path / "outside.pdf"))
    items = {item.key: item for item in read_zotero_folder(library.folder, READABLE)}
    assert (items["BBBB2222"].files, items["BBBB2222"].outside) == ((), 1)


def test_files_are_read_where_they_are_linked(library: ZoteroLibrary, tmp_path: Path) -> None:
    """By name below the folder of linked files, or by a full path into it; nothing that leads out of it."""
    linked = tmp_path / "linked"
    (linked / "sub").mkdir(parents=True)
    for place in (linked / "sub" / "a.pdf", linked / "b.pdf", tmp_path / "c.pdf"):
        place.write_bytes(PDF.read_bytes())
    library.link("AAAA2222", "attachments:sub/a.pdf")
    library.link("BBBB2222", str(linked / "b.pdf"))
    library.link("CCCC2222", "attachments:../c.pdf")
    items = {item.key: item for item in read_zotero_folder(library.folder, READABLE, linked)}
    assert linked / "sub" / "a.pdf" in items["AAAA2222"].files
    assert (items["BBBB2222"].files, items["BBBB2222"].outside) == ((linked / "b.pdf",), 0)
    assert (items["g2-CCCC2222"].files, items["g2-CCCC2222"].outside) == ((), 1)


def test_a_file_without_a_work_is_one(library: ZoteroLibrary) -> None:
    library.alone("DDDD2222", PDF)
    library.alone("EEEE2222", PDF, title="Full Text PDF")
    library.alone("FFFF2222", PDF, title="Minutes of the meeting")
    library.alone("GGGG2222", Path(__file__), title="No paper")
    library.alone("HHHH2222", PDF)
    library.bin("HHHH2222")
    items = {item.key: item for item in read_zotero_folder(library.folder, READABLE)}
    titles = [items[key].record.title for key in ("DDDD2222", "EEEE2222", "FFFF2222", "GGGG2222")]
    assert titles == [PDF.stem, PDF.stem, "Minutes of the meeting", ""]
    assert items["DDDD2222"].files and not items["GGGG2222"].files and "HHHH2222" not in items


def test_names_that_begin_with_the_family(library: ZoteroLibrary) -> None:
    library.add("DDDD2222", title="分散表現", authors=(("太郎", "山田"), ("Ada", "Lovelace")))
    items = {item.key: item for item in read_zotero_folder(library.folder, READABLE)}
    assert items["DDDD2222"].record.authors == ("山田 太郎", "Ada Lovelace")


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    data = DataFolder(tmp_path / "data")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "zotero.sqlite").write_bytes(b"no database at all" * 100)
    (tmp_path / "some.txt").write_text("text")
    for name in ("empty", "bad", "some.txt", "absent"):
        with pytest.raises(ConfigurationError):
            import_library(data, "zotero", tmp_path / name, "lib")
    assert not (data.papers / "lib").exists()


@needs_corpora
@pytest.mark.slow
def test_two_hundred_works_in_edited_in_again(tmp_path: Path) -> None:
    library, data = ZoteroLibrary(tmp_path / "Zotero"), tmp_path / "data"
    pdfs = sorted((CORPORA / "jose" / "pdf").glob("*.pdf"))[:8]
    for number, pdf in enumerate(pdfs):
        library.add(f"A{number:07d}", title=f"Paper {number} of a journal", file=pdf, tags=(f"part {number % 3}",))
    lines = (CORPORA / "cacm" / "corpus.jsonl").read_text().splitlines()[: 200 - len(pdfs)]
    for number, record in enumerate(map(json.loads, lines)):
        library.add(f"B{number:07d}", title=record["title"], abstractNote=record["text"], shelf="CACM")
    assert _import(data, library)["library"]["added"] == 200
    for number in range(10):
        library.bin(f"B{number:07d}")
        library.edit(f"B{number + 20:07d}", title=f"Another title of number {number}")
        library.add(f"C{number:07d}", title=f"New work number {number}", tags=("new",))
    done = _import(data, library)
    assert {name: done["library"][name] for name in ("added", "updated", "removed")} == {
        "added": 10,
        "updated": 10,
        "removed": 10,
    }
    counts = done["index"]["papers"]
    assert (counts["added"], counts["changed"], counts["deleted"], counts["total"]) == (10, 10, 10, 200)
    assert len(_found(data, "--tag", "new", "--top-k", "50")) == 10


def _import(data: Path, library: ZoteroLibrary) -> dict[str, Any]:
    done = call_monjyu(data, "import", "zotero", library.folder, "-c", "lib", "--allow-deletes", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _found(data: Path, *filters: str) -> set[str]:
    done = call_monjyu(data, "search", "computer", "-c", "lib", "--mode", "vector", "--no-answer", "--json", *filters)
    assert done.returncode == 0, done.stderr
    return {hit["paper_id"].rsplit("-", 1)[0] for hit in json.loads(done.stdout)["hits"]}


def _ids(data: Path) -> dict[str, str]:
    done = call_monjyu(data, "papers", "list", "-c", "lib", "--json")
    papers = json.loads(done.stdout)
    rows = papers["papers"] if isinstance(papers, dict) else papers
    return {row["paper_id"].rsplit("-", 1)[0]: row["paper_id"] for row in rows}


def test_a_hostile_database_ends(library: ZoteroLibrary) -> None:
    endless = "WITH RECURSIVE r(tagID, name) AS (SELECT 1, 'x' UNION ALL SELECT tagID + 1, name FROM r) SELECT * FROM r"
    with closing(sqlite3.connect(library.folder / "zotero.sqlite")) as database, database:
        database.execute("DROP TABLE tags")
        database.execute(f"CREATE VIEW tags AS {endless}")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ends(lambda: read_zotero_folder(library.folder, READABLE))


def test_a_name_that_no_file_system_takes_is_of_a_file_outside(library: ZoteroLibrary) -> None:
    with closing(sqlite3.connect(library.folder / "zotero.sqlite")) as database, database:
        database.execute(
            "UPDATE itemAttachments SET path = 'storage:' || replace(hex(zeroblob(3000)), '00', 'a') || '.pdf'"
        )
    items = read_zotero_folder(library.folder, READABLE)
    assert items and sum(item.outside for item in items) > 0 and not any(item.files for item in items)


def test_shelves_inside_of_each_other_without_end(library: ZoteroLibrary) -> None:
    shelves = "WITH RECURSIVE r(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM r WHERE n < 20000) "
    with closing(sqlite3.connect(library.folder / "zotero.sqlite")) as database, database:
        database.execute(f"{shelves} INSERT INTO collections "
                         "SELECT n, 'shelf ' || n, n - 1, 1, n FROM r")  # fmt: skip
        database.execute(f"{shelves} INSERT INTO collectionItems (itemID, collectionID) SELECT 1, n FROM r")
    items = ends(lambda: read_zotero_folder(library.folder, READABLE))
    assert all(len(shelf) <= 500 for item in items for shelf in item.record.shelves)

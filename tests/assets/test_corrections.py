"""Corrections of papers: an input of their rows alone, that outlasts each indexing and goes with the paper."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.indexing.index_operations import purge_paper
from monjyu_assets.orchestration.watching import watch_collection
from monjyu_assets.planning.pending import look
from monjyu_assets.publishing.rebuild_comparison import compare_with_rebuild
from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.records.corrected_values import Field, checked
from monjyu_core.records.corrections import CORRECTIONS, CorrectedPaper, Correction, Corrections, PaperIdentity, correct
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.ids import file_paper_id
from monjyu_core.storage.schemas import SHARDS
from monjyu_core.storage.snapshot import open_current, read_current
from monjyu_query.papers.records import identify_paper, show_paper
from tests.assets.changes import CORRECTED, Folder, paper_text, title
from tests.assets.conftest import PROVENANCE
from tests.assets.worlds import World, differences
from tests.properties import assume, given, sequences, st

P1, P2, REAL = (file_paper_id(name) for name in ("p1.md", "p2.md", PROVENANCE))


def mend(world: World, paper_id: str, field: Field, value: object) -> bool:
    snapshot = open_current(world.work.folder)
    seen = identify_paper(snapshot.cursor(), paper_id)
    assert seen is not None
    return correct(world.work.folder, load_settings(), paper_id, field, value, seen=seen, by="key:1234")


def paper(world: World, paper_id: str) -> dict[str, Any]:
    parts = (part.read() for part in world.work.parts.heads("papers"))
    return next(row for part in parts for row in part.to_pylist() if row["paper_id"] == paper_id)


def keys(world: World) -> dict[str, str]:
    return {paper_id: key for part in world.work.parts.heads("papers") for paper_id, key in part.keys.items()}


def heads(world: World) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in world.work.folder.parts.rglob("HEAD")}


def test_only_the_paper_is_made_anew_and_nothing_is_parsed(world: World) -> None:
    before, as_read, parts = keys(world), world.everything(), heads(world)
    assert mend(world, P1, "title", "A corrected title")
    assert mend(world, P1, "authors", ["Ada Wilson", "Grace Hopper"])
    assert mend(world, P1, "publication_date", "1999-12")
    assert not mend(world, P1, "title", " A corrected title ")
    watched = watch_collection(world.data, "c")
    assert watched.state == "changed" and "Corrections" in watched.message
    pending = look(world.work, "papers", allow_deletes=False, level=0)
    assert pending.needed and pending.shards[0] == [world.work.parts.bucket_of(P1)[0]]

    done = world.build(level=0)
    assert done["parse"] == set() and done["chunk"] == {P1}
    now = keys(world)
    assert {one for one in now if now[one] != before[one]} == {P1}
    row = paper(world, P1)
    assert (row["title"], row["publication_date"], row["year"]) == ("A corrected title", "1999-12", 1999)
    names = [author["name"] for author in world.tables()["authors"] if author["paper_id"] == P1]
    assert sorted(names) == ["Ada Wilson", "Grace Hopper"]
    headers = {chunk["header"] for chunk in world.tables()["chunks"] if chunk["paper_id"] == P1}
    assert headers and all("A corrected title" in header for header in headers)
    shown = show_paper(open_current(world.work.folder), P1)
    told = {one.field: (one.original, one.by) for one in shown.corrected}
    assert told["title"] == (title(1), "key:1234") and told["publication_date"][0] == "2011"
    assert show_paper(open_current(world.work.folder), P2).corrected == []

    assert compare_with_rebuild(world.work, SHARDS, world.data.root / "scratch").different == []
    snapshot = read_current(world.work.folder)
    assert not any(world.build(level=0).values()) and read_current(world.work.folder) == snapshot
    assert not look(world.work, "papers", allow_deletes=False, level=0).needed

    for field in ("title", "authors", "publication_date"):
        assert mend(world, P1, field, None)  # type: ignore[arg-type]
    assert look(world.work, "papers", allow_deletes=False, level=0).needed
    assert world.build(level=0)["parse"] == set()
    assert keys(world) == before and world.everything() == as_read and not CORRECTIONS.read(world.work.folder).papers
    primary = [path for path in parts if "parts/papers" in str(path)]
    assert {path: path.read_bytes() for path in primary} == {path: parts[path] for path in primary}


def test_citations_follow_a_corrected_doi(world: World) -> None:
    """What another paper's reference names by its DOI is this paper, once it has that DOI."""
    wanted = next(row for row in world.tables()["unresolved_references"] if row["paper_id"] not in (P1, REAL))
    entry = next(
        row
        for row in world.tables()["references"]
        if (row["paper_id"], row["ord"]) == (wanted["paper_id"], wanted["ord"])
    )
    mend(world, P1, "doi", f"https://doi.org/{entry['doi']}")
    mend(world, P1, "title", entry["title"])
    world.build(level=0)
    edges = {(row["citing_id"], row["cited_id"]) for row in world.tables()["citation_edges"]}
    assert (wanted["paper_id"], P1) in edges


@pytest.mark.slow
def test_it_outlasts_edits_and_moves_and_goes_with_the_paper(world: World) -> None:
    mend(world, P1, "title", "Zqcorrected")
    world.build(level=0)
    path = world.papers / "p1.md"
    path.write_text(path.read_text() + "\n## Discussion\n\nThe index was edited, and helps the graph.\n")
    assert world.build(level=0)["parse"] == {P1} and paper(world, P1)["title"] == "Zqcorrected"

    (world.papers / "sub").mkdir()
    path.rename(world.papers / "sub" / "other.md")
    moved = file_paper_id("sub/other.md")
    assert world.build(level=0)["parse"] == set() and paper(world, moved)["title"] == "Zqcorrected"
    assert list(CORRECTIONS.read(world.work.folder).papers) == [moved]

    target = world.papers / "read" / "other.md"  # moved and edited before the next index: its name is its own
    target.parent.mkdir()
    (world.papers / "sub" / "other.md").rename(target)
    target.write_text(f"{target.read_text()}\nAnd it was edited again, which helps the shard.\n")
    moved = file_paper_id("read/other.md")
    assert world.build(level=0)["parse"] == {moved} and paper(world, moved)["title"] == "Zqcorrected"
    (world.papers / "copy.md").write_bytes(target.read_bytes())
    world.build(level=0)
    assert paper(world, file_paper_id("copy.md"))["title"] == title(1)  # another paper, as far as anyone has said

    purge_paper(world.data, "c", moved)
    held = [
        file for file in world.work.folder.root.rglob("*") if file.is_file() and b"Zqcorrected" in file.read_bytes()
    ]
    assert held == [] and not CORRECTIONS.read(world.work.folder).papers

    mend(world, P2, "title", "Zqdeleted")
    (world.papers / "p2.md").unlink()
    world.build(level=0)
    assert not CORRECTIONS.read(world.work.folder).papers


def test_nothing_goes_to_a_file_of_another_name_or_of_a_name_that_two_have() -> None:
    """By name only where one file had it, and one has it."""
    fields = {"title": Correction(value="x", at="", by="")}
    corrected = lambda name: Corrections(papers={"old": CorrectedPaper(sha256="1", name=name, fields=fields)})  # noqa: E731
    here, there = PaperIdentity("2", "main.pdf"), PaperIdentity("3", "main.pdf")
    assert corrected("main.pdf").applying({"new": here}) == {"new": fields}
    assert corrected("main.pdf").applying({"new": here, "other": there}) == {}
    assert corrected("").applying({"new": here}) == {} and corrected("").applying({"new": PaperIdentity("2")}) == {}
    assert corrected("main.pdf").applying({"new": PaperIdentity("1", "b.pdf"), "other": here}) == {"new": fields}


def test_a_paper_that_cannot_be_read_keeps_its_corrections_for_later(world: World) -> None:
    mend(world, P1, "title", "Kept for later")
    (world.papers / "p1.md").write_bytes(b"")
    world.build()
    assert P1 not in {row["paper_id"] for row in world.tables()["papers"]}
    (world.papers / "p1.md").write_text(paper_text(40))
    world.build()
    assert paper(world, P1)["title"] == "Kept for later"


CORRECT = st.tuples(st.just("correct"), st.integers(0, 3), st.integers(0, 7 * len(CORRECTED)))
OTHER = st.tuples(
    st.sampled_from(["edit", "move", "copy", "delete", "swap", "restore"]), st.integers(0, 3), st.integers(0, 9)
)


@sequences(1)
@given(st.lists(st.lists(CORRECT | OTHER, min_size=2, max_size=5), min_size=2, max_size=2))
def test_incremental_equals_full_with_corrections(batches: list[list[Any]]) -> None:
    assume(len({change[0] for batch in batches for change in batch}) >= 4)  # not the simplest, which comes first
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", f"{root}/data")
        folder = Folder(World(Path(root) / "data", Path(root) / "papers"), level=0, highest=0)
        for number, seed in enumerate((3, 8)):
            folder.apply(("add", number, seed))
        folder.build()
        for batch in batches:
            for change in [("correct", 0, 0), *batch]:
                folder.apply(change)
            folder.build()
        fresh = folder.world.fresh(Path(root) / "fresh")
        fresh.build(0)
        assert differences(folder.world, fresh) == [] and keys(folder.world) == keys(fresh)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "a\nb"),
        ("title", "x" * 1001),
        ("title", "turned \u202e round"),
        ("title", "\ud800"),
        ("title", ["a"]),
        ("authors", []),
        ("authors", "Ada"),
        ("authors", [""]),
        ("authors", ["a"] * 1001),
        ("doi", "doi of the paper"),
        ("doi", "javascript:10.1234/x"),
        ("publication_date", "2021-13"),
        ("publication_date", "2021-02-30"),
        ("publication_date", "0999"),
        ("publication_date", "last year"),
        ("language", "english"),
        ("language", ""),
        ("abstract", "a\x00b"),
        ("abstract", "x" * 20_001),
    ],
)
def test_what_a_field_cannot_hold_is_refused(field: Field, value: object) -> None:
    with pytest.raises(ConfigurationError):
        checked(field, value)


def test_what_it_can_hold() -> None:
    assert checked("doi", "https://doi.org/10.1234/a(b)") == "10.1234/a(b)"
    assert checked("abstract", "one\r\ntwo ") == "one\ntwo"
    assert checked("publication_date", "") == "" and checked("publication_date", "2021-03") == "2021-03"


def test_a_damaged_file_of_corrections_is_an_error(world: World) -> None:
    """Going on without it would undo what people did."""
    (world.work.folder.root / "corrections.json").write_text(json.dumps({"papers": {"x": 1}}))
    with pytest.raises(StorageError, match="damaged"):
        world.build()

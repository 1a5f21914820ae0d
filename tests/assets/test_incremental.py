"""An incremental build computes only what changed. That it equals a full one is in test_property.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_core.storage.snapshot import open_current
from tests.assets.changes import paper_text
from tests.assets.worlds import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "data", tmp_path / "papers")
    for number in range(4):
        (made.papers / f"p{number}.md").write_text(paper_text(number))
    made.build(level=1)
    return made


def test_nothing_changed_computes_nothing_and_publishes_nothing(world: World) -> None:
    before = open_current(world.work.folder).id
    assert world.build(level=1) == {"parse": set(), "chunk": set(), "embed": set(), "phrases": set()}
    assert open_current(world.work.folder).id == before


def test_one_edit_computes_one_paper(world: World) -> None:
    (world.papers / "p1.md").write_text(paper_text(77))
    done = world.build(level=1)
    assert [len(papers) for papers in done.values()] == [1, 1, 1, 1]
    assert all(next(iter(papers)).startswith("p1-") for papers in done.values())


def test_a_moved_file_keeps_its_results(world: World) -> None:
    (world.papers / "p1.md").rename(world.papers / "elsewhere.md")
    done = world.build(level=1)
    assert done["parse"] == set()
    assert done["embed"] == set()
    assert any(row["paper_id"].startswith("elsewhere-") for row in world.tables()["papers"])


def test_communities_of_chunks_are_those_of_their_phrases(world: World) -> None:
    for name in ("p1.md", "copy.md"):
        (world.papers / name).write_text(f"---\ndoi: 10.5555/communities\n---\n{paper_text(1)}")
    world.build(level=1)
    tables = world.tables()
    standing = {row["canonical_id"] for row in tables["paper_identity"]}
    levels = {row["community_id"]: row["level"] for row in tables["communities"]}
    members: dict[str, set[str]] = {}
    for row in tables["community_members"]:
        members.setdefault(row["phrase"], set()).add(row["community_id"])
    chunks: dict[str, set[str]] = {}
    for row in tables["phrase_mentions"]:
        if row["phrase"] in members and row["paper_id"] in standing:
            chunks.setdefault(row["chunk_id"], set()).add(row["phrase"])
    expected = {
        (chunk, community, levels[community]): sum(community in members[phrase] for phrase in phrases) / len(phrases)
        for chunk, phrases in chunks.items()
        for community in {one for phrase in phrases for one in members[phrase]}
    }
    assert len(standing) < len(tables["papers"]) and expected
    query = "SELECT chunk_id, community_id, level, share FROM chunk_communities"
    snapshot = open_current(world.work.folder)
    rows = snapshot.cursor().execute(query).fetchall()
    assert {row[:3]: row[3] for row in rows} == pytest.approx(expected) and len(rows) == len(expected)


def test_a_changed_setting_computes_what_rests_on_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_CHUNKING__SIZE_TOKENS", "40")
    monkeypatch.setenv("MONJYU_CHUNKING__OVERLAP_TOKENS", "10")
    done = world.build(level=1)
    assert done["parse"] == set()
    assert len(done["chunk"]) == 4
    assert max(row["tokens"] for row in world.tables()["chunks"]) <= 40

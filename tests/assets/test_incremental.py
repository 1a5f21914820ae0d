"""An incremental index equals a full rebuild, deletes included; and it computes only what changed."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from monjyu_core.snapshot import open_current
from tests.assets.worlds import World, write_records

WORDS = ["graph", "community", "provenance", "retrieval", "sentence", "index", "shard", "answer", "phrase", "evidence"]


def sentence(chance: random.Random) -> str:
    """`The graph helps the shard index, the answer and the phrase.`"""
    first, *others = [" ".join(chance.choices(WORDS, k=chance.choice([1, 1, 2]))) for _ in range(chance.randint(3, 6))]
    return f"The {first} helps the {', the '.join(others[:-1])} and the {others[-1]}."


def paper_text(seed: int) -> str:
    chance = random.Random(seed)
    sentences = [sentence(chance) for _ in range(12)]
    return (
        f"# Paper {seed}\n\n## Introduction\n\n{' '.join(sentences[:6])}\n\n## Results\n\n{' '.join(sentences[6:])}\n"
    )


Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "edit", "rename", "delete", "record", "swap"]), st.integers(0, 5), st.integers(0, 99)
    ),
    min_size=1,
    max_size=5,
)


def apply(folder: Path, step: Step, records: dict[str, str]) -> None:
    action, number, seed = step
    file = folder / f"p{number}.md"
    if action == "add" or (action == "edit" and file.exists()):
        file.write_text(paper_text(seed))
    elif action == "rename" and file.exists():
        (folder / "sub").mkdir(exist_ok=True)
        file.rename(folder / "sub" / f"moved{number}.md")
    elif action == "delete":
        file.unlink(missing_ok=True)
        records.pop(f"r{number}", None)
    elif action == "record":
        records[f"r{number}"] = paper_text(seed).replace("#", "")
    elif action == "swap" and file.exists():
        (folder / f"copy{number}.md").write_bytes(file.read_bytes())
    write_records(folder, records)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=[Phase.generate])
@given(st.lists(STEPS, min_size=2, max_size=3))
def test_random_changes_give_the_tables_of_a_fresh_build(batches: list[list[Step]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder, "data"), Path(folder, "papers"))
        (world.papers / "always.md").write_text(paper_text(1000))
        records: dict[str, str] = {"r9": "A record that stays. It speaks of graphs."}
        write_records(world.papers, records)
        world.build(level=1)
        for batch in batches:
            for step in batch:
                apply(world.papers, step, records)
            world.build(level=1)
        fresh = World(Path(folder, "fresh"), world.papers)
        fresh.build(level=1)
        assert world.tables() == fresh.tables()
        assert snapshot_rows(world) == snapshot_rows(fresh)


def test_levels_2_to_4_after_changes_are_those_of_a_fresh_build(world: World, tmp_path: Path) -> None:
    said = "The graph index is 12 % faster than the phrase index. Jupyter uses Python and the graph index."
    (world.papers / "said.md").write_text(f"# What is said\n\n## Results\n\n{said}\n")
    world.build(level=4)
    first = open_current(world.work.folder).id
    assert not any(world.build(level=4).values()) and open_current(world.work.folder).id == first
    records: dict[str, str] = {}
    for step in [("edit", 1, 77), ("delete", 3, 0), ("record", 4, 5), ("swap", 2, 0), ("rename", 0, 0)]:
        apply(world.papers, step, records)
    world.build(level=4)
    fresh = World(tmp_path / "fresh", world.papers)
    fresh.build(level=4)
    assert world.tables() == fresh.tables()
    assert snapshot_rows(world) == snapshot_rows(fresh)
    assert all(world.tables()[name] for name in ("entities", "relationships", "entity_communities", "claims"))


def snapshot_rows(world: World) -> dict[str, list[tuple[object, ...]]]:
    """The published database, and which chunks Lance holds."""
    import lancedb

    snapshot = open_current(world.work.folder)
    cursor = snapshot.cursor()
    query = """SELECT table_name FROM duckdb_tables() WHERE table_name <> 'community_lineage'  -- it tells history
        UNION SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1"""
    tables = [row[0] for row in cursor.execute(query).fetchall()]
    columns = "COLUMNS(lambda c: c NOT IN ('source_path', 'mtime_ns', 'offset', 'record', 'vector'))"
    rows = {name: cursor.execute(f'SELECT {columns} FROM "{name}" ORDER BY ALL').fetchall() for name in tables}
    entry = snapshot.manifest.lance["chunks"]
    table = lancedb.connect(str(world.work.folder.lance)).open_table(entry.table)
    table.checkout(entry.tag)
    held = table.search().select(["chunk_id", "search_text"]).limit(entry.rows or 1).to_arrow().to_pylist()
    rows["lance"] = sorted((row["chunk_id"], row["search_text"]) for row in held)
    snapshot.close()
    return rows


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


def test_a_deleted_paper_leaves_every_table_and_the_text_of_the_database(world: World) -> None:
    secret = "Zyzzyvaword occurs in this paper alone."
    (world.papers / "p3.md").write_text(paper_text(3) + secret)
    world.build(level=4)
    (world.papers / "p3.md").unlink()
    world.build(level=4)
    assert not [row for rows in world.tables().values() for row in rows if "p3-" in str(row)]
    assert "Zyzzyvaword" not in str(snapshot_rows(world))
    snapshot = open_current(world.work.folder)
    assert b"Zyzzyvaword" not in (snapshot.folder / "index.duckdb").read_bytes()


@pytest.mark.parametrize("change", ["delete", "edit"])
def test_deleted_text_is_in_no_file_that_is_in_use(world: World, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one snapshot kept, all that lies in the collection's folder is in use."""
    monkeypatch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "1")
    (world.papers / "p3.md").write_text(paper_text(3) + "Zyzzyvaword occurs in this paper alone.")
    world.build(level=1)
    before = open_current(world.work.folder).manifest.lance["chunks"]
    assert found_in_full_text(world, "zyzzyvaword") == 1
    assert files_with(world, "zyzzyv")
    if change == "delete":
        (world.papers / "p3.md").unlink()
    else:
        (world.papers / "p3.md").write_text(paper_text(3))
    world.build(level=1)
    assert found_in_full_text(world, "zyzzyvaword") == 0
    assert "zyzzyva" not in str(world.tables()).lower() + str(snapshot_rows(world)).lower()
    assert files_with(world, "zyzzyv") == []
    # What is compressed shows no text to a search for bytes: the files that held it are gone as a whole.
    now = {path.relative_to(world.work.folder.lance).as_posix() for path in world.work.folder.lance.rglob("*")}
    assert not now & before.files.keys()


def files_with(world: World, word: str) -> list[str]:
    files = (path for path in world.work.folder.root.rglob("*") if path.is_file())
    return [str(path) for path in files if word.encode() in path.read_bytes().lower()]


def found_in_full_text(world: World, word: str) -> int:
    import lancedb

    entry = open_current(world.work.folder).manifest.lance["chunks"]
    table = lancedb.connect(str(world.work.folder.lance)).open_table(entry.table)
    table.checkout(entry.tag)
    return int(table.search(word, query_type="fts", fts_columns="search_text").limit(5).to_arrow().num_rows)


def test_communities_of_chunks_are_those_of_their_phrases(world: World) -> None:
    (world.papers / "copy.md").write_bytes((world.papers / "p1.md").read_bytes())
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
    rows = open_current(world.work.folder).cursor().execute(query).fetchall()
    assert {row[:3]: row[3] for row in rows} == pytest.approx(expected) and len(rows) == len(expected)


def test_a_changed_setting_computes_what_rests_on_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_CHUNKING__SIZE_TOKENS", "40")
    monkeypatch.setenv("MONJYU_CHUNKING__OVERLAP_TOKENS", "10")
    done = world.build(level=1)
    assert done["parse"] == set()
    assert len(done["chunk"]) == 4
    assert max(row["tokens"] for row in world.tables()["chunks"]) <= 40

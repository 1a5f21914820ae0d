"""Text that was deleted or edited away is in nothing that is used, and nowhere at all once its snapshots are gone."""

from __future__ import annotations

import json
import os
import random
import string
from collections.abc import Iterator
from pathlib import Path

import duckdb
import httpx2
import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monjyu_core.status import collection_status
from monjyu_core.storage.keyword_file import FIELDS, term_hashes
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import open_current
from monjyu_core.text.search_text import word_terms
from tests.assets.changes import full_paper
from tests.assets.worlds import World, differences, keep, put_back
from tests.query.service.conftest import serving

PLACES = ("title", "author", "heading", "body", "claim", "caption", "cell", "reference", "sidecar", "record", "edited")
CHANCE = random.Random(11)
SECRETS = {place: "zq" + "".join(CHANCE.choices(string.ascii_lowercase, k=14)) for place in PLACES}
"""A word of its own for each place that text stands in: no part of it can be squeezed out by compression."""
SPOKEN = " ".join(
    f"The {SECRETS['body']} index is {n} % faster than Python in the {SECRETS['claim']} test." for n in range(9)
)
PAPER = f"""---
title: On the {SECRETS["title"]} of indexes
author: Ada {SECRETS["author"].title()}
bibliography: secret.bib
---

## The {SECRETS["heading"]} problem

{SPOKEN} So says [@known].

| system | {SECRETS["cell"]} |
| --- | --- |
| Python | 12 |

: Scores of {SECRETS["caption"]} systems

## References

[1] Wilson, A. (2015). The {SECRETS["reference"]} of references. Journal of Indexes.
"""
BIBLIOGRAPHY = f"@article{{known, title={{The {SECRETS['sidecar']} problem}}, author={{Mori, Kenji}}, year={{2012}}}}\n"
EDITED = f"\n## Discussion\n\nThe {SECRETS['edited']} statement is wrong. Python is {SECRETS['edited']} and faster.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Level 4 of papers one of which has a word of its own in each place, one record, and one text to be edited; kept
    beside what tests change."""
    root = tmp_path_factory.mktemp("deletion")
    made = World(root / "live" / "data", root / "live" / "papers")
    (made.papers / "p3.md").write_text(full_paper(3))
    (made.papers / "p8.md").write_text(full_paper(8) + EDITED)
    (made.papers / "secret.md").write_text(PAPER)
    (made.papers / "secret.bib").write_text(BIBLIOGRAPHY)
    record = f"The {SECRETS['record']} index is 4 % faster than Python. It speaks of the {SECRETS['record']} graph."
    write_records(made, {"stays": "It speaks of the graph and of Python.", "goes": record})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_PARSE__TIMEOUT_SECONDS", "600")  # a busy machine is no failure
        made.build(level=4)
    keep(root)
    return root


@pytest.fixture
def world(built: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """As it was built, at the paths that it was built at."""
    made = put_back(built)
    monkeypatch.setenv("MONJYU_DATA", str(built / "live" / "data"))
    monkeypatch.setenv("MONJYU_PARSE__TIMEOUT_SECONDS", "600")
    assert found_in(texts_in_use(made)) == set(PLACES), "else this test looks in the wrong places"
    return made


def write_records(world: World, records: dict[str, str]) -> None:
    lines = [json.dumps({"id": key, "title": "A record", "text": text}) for key, text in records.items()]
    (world.papers / "records.jsonl").write_text("".join(f"{line}\n" for line in lines))


def take_away(world: World) -> None:
    """The paper, the record and the edited sentences."""
    (world.papers / "secret.md").unlink()
    (world.papers / "secret.bib").unlink()
    (world.papers / "p8.md").write_text(full_paper(8))
    write_records(world, {"stays": "It speaks of the graph and of Python."})


def found_in(texts: Iterator[tuple[Path, str]]) -> set[str]:
    """The places whose words occur, in whatever case."""
    return {place for _, text in texts for place, secret in SECRETS.items() if secret in text.lower()}


def read(path: Path) -> Iterator[tuple[Path, str]]:
    """All that a file holds: its bytes, and its rows where it is a table."""
    yield path, path.read_bytes().decode("latin-1")
    if path.suffix == ".parquet":
        table = pq.read_table(path, partitioning=None)
        yield path, f"{table.to_pylist()} {table.schema.metadata}"
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path), read_only=True) as connection:
            for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                yield path, str(connection.execute(f'SELECT * FROM "{name}"').fetchall())


def read_search(path: Path) -> Iterator[tuple[Path, str]]:
    """Of a search file, the words of the secrets whose terms it has."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
        batch = reader.get_batch(0)
        held = np.concatenate([batch.column(f"{field}_terms").values.to_numpy() for field in FIELDS])
    words = " ".join(SECRETS.values()).split()
    terms = word_terms(words)
    found = [word for word, own in zip(words, terms, strict=True) if own and np.isin(term_hashes(own), held).all()]
    yield path, " ".join(found)


def texts_in_use(world: World) -> Iterator[tuple[Path, str]]:
    """The parts that are current, those of the current snapshot, its database, its search files, and all state."""
    snapshot = open_current(world.work.folder)
    parts = {part.path for name in TABLES for part in world.work.parts.heads(name)}
    parts |= {world.work.parts.path(one.table, one.shard, one.version) for one in snapshot.manifest.parts}
    for path in filter(Path.is_file, [*sorted(parts), *snapshot.folder.rglob("*"), *world.data.state.rglob("*")]):
        yield from read(path)
    base = lancedb.connect(str(world.work.folder.tables(snapshot.id)))
    for name in base.list_tables().tables:
        yield snapshot.folder / name, str(base.open_table(name).to_arrow().to_pylist())
    for entry in snapshot.manifest.search:
        yield from read_search(world.work.folder.search / entry.name)
    snapshot.close()


def all_texts(world: World) -> Iterator[tuple[Path, str]]:
    for folder, _, files in os.walk(world.data.root):
        for file in files:
            yield from read(Path(folder, file))
    for path in world.work.folder.search.iterdir():
        yield from read_search(path)


@pytest.mark.slow
def test_deleted_and_edited_text_leaves_all_that_is_in_use(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.papers / "p8.md").write_text(full_paper(8))
    world.build(level=4)
    assert found_in(texts_in_use(world)) == set(PLACES) - {"edited"}
    take_away(world)
    world.build(level=4)
    assert found_in(texts_in_use(world)) == set()
    assert found_in(all_texts(world)) == set(PLACES), "the snapshot before is kept"
    monkeypatch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "1")
    world.publish()
    assert [path for path, text in all_texts(world) if found_in(iter([(path, text)]))] == []
    assert not any(path.name.startswith("secret-") for path in world.work.folder.root.rglob("*"))


@pytest.mark.slow
def test_deleted_text_leaves_the_levels_that_do_not_follow(world: World) -> None:
    """They say that they are behind, keep what they say of other papers, and are whole again when they are built."""
    before = {paper["paper_id"] for paper in world.tables()["claims"]}
    take_away(world)
    for level in (0, 1, 2):
        world.build(level)
        assert found_in(texts_in_use(world)) == set()
        status = collection_status(world.data, "c")
        assert status["level"] == level
        assert [text.split(":")[0] for text in status["behind"]] == [f"level {one}" for one in range(level + 1, 5)]
        assert status["counts"] == open_current(world.work.folder).manifest.rows
    left = {paper["paper_id"] for paper in world.tables()["claims"]}
    assert left and left < before and "goes" not in left
    edited = {row["paper_id"] for row in world.tables()["papers"] if row["paper_id"].startswith("p8-")}
    assert edited and world.build(level=4)["claims"] == edited
    fresh = world.fresh(world.data.root.parent / "fresh")
    fresh.build(level=4)
    assert differences(world, fresh) == []


@pytest.mark.slow
def test_what_comes_back_is_whole_again(world: World) -> None:
    """The parts that lost rows rest on nothing, so equal inputs do not pass for theirs."""
    kept = {path: path.read_bytes() for path in world.papers.iterdir()}
    take_away(world)
    world.build(level=1)
    for path, content in kept.items():
        path.write_bytes(content)
    world.build(level=1)
    assert collection_status(world.data, "c")["level"] == 1
    world.build(level=4)
    fresh = world.fresh(world.data.root.parent / "fresh")
    fresh.build(level=4)
    assert differences(world, fresh) == []


def test_an_answer_from_before_is_not_served(world: World) -> None:
    """Nor is the paper, its text in any mode of search, nor what lazy search has kept of its judgements."""
    asked = {"query": "Which index is faster than Python in the test?", "collection": "c", "top_k": 10}
    with serving(world.data.root, {}) as (url, _), httpx2.Client(base_url=url, timeout=600, trust_env=False) as client:
        paper_id = next(row["paper_id"] for row in world.tables()["papers"] if row["paper_id"].startswith("secret-"))

        def ask(mode: str) -> str:
            answer = client.post("/search", json=asked | {"mode": mode})
            assert answer.status_code == 200, answer.text
            return answer.text.lower()

        for mode in ("keyword", "lazy", "local", "global"):
            first = ask(mode)
            assert SECRETS["body"] in first or mode in ("local", "global")
            assert ask(mode) == ask(mode), "trace and times too: it is the answer kept"
        assert client.get(f"/papers/{paper_id}", params={"collection": "c"}).status_code == 200
        take_away(world)
        world.build(level=4)
        for mode in ("keyword", "lazy", "local", "global"):
            assert found_in(iter([(world.papers, ask(mode))])) == set()
        assert client.get(f"/papers/{paper_id}", params={"collection": "c"}).status_code == 404
    assert found_in(texts_in_use(world)) == set()

"""Search files are made from parts alone: what did not change stays, and nothing stays of what went."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from monjyu_assets.publishing import search_files
from monjyu_assets.publishing.search_files import LanceTables, publish_search_files
from monjyu_core.errors import StorageError
from monjyu_core.storage.keyword_file import WORDS, SearchFile, open_search_file, term_hashes
from monjyu_core.storage.manifest import EmbeddingEntry, LanceFile, SearchFileEntry
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import TABLES

EMBEDDING = EmbeddingEntry(model="m", dimensions=4, fingerprint="f")
Texts = dict[str, dict[str, str]]
"""By unit and chunk."""
TEXTS: Texts = {
    f"{n}.{m}": {f"c{n}{m}{k}": f"text {n} of trees {m} and walks" for k in range(3)}
    for n in range(4)
    for m in range(3)
}


class Held(Part):
    """A part in memory."""

    def read(self, columns: list[str] | None = None) -> pa.Table:
        return HELD[self.version].select(columns or HELD[self.version].schema.names)


HELD: dict[str, pa.Table] = {}


def parts(texts: Texts) -> list[Part]:
    found: list[Part] = []
    for unit, chunks in texts.items():
        for table, columns in (
            ("chunks", _chunks(chunks)),
            ("chunk_embeddings", {"vector": [_vector(text) for text in chunks.values()]}),
        ):
            given: dict[str, Any] = {"chunk_id": list(chunks), **columns}
            nothing = [None] * len(chunks)
            rows = pa.table(
                {name: given.get(name, nothing) for name in TABLES[table].schema.names}, TABLES[table].schema
            )
            version = f"{table} {unit} {chunks}"
            HELD[version] = rows
            found.append(Held(table, unit, version, Path(), rows.num_rows, ""))
    return found


def _chunks(chunks: dict[str, str]) -> dict[str, list[Any]]:
    count = len(chunks)
    columns: dict[str, list[Any]] = {"header": [""] * count, "text": list(chunks.values())}
    return columns | {"page_start": [1] * count, "ord": list(range(count))}


def _vector(text: str) -> list[float]:
    made = np.random.default_rng(abs(hash(text))).normal(size=4)
    return list((made / np.linalg.norm(made)).astype(np.float32))


@dataclass
class Published:
    """A snapshot's search files and the Lance tables of their chunks."""

    folder: Path
    name: str
    entries: list[SearchFileEntry]
    files: list[LanceFile]

    @property
    def lance(self) -> Path:
        return self.folder / self.name

    @property
    def data(self) -> set[str]:
        return {entry.data for entry in self.entries}

    def opened(self) -> list[SearchFile]:
        return [open_search_file(self.folder, self.lance, entry) for entry in self.entries]

    def rows(self) -> list[dict[str, Any]]:
        return rows_of(self.lance, "chunks")


def rows_of(lance: Path, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = lancedb.connect(str(lance)).open_table(table).to_arrow().to_pylist()
    return sorted(rows, key=lambda row: str(row["chunk_id"]))


def published(folder: Path, texts: Texts, before: Published | None = None) -> Published:
    name = "one" if before is None else f"{before.name}+"
    tables = LanceTables(
        folder / name, before.lance if before else None, before.files if before else (), EMBEDDING.dimensions
    )
    entries = publish_search_files(folder, tables, parts(texts), EMBEDDING, before.entries if before else [])
    return Published(folder, name, entries, tables.listed())


def test_a_change_writes_the_file_of_its_unit_and_equals_a_build_from_nothing(tmp_path: Path) -> None:
    before = published(tmp_path / "grown", TEXTS)
    assert len(before.entries) == len(TEXTS)
    changed = TEXTS | {"1.1": {"c110": "another text"}, "2.0": {}}
    now = published(tmp_path / "grown", changed, before)
    assert len(now.entries) == len(TEXTS) - 1
    assert len({one.name for one in now.entries} - {one.name for one in before.entries}) == 1
    fresh = published(tmp_path / "fresh", changed)
    for entry, other in zip(now.entries, fresh.entries, strict=True):
        assert (tmp_path / "grown" / entry.name).read_bytes() == (tmp_path / "fresh" / other.name).read_bytes()
    for held, other_held in zip(now.opened(), fresh.opened(), strict=True):
        assert np.array_equal(held.vectors, other_held.vectors)
    assert now.rows() == fresh.rows() and len(now.rows()) == sum(map(len, changed.values()))
    assert len(now.data - before.data) == 1, "one data file of Lance is new"
    shared = (now.lance / next(iter(now.data & before.data))).stat()
    assert shared.st_nlink == 2, "what did not change takes no room"
    assert before.rows() == published(tmp_path / "again", TEXTS).rows(), "the older snapshot is as it was"


def test_lance_holds_what_the_parts_hold_and_the_vectors_are_mapped_from_it(tmp_path: Path) -> None:
    now = published(tmp_path, TEXTS, published(tmp_path, TEXTS | {"1.1": {"c110": "another text"}}))
    rows = {row["chunk_id"]: row for row in now.rows()}
    held = pa.concat_tables([part.read() for part in parts(TEXTS) if part.table == "chunks"]).to_pylist()
    assert [{name: row[name] for name in one} for one in held for row in [rows[one["chunk_id"]]]] == held
    for file in now.opened():
        for chunk, vector in zip(file.chunk_ids.to_pylist(), file.vectors, strict=True):
            assert vector.tolist() == rows[chunk]["vector"] == _vector(rows[chunk]["text"])


def test_data_files_that_are_gone_are_written_again(tmp_path: Path) -> None:
    before = published(tmp_path, TEXTS)
    (before.lance / before.entries[3].data).unlink()
    assert published(tmp_path, TEXTS, before).rows() == published(tmp_path / "fresh", TEXTS).rows()


def test_nothing_stays_of_a_text_that_went(tmp_path: Path) -> None:
    texts = TEXTS | {"1.1": TEXTS["1.1"] | {"c1": "the zyzzyva went"}}
    before = published(tmp_path, texts)
    hashed = term_hashes(["zyzzyva"]).tobytes()
    assert sum(hashed in (tmp_path / entry.name).read_bytes() for entry in before.entries) == 1
    now = published(tmp_path, TEXTS, before)
    for entry in now.entries:
        assert hashed not in (tmp_path / entry.name).read_bytes()
        assert b"zyzzyva" not in (tmp_path / entry.name).read_bytes()
    vector = np.array(_vector("the zyzzyva went"), np.float32).tobytes()
    held = [b"".join(path.read_bytes() for path in one.lance.rglob("*") if path.is_file()) for one in (before, now)]
    assert [vector in one for one in held] == [True, False]
    assert {path.name for path in now.lance.rglob("data/*")} == {Path(data).name for data in now.data}


def test_many_units_share_files_and_one_unit_more_moves_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_files, "MOST_FILES", 5)
    before = published(tmp_path, TEXTS)
    assert len(before.entries) <= 5 and sum(entry.rows for entry in before.entries) == sum(map(len, TEXTS.values()))
    now = published(tmp_path, TEXTS | {"9.9": {"new": "a new text"}}, before)
    assert (
        len({one.name for one in now.entries} - {one.name for one in before.entries})
        == 1
        == len(now.data - before.data)
    )


def test_a_file_holds_what_was_put_in(tmp_path: Path) -> None:
    [held] = published(tmp_path, {"1": {"b": "walks of graphs", "a": "walks, walks"}}).opened()
    assert held.chunk_ids.to_pylist() == ["a", "b"] and len(set(held.keys.tolist())) == 2
    assert np.array_equal(held.vectors, np.array([_vector("walks, walks"), _vector("walks of graphs")], np.float32))
    words = held.postings[WORDS]
    place = int(np.searchsorted(words.terms, term_hashes(["walk"])[0]))
    low, high = words.starts[place : place + 2]
    assert words.rows[low:high].tolist() == [0, 1] and words.times[low:high].tolist() == [2, 1]
    assert words.lengths.tolist() == [2, 2]


@pytest.mark.parametrize("damage", [b"", b"ARROW1\0\0", b"x" * 5000])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: bytes) -> None:
    made = published(tmp_path, {"1": {"a": "walks"}})
    [entry] = made.entries
    path = tmp_path / entry.name
    for content in (damage, damage[:1].ljust(entry.size, b"x"), path.read_bytes()[:-1]):
        path.write_bytes(content)
        with pytest.raises(StorageError, match="cannot be read"):
            made.opened()
    path.unlink()
    with pytest.raises(StorageError):
        made.opened()

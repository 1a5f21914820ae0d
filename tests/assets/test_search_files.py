"""Search files are made from parts alone: what did not change stays, and nothing stays of what went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from monjyu_assets.search_index import search_files
from monjyu_assets.search_index.search_files import publish_search_files
from monjyu_core.errors import StorageError
from monjyu_core.search_files.postings import term_hashes
from monjyu_core.search_files.search_file import WORDS, open_search_file
from monjyu_core.storage.manifest import EmbeddingEntry, SearchFileEntry
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import empty

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
            rows = pa.table({"chunk_id": list(chunks), **columns}) if chunks else empty(table)
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


def published(folder: Path, texts: Texts, before: list[SearchFileEntry] | None = None) -> list[SearchFileEntry]:
    return publish_search_files(folder, parts(texts), EMBEDDING, before or [])


def test_a_change_writes_the_file_of_its_unit_and_equals_a_build_from_nothing(tmp_path: Path) -> None:
    before = published(tmp_path / "grown", TEXTS)
    assert len(before) == len(TEXTS)
    changed = TEXTS | {"1.1": {"c110": "another text"}, "2.0": {}}
    now = published(tmp_path / "grown", changed, before)
    assert len(now) == len(TEXTS) - 1 and len({one.name for one in now} - {one.name for one in before}) == 1
    fresh = published(tmp_path / "fresh", changed)
    assert now == fresh
    for entry in now:
        assert (tmp_path / "grown" / entry.name).read_bytes() == (tmp_path / "fresh" / entry.name).read_bytes()


def test_nothing_stays_of_a_text_that_went(tmp_path: Path) -> None:
    texts = TEXTS | {"1.1": TEXTS["1.1"] | {"c1": "the zyzzyva went"}}
    before = published(tmp_path, texts)
    hashed = term_hashes(["zyzzyva"]).tobytes()
    assert sum(hashed in (tmp_path / entry.name).read_bytes() for entry in before) == 1
    for entry in published(tmp_path, TEXTS, before):
        assert hashed not in (tmp_path / entry.name).read_bytes()
        assert b"zyzzyva" not in (tmp_path / entry.name).read_bytes()


def test_many_units_share_files_and_one_unit_more_moves_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_files, "MOST_FILES", 5)
    before = published(tmp_path, TEXTS)
    assert len(before) <= 5 and sum(entry.rows for entry in before) == sum(map(len, TEXTS.values()))
    now = published(tmp_path, TEXTS | {"9.9": {"new": "a new text"}}, before)
    assert len({one.name for one in now} - {one.name for one in before}) == 1


def test_a_file_holds_what_was_put_in(tmp_path: Path) -> None:
    [entry] = published(tmp_path, {"1": {"b": "walks of graphs", "a": "walks, walks"}})
    held = open_search_file(tmp_path / entry.name, entry.size)
    assert held.chunk_ids.to_pylist() == ["a", "b"] and len(set(held.keys.tolist())) == 2
    assert np.array_equal(held.vectors, np.array([_vector("walks, walks"), _vector("walks of graphs")], np.float32))
    words = held.postings[WORDS]
    place = int(np.searchsorted(words.terms, term_hashes(["walk"])[0]))
    low, high = words.starts[place : place + 2]
    assert words.rows[low:high].tolist() == [0, 1] and words.times[low:high].tolist() == [2, 1]
    assert words.lengths.tolist() == [2, 2]


@pytest.mark.parametrize("damage", [b"", b"ARROW1\0\0", b"x" * 5000])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: bytes) -> None:
    [entry] = published(tmp_path, {"1": {"a": "walks"}})
    path = tmp_path / entry.name
    for content in (damage, damage[:1].ljust(entry.size, b"x"), path.read_bytes()[:-1]):
        path.write_bytes(content)
        with pytest.raises(StorageError, match="cannot be read"):
            open_search_file(path, entry.size)
    path.unlink()
    with pytest.raises(StorageError):
        open_search_file(path, entry.size)

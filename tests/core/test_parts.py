"""Parts: content-named, immutable, and whole after a crash between two HEADs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monjyu_core.errors import StorageError
from monjyu_core.storage.parts import PartStore, data_version, file_version
from monjyu_core.storage.schemas import ASSET_TABLES, TABLES, empty


def chunk_rows(*texts: str) -> pa.Table:
    rows = [{"chunk_id": f"c{number}", "paper_id": "p", "ord": number, "text": t} for number, t in enumerate(texts)]
    return pa.Table.from_pylist(rows, TABLES["chunks"].schema)


def write(store: PartStore, *texts: str, inputs: dict[str, str] | None = None) -> str:
    tables = {"chunks": chunk_rows(*texts), "chunk_sentences": empty("chunk_sentences")}
    return store.write("chunks", "0", tables, inputs=inputs or {}, code_version="1").version


def test_a_part_is_named_by_its_bytes_and_read_back(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    write(store, "one", "two")
    head = store.head("chunks", "0")
    assert head is not None
    assert file_version(head.path) == head.version
    assert head.read(["text"])["text"].to_pylist() == ["one", "two"]
    assert head.rows == 2


def test_equal_rows_in_another_order_are_the_same_part(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    first = write(store, "one", "two")
    rows = chunk_rows("one", "two")
    tables = {"chunks": rows.take([1, 0]), "chunk_sentences": empty("chunk_sentences")}
    second = store.write("chunks", "0", tables, inputs={}, code_version="1")
    assert second.version == first
    assert len(list((tmp_path / "chunks" / "shard=0").glob("*.parquet"))) == 1


def test_data_version_leaves_paths_and_times_out() -> None:
    row = {"paper_id": "p", "sha256": "x", "document_type": "txt", "size": 1, "source_path": "a", "mtime_ns": 1}
    moved = row | {"source_path": "b", "mtime_ns": 2}
    edited = row | {"sha256": "y"}
    one, two, three = (pa.Table.from_pylist([r], TABLES["manifest"].schema) for r in (row, moved, edited))
    assert data_version("manifest", one) == data_version("manifest", two) != data_version("manifest", three)


def test_the_same_rows_of_other_inputs_are_another_part_of_the_same_data(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    write(store, "one", inputs={"parsed_papers": "1"})
    before = store.head("chunks", "0")
    write(store, "one", inputs={"parsed_papers": "2"})
    after = store.head("chunks", "0")
    assert before and after
    assert before.version != after.version
    assert before.asset_version == after.asset_version


def test_a_crash_between_two_heads_leaves_the_old_set(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    tables = {name: empty(name) for name in ASSET_TABLES["parsed_papers"]}
    old = store.write("parsed_papers", "0", tables, inputs={"paper_manifest": "1"}, code_version="1")
    sections = pa.Table.from_pylist(
        [{"paper_id": "p", "section_ord": 0, "heading": "h", "level": 1, "section_type": "other", "text": "t"}],
        TABLES["sections"].schema,
    )
    store.write("parsed_papers", "0", tables | {"sections": sections}, inputs={"paper_manifest": "2"}, code_version="1")
    (tmp_path / "papers" / "shard=0" / "HEAD").write_text(old.version)  # as if the last HEAD had not been written
    head = store.head("sections", "0")
    assert head is not None
    assert head.rows == 0


def test_a_missing_part_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    write(store, "one")
    head = store.head("chunks", "0")
    assert head is not None
    head.path.unlink()
    with pytest.raises(StorageError, match="ndex the collection again"):
        PartStore(tmp_path / ".." / tmp_path.name).head("chunks", "0")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=20), max_size=8))
def test_data_version_depends_on_the_rows_alone(texts: list[str]) -> None:
    rows = chunk_rows(*texts)
    sliced = pa.concat_tables([rows.slice(0, 2), rows.slice(2)])
    assert data_version("chunks", rows) == data_version("chunks", sliced.combine_chunks())
    changed = chunk_rows(*texts, "more")
    assert data_version("chunks", rows) != data_version("chunks", changed)

"""The row records: tables follow from them, and readers that name some columns are held to the table's types."""

from __future__ import annotations

from typing import TypedDict

import pyarrow as pa
import pytest

from monjyu_core.storage.schemas import TABLES, columns_of, table_of
from monjyu_core.storage.table_spec import BigInt, Float32, schema_of


class _Place(TypedDict):
    page: int
    boxes: list[list[Float32]]


class _Row(TypedDict):
    name: str
    known: bool
    weight: float
    size: BigInt | None
    places: list[_Place]


class _Chunk(TypedDict):
    chunk_id: str
    tokens: int


class _TokensAsText(TypedDict):
    tokens: str


class _NoColumn(TypedDict):
    colour: str


class _NoType(TypedDict):
    rows: dict[str, str]


def test_a_schema_has_the_columns_of_its_record_in_order() -> None:
    place = pa.struct([("page", pa.int32()), ("boxes", pa.list_(pa.list_(pa.float32())))])
    columns = [("name", pa.string()), ("known", pa.bool_()), ("weight", pa.float64()), ("size", pa.int64())]
    assert schema_of(_Row) == pa.schema([*columns, ("places", pa.list_(place))])


def test_every_table_has_a_record_with_its_keys() -> None:
    for name, spec in TABLES.items():
        assert spec.schema.names == list(spec.row.__annotations__), name
        assert {*spec.keys, *spec.unhashed} <= set(spec.schema.names), name


def test_a_type_without_a_column_type_is_refused() -> None:
    with pytest.raises(TypeError, match="dict"):
        schema_of(_NoType)


def test_a_reader_names_columns_of_the_table_with_their_types() -> None:
    assert columns_of("chunks", _Chunk) == ["chunk_id", "tokens"]
    with pytest.raises(TypeError, match="chunks has no column tokens of string"):
        columns_of("chunks", _TokensAsText)
    with pytest.raises(TypeError, match="colour"):
        columns_of("chunks", _NoColumn)


def test_a_column_that_a_row_lacks_is_null() -> None:
    assert table_of("community_members", [{"phrase": "graph"}]).to_pylist() == [
        {"community_id": None, "phrase": "graph"}
    ]

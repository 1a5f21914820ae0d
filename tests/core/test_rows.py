"""The row records: tables follow from them, and readers that name some columns are held to the table's types."""

from __future__ import annotations

from types import NoneType
from typing import Annotated, TypedDict, get_args, get_type_hints

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


class _Said(TypedDict):
    size: Annotated[BigInt | None, "Bytes; null where not known."]
    name: Annotated[str, "The name."]


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


def test_every_column_says_what_it_holds() -> None:
    """In a sentence that ends; a column that may be null says what that means, and one that says so may be null."""
    for name, spec in TABLES.items():
        hints = get_type_hints(spec.row)
        assert list(spec.descriptions) == spec.schema.names, name
        for column, said in spec.descriptions.items():
            assert said.endswith(".") and "|" not in said and len(said) <= 110, (name, column, said)
            assert ("null" in said.casefold()) == (NoneType in get_args(hints[column])), (name, column, said)


def test_every_table_says_what_a_row_is() -> None:
    inherited = TypedDict.__doc__
    for name, spec in TABLES.items():
        assert spec.row_is.endswith(".") and spec.row_is != inherited, name
        assert spec.row_is.split()[0] in ("One", "Two", "The", "What"), (name, spec.row_is)


def test_words_stay_out_of_the_schema() -> None:
    """Parts hold the schema: a word more would change every one of them."""
    assert not any(field.metadata for spec in TABLES.values() for field in spec.schema)
    assert schema_of(_Said) == pa.schema([("size", pa.int64()), ("name", pa.string())])


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

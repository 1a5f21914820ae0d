"""What a table is: its columns, keys, the asset that writes it, its level."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TEXT, INT, BOOL = pa.string(), pa.int32(), pa.bool_()
TEXTS = pa.list_(TEXT)
BOX = pa.list_(pa.float32())
SPANS = pa.list_(pa.struct([("page", INT), ("boxes", pa.list_(BOX))]))
CONTEXTS = pa.list_(pa.struct([("section", TEXT), ("context", TEXT)]))

SHARDS = tuple("0123456789abcdef")
COLLECTION_SHARD = "all"


@dataclass(frozen=True)
class TableSpec:
    """One table. `keys` identify a row; `unhashed` columns (times, paths) do not count in the data version.

    A table with a `view` is not stored: the snapshot's database derives it from others by that query.
    """

    name: str
    asset: str
    level: int
    schema: pa.Schema
    keys: tuple[str, ...]
    unhashed: tuple[str, ...] = ()
    by_shard: bool = True
    served: bool = True  # stands in the snapshot's index.duckdb
    view: str = ""

    @property
    def shards(self) -> tuple[str, ...]:
        """The shards its parts lie in: the sixteen, or the one of tables that a whole collection writes."""
        return SHARDS if self.by_shard else (COLLECTION_SHARD,)

    @property
    def hashed(self) -> list[str]:
        return [name for name in self.schema.names if name not in self.unhashed]


def table(name: str, asset: str, columns: dict[str, pa.DataType], keys: tuple[str, ...], **more: object) -> TableSpec:
    """A table of level 0 unless another is given."""
    values = {"level": 0} | more
    return TableSpec(name, asset, schema=pa.schema(list(columns.items())), keys=keys, **values)  # type: ignore[arg-type]

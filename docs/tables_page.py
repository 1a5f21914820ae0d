"""Writes docs/tables.md from the schemas (`python docs/tables_page.py`); a test compares the page with them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from monjyu_core.storage.schemas import LEVEL_NAMES, TABLES
from monjyu_core.storage.table_spec import TableSpec

PAGE = Path(__file__).with_name("tables.md")
SQL = {
    pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN",
    pa.uint16(): "USMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
}
HEAD = """# The tables

`python docs/tables_page.py` writes this page from `schemas.py` and the row modules (`rows_papers.py`,
`rows_matching.py`, `rows_levels.py`) in `monjyu_core/storage/`.
[dagster.md](dagster.md#the-tables-in-your-own-tools) shows how to open the tables.

A snapshot's `index.duckdb` contains the tables of the published levels.
Tables of papers and chunks have an additional column there, `shard`.
From level 1 on, `community_lineage` (`graph`, `community_id`, `rank`, `previous_id`, `shared`, `jaccard`) lists for
each community those of the previous snapshot that it overlaps most.
The vectors of chunks are not in the database but in the snapshot's Lance tables.

## The Lance tables

Each published snapshot has a folder `lance`, which any program can open with `lancedb.connect`.
It contains the tables `chunks`, from level 3 `reports` (the rows of `community_reports`) and from level 4 `claims`.
Each has the columns of its table below, `vector` (of length 1; zeros for a text that could not be embedded) and `part`
(equal for rows from the same file).

```python
from pathlib import Path

import lancedb

collection = Path("data/index/samples")
snapshot = collection / "snapshots" / (collection / "CURRENT").read_text().strip()
chunks = lancedb.connect(snapshot / "lance").open_table("chunks")
one = chunks.search().limit(1).to_list()[0]
near = chunks.search(one["vector"]).distance_type("dot").limit(3).to_list()
for found in near:
    print(found["paper_id"], found["header"], found["text"][:60])
```

A snapshot's tables never change: a publish writes new ones, which share the files of unchanged rows.
Do not write to them, because Monjyu's searches read the vectors from the same files.

Columns in **bold** identify a row.
"""


def sql_type(kind: pa.DataType) -> str:
    """A column's type as DuckDB names it."""
    if pa.types.is_list(kind):
        return f"{sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return f"STRUCT({', '.join(f'{field.name} {sql_type(field.type)}' for field in kind)})"
    return SQL[kind]


def section(spec: TableSpec) -> str:
    written = "Derived, not stored" if spec.view else f"Written by `{spec.asset}`"
    where = "" if spec.served else "; not in `index.duckdb`"
    lines = [f"### {spec.name}", "", f"{spec.row_is} {written}{where}.", ""]
    lines += ["| column | type | contents |", "| --- | --- | --- |"]
    for field in spec.schema:
        name = f"**{field.name}**" if field.name in spec.keys else field.name
        lines.append(f"| {name} | {sql_type(field.type)} | {spec.descriptions[field.name]} |")
    return "\n".join(lines)


def page() -> str:
    parts = [HEAD]
    for level, name in enumerate(LEVEL_NAMES):
        parts.append(f"## Level {level}: {name.split('_', 2)[2]}\n")
        parts += [section(spec) + "\n" for spec in TABLES.values() if spec.level == level]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

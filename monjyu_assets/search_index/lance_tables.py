"""The Lance tables of a snapshot, which any program opens with `lancedb.connect`: chunks, reports and claims.

Each group of parts is one fragment, in a data file that never changes. A snapshot's table begins as hard links to the
files of the table before; fragments of groups that changed are replaced, and what the table names no longer is removed
from it. So a publish writes what changed, each snapshot has a folder of its own, and a text that went stays in no table
but those of older snapshots.
"""

from __future__ import annotations

import mmap
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_core.errors import IndexBuildError
from monjyu_core.storage.folders import link_or_copy
from monjyu_core.storage.ids import digest, file_sha256
from monjyu_core.storage.manifest import LanceFile
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import TABLES

WITH_VECTORS = {"reports": ("community_reports", "report_embeddings"), "claims": ("claims", "claim_embeddings")}
"""Tables of Lance, by the table of their rows and that of their vectors. That of chunks is written with the search
files, which share its order."""
PART = "part"
"""The column that names a row's group."""

Rows = Callable[[], pa.Table]
Heard = Callable[[LanceFile], None]


class LanceTables:
    """The tables of a snapshot that is being built in the folder `lance`. `before` is the folder of those of an older
    snapshot, whose files `known` are."""

    def __init__(self, lance: Path, before: Path | None, known: Sequence[LanceFile], dimensions: int) -> None:
        self.lance, self._before, self._dimensions = lance, before, dimensions
        self._known = known if before is not None else ()
        self.files: list[LanceFile] = []
        """The data files that were written or kept so far."""

    def write(self, name: str, table: str, groups: Mapping[str, Rows], written: Heard = lambda _: None) -> None:
        """Write `name` with the rows of these groups of a table of the database. Data files of groups that the older
        snapshot has are kept; of each other one `written` hears."""
        known = {file.group: file for file in self._known if file.path.startswith(f"{name}.lance/") and file.group}
        before, folder = self._before, self.lance / f"{name}.lance"
        whole = before is not None and all((before / file.path).is_file() for file in known.values())
        kept = {group: file for group, file in known.items() if group in groups} if whole else {}
        if kept and before is not None:
            _link(before / folder.name, folder)
        if len(kept) < max(len(groups), len(known), 1):
            self._change(folder, table, known.keys() - kept.keys() if kept else (), groups, kept, written)
        self.files += kept.values()

    def _change(
        self,
        folder: Path,
        table: str,
        gone: Collection[str],
        groups: Mapping[str, Rows],
        kept: dict[str, LanceFile],
        written: Heard,
    ) -> None:
        import lancedb

        self.lance.mkdir(parents=True, exist_ok=True)
        base = lancedb.connect(str(self.lance))
        if kept:
            rows = base.open_table(folder.stem)
        else:
            rows = base.create_table(folder.stem, schema=_schema(table, self._dimensions))
        if gone:
            rows.delete(f"{PART} IN ({', '.join(repr(group) for group in sorted(gone))})")
        for group in sorted(groups.keys() - kept.keys()):
            there = _data_files(folder)
            added = groups[group]()
            rows.add(added.append_column(PART, pa.repeat(group, len(added))).cast(rows.schema))
            [path] = _data_files(folder) - there
            kept[group] = LanceFile(**_seen(self.lance, path), group=group)
            written(kept[group])
        _drop_unnamed(folder)

    def listed(self) -> list[LanceFile]:
        """All files of the tables."""
        data = {file.path for file in self.files}
        others = sorted(path for path in self.lance.rglob("*") if path.is_file())
        more = [
            LanceFile(**_seen(self.lance, path)) for path in others if str(path.relative_to(self.lance)) not in data
        ]
        return [*self.files, *more]


def _schema(table: str, dimensions: int) -> pa.Schema:
    """The columns of a table of the database, the vector and the group."""
    vector = pa.field("vector", pa.list_(pa.float32(), dimensions), nullable=False)
    return pa.schema([*TABLES[table].schema, vector, pa.field(PART, pa.string())])


def _seen(lance: Path, path: Path) -> dict[str, Any]:
    return {"path": path.relative_to(lance).as_posix(), "size": path.stat().st_size, "sha256": file_sha256(path)}


def write_with_vectors(tables: LanceTables, parts: Sequence[Part], dimensions: int) -> None:
    """Write the tables of reports and of claims, where the levels that write them are among the parts."""
    for name, (table, embeddings) in WITH_VECTORS.items():
        found = {(part.table, part.shard): part for part in parts}
        pairs = [(part, found[embeddings, part.shard]) for part in parts if part.table == table and part.rows]
        groups = {
            digest(rows.version, held.version, length=32): partial(_joined, rows, held, dimensions)
            for rows, held in pairs
        }
        if any(part.table == table for part in parts):
            tables.write(name, table, groups)


def _joined(rows: Part, vectors: Part, dimensions: int) -> pa.Table:
    """The rows of a part with their vectors."""
    key = TABLES[rows.table].keys[0]
    table = rows.read().sort_by(key).combine_chunks()
    return table.append_column(
        "vector", vector_column(vectors_of(table[key], vectors.read([key, "vector"]), dimensions))
    )


def vectors_of(ids: pa.ChunkedArray, held: pa.Table, dimensions: int) -> NDArray[np.float32]:
    """The vectors (n, d) of these ids from a table whose first column has ids; zero where there is none."""
    found = np.zeros((len(ids), dimensions), np.float32)
    places = pc.index_in(ids, value_set=held.column(0).combine_chunks()).combine_chunks()
    there = pc.is_valid(places).to_numpy(zero_copy_only=False)
    vectors = held["vector"].combine_chunks().take(places.drop_null())
    found[there] = np.asarray(vectors.flatten(), np.float32).reshape(-1, dimensions)
    return found


def vector_column(vectors: NDArray[np.float32]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])


def _data_files(folder: Path) -> set[Path]:
    return set((folder / "data").glob("*"))


def _link(source: Path, target: Path) -> None:
    """A copy of a table that shares its data files, which never change."""
    for path in filter(Path.is_file, source.rglob("*")):
        to = target / path.relative_to(source)
        if path.parent.name == "data":
            link_or_copy(path, to)
        else:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def _drop_unnamed(folder: Path) -> None:
    """Remove all but the newest version of a table and the files that it names: Lance has no call that does this
    without writing all rows again."""
    newest = min((folder / "_versions").glob("*.manifest"), key=lambda path: path.name)  # names count down
    named = newest.read_bytes()
    for path in (path for path in folder.rglob("*") if path.is_file()):
        if path != newest and path.suffix != ".json" and path.name.encode() not in named:
            path.unlink()


def vectors_at(path: Path, vectors: NDArray[np.float32]) -> int:
    """Where in a data file these vectors (n, d) are, one after the other as they are in memory: readers map them."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        wanted = vectors.tobytes()
        place = held.find(wanted[:64])
        while place >= 0 and held[place : place + len(wanted)] != wanted:
            place = held.find(wanted[:64], place + 1)
    if place < 0:
        raise IndexBuildError(f"Lance wrote the vectors of {path.name} in a form that readers cannot map.")
    return place

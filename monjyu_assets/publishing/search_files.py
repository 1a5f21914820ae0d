"""Writes the search files and the Lance tables of a snapshot. Those of unchanged parts are reused, the others are
written from the parts, so that no file of the new snapshot contains a deleted or edited text.
"""

import hashlib
import mmap
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_core.errors import IndexBuildError
from monjyu_core.storage.folders import link_or_copy
from monjyu_core.storage.ids import digest, file_sha256
from monjyu_core.storage.keyword_file import GRAMS, LAYOUT, WORDS, SearchFile, make_postings, write_search_file
from monjyu_core.storage.manifest import EmbeddingEntry, LanceFile, SearchFileEntry
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import TABLES
from monjyu_core.text.search_text import VERSION as TERMS
from monjyu_core.text.search_text import search_grams, search_words, word_terms
from monjyu_core.values import Values

# The Lance tables of a snapshot, which any program can open with `lancedb.connect`: chunks, reports and claims.
# Each group of parts is one fragment, in a data file that never changes. A snapshot's table begins as hard links to
# the files of the previous table; fragments of changed groups are replaced, and files that the table no longer names
# are removed. So a publish writes only changes, each snapshot has its own folder, and deleted text is only in the
# tables of older snapshots.
WITH_VECTORS = {"reports": ("community_reports", "report_embeddings"), "claims": ("claims", "claim_embeddings")}
"""The Lance tables, each with the table of its rows and that of its vectors. The table of chunks is not here, because
it is written together with the search files, which have the same order."""
PART = "part"
"""The name of the column with a row's group."""

Rows = Callable[[], pa.Table]
Heard = Callable[[LanceFile], None]


class LanceTables:
    """Writes the tables of a snapshot into the folder `lance`. `before` is the folder of an older snapshot's tables,
    and `known` lists its files."""

    def __init__(self, lance: Path, before: Path | None, known: Sequence[LanceFile], dimensions: int) -> None:
        self.lance, self._before, self._dimensions = lance, before, dimensions
        self._known = known if before is not None else ()
        self.files: list[LanceFile] = []
        """The data files that were written or reused so far."""

    def write(self, name: str, table: str, groups: Mapping[str, Rows], written: Heard = lambda _: None) -> None:
        """Write the Lance table `name` with the rows of `groups`, which are rows of the database's `table`. Data files
        of groups in the older snapshot are reused; `written` is called for each new one."""
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
        from monjyu_core.lance import lancedb

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
            kept[group] = LanceFile(**_file_entry(self.lance, path), group=group)
            written(kept[group])
        _drop_unnamed(folder)

    def listed(self) -> list[LanceFile]:
        """All files of the tables: first the data files, then the others."""
        data = {file.path for file in self.files}
        others = sorted(path for path in self.lance.rglob("*") if path.is_file())
        more = [
            LanceFile(**_file_entry(self.lance, path))
            for path in others
            if str(path.relative_to(self.lance)) not in data
        ]
        return [*self.files, *more]


def _schema(table: str, dimensions: int) -> pa.Schema:
    """The columns of a table of the database, with the vector and the group."""
    vector = pa.field("vector", pa.list_(pa.float32(), dimensions), nullable=False)
    return pa.schema([*TABLES[table].schema, vector, pa.field(PART, pa.string())])


def _file_entry(lance: Path, path: Path) -> Values:
    return {"path": path.relative_to(lance).as_posix(), "size": path.stat().st_size, "sha256": file_sha256(path)}


def write_with_vectors(tables: LanceTables, parts: Sequence[Part], dimensions: int) -> None:
    """Write the Lance tables of reports and claims, if `parts` contain these levels."""
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
    """The vectors (n, d) of `ids` from a table whose first column has ids; zero for a missing one."""
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
    """Copy a table; its data files, which never change, are hard links."""
    for path in filter(Path.is_file, source.rglob("*")):
        to = target / path.relative_to(source)
        if path.parent.name == "data":
            link_or_copy(path, to)
        else:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def _drop_unnamed(folder: Path) -> None:
    """Remove old versions of a table and files that it does not name. Lance's own call rewrites all rows."""
    newest = min((folder / "_versions").glob("*.manifest"), key=lambda path: path.name)  # names count down
    named = newest.read_bytes()
    for path in (path for path in folder.rglob("*") if path.is_file()):
        if path != newest and path.suffix != ".json" and path.name.encode() not in named:
            path.unlink()


def vectors_at(path: Path, vectors: NDArray[np.float32]) -> int:
    """The offset of `vectors` (n, d), which readers map. Raises IndexBuildError unless they are consecutive."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        wanted = vectors.tobytes()
        place = held.find(wanted[:64])
        while place >= 0 and held[place : place + len(wanted)] != wanted:
            place = held.find(wanted[:64], place + 1)
    if place < 0:
        raise IndexBuildError(f"Lance wrote the vectors of {path.name} in a form that readers cannot map.")
    return place


MOST_FILES = 256
"""The maximum number of files. More units than this share files, because a question reads every file."""
HEADER_WEIGHT = 3
"""The number of times that the header is in the full text: the repetition of a field is its weight in BM25 (Robertson,
Zaragoza and Taylor 2004, "Simple BM25 extension to multiple weighted fields")."""

Unit = tuple[Part, Part]
"""The part with a bucket's chunks, and the part with their vectors."""


def publish_search_files(
    folder: Path,
    tables: LanceTables,
    parts: Sequence[Part],
    embedding: EmbeddingEntry,
    before: Sequence[SearchFileEntry],
) -> list[SearchFileEntry]:
    """Write the search files of `parts` and the Lance table of their chunks. Files of `before` with equal contents are
    reused. Return the entries of the search files."""
    groups: dict[str, list[Unit]] = {}
    for units in _groups(parts):
        versions = [part.version for unit in units for part in unit]
        groups[digest(LAYOUT, TERMS, embedding.fingerprint, *versions, length=32)] = units
    entries = {entry.made_from: entry for entry in before}
    made: dict[str, SearchFile] = {}

    def rows(made_from: str) -> pa.Table:
        chunks, made[made_from] = _search_file(groups[made_from], embedding.dimensions)
        return chunks

    def written(data: LanceFile) -> None:
        entries[data.group] = _written(folder, tables.lance, data, made.pop(data.group))

    folder.mkdir(parents=True, exist_ok=True)
    tables.write("chunks", "chunks", {made_from: partial(rows, made_from) for made_from in groups}, written)
    return [entries[made_from] for made_from in groups]


def _groups(parts: Sequence[Part]) -> list[list[Unit]]:
    """The units that have chunks, by file. Each unit has its own file, or shares one by the hash of its name. This
    depends on the number of all units, including empty ones, so that a new paper moves no unit.
    """
    chunks = {part.shard: part for part in parts if part.table == "chunks"}
    vectors = {part.shard: part for part in parts if part.table == "chunk_embeddings"}
    groups: dict[str, list[Unit]] = {}
    for unit in sorted(chunks):
        if chunks[unit].rows:
            file = unit if len(chunks) <= MOST_FILES else f"{int(digest(unit), 16) % MOST_FILES:04d}"
            groups.setdefault(file, []).append((chunks[unit], vectors[unit]))
    return [groups[file] for file in sorted(groups)]


def _written(folder: Path, lance: Path, data: LanceFile, held: SearchFile) -> SearchFileEntry:
    name = write_search_file(folder, held)
    return SearchFileEntry(
        name=name,
        made_from=data.group,
        rows=len(held),
        size=(folder / name).stat().st_size,
        data=data.path,
        offset=vectors_at(lance / data.path, held.vectors),
    )


def _search_file(units: Sequence[Unit], dimensions: int) -> tuple[pa.Table, SearchFile]:
    """The rows of the chunks with their vectors, and the search file of the chunks."""
    texts = pa.concat_tables([chunks.read() for chunks, _ in units]).sort_by("chunk_id").combine_chunks()
    held = pa.concat_tables([vectors.read(["chunk_id", "vector"]) for _, vectors in units])
    ids = _combined(texts["chunk_id"])
    matrix = vectors_of(texts["chunk_id"], held, dimensions)  # zero if a chunk could not be embedded
    full = list(_full_texts(texts["header"].to_pylist(), texts["text"].to_pylist()))
    words = pa.array(map(search_words, full), pa.string())
    grams = pa.array(map(search_grams, full), pa.string())
    postings = {
        WORDS: make_postings(words, word_terms),
        GRAMS: make_postings(grams, lambda pieces: [[piece] if piece else [] for piece in pieces]),
    }
    return texts.append_column("vector", vector_column(matrix)), SearchFile(
        chunk_ids=ids,
        headers=_combined(pc.fill_null(texts["header"], "")),
        texts=_combined(texts["text"]),
        pages=_combined(pc.fill_null(texts["page_start"], 0)).to_numpy().astype(np.int32),
        ords=_combined(texts["ord"]).to_numpy().astype(np.int32),
        keys=_keys(ids, matrix),
        vectors=matrix,
        postings=postings,
    )


def _full_texts(headers: Sequence[str | None], bodies: Sequence[str]) -> Iterator[str]:
    for header, body in zip(headers, bodies, strict=True):
        yield "\n".join([*([header] * HEADER_WEIGHT if header else []), body])


def _keys(ids: pa.StringArray, vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    raw = (
        hashlib.blake2b(chunk_id.encode() + vector.tobytes(), digest_size=8).digest()
        for chunk_id, vector in zip(ids.to_pylist(), vectors, strict=True)
    )
    return np.frombuffer(b"".join(raw), "<u8").astype(np.uint64)


def _combined(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole

"""Checks that must pass before a snapshot is published: queries over the parts, any row of which blocks it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import EmbeddingEntry, PartEntry
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import TABLES, empty

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class CheckResult:
    """A check, whether it passed, and the number of rows that violate it, with some of their ids."""

    name: str
    passed: bool
    count: int
    examples: list[str]
    hint: str = ""
    """What the user can do if it fails."""


CHECKS: dict[str, tuple[str, str]] = {
    "papers_counted": (
        "Every paper of the manifest is parsed or a failure, and nothing else is.",
        "SELECT paper_id FROM manifest FULL JOIN (SELECT paper_id FROM papers UNION ALL SELECT paper_id FROM failures) "
        "USING (paper_id) GROUP BY paper_id HAVING count(*) <> 1 OR count(manifest.sha256) <> 1",
    ),
    "ids_unique": (
        "No two papers, sentences or chunks have the same id.",
        "SELECT sentence_id FROM sentences GROUP BY sentence_id "
        "HAVING count(*) > 1 OR NOT starts_with(sentence_id, any_value(paper_id) || '.s')",
    ),
    "no_orphans": (
        "Every section, sentence, chunk and link belongs to a row that exists.",
        "SELECT paper_id FROM sections ANTI JOIN papers USING (paper_id) UNION ALL "
        "SELECT sentence_id FROM sentences ANTI JOIN sections USING (paper_id, section_ord) UNION ALL "
        "SELECT chunk_id FROM chunks ANTI JOIN papers USING (paper_id) UNION ALL "
        "SELECT sentence_id FROM chunk_sentences ANTI JOIN sentences USING (sentence_id) UNION ALL "
        "SELECT chunk_id FROM chunk_sentences ANTI JOIN chunks USING (chunk_id) UNION ALL "
        "SELECT chunk_id FROM chunks ANTI JOIN chunk_sentences USING (chunk_id)",
    ),
    "text_not_empty": (
        "No chunk or sentence is empty.",
        "SELECT chunk_id FROM chunks WHERE trim(text) = '' UNION ALL "
        "SELECT sentence_id FROM sentences WHERE trim(text) = ''",
    ),
    "embeddings_complete": (
        "Every chunk has one vector of its own text or is recorded as a failure, and every vector has a chunk.",
        "SELECT chunk_id FROM chunks FULL JOIN chunk_embeddings AS e USING (chunk_id) "
        "LEFT JOIN embedding_failures AS f USING (chunk_id) "
        "WHERE (e.input_hash IS DISTINCT FROM chunks.input_hash) = (f.chunk_id IS NULL)",
    ),
    "dimensions": (
        "All vectors have the model's dimensions and length one, and are finite.",
        "SELECT chunk_id FROM chunk_embeddings WHERE len(vector) <> $dimensions OR model <> $model "
        "OR NOT coalesce(abs(list_sum(list_transform(vector, lambda x: x * x)) - 1) < 0.01, false)",
    ),
    "levels_fit": (
        "Every mention, relationship, report and claim of levels 2 to 4 refers to existing chunks and sentences.",
        "SELECT chunk_id FROM entity_mentions ANTI JOIN chunks USING (chunk_id) UNION ALL "
        "SELECT claim_id FROM claims ANTI JOIN chunks USING (chunk_id) UNION ALL "
        "SELECT claim_id FROM (SELECT claim_id, unnest(sentence_ids) AS sentence_id FROM claims) "
        "ANTI JOIN sentences USING (sentence_id)",
    ),
    "fits_window": (
        "No chunk with its header exceeds the window of the embedding model.",
        "SELECT chunk_id FROM chunks WHERE pieces > $window",
    ),
}
"""All checks by name: the condition, and the query for the ids of rows that violate it."""


WHOLE: dict[str, str] = {
    "ids_unique": "SELECT id FROM (SELECT paper_id AS id FROM manifest UNION ALL SELECT chunk_id FROM chunks) "
    "GROUP BY id HAVING count(*) > 1",
    "levels_fit": "SELECT relationship_id FROM relationships ANTI JOIN entities ON entity_id = source_id UNION ALL "
    "SELECT relationship_id FROM relationships ANTI JOIN entities ON entity_id = target_id UNION ALL "
    "SELECT community_id FROM (SELECT community_id, unnest(paper_ids) AS paper_id FROM community_reports) "
    "ANTI JOIN papers USING (paper_id)",
}
"""Additional queries over the whole collection. All rows that depend on a single paper are in its bucket, so the other
queries run bucket by bucket. A sentence's id contains that of its paper, so it can be duplicated only within a
bucket."""


OF_THE_WHOLE = ("manifest", "papers", "chunks", "entities", "relationships", "community_reports")
"""The tables that the queries in `WHOLE` read. Another table in one of them is an error, not an empty table."""
STORED = frozenset(name for name, spec in TABLES.items() if not spec.view)


def checks_key(embedding: EmbeddingEntry, window: int) -> str:
    """The hash of the checks, by which parts that passed are recognised."""
    asked = (f"{name}: {query} {WHOLE.get(name, '')}" for name, (_, query) in CHECKS.items())
    return digest(embedding.model_dump_json(), window, *asked)


def run_checks(
    parts: list[Part], embedding: EmbeddingEntry, window: int, passed: Iterable[PartEntry] = ()
) -> list[CheckResult]:
    """Run all checks over a closed set of parts. `window` is in word pieces. Buckets whose parts have all `passed`
    before are checked only by the queries over the whole collection."""
    values: dict[str, int | str] = {"dimensions": embedding.dimensions, "model": embedding.model, "window": window}
    before = {_looked_at(entry) for entry in passed if entry.table in TABLES}
    new = {part.shard for part in parts if _looked_at(part) not in before}
    changed_parts = [part for part in parts if part.shard in new]
    with over_parts(parts, OF_THE_WHOLE) as everything, over_parts(changed_parts, within=everything) as changed:
        return [_run(changed, everything, name, values) for name in CHECKS]


def _looked_at(part: Part | PartEntry) -> tuple[str, str, str]:
    """The identity of a part for the checks: they read vectors, but no times, paths or positions in a file."""
    vectors = "vector" in TABLES[part.table].unhashed
    return part.table, part.shard, part.version if vectors else part.data_version


@contextmanager
def over_parts(
    parts: Iterable[Part], tables: Collection[str] = STORED, within: duckdb.DuckDBPyConnection | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A context with a connection that has views of `tables` over the parts; a table without rows is empty. Pass only
    the needed tables if there are many parts, because creating a view over a thousand files takes as long as querying
    it. The connection belongs to the database of `within`, or to that of the process, because opening a new database
    takes a hundred times as long.
    """
    files: dict[str, list[str]] = {table: [] for table in sorted(tables)}
    for part in parts:
        if part.table in files and part.rows:
            files[part.table].append(str(part.path))
    with (within or _database(os.getpid())).cursor() as connection:
        if tables is STORED:
            connection.execute("SET schema = 'without_rows'")
        for table, paths in files.items():
            listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
            if paths:
                connection.execute(
                    f'CREATE TEMP VIEW "{table}" AS FROM read_parquet([{listed}], hive_partitioning = false)'
                )
            elif tables is not STORED:
                connection.execute(f'CREATE TEMP VIEW "{table}" AS FROM without_rows."{table}"')
        yield connection


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """The in-memory database of a process, which must not be shared after a fork. Its schema `without_rows` contains
    the stored tables without rows."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("CREATE SCHEMA without_rows")
    for table in STORED:
        connection.register("none", empty(table))
        connection.execute(f'CREATE TABLE without_rows."{table}" AS FROM none')
    connection.unregister("none")
    return connection


def _run(
    changed: duckdb.DuckDBPyConnection,
    everything: duckdb.DuckDBPyConnection,
    name: str,
    values: dict[str, int | str],
) -> CheckResult:
    asked = [(changed, CHECKS[name][1]), *([(everything, WHOLE[name])] if name in WHOLE else [])]
    count, examples = 0, list[str]()
    for connection, one in asked:
        used = {key: value for key, value in values.items() if f"${key}" in one}
        counted = (
            f"WITH bad(id) AS ({one}) SELECT count(*), (SELECT list(id) FROM (FROM bad ORDER BY id LIMIT 5)) FROM bad"
        )
        more, ids = connection.execute(counted, used).fetchall()[0]
        count, examples = count + more, [*examples, *map(str, ids or [])]
    return CheckResult(name, count == 0, count, examples[:5])


# A sample of the changed vectors is computed again to check that vectors belong to their texts.
# The other checks compare the hash that is stored with a vector, not the text from which the vector was computed. The
# size of the sample has a limit, so a publish takes no longer in a large collection.
NAME = "vectors_hold"
WHAT = "The vectors of a sample of the changed texts equal those that the model computes."
FEWEST, MOST, ONE_IN = 16, 64, 8
"""The size of the sample: an eighth of the vectors in changed parts, within limits. Sixteen vectors detect a fault in
every sixth vector with probability 0.95."""
LEAST = 0.95
"""The minimum cosine of a vector and its recomputation. It is above 0.99 on another processor, and less than 0.9 for
another text."""


def check_vectors(parts: list[Part], settings: Settings, passed: Iterable[PartEntry | Part] = ()) -> CheckResult:
    """Check a sample of the changed vectors. Only vectors of a local model are checked, because those of a server cost
    money. Parts that have `passed` are not checked again."""
    before = {entry.version for entry in passed if entry.table == "chunk_embeddings"}
    changed = [part for part in parts if part.table == "chunk_embeddings" and part.rows and part.version not in before]
    if settings.embedding.remote is not None or not changed:
        return CheckResult(NAME, True, 0, [])
    chunks = {part.shard: part for part in parts if part.table == "chunks"}
    most = min(MOST, max(FEWEST, sum(part.rows for part in changed) // ONE_IN))
    share = -(-most // len(changed))
    sample = [one for part in changed for one in _sample(part, chunks[part.shard], share)]
    sample = sorted(sample, key=lambda one: digest(one[0]))[:most]
    made = load_embedder(settings).embed_passages([text for _, text, _ in sample])
    alike = np.einsum("ij,ij->i", np.asarray(made, np.float32), np.array([one for *_, one in sample], np.float32))
    wrong = [chunk_id for (chunk_id, *_), cosine in zip(sample, alike.tolist(), strict=True) if not cosine >= LEAST]
    return CheckResult(NAME, not wrong, len(wrong), sorted(wrong)[:5], _WHAT_TO_DO)


_WHAT_TO_DO = "`monjyu snapshots verify` compares files; remove the parts of chunk_embeddings and index again."


def _sample(vectors: Part, chunks: Part, most: int) -> Iterator[tuple[str, str, list[float]]]:
    """Yield a sample of a part's chunks, which is the same at each call, as (chunk_id, text, vector)."""
    from monjyu_assets.chunking import input_text

    ids = vectors.read(["chunk_id"])["chunk_id"].to_pylist()
    chosen = set(sorted(ids, key=digest)[:most])
    rows = chunks.read(["chunk_id", "header", "text"]).to_pylist()
    texts = {row["chunk_id"]: input_text(row["header"], row["text"]) for row in rows if row["chunk_id"] in chosen}
    for row in vectors.read(["chunk_id", "vector"]).to_pylist():
        if row["chunk_id"] in texts:
            yield row["chunk_id"], texts[row["chunk_id"]], row["vector"]

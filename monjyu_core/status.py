"""What `monjyu status` shows of a collection, from its published snapshot."""

from __future__ import annotations

from typing import Any

from monjyu_core.collection import CollectionRecord, collection_settings, known_record
from monjyu_core.errors import StorageError
from monjyu_core.folders import DataFolder
from monjyu_core.models.ledger_totals import usage_by_level
from monjyu_core.settings import Settings
from monjyu_core.snapshot import Snapshot, read_current, reading


def collection_status(data: DataFolder, name: str) -> dict[str, Any]:
    """Level, snapshot, rows per table, failed papers, last build, usage per level.

    Where the snapshot cannot be read, `unreadable` says why and what to do.
    """
    record = known_record(data, name)
    folder = data.collection(name)
    nothing = {"collection": name, "level": None, "snapshot_id": None, "sources": record.sources}
    try:
        if read_current(folder) is None:
            return nothing
        with reading(folder) as snapshot:
            return _of_snapshot(data, record, snapshot)
    except StorageError as error:
        return nothing | {"unreadable": str(error)}


def _of_snapshot(data: DataFolder, record: CollectionRecord, snapshot: Snapshot) -> dict[str, Any]:
    manifest = snapshot.manifest
    return {
        "collection": snapshot.collection.name,
        "level": manifest.level,
        "behind": manifest.behind,
        "snapshot_id": manifest.snapshot_id,
        "last_build": manifest.created_at,
        "sources": record.sources,
        "embedding_model": manifest.embedding.model,
        "counts": manifest.rows,
        "distinct_papers": _distinct(snapshot),
        "failed_papers": _failures(snapshot),
        "level_failures": _level_failures(snapshot),
        "without": _gaps(snapshot, collection_settings(record)),
        "usage": _usage(data, snapshot.collection.name, manifest.level),
    }


def _usage(data: DataFolder, name: str, level: int) -> dict[str, dict[str, Any]]:
    """By level, from the ledger; levels without a call have zeros. What was spent stays on it after a rebuild."""
    none = {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
    return {str(number): dict(none) for number in range(level + 1)} | usage_by_level(data, name)


def _distinct(snapshot: Snapshot) -> int:
    """Papers with all files of one counted once."""
    return int(snapshot.cursor().execute("SELECT count(DISTINCT canonical_id) FROM paper_identity").fetchall()[0][0])


def _failures(snapshot: Snapshot) -> list[dict[str, str]]:
    columns = ("paper_id", "source_path", "error_type", "message")
    query = "SELECT paper_id, source_path, error_type, message FROM failures ORDER BY source_path, paper_id"
    return [dict(zip(columns, row, strict=True)) for row in snapshot.cursor().execute(query).fetchall()]


def _level_failures(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """By table of failures: chunks or communities without a result, by cause."""
    cursor = snapshot.cursor()
    there = {row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    found = {}
    for table in sorted(there & {"entity_failures", "report_failures", "claim_failures"}):
        query = f"SELECT error_type, count(*) FROM {table} WHERE failed GROUP BY error_type ORDER BY error_type"
        found[table] = dict(cursor.execute(query).fetchall())
    return {table: causes for table, causes in found.items() if causes}


def _gaps(snapshot: Snapshot, settings: Settings) -> dict[str, int]:
    """Papers without a title, an abstract, sections, references."""
    from monjyu_core.quality import GAPS, run_check

    return {word: run_check(snapshot.cursor(), name, settings.checks).count for word, name in GAPS.items()}


LEVEL_TABLES = {
    1: ("graph_nodes", "graph_edges", "communities"),
    2: ("entities", "relationships", "entity_communities"),
    3: ("community_reports",),
    4: ("claims",),
}
"""What is shown of each level above the lowest."""


def _levels(counts: dict[str, int]) -> list[tuple[int, str]]:
    return [
        (level, ", ".join(f"{counts[name]} {name.replace('_', ' ')}" for name in names))
        for level, names in LEVEL_TABLES.items()
        if names[0] in counts
    ]


def describe(status: dict[str, Any], *, failures: bool) -> str:
    """The status for a person; with every failed paper when asked."""
    if "unreadable" in status:
        return f"{status['collection']}: {status['unreadable']}"
    if status["snapshot_id"] is None:
        return f"{status['collection']}: not published yet; run `monjyu index` for {', '.join(status['sources'])}"
    counts = status["counts"]
    shown = ("sections", "sentences", "references", "chunks")
    lines = [
        f"{status['collection']}: level {status['level']}, snapshot {status['snapshot_id']}",
        f"  built   {status['last_build']} with {status['embedding_model']}",
        f"  sources {', '.join(status['sources'])}",
        f"  papers  {counts['papers']} files of {status['distinct_papers']} papers, "
        f"{counts['citation_edges']} citations among them",
        "  rows    " + ", ".join(f"{counts[name]} {name}" for name in shown),
        f"  without {', '.join(f'{word} {count}' for word, count in status['without'].items())} (papers)",
        f"  failed  {len(status['failed_papers'])}",
    ]
    lines += [f"  level {level} {text}" for level, text in _levels(counts)]
    for table, causes in status["level_failures"].items():
        told = ", ".join(f"{cause} {count}" for cause, count in causes.items())
        lines.append(f"  {table.replace('_', ' ')}: {told}")
    lines += [f"  behind  {what}" for what in status["behind"]]
    for level, used in status["usage"].items():
        if used["llm_calls"]:
            lines.append(
                f"  level {level} took {used['llm_calls']} calls of models, {used['prompt_tokens']} + "
                f"{used['completion_tokens']} tokens, ${used['cost_usd']:.4f}"
            )
    if failures:
        lines += [f"    {row['source_path']}: {row['error_type']}: {row['message']}" for row in status["failed_papers"]]
    return "\n".join(lines)

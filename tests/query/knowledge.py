"""Levels 2 to 4 of the sample papers, written by hand over their real sentences, as a snapshot of its own.

What the assets of these levels write is tested where they are; here searches need rows whose right use is known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.schemas import TABLES, empty
from monjyu_core.storage.snapshot import read_current
from tests.copies import copy_data

ENTITIES = {
    "leiden": ("Leiden algorithm", "method", ["Leiden"], "connected"),
    "louvain": ("Louvain method", "method", ["Louvain"], "Louvain"),
    "rrf": ("reciprocal rank fusion", "method", ["RRF"], "eciprocal rank fusion"),
    "bm25": ("BM25", "method", [], "BM25"),
    "noun": ("noun phrase", "concept", [], "oun phrase"),
    "budget": ("relevance budget", "concept", ["budget of relevance tests"], "budget"),
    "lease": ("reader lease", "concept", ["lease"], "lease"),
    "prov": ("provenance", "concept", [], "rovenance"),
    "bigram": ("文字バイグラム", "method", ["バイグラム"], "バイグラム"),
}
"""id: name, type, aliases, and what a sentence has that names it."""
RELATED = (("leiden", "louvain", "improves on"), ("rrf", "bm25", "ranks with"), ("noun", "leiden", "is clustered by"))
COMMUNITIES: dict[str, tuple[str | None, str, tuple[str, ...]]] = {
    "graph": (None, "Graphs of noun phrases and their communities", ("leiden", "louvain", "noun")),
    "search": (None, "Searching and ranking passages", ("rrf", "bm25", "budget", "bigram")),
    "storage": (None, "Publishing an index and reading it safely", ("lease", "prov")),
    "graph/leiden": ("graph", "Leiden against Louvain", ("leiden", "louvain")),
    "search/fusion": ("search", "Fusion of rankings", ("rrf", "bm25")),
    "search/budget": ("search", "Relevance tests under a budget", ("budget",)),
}
"""id: parent, title, entities."""


def build(source: Path, target: Path) -> Path:
    """A copy of a data folder with `samples` at level 4."""
    copy_data(source, target)
    folder = DataFolder(target).collection("samples")
    snapshot = folder.snapshot(str(read_current(folder)))
    with duckdb.connect(str(snapshot / "index.duckdb")) as database:
        tables = rows_of(database)
        for name, spec in TABLES.items():
            if spec.level >= 2:
                made = pa.Table.from_pylist(tables[name], spec.schema) if tables.get(name) else empty(name)
                database.register("made", made)
                database.execute(f"CREATE TABLE {name} AS SELECT * FROM made")
                database.unregister("made")
    manifest = json.loads((snapshot / "manifest.json").read_text())
    manifest["level"] = 4
    (snapshot / "manifest.json").write_text(json.dumps(manifest))
    return target


def rows_of(database: duckdb.DuckDBPyConnection) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table."""
    sentences = database.execute(
        "SELECT s.sentence_id, s.text, l.chunk_id, s.paper_id FROM sentences s"
        " JOIN chunk_sentences l USING (sentence_id) ORDER BY s.paper_id, s.section_ord, s.ord, l.chunk_id"
    ).fetchall()
    named = {key: [row for row in sentences if entity[3] in row[1]] for key, entity in ENTITIES.items()}
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for key, (name, kind, aliases, _) in ENTITIES.items():
        tables["entities"].append(_entity(key, name, kind, aliases, named[key]))
        counts: dict[tuple[str, str], int] = {}
        for _, _, chunk, paper in named[key]:
            counts[chunk, paper] = counts.get((chunk, paper), 0) + 1
        tables["entity_chunks"] += [
            {"entity_id": key, "chunk_id": c, "paper_id": p, "mentions": n} for (c, p), n in sorted(counts.items())
        ]
    for source, target, kind in RELATED:
        tables["relationships"].append(_relationship(source, target, kind, named))
    for community in COMMUNITIES:
        _add_community(tables, community, named)
    for number, (sentence, text, chunk, paper) in enumerate(sentences):
        if any(word in text for word in ("%", "cannot", "guarantee", "must", "never")):
            tables["claims"].append(_claim(number, sentence, text, chunk, paper))
    return tables


def _entity(key: str, name: str, kind: str, aliases: list[str], rows: Sequence[Any]) -> dict[str, Any]:
    return {
        "entity_id": key, "name": name, "type": kind, "aliases": aliases, "mentions": len(rows), "degree": 1,
        "description": _line(rows[0][1]), "chunks": len({row[2] for row in rows}),
        "papers": len({row[3] for row in rows}),
        "first_year": 2025, "external_ids": [], "sentence_ids": _ids(rows)[:5], "engine": "llm-1",
    }  # fmt: skip


def _relationship(source: str, target: str, kind: str, named: dict[str, list[Any]]) -> dict[str, Any]:
    both = [row for row in named[source] if row[0] in set(_ids(named[target]))] or named[source][:1]
    return {
        "relationship_id": f"{source}-{target}", "source_id": source, "target_id": target, "type": kind, "weight": 1.0,
        "description": f"{ENTITIES[source][0]} {kind} {ENTITIES[target][0]}", "mentions": len(both),
        "sentence_ids": _ids(both)[:3], "chunk_ids": sorted({row[2] for row in both}), "engine": "llm-1",
    }  # fmt: skip


def _add_community(tables: dict[str, list[dict[str, Any]]], name: str, named: dict[str, list[Any]]) -> None:
    parent, title, members = COMMUNITIES[name]
    level = name.count("/")
    papers = sorted({row[3] for key in members for row in named[key]})
    tables["entity_communities"].append(
        {"community_id": name, "level": level, "parent_id": parent, "size": len(members), "chunks": 1,
         "papers": len(papers), "top_entities": [ENTITIES[key][0] for key in members]}
    )  # fmt: skip
    tables["entity_community_members"] += [{"community_id": name, "entity_id": key} for key in members]
    findings = [_finding(ENTITIES[key][0], named[key]) for key in members]
    summary = f"About {', '.join(ENTITIES[key][0] for key in members)}."
    text = "\n".join([title, summary, *(f"{f['summary']} {f['explanation']}" for f in findings)])
    tables["community_reports"].append(
        {"community_id": name, "level": level, "title": title, "summary": summary, "findings": findings, "rating": 5.0,
         "rating_reason": "", "text": text, "paper_ids": papers, "engine": "extractive-1"}
    )  # fmt: skip
    vector = load_embedder(load_settings({"embedding": {"model": "all-MiniLM-L6-v2"}})).embed_passages([text])[0]
    tables["report_embeddings"].append(
        {"community_id": name, "input_hash": name, "model": "all-MiniLM-L6-v2", "vector": np.asarray(vector).tolist()}
    )


def _finding(name: str, rows: Sequence[Any]) -> dict[str, Any]:
    some = [row for row in {row[0]: row for row in rows}.values() if len(row[1]) > 20][:4]
    return {"summary": name, "explanation": " ".join(_line(row[1]) for row in some), "sentence_ids": _ids(some)}


def _claim(number: int, sentence: str, text: str, chunk: str, paper: str) -> dict[str, Any]:
    return {
        "claim_id": f"claim-{number}", "paper_id": paper, "chunk_id": chunk, "sentence_ids": [sentence], "subject": "",
        "statement": _line(text), "quote": text, "kind": "assertion", "confidence": 0.5, "engine": "llm-1",
    }  # fmt: skip


def _ids(rows: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(row[0] for row in rows))


def _line(text: str) -> str:
    return " ".join(text.split())

"""A small world for tests: a folder of papers, its index built by the stages, and what stands in its tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from monjyu_assets.assets.index_snapshot import open_duckdb
from monjyu_assets.publishing.publish import Published, publish
from monjyu_assets.stages.chunks import chunk_shards
from monjyu_assets.stages.citation_network import build_network
from monjyu_assets.stages.claims import claim_shards
from monjyu_assets.stages.common import Work
from monjyu_assets.stages.communities import find_communities
from monjyu_assets.stages.community_reports import write_reports
from monjyu_assets.stages.embeddings import embed_shards
from monjyu_assets.stages.entity_communities import find_entity_communities
from monjyu_assets.stages.entity_graph import build_entity_graph
from monjyu_assets.stages.extracted_entities import extract_shards
from monjyu_assets.stages.identity import find_identities
from monjyu_assets.stages.manifest import write_manifest
from monjyu_assets.stages.noun_graph import build_noun_graph
from monjyu_assets.stages.noun_phrases import phrase_shards
from monjyu_assets.stages.parsing import parse_shards
from monjyu_core.collection import CollectionRecord, save_record
from monjyu_core.folders import DataFolder
from monjyu_core.schemas import SHARDS, TABLES

RECORDS = "records.jsonl"


class World:
    """One collection `c` in a folder of its own."""

    def __init__(self, root: Path, papers: Path) -> None:
        self.papers = papers
        self.papers.mkdir(parents=True, exist_ok=True)
        self.data = DataFolder(root)
        save_record(self.data.collection("c"), CollectionRecord(name="c", sources=[str(papers)]))

    @property
    def work(self) -> Work:
        return Work(self.data, "c")

    def build(self, level: int = 0) -> dict[str, set[str]]:
        """All stages up to a level (2 and 3 with 4) and a publish; gives the papers each stage computed."""
        done = {}
        stages: dict[str, Callable[..., Any]] = {"parse": parse_shards, "chunk": chunk_shards, "embed": embed_shards}
        write_manifest(self.work, SHARDS, allow_deletes=True)
        for name, stage in stages.items():
            done[name] = {paper_id for report in stage(self.work, SHARDS) for paper_id in report.recomputed_ids}
        find_identities(self.work)
        build_network(self.work)
        if level:
            done["phrases"] = {p for report in phrase_shards(self.work, SHARDS) for p in report.recomputed_ids}
            build_noun_graph(self.work)
            find_communities(self.work)
        if level > 1:
            done["entities"] = {p for report in extract_shards(self.work, SHARDS) for p in report.recomputed_ids}
            build_entity_graph(self.work)
            find_entity_communities(self.work)
            write_reports(self.work)
            done["claims"] = {p for report in claim_shards(self.work, SHARDS) for p in report.recomputed_ids}
        self.publish()
        return done

    def publish(self) -> Published:
        return publish(self.work, open_duckdb)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of all tables in the parts, without times and paths."""
        found = {}
        for name, spec in TABLES.items():
            parts = [part.read(spec.hashed) for part in self.work.parts.heads(name)]
            rows = pa.concat_tables(parts) if parts else spec.schema.empty_table()
            found[name] = sorted(rows.to_pylist(), key=lambda row: json.dumps(row, sort_keys=True))
        return found


def write_records(folder: Path, records: dict[str, str]) -> None:
    lines = [json.dumps({"id": key, "title": f"Record {key}", "text": text}) for key, text in records.items()]
    (folder / RECORDS).write_text("".join(f"{line}\n" for line in lines))

"""What made an answer, as PROV: files, parts, snapshot, question and answer, and the steps between them.

PROV-JSON (W3C member submission of 24 April 2013). A part's recipe and inputs are those of the HEAD that names it;
where a later run has moved the HEAD on, only that the part was there is known, and nothing more is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from monjyu_core.storage.manifest import PartEntry
from monjyu_core.storage.parts import Part, PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, TABLES
from monjyu_core.storage.snapshot import Snapshot

PREFIXES = {"monjyu": "urn:monjyu:", "prov": "http://www.w3.org/ns/prov#"}
_PAPER_TABLES = ("manifest", "papers", "authors", "sections", "sentences", "chunks", "chunk_sentences")
_OF_CHUNKS = ("chunk_embeddings",)
Record = dict[str, Any]


def lineage_of(snapshot: Snapshot, evidence: Record, answer_id: str) -> Record:
    """The PROV document of an answer. `evidence` names the papers; parts are those of their buckets and of the whole
    collection."""
    document = _Document()
    for paper in evidence["papers"]:
        document.entity(_file_id(paper), "SourceFile", sha256=paper["file_sha256"], paper=paper["paper_id"])
    parts = _parts_of(snapshot, [paper["paper_id"] for paper in evidence["papers"]])
    for part in parts:
        document.entity(_part_id(part), "Part", table=part.table, bucket=part.shard, version=part.version)
    _runs(document, snapshot, parts)
    for part in (part for part in parts if part.table == "manifest"):
        for paper in evidence["papers"]:
            if part.shard in snapshot.buckets_of([paper["paper_id"]]):
                document.relation("wasDerivedFrom", generatedEntity=_part_id(part), usedEntity=_file_id(paper))
    _published(document, snapshot, parts)
    _answered(document, snapshot, evidence, answer_id)
    return document.record()


class _Document:
    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, Record]] = {}

    def entity(self, name: str, kind: str, **values: object) -> None:
        self._add("entity", name, kind, values)

    def activity(self, name: str, kind: str, **values: object) -> None:
        self._add("activity", name, kind, values)

    def _add(self, what: str, name: str, kind: str, values: Record) -> None:
        told = {f"monjyu:{key}": value for key, value in values.items() if value is not None}
        self._kinds.setdefault(what, {})[name] = {"prov:type": f"monjyu:{kind}", **told}

    def relation(self, kind: str, **ends: str) -> None:
        held = self._kinds.setdefault(kind, {})
        held[f"_:{kind}{len(held) + 1}"] = {f"prov:{end}": name for end, name in ends.items()}

    def record(self) -> Record:
        return {"prefix": PREFIXES, **self._kinds}


def _parts_of(snapshot: Snapshot, paper_ids: Iterable[str]) -> list[PartEntry]:
    """Of the tables that answers read: those of the papers' buckets, and those of the whole collection."""
    buckets = snapshot.buckets_of(paper_ids)
    by_paper = {*_PAPER_TABLES, *_OF_CHUNKS}
    return [
        entry
        for entry in snapshot.manifest.parts
        if (entry.shard in buckets and entry.table in by_paper)
        or (entry.shard == COLLECTION_SHARD and entry.table in TABLES and TABLES[entry.table].level <= 1)
    ]


def _part_id(part: PartEntry) -> str:
    return f"monjyu:part/{part.table}/{part.shard}/{part.version}"


def _file_id(paper: Record) -> str:
    return f"monjyu:file/{paper['file_sha256']}"


def _runs(document: _Document, snapshot: Snapshot, parts: list[PartEntry]) -> None:
    """The runs of assets that made the parts, with what they read as far as it is recorded."""
    store = PartStore(snapshot.collection.parts)
    by_place = {(part.table, part.shard): part for part in parts}
    for part in parts:
        asset = TABLES[part.table].asset
        primary = by_place.get((ASSET_TABLES[asset][0], part.shard))
        head = _recorded(store, primary)
        run = f"monjyu:run/{asset}/{part.shard}/{primary.version if primary else part.version}"
        document.activity(run, "AssetRun", asset=asset, bucket=part.shard, recipe=head.code_version if head else None)
        document.relation("wasGeneratedBy", entity=_part_id(part), activity=run)
        if primary is part and head is not None:
            for upstream in head.inputs:
                for read in _read_of(by_place, upstream, part.shard):
                    document.relation("used", activity=run, entity=_part_id(read))


def _recorded(store: PartStore, part: PartEntry | None) -> Part | None:
    """The HEAD's record of a part, where it still names this one."""
    head = store.head(part.table, part.shard) if part is not None else None
    return head if head is not None and part is not None and head.version == part.version else None


def _read_of(by_place: dict[tuple[str, str], PartEntry], asset: str, bucket: str) -> list[PartEntry]:
    """The parts of an asset that a run of a bucket reads: the bucket's own, or those of the collection."""
    tables = ASSET_TABLES.get(asset, [])
    if bucket == COLLECTION_SHARD:
        return [part for (table, _), part in by_place.items() if table in tables]
    return [part for table in tables for place in (bucket, COLLECTION_SHARD) if (part := by_place.get((table, place)))]


def _published(document: _Document, snapshot: Snapshot, parts: list[PartEntry]) -> None:
    manifest = snapshot.manifest
    name, act = f"monjyu:snapshot/{manifest.snapshot_id}", f"monjyu:publish/{manifest.snapshot_id}"
    document.entity(name, "Snapshot", content=manifest.content, level=manifest.level)
    document.activity(act, "Publish", code_version=manifest.code_version)
    document.relation("wasGeneratedBy", entity=name, activity=act)
    for part in parts:
        document.relation("used", activity=act, entity=_part_id(part))


def _answered(document: _Document, snapshot: Snapshot, evidence: Record, answer_id: str) -> None:
    answer, act = f"monjyu:answer/{answer_id}", f"monjyu:search/{answer_id}"
    document.entity(answer, "Answer", file="answer.json")
    document.entity(f"monjyu:question/{answer_id}", "Question", file="question.json")
    document.activity(act, "Search", embedding=snapshot.manifest.embedding.fingerprint)
    document.relation("wasGeneratedBy", entity=answer, activity=act)
    for used in (f"monjyu:question/{answer_id}", f"monjyu:snapshot/{snapshot.id}"):
        document.relation("used", activity=act, entity=used)
    files = {paper["paper_id"]: _file_id(paper) for paper in evidence["papers"]}
    for citation in evidence["citations"]:
        for sentence in citation["sentences"]:
            name = f"monjyu:sentence/{sentence['sentence_id']}"
            document.entity(name, "Sentence", sha256=sentence["text_sha256"], paper=citation["paper_id"])
            document.relation("wasDerivedFrom", generatedEntity=answer, usedEntity=name)
            if citation["paper_id"] in files:
                document.relation("wasDerivedFrom", generatedEntity=name, usedEntity=files[citation["paper_id"]])

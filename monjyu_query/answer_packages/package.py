"""Builds the files of an answer's package."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any, Literal

import duckdb

from monjyu_core.storage.ids import file_sha256
from monjyu_core.storage.manifest import PartEntry
from monjyu_core.storage.parts import Part, PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, TABLES
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.values import Values
from monjyu_query.answer_packages.asked_answer import AskedAnswer
from monjyu_query.answer_packages.crate import METADATA, WORKFLOW, CrateFacts, crate_metadata
from monjyu_query.answer_packages.document import as_markdown, document_of
from monjyu_query.answer_packages.package_files import canonical_answer, canonical_bytes, text_sha256, with_manifest
from monjyu_query.asking.result import SearchResult
from monjyu_query.citations.export import Entry, bibtex, csl, entries_of

# The licence of a paper, if its text states it. Papers mention the licences of programs and courses far more often than
# their own, so a sentence counts only if its subject is the paper. For all other papers the licence is unknown.
_OF_ITSELF = re.compile(
    r"\bthis (?:is an open[- ]access )?(?:article|paper|work|manuscript|chapter|preprint|publication)\b"
    r"[^.]{0,120}\b(?:licen[sc]ed|licen[sc]e|distributed|published|released|available)\b"
    r"|\bauthors? of papers? retain copyright and release the work under\b"
    r"|\bopen access article (?:distributed )?under\b",
    re.IGNORECASE,
)
_NAMES = {"attribution": "BY", "noncommercial": "NC", "sharealike": "SA", "noderivatives": "ND", "noderivs": "ND"}
_CODE = re.compile(r"\bCC[- ]?(BY(?:[- ](?:NC|SA|ND))*)(?:[- ]?(\d\.\d))?", re.IGNORECASE)
_WORDS = re.compile(
    r"\bcreative commons (attribution(?:[- ](?:non[- ]?commercial|share[- ]?alike|no[- ]?deriv(?:ative)?s))*)"
    r"[^.\d]{0,30}(\d\.\d)?",
    re.IGNORECASE,
)
_ZERO = re.compile(r"\bCC0\b|\bpublic domain dedication\b", re.IGNORECASE)
_LICENCE_SENTENCES = """SELECT paper_id, text FROM sentences WHERE paper_id IN (SELECT unnest($ids::VARCHAR[]))
AND regexp_matches(text, '(?i)creative commons|\\bCC[ -]?BY|\\bCC0|public domain') ORDER BY paper_id, ord"""


def licences_of(cursor: duckdb.DuckDBPyConnection, paper_ids: Sequence[str]) -> dict[str, str]:
    """Return the addresses of the known licences by paper id."""
    rows = reversed(cursor.execute(_LICENCE_SENTENCES, {"ids": list(paper_ids)}).fetchall())  # the first one counts
    return {paper_id: address for paper_id, text in rows if (address := licence_in(text))}


def licence_in(sentence: str) -> str | None:
    """Return the address of the Creative Commons licence that a sentence states for its own paper, or None."""
    text = " ".join(sentence.split())[:2000]
    if not _OF_ITSELF.search(text):
        return None
    if _ZERO.search(text):
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    if code := _CODE.search(text):
        kind, version = re.split(r"[- ]", code[1].upper()), code[2]
    elif words := _WORDS.search(text):
        plain = re.sub(r"(?i)(non|share|no)[- ](?=commercial|alike|deriv)", r"\1", words[1].lower())
        kind, version = [_NAMES[part] for part in re.split(r"[- ]", plain) if part in _NAMES], words[2]
    else:
        return None
    return f"https://creativecommons.org/licenses/{'-'.join(kind).lower()}/{version or '4.0'}/"


_SENTENCES = """SELECT sentence_id, text, spans FROM sentences
WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))"""
_PAPERS = """SELECT paper_id, sha256, document_type, coalesce(title, ''), page_count FROM papers
WHERE paper_id IN (SELECT unnest($ids::VARCHAR[])) ORDER BY paper_id"""


def cited_papers(result: SearchResult) -> list[str]:
    """The ids of the cited papers, in order of citation."""
    return list(dict.fromkeys(citation.paper_id for citation in result.citations))


def bibliography(snapshot: Snapshot, result: SearchResult) -> list[Entry]:
    """The cited papers as bibliographic entries; files of one paper are one entry."""
    return entries_of(snapshot, cited_papers(result))


def evidence_of(snapshot: Snapshot, result: SearchResult) -> Values:
    """Return the content of `evidence.json`. `citations`: number, paper, page, quote with its hash, retraction, and
    each sentence with its text, hash and rectangles. `papers`: the file's hash and type, title, number of pages and
    licence (null: unknown)."""
    papers = cited_papers(result)
    cursor = snapshot.cursor_of(papers)
    ids = [name for citation in result.citations for name in citation.sentence_ids]
    rows = {row[0]: row[1:] for row in cursor.execute(_SENTENCES, {"ids": ids}).fetchall()}
    licences = licences_of(cursor, papers)
    return {
        "citations": [
            {
                "n": citation.n,
                "paper_id": citation.paper_id,
                "page": citation.page,
                "quote": citation.quote,
                "quote_sha256": text_sha256(citation.quote),
                "retracted": citation.retracted,
                "sentences": [_sentence(name, *rows[name]) for name in citation.sentence_ids if name in rows],
            }
            for citation in result.citations
        ],
        "papers": [
            {
                "paper_id": paper_id,
                "file_sha256": sha256,
                "document_type": kind,
                "title": title,
                "pages": pages,
                "licence": licences.get(paper_id),
            }
            for paper_id, sha256, kind, title, pages in cursor.execute(_PAPERS, {"ids": papers}).fetchall()
        ],
    }


def _sentence(sentence_id: str, text: str, spans: Any) -> Values:
    """Return a cited sentence. `spans`: pages (from 1) with rectangles in PDF points from the top left."""
    places = [
        {"page": span["page"], "boxes": [[round(float(edge), 2) for edge in box] for box in span["boxes"]]}
        for span in (json.loads(spans) if isinstance(spans, str) else spans or ())
    ]
    return {"sentence_id": sentence_id, "text": text, "text_sha256": text_sha256(text), "spans": places}


# The snapshot in a package: its parts and search files by hash, models, settings, code.
_SECRET = re.compile(r"key|token|secret|passw|credential|uri|url|endpoint|remote|dsn", re.IGNORECASE)
"""Settings with such a word in their names, which may reveal addresses or credentials of services, are omitted."""


def snapshot_record(snapshot: Snapshot) -> Values:
    """Return the parts of the manifest that identify the data, and the manifest's hash, without paths and secrets."""
    manifest = snapshot.manifest
    settings = {name: value for name, value in manifest.settings.items() if not _SECRET.search(name)}
    return {
        "snapshot_id": manifest.snapshot_id,
        "collection": manifest.collection,
        "level": manifest.level,
        "behind": manifest.behind,
        "created_at": manifest.created_at,
        "schema_version": manifest.schema_version,
        "code_version": manifest.code_version,
        "content": manifest.content,
        "manifest_sha256": file_sha256(snapshot.folder / "manifest.json"),
        "database_sha256": manifest.database_sha256,
        "models": {
            "embedding": manifest.embedding.model_dump(mode="json"),
            "phrases": manifest.settings.get("graph.phrase_model"),
        },
        "settings": settings,
        "rows": manifest.rows,
        "parts": [part.model_dump(mode="json") for part in manifest.parts],
        "search": [file.model_dump(mode="json") for file in manifest.search],
    }


# The provenance of an answer, as PROV: files, parts, snapshot, question and answer, and the steps between them.
# PROV-JSON (W3C member submission of 24 April 2013). A part's recipe and inputs are recorded in the HEAD that names it;
# if a later run has replaced the HEAD, they are unknown and omitted.
PREFIXES = {"monjyu": "urn:monjyu:", "prov": "http://www.w3.org/ns/prov#"}
_PAPER_TABLES = ("manifest", "papers", "authors", "sections", "sentences", "chunks", "chunk_sentences",
                 "chunk_embeddings")  # fmt: skip


def lineage_of(snapshot: Snapshot, evidence: Values, answer_id: str) -> Values:
    """Return the PROV document of an answer. `evidence` names the papers; the document describes the parts of their
    buckets and the parts that belong to the whole collection."""
    document = _Document()
    for paper in evidence["papers"]:
        document.add("entity", _file_id(paper), "SourceFile", sha256=paper["file_sha256"], paper=paper["paper_id"])
    parts = _parts_of(snapshot, [paper["paper_id"] for paper in evidence["papers"]])
    for part in parts:
        document.add("entity", _part_id(part), "Part", table=part.table, bucket=part.shard, version=part.version)
    _runs(document, snapshot, parts)
    for part in (part for part in parts if part.table == "manifest"):
        for paper in evidence["papers"]:
            if part.shard in snapshot.buckets_of([paper["paper_id"]]):
                document.relation("wasDerivedFrom", generatedEntity=_part_id(part), usedEntity=_file_id(paper))
    _published(document, snapshot, parts)
    _answered(document, snapshot, evidence, answer_id)
    return document.record


class _Document:
    def __init__(self) -> None:
        self.record: Values = {"prefix": PREFIXES}

    def add(self, what: Literal["entity", "activity"], name: str, kind: str, **values: object) -> None:
        known = {f"monjyu:{key}": value for key, value in values.items() if value is not None}
        self.record.setdefault(what, {})[name] = {"prov:type": f"monjyu:{kind}", **known}

    def relation(self, kind: str, **ends: str) -> None:
        relations = self.record.setdefault(kind, {})
        relations[f"_:{kind}{len(relations) + 1}"] = {f"prov:{end}": name for end, name in ends.items()}


def _parts_of(snapshot: Snapshot, paper_ids: Iterable[str]) -> list[PartEntry]:
    """Return the parts of the tables that answers read, of the papers' buckets and of the whole collection."""
    buckets = snapshot.buckets_of(paper_ids)
    return [
        entry
        for entry in snapshot.manifest.parts
        if (entry.shard in buckets and entry.table in _PAPER_TABLES)
        or (entry.shard == COLLECTION_SHARD and entry.table in TABLES and TABLES[entry.table].level <= 1)
    ]


def _part_id(part: PartEntry) -> str:
    return f"monjyu:part/{part.table}/{part.shard}/{part.version}"


def _file_id(paper: Values) -> str:
    return f"monjyu:file/{paper['file_sha256']}"


def _runs(document: _Document, snapshot: Snapshot, parts: list[PartEntry]) -> None:
    """Add the runs of the assets that wrote the parts, with their inputs as far as they are recorded."""
    store = PartStore(snapshot.collection.parts)
    by_place = {(part.table, part.shard): part for part in parts}
    for part in parts:
        asset = TABLES[part.table].asset
        primary = by_place.get((ASSET_TABLES[asset][0], part.shard))
        head = _recorded(store, primary)
        run = f"monjyu:run/{asset}/{part.shard}/{primary.version if primary else part.version}"
        document.add("activity", run, "AssetRun", asset=asset, bucket=part.shard, recipe=head and head.code_version)
        document.relation("wasGeneratedBy", entity=_part_id(part), activity=run)
        if primary is part and head is not None:
            for upstream in head.inputs:
                for read in _read_of(by_place, upstream, part.shard):
                    document.relation("used", activity=run, entity=_part_id(read))


def _recorded(store: PartStore, part: PartEntry | None) -> Part | None:
    """Return the HEAD's record of a part, or None if the HEAD names another part by now."""
    head = store.head(part.table, part.shard) if part is not None else None
    return head if head is not None and part is not None and head.version == part.version else None


def _read_of(by_place: dict[tuple[str, str], PartEntry], asset: str, bucket: str) -> list[PartEntry]:
    """Return the parts that a run reads: for a bucket its parts and the collection's, for the collection all."""
    tables = ASSET_TABLES.get(asset, [])
    if bucket == COLLECTION_SHARD:
        return [part for (table, _), part in by_place.items() if table in tables]
    return [part for table in tables for place in (bucket, COLLECTION_SHARD) if (part := by_place.get((table, place)))]


def _published(document: _Document, snapshot: Snapshot, parts: list[PartEntry]) -> None:
    manifest = snapshot.manifest
    name, act = f"monjyu:snapshot/{manifest.snapshot_id}", f"monjyu:publish/{manifest.snapshot_id}"
    document.add("entity", name, "Snapshot", content=manifest.content, level=manifest.level)
    document.add("activity", act, "Publish", code_version=manifest.code_version)
    document.relation("wasGeneratedBy", entity=name, activity=act)
    for part in parts:
        document.relation("used", activity=act, entity=_part_id(part))


def _answered(document: _Document, snapshot: Snapshot, evidence: Values, answer_id: str) -> None:
    answer, act = f"monjyu:answer/{answer_id}", f"monjyu:search/{answer_id}"
    document.add("entity", answer, "Answer", file="answer.json")
    document.add("entity", f"monjyu:question/{answer_id}", "Question", file="question.json")
    document.add("activity", act, "Search", embedding=snapshot.manifest.embedding.fingerprint)
    document.relation("wasGeneratedBy", entity=answer, activity=act)
    for used in (f"monjyu:question/{answer_id}", f"monjyu:snapshot/{snapshot.id}"):
        document.relation("used", activity=act, entity=used)
    files = {paper["paper_id"]: _file_id(paper) for paper in evidence["papers"]}
    for citation in evidence["citations"]:
        for sentence in citation["sentences"]:
            name = f"monjyu:sentence/{sentence['sentence_id']}"
            document.add("entity", name, "Sentence", sha256=sentence["text_sha256"], paper=citation["paper_id"])
            document.relation("wasDerivedFrom", generatedEntity=answer, usedEntity=name)
            if citation["paper_id"] in files:
                document.relation("wasDerivedFrom", generatedEntity=name, usedEntity=files[citation["paper_id"]])


FORMAT = 1
"""Increase it when a package's files express the same content differently."""
_KINDS = {"json": "application/json", "md": "text/markdown", "bib": "application/x-bibtex", "png": "image/png"}
Crops = Callable[[AskedAnswer], dict[str, bytes]]


def package_of(asked: AskedAnswer, crops: Crops | None = None, author: str | None = None) -> dict[str, bytes]:
    """Return the package's files by name, including the manifest. Equal traces and snapshots produce equal bytes.
    `crops` draws the parts of pages with the quotes; without it they are omitted. `author`: who exports the package."""
    snapshot, result = asked.index.snapshot, asked.result
    evidence = evidence_of(snapshot, result)
    papers = bibliography(snapshot, result)
    files: dict[str, bytes] = {
        name: canonical_bytes(value)
        for name, value in {
            "answer.json": canonical_answer(result),
            "question.json": _question(asked),
            "evidence.json": evidence,
            "snapshot.json": snapshot_record(snapshot),
            "lineage.json": lineage_of(snapshot, evidence, asked.trace_id),
            WORKFLOW: _workflow(asked),
        }.items()
    }
    files["README.md"] = as_markdown(document_of(asked, papers)).encode("utf-8", "replace")
    files["bibliography.bib"] = bibtex(papers).encode("utf-8", "replace")
    files["bibliography.json"] = csl(papers).encode("utf-8", "replace")
    files |= crops(asked) if crops is not None else {}
    facts = CrateFacts(
        question=result.query,
        collection=result.collection,
        snapshot_id=snapshot.id,
        code_version=version("monjyu"),
        published=asked.asked_at or snapshot.manifest.created_at,
        files={name: _KINDS[name.rpartition(".")[2]] for name in sorted(files)},
        papers=papers,
        licences={paper["paper_id"]: paper["licence"] for paper in evidence["papers"] if paper["licence"]},
        author=author,
    )
    files[METADATA] = canonical_bytes(crate_metadata(facts))
    return with_manifest(files)


def _question(asked: AskedAnswer) -> Values:
    """Return the content of `question.json`. `again`: the fields that differ from the stored search's answer, and an
    entry in `left_out` for each purged paper and each quote that has disappeared since."""
    return {
        "format": FORMAT,
        "question": asked.result.query,
        "trace_id": asked.trace_id,
        "asked_at": asked.asked_at,
        "request": asked.request.model_dump(mode="json"),
        "settings": asked.settings,
        "asked_of": asked.asked_of,
        "again": {
            "snapshot_id": asked.index.snapshot.id,
            "differs": list(asked.differs),
            "left_out": [
                *({"why": "purged"} for _ in {one.paper_id for one in asked.left_out if one.why == "purged"}),
                *({"why": "gone", "sentence_ids": one.sentence_ids} for one in asked.left_out if one.why != "purged"),
            ],
        },
    }


def _workflow(asked: AskedAnswer) -> Values:
    result = asked.result
    return {
        "software": {"name": "monjyu", "version": version("monjyu")},
        "steps": [
            {"step": "find", "mode": result.mode, "controller": asked.request.controller, "level": result.level},
            {"step": "compose", "engine": result.answer_engine, "model": result.model},
        ],
        "deterministic": result.answer_engine != "llm",
    }

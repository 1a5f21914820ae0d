"""The package of an answer: all its files, ready to be written."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from monjyu_query.answer_packages.asked_answer import AskedAnswer
from monjyu_query.answer_packages.canonical import canonical_answer, canonical_bytes
from monjyu_query.answer_packages.cited_evidence import bibliography, evidence_of
from monjyu_query.answer_packages.crate import METADATA, WORKFLOW, CrateFacts, crate_metadata
from monjyu_query.answer_packages.forms.document import document_of
from monjyu_query.answer_packages.forms.markdown_form import as_markdown
from monjyu_query.answer_packages.package_files import with_manifest
from monjyu_query.answer_packages.prov_lineage import lineage_of
from monjyu_query.answer_packages.snapshot_record import snapshot_record
from monjyu_query.citations.citation_export import bibtex, csl

FORMAT = 1
"""Raised when a package's files say the same things in another way."""
_KINDS = {"json": "application/json", "md": "text/markdown", "bib": "application/x-bibtex", "png": "image/png"}
Crops = Callable[[AskedAnswer], dict[str, bytes]]


def package_of(asked: AskedAnswer, crops: Crops | None = None, author: str | None = None) -> dict[str, bytes]:
    """Contents by name, manifest included. The same trace and snapshot give the same bytes.

    `crops` draws the parts of pages that hold the quotes; without it there are none. `author`: who gives it away.
    """
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
    known = {paper["paper_id"]: paper["licence"] for paper in evidence["papers"] if paper["licence"]}
    facts = CrateFacts(
        question=result.query,
        collection=result.collection,
        snapshot_id=snapshot.id,
        code_version=version("monjyu"),
        published=asked.asked_at or snapshot.manifest.created_at,
        files={name: _KINDS[name.rpartition(".")[2]] for name in sorted(files)},
        papers=papers,
        licences=known,
        author=author,
    )
    files[METADATA] = canonical_bytes(crate_metadata(facts))
    return with_manifest(files)


def _question(asked: AskedAnswer) -> dict[str, Any]:
    """`again`: what differs from the kept search's answer, a purged paper each, and the quotes that are gone since."""
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


def _workflow(asked: AskedAnswer) -> dict[str, Any]:
    result = asked.result
    return {
        "software": {"name": "monjyu", "version": version("monjyu")},
        "steps": [
            {"step": "find", "mode": result.mode, "controller": asked.request.controller, "level": result.level},
            {"step": "compose", "engine": result.answer_engine, "model": result.model},
        ],
        "deterministic": result.answer_engine != "llm",
    }

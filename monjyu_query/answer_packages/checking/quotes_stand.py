"""Whether each quoted sentence stands at its place in the collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import Snapshot, open_current, published
from monjyu_query.answer_packages.canonical import text_sha256
from monjyu_query.answer_packages.checking.claims_of_package import Claims

_SENTENCES = "SELECT sentence_id, text FROM sentences WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))"
_PAPERS = "SELECT paper_id FROM papers WHERE paper_id IN (SELECT unnest($ids::VARCHAR[]))"
_OF_PAPERS = "SELECT paper_id, text FROM sentences WHERE paper_id IN (SELECT unnest($ids::VARCHAR[]))"
Found = tuple[Literal["holds", "differs", "not_checked"], str, list[str]]


def quotes_check(claims: Claims, files: Mapping[str, bytes], data: DataFolder, folder: CollectionFolder) -> Found:
    """In the snapshot that is named, or where that is gone in the current one, in which a sentence may have moved
    within its paper. Of papers that the collection does not have nothing can be said."""
    recorded = claims.snapshot.snapshot_id
    there = recorded in published(folder)
    snapshot = Snapshot(folder, read_manifest(folder, recorded)) if there else open_current(folder)
    try:
        return _compared(claims, snapshot, "the snapshot that was asked" if there else "the current snapshot")
    finally:
        snapshot.close()


def _compared(claims: Claims, snapshot: Snapshot, where: str) -> Found:
    cited = claims.evidence.citations
    wanted = [(one.sentence_id, one.text, citation.paper_id) for citation in cited for one in citation.sentences]
    if not wanted:
        return "not_checked", "Nothing is quoted.", []
    cursor = snapshot.cursor()
    papers = {row[0] for row in cursor.execute(_PAPERS, {"ids": [one[2] for one in wanted]}).fetchall()}
    texts = dict(cursor.execute(_SENTENCES, {"ids": [one[0] for one in wanted]}).fetchall())
    absent = sorted({paper for _, _, paper in wanted if paper not in papers})
    wrong = [one for one in wanted if one[2] in papers and not _same(texts.get(one[0]), one[1])]
    moved = _elsewhere(cursor, wrong) if wrong else set()
    changed = [name for name, text, paper in wrong if (paper, text_sha256(text)) not in moved]
    changed += _misquoted(claims)
    if changed:
        return "differs", f"{len(changed)} quoted sentences do not stand in {where}.", changed
    count = len(wanted) - sum(paper in absent for _, _, paper in wanted)
    said = f"{count} of {len(wanted)} quoted sentences stand in {where}"
    said += f", {len(wrong)} of them at another place of their paper" if wrong else ""
    if absent:
        said += f"; {len(absent)} papers are not in the collection any more, or never were"
    return ("holds" if count else "not_checked"), f"{said}.", absent


def _same(found: str | None, text: str) -> bool:
    return found is not None and text_sha256(found) == text_sha256(text)


def _elsewhere(cursor: Any, wrong: list[tuple[str, str, str]]) -> set[tuple[str, str]]:
    rows = cursor.execute(_OF_PAPERS, {"ids": sorted({paper for _, _, paper in wrong})}).fetchall()
    return {(paper, text_sha256(text)) for paper, text in rows}


def _misquoted(claims: Claims) -> list[str]:
    """Quotes that are not their sentences, one after another."""
    return [
        f"[{cited.n}]"
        for cited in claims.evidence.citations
        if cited.sentences and not _same(" ".join(one.text for one in cited.sentences), cited.quote)
    ]

"""The documents and settings of a snapshot, as far as a change of an answer can come from them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb

from monjyu_core.errors import StorageError
from monjyu_core.paper import RETRACTED
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.manifest import Manifest, read_manifest, unreadable
from monjyu_core.storage.snapshot import Snapshot

_TEXT = """
    SELECT paper_id, sum(h) FROM (
        SELECT paper_id, hash(sentence_id, text, spans::VARCHAR)::HUGEINT AS h FROM sentences WHERE paper_id IN $papers
        UNION ALL
        SELECT paper_id, hash(title, year, language)::HUGEINT AS h FROM papers WHERE paper_id IN $papers
        UNION ALL
        SELECT paper_id, hash(chunk_id, ord, page_start)::HUGEINT AS h FROM chunks WHERE paper_id IN $papers)
    GROUP BY paper_id"""
"""What was read of papers: sentences with their places, chunks, what stands on the first page."""
_CORRECTED = """
    SELECT paper_id, sum(hash(field, value)::HUGEINT) FROM corrected_fields WHERE paper_id IN $papers
    GROUP BY paper_id"""


@dataclass(frozen=True)
class Documents:
    """Of one snapshot; what is asked of it is read once."""

    snapshot: Snapshot

    @property
    def manifest(self) -> Manifest:
        return self.snapshot.manifest

    @cached_property
    def files(self) -> dict[str, str]:
        """The SHA-256 of each file of the sources, by paper."""
        return self._pairs("SELECT paper_id, sha256 FROM manifest")

    @cached_property
    def by_content(self) -> dict[str, str]:
        return {sha256: paper_id for paper_id, sha256 in self.files.items()}

    @cached_property
    def unread(self) -> frozenset[str]:
        return frozenset(self._pairs("SELECT paper_id, error_type FROM failures"))

    @cached_property
    def retracted(self) -> frozenset[str]:
        return frozenset(self._pairs(f"SELECT paper_id, source FROM ({RETRACTED})"))

    def texts(self, papers: Collection[str]) -> dict[str, Any]:
        """A hash of what was read of each of these papers."""
        return self._pairs(_TEXT, papers)

    def corrected(self, papers: Collection[str]) -> dict[str, Any]:
        """A hash of what people corrected of each."""
        return self._pairs(_CORRECTED, papers)

    def _pairs(self, query: str, papers: Collection[str] | None = None) -> dict[str, Any]:
        values = {} if papers is None else {"papers": sorted(papers)}
        try:
            rows = self.snapshot.cursor().execute(query, values or None).fetchall()
        except duckdb.CatalogException:
            return {}  # a table that snapshots of earlier versions have not
        except (duckdb.Error, OSError) as error:
            raise unreadable(self.snapshot.collection.name, self.snapshot.id, error) from error
        return dict(rows)


def documents_of(folder: CollectionFolder, snapshot_id: str) -> Documents:
    """StorageError where the snapshot is gone."""
    try:
        return Documents(Snapshot(folder, read_manifest(folder, snapshot_id)))
    except StorageError as error:
        error.hint = "See `monjyu snapshots list`."
        raise


def settings_changed(older: Manifest, newer: Manifest, asked: tuple[str, str]) -> list[str]:
    """Names of settings that differ: those that the index was made with, the embedding model, the level, and those that
    the two answers were asked with (JSON; none where an answer has none)."""
    names = [
        name for name in {*older.settings, *newer.settings} if older.settings.get(name) != newer.settings.get(name)
    ]
    names += ["embedding"] if older.embedding != newer.embedding else []
    names += [f"level ({older.level} to {newer.level})"] if older.level != newer.level else []
    before, after = (_leaves(json.loads(text)) if text else None for text in asked)
    if before is not None and after is not None:
        names += [name for name in {*before, *after} if before.get(name) != after.get(name)]
    return sorted(set(names))


def _leaves(value: dict[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in value.items():
        found |= _leaves(one, f"{above}{name}.") if isinstance(one, dict) else {above + name: one}
    return found

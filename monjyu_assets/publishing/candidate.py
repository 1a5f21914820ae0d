"""What publishing the current parts would give, computed once, and the newest snapshot that it may build on."""

from __future__ import annotations

from dataclasses import dataclass

from monjyu_assets.publishing.checks import checks_key
from monjyu_assets.publishing.verify import is_sound, is_torn
from monjyu_assets.work.closed_set import behind, closed_set
from monjyu_assets.work.work import Work
from monjyu_core.embedding import load_embedder
from monjyu_core.errors import StorageError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import EmbeddingEntry, Manifest, read_manifest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import SCHEMA_VERSION
from monjyu_core.storage.snapshot import published

CODE_VERSION = "3"


@dataclass(frozen=True)
class Candidate:
    """A closed set of parts, and what tells whether its snapshot exists already."""

    parts: list[Part]
    behind: list[str]
    """Assets of levels that are begun but not whole, as text; they are not published."""
    embedding: EmbeddingEntry
    window: int
    """Tokens of a text that the embedding model reads at most."""
    content: str
    """Hash of everything the snapshot is made from: publishing equal parts twice gives one snapshot."""
    checks: str
    """Key of the checks: a part that passed under this key need not be checked again."""
    before: Manifest | None
    """The newest snapshot; None where there is none that this version can build on."""

    @classmethod
    def of(cls, work: Work) -> Candidate:
        """From the current parts. IndexBuildError where level 0 is not whole."""
        most_failed = work.settings.levels.max_failed_share
        parts = closed_set(work.parts, work.name, most_failed)
        before = newest_manifest(work.folder)
        embedding, window = _embedding(work, before)
        return cls(
            parts=parts,
            behind=behind(work.parts, most_failed),
            embedding=embedding,
            window=window,
            content=_content(parts, embedding),
            checks=checks_key(embedding, window),
            before=before,
        )

    @property
    def is_new(self) -> bool:
        """Whether the newest snapshot holds something else."""
        before = self.before
        return before is None or before.content != self.content or before.behind != self.behind


def newest_manifest(folder: CollectionFolder) -> Manifest | None:
    """The newest snapshot's manifest; None where there is none that this version can build on."""
    ids = published(folder)
    try:
        newest = read_manifest(folder, ids[-1]) if ids else None
    except StorageError:
        return None  # of another schema, or damaged: everything is built from the parts
    return newest if newest and is_sound(folder, newest) else None


def newest_level(folder: CollectionFolder) -> int:
    """The level of the newest snapshot, whatever a rollback serves; 0 where there is none."""
    newest = newest_manifest(folder)
    return newest.level if newest else 0


def damaged_snapshot(work: Work) -> str | None:
    """The newest snapshot if its own files are damaged: nobody can read it or build on it."""
    for snapshot_id in published(work.folder)[-1:]:
        try:
            if is_sound(work.folder, read_manifest(work.folder, snapshot_id)):
                continue
        except StorageError:
            if not is_torn(work.folder, snapshot_id):
                continue  # of another schema
        work.warn(f"Snapshot {snapshot_id} of {work.name} is damaged; it is built again from the parts.")
        return snapshot_id
    return None


def _embedding(work: Work, before: Manifest | None) -> tuple[EmbeddingEntry, int]:
    model = load_embedder(work.settings)
    # Ask a server for its dimensions once, not at every look at what is published.
    known = before.embedding.dimensions if before and before.embedding.fingerprint == model.fingerprint else None
    with charged_to(work.account("index_snapshot")):
        dimensions = known or model.dimensions
    entry = EmbeddingEntry(model=model.model_id, dimensions=dimensions, fingerprint=model.fingerprint)
    return entry, model.max_tokens


def _content(parts: list[Part], embedding: EmbeddingEntry) -> str:
    names = sorted(f"{part.table}/{part.shard}/{part.version}" for part in parts)
    return digest(CODE_VERSION, SCHEMA_VERSION, embedding.model_dump_json(), *names, length=32)

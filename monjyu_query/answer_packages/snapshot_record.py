"""What a package says of the snapshot that was asked: its parts and search files by hash, models, settings, code."""

from __future__ import annotations

import re
from typing import Any

from monjyu_core.storage.ids import file_sha256
from monjyu_core.storage.snapshot import Snapshot

_SECRET = re.compile(r"key|token|secret|passw|credential|uri|url|endpoint|remote|dsn", re.IGNORECASE)
"""Settings with such a word in their names, which may say where a service is or how to get into it, stay here."""


def snapshot_record(snapshot: Snapshot) -> dict[str, Any]:
    """All of its manifest that says which data it is, with the manifest's own hash; no paths, no secrets."""
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

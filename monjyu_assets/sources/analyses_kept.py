"""Analyses on disk, by the hash of the file that was analysed and by what was asked; and those that are under way."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder, write_atomically

MODEL = "prebuilt-layout"


def analysed_types(settings: Settings) -> frozenset[str]:
    """The document types that the service reads, all or where the parser on this machine fails; none if not in use."""
    used = "document_intelligence" in (settings.pdf.processor, settings.pdf.fallback)
    return frozenset(settings.azure.document_intelligence.reads if used else ())


class AnalysesKept:
    """`analyses/<sha256>.<asked>.json.gz` beside the sources. Nothing is paid twice: an operation that was begun is
    written down (`.pending`) before its answer is awaited, and a document that the service refuses is (`.refused`)."""

    def __init__(self, folder: CollectionFolder, *, formulas: bool = False) -> None:
        self._folder = folder.analyses
        self._asked = f"{MODEL}{'-formulas' if formulas else ''}"

    def found(self, sha256: str) -> Path | None:
        path = self._path(sha256, "json.gz")
        return path if path.is_file() else None

    def keep(self, sha256: str, result: dict[str, Any]) -> Path:
        path = self._path(sha256, "json.gz")
        write_atomically(path, gzip.compress(json.dumps(result, ensure_ascii=False).encode(), mtime=0))
        self._path(sha256, "pending").unlink(missing_ok=True)
        return path

    def pending(self, sha256: str) -> str | None:
        """The id of the operation that was begun for it."""
        path = self._path(sha256, "pending")
        return path.read_text("utf-8").strip() if path.is_file() else None

    def begun(self, sha256: str, operation: str) -> None:
        write_atomically(self._path(sha256, "pending"), operation.encode())

    def given_up(self, sha256: str) -> None:
        """The operation is known no more: the service keeps one for a day."""
        self._path(sha256, "pending").unlink(missing_ok=True)

    def refused(self, sha256: str) -> str | None:
        """The code with which the service refused the document."""
        path = self._path(sha256, "refused")
        return path.read_text("utf-8").strip() if path.is_file() else None

    def refuse(self, sha256: str, code: str) -> None:
        write_atomically(self._path(sha256, "refused"), code.encode())
        self.given_up(sha256)

    def _path(self, sha256: str, ending: str) -> Path:
        return self._folder / f"{sha256}.{self._asked}.{ending}"


def forget_other_analyses(folder: CollectionFolder, needed: Collection[str]) -> None:
    """Remove what is kept of files of no content needed."""
    for path in folder.analyses.glob("[!.]*"):
        if path.name.partition(".")[0] not in needed:
            path.unlink()

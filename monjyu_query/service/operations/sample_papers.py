"""The sample papers of the source tree, for a first look: copied to where uploads go, then indexed."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import monjyu_core
from monjyu_core.storage.folders import DataFolder
from monjyu_query.service.operations.uploads import KINDS, store_uploads
from monjyu_query.service.server.error_responses import Conflict

SAMPLES = "samples"
_FOLDER = Path(monjyu_core.__file__).resolve().parents[1] / "data" / "samples" / "papers"


def bring_in(data: DataFolder) -> None:
    """Put them where uploads go, once. Conflict where this installation carries no samples."""
    papers = sorted(path for path in _FOLDER.glob("*") if path.suffix in KINDS)
    if not papers:
        raise Conflict("This installation has no sample papers.", "Upload some of your own.")
    if not data.collection(SAMPLES).record.is_file():
        with ExitStack() as opened:
            files = [(path.name, opened.enter_context(path.open("rb"))) for path in papers]
            store_uploads(data.papers / SAMPLES, files, replace=True)

"""The sample papers of the source tree, for a first look: copied to where uploads go, then indexed."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import monjyu_core
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.service_settings import ServiceSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_query.service.operations.dagster_runs import Launched, launch
from monjyu_query.service.operations.uploads import KINDS, store_uploads
from monjyu_query.service.server.error_responses import Conflict

SAMPLES = "samples"
_FOLDER = Path(monjyu_core.__file__).resolve().parents[1] / "data" / "samples" / "papers"


def bring_in(data: DataFolder, settings: ServiceSettings) -> Launched:
    """Conflict where this installation carries no samples, ConfigurationError without a Dagster web server."""
    papers = sorted(path for path in _FOLDER.glob("*") if path.suffix in KINDS)
    if not papers:
        raise Conflict("This installation has no sample papers.", "Upload some of your own.")
    if settings.dagster_url is None:
        raise ConfigurationError("No Dagster web server is known here.", "Start both with `monjyu up`.")
    if not data.collection(SAMPLES).record.is_file():
        with ExitStack() as opened:
            files = [(path.name, opened.enter_context(path.open("rb"))) for path in papers]
            store_uploads(data.papers / SAMPLES, files, replace=True)
    return launch(data, settings, SAMPLES, None)

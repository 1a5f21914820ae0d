"""Level 0: what files of scholarly services say of the papers; empty without such files. Nothing is fetched."""

from __future__ import annotations

from pathlib import Path

import duckdb

from monjyu_assets.matching.match_keys import connect
from monjyu_assets.scholarly.notice_files import read_notices
from monjyu_assets.scholarly.notice_matching import matched_notices
from monjyu_assets.stages.paper_identity import AUTHOR_COLUMNS, PAPER_COLUMNS
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, run_collection_stage, whole_table
from monjyu_assets.stages.shared.work import Work, recipe
from monjyu_core.errors import ConfigurationError
from monjyu_core.retractions import retractions
from monjyu_core.storage.ids import digest, file_sha256
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import COLLECTION_SHARD, empty

ASSET = "scholarly_metadata"
CODE_VERSION = "1"


def notice_files(work: Work) -> list[Path]:
    """Those of `scholarly.notices`, relative to the data folder. ConfigurationError where one is not there."""
    files = [work.data.root / name for name in work.settings.scholarly.notices]
    missing = next((path for path in files if not path.is_file()), None)
    if missing is not None:
        raise ConfigurationError(f"{missing} of scholarly.notices is not there.", "Name it by its full path.")
    return files


def scholarly_recipe(work: Work) -> str:
    """It depends on what the files hold, not on where they lie."""
    return recipe(ASSET, CODE_VERSION, work.settings, digest(*sorted(map(file_sha256, notice_files(work)))))


def find_notices(work: Work) -> CollectionReport:
    """The notices on the papers; `work.warn` hears of each paper that is retracted since the last time."""
    previous = work.parts.head("paper_notices", COLLECTION_SHARD)
    known = _retracted(previous) if previous else {}
    report = run_collection_stage(work, ASSET, scholarly_recipe(work), _tables)
    for paper_id, source in sorted(_retracted(report.part).items()):
        if paper_id not in known:
            work.warn(f"{paper_id} is retracted ({source}).")
    return report


def _retracted(part: Part) -> dict[str, str]:
    with duckdb.connect(":memory:") as connection:
        connection.register("paper_notices", part.read())
        return {paper_id: str(found) for paper_id, found in retractions(connection).items()}


def _tables(work: Work) -> Tables:
    files = notice_files(work)
    if not files:
        return {"paper_notices": empty("paper_notices")}
    papers, authors = (
        whole_table(work, "papers", [*PAPER_COLUMNS, "pmid"]),
        whole_table(work, "authors", AUTHOR_COLUMNS),
    )
    with connect(papers, authors) as connection:
        connection.register("paper_identity", whole_table(work, "paper_identity", ["paper_id", "canonical_id"]))
        return {"paper_notices": matched_notices(connection, (one for path in files for one in read_notices(path)))}

"""Level 0: which files are the same paper."""

from __future__ import annotations

from dataclasses import asdict

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.matching.same_paper import identify
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, run_collection_stage, whole_table
from monjyu_assets.stages.shared.work import Work, recipe, rows_of
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import rows_hash
from monjyu_core.storage.schemas import TABLES, table_of

ASSET = "paper_identity"
CODE_VERSION = "3"
PAPER_COLUMNS = ["paper_id", "title", "doi", "arxiv_id", "year", "characters"]
AUTHOR_COLUMNS = ["paper_id", "ord", "name"]


def identity_recipe(settings: Settings) -> str:
    return recipe(ASSET, CODE_VERSION, settings)


def find_identities(work: Work) -> CollectionReport:
    return run_collection_stage(work, ASSET, identity_recipe(work.settings), _tables, _made_of)


def _made_of(work: Work) -> str:
    """What tells papers apart. How much text a file has chooses among the files of one paper, and only there."""
    several = paper_files(work)
    counted = [f"{row['paper_id']} {row['characters']}" for row in several.to_pylist()]
    return digest(known_by(work), *sorted(counted))


def known_by(work: Work) -> str:
    """Hash of what papers are known by: titles, authors, years, ids."""
    tables = {"papers": [name for name in PAPER_COLUMNS if name != "characters"], "authors": AUTHOR_COLUMNS}
    hashes = []
    for name, columns in tables.items():
        rows = whole_table(work, name, columns).sort_by([(key, "ascending") for key in TABLES[name].keys])
        hashes.append(rows_hash(rows))
    return digest(*hashes)


def paper_files(work: Work) -> pa.Table:
    """paper_id and characters of the files of papers that have had several when identities were last made."""
    known = whole_table(work, ASSET, ["paper_id", "reason"])
    several = known.filter(pc.not_equal(known["reason"], "only"))["paper_id"]
    return rows_of(whole_table(work, "papers", ["paper_id", "characters"]), several.to_pylist())


def _tables(work: Work) -> Tables:
    identities = identify(whole_table(work, "papers", PAPER_COLUMNS), whole_table(work, "authors", AUTHOR_COLUMNS))
    return {ASSET: table_of(ASSET, [asdict(identity) for identity in identities])}

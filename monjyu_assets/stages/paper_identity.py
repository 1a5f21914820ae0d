"""Level 0: which files are the same paper."""

from __future__ import annotations

from dataclasses import asdict

from monjyu_assets.matching.same_paper import identify
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, run_collection_stage, whole_table
from monjyu_assets.stages.shared.work import Work, recipe
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.schemas import table_of

ASSET = "paper_identity"
CODE_VERSION = "3"
PAPER_COLUMNS = ["paper_id", "title", "doi", "arxiv_id", "year", "characters"]
AUTHOR_COLUMNS = ["paper_id", "ord", "name"]


def identity_recipe(settings: Settings) -> str:
    return recipe(ASSET, CODE_VERSION, settings)


def find_identities(work: Work) -> CollectionReport:
    return run_collection_stage(work, ASSET, identity_recipe(work.settings), _tables)


def _tables(work: Work) -> Tables:
    identities = identify(whole_table(work, "papers", PAPER_COLUMNS), whole_table(work, "authors", AUTHOR_COLUMNS))
    return {ASSET: table_of(ASSET, [asdict(identity) for identity in identities])}

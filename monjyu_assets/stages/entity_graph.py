"""Level 2: the mentions of a collection merged to entities and relationships. Files of one paper count once."""

from __future__ import annotations

from collections import defaultdict

from monjyu_assets.levels.entities.cited import person_key
from monjyu_assets.levels.entities.entity_tables import entity_graph
from monjyu_assets.levels.entities.findings import fold
from monjyu_assets.levels.entities.merging import Ids
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, run_collection_stage, whole_table
from monjyu_assets.stages.shared.work import Work, recipe, rows_of
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.schemas import TABLES

ASSET = "entity_graph"
CODE_VERSION = "2"


def entity_graph_recipe(settings: Settings) -> str:
    return recipe(ASSET, CODE_VERSION, settings)


def build_entity_graph(work: Work) -> CollectionReport:
    return run_collection_stage(work, ASSET, entity_graph_recipe(work.settings), _tables)


def _tables(work: Work) -> Tables:
    identity = whole_table(work, "paper_identity", ["paper_id", "canonical_id"])
    standing = sorted(set(identity["canonical_id"].to_pylist()))
    mentions, links = (
        rows_of(whole_table(work, name, TABLES[name].schema.names), standing).to_pylist()
        for name in ("entity_mentions", "relationship_mentions")
    )
    years = whole_table(work, "papers", ["paper_id", "year"]).to_pylist()
    return entity_graph(mentions, links, {row["paper_id"]: row["year"] for row in years}, external_ids(work))


def external_ids(work: Work) -> Ids:
    """DOIs, arXiv ids and years by title, ORCIDs by name, of the papers and of what they cite."""
    papers: dict[str, set[str]] = defaultdict(set)
    years: dict[str, int] = {}
    columns = ["title", "doi", "arxiv_id", "year"]
    for table in ("references", "papers"):
        for row in whole_table(work, table, columns).to_pylist():
            key = fold(row["title"] or "")
            papers[key] |= {f"doi:{row['doi'].lower()}"} if row["doi"] else set()
            papers[key] |= {f"arxiv:{row['arxiv_id']}"} if row["arxiv_id"] else set()
            if row["year"]:
                years[key] = min(row["year"], years.get(key, row["year"]))
    people: dict[str, set[str]] = defaultdict(set)
    for row in whole_table(work, "authors", ["name", "orcid"]).to_pylist():
        if row["orcid"]:
            people[person_key(row["name"])].add(f"orcid:{row['orcid']}")
    return Ids(
        {key: frozenset(found) for key, found in papers.items() if key and found},
        {key: frozenset(found) for key, found in people.items() if key},
        years,
    )

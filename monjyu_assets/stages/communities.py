"""Level 1: divides the noun graph into communities, coarse to fine, with the number of chunks that each touches."""

from monjyu_assets.stages.noun_graph import canonical_mentions
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, run_collection_stage, whole_table
from monjyu_assets.work.work import Work, recipe

ASSET = "communities"
CODE_VERSION = "3"


def find_communities(work: Work) -> CollectionReport:
    return run_collection_stage(work, ASSET, recipe(ASSET, CODE_VERSION, work.settings), _tables)


def _tables(work: Work) -> Tables:
    from monjyu_assets.levels.graph.phrase_communities import community_tables
    from monjyu_assets.levels.graph.rules import partition_rules

    nodes = whole_table(work, "graph_nodes", ["phrase", "surface", "df"])
    edges = whole_table(work, "graph_edges", ["source", "target", "cooccurrences", "weight"])
    return community_tables(nodes, edges, canonical_mentions(work), partition_rules(work.settings.graph))

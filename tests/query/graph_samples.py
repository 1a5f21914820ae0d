"""A collection at level 1, and hand-written rows of levels 2 to 4 put into a copy of its database."""

from __future__ import annotations

from pathlib import Path

import duckdb

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import Snapshot, open_current
from tests.assets.worlds import World
from tests.copies import copy_data

HOSTILE = "A\x00B\x0b\x1f <b>&\"']]> \ufffe\x85 ∀x 😀"
PAPERS = {
    "first": "The noun graph joins the phrases. A noun graph has communities. The relevance test reads the chunk.",
    "second": "The noun graph needs a relevance test. The communities of the noun graph guide the relevance test.",
    "third": "The relevance test costs money. The phrases of the communities show what the noun graph holds.",
}

_ENTITIES = """
CREATE TABLE entities AS SELECT * FROM (VALUES
  ('e1', $hostile, 'method', ['x'], $hostile, 3, 2, 2, 2020, []::VARCHAR[], ['s1'], 2, 'extractive'),
  ('e2', 'BERT', 'model', [], 'A model.', 1, 1, 1, NULL, [], ['s2'], 2, 'extractive'),
  ('e3', 'BERT', 'tool', [], NULL, 1, 1, 1, NULL, [], ['s3'], 1, 'extractive'),
  ('e4', 'alone', 'task', [], '', 1, 1, 1, NULL, [], ['s4'], 1, 'extractive'))
  t(entity_id, name, type, aliases, description, mentions, chunks, papers, first_year, external_ids, sentence_ids,
    degree, engine)
"""
_REST = """
CREATE TABLE entity_chunks AS SELECT e AS entity_id, chunk_id, paper_id, 1 AS mentions FROM chunks,
  (VALUES ('e1'), ('e2')) t(e);
CREATE TABLE relationships AS SELECT * FROM (VALUES
  ('r1', 'e1', 'e2', 'uses', 'The method uses it.', 1.5, 2, ['s1'], (SELECT list(chunk_id) FROM chunks), 'extractive'),
  ('r2', 'e2', 'e1', 'extends', '', 0.5, 1, ['s1'], []::VARCHAR[], 'extractive'),
  ('r3', 'e3', 'e4', 'applied_to', NULL, 0.5, 1, ['s1'], [], 'extractive'))
  t(relationship_id, source_id, target_id, type, description, weight, mentions, sentence_ids, chunk_ids, engine);
CREATE TABLE entity_communities AS SELECT * FROM (VALUES
  ('c1', 0, NULL, 2, 3, 3, ['BERT', 'alone']), ('c2', 1, 'c1', 2, 3, 3, ['BERT']))
  t(community_id, level, parent_id, size, chunks, papers, top_entities);
CREATE TABLE entity_community_members AS SELECT * FROM (VALUES ('c1', 'e1'), ('c1', 'e2'), ('c2', 'e1'), ('c2', 'e2'))
  t(community_id, entity_id);
CREATE TABLE community_reports AS SELECT 'c2' AS community_id, 1 AS level, 'A report' AS title, 'In short.' AS summary,
  [{'summary': 'One.', 'explanation': 'Because.', 'sentence_ids': ['s1']}] AS findings, 7.5::FLOAT AS rating,
  'Central.' AS rating_reason, 'All of it.' AS text, ['p'] AS paper_ids, 'extractive' AS engine;
CREATE TABLE claims AS SELECT 'k' || row_number() OVER (ORDER BY chunk_id) AS claim_id, paper_id, chunk_id,
  ['s1'] AS sentence_ids, 'the graph' AS subject, 'It helps.' AS statement, 'It helps.' AS quote, 'result' AS kind,
  0.9 AS confidence, 'extractive' AS engine FROM chunks
"""


def level_1(folder: Path) -> World:
    """Three papers, indexed to level 1."""
    world = World(folder / "data", folder / "papers")
    for name, text in PAPERS.items():
        (world.papers / f"{name}.md").write_text(f"# The {name} paper\n\nA. Author\n\n## Introduction\n\n{text}\n")
    world.build(level=1)
    return world


def with_higher_levels(world: World, folder: Path) -> Snapshot:
    """A copy of the index whose snapshot also has the tables of levels 2 to 4, with text that XML cannot hold."""
    copy_data(world.data.root, folder)
    snapshot = open_current(DataFolder(folder).collection("c"))
    with duckdb.connect(str(snapshot.database)) as connection:
        connection.execute(_ENTITIES, {"hostile": HOSTILE}).fetchall()
        for statement in _REST.split(";\n"):
            connection.execute(statement).fetchall()
    return snapshot

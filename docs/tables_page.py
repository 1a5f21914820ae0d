"""Writes docs/tables.md from the schemas (`python docs/tables_page.py`); a test holds the page equal to them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from monjyu_core.storage.schemas import LEVEL_NAMES, TABLES, TableSpec

PAGE = Path(__file__).with_name("tables.md")
SQL = {
    pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN",
    pa.uint16(): "USMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
}
WHAT = {
    "manifest": "the files of the sources, as they were scanned",
    "papers": "one row a paper: what its first page, its end and its file say of it",
    "authors": "the authors of each paper, in order",
    "sections": "the section tree of each paper, in reading order, with its text",
    "sentences": "every sentence, with the rectangles on its pages (PDF points, origin top left)",
    "references": "the entries of each paper's reference list",
    "inline_citations": "where a paper cites an entry of its list, with the words around it",
    "tables": "tables of the papers",
    "figures": "figures, by place and caption",
    "equations": "equations, as text and, where the source has it, LaTeX",
    "failures": "files that could not be read, and why",
    "chunks": "the passages that are searched; `header` (title and section) is embedded with them",
    "chunk_sentences": "the sentences of each chunk, and where in its text they stand",
    "chunk_embeddings": "the vector of each chunk",
    "paper_identity": "files of one paper: each with the one that counts",
    "citation_edges": "which paper of the collection cites which",
    "unresolved_references": "references to works outside of the collection; equal works have one `work_id`",
    "paper_notices": "retractions, concerns, corrections, reinstatements: `scholarly.notices`, `.records`, `.services`",
    "scholarly_records": "what scholarly services say of the papers (`scholarly.services`, `scholarly.records`)",
    "phrase_mentions": "noun phrases of each chunk",
    "graph_nodes": "the phrases of the noun graph",
    "graph_edges": "phrases that stand together more often than by chance",
    "communities": "groups of phrases, from large (`level` 0) to small; `parent_id` is the one around it",
    "community_members": "the phrases of each community",
    "chunk_communities": "which chunks touch a community; a view over the tables before",
    "entity_mentions": "entities of each chunk",
    "relationship_mentions": "relationships between entities, by chunk",
    "entity_failures": "chunks whose entities could not be found",
    "entities": "entities, merged over their mentions",
    "entity_chunks": "the chunks of each entity",
    "relationships": "relationships, summed over their mentions",
    "entity_communities": "groups of entities",
    "entity_community_members": "the entities of each group",
    "community_reports": "what each community is about, with findings and the sentences they rest on",
    "report_embeddings": "the vector of each report",
    "report_failures": "communities without a report, and why",
    "claims": "statements of the papers, each with the sentence it is quoted from",
    "claim_embeddings": "the vector of each claim",
    "claim_failures": "chunks whose claims could not be found",
    "paper_keys": "what papers are compared by",
    "reference_keys": "what references are compared by",
    "identified_papers": "what each paper was known by when files of one paper were looked for",
    "alike_papers": "files of one paper by title and authors",
    "matched_papers": "what each paper was known by and cited when references were matched",
    "reference_matches": "which papers each reference names",
    "alike_titles": "nearly equal titles of works outside of the collection",
}
HEAD = """# The tables

Written by `python docs/tables_page.py` from `monjyu_core/storage/rows.py` and `schemas.py`. To open
them, see [dagster.md](dagster.md).

`index.duckdb` of a snapshot holds the tables of the levels that are published. Those of papers and chunks have one more
column there, `shard`, and from level 1 on there is `community_lineage` (`graph`, `community_id`, `rank`, `previous_id`,
`shared`, `jaccard`): the communities of the snapshot before that each one overlaps most. Vectors are not in it: they
are in the search files next to it, with the terms of full text.

Columns in **bold** identify a row.
"""


def sql_type(kind: pa.DataType) -> str:
    """A column's type as DuckDB names it."""
    if pa.types.is_list(kind):
        return f"{sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return f"STRUCT({', '.join(f'{field.name} {sql_type(field.type)}' for field in kind)})"
    return SQL[kind]


def section(spec: TableSpec) -> str:
    what = WHAT[spec.name]
    where = "" if spec.served else " Not in `index.duckdb`."
    written = "derived, not stored" if spec.view else f"written by `{spec.asset}`"
    lines = [f"### {spec.name}", "", f"{what[0].upper()}{what[1:]} ({written}).{where}", "", "| column | type |"]
    lines.append("| --- | --- |")
    for field in spec.schema:
        name = f"**{field.name}**" if field.name in spec.keys else field.name
        lines.append(f"| {name} | {sql_type(field.type)} |")
    return "\n".join(lines)


def page() -> str:
    parts = [HEAD]
    for level, name in enumerate(LEVEL_NAMES):
        parts.append(f"## Level {level}: {name.split('_', 2)[2]}\n")
        parts += [section(spec) + "\n" for spec in TABLES.values() if spec.level == level]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""The protocol that `monjyu review init` writes: a whole one, with a word on each of its parts."""

from __future__ import annotations

TEMPLATE = """\
# The protocol of a living review. Change it, then: monjyu review run THIS_FILE
name: {name}
question: What do the papers of this collection report on ...?
collection: {collection}

# Where the records come from, for the counts of the flow diagram; `path` is a pattern of the files.
sources:
  - name: Papers of {collection}
    kind: database          # database, register or other
    # path: "*/pubmed/*"
    # searched: 2025-01-31
    # query: what was searched for there

# Each must hold. A `rule` decides; without one the text is looked for in each paper, and what is not found there is
# left to a person. Rules: years, languages, document_types, sections, mention, mention_all (with where, at_least),
# papers, retracted.
include:
  - id: paper
    text: The record is a paper
    rule: {{papers: true}}
  - id: years
    text: Published since 2000
    rule: {{years: {{from: 2000}}}}
  # - id: subject
  #   text: The study is about ...
  #   rule: {{mention: ["a phrase", "anoth*"], at_least: 2}}

# None may hold.
exclude:
  - id: retracted
    text: The paper is retracted
    rule: {{retracted: true}}

# The columns of the evidence table, as those of `monjyu table`.
fields: [Question, Method, Sample, Result, Limitation]
"""


def protocol_template(name: str, collection: str) -> str:
    return TEMPLATE.format(name=name, collection=collection)

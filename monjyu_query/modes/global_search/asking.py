"""One global question under way: what it asks, and how near reports and passages are to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from monjyu_query.answers.selection import Question as Terms
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.topic import topic_of
from monjyu_query.knowledge.reports import Reports
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.query_embedding import text_relevance
from monjyu_query.ranking.ranker import Ranking, rank
from monjyu_query.ranking.retrieval import QueryTerm
from monjyu_query.ranking.tools import Ask, Tools

if TYPE_CHECKING:
    from monjyu_query.modes.lazy.model_roles import ModelRoles


@dataclass
class Asking:
    """`whole`: the question is about the collection as a whole, so the reports' own ratings decide."""

    ask: Ask
    reports: Reports
    ranking: Ranking
    report_terms: Sequence[frozenset[str]]
    asked: list[QueryTerm]
    terms: Terms
    whole: bool
    near: Scores
    roles: ModelRoles | None = None
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def rows(self) -> dict[str, int]:
        return {chunk: row for row, chunk in enumerate(self.ask.index.corpus.chunk_ids)}

    @cached_property
    def passing(self) -> set[str] | None:
        """The chunks that the filters let pass; None for all."""
        if not self.ask.leaves_out:
            return None
        return {chunk for chunk, row in self.rows.items() if self.ranking.scores[row] > -np.inf}

    def relevance(self, share: float, similarity: float) -> float:
        """0 to 10, from the share of the question's terms (0 to 1) and a similarity on the model's scale."""
        return text_relevance(share, similarity, self.ask.index.scale)

    def similarity(self, sentence: PassageSentence) -> float:
        """Similarity of the sentence's chunk with the question."""
        row = self.rows.get(sentence.passage.chunk_id)
        if row is None or self.ranking.similarity is None:
            return 0.0
        return float(self.ranking.similarity[row])


def begin(tools: Tools, reports: Reports, report_terms: Sequence[frozenset[str]], ask: Ask) -> Asking:
    """Rank passages and reports by the question; `report_terms` are those of each report's title and text."""
    index = ask.index
    query = ask.request.query
    ranking = rank(index, tools.embedder, query, "vector", ask.request.filters, ask.settings, every=True)
    topic = topic_of(query)
    asked = index.keywords.query_terms(topic).result() if topic else []
    vector = tools.embedder.embed(query, index.snapshot.manifest)
    return Asking(
        ask=ask,
        reports=reports,
        ranking=ranking,
        report_terms=report_terms,
        asked=asked,
        terms=Terms.of(asked, len(index.corpus)),
        whole=not asked,
        near=reports.similarity(vector),
        roles=_roles(tools, ask),
    )


def _roles(tools: Tools, ask: Ask) -> ModelRoles | None:
    if not tools.uses_model("assess", "claims"):
        return None
    from monjyu_query.modes.lazy.model_roles import ModelRoles

    return ModelRoles(tools.settings, tools.session(ask.account), ask.request.query, ask.cancel)

"""Local search from a question to a result: its entities, their surroundings, and an answer from a mixed context.

The context is mixed as in microsoft/graphrag's local search: by default half of it is text, a quarter community
reports, the rest entities, relationships and claims.
"""

from dataclasses import dataclass

import numpy as np

from monjyu_query.answers.answer import Answer, result_of
from monjyu_query.answers.claims import Claim
from monjyu_query.answers.evidence import AnswerEvidence, answer_from_evidence, topic_question
from monjyu_query.asking.passages import Passage
from monjyu_query.asking.result import SearchResult
from monjyu_query.asking.topic import topic_of
from monjyu_query.knowledge.concept_graph import has_tables
from monjyu_query.knowledge.reports import Report, load_reports
from monjyu_query.modes import local_context as context
from monjyu_query.modes.best_passages import paper_cap, passages_at
from monjyu_query.modes.local_entities import READ_CHUNKS, Entity, find_entities, passage_scores
from monjyu_query.ranking.open_index import PerSnapshot
from monjyu_query.ranking.query_embedding import nearness
from monjyu_query.ranking.ranker import Ranking, best_rows, rank
from monjyu_query.ranking.tools import Ask, Tools

MOST_PASSAGES = 40
CLAIMED_PASSAGES = 20
"""The number of passages whose stored claims are read."""


@dataclass(frozen=True)
class _Around:
    """The surroundings of the entities of a question."""

    entities: list[Entity]
    passages: list[Passage]
    reports: list[Report]
    statements: list[Claim]


class LocalSearch:
    """Local searches of one collection. May be shared by threads."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self._reports = PerSnapshot(lambda index: load_reports(index.snapshot.cursor()))

    def search(self, ask: Ask) -> SearchResult:
        """The result of one question. `claims` are relevant statements of entities, relationships, reports, claims."""
        query = ask.request.query
        ranking = rank(ask.index, self.tools.embedder, query, "hybrid", ask.request.filters, ask.settings, every=True)
        around = self._around(ask, query, ranking)
        for report in around.reports:
            ask.emit({"event": "community", "community_id": report.id, "level": report.level, "subquery": 0})
        for claim in around.statements:
            ask.emit({"event": "claim", **claim.as_dict()})
        answer, engine = Answer([], "complete"), "none"
        if ask.request.answer:
            share = int(ask.settings.local.text_share * ask.settings.local.context_tokens)
            read = context.passages_within(around.passages, share)
            answer, engine = answer_from_evidence(
                self.tools, ask, AnswerEvidence(read, around.statements, whole=len(read))
            )
        warnings = list(ranking.warnings)
        if not topic_of(query):
            warnings.append(
                "The question names no subject to start from. To ask about the whole collection, use mode global."
            )
        elif not around.entities:
            warnings.append("No entity of the collection is related to the question: only passages were read.")
        return result_of(
            ask,
            answer,
            engine,
            around.passages,
            warnings=warnings,
            claims=[claim.as_dict() for claim in around.statements],
            communities=[report.id for report in around.reports],
        )

    def _around(self, ask: Ask, query: str, ranking: Ranking) -> _Around:
        index, local = ask.index, ask.settings.local
        question = topic_question(index, query)
        built = has_tables(index.snapshot.cursor(), ("entities", "entity_chunks"))
        if not len(index.corpus) or ranking.similarity is None or not built:
            return _Around([], [], [], [])
        entities = find_entities(index, question, self._near(ask, ranking), local.entities)
        passages = self._passages(ask, query, ranking, entities)
        within = set(index.corpus.chunk_ids.at(np.flatnonzero(ranking.scores > -np.inf))) if ask.leaves_out else None
        weigher = context.Weigher(index, question, ranking.similarity, within)
        reports = self._reports.of(index)
        vector = self.tools.embedder.embed(query, index.snapshot.manifest)
        chosen = context.of_reports(index, reports, entities, reports.similarity(vector))
        reported = int(local.report_share * local.context_tokens)
        rest = int((1 - local.text_share - local.report_share) * local.context_tokens)
        near = [passage.chunk_id for passage in passages[:CLAIMED_PASSAGES]]
        said = [*context.of_claims(index, near), *context.of_entities(index, entities, local.relationships)]
        statements = weigher.weighed(said, rest) + weigher.weighed(context.findings_of(chosen), reported)
        return _Around(entities, passages, chosen, sorted(statements, key=lambda claim: -claim.score))

    def _near(self, ask: Ask, ranking: Ranking) -> dict[str, float]:
        """The passages most similar to the question, with their nearness (0 to 1)."""
        index, similar = ask.index, ranking.similarity
        assert similar is not None
        rows = best_rows(ranking.scores, index.corpus.work, READ_CHUNKS, 0, None, index.corpus.passage)
        return {index.corpus.chunk_ids[row]: nearness(float(similar[row]), index.scale) for row in rows}

    def _passages(self, ask: Ask, query: str, ranking: Ranking, entities: list[Entity]) -> list[Passage]:
        index = ask.index
        scores = passage_scores(index, query, ranking.scores, entities)
        most = max(MOST_PASSAGES, ask.settings.top_k)
        cap = paper_cap(ask.request, ask.settings, most)
        rows = best_rows(scores, index.corpus.work, most, cap, None, index.corpus.passage)
        return passages_at(index, rows, [round(float(scores[row]), 6) for row in rows])

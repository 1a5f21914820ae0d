"""The first step of lazy search: from a question to subqueries, their walks and their assessor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.values import Values
from monjyu_query.answers.selection import Question as Terms
from monjyu_query.asking.lazy_explanation import Budget
from monjyu_query.asking.passages import Passage
from monjyu_query.asking.topic import asks_of_all
from monjyu_query.knowledge.concept_graph import CommunityTree, Concept, ConceptGraph, flat_tree
from monjyu_query.knowledge.follow_ups import questions_raised
from monjyu_query.modes.best_passages import leading_cap, ranked_passages
from monjyu_query.modes.lazy.assessors import ExtractiveAssessor, OverviewAssessor, gate_of, reader_assessor
from monjyu_query.modes.lazy.community_search import Walker
from monjyu_query.modes.lazy.deepening import IterativeDeepener, Walk
from monjyu_query.modes.lazy.expansion import Expansion, expand, matching_concepts
from monjyu_query.modes.lazy.judgements import Judgements
from monjyu_query.modes.lazy.relevance import Assessor, RelevanceTester
from monjyu_query.modes.lazy.state import Asked, LazyState, Relevant
from monjyu_query.modes.local_context import leads_of
from monjyu_query.ranking.fusion import Scores, z_scores
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.ranker import Ranking, best_rows, rank
from monjyu_query.ranking.retrieval import QueryTerm
from monjyu_query.ranking.tools import Ask, Tools

if TYPE_CHECKING:
    from monjyu_query.modes.lazy.model_roles import ModelRoles


# The walks of a search: for each subquery through the communities and around them, and one more for the question.
Neighbours = dict[str, list[Concept]]
"""The neighbours of each concept in the noun graph."""


_NOWHERE = CommunityTree((), (), np.zeros(0, np.intp))


def walkers_of(
    ask: Ask, level: int, tree: CommunityTree, graph: ConceptGraph, asking: Sequence[Asked], near: Neighbours
) -> list[Walker]:
    """The walks of each subquery; for the question also one to the chunks of its concepts' neighbours, or of related
    entities, relationships, findings and claims."""
    walkers = [walker for n, one in enumerate(asking) for walker in subquery_walkers(ask, tree, n, one)]
    if tree.empty or asks_of_all(ask.request.query):
        return walkers
    leads = leads_of(ask.index, asking[0].terms, level)
    weights = _mentioned(graph, ask.index, near)
    top = max(weights.values(), default=1.0)
    weights = {row: weight / top for row, weight in weights.items()}
    weights |= {row: max(share, weights.get(row, 0.0)) for row, (share, _) in leads.items()}
    scores = np.full(len(ask.index.corpus), -np.inf, dtype=np.float32)
    rows = np.fromiter(weights, dtype=np.intp)
    deviations = z_scores(asking[0].ordered, asking[0].ordered > -np.inf)
    scores[rows] = deviations[rows] + np.fromiter(weights.values(), dtype=np.float32)
    known = Walker(0, IterativeDeepener(_NOWHERE, scores, _walk(ask)), {row: of for row, (_, of) in leads.items()})
    return [*walkers, known, walkers[1]]  # the best-ranked chunks get every second turn of the question


def subquery_walkers(ask: Ask, tree: CommunityTree, n: int, one: Asked) -> list[Walker]:
    """A walk through the communities and, if there are any and the question is not about the whole collection, one
    around them, so that the best-ranked chunks are never lost. The question opens with `search.lazy.opening` chunks,
    another subquery with one visit to the best-ranked ones."""
    walk, broad = _walk(ask), asks_of_all(ask.request.query)
    opening = walk.top_k if n else 0 if broad and not tree.empty else ask.settings.lazy.opening
    through = Walker(n, IterativeDeepener(tree, one.ordered, replace(walk, opening=opening)))
    return [through] if tree.empty or broad else [through, Walker(n, IterativeDeepener(_NOWHERE, one.ordered, walk))]


def _walk(ask: Ask) -> Walk:
    lazy = ask.settings.lazy
    return Walk(0, lazy.chunks_per_visit, lazy.patience, lazy.max_depth)


def _mentioned(graph: ConceptGraph, index: OpenIndex, neighbours: Neighbours) -> dict[int, float]:
    """The positions of the chunks that mention neighbours of the question's concepts, each with the sum of those
    neighbours' weights (each at most 1, the weight of a concept's best neighbour)."""
    weights: dict[str, float] = {}
    for near in neighbours.values():
        top = max((concept.weight for concept in near), default=0.0)
        for concept in near if top else []:
            weights[concept.phrase] = max(weights.get(concept.phrase, 0.0), concept.weight / top)
    return graph.mentioned(weights, index.corpus)


NEAREST = 8
"""The number of passages of an answer without tests, as in mode vector."""
_CONCEPTS = 12
_SHOWN = 5
_NEIGHBOURS = 10
"""The number of neighbours of each concept of the question in the noun graph, whose chunks are candidates too."""
_OF_READER, _OF_MODEL = 0.3, 1.0
"""The weight of one point in the score of a chunk's best sentence, relative to one standard deviation of its rank score
above the mean. With the reader, .2 to .4 find most on COVID papers, with and without a filter, and cost nothing on
abstracts (.1 to 1.2 tried); a model's judgement has a higher weight."""
_OF_A_PART = 4
"""The number of passages for each part of the question that are used even if the question itself ranks them low."""
_RAISE = 10
"""The number of best relevant chunks from which further questions are derived."""
_USUAL_BEST = 5.0
"""The standard deviations above the mean of a good best chunk; a better one raises the scale."""


@dataclass
class Question:
    """A question during its search. `terms` are its terms, `ranking` ranks all chunks, `nearest` are the passages of
    mode vector, `similarity` is that of the closest chunk. `broad`: it asks about the collection as a whole."""

    ask: Ask
    tree: CommunityTree
    graph: ConceptGraph
    state: LazyState
    ranking: Ranking
    deviations: Scores
    asked: list[QueryTerm]
    terms: Terms
    asking: list[Asked]
    nearest: list[Passage]
    similarity: float
    tester: RelevanceTester
    walkers: list[Walker]
    broad: bool
    by_model: bool = False
    roles: ModelRoles | None = None

    @property
    def candidates(self) -> int:
        """The number of chunks that pass the filters, counting equal texts once."""
        return int((self.deviations > -np.inf).sum())

    @property
    def level(self) -> int:
        """The highest level that the search may use."""
        return level_of(self.ask)

    def sufficient(self, state: LazyState) -> bool:
        """Whether the model finds the evidence sufficient; False without evidence or with another `sufficiency`."""
        if self.ask.settings.lazy.sufficiency != "model" or self.roles is None or not state.relevant:
            return False
        found = sorted(state.relevant, key=lambda r: (-r.score, r.candidate.row))
        sentences = [s.text for r in found for s, _ in r.sentences]
        papers = sorted({r.candidate.passage.paper_id for r in found})
        return self.roles.sufficient(state.expanded, sentences, papers)

    def ask_further(self, tools: Tools) -> list[Walker]:
        """Turn questions that the evidence raises into subqueries (as in DRIFT search) and return their walks."""
        ask, state, walkers = self.ask, self.state, list[Walker]()
        best = sorted(state.relevant, key=lambda found: (-found.score, found.candidate.row))
        chunks = [found.candidate.passage.chunk_id for found in best[:_RAISE]]
        raised = questions_raised(ask.index, ask.request.query, chunks, ask.request.query)
        for text in raised[: ask.settings.lazy.follow_ups]:
            self.asking.append(_asked(tools, ask, text, self.ranking, self.terms))
            state.subqueries.append(text)
            state.origins.append("follow_up")
            state.emit({"event": "subquery", "n": len(state.subqueries) - 1, "text": text})
            walkers += subquery_walkers(ask, self.tree, len(self.asking) - 1, self.asking[-1])
        return walkers

    def worth(self, row: int, best: float) -> float:
        """The score (0 to 10) of a chunk whose best sentence was judged `best`."""
        weight = _OF_MODEL if self.by_model else _OF_READER
        top = max(_USUAL_BEST, float(self.deviations.max(initial=0.0)))
        ahead = max(float(self.deviations[row]), 0.0)
        return round(10 * (weight * best + ahead) / (10 * weight + top), 4)

    def relevance(self, found: Relevant) -> float:
        """The score of a relevant chunk."""
        return self.worth(found.candidate.row, found.score)

    def keep_best(self) -> None:
        """Drop the relevant chunks below the requested lowest score."""
        lowest = self.ask.settings.min_score
        if lowest is not None:
            self.state.relevant = [found for found in self.state.relevant if self.relevance(found) >= lowest]

    def hits(self) -> list[Passage]:
        """The tested chunks, best first, because an answering chunk may be misjudged and still rank well. With a lowest
        score, only the relevant chunks."""
        relevant = {found.candidate.row for found in self.state.relevant}
        lowest = self.ask.settings.min_score
        found = [
            (-self.worth(c.row, judgement.best), c.row, c.passage)
            for c, judgement in self.state.tested
            if lowest is None or c.row in relevant
        ]
        found.sort(key=lambda item: item[:2])
        return [replace(passage, score=-score) for score, _, passage in found]

    def evidence(self, most: int) -> list[Passage]:
        """The best `most` hits, including the best relevant ones of each part of the question, because one side of a
        comparison may rank far below the other."""
        hits = self.hits()
        of_parts: set[str] = set()
        counts: Counter[int] = Counter()
        for found in sorted(self.state.relevant, key=lambda found: -found.score):
            counts[found.candidate.subquery] += 1
            if found.candidate.subquery and counts[found.candidate.subquery] <= _OF_A_PART:
                of_parts.add(found.candidate.passage.chunk_id)
        ahead = [hit for hit in hits[:most] if hit.chunk_id not in of_parts][: max(0, most - len(of_parts))]
        chosen = of_parts | {hit.chunk_id for hit in ahead}
        return [hit for hit in hits if hit.chunk_id in chosen]


def level_of(ask: Ask) -> int:
    """The snapshot's level, or the requested lower one."""
    built = ask.index.snapshot.manifest.level
    return built if ask.request.max_level is None else min(built, ask.request.max_level)


def refine(tools: Tools, store: Judgements, tree: CommunityTree, ask: Ask) -> Question:
    """Rank the chunks by the question, expand it, and prepare the walks of its subqueries."""
    index, lazy, query = ask.index, ask.settings.lazy, ask.request.query
    state = LazyState(Budget.of(ask.request.budget), emit=ask.emit, cancel=ask.cancel)
    graph = ConceptGraph.of(index.snapshot.cursor()) if level_of(ask) else ConceptGraph(index.snapshot.cursor(), False)
    tree = tree if level_of(ask) else flat_tree(len(index.corpus))
    broad = asks_of_all(query)
    mode = "vector" if not state.budget.total else lazy.rank
    ranking = rank(index, tools.embedder, query, mode, ask.request.filters, ask.settings, every=True)
    roles = _model_roles(tools, ask)
    found = _expanded(tools, ask, graph, roles, state)
    state.subqueries, state.expanded = found.subqueries, found.expanded
    state.origins, state.reasoning = found.origins(), found.reasoning
    near = graph.neighbours(found.concepts, _NEIGHBOURS)
    for n, subquery in enumerate(state.subqueries):
        around = {} if n else {"concepts": _around(graph, found.concepts, near)}
        state.emit({"event": "subquery", "n": n, "text": subquery, **around})
    asked = index.keywords.query_terms(query)
    terms = Terms.of(asked, len(index.corpus))
    asking = [_asked(tools, ask, text, ranking, terms) for text in found.subqueries]
    if broad and state.budget.total:
        asking[0] = replace(asking[0], ordered=_central(index, ranking))
    few, many = ask.settings.per_paper, leading_cap(ask)
    rows = best_rows(ranking.scores, index.corpus.work, NEAREST, few, None, index.corpus.passage, many)
    assessor = _assessor(tools, ask, roles, state, asking, broad=broad)
    similar = ranking.scores if ranking.similarity is None else ranking.similarity
    return Question(
        ask=ask,
        tree=tree,
        graph=graph,
        state=state,
        ranking=ranking,
        deviations=z_scores(asking[0].ordered, asking[0].ordered > -np.inf),
        asked=asked,
        terms=terms,
        asking=asking,
        nearest=ranked_passages(index, ranking, rows),
        similarity=float(similar[rows].max()) if rows else 0.0,
        tester=RelevanceTester(
            index,
            assessor,
            store,
            a_call=lazy.chunks_per_call,
            gate=gate_of(tools, ask, asking, assessor),
            home_of=tree.home_id,
        ),
        walkers=walkers_of(ask, level_of(ask), tree, graph, asking, near) if state.budget.total else [],
        broad=broad,
        by_model=assessor.together,
        roles=roles,
    )


def _central(index: OpenIndex, ranking: Ranking) -> Scores:
    """Scores (n,) for a question about the collection as a whole: the similarity of each chunk to the centre of all."""
    vectors = index.corpus.vectors
    middle = (vectors.sum() / len(vectors)).astype(np.float32)
    return np.where(ranking.scores > -np.inf, vectors.similarities(middle), np.float32(-np.inf)).astype(np.float32)


def _asked(tools: Tools, ask: Ask, text: str, ranking: Ranking, terms: Terms) -> Asked:
    """A subquery with its ranking of the chunks; `ranking` and `terms` are the question's."""
    index = ask.index
    if text != ask.request.query:
        ranking = rank(
            index, tools.embedder, text, ask.settings.lazy.rank, ask.request.filters, ask.settings, every=True
        )
        terms = Terms.of(index.keywords.query_terms(text), len(index.corpus))
    similar = ranking.scores if ranking.similarity is None else ranking.similarity
    return Asked(text, terms, similar, _first_twins(ranking.scores, index))


def _model_roles(tools: Tools, ask: Ask) -> ModelRoles | None:
    """The model roles; None if every role is extractive, so that model libraries are never loaded."""
    if not tools.uses_model("expand", "assess", "claims"):
        return None
    from monjyu_query.modes.lazy.model_roles import ModelRoles

    return ModelRoles(tools.settings, tools.session(ask.account), ask.request.query, ask.cancel)


def _expanded(tools: Tools, ask: Ask, graph: ConceptGraph, roles: ModelRoles | None, state: LazyState) -> Expansion:
    """Expand with the engine of the role `expand`; if its model fails, expand without it and warn."""
    query, index, most = ask.request.query, ask.index, ask.settings.lazy.max_subqueries
    if not state.budget.total or most == 1 or asks_of_all(query):
        return Expansion([query], query)
    own = expand(index, graph, query, ask.routing.query_type, most)
    if roles is None or not tools.uses_model("expand"):
        return own
    try:
        made = roles.expand(query, ask.request.history, _named(graph, own), most, reasons=ask.request.reasons)
    except ModelCallError as error:
        state.warnings.append(f"The question was expanded without a model: {error}")
        return own
    return replace(made, concepts=_concepts(index, graph, made.subqueries, own.concepts))


def _concepts(index: OpenIndex, graph: ConceptGraph, subqueries: list[str], own: list[str]) -> list[str]:
    """The question's concepts, then those in a model's subqueries."""
    more = [concept.phrase for text in subqueries for concept in matching_concepts(index, graph, text)]
    return list(dict.fromkeys([*own, *more]))[:_CONCEPTS]


def _around(graph: ConceptGraph, phrases: list[str], near: Neighbours) -> Values:
    """The question's concepts with their neighbours, and the edges among them."""
    beside = [concept.phrase for some in near.values() for concept in some[:_SHOWN]]
    nodes = list(dict.fromkeys([*phrases, *beside]))
    return {"nodes": nodes, "edges": [list(edge) for edge in graph.subgraph(nodes)]}


def _named(graph: ConceptGraph, expansion: Expansion) -> list[str]:
    near = graph.neighbours(expansion.concepts, _SHOWN)
    return list(dict.fromkeys([*expansion.concepts, *(concept.surface for some in near.values() for concept in some)]))


def _first_twins(scores: Scores, index: OpenIndex) -> Scores:
    """The scores, `-inf` for a text that an earlier file of the same paper has, so that it is tested once."""
    passage = index.corpus.passage
    if passage is None:
        return scores
    later = (passage != np.arange(len(passage))) & (scores[passage] > -np.inf)
    return np.where(later, np.float32(-np.inf), scores)


def _assessor(
    tools: Tools, ask: Ask, roles: ModelRoles | None, state: LazyState, asking: list[Asked], *, broad: bool
) -> Assessor:
    index, reasons = ask.index, ask.request.reasons
    if roles is not None and tools.uses_model("assess"):
        from monjyu_query.modes.lazy.model_roles import ModelAssessor

        return ModelAssessor(roles, state.subqueries, reasons=reasons)
    if broad:
        return OverviewAssessor()
    reader = reader_assessor(tools, asking) if tools.settings.roles.assess.engine == "reader" else None
    return reader or ExtractiveAssessor(index, asking[0], asking[1:])

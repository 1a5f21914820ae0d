"""Lazy search from a question to a result: refine, match, map, reduce."""

import time
from collections import Counter
from collections.abc import Sequence

from monjyu_core.models.call_errors import ModelAnswerUnusable
from monjyu_core.text.language import message_language
from monjyu_query.answers.answer import Answer, abstained, result_of
from monjyu_query.answers.claims import Claim
from monjyu_query.asking.events import Emit
from monjyu_query.asking.lazy_explanation import (
    CommunityVisit,
    ConceptEdge,
    ConceptNode,
    ConceptSubgraph,
    EndedBy,
    LazyExplanation,
    RelevantSentence,
    SubqueryFinds,
)
from monjyu_query.asking.result import SearchResult, Usage
from monjyu_query.knowledge.concept_graph import ConceptGraph, read_tree
from monjyu_query.modes.lazy.community_search import CommunitySearcher
from monjyu_query.modes.lazy.judgements import open_judgements
from monjyu_query.modes.lazy.reduce import answer_claims, answer_without_tests, make_claims
from monjyu_query.modes.lazy.refine import Question, refine
from monjyu_query.modes.lazy.state import Ended, LazyState, Relevant
from monjyu_query.ranking.open_index import PerSnapshot
from monjyu_query.ranking.tools import Ask, Tools

# The explanation of a lazy search: its subqueries, judgements, communities, concepts, and why it ended.
_ENDED: dict[Ended, EndedBy] = {
    "": "everything",
    "budget": "budget",
    "enough": "enough",
    "sufficient": "enough",
    "exhausted": "everything",
    "held": "cap",
    "cancelled": "cancelled",
    "failed": "cap",
}
MOST_NODES = 30


def explanation(asked: Question, concepts: ConceptSubgraph) -> LazyExplanation:
    """The explanation of a finished search; `concepts` are those of its relevant sentences."""
    state = asked.state
    left = max(0, asked.candidates - len(state.visited))
    return LazyExplanation(
        ended="everything" if state.ended == "budget" and not left else _ENDED[state.ended],
        level_reached=max(state.level, int(bool(state.communities or concepts.nodes))),
        depth=state.depth,
        rounds=state.rounds,
        expanded_query=state.expanded,
        reasoning=state.reasoning or None,
        subqueries=_subqueries(state),
        frontier_left=left,
        sentences=_sentences(state),
        communities=_communities(asked),
        graph=concepts,
    )


def _subqueries(state: LazyState) -> list[SubqueryFinds]:
    tests = Counter(candidate.subquery for candidate, _ in state.tested)
    finds = Counter(found.candidate.subquery for found in state.relevant)
    named = zip(state.subqueries, state.origins, strict=True)
    return [
        SubqueryFinds(text=text, origin=origin, tests=tests[n], relevant=finds[n])
        for n, (text, origin) in enumerate(named)
    ]


def _sentences(state: LazyState) -> list[RelevantSentence]:
    """The relevant sentences, each once, with its best score."""
    found: dict[str, RelevantSentence] = {}
    for relevant in sorted(state.relevant, key=lambda one: (-one.score, one.candidate.row)):
        passage = relevant.candidate.passage
        for sentence, score in relevant.sentences:
            known = found.get(sentence.sentence_id)
            if known is None or known.score < score:
                found[sentence.sentence_id] = RelevantSentence(
                    sentence_id=sentence.sentence_id,
                    chunk_id=passage.chunk_id,
                    paper_id=passage.paper_id,
                    community_id=relevant.candidate.community,
                    score=score,
                    text=" ".join(sentence.text.split()),
                    position=sentence.place,
                    page=sentence.spans[0]["page"] if sentence.spans else None,
                    reason=state.reasons.get(sentence.sentence_id),
                )
    return sorted(found.values(), key=lambda one: (-one.score, one.sentence_id))


def _communities(asked: Question) -> list[CommunityVisit]:
    state = asked.state
    tested = Counter(candidate.community for candidate, _ in state.tested)
    relevant = Counter(found.candidate.community for found in state.relevant)
    names = [name for name in tested if name is not None]
    titles = asked.graph.titles(names)
    levels = {community.id: community.level for community in asked.tree.communities}
    return [
        CommunityVisit(
            id=name, title=titles.get(name, ""), level=levels.get(name, 0), tested=tested[name], relevant=relevant[name]
        )
        for name in names
    ]


def concept_subgraph(graph: ConceptGraph, relevant: Sequence[Relevant]) -> tuple[ConceptSubgraph, dict[str, list[str]]]:
    """The heaviest phrases of the relevant sentences, with the edges of the noun graph among them, and the phrases of
    each sentence by name. Empty without a noun graph."""
    found = sentence_concepts(graph, relevant)
    names: dict[str, str] = {}
    weights: Counter[str] = Counter()
    holders: dict[str, list[str]] = {}
    scores = {s.sentence_id: score for one in relevant for s, score in one.sentences}
    for sentence_id, phrases in found.items():
        for phrase, surface in phrases.items():
            names.setdefault(phrase, surface)
            weights[phrase] += scores[sentence_id]  # type: ignore[assignment]
            holders.setdefault(phrase, []).append(sentence_id)
    best = sorted(weights, key=lambda phrase: (-weights[phrase], phrase))[:MOST_NODES]
    nodes = [
        ConceptNode(id=phrase, name=names[phrase], weight=round(weights[phrase], 2), sentence_ids=holders[phrase])
        for phrase in best
    ]
    edges = [ConceptEdge(source=s, target=t, weight=round(w, 6)) for s, t, w in graph.subgraph(best)]
    return ConceptSubgraph(nodes=nodes, edges=edges), {name: list(some.values()) for name, some in found.items()}


def sentence_concepts(graph: ConceptGraph, relevant: Sequence[Relevant]) -> dict[str, dict[str, str]]:
    """The phrases of its chunk that each relevant sentence contains, with their spelling."""
    of_chunk: dict[str, dict[str, str]] = {}
    for chunk, phrase, surface in graph.phrases([one.candidate.passage.chunk_id for one in relevant]):
        of_chunk.setdefault(chunk, {})[phrase] = surface or phrase
    found: dict[str, dict[str, str]] = {}
    for one in relevant:
        phrases = of_chunk.get(one.candidate.passage.chunk_id, {})
        for sentence, _ in one.sentences:
            text = " ".join(sentence.text.split()).casefold()
            found[sentence.sentence_id] = {p: s for p, s in phrases.items() if s.casefold() in text}
    return found


class LazySearch:
    """Lazy searches of one collection. May be shared by threads."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.store = open_judgements(tools.settings.cache, tools.accounting.data.state)
        self.store.keep_newest()
        self._tree = PerSnapshot(lambda index: read_tree(index.snapshot.cursor(), index.corpus))

    def search(self, ask: Ask) -> SearchResult:
        """The result of one question."""
        clock = Clock(ask.emit)
        question = refine(self.tools, self.store, self._tree.of(ask.index), ask)
        clock.note("refine", "match")
        state = question.state
        if state.budget.total:
            self._match(question)
            question.keep_best()
        clock.note("match", "map")
        graph, concepts = concept_subgraph(question.graph, state.relevant)
        claims = make_claims(question, self.tools, concepts) if state.relevant else []
        clock.note("map", "reduce")
        answer, engine = self._answer(question, claims)
        clock.note("reduce")
        told = explanation(question, graph) if state.budget.total else None
        return _result(question, answer, engine, told, clock.seconds)

    def _match(self, asked: Question) -> None:
        lazy, state = asked.ask.settings.lazy, asked.state
        searcher = CommunitySearcher(
            walkers=asked.walkers,
            test=asked.tester.test,
            sufficient=asked.sufficient,
            relevant_from=lazy.relevant_from,
            enough_from=lazy.enough_from,
            enough=_enough(asked),
            opening=0 if asked.broad and not asked.tree.empty else lazy.opening,
            a_turn=lazy.chunks_per_call,
            passes=asked.tester.passes,
        )
        searcher.run(state, state.budget.total // 2 if lazy.follow_ups else None)
        if not state.ended:
            searcher.walkers = [*asked.walkers, *asked.ask_further(self.tools)]
            searcher.run(state)
        if (told := _spent(asked)) is not None:
            state.warnings.append(told)
        if asked.tree.empty:
            lacks = "used" if asked.ask.index.snapshot.manifest.level else "built"
            state.warnings.append(f"Level 1 is not {lacks}: passages were tested in the order of their similarity.")
        if state.errors:
            wrong = f"{len(state.errors)} of {len(state.tested)} tests gave no judgement"
            state.warnings.append(f"{wrong}: {state.errors[0]}")
            asked.ask.account.note_failure(ModelAnswerUnusable(f"{wrong}: {state.errors[0]}"))
        if state.ended == "cancelled":
            state.warnings.append("The search was cancelled; this is what it had found.")

    def _answer(self, asked: Question, claims: list[Claim]) -> tuple[Answer, str]:
        state = asked.state
        if not asked.ask.request.answer:
            return Answer([], "complete"), "none"
        if not state.budget.total:
            state.warnings.append("A budget of 0 tests nothing: this is the answer of mode vector.")
            return answer_without_tests(asked, self.tools), "extractive"
        lowest = asked.ask.settings.min_score
        if not claims and state.failed and lowest is None:
            state.warnings.append("The assessor failed: this is the answer of mode vector.")
            return answer_without_tests(asked, self.tools), "extractive"
        if not claims and lowest is not None:
            reason = f"none of the {state.budget.used} passages tested reaches the score {lowest:g}"
            return abstained(reason, message_language(asked.ask.request.query)), "extractive"
        return answer_claims(asked, claims, self.tools)


class Clock:
    """Measures the seconds of each phase, and emits its end and the start of the next. No event announces the first
    phase, which begins with the search."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._since = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def note(self, phase: str, following: str = "") -> None:
        """Record the end of a phase and the start of the next."""
        now = time.perf_counter()
        self.seconds[phase] = round(now - self._since, 6)
        self._since = now
        self._emit({"event": "phase", "name": phase, "seconds": self.seconds[phase]})
        if following:
            self._emit({"event": "phase_start", "name": following})


def _enough(asked: Question) -> int | None:
    """The number of relevant sentences that ends the search; None if no number does."""
    sufficiency = asked.ask.settings.lazy.sufficiency
    if isinstance(sufficiency, int):
        return sufficiency
    return None if sufficiency == "off" else asked.state.budget.enough


def _spent(asked: Question) -> str | None:
    """Why the budget was not used up, if all passages were tested or the gate held back too many; otherwise None."""
    state = asked.state
    if state.ended not in ("exhausted", "held"):
        return None
    used, total, held = state.budget.used, state.budget.total, state.held_back
    if state.ended == "held":
        read = f"of {len(state.visited)} passages read, {held} were held back (search.lazy.worth_reading)"
        return f"{used} of {total} tests were made: {read}."
    tested = f"{used} tested and {held} held back by the reader, which sees no answer in them" if held else "all tested"
    return f"The budget of {total} exceeds the collection: {asked.candidates} passages, {tested}."


def _result(
    asked: Question, answer: Answer, engine: str, told: LazyExplanation | None, phases: dict[str, float]
) -> SearchResult:
    state, ask = asked.state, asked.ask
    partial = (state.failed or state.ended == "cancelled") and answer.status == "complete"
    hits = asked.hits() if state.budget.total and not state.failed else asked.nearest
    warnings = [*asked.ranking.warnings, *state.warnings]
    result = result_of(
        ask, answer, engine, hits, warnings=warnings, claims=state.claims, communities=[*state.communities]
    )
    return result.model_copy(
        update={
            "status": "partial" if partial or state.cancelled else answer.status,
            "subqueries": state.subqueries,
            "lazy": told,
            "phases": phases,
            "usage": _usage(asked),
        }
    )


def _usage(asked: Question) -> Usage:
    """The model calls, and the relevance tests with their budget. Reused judgements count as cache hits."""
    state = asked.state
    tests, held = state.budget.used, state.held_back
    usage = Usage(
        **vars(asked.ask.account.used), relevance_tests=tests, held_back=held, budget_total=state.budget.total
    )
    usage.cache_hits += state.cache_hits
    return usage

"""The community searcher: rounds of visits under one budget, one visit for each subquery a round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from monjyu_query.modes.lazy.deepening import IterativeDeepener, Visit
from monjyu_query.modes.lazy.lazy_state import Candidate, Judgement, LazyState

Wanted = Sequence[tuple[int, int, str | None]]
"""(subquery, row, community) of each chunk to be tested."""
MOST_FAILED_ROUNDS = 2
"""Rounds in a row without one judgement that could be read; then the assessor is given up."""
Test = Callable[[Wanted], list[tuple[Candidate, Judgement]]]


@dataclass(frozen=True)
class CommunitySearcher:
    """`test` judges the chunks of a round; `sufficient` is asked once a round whether what was found is enough."""

    walkers: Sequence[IterativeDeepener]
    test: Test
    sufficient: Callable[[LazyState], bool]
    relevant_from: float
    enough_from: float = 0.0
    count_suffices: bool = True

    def run(self, state: LazyState) -> None:
        """Test chunks until the budget is spent, enough is found, nothing is left, it is cancelled or all tests fail.

        The rows of a round do not depend on the budget, which only cuts the last round short: a larger budget repeats
        all tests of a smaller one and adds to them.
        """
        while not state.ended:
            if state.cancelled:
                state.ended = "cancelled"
            elif not state.budget.left:
                state.ended = "budget"
            else:
                self._round(state)

    def _round(self, state: LazyState) -> None:
        visits = self._visits(state)
        if not visits:
            state.ended = "exhausted"
            return
        wanted = [(n, row, visit.community.id) for n, visit in visits for row in visit.rows][: state.budget.left]
        tested = self.test(wanted)
        state.budget.spend(len(wanted))
        relevant = [self._noted(state, candidate, judgement) for candidate, judgement in tested]
        place = 0
        for n, visit in visits:
            self.walkers[n].learn(visit, relevant=any(relevant[place : place + len(visit.rows)]))
            place += len(visit.rows)
        state.depth = max([state.depth, *(walker.depth for walker in self.walkers)])
        state.emit({"event": "budget", "used": state.budget.used, "total": state.budget.total})
        self._judge_round(state, [judgement for _, judgement in tested])

    def _visits(self, state: LazyState) -> list[tuple[int, Visit]]:
        visits = []
        room = state.budget.left
        for n, walker in enumerate(self.walkers):
            visit = walker.next_visit(state.visited) if room > 0 else None
            if visit is not None:
                room -= len(visit.rows)
                visits.append((n, visit))
                state.visited.update(visit.rows if room >= 0 else visit.rows[:room])
                self._enter(state, n, visit)
        return visits

    def _enter(self, state: LazyState, n: int, visit: Visit) -> None:
        name = visit.community.id
        if name is not None and name not in state.communities:
            state.communities[name] = visit.community.level
            event = {"event": "community", "community_id": name, "level": visit.community.level, "subquery": n}
            state.emit(event)

    def _noted(self, state: LazyState, candidate: Candidate, judgement: Judgement) -> bool:
        relevant = state.note(candidate, judgement, self.relevant_from, self.enough_from)
        event: dict[str, Any] = {"event": "test", "chunk_id": candidate.passage.chunk_id}
        event |= {"paper_id": candidate.passage.paper_id}
        event |= {"subquery": candidate.subquery, "score": judgement.best, "relevant": relevant}
        state.emit(event | ({"error": judgement.error} if judgement.error else {}))
        return relevant

    def _judge_round(self, state: LazyState, judgements: Sequence[Judgement]) -> None:
        state.failed_rounds = state.failed_rounds + 1 if all(judgement.error for judgement in judgements) else 0
        if any(judgement.final for judgement in judgements) or state.failed_rounds >= MOST_FAILED_ROUNDS:
            state.ended = "failed"
        elif self.count_suffices and len(state.strong) >= state.budget.enough:
            state.ended = "enough"
        elif self.sufficient(state):
            state.ended = "sufficient"

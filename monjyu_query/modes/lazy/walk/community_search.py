"""The community searcher: rounds of visits under one budget, a batch of each walk a round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from monjyu_query.modes.lazy.lazy_state import Candidate, Judgement, LazyState
from monjyu_query.modes.lazy.walk.deepening import IterativeDeepener, Visit

Wanted = tuple[int, int, str | None]
"""(subquery, row, community) of a chunk to be tested."""
Test = Callable[[Sequence[Sequence[Wanted]], int], list[tuple[Candidate, Judgement]]]
"""From what each walk wants to be tested, and how many of all count, in order: their judgements."""
MOST_FAILED_ROUNDS = 2
"""Rounds in a row without one judgement that could be read; then the assessor is given up."""
_ROUNDS_A_STEP, _MOST_BATCHES = 4, 8
"""Every so many rounds a walk gets a batch more a round: later chunks are fewer hopes, and a round costs time."""


@dataclass(frozen=True)
class Walker:
    """A walk, and the subquery (its place) that its chunks are tested for."""

    subquery: int
    walk: IterativeDeepener


@dataclass(frozen=True)
class CommunitySearcher:
    """`test` judges the chunks of a round; `sufficient` is asked once a round whether what was found is enough.

    The first walk opens alone, with `opening` chunks; then all of them take turns, `a_turn` chunks at a time.
    """

    walkers: Sequence[Walker]
    test: Test
    sufficient: Callable[[LazyState], bool]
    relevant_from: float
    enough_from: float = 0.0
    enough: int | None = None
    opening: int = 0
    a_turn: int = 5

    def run(self, state: LazyState) -> None:
        """Test chunks until the budget is spent, enough is found, all are tested, it is cancelled or all tests fail.

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
        groups = [
            [(walker.subquery, row, visit.community.id) for visit in some for row in visit.rows]
            for walker, some in visits
        ]
        count = min(state.budget.left, sum(map(len, groups)))
        tested = self.test(groups, count)[:count]
        state.budget.spend(len(tested))
        state.rounds += 1
        relevant = {c.row for c, judgement in tested if self._noted(state, c, judgement)}
        for walker, some in visits:
            for visit in some:
                walker.walk.learn(visit, [row for row in visit.rows if row in relevant])
        state.depth = max([state.depth, *(walker.walk.depth for walker in self.walkers)])
        state.emit({"event": "budget", "used": state.budget.used, "total": state.budget.total})
        self._judge_round(state, [judgement for _, judgement in tested])

    def _visits(self, state: LazyState) -> list[tuple[Walker, list[Visit]]]:
        """The visits of a round, as many as the budget needs; of each walk those that it makes at any budget."""
        opens = self.opening > 0 and not state.rounds
        size = self.opening if opens else self.a_turn * min(1 + state.rounds // _ROUNDS_A_STEP, _MOST_BATCHES)
        room = state.budget.left
        found = []
        for walker in self.walkers[:1] if opens else self.walkers:
            visits = walker.walk.next_batch(state.visited, size) if room > 0 else []
            for visit in visits:
                state.visited.update(visit.rows[: max(room, 0)])
                if room > 0:
                    self._enter(state, walker.subquery, visit)
                room -= len(visit.rows)
            if visits:
                found.append((walker, visits))
        return found

    def _enter(self, state: LazyState, subquery: int, visit: Visit) -> None:
        name = visit.community.id
        if name is not None and name not in state.communities:
            state.communities[name] = visit.community.level
            event = {"event": "community", "community_id": name, "level": visit.community.level, "subquery": subquery}
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
        elif self.enough is not None and len(state.strong) >= self.enough:
            state.ended = "enough"
        elif self.sufficient(state):
            state.ended = "sufficient"

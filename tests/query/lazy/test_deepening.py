"""The walk through communities on made-up trees: exact budgets, no chunk twice, an end, patience and depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from monjyu_query.asking.lazy_explanation import Budget, enough_sentences
from monjyu_query.asking.passages import Passage, PassageSentence
from monjyu_query.knowledge.concept_graph import CommunityTree, build_tree, flat_tree
from monjyu_query.modes.lazy.community_search import CommunitySearcher, Walker, Wanted
from monjyu_query.modes.lazy.deepening import IterativeDeepener, Walk
from monjyu_query.modes.lazy.state import Candidate, Judgement, LazyState
from tests.properties import examples, given, st


def passage(row: int) -> Passage:
    return Passage(f"c{row}", "paper", "Title", "other", "", f"text {row}", None, 0.0)


@dataclass
class MadeUpSearch:
    """A tree, scores for each subquery, and which rows are relevant."""

    tree: CommunityTree
    scores: list[np.ndarray[Any, Any]]
    relevant: set[int]
    walk: Walk
    broken: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    a_turn: int = 3
    calls: list[tuple[tuple[int, int], ...]] = field(default_factory=list)
    tested: list[tuple[int, int]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def test(self, groups: Sequence[Sequence[Wanted]], count: int) -> list[tuple[Candidate, Judgement]]:
        found: list[tuple[Candidate, Judgement]] = []
        self.calls += [tuple((n, row) for n, row, _ in group) for group in groups]
        for n, row, community in [one for group in groups for one in group][:count]:
            self.tested.append((n, row))
            text = passage(row)
            sentence = PassageSentence(text, f"s{row}", 0, row, 0, 1, "x", ())
            judgement = Judgement((9.0 if row in self.relevant else 1.0,))
            if row in self.broken:
                judgement = Judgement(error="no JSON")
            found.append((Candidate(row, n, text, (sentence,), community), judgement))
        return found

    def run(self, budget: int, counts: bool = False) -> LazyState:
        self.tested, self.calls = [], []
        self.events = []
        state = LazyState(Budget(budget), emit=self.events.append)
        walks = [IterativeDeepener(self.tree, scores.astype(np.float32), self.walk) for scores in self.scores]
        walkers = [Walker(n, walk) for n, walk in enumerate(walks)]
        enough = state.budget.enough if counts else None
        opening = self.walk.opening
        searcher = CommunitySearcher(walkers, self.test, lambda _: False, 5.0, 5.0, enough, opening, self.a_turn)
        if self.held:
            searcher.passes = lambda wanted: [row not in self.held for _, row, _ in wanted]
        searcher.run(state)
        return state


@st.composite
def searches(draw: st.DrawFn) -> MadeUpSearch:
    count = draw(st.integers(1, 40))
    rows = st.lists(st.integers(0, count - 1), max_size=12)
    names = [f"k{n}" for n in range(draw(st.integers(0, 12)))]
    records: list[tuple[str, int, str | None]] = []
    members = {}
    for place, name in enumerate(names):
        parent = draw(st.sampled_from([None, *records])) if records and place else None
        records.append((name, parent[1] + 1 if parent else 0, parent[0] if parent else None))
        members[name] = np.array(draw(rows), np.intp)
    values = st.lists(st.integers(0, 9), min_size=count, max_size=count)
    scores = [np.array(draw(values), float) / 10 for _ in range(draw(st.integers(1, 4)))]
    walk = Walk(draw(st.integers(0, 9)), draw(st.integers(1, 4)), draw(st.integers(1, 5)), draw(st.integers(0, 3)))
    broken = set(draw(st.lists(st.integers(0, count - 1), max_size=3)))
    homes = {row: name for name, level, _ in records if not level for row in members[name].tolist()}
    tree = build_tree(records, members, count, homes)
    held = set(draw(rows))
    return MadeUpSearch(tree, scores, set(draw(rows)), walk, broken, held, draw(st.integers(1, 6)))


@examples(75)
@given(searches(), st.integers(0, 60))
def test_a_budget_is_never_passed_and_no_chunk_is_tested_twice(search: MadeUpSearch, budget: int) -> None:
    state = search.run(budget)
    rows = [row for _, row in search.tested]
    assert len(rows) == state.budget.used == len(state.tested) <= budget
    assert len(set(rows)) == len(rows) and state.visited >= set(rows)
    assert search.held.isdisjoint(rows), "what the gate holds back is never tested"
    assert state.visited - set(rows) <= search.held and state.held_back == len(state.visited - set(rows))
    assert state.ended in ("budget", "exhausted", "failed", "held")
    assert (state.ended == "budget") <= (state.budget.used == budget)


@examples(75)
@given(searches(), st.integers(0, 40), st.integers(0, 30))
def test_a_larger_budget_repeats_the_tests_of_a_smaller_one_and_goes_on(
    search: MadeUpSearch, small: int, more: int
) -> None:
    search.broken = set()
    search.held = set(list(search.held)[:2])  # more of them end a small budget early
    search.run(small)
    first = search.tested
    calls = search.calls
    search.run(small + more)
    assert search.tested[: len(first)] == first
    assert search.calls[: len(calls)] == calls, "what is judged together does not depend on the budget either"


@examples(60)
@given(searches())
def test_the_budget_is_spent_until_everything_is_tested(search: MadeUpSearch) -> None:
    search.broken = set()
    state = search.run(1000)
    assert state.ended == "exhausted" and state.visited == set(range(len(search.scores[0])))
    assert state.budget.used + state.held_back == len(state.visited)


@examples(60)
@given(searches(), st.integers(1, 40))
def test_the_first_tests_are_the_chunks_that_rank_best(search: MadeUpSearch, budget: int) -> None:
    search.broken = search.held = set()
    search.run(budget)
    best = np.argsort(-search.scores[0].astype(np.float32), kind="stable")[: search.walk.opening].tolist()
    assert [row for _, row in search.tested[: len(best)]] == best[:budget]


@examples(60)
@given(searches(), st.integers(0, 60))
def test_an_unreadable_judgement_is_an_error_and_never_relevant(search: MadeUpSearch, budget: int) -> None:
    search.held = set()
    state = search.run(budget)
    rows = {row for _, row in search.tested}
    assert len(state.errors) == len(rows & search.broken)
    assert {found.candidate.row for found in state.relevant} == (rows & search.relevant) - search.broken
    told = {event["chunk_id"] for event in search.events if event["event"] == "test" and event["relevant"]}
    assert told == {f"c{row}" for row in (rows & search.relevant) - search.broken}


def test_what_no_child_holds_is_a_child_of_its_own() -> None:
    rows = {"a": np.arange(6), "b": np.array([0, 1]), "c": np.array([3])}
    tree = build_tree([("a", 0, None), ("b", 1, "a"), ("c", 1, "a")], rows, 8)
    [root] = [tree.communities[place] for place in tree.roots]
    below = [tree.communities[place].rows.tolist() for place in root.children]
    assert below == [[0, 1], [3], [2, 4, 5]] and tree.loose.tolist() == [6, 7]


@examples(60)
@given(searches())
def test_where_all_is_relevant_all_is_reached(search: MadeUpSearch) -> None:
    """No chunk is lost on the way down, whatever the communities look like."""
    search.relevant, search.broken, search.held = set(range(len(search.scores[0]))), set(), set()
    state = search.run(1000)
    assert state.visited == search.relevant and state.ended == "exhausted"


def pyramid() -> CommunityTree:
    """Six roots of four chunks; the first has two children."""
    records: list[tuple[str, int, str | None]] = [(f"r{n}", 0, None) for n in range(6)]
    members = {f"r{n}": np.arange(4 * n, 4 * n + 4) for n in range(6)}
    records += [("a", 1, "r0"), ("b", 1, "r0")]
    members |= {"a": np.array([0, 1]), "b": np.array([2, 3])}
    return build_tree(records, members, 24)


def test_after_patience_it_goes_down_into_what_was_relevant() -> None:
    scores = np.linspace(1, 0, 24)
    search = MadeUpSearch(pyramid(), [scores], {0}, Walk(top_k=1, patience=2, max_depth=5), a_turn=1)
    state = search.run(100)
    tested = [row for _, row in search.tested]
    assert tested[:5] == [0, 4, 8, 1, 2], "r0, two barren ones, then the children of r0"
    assert tested[5:] == sorted(set(range(24)) - set(tested[:5])), "then what is left, best first"
    assert list(state.communities) == ["r0", "r1", "r2", "a", "b"]
    assert state.depth == 1


def test_without_depth_it_stays_on_top() -> None:
    scores = np.linspace(1, 0, 24)
    search = MadeUpSearch(pyramid(), [scores], {0, 1}, Walk(top_k=1, patience=2, max_depth=0), a_turn=1)
    state = search.run(100)
    assert set(state.communities) == {"r0", "r1", "r2"} and [row for _, row in search.tested][:5] == [0, 4, 8, 1, 2]


def shares(search: MadeUpSearch, budget: int) -> list[int]:
    search.run(budget)
    return [sum(n == own for n, _ in search.tested) for own in range(len(search.scores))]


@pytest.mark.parametrize("budget", [60, 100, 500])
def test_each_subquery_gets_its_share_and_what_one_leaves_goes_to_the_others(budget: int) -> None:
    scores = [np.roll(np.linspace(1, 0, 1000), 250 * n) for n in range(4)]
    search = MadeUpSearch(flat_tree(1000), scores, set(range(1000)), Walk(opening=5), a_turn=5)
    assert all(abs(share - budget / 4) <= max(5, budget / 20) for share in shares(search, budget))
    search.scores[2] = np.where(np.arange(1000) == 999, 1.0, -np.inf)
    three = shares(search, budget)
    assert three[2] == 1 and sum(three) == budget
    assert all(abs(three[n] - budget / 3) <= max(5, budget / 20) for n in (0, 1, 3))


def test_a_search_in_nothing_ends() -> None:
    nothing = np.full(9, -np.inf)
    search = MadeUpSearch(flat_tree(9), [nothing, nothing], set(), Walk(opening=5))
    assert search.run(10).ended == "exhausted" and search.tested == []


def test_a_subquery_whose_first_visit_finds_nothing_gives_its_turns_back() -> None:
    scores = [np.linspace(1, 0, 300), np.roll(np.linspace(1, 0, 300), 150)]
    search = MadeUpSearch(flat_tree(300), scores, set(range(100)), Walk(opening=5), a_turn=5)
    assert shares(search, 100) == [98, 2]
    search.held = set(range(150, 300))
    assert shares(search, 100) == [100, 0], "also where the gate holds all of it back"


def test_what_the_gate_holds_back_costs_no_test_but_is_bounded() -> None:
    search = MadeUpSearch(flat_tree(300), [np.linspace(1, 0, 300)], set(), Walk(), a_turn=5)
    search.held = set(range(0, 300, 2))
    state = search.run(50)
    assert (state.ended, state.budget.used) == ("budget", 50) and 40 < state.held_back <= 50
    search.held = set(range(10, 300))
    state = search.run(50)
    assert (state.ended, state.budget.used) == ("held", 10) and 150 < state.held_back <= 155


def test_without_communities_chunks_come_in_vector_order() -> None:
    scores = np.random.default_rng(7).random(30)
    search = MadeUpSearch(flat_tree(30), [scores], set(range(30)), Walk())
    search.run(12)
    assert [row for _, row in search.tested] == np.argsort(-scores)[:12].tolist()


def test_enough_sentences_end_it() -> None:
    search = MadeUpSearch(flat_tree(200), [np.linspace(1, 0, 200)], set(range(200)), Walk())
    state = search.run(100, counts=True)
    assert state.ended == "enough" and 20 <= len(state.sentence_ids) < 20 + 15, "a round has three batches"


@given(st.integers(0, 5000), st.integers(0, 500))
def test_more_budget_wants_no_fewer_sentences(total: int, more: int) -> None:
    assert enough_sentences(total) <= enough_sentences(total + more)


def test_the_presets() -> None:
    presets = [Budget.of(name) for name in ("z100", "z500", "z1500", None)]
    assert [(budget.total, budget.enough) for budget in presets] == [(100, 20), (500, 50), (1500, 100), (100, 20)]
    with pytest.raises(ValueError, match="left"):
        Budget(3).spend(4)


@examples(75)
@given(searches())
def test_patience_and_depth_hold_whatever_is_relevant(search: MadeUpSearch) -> None:
    walker = IterativeDeepener(search.tree, search.scores[0].astype(np.float32), search.walk)
    taken: set[int] = set()
    barren, level = 0, 0
    while (visit := walker.next_visit(taken, 3)) is not None:
        assert visit.rows and taken.isdisjoint(visit.rows) and len(visit.rows) <= min(3, search.walk.top_k)
        assert visit.community.id is None or visit.community.level <= search.walk.max_depth
        if walker.depth > level:
            barren, level = 0, walker.depth
        named = visit.community.id is not None
        assert barren < search.walk.patience or not named, "it went on after z communities without a relevant chunk"
        taken.update(visit.rows)
        relevant = search.relevant.intersection(visit.rows)
        walker.learn(visit, relevant)
        barren = 0 if relevant else barren + (visit.community.id is not None)


@examples(60)
@given(searches())
def test_it_opens_with_the_closest_chunks_in_order(search: MadeUpSearch) -> None:
    walker = IterativeDeepener(search.tree, search.scores[0].astype(np.float32), search.walk)
    closest = np.argsort(-search.scores[0].astype(np.float32), kind="stable")[: search.walk.opening].tolist()
    opened: list[int] = []
    while len(opened) < len(closest):
        visit = walker.next_visit(set(opened), 100)
        assert visit is not None and visit.community.id is None
        walker.learn(visit, [])
        opened += visit.rows
    assert opened == closest

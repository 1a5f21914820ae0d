"""Runs a review: screens new and changed papers, and keeps all other decisions."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from monjyu_core.errors import QueryError
from monjyu_core.records.reviews import Human, Override, ReviewState, ReviewStore, Screening
from monjyu_core.storage.collection import load_record
from monjyu_query.asking.request import clean_text
from monjyu_query.asking.result import Usage
from monjyu_query.digests.draft import Asker
from monjyu_query.papers.names import one_paper
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.protocol import LONGEST, Protocol
from monjyu_query.reviews.rule_verdicts import ScreenedPaper, screened_papers
from monjyu_query.reviews.screening import AT_ONCE, Screener

Told = Callable[[int, int], None]
"""Receives, after each batch of papers, the number screened so far and the total."""


@dataclass(frozen=True)
class ReviewRun:
    """The result of a run. `screened` and `gone` (papers that the collection no longer has) are ids, `kept` is the
    number of unchanged decisions. `failed` are the errors of model calls: a search judged those papers, and the next
    run calls the model again. `whole`: the run was not stopped."""

    state: ReviewState
    screened: list[str]
    kept: int
    gone: list[str]
    failed: list[str]
    usage: Usage
    whole: bool


class Review:
    """One protocol on one collection."""

    def __init__(self, searcher: Asker, store: ReviewStore, protocol: Protocol) -> None:
        self._searcher, self._store = searcher, store
        self.protocol = protocol
        self.criteria = protocol.criteria_hash("model" if searcher.tools.uses_model("answer") else "search")

    def state(self, index: OpenIndex) -> ReviewState:
        """Return the stored state without papers that have been purged since, possibly on another machine."""
        state = self._store.read(self.protocol.name)
        purged = _purged(index) & (state.screened.keys() | state.overrides.keys())
        return self._store.change(self.protocol.name, lambda held: held.without(purged)) if purged else state

    def run(
        self,
        index: OpenIndex,
        *,
        again: bool = False,
        told: Told = lambda done, total: None,
        cancel: threading.Event | None = None,
    ) -> ReviewRun:
        """Screen the new and changed papers of this snapshot or, with `again`, all papers. The results of a stopped run
        are stored. No paper is read if snapshot and criteria are those of the last complete run."""
        state = self.state(index)
        if not again and (state.snapshot_id, state.criteria) == (index.snapshot.id, self.criteria):
            return ReviewRun(state, [], len(state.screened), [], [], Usage(), whole=True)
        papers = screened_papers(index)
        wanted = [paper for paper in papers if again or self._is_new(state, paper)]
        screener = Screener(self._searcher, index, self.protocol, self.criteria)
        found: dict[str, Screening] = {}
        for start in range(0, len(wanted), AT_ONCE):
            if cancel is not None and cancel.is_set():
                break
            some = wanted[start : start + AT_ONCE]
            found |= zip((paper.paper_id for paper in some), screener.screen(some), strict=True)
            told(len(found), len(wanted))
        whole = len(found) == len(wanted) and not screener.failed
        there = {paper.paper_id for paper in papers}
        gone = sorted(state.screened.keys() - there)
        seen = (index.snapshot.id, self.criteria) if whole else ("", "")
        state = self._store.change(self.protocol.name, lambda held: _merged(held, found, there, seen, _purged(index)))
        kept = len(papers) - len(wanted)
        return ReviewRun(state, list(found), kept, gone, screener.failed, screener.usage, len(found) == len(wanted))

    def _is_new(self, state: ReviewState, paper: ScreenedPaper) -> bool:
        before = state.screened.get(paper.paper_id)
        return before is None or (before.key, before.criteria) != (paper.key, self.criteria)

    def decide(
        self, index: OpenIndex, name: str, decision: Human | None, reason: str, criterion: str = "", by: str = "local"
    ) -> tuple[str, ReviewState]:
        """Store a person's decision on a paper, or with None remove it; return the paper's id. Raises QueryError for a
        paper that is not screened, a missing reason, or a criterion that the protocol does not have."""
        paper_id = one_paper(index, name)
        paper = next((one for one in screened_papers(index) if one.paper_id == paper_id), None)
        if paper is None:
            raise QueryError(f"{paper_id} is not the screened file of its paper.", "Name the file that is in the list.")
        if decision is None:
            return paper_id, self._overridden(paper_id, None)
        reason = clean_text(reason)[:LONGEST]
        if not reason:
            raise QueryError("A decision needs a reason.", "Give it with --reason.")
        if criterion and self.protocol.criterion(criterion) is None:
            known = ", ".join(one.id for one in self.protocol.criteria)
            raise QueryError(f"The protocol has no criterion {criterion!r}.", f"Known: {known}.")
        at = datetime.now(UTC).isoformat(timespec="seconds")
        made = Override(
            sha256=paper.sha256, key=paper.key, decision=decision, reason=reason, criterion=criterion, by=by, at=at
        )
        return paper_id, self._overridden(paper_id, made)

    def _overridden(self, paper_id: str, made: Override | None) -> ReviewState:
        def changed(held: ReviewState) -> ReviewState:
            others = {one: kept for one, kept in held.overrides.items() if one != paper_id}
            return held.model_copy(update={"overrides": others | ({paper_id: made} if made else {})})

        return self._store.change(self.protocol.name, changed)


def _merged(
    held: ReviewState, found: Mapping[str, Screening], there: set[str], seen: tuple[str, str], purged: set[str]
) -> ReviewState:
    """Merge a run's results into the stored state, which may contain newer decisions by people. Papers that are not in
    `there`, or were purged during the run, are removed."""
    screened = {one: kept for one, kept in (held.screened | dict(found)).items() if one in there}
    snapshot_id, criteria = seen
    update = {"snapshot_id": snapshot_id, "criteria": criteria, "screened": screened}
    return held.model_copy(update=update).without(purged)


def _purged(index: OpenIndex) -> set[str]:
    record = load_record(index.snapshot.collection)
    return set(record.excluded) if record else set()

"""The screening of one paper: a verdict on each criterion, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Mapping

from monjyu_core.reviews.review_state import Decision, Screening, Verdict
from monjyu_query.digests.asker import Asker
from monjyu_query.digests.paper_text import read_paper
from monjyu_query.reviews.review_protocol import Criterion, Protocol
from monjyu_query.reviews.review_quotes import Quoting
from monjyu_query.reviews.rule_verdicts import by_rule
from monjyu_query.reviews.screened_papers import ScreenedPaper
from monjyu_query.reviews.searched_verdicts import by_search
from monjyu_query.search.open_index import OpenIndex


def screen(searcher: Asker, index: OpenIndex, protocol: Protocol, paper: ScreenedPaper, criteria: str) -> Screening:
    """A rule decides where the criterion has one, a search in the paper where there is none or it leaves it open."""
    quoting = Quoting(index, read_paper(index, paper.paper_id))
    verdicts = []
    for criterion in protocol.criteria:
        excludes = criterion in protocol.exclude
        verdict = by_rule(criterion, criterion.rule, paper, quoting, excludes=excludes) if criterion.rule else None
        if verdict is None or _is_open(criterion, verdict):
            verdict = by_search(searcher, index, criterion, paper.paper_id, excludes=excludes)
        verdicts.append(verdict)
    decision, reason = decided(protocol, {one.criterion: one for one in verdicts})
    return Screening(
        sha256=paper.sha256,
        key=paper.key,
        criteria=criteria,
        snapshot_id=index.snapshot.id,
        decision=decision,
        criterion=reason,
        verdicts=verdicts,
    )


def _is_open(criterion: Criterion, verdict: Verdict) -> bool:
    """Whether the words of a rule stand nowhere, and it says that this decides nothing."""
    left = criterion.rule is not None and criterion.rule.otherwise == "unclear"
    return left and verdict.holds == "unclear" and not verdict.quotes


def decided(protocol: Protocol, verdicts: Mapping[str, Verdict]) -> tuple[Decision, str]:
    """The decision and the criterion that is its reason: the first, in the protocol's order, that keeps the paper out;
    else the first that is not clear; else none, and it is included."""
    wanted = {one.id: "no" for one in protocol.include} | {one.id: "yes" for one in protocol.exclude}
    for name, against in wanted.items():
        if verdicts[name].holds == against:
            return "exclude", name
    for name in wanted:
        if verdicts[name].holds == "unclear":
            return "unsure", name
    return "include", ""

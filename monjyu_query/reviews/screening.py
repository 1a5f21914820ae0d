"""Screens papers: judges each criterion, and derives the decision from all verdicts."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.prompts import fence, load_prompt
from monjyu_core.models.types import Message
from monjyu_core.records.reviews import Decision, Screening, Verdict
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.request import clean_text
from monjyu_query.asking.result import Usage
from monjyu_query.digests.draft import Asker
from monjyu_query.digests.paper_text import read_paper
from monjyu_query.digests.table_cells import sentences_shown
from monjyu_query.digests.table_columns import Column, language_of
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.protocol import Criterion, Protocol
from monjyu_query.reviews.quotes import Quoting, by_search
from monjyu_query.reviews.rule_verdicts import ScreenedPaper, by_rule

# A model judges the criteria that rules leave open. It must cite numbered sentences of the paper.
MOST_QUOTES = 3
LONGEST_REASON = 300
"""In characters."""


class ModelVerdict(BaseModel):
    criterion: int = Field(ge=1)
    holds: Literal["yes", "no", "unclear"]
    reason: str = ""
    sentences: list[int] = []


class ModelScreening(BaseModel):
    verdicts: list[ModelVerdict]


@dataclass(frozen=True)
class Asked:
    """A paper with the criteria that are still open."""

    quoting: Quoting
    criteria: Sequence[Criterion]


Judged = dict[str, Verdict]
"""Verdicts by the ids of their criteria."""


class ModelJudge:
    """Judges papers of a snapshot with the model of `roles.answer`: one call per paper, through the response cache."""

    def __init__(self, searcher: Asker, index: OpenIndex, protocol: Protocol) -> None:
        self._index, self._protocol = index, protocol
        self._account = searcher.account(index)
        self._session = searcher.tools.session(self._account)
        language = language_of([one.text for one in protocol.criteria], protocol.question) or "en"
        self._prompt = load_prompt("screen", language, searcher.settings.prompts.folder)
        self.failed: list[str] = []

    @property
    def usage(self) -> Usage:
        return Usage(**vars(self._account.used))

    def judge(self, papers: Sequence[Asked]) -> list[Judged | None]:
        """Return for each paper the model's verdicts on its criteria, or None if the call failed."""

        async def judged() -> list[Judged | None]:
            return list(await asyncio.gather(*map(self._judged, papers)))

        return run(judged())

    async def _judged(self, asked: Asked) -> Judged | None:
        if not asked.criteria:
            return {}
        columns = [Column(one.text, one.text) for one in asked.criteria]
        shown = await asyncio.to_thread(sentences_shown, self._index, asked.quoting.paper, columns)
        lines = [f"{number}. {' '.join(one.text.split())}" for number, one in enumerate(shown, start=1)]
        text = self._prompt.render(
            source=fence(1, "\n".join([asked.quoting.paper.title, *lines])),
            criteria="\n".join(f"{number}. {one.text}" for number, one in enumerate(asked.criteria, start=1)),
        )
        papers = [asked.quoting.paper.paper_id]
        try:
            answer = await self._session.structured(
                "answer", [Message("user", text)], self._prompt.hash, ModelScreening, papers
            )
        except ModelCallError as error:
            self.failed.append(str(error))
            return None
        return await asyncio.to_thread(self._checked, asked, shown, answer)

    def _checked(self, asked: Asked, shown: Sequence[PassageSentence], answer: ModelScreening) -> Judged:
        """Check the model's verdicts: a verdict without cited sentences becomes unclear, unless it is that an exclusion
        criterion is not met."""
        found: Judged = {}
        for said in answer.verdicts:
            if said.criterion > len(asked.criteria):
                continue
            criterion = asked.criteria[said.criterion - 1]
            numbers = [n for n in dict.fromkeys(said.sentences) if 1 <= n <= len(shown)][:MOST_QUOTES]
            quotes = asked.quoting.quoted([shown[number - 1] for number in numbers])
            lets_in = criterion in self._protocol.exclude and said.holds == "no"
            holds = said.holds if quotes or lets_in else "unclear"
            why = clean_text(said.reason)[:LONGEST_REASON] or f"the model says {said.holds}"
            if holds != said.holds:
                why = f"the model says {said.holds} and names no sentence: a person decides"
            found.setdefault(
                criterion.id,
                Verdict(criterion=criterion.id, holds=holds, why=why, engine="model", quotes=quotes),
            )
        return found


AT_ONCE = 8
"""The number of papers that a model judges concurrently; the role's own limits may be lower."""


@dataclass(frozen=True)
class _Begun:
    """A paper with the verdicts of rules, and the criteria that rules leave open."""

    paper: ScreenedPaper
    quoting: Quoting
    verdicts: dict[str, Verdict]
    left: list[Criterion]


class Screener:
    """Applies one protocol to one snapshot. A criterion's rule decides; if it has none, or its rule leaves it open, the
    model or a search in the paper decides."""

    def __init__(self, searcher: Asker, index: OpenIndex, protocol: Protocol, criteria: str) -> None:
        self._searcher, self._index, self._protocol, self._criteria = searcher, index, protocol, criteria
        self._judge = ModelJudge(searcher, index, protocol) if searcher.tools.uses_model("answer") else None

    @property
    def failed(self) -> list[str]:
        """The errors of model calls; the next run screens those papers again."""
        return self._judge.failed if self._judge else []

    @property
    def usage(self) -> Usage:
        return self._judge.usage if self._judge else Usage()

    def screen(self, papers: Sequence[ScreenedPaper]) -> list[Screening]:
        begun = [self._ruled(paper) for paper in papers]
        return [self._finished(one, judged) for one, judged in zip(begun, self._judged(begun), strict=True)]

    def _ruled(self, paper: ScreenedPaper) -> _Begun:
        quoting = Quoting(self._index, read_paper(self._index, paper.paper_id))
        begun = _Begun(paper, quoting, {}, [])
        for criterion in self._protocol.criteria:
            excludes = criterion in self._protocol.exclude
            verdict = by_rule(criterion, criterion.rule, paper, quoting, excludes=excludes) if criterion.rule else None
            if verdict is None or _is_open(criterion, verdict):
                begun.left.append(criterion)
            else:
                begun.verdicts[criterion.id] = verdict
        return begun

    def _judged(self, begun: Sequence[_Begun]) -> Sequence[Judged | None]:
        """Let the model judge the papers that the rules do not exclude."""
        if self._judge is None:
            return [{}] * len(begun)
        out = [decided(self._protocol, one.verdicts)[0] == "exclude" for one in begun]
        asked = [Asked(one.quoting, [] if gone else one.left) for one, gone in zip(begun, out, strict=True)]
        return self._judge.judge(asked)

    def _finished(self, begun: _Begun, judged: Judged | None) -> Screening:
        for criterion in begun.left:
            begun.verdicts[criterion.id] = (judged or {}).get(criterion.id) or by_search(
                self._searcher,
                self._index,
                criterion,
                begun.paper.paper_id,
                excludes=criterion in self._protocol.exclude,
            )
        decision, reason = decided(self._protocol, begun.verdicts)
        return Screening(
            sha256=begun.paper.sha256,
            key=begun.paper.key,
            criteria=self._criteria if judged is not None else "",
            snapshot_id=self._index.snapshot.id,
            decision=decision,
            criterion=reason,
            verdicts=[begun.verdicts[criterion.id] for criterion in self._protocol.criteria],
        )


def _is_open(criterion: Criterion, verdict: Verdict) -> bool:
    """Whether the phrases of a rule occur nowhere and the rule leaves that case unclear."""
    left = criterion.rule is not None and criterion.rule.otherwise == "unclear"
    return left and verdict.holds == "unclear" and not verdict.quotes


def decided(protocol: Protocol, verdicts: Mapping[str, Verdict]) -> tuple[Decision, str]:
    """Return the decision and the id of the criterion that is its reason: the first, in the protocol's order, that
    excludes the paper, or else the first without a clear verdict. The id is empty for an included paper."""
    wanted = {one.id: "no" for one in protocol.include} | {one.id: "yes" for one in protocol.exclude}
    holds = {name: verdicts[name].holds if name in verdicts else "unclear" for name in wanted}
    for name, against in wanted.items():
        if holds[name] == against:
            return "exclude", name
    for name in wanted:
        if holds[name] == "unclear":
            return "unsure", name
    return "include", ""

"""Compares answers of two modes with a model as judge (`roles.judge`), as GraphRAG was evaluated.

The criteria are those of Edge et al., "From Local to Global" (2024). Each pair is judged in both orders, because judges
prefer the first answer: an answer wins if it wins both times; otherwise it is a tie.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator

from monjyu_core.errors import ConfigurationError
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.factory import check_role, context_room
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import Message
from monjyu_core.text.language import message_language
from monjyu_core.text.tokens import beginning, count_tokens
from monjyu_core.values import Values
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.evaluation.lazy_summary import mean_and_interval
from monjyu_query.search.searcher import Searcher

CRITERIA = ("comprehensiveness", "diversity", "empowerment", "directness")
NO_ANSWER = "The papers do not answer this."
LEAST_AGREED = 0.5
"""The minimum share of judgements that must be equal in both orders. A judge that chooses at random has a third."""
LONGEST = 12_000
"""The number of characters after which an answer is cut before it is judged."""


def _winner(value: object) -> str:
    said = str(value).strip().casefold().removeprefix("answer ").strip()
    return said if said in ("1", "2") else "tie"


Better = Annotated[Literal["1", "2", "tie"], BeforeValidator(_winner)]


class ComparedAnswers(BaseModel):
    """The judge's comparison of two answers."""

    comprehensiveness: Better
    diversity: Better
    empowerment: Better
    directness: Better
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """A judged pair of answers. `values`: by criterion 1 if the mode's answer is better, 0 if the baseline's is, 0.5
    for a tie; empty if the judge failed. `agreed`: the number of criteria with the same result in both orders. `same`:
    the answers are equal, so the judge was not asked."""

    values: Mapping[str, float] = field(default_factory=dict)
    agreed: int = 0
    same: bool = False
    failure: str = ""
    calls: int = 0
    cost_usd: float = 0.0


class AnswerJudge:
    """The model of `roles.judge`. Raises ConfigurationError if no model has this role."""

    def __init__(self, searcher: Searcher) -> None:
        settings = searcher.settings
        if not searcher.tools.uses_model("judge"):
            raise ConfigurationError(
                "No model judges answers.", "Set roles.judge.engine to llm and roles.judge.model to a strong model."
            )
        check_role(settings, "judge")
        self.model = settings.models[settings.roles.judge.model].model
        self._searcher = searcher

    def judge(self, question: str, own: SearchResult, other: SearchResult) -> Judged:
        """Compare two answers in two calls, one for each order. Equal answers are a tie without a call."""
        account = self._searcher.account(self._searcher.current())
        session = self._searcher.tools.session(account)
        language = message_language(question)
        prompt = load_prompt("judge", language, self._searcher.settings.prompts.folder)
        room = context_room(self._searcher.settings, "judge") - count_tokens(
            prompt.render(question=fence(0, question), first=fence(1, ""), second=fence(2, ""))
        )
        texts, papers = (_text(own, room // 2), _text(other, room // 2)), _papers(own, other)
        if texts[0] == texts[1]:
            return Judged(dict.fromkeys(CRITERIA, 0.5), same=True)

        try:
            first, second = run(in_both_orders(session, prompt, question, texts, papers))
        except ModelCallError as error:
            return Judged(failure=str(error), calls=account.used.llm_calls, cost_usd=account.used.cost_usd)
        return replace(judged_of(first, second), calls=account.used.llm_calls, cost_usd=account.used.cost_usd)


def judged_of(first: ComparedAnswers, second: ComparedAnswers) -> Judged:
    """The combined result of two comparisons, the second of which had the answers in reverse order."""
    pairs = {name: (getattr(first, name), _turned(getattr(second, name))) for name in CRITERIA}
    values = {name: _value(*pair) for name, pair in pairs.items()}
    return Judged(values, sum(one == two for one, two in pairs.values()))


async def in_both_orders(
    session: Session, prompt: Prompt, question: str, texts: tuple[str, str], papers: Sequence[str]
) -> list[ComparedAnswers]:
    """Compare two texts in two calls, one for each order. Raises the errors of `monjyu_core.models.call_errors`."""
    orders = (texts, texts[::-1])
    asked = [
        prompt.render(question=fence(0, question), first=fence(1, one), second=fence(2, two)) for one, two in orders
    ]
    calls = (
        session.structured("judge", [Message("user", text)], prompt.hash, ComparedAnswers, papers) for text in asked
    )
    return list(await asyncio.gather(*calls))


def compare_modes(
    searcher: Searcher, questions: Iterable[str], mode: str, baseline: str, budget: str | int | None = None
) -> Iterator[Judged]:
    """Ask each question in both modes, and let the judge compare the answers. `budget` is that of the mode."""
    judge = AnswerJudge(searcher)
    for question in questions:
        given = {"query": question, "collection": searcher.collection}
        own = searcher.search(make_request(**given, mode=mode, budget=budget))
        yield judge.judge(question, own, searcher.search(make_request(**given, mode=baseline)))


def summary(judged: Sequence[Judged]) -> Values:
    """Return, by criterion, wins, ties, losses and the win rate (a tie counts a half) with its 95 % interval
    (bootstrap); the share of judgements of differing pairs on which both orders agree; the number of failed pairs."""
    done = [one for one in judged if one.values]
    criteria: Values = {}
    for name in CRITERIA if done else ():
        values = np.array([one.values[name] for one in done])
        rate, interval = mean_and_interval(values)
        counts = {word: int((values == value).sum()) for word, value in (("wins", 1), ("ties", 0.5), ("losses", 0))}
        criteria[name] = counts | {"win_rate": rate, "interval": interval}
    asked = [one for one in done if not one.same]
    agreed = sum(one.agreed for one in asked) / (len(CRITERIA) * len(asked)) if asked else None
    return {
        "questions": len(judged),
        "criteria": criteria,
        "warnings": _doubts(asked, agreed),
        "orders_agree": None if agreed is None else round(agreed, 4),
        "same": len(done) - len(asked),
        "failed": len(judged) - len(done),
        "llm_calls": sum(one.calls for one in judged),
        "cost_usd": round(sum(one.cost_usd for one in judged), 6),
    }


def _doubts(asked: Sequence[Judged], agreed: float | None) -> list[str]:
    """Return a warning for each known fault of small models: they prefer the first answer, or never prefer one."""
    larger = "its judgements are meaningless. Use a larger model in roles.judge.model."
    if agreed is not None and agreed < LEAST_AGREED:
        return [f"The judge's verdict changes when the answers are swapped, so it follows their order: {larger}"]
    if len(asked) > 1 and all(value == 0.5 for one in asked for value in one.values.values()):
        return [f"The judge calls everything a tie: {larger}"]
    return []


def _text(result: SearchResult, most: int) -> str:
    """Return the answer with its citation marks and the titles of its sources, cut to `most` tokens."""
    if result.status == "abstained" or not result.answer.strip():
        return NO_ANSWER
    sources = "\n".join(f"[{one.n}] {one.paper_title}" for one in result.citations)
    return beginning(f"{result.answer[:LONGEST]}\n\n{sources}", most)


def _papers(*results: SearchResult) -> list[str]:
    return sorted({citation.paper_id for result in results for citation in result.citations})


def _turned(winner: str) -> str:
    return {"1": "2", "2": "1"}.get(winner, winner)


def _value(one: str, two: str) -> float:
    return {"1": 1.0, "2": 0.0}.get(one, 0.5) if one == two else 0.5

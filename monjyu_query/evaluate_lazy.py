"""Lazy search measured on questions with gold evidence: how much of it is found, by budget, and at what cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monjyu_core.errors import ConfigurationError
from monjyu_query.evaluate import numbered_lines
from monjyu_query.result import SearchResult

Ask = Callable[[str, str, int], SearchResult]
"""(question, mode, budget in mode lazy or passages in mode hybrid) to a result."""


@dataclass(frozen=True)
class GoldQuestion:
    """`gold`: (paper_id, sentence) pairs that an answer rests on; none where the collection has no answer."""

    question_id: str
    text: str
    gold: frozenset[tuple[str, str]]


def read_questions(path: Path) -> list[GoldQuestion]:
    """`{"id", "text", "gold": [{"paper_id", "sentence"}]}` a line. ConfigurationError names the line that is wrong."""
    questions = []
    for number, line in numbered_lines(path):
        try:
            record = json.loads(line)
            gold = frozenset((str(g["paper_id"]), plain(g["sentence"])) for g in record["gold"])
            questions.append(GoldQuestion(str(record["id"]), str(record["text"]), gold))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ConfigurationError(f'{path}, line {number}: no {{"id", "text", "gold"}}.') from None
    if not any(question.gold for question in questions):
        raise ConfigurationError(f"{path} has no question with gold sentences.")
    return questions


def plain(text: str) -> str:
    """On one line, with single spaces."""
    return " ".join(text.split())


def measure(ask: Ask, questions: Sequence[GoldQuestion], budgets: Iterable[int]) -> dict[str, Any]:
    """Means over the questions with gold, for each budget, and for hybrid with as many passages as lazy found.

    Evidence are the claims' quotes; with a budget of 0, and in hybrid, the sentences cited. `passage_recall` is the
    share of the gold sentences that stand in the passages shown, which compares the two.
    """
    answerable = [question for question in questions if question.gold]
    rows, passages = [], [0] * len(answerable)
    for budget in budgets:
        found = [_timed(ask, question, "lazy", budget) for question in answerable]
        rows.append({"budget": budget, **_means(answerable, found)})
        passages = [max(known, len(result.hits)) for known, (result, _) in zip(passages, found, strict=True)]
    pairs = zip(answerable, passages, strict=True)
    hybrid = [_timed(ask, question, "hybrid", max(1, count)) for question, count in pairs]
    return {"questions": len(answerable), "budgets": rows, "hybrid": _means(answerable, hybrid)}


def _timed(ask: Ask, question: GoldQuestion, mode: str, number: int) -> tuple[SearchResult, float]:
    started = time.perf_counter()
    return ask(question.text, mode, number), time.perf_counter() - started


def _means(questions: Sequence[GoldQuestion], found: Sequence[tuple[SearchResult, float]]) -> dict[str, float]:
    values = [_values(question, result, seconds) for question, (result, seconds) in zip(questions, found, strict=True)]
    return {name: round(sum(value[name] for value in values) / len(values), 4) for name in values[0]}


def _values(question: GoldQuestion, result: SearchResult, seconds: float) -> dict[str, float]:
    quotes = {(claim["paper_id"], plain(claim["quote"])) for claim in result.claims}
    evidence = quotes or {(citation.paper_id, plain(citation.quote)) for citation in result.citations}
    right = len(evidence & question.gold)
    texts: dict[str, str] = {}
    for hit in result.hits:
        texts[hit.paper_id] = f"{texts.get(hit.paper_id, '')}\n{plain(hit.text)}"
    shown = sum(sentence in texts.get(paper, "") for paper, sentence in question.gold)
    return {
        "evidence_recall": right / len(question.gold),
        "evidence_precision": right / len(evidence) if evidence else 0.0,
        "passage_recall": shown / len(question.gold),
        "passages": len(result.hits),
        "tests": result.usage.relevance_tests,
        "llm_calls": result.usage.llm_calls,
        "tokens": result.usage.prompt_tokens + result.usage.completion_tokens,
        "seconds": seconds,
    }

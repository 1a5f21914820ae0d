"""Lazy search measured on questions with gold evidence: how much of it is found, by budget, and at what cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from monjyu_core.errors import ConfigurationError
from monjyu_query.evaluate import numbered_lines
from monjyu_query.result import SearchResult

Gold = frozenset[tuple[str, str]]
"""(paper_id, sentence) pairs."""
Ask = Callable[[str, str, int], SearchResult]
"""(question, mode, budget in mode lazy or passages in mode hybrid) to a result."""
REFERENCE = 100
"""The budget whose number of passages hybrid search is given; the largest where it is not asked for."""
HYBRID = -1
"""In place of a budget, in the runs."""


@dataclass(frozen=True)
class GoldQuestion:
    """`gold` is what an answer rests on; empty where the collection has no answer. `kind` is free."""

    question_id: str
    text: str
    gold: Gold
    kind: str = ""

    @property
    def multi(self) -> bool:
        """Three gold sentences or more, from two papers or more."""
        return len(self.gold) > 2 and len({paper for paper, _ in self.gold}) > 1


@dataclass(frozen=True)
class Found:
    """What one search showed as evidence: sentences, the chunks they stand in, and all sentences of these chunks."""

    sentences: Gold
    chunks: frozenset[str]
    around: Gold


class Evidence:
    """Reads the evidence of results: the sentences of lazy search's claims (without a claim those that its answer
    cites), and all sentences of the passages of any other search, which thus cannot miss by its choice of sentences.
    """

    def __init__(self, sentences_of: Callable[[Sequence[str]], dict[str, Gold]]) -> None:
        """`sentences_of` chunks: by sentence_id and by chunk_id, what stands there."""
        self._sentences_of = sentences_of

    def of(self, result: SearchResult) -> Found:
        if result.mode != "lazy":
            chunks = frozenset(hit.chunk_id for hit in result.hits)
        elif result.claims:
            chunks = frozenset(claim["chunk_id"] for claim in result.claims)
        else:
            chunks = frozenset(citation.chunk_id for citation in result.citations)
        named = [name for claim in result.claims for name in claim["sentence_ids"]]
        named = named or [name for citation in result.citations for name in citation.sentence_ids]
        texts = self._sentences_of([*chunks, *named])
        around = _joined(texts[chunk] for chunk in chunks if chunk in texts)
        sentences = _joined(texts[name] for name in named if name in texts) if result.mode == "lazy" else around
        return Found(sentences, chunks, around)


@dataclass(frozen=True)
class Run:
    """One question with one budget (`HYBRID`: in mode hybrid), and its measures by name."""

    question: GoldQuestion
    budget: int
    values: dict[str, float] = field(default_factory=dict)


def read_questions(path: Path) -> list[GoldQuestion]:
    """`{"id", "text", "gold": [{"paper_id", "sentence"}]}` a line. ConfigurationError names the line that is wrong."""
    questions = []
    for number, line in numbered_lines(path):
        try:
            record = json.loads(line)
            gold = frozenset((str(g["paper_id"]), plain(g["sentence"])) for g in record["gold"])
            kind = str(record.get("kind", ""))
            questions.append(GoldQuestion(str(record["id"]), str(record["text"]), gold, kind))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ConfigurationError(f'{path}, line {number}: no {{"id", "text", "gold"}}.') from None
    if not any(question.gold for question in questions):
        raise ConfigurationError(f"{path} has no question with gold sentences.")
    return questions


def plain(text: str) -> str:
    """On one line, with single spaces."""
    return " ".join(text.split())


def run(ask: Ask, evidence: Evidence, questions: Sequence[GoldQuestion], budgets: Sequence[int]) -> Iterator[Run]:
    """Each question with each budget, then in mode hybrid with as many passages as its lazy evidence stands in."""
    reference = REFERENCE if REFERENCE in budgets else max(budgets)
    for question in questions:
        passages = 1
        for budget in budgets:
            lazy = _run(ask, evidence, question, "lazy", budget)
            if budget == reference:
                passages = max(1, int(lazy.values["passages"]))
            yield lazy
        yield _run(ask, evidence, question, "hybrid", passages)


def _run(ask: Ask, evidence: Evidence, question: GoldQuestion, mode: str, number: int) -> Run:
    started = time.perf_counter()
    result = ask(question.text, mode, number)
    seconds = time.perf_counter() - started
    found = evidence.of(result)
    values = {
        "evidence_recall": _share(found.sentences & question.gold, question.gold),
        "evidence_precision": _share(found.sentences & question.gold, found.sentences),
        "passage_recall": _share(found.around & question.gold, question.gold),
        "passages": len(found.chunks),
        "abstained": result.status == "abstained",
        "tests": result.usage.relevance_tests,
        "llm_calls": result.usage.llm_calls,
        "tokens": result.usage.prompt_tokens + result.usage.completion_tokens,
        "seconds": seconds,
    }
    numbers = {name: float(value) for name, value in values.items()}
    return Run(question, number if mode == "lazy" else HYBRID, numbers)


def _share(part: Gold, whole: Gold) -> float:
    return len(part) / len(whole) if whole else 0.0


def _joined(sets: Iterator[Gold] | Any) -> Gold:
    return frozenset().union(*sets)

"""Lazy search measured on questions with gold evidence: how much of it is found, by budget, and at what cost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.evaluation.retrieval_quality import numbered_lines
from monjyu_query.search.request import make_request
from monjyu_query.search.result import SearchResult

if TYPE_CHECKING:
    from monjyu_query.search.searcher import Searcher

Gold = frozenset[tuple[str, str]]
"""(paper_id, sentence) pairs."""
MOST_PASSAGES = 1000
REFERENCE = 100
"""The budget whose number of passages hybrid search is given; the largest where it is not asked for."""
HYBRID = -1
"""In place of a budget, in the runs."""

_SENTENCES = """SELECT l.chunk_id, s.sentence_id, i.canonical_id, s.text FROM chunk_sentences l
JOIN sentences s USING (sentence_id) JOIN paper_identity i ON i.paper_id = s.paper_id
WHERE list_contains($names::VARCHAR[], l.chunk_id) OR list_contains($names::VARCHAR[], s.sentence_id)"""


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
class ShownEvidence:
    """What one search showed as evidence: sentences, the chunks they stand in, and all sentences of these chunks."""

    sentences: Gold
    chunks: frozenset[str]
    around: Gold


class Evidence:
    """Reads the evidence of results: the sentences of lazy search's claims (without a claim those that its answer
    cites), and all sentences of the passages of any other search, which thus cannot miss by its choice of sentences.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def of(self, result: SearchResult) -> ShownEvidence:
        if result.mode != "lazy":
            chunks = frozenset(hit.chunk_id for hit in result.hits)
        elif result.claims:
            chunks = frozenset(claim["chunk_id"] for claim in result.claims)
        else:
            chunks = frozenset(citation.chunk_id for citation in result.citations)
        named = [name for claim in result.claims for name in claim["sentence_ids"]]
        named = named or [name for citation in result.citations for name in citation.sentence_ids]
        texts = self._sentences([*chunks, *named])
        around = _joined(texts[chunk] for chunk in chunks if chunk in texts)
        sentences = _joined(texts[name] for name in named if name in texts) if result.mode == "lazy" else around
        return ShownEvidence(sentences, chunks, around)

    def _sentences(self, names: Sequence[str]) -> dict[str, Gold]:
        """What stands in each chunk and sentence with these ids; papers by the id that all their files share."""
        found: dict[str, set[tuple[str, str]]] = {}
        if names:
            rows = self._snapshot.cursor().execute(_SENTENCES, {"names": list(names)}).fetchall()
            for chunk_id, sentence_id, paper, text in rows:
                for name in (chunk_id, sentence_id):
                    found.setdefault(name, set()).add((paper, plain(text)))
        return {name: frozenset(some) for name, some in found.items()}


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


def run(
    searcher: Searcher, evidence: Evidence, questions: Sequence[GoldQuestion], budgets: Sequence[int]
) -> Iterator[Run]:
    """Each question with each budget, then in mode hybrid with as many passages as its lazy evidence stands in."""
    reference = REFERENCE if REFERENCE in budgets else max(budgets)
    for question in questions:
        passages = 1
        for budget in budgets:
            lazy = _run(searcher, evidence, question, "lazy", budget)
            if budget == reference:
                passages = max(1, int(lazy.values["passages"]))
            yield lazy
        yield _run(searcher, evidence, question, "hybrid", passages)


def _run(searcher: Searcher, evidence: Evidence, question: GoldQuestion, mode: str, number: int) -> Run:
    asked = {"budget": number} if mode == "lazy" else {"top_k": min(number, MOST_PASSAGES)}
    request = make_request(query=question.text, collection=searcher.collection, mode=mode, **asked)
    started = time.perf_counter()
    result = searcher.search(request)
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


def _joined(sets: Iterable[Gold]) -> Gold:
    empty: Gold = frozenset()
    return empty.union(*sets)

"""Measures how much of the gold evidence lazy search finds with each budget, and at what cost."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.user_files.bounded_reading import parse_json
from monjyu_core.values import Values
from monjyu_query.asking.request import Filters, make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.evaluation.gold_answers import Gold, PaperTexts, Quote, SpanQuestion
from monjyu_query.evaluation.retrieval_quality import MOST_VALUES, numbered_lines

if TYPE_CHECKING:
    from monjyu_query.search.searcher import Searcher

Evidences = frozenset[tuple[str, str]]
"""(paper_id, sentence) pairs."""
_LINE = 'A line is {"id": "q1", "text": "…", "gold": [{"paper_id": "…", "sentence": "…"}]}.'
_FIRST_HITS = 10
_OF_PAPER = "SELECT paper_id, text FROM sentences WHERE paper_id = ?"
MOST_PASSAGES = 1000
REFERENCE = 100
"""The budget that sets the number of passages of hybrid search; if it is not measured, the largest budget does."""
HYBRID = -1
"""The budget of a run in mode hybrid."""

_SENTENCES = """SELECT l.chunk_id, s.sentence_id, i.canonical_id, s.text FROM chunk_sentences l
JOIN sentences s USING (sentence_id) JOIN paper_identity i ON i.paper_id = s.paper_id
WHERE list_contains($names::VARCHAR[], l.chunk_id) OR list_contains($names::VARCHAR[], s.sentence_id)"""


@dataclass(frozen=True)
class GoldQuestion:
    """A question with gold evidence. `gold` is empty if the collection has no answer; `kind` is any label; `doc` is the
    paper that answers, if known."""

    question_id: str
    text: str
    gold: Evidences
    kind: str = ""
    doc: str | None = None

    @property
    def multi(self) -> bool:
        """Whether it has at least three gold sentences from at least two papers."""
        return len(self.gold) > 2 and len({paper for paper, _ in self.gold}) > 1


@dataclass(frozen=True)
class ShownEvidence:
    """The evidence in one search's result: sentences, their chunks, all sentences of those chunks, all sentences of the
    first passages, and the sentences that the answer cites."""

    sentences: Evidences
    chunks: frozenset[str]
    around: Evidences
    in_hits: Evidences
    cited: Evidences


class Evidence:
    """Reads the evidence in results. For lazy search these are the sentences of its claims or, without claims, of the
    answer's citations. For other modes they are all sentences of the passages, so that their choice of sentences does
    not matter."""

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
        hits = [hit.chunk_id for hit in result.hits[:_FIRST_HITS]]
        cited = [name for citation in result.citations for name in citation.sentence_ids]
        texts = self._sentences([*chunks, *named, *hits, *cited])
        around = _joined(texts[chunk] for chunk in chunks if chunk in texts)
        sentences = _joined(texts[name] for name in named if name in texts) if result.mode == "lazy" else around
        shown = _joined(texts[chunk] for chunk in hits if chunk in texts)
        quoted = _joined(texts[name] for name in cited if name in texts)
        return ShownEvidence(sentences, chunks, around, shown, quoted)

    def _sentences(self, names: Sequence[str]) -> dict[str, Evidences]:
        """Return the sentences of each chunk or sentence in `names`, with the id shared by all files of a paper."""
        found: dict[str, set[tuple[str, str]]] = {}
        if names:
            rows = self._snapshot.cursor().execute(_SENTENCES, {"names": list(names)}).fetchall()
            for chunk_id, sentence_id, paper, text in rows:
                for name in (chunk_id, sentence_id):
                    found.setdefault(name, set()).add((paper, plain(text)))
        return {name: frozenset(some) for name, some in found.items()}


@dataclass(frozen=True)
class Run:
    """The metrics of one question at one budget, by name; `budget` is `HYBRID` for mode hybrid."""

    question: GoldQuestion
    budget: int
    values: dict[str, float] = field(default_factory=dict)


def read_questions(path: Path, snapshot: Snapshot | None = None, *, paraphrased: bool = False) -> list[GoldQuestion]:
    """Read questions with gold, one `{"id", "text", "gold": [{"paper_id", "sentence"}]}` per line, or in the form of
    `monjyu eval answers`: the gold is then the sentences of the `doc` in the snapshot that overlap its `answers`.
    `paraphrased` selects the other wording of generated questions. Raises ConfigurationError for an invalid line."""
    questions = []
    papers = PaperTexts(snapshot.cursor()) if snapshot is not None else None
    for number, line in numbered_lines(path):
        try:
            record = parse_json(line, MOST_VALUES)
            if "gold" not in record and papers is not None and snapshot is not None:
                questions.append(_from_spans(record, papers, snapshot))
                continue
            gold = frozenset((str(g["paper_id"]), plain(g["sentence"])) for g in record["gold"])
            kind = str(record.get("kind", ""))
            text = record.get("paraphrase") or record["text"] if paraphrased else record["text"]
            questions.append(GoldQuestion(str(record["id"]), str(text), gold, kind))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ConfigurationError(f"{path}, line {number} is not a question.", _LINE) from None
    if not any(question.gold for question in questions):
        raise ConfigurationError(f"{path} has no question with gold sentences.", _LINE)
    return questions


def _from_spans(record: Values, papers: PaperTexts, snapshot: Snapshot) -> GoldQuestion:
    doc, texts = str(record["doc"]), [str(answer["text"]) for answer in record["answers"]]
    spans = Gold(SpanQuestion(str(record["id"]), str(record["text"]), doc, tuple(texts)), papers)
    rows = snapshot.cursor().execute(_OF_PAPER, [doc]).fetchall()
    found = frozenset((paper, plain(text)) for paper, text in rows if spans.is_evidence(Quote(doc, text)))
    return GoldQuestion(str(record["id"]), str(record["text"]), found, str(record.get("kind", "")), doc)


def plain(text: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(text.split())


def run(
    searcher: Searcher,
    evidence: Evidence,
    questions: Sequence[GoldQuestion],
    budgets: Sequence[int],
    *,
    within_paper: bool = False,
) -> Iterator[Run]:
    """Yield the run of each question with each budget, then in mode hybrid with the number of passages that contain the
    evidence of the reference budget. `within_paper`: only the paper that answers is searched, if it is known."""
    reference = reference_of(budgets)
    for question in questions:
        passages = 1
        filters = Filters(paper_ids=[question.doc] if within_paper and question.doc else [])
        for budget in budgets:
            lazy = _run(searcher, evidence, question, "lazy", budget, filters)
            if budget == reference:
                passages = max(1, int(lazy.values["passages"]))
            yield lazy
        yield _run(searcher, evidence, question, "hybrid", passages, filters)


def reference_of(budgets: Sequence[int]) -> int:
    """The budget with which hybrid search is compared."""
    return REFERENCE if REFERENCE in budgets else max(budgets)


def _run(
    searcher: Searcher, evidence: Evidence, question: GoldQuestion, mode: str, number: int, filters: Filters
) -> Run:
    asked = {"budget": number} if mode == "lazy" else {"top_k": min(number, MOST_PASSAGES)}
    request = make_request(query=question.text, collection=searcher.collection, mode=mode, filters=filters, **asked)
    started = time.perf_counter()
    result = searcher.search(request)
    seconds = time.perf_counter() - started
    found = evidence.of(result)
    values = {
        "evidence_recall": _share(found.sentences & question.gold, question.gold),
        "evidence_precision": _share(found.sentences & question.gold, found.sentences),
        "passage_recall": _share(found.around & question.gold, question.gold),
        "passage_precision": _share(found.around & question.gold, found.around),
        "evidence_in_hits": _share(found.in_hits & question.gold, question.gold),
        "evidence_in_citations": _share(found.cited & question.gold, question.gold),
        "passages": len(found.chunks),
        "abstained": result.status == "abstained",
        "tests": result.usage.relevance_tests,
        "llm_calls": result.usage.llm_calls,
        "tokens": result.usage.prompt_tokens + result.usage.completion_tokens,
        "seconds": seconds,
    }
    numbers = {name: float(value) for name, value in values.items()}
    return Run(question, number if mode == "lazy" else HYBRID, numbers)


def _share(part: Evidences, whole: Evidences) -> float:
    return len(part) / len(whole) if whole else 0.0


def _joined(sets: Iterable[Evidences]) -> Evidences:
    empty: Evidences = frozenset()
    return empty.union(*sets)

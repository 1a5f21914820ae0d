"""From ranked passages to an answer: weigh the evidence, choose sentences, cite them, or abstain and say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_core.settings.settings import AnswerSettings
from monjyu_query.answers.citing import cite
from monjyu_query.answers.evidence_ranking.evidence_ranker import Similarities, judge_sentences
from monjyu_query.answers.segments import answer_markdown, laid_out
from monjyu_query.answers.selection import Question, choose_evidence, weigh_evidence
from monjyu_query.ranking.retrieval import QueryTerm
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, load_sentences
from monjyu_query.search.request import ResponseType
from monjyu_query.search.result import AnswerTable, Citation, Segment, Status

SHORT = 2
"""Sentences of a short answer."""


@dataclass(frozen=True)
class Answer:
    """`verified`: there are citations and each quote was found in its source."""

    segments: list[Segment]
    status: Status
    citations: list[Citation] = field(default_factory=list)
    verified: bool = False
    warnings: list[str] = field(default_factory=list)
    tables: list[AnswerTable] = field(default_factory=list)
    confidence: float | None = None

    @property
    def text(self) -> str:
        """As Markdown."""
        return answer_markdown(self.segments, self.tables)


def answer_from(
    index: OpenIndex,
    query: str,
    asked: Sequence[QueryTerm],
    passages: Sequence[Passage],
    similarity: float | None,
    similarities: Similarities,
    settings: AnswerSettings,
    response_type: ResponseType | None = None,
) -> Answer:
    """The extractive answer from a question with its terms, its best passages and the similarity of its closest chunk;
    `similarities` gives those of sentences."""
    if not passages:
        return abstained("no passage was found")
    question = Question.of(asked, len(index.corpus))
    sentences = load_sentences(index.snapshot.cursor(), passages)
    texts = [*(f"{passage.header}\n{passage.text}" for passage in passages), *(s.text for s in sentences)]
    terms = index.keywords.terms(texts)
    evidence = weigh_evidence(question, terms[: len(passages)], similarity, index.scale)
    if evidence.support < settings.min_support:
        return abstained(evidence.thin_because())
    own = terms[len(passages) :]
    judged = judge_sentences(query, question, sentences, own, similarities, index.scale)
    settings = for_type(settings, response_type)
    chosen = choose_evidence(question, judged.probability, judged.least, sentences, own, settings)
    citations = cite(index.snapshot.cursor(), chosen)
    dropped = len(chosen) - len(citations)
    warnings = [f"{dropped} quotes were not found in their source and left out."] if dropped else []
    if not citations:
        return abstained("no sentence of the passages found speaks of it", warnings)
    return Answer(quoted(citations, response_type), "complete", citations, verified=True, warnings=warnings)


def for_type(settings: AnswerSettings, response_type: ResponseType | None) -> AnswerSettings:
    """As many sentences as the response type allows."""
    most = min(SHORT, settings.max_sentences) if response_type == "short" else settings.max_sentences
    return settings.model_copy(update={"max_sentences": most})


def quoted(
    citations: Sequence[Citation], response_type: ResponseType | None, texts: Sequence[str] | None = None
) -> list[Segment]:
    """The quotes (or these texts for them), each with its number."""
    texts = texts or [" ".join(citation.quote.split()) for citation in citations]
    return laid_out([(text, [c.n], c.paper_id) for c, text in zip(citations, texts, strict=True)], response_type)


def abstained(reason: str, warnings: Sequence[str] = ()) -> Answer:
    """No answer, and why."""
    said = Segment(text=f"The collection does not answer this: {reason}.")
    return Answer([said], "abstained", warnings=list(warnings))

"""From ranked passages to an answer: weigh the evidence, choose sentences, cite them, or abstain and say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_core.settings import AnswerSettings
from monjyu_query.answer import Question, choose_sentences, weigh_evidence
from monjyu_query.citations import cite
from monjyu_query.open_index import OpenIndex
from monjyu_query.passages import Passage, load_sentences
from monjyu_query.request import ResponseType
from monjyu_query.result import Citation, Status
from monjyu_query.retrieval import QueryTerm

SHORT = 2
"""Sentences of a short answer."""


@dataclass(frozen=True)
class Answer:
    """`verified`: there are citations and each quote was found in its source."""

    text: str
    status: Status
    citations: list[Citation] = field(default_factory=list)
    verified: bool = False
    warnings: list[str] = field(default_factory=list)


def answer_from(
    index: OpenIndex,
    asked: Sequence[QueryTerm],
    passages: Sequence[Passage],
    similarity: float | None,
    settings: AnswerSettings,
    response_type: ResponseType | None = None,
) -> Answer:
    """The extractive answer from a question's terms, its best passages and the similarity of its closest chunk."""
    if not passages:
        return abstained("no passage was found")
    question = Question.of(asked, len(index.corpus))
    sentences = load_sentences(index.snapshot.cursor(), passages)
    texts = [*(f"{passage.header}\n{passage.text}" for passage in passages), *(s.text for s in sentences)]
    terms = index.keywords.terms(texts)
    evidence = weigh_evidence(question, terms[: len(passages)], similarity, index.scale)
    if evidence.support < settings.min_support:
        return abstained(evidence.thin_because())
    chosen = choose_sentences(question, sentences, terms[len(passages) :], for_type(settings, response_type))
    citations = cite(index.snapshot.cursor(), chosen)
    dropped = len(chosen) - len(citations)
    warnings = [f"{dropped} quotes were not found in their source and left out."] if dropped else []
    if not citations:
        return abstained("no sentence of the passages found speaks of it", warnings)
    return Answer(as_text(citations, response_type), "complete", citations, verified=True, warnings=warnings)


def for_type(settings: AnswerSettings, response_type: ResponseType | None) -> AnswerSettings:
    """As many sentences as the response type allows."""
    most = min(SHORT, settings.max_sentences) if response_type == "short" else settings.max_sentences
    return settings.model_copy(update={"max_sentences": most})


def as_text(
    citations: Sequence[Citation], response_type: ResponseType | None, texts: Sequence[str] | None = None
) -> str:
    """The quotes (or these texts for them) with their numbers: on one line, a paragraph a paper, or an item each."""
    texts = texts or [" ".join(citation.quote.split()) for citation in citations]
    said = [(c.paper_id, f"{text} [{c.n}]") for c, text in zip(citations, texts, strict=True)]
    if response_type == "list":
        return "\n".join(f"- {text}" for _, text in said)
    if response_type == "paragraphs":
        papers = dict.fromkeys(paper for paper, _ in said)
        return "\n\n".join(" ".join(text for owner, text in said if owner == paper) for paper in papers)
    return " ".join(text for _, text in said)


def abstained(reason: str, warnings: Sequence[str] = ()) -> Answer:
    """No answer, and why."""
    return Answer(f"The collection does not answer this: {reason}.", "abstained", warnings=list(warnings))

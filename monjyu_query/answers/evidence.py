"""Writes one answer from the passages and claims of several searches, with one engine."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monjyu_core.text.language import message_language
from monjyu_query.answers.answer import Answer, abstained
from monjyu_query.answers.citing import Neighbours, cite_windows
from monjyu_query.answers.claims import SAME, Claim, claim_passages, passages_of
from monjyu_query.answers.composition import SHORT, asked_of, compose, model_answer, or_extractive
from monjyu_query.answers.layout import said
from monjyu_query.answers.segments import OF_MANY, form_of, laid_out
from monjyu_query.answers.selection import Question, alike, is_statement
from monjyu_query.asking.passages import Passage, in_order, load_passages, load_sentences, sentences_by_id
from monjyu_query.asking.request import ResponseType
from monjyu_query.asking.result import Hit, SearchResult
from monjyu_query.asking.topic import topic_of
from monjyu_query.papers.labels import paper_labels
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Ask, Tools

_LEAST_SHARE = 0.6
"""The minimum score of a quoted claim, as a share of the best claim's score."""
_LONGEST_THEME = 80
"""The maximum number of characters in a heading."""
PASSAGES, MANY_PASSAGES = 8, 24
CLAIMS = 24
"""The maximum number of claims of all modes together in an answer."""


@dataclass(frozen=True)
class AnswerEvidence:
    """The passages and claims of an answer, best first. A model reads the first `whole` passages in full."""

    passages: list[Passage]
    claims: list[Claim]
    whole: int = PASSAGES


def gather_evidence(ask: Ask, results: Sequence[SearchResult], hits: Sequence[Hit]) -> AnswerEvidence:
    """The fused hits and up to `CLAIMS` claims, taken from the results in turn. For a survey, or a question about the
    whole collection, only the claims of global search are used, if there are any."""
    cursor = ask.index.snapshot.cursor_of(hit.paper_id for hit in hits)
    passages = load_passages(cursor, [hit.chunk_id for hit in hits], [hit.score for hit in hits])
    whole = ask.routing.query_type == "survey" or not topic_of(ask.request.query)
    surveys = [result for result in results if whole and result.mode == "global" and result.claims]
    results = surveys or results
    said = [claim for turn in range(CLAIMS) for result in results for claim in result.claims[turn : turn + 1]]
    sentences = sentences_by_id(ask.index.snapshot.cursor(), (name for claim in said for name in claim["sentence_ids"]))
    claims: dict[str, Claim] = {}
    for one in said:
        sources = in_order(sentences, one["sentence_ids"])
        if sources:
            made = Claim(one["statement"], sources, one["score"], one["community_id"], one["engine"])
            claims.setdefault(one["statement"], made)
    return AnswerEvidence(passages, list(claims.values())[:CLAIMS])


def answer_from_evidence(tools: Tools, ask: Ask, found: AnswerEvidence) -> tuple[Answer, str]:
    """Write the answer with the engine of the role `answer`; if its model fails, return the extractive answer, marked
    as partial."""
    if not found.passages:
        return abstained("no passage was found", message_language(ask.request.query)), "extractive"
    asked = ask.index.keywords.query_terms(ask.request.query)
    sources = [] if ask.cancel.is_set() else _sources(found)
    return or_extractive(*model_answer(tools, ask, sources, asked), lambda: draft_answer(tools, ask, found))


def _sources(found: AnswerEvidence) -> list[Passage]:
    """The sources of a model's answer: the best passages completely, and the claims of further chunks."""
    whole = found.passages[: found.whole]
    known = {passage.chunk_id for passage in whole}
    return whole + [passage for passage in claim_passages(found.claims) if passage.chunk_id not in known]


def draft_answer(tools: Tools, ask: Ask, found: AnswerEvidence) -> Answer:
    """The extractive answer, from sentences of the best passages and of the claims."""
    if not found.passages:
        return abstained("no passage was found", message_language(ask.request.query))
    index = ask.index
    if found.claims and not topic_question(index, ask.request.query).weights:
        return spread_answer(ask, found.claims)
    many = form_of(ask.request.query, ask.routing.query_type) in OF_MANY
    passages = found.passages[: MANY_PASSAGES if many else PASSAGES]
    sentences = {
        s.sentence_id: s for s in load_sentences(index.snapshot.cursor_of(one.paper_id for one in passages), passages)
    }
    for claim in found.claims[:CLAIMS]:
        sentences.setdefault(claim.sentences[0].sentence_id, claim.sentences[0])
    question = Question.of(index.keywords.query_terms(ask.request.query), len(index.corpus))
    return compose(asked_of(tools, ask, question), passages, list(sentences.values()), closest(tools, ask, passages))


def topic_question(index: OpenIndex, query: str) -> Question:
    """The terms of the question's topic; none if the topic is the collection as a whole."""
    topic = topic_of(query)
    return Question.of(index.keywords.query_terms(topic) if topic else [], len(index.corpus))


def spread_answer(ask: Ask, claims: Sequence[Claim]) -> Answer:
    """The answer from the first sentences of the best claims: one of each community and paper before a second of any,
    without duplicates and without claims much weaker than the best."""
    index, kind, most = ask.index, ask.request.response_type, ask.settings.reports.max_sentences
    claims = [claim for claim in claims if is_statement(claim.sentences[0].text)] or list(claims)
    terms = [frozenset(some) for some in index.keywords.terms([claim.sentences[0].text for claim in claims])]
    most = min(SHORT, most) if kind == "short" else most
    turns: Counter[str | None] = Counter()
    ranked: list[tuple[int, int]] = []
    for place, claim in enumerate(claims):
        if claim.score >= _LEAST_SHARE * claims[0].score:
            paper = claim.sentences[0].passage.paper_id
            ranked.append((max(turns[claim.community], turns[paper]), place))
            turns.update([claim.community, paper])
    chosen: list[int] = []
    for _, place in sorted(ranked):
        if len(chosen) < most and all(alike(terms[place], terms[other]) < SAME for other in chosen):
            chosen.append(place)
    return _by_theme(index, [claims[place] for place in chosen], message_language(ask.request.query), kind)


def _by_theme(index: OpenIndex, claims: Sequence[Claim], language: str, response_type: ResponseType | None) -> Answer:
    """The answer that quotes the claims' first sentences, grouped by theme and labelled with their papers."""
    cursor = index.snapshot.cursor()
    neighbours = Neighbours(load_sentences(cursor, passages_of([claim.sentences[0] for claim in claims])))
    themes = {claim.sentences[0].sentence_id: _theme(claim) for claim in claims}
    cited = cite_windows(cursor, [neighbours.grown(claim.sentences[0]) for claim in claims])
    if not cited:
        return abstained("no retrieved sentence is in its source", language)
    labels = paper_labels(index, [citation.paper_id for _, citation in cited], language)
    order = list(dict.fromkeys(themes[window.key.sentence_id] for window, _ in cited))
    told: list[tuple[str, list[int], str]] = []
    before = ""
    for window, citation in sorted(cited, key=lambda one: order.index(themes[one[0].key.sentence_id])):
        theme, label = themes[window.key.sentence_id], labels[citation.paper_id]
        told.append((said(window), [citation.n], f"{theme} – {label}" if theme != before else label))
        before = theme
    numbers = {old: new for new, (_, [old], _) in enumerate(told, start=1)}
    segments = laid_out([(text, [numbers[n] for n in some], label) for text, some, label in told], response_type)
    citations = [citation.model_copy(update={"n": numbers[citation.n]}) for _, citation in cited]
    return Answer(segments, "complete", sorted(citations, key=lambda c: c.n), verified=True)


def _theme(claim: Claim) -> str:
    """The heading that precedes the quote in the statement of an extractive claim; empty for a claim in a model's
    words."""
    quote = " ".join(claim.sentences[0].text.split())
    if not claim.statement.endswith(quote):
        return ""
    theme = claim.statement.removesuffix(quote).strip().rstrip(":：")
    return theme if len(theme) <= _LONGEST_THEME else theme[:_LONGEST_THEME].rsplit(" ", 1)[0].rstrip(",") + " …"


def closest(tools: Tools, ask: Ask, passages: Sequence[Passage]) -> float:
    """The similarity between the question and the closest of the passages; 0 if there are none."""
    wanted = {passage.chunk_id for passage in passages}
    rows = list(ask.index.corpus.chunk_ids.rows_of(wanted).values())
    vector = tools.embedder.embed(ask.request.query, ask.index.snapshot.manifest)
    return float(np.vecdot(ask.index.corpus.vectors[rows], vector).max()) if rows else 0.0

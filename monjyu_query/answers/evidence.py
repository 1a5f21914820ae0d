"""One answer from what several searches found: their passages and what they claim, by one engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from monjyu_core.settings.settings import AnswerSettings
from monjyu_query.answers.answering import SHORT, Answer, abstained, for_type, quoted
from monjyu_query.answers.citing import cite
from monjyu_query.answers.evidence_ranking.evidence_ranker import judge_sentences
from monjyu_query.answers.selection import (
    Question,
    alike,
    choose_evidence,
    choose_sentences,
    is_statement,
    weigh_evidence,
)
from monjyu_query.answers.topic import sides_of, topic_of
from monjyu_query.knowledge.source_sentences import in_order, sentences_by_id
from monjyu_query.modes.lazy.compose import claim_passages
from monjyu_query.modes.lazy.lazy_claims import SAME, Claim
from monjyu_query.ranking.retrieval import vector_scores
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence, load_passages, load_sentences
from monjyu_query.search.request import ResponseType
from monjyu_query.search.result import Hit, SearchResult
from monjyu_query.search.tools import Ask, Tools

_LEAST_SHARE = 0.6
"""A sentence must have this share of the best claim's score."""
PASSAGES = 8
CLAIMS = 24
"""Of all modes together, in an answer."""


@dataclass(frozen=True)
class AnswerEvidence:
    """What was found, best first; of the passages `whole` are read as they are. `surveyed`: the claims are the points
    of global search, from which an answer takes one after another."""

    passages: list[Passage]
    claims: list[Claim]
    whole: int = PASSAGES
    surveyed: bool = False


def gather_evidence(ask: Ask, results: Sequence[SearchResult], hits: Sequence[Hit]) -> AnswerEvidence:
    """The fused hits and the claims of all results, in turns so that none is crowded out. For a survey, or a question
    about the whole collection, the claims are those of global search, if it found any."""
    cursor = ask.index.snapshot.cursor()
    passages = load_passages(cursor, [hit.chunk_id for hit in hits], [hit.score for hit in hits])
    whole = ask.routing.query_type == "survey" or not topic_of(ask.request.query)
    surveys = [result for result in results if whole and result.mode == "global" and result.claims]
    results = surveys or results
    said = [claim for turn in range(CLAIMS) for result in results for claim in result.claims[turn : turn + 1]]
    sentences = sentences_by_id(cursor, (name for claim in said for name in claim["sentence_ids"]))
    claims: dict[str, Claim] = {}
    for one in said:
        sources = in_order(sentences, one["sentence_ids"])
        if sources:
            made = Claim(one["statement"], sources, one["score"], one["community_id"], one["engine"])
            claims.setdefault(one["statement"], made)
    return AnswerEvidence(passages, list(claims.values())[:CLAIMS], surveyed=bool(surveys))


def answer_from_evidence(tools: Tools, ask: Ask, found: AnswerEvidence) -> tuple[Answer, str]:
    """By the engine of the role `answer`; where its model fails the extractive answer, marked as partial."""
    if not found.passages:
        return abstained("no passage was found"), "extractive"
    asked = ask.index.keywords.query_terms(ask.request.query).result()
    failure = ""
    if tools.uses_model("answer") and not ask.cancel.is_set():
        sources = _sources(found)
        written, failure = tools.llm_answers().answer(ask.index, ask.request, sources, asked, ask.account, ask.emit)
        if written is not None:
            return written, "llm"
    answer = draft_answer(tools, ask, found)
    if failure:
        status = "partial" if answer.status == "complete" else answer.status
        answer = replace(answer, status=status, warnings=[failure, *answer.warnings])
    return answer, "extractive"


def _sources(found: AnswerEvidence) -> list[Passage]:
    """What a model writes from: the best passages whole, and of further chunks what is claimed."""
    whole = found.passages[: found.whole]
    known = {passage.chunk_id for passage in whole}
    return whole + [passage for passage in claim_passages(found.claims) if passage.chunk_id not in known]


def draft_answer(tools: Tools, ask: Ask, found: AnswerEvidence) -> Answer:
    """The extractive answer: sentences of the best passages and of the claims."""
    if not found.passages:
        return abstained("no passage was found")
    index, cursor = ask.index, ask.index.snapshot.cursor()
    question, kind = topic_question(index, ask.request.query), ask.request.response_type
    if not question.weights and found.claims:
        return spread_answer(index, found.claims, ask.settings.reports.max_sentences, kind)
    passages = found.passages[:PASSAGES]
    sentences = {sentence.sentence_id: sentence for sentence in load_sentences(cursor, passages)}
    for claim in found.claims[:CLAIMS]:
        sentences.setdefault(claim.sentences[0].sentence_id, claim.sentences[0])
    pool = [sentence for sentence in sentences.values() if is_statement(sentence.text)] or list(sentences.values())
    terms = index.keywords.terms([*(f"{p.header}\n{p.text}" for p in passages), *(s.text for s in pool)])
    evidence = weigh_evidence(question, terms[: len(passages)], closest(tools, ask, passages), index.scale)
    if evidence.support < tools.settings.answer.min_support:
        return abstained(evidence.thin_because())
    if found.surveyed:
        return spread_answer(index, found.claims, ask.settings.reports.max_sentences, kind)
    settings = for_type(tools.settings.answer, kind)
    said = terms[len(passages) :]
    similarities = tools.embedder.similarities_to(ask.request.query, index.snapshot.manifest)
    judged = judge_sentences(ask.request.query, question, pool, said, similarities, index.scale)
    chosen = choose_evidence(question, judged.probability, judged.least, pool, said, settings)
    if ask.routing.query_type == "comparison":
        chosen = _of_all_sides(index, ask.request.query, question, pool, said, settings) or chosen
    citations = cite(cursor, chosen)
    if not citations:
        return abstained("no sentence of what was found speaks of it")
    return Answer(quoted(citations, kind), "complete", citations, verified=True)


def _of_all_sides(
    index: OpenIndex,
    query: str,
    question: Question,
    pool: Sequence[PassageSentence],
    terms: Sequence[Sequence[str]],
    settings: AnswerSettings,
) -> list[PassageSentence]:
    """Sentences on each side of a comparison, so that none is left out for another; nothing where it has one side."""
    sides = [set(some) for some in index.keywords.terms(sides_of(query))]
    own = [side - set().union(*(other for other in sides if other is not side)) for side in sides]
    own = [side for side in own if side]
    if len(own) < 2:
        return []
    some = settings.model_copy(update={"max_sentences": -(-settings.max_sentences // len(own))})
    chosen: dict[str, PassageSentence] = {}
    for side in own:
        places = [place for place, said in enumerate(terms) if side & set(said)]
        best = choose_sentences(question, [pool[place] for place in places], [terms[place] for place in places], some)
        chosen |= {sentence.sentence_id: sentence for sentence in best}
    return list(chosen.values())[: settings.max_sentences]


def topic_question(index: OpenIndex, query: str) -> Question:
    """The terms of what the question is about; none where that is the collection as a whole."""
    topic = topic_of(query)
    return Question.of(index.keywords.query_terms(topic).result() if topic else [], len(index.corpus))


def spread_answer(
    index: OpenIndex, claims: Sequence[Claim], most: int, response_type: ResponseType | None = None
) -> Answer:
    """The first sentences of the best claims, best first: of each community and each paper one before a second of any,
    none that says what another says, none that is worth much less than the best."""
    claims = [claim for claim in claims if is_statement(claim.sentences[0].text)] or list(claims)
    terms = [frozenset(some) for some in index.keywords.terms([claim.sentences[0].text for claim in claims])]
    most = min(SHORT, most) if response_type == "short" else most
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
    citations = cite(index.snapshot.cursor(), [claims[place].sentences[0] for place in chosen])
    if not citations:
        return abstained("no sentence of what was found stands in its source")
    said = {claim.sentences[0].sentence_id: claim.statement for claim in claims}
    texts = [_as_said(said[citation.sentence_ids[0]], citation.quote) for citation in citations]
    return Answer(quoted(citations, response_type, texts), "complete", citations, verified=True)


def _as_said(statement: str, quote: str) -> str:
    """The quote, under the heading that an extractive claim gives it."""
    quote = " ".join(quote.split())
    return statement if statement.endswith(quote) else quote


def closest(tools: Tools, ask: Ask, passages: Sequence[Passage]) -> float:
    """The similarity of the closest of the passages with the question."""
    wanted = {passage.chunk_id for passage in passages}
    rows = [row for row, name in enumerate(ask.index.corpus.chunk_ids) if name in wanted]
    vector = tools.embedder.embed(ask.request.query, ask.index.snapshot.manifest)
    return float(vector_scores(ask.index.corpus, vector)[rows].max()) if rows else 0.0

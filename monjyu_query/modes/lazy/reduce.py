"""The last steps: claims of the relevant chunks, and the answer from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monjyu_query.answers.answering import Answer
from monjyu_query.answers.composition import asked_of, compose
from monjyu_query.knowledge.level_4_claims import chunks_with_claims, claims_of
from monjyu_query.modes.lazy.compose import MOST_PASSAGES, claim_passages, compose_claims
from monjyu_query.modes.lazy.lazy_claims import Claim, ExtractiveClaims, grouped, rank_claims, within_tokens
from monjyu_query.modes.lazy.lazy_state import Relevant
from monjyu_query.modes.lazy.refine import Question
from monjyu_query.modes.passages.best_passages import evidence_passages
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import load_sentences, section_texts, standing
from monjyu_query.search.tools import Tools


def make_claims(asked: Question, tools: Tools) -> list[Claim]:
    """The stored claims of level 4; of other chunks claims by the engine of the role `extract`. Ranked, without
    duplicates, within the token budget.

    Where the model gives none for the relevant chunks, their sentences are the claims.
    """
    state, index = asked.state, asked.ask.index
    stored, groups = stored_claims(index, grouped(state.relevant))
    claims: list[Claim] = []
    if groups and asked.roles is not None and tools.uses_model("extract") and not state.cancelled:
        from monjyu_query.modes.lazy.model_roles import ModelClaimExtractor

        by_model = ModelClaimExtractor(asked.roles, state.expanded)
        claims = by_model.extract(groups)
        if by_model.dropped:
            state.warnings.append(f"{by_model.dropped} claims of the model quote no source and were left out.")
        if by_model.failed:
            state.warnings.append(f"{len(by_model.failed)} calls for claims failed: {by_model.failed[0]}")
    if groups and not claims:
        claims = ExtractiveClaims(index).extract(groups)
    ranked = within_tokens(rank_claims(index, asked.terms, [*stored, *claims]), asked.ask.settings.lazy.claim_tokens)
    for claim in ranked:
        state.claims.append(claim.as_dict())
        state.emit({"event": "claim", **state.claims[-1]})
    return ranked


def answer_claims(asked: Question, claims: list[Claim], tools: Tools) -> tuple[Answer, str]:
    """Answer with the engine of the role `answer`; if its model fails, compose the answer and mark it as partial."""
    failure = ""
    ask = asked.ask
    if tools.uses_model("answer") and not asked.state.cancelled:
        request = ask.request.model_copy(update={"query": asked.state.expanded})
        passages = claim_passages(claims)[:MOST_PASSAGES]
        written, failure = tools.llm_answers().answer(ask.index, request, passages, asked.asked, ask.account, ask.emit)
        if written is not None:
            return written, "llm"
    answer = compose_claims(tools, ask, asked.terms, claims, asked.similarity)
    if failure:
        status = "partial" if answer.status == "complete" else answer.status
        answer = replace(answer, status=status, warnings=[failure, *answer.warnings])
    return answer, "extractive"


def answer_without_tests(asked: Question, tools: Tools) -> Answer:
    """What mode vector answers."""
    similarity = asked.similarity if asked.nearest else None
    evidence = evidence_passages(asked.ask, asked.ranking)
    sentences = load_sentences(asked.ask.index.snapshot.cursor(), evidence)
    return compose(asked_of(tools, asked.ask, asked.terms), evidence, sentences, similarity)


def stored_claims(index: OpenIndex, groups: Sequence[Sequence[Relevant]]) -> tuple[list[Claim], list[list[Relevant]]]:
    """The claims of the relevant chunks that level 4 has read, and the groups of those it has not.

    A stored claim counts where one of its sentences was judged relevant, with that sentence's score; a relevant
    sentence that no stored claim rests on is a claim itself, so that no evidence is lost.
    """
    found = [one for group in groups for one in group]
    known = chunks_with_claims(index.snapshot.cursor(), (one.candidate.passage.chunk_id for one in found))
    covered = [one for one in found if one.candidate.passage.chunk_id in known]
    rest = [[one for one in group if one.candidate.passage.chunk_id not in known] for group in groups]
    claims = _judged_relevant(index, covered)
    cited = {sentence.sentence_id for claim in claims for sentence in claim.sentences}
    plain = ExtractiveClaims(index).extract([covered])
    claims += [claim for claim in plain if claim.sentences[0].sentence_id not in cited]
    return claims, [group for group in rest if group]


def _judged_relevant(index: OpenIndex, covered: Sequence[Relevant]) -> list[Claim]:
    by_chunk = {one.candidate.passage.chunk_id: one for one in covered}
    judged = [sentence for one in covered for sentence in one.candidate.sentences]
    real = standing(section_texts(index.snapshot.cursor(), judged), judged)
    sources = {(s.passage.chunk_id, s.sentence_id): s for s in real}
    claims = []
    for stored in claims_of(index.snapshot.cursor(), by_chunk):
        one = by_chunk[stored.chunk_id]
        scores = {sentence.sentence_id: score for sentence, score in one.sentences}
        rests = sorted(stored.sentence_ids, key=lambda name: -scores.get(name, 0.0))
        sentences = tuple(sources[stored.chunk_id, name] for name in rests if (stored.chunk_id, name) in sources)
        if sentences and sentences[0].sentence_id in scores:
            score = scores[sentences[0].sentence_id]
            claims.append(Claim(stored.statement, sentences, score, one.candidate.community, stored.engine))
    return claims

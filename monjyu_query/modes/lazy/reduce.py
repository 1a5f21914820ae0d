"""The last steps of lazy search: claims from the relevant chunks, and the answer from the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from monjyu_core.embedding import load_embedder
from monjyu_core.models.call_errors import ModelCallError
from monjyu_query.answers.answer import Answer
from monjyu_query.answers.claims import (
    MOST_PASSAGES,
    Claim,
    claim_passages,
    compose_hits,
    in_parts,
    merged_by_meaning,
    overview,
    passages_of,
    rank_claims,
    room_of,
)
from monjyu_query.answers.composition import asked_of, compose, or_extractive
from monjyu_query.answers.model.length_and_form import SENTENCES
from monjyu_query.asking.passages import load_sentences, section_texts, standing
from monjyu_query.asking.result import Status
from monjyu_query.knowledge.reports import chunks_with_claims, claims_of, read_by_models
from monjyu_query.modes.best_passages import evidence_passages
from monjyu_query.modes.lazy.refine import Question
from monjyu_query.modes.lazy.state import Relevant
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Tools

CLAIMS_LEVEL = 4


class ExtractiveClaims:
    """Turns each relevant sentence into a claim, after finding it in its source."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        self.dropped = 0

    def extract(self, groups: Sequence[Sequence[Relevant]]) -> list[Claim]:
        found = [(s, score, r.candidate.community) for group in groups for r in group for s, score in r.sentences]
        sentences = [sentence for sentence, _, _ in found]
        texts = section_texts(self._index.snapshot.cursor(), sentences)
        real = {sentence.sentence_id for sentence in standing(texts, sentences)}
        self.dropped = len({s.sentence_id for s, _, _ in found} - real)
        claims: dict[str, Claim] = {}
        for sentence, score, community in found:
            known = claims.get(sentence.sentence_id)
            if sentence.sentence_id in real and (known is None or known.score < score):
                text = " ".join(sentence.text.split())
                claims[sentence.sentence_id] = Claim(text, (sentence,), score, community, "extractive")
        return list(claims.values())


def grouped(relevant: Sequence[Relevant]) -> list[list[Relevant]]:
    """The relevant chunks by community, in order of the best chunk of each."""
    groups: dict[str | None, list[Relevant]] = {}
    for found in sorted(relevant, key=lambda found: (-found.score, found.candidate.row)):
        groups.setdefault(found.candidate.community, []).append(found)
    return list(groups.values())


def make_claims(asked: Question, tools: Tools, concepts: Mapping[str, Sequence[str]]) -> list[Claim]:
    """Return ranked claims without duplicates: stored claims (level 4), and claims extracted from chunks that have none
    stored. If the role `claims` uses a model, it also replaces stored claims of other engines. `concepts` are the
    concepts of each relevant sentence, by its id.

    If the model returns no claims for the relevant chunks, their sentences are the claims.
    """
    state, index = asked.state, asked.ask.index
    by_model = asked.roles is not None and tools.uses_model("claims") and not state.cancelled
    groups = grouped(state.relevant)
    stored: list[Claim] = []
    if asked.level >= CLAIMS_LEVEL:
        stored, left = stored_claims(index, groups, models_only=by_model)
        state.level, groups = CLAIMS_LEVEL if stored else state.level, left
    claims = _claims_by_model(asked, groups, concepts) if groups and by_model else []
    if groups and not claims:
        claims = ExtractiveClaims(index).extract(groups)
    ranked = rank_claims(index, asked.terms, [*stored, *claims])
    if any(claim.engine == "llm" for claim in ranked):
        try:
            vectors = load_embedder(tools.settings).embed_passages([claim.statement for claim in ranked])
            ranked = merged_by_meaning(ranked, vectors)
        except ModelCallError as error:
            state.warnings.append(f"Claims with the same meaning were not merged: {error}")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    manifest = index.snapshot.manifest
    stored_at = manifest.built_at.get(CLAIMS_LEVEL, manifest.created_at)
    judged = {s.sentence_id: asked.tester.chance(score) for one in state.relevant for s, score in one.sentences}
    own = {claim.sentences[0].sentence_id for claim in stored}
    ranked = [
        replace(
            claim,
            concepts=tuple(concepts.get(claim.sentences[0].sentence_id, ())),
            confidence=judged.get(claim.sentences[0].sentence_id, round(claim.score / 10, 3))
            if claim.confidence is None
            else claim.confidence,
            extracted_at=stored_at if claim.sentences[0].sentence_id in own else now,
        )
        for claim in ranked
    ]
    for claim in ranked:
        state.claims.append(claim.as_dict())
        state.emit({"event": "claim", **state.claims[-1]})
    return ranked


def _claims_by_model(
    asked: Question, groups: Sequence[Sequence[Relevant]], concepts: Mapping[str, Sequence[str]]
) -> list[Claim]:
    from monjyu_query.modes.lazy.model_roles import ModelClaimExtractor

    assert asked.roles is not None
    by_model = ModelClaimExtractor(asked.roles, asked.state.subqueries, concepts)
    claims = by_model.extract(groups)
    if by_model.dropped:
        asked.state.warnings.append(f"{by_model.dropped} claims of the model quote no source and were left out.")
    if by_model.failed:
        asked.state.warnings.append(f"{len(by_model.failed)} calls for claims failed: {by_model.failed[0]}")
    return claims


def answer_claims(asked: Question, claims: list[Claim], tools: Tools) -> tuple[Answer, str]:
    """Answer with the engine of the role `answer`, which reads all claims; if its model fails, compose the answer from
    the best passages and mark it as partial."""
    asks_model = claims and tools.uses_model("answer") and not asked.state.cancelled
    written = _written(asked, claims, tools) if asks_model else (None, "")
    return or_extractive(*written, lambda: _composed(asked, claims, tools))


def _composed(asked: Question, claims: list[Claim], tools: Tools) -> Answer:
    """Compose the answer from the best passages; for claims in a model's words, or for a question about the whole
    collection, from the claims' sources, community by community."""
    ask, state = asked.ask, asked.state
    if asked.broad and claims:
        return overview(ask, claims, state.budget.total)
    room = room_of(ask, state.budget.total)
    hits = asked.evidence(round(MOST_PASSAGES * room))
    if any(claim.engine == "llm" for claim in claims):
        first = passages_of([claim.sentences[0] for claim in claims])
        known = {passage.chunk_id for passage in first}
        hits = [*first, *(hit for hit in hits if hit.chunk_id not in known)][: len(hits)]
    return compose_hits(tools, ask, asked.terms, hits, asked.similarity, room)


def _written(asked: Question, claims: list[Claim], tools: Tools) -> tuple[Answer | None, str]:
    """The model's answer from all claims: in one call if they have at most `claim_tokens`, otherwise part by part. The
    text about each part becomes a paragraph, so that the citations of its sentences stay valid."""
    ask = asked.ask
    request = ask.request.model_copy(update={"query": asked.state.expanded})
    answers: list[Answer] = []
    failure = ""
    parts = in_parts(claims, ask.settings.lazy.claim_tokens)
    from monjyu_query.answers.model.answer import answer_with_model

    room = room_of(ask, asked.state.budget.total)
    sentences = max(SENTENCES, round(SENTENCES * room / len(parts)))
    for part in parts:
        if asked.state.cancelled and answers:
            break
        passages = claim_passages(part)
        written, failure = answer_with_model(
            tools, ask.index, request, passages, asked.asked, ask.account, ask.emit, sentences, ask.routing.query_type
        )
        if written is None:
            break
        if written.status != "abstained" or not answers:
            answers.append(written)
    told = [one for one in answers if one.status != "abstained"] or answers[:1]
    if not told:
        return None, failure
    answer = joined_answers(told)
    return (replace(answer, status="partial", warnings=[*answer.warnings, failure]) if failure else answer), ""


def joined_answers(answers: Sequence[Answer]) -> Answer:
    """The answers as paragraphs with continuous citation numbers; a quote cited in several keeps one number."""
    first = answers[0]
    citations = {tuple(c.sentence_ids): c for c in first.citations}
    segments = list(first.segments)
    for answer in answers[1:]:
        numbers = {}
        for citation in answer.citations:
            key = tuple(citation.sentence_ids)
            if key not in citations:
                citations[key] = citation.model_copy(update={"n": len(citations) + 1})
            numbers[citation.n] = citations[key].n
        moved = [s.model_copy(update={"citations": [numbers[n] for n in s.citations]}) for s in answer.segments]
        moved[0] = moved[0].model_copy(update={"text": f"\n\n{moved[0].text.lstrip()}"})
        segments += moved
    status: Status = "complete" if all(answer.status == "complete" for answer in answers) else "partial"
    warnings = [warning for answer in answers for warning in answer.warnings]
    verified = all(answer.verified for answer in answers)
    return replace(
        first,
        segments=segments,
        status=status,
        citations=list(citations.values()),
        verified=verified,
        warnings=warnings,
    )


def answer_without_tests(asked: Question, tools: Tools) -> Answer:
    """The answer from the best passages of the ranking, as in mode vector."""
    similarity = asked.similarity if asked.nearest else None
    evidence = evidence_passages(asked.ask, asked.ranking)
    sentences = load_sentences(asked.ask.index.snapshot.cursor(), evidence)
    return compose(asked_of(tools, asked.ask, asked.terms), evidence, sentences, similarity)


def stored_claims(
    index: OpenIndex, groups: Sequence[Sequence[Relevant]], *, models_only: bool = False
) -> tuple[list[Claim], list[list[Relevant]]]:
    """The stored claims of the relevant chunks, and the groups of relevant chunks that level 4 has not read.

    A stored claim counts if one of its sentences was judged relevant, with that sentence's score; a relevant sentence
    without a stored claim becomes a claim, so that no evidence is lost. `models_only`: claims of other engines are
    ignored.
    """
    found = [one for group in groups for one in group]
    known = chunks_with_claims(index.snapshot.cursor(), (one.candidate.passage.chunk_id for one in found))
    if models_only:
        known = read_by_models(index.snapshot.cursor(), known)
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
            home, sure = one.candidate.community, stored.confidence
            claims.append(Claim(stored.statement, sentences, score, home, stored.engine, confidence=sure))
    return claims

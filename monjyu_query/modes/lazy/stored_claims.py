"""Claims that level 4 has stored, taken instead of extracting them anew."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_query.knowledge.level_4_claims import chunks_with_claims, claims_of
from monjyu_query.modes.lazy.lazy_claims import Claim, ExtractiveClaims
from monjyu_query.modes.lazy.lazy_state import Relevant
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import standing


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
    said = {sentence.sentence_id for claim in claims for sentence in claim.sentences}
    plain = ExtractiveClaims(index).extract([covered])
    claims += [claim for claim in plain if claim.sentences[0].sentence_id not in said]
    return claims, [group for group in rest if group]


def _judged_relevant(index: OpenIndex, covered: Sequence[Relevant]) -> list[Claim]:
    by_chunk = {one.candidate.passage.chunk_id: one for one in covered}
    real = standing(index.snapshot.cursor(), [s for one in covered for s in one.candidate.sentences])
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

"""The relevance tester: one test is one chunk, whose sentences an assessor scores 0 to 10 for a subquery."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from monjyu_core.storage.ids import digest
from monjyu_query.modes.lazy.judgements import JudgementStore
from monjyu_query.modes.lazy.lazy_state import Candidate, Judgement
from monjyu_query.modes.lazy.walk.community_search import Wanted
from monjyu_query.ranking.fusion import Scores
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence, load_passages, sentences_by_chunk

MOST_KEPT = 5000
"""Chunks with their sentences that an open snapshot keeps in memory, some kilobytes each."""


class Assessor(Protocol):
    """Judges chunks: by the packaged ranker, by words and meaning (extractive), or by a language model."""

    @property
    def together(self) -> bool:
        """Whether a batch is judged in one call, so that what a chunk gets depends on those beside it."""
        ...

    @property
    def kept(self) -> bool:
        """Whether judgements are worth keeping for other searches."""
        ...

    def key(self, candidate: Candidate) -> str:
        """Of all that the judgement depends on."""
        ...

    def assess(self, batches: Sequence[Sequence[Candidate]]) -> list[list[Judgement]]:
        """One judgement for each candidate, in order. Never raises for a chunk that cannot be judged."""
        ...


def text_hash(candidate: Candidate) -> str:
    """Of what an assessor reads of a chunk, wherever it stands."""
    return digest(candidate.passage.header, *(sentence.text for sentence in candidate.sentences), length=32)


def read_chunks(index: OpenIndex, names: Sequence[str]) -> dict[str, tuple[Passage, tuple[PassageSentence, ...]]]:
    """The chunks with these ids and their sentences in order; those read before from memory."""
    kept = index.kept_chunks
    missing = [name for name in dict.fromkeys(names) if name not in kept]
    found = {name: kept[name] for name in names if name in kept}
    if missing:
        cursor = index.snapshot.cursor()
        passages = load_passages(cursor, missing, [0.0] * len(missing), index.kept)
        sentences = sentences_by_chunk(cursor, passages)
        read = {passage.chunk_id: (passage, tuple(sentences[passage.chunk_id])) for passage in passages}
        if len(kept) + len(read) > MOST_KEPT:
            kept.clear()
        kept.update(read)
        found |= read
    return found


class RelevanceTester:
    """Reads the chunks of a round, takes known judgements from the store, has the others made and keeps them."""

    def __init__(self, index: OpenIndex, assessor: Assessor, similar: Sequence[Scores], store: JudgementStore) -> None:
        """`similar`: for each subquery the similarity (n,) of all chunks."""
        self._index = index
        self._assessor = assessor
        self._similar = similar
        self._store = store

    def test(self, batches: Sequence[Sequence[Wanted]], count: int) -> list[tuple[Candidate, Judgement]]:
        """Judgements of the first `count` chunks of the batches, in order. A batch that a model judges is judged whole,
        however many of it count: so what a chunk gets depends on no budget."""
        together = self._candidates(self._counted(batches, count))
        if self._assessor.together:
            together = [_beside(batch) for batch in together]
        keys = [[self._assessor.key(candidate) for candidate in batch] for batch in together]
        known = self._known([key for some in keys for key in some])
        judged = [_known_batch(batch, some, known) for batch, some in zip(together, keys, strict=True)]
        missing = [place for place, found in enumerate(judged) if found is None]
        made = self._assessor.assess([together[place] for place in missing]) if missing else []
        for place, judgements in zip(missing, made, strict=True):
            pairs = zip(together[place], judgements, strict=True)
            judged[place] = [_checked(candidate, judgement) for candidate, judgement in pairs]
        self._keep((keys[place], judged[place] or []) for place in missing)
        candidates = [candidate for batch in together for candidate in batch]
        judgements = [judgement for found in judged for judgement in found or []]
        return list(zip(candidates, judgements, strict=True))[:count]

    def _counted(self, batches: Sequence[Sequence[Wanted]], count: int) -> list[Sequence[Wanted]]:
        found: list[Sequence[Wanted]] = []
        for batch in batches:
            if count > 0:
                found.append(batch if self._assessor.together else batch[:count])
            count -= len(batch)
        return found

    def _known(self, keys: Sequence[str]) -> dict[str, tuple[float, ...]]:
        return self._store.get_many(list(dict.fromkeys(keys))) if self._assessor.kept else {}

    def _keep(self, made: Iterable[tuple[Sequence[str], Sequence[Judgement]]]) -> None:
        if self._assessor.kept:
            fresh = {key: j.scores for keys, found in made for key, j in zip(keys, found, strict=True) if not j.error}
            if fresh:
                self._store.put_many(fresh)

    def _candidates(self, batches: Sequence[Sequence[Wanted]]) -> list[list[Candidate]]:
        ids = self._index.corpus.chunk_ids
        found = read_chunks(self._index, [ids[row] for batch in batches for _, row, _ in batch])
        return [
            [Candidate(row, n, *found[ids[row]], float(self._similar[n][row]), group) for n, row, group in batch]
            for batch in batches
        ]


def _beside(batch: Sequence[Candidate]) -> list[Candidate]:
    name = digest(*map(text_hash, batch), length=32)
    return [replace(candidate, beside=name) for candidate in batch]


def _known_batch(
    batch: Sequence[Candidate], keys: Sequence[str], known: Mapping[str, tuple[float, ...]]
) -> list[Judgement] | None:
    """The judgements where all of the batch are known."""
    scores = [known.get(key) for key in keys]
    found = [
        Judgement(some, cached=True)
        for candidate, some in zip(batch, scores, strict=True)
        if some is not None and len(some) == len(candidate.sentences)
    ]
    return found if len(found) == len(batch) else None


def _checked(candidate: Candidate, judgement: Judgement) -> Judgement:
    """A judgement with another number of sentences does not count."""
    if judgement.error or len(judgement.scores) == len(candidate.sentences):
        return judgement
    return replace(judgement, scores=(), error="the judgement has another number of sentences than the chunk")

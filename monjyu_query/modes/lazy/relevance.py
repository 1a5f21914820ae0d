"""The relevance tester: one test is one chunk, whose sentences an assessor scores 0 to 10 for a subquery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from monjyu_core.storage.ids import digest
from monjyu_query.modes.lazy.judgements import Judgements
from monjyu_query.modes.lazy.lazy_state import Candidate, Judgement
from monjyu_query.modes.lazy.walk.community_search import Wanted
from monjyu_query.ranking.fusion import Scores
from monjyu_query.search.chunk_sentences import read_chunks
from monjyu_query.search.open_index import OpenIndex

Gate = Callable[[Sequence[Candidate]], Sequence[bool]]
"""Which of some candidates are worth a model's reading."""


class Assessor(Protocol):
    """Judges chunks: by the reader, by words and meaning (extractive), or by a language model."""

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


class RelevanceTester:
    """Reads the chunks of a round, takes known judgements from the store, has the others made and keeps them."""

    def __init__(
        self,
        index: OpenIndex,
        assessor: Assessor,
        similar: Sequence[Scores],
        store: Judgements,
        a_call: int = 5,
        gate: Gate | None = None,
        home_of: Callable[[int], str | None] = lambda _: None,
    ) -> None:
        """`similar`: for each subquery the similarity (n,) of all chunks; `a_call` chunks are judged together where the
        assessor does so, of those that pass the `gate`; `home_of` names the community of a row that no
        walk came to by one."""
        self._index = index
        self._assessor = assessor
        self._similar = similar
        self._store = store
        self._a_call = a_call
        self._gate = gate
        self._home_of = home_of

    def test(self, groups: Sequence[Sequence[Wanted]], count: int) -> list[tuple[Candidate, Judgement]]:
        """Judgements of the first `count` chunks of the groups, each what one walk wants, in order.

        A batch that a model judges is judged whole, however many of it count: so what a chunk gets depends on no
        budget. What does not pass the gate is not relevant, and costs nothing.
        """
        wanted = groups if self._assessor.together else _cut(groups, count)
        found = self._candidates(wanted)
        candidates = [candidate for group in found for candidate in group]
        judged: dict[int, Judgement] = {}
        batches = self._batches(found, count, judged)
        if self._assessor.together:
            for batch in batches:
                name = digest(*(text_hash(candidates[place]) for place in batch), length=32)
                for place in batch:
                    candidates[place] = replace(candidates[place], beside=name)
        self._judge(candidates, batches, judged)
        return [(candidates[place], judged[place]) for place in range(min(count, len(candidates)))]

    def _batches(
        self, groups: Sequence[Sequence[Candidate]], count: int, judged: dict[int, Judgement]
    ) -> list[list[int]]:
        """Places of the candidates, batch by batch; those of whom none counts are left out. What the gate holds back is
        `judged`."""
        start = 0
        batches: list[list[int]] = []
        for group in groups:
            places = list(range(start, start + len(group)))
            start += len(group)
            if not self._assessor.together:
                batches += [[place] for place in places]
                continue
            passing = places if self._gate is None else self._passing(group, places, judged)
            some = [passing[first : first + self._a_call] for first in range(0, len(passing), self._a_call)]
            batches += [batch for batch in some if batch[0] < count]
        return [batch for batch in batches if batch]

    def _passing(self, group: Sequence[Candidate], places: Sequence[int], judged: dict[int, Judgement]) -> list[int]:
        assert self._gate is not None
        passes = self._gate(group)
        for place, candidate, passed in zip(places, group, passes, strict=True):
            if not passed:
                judged[place] = Judgement((0.0,) * len(candidate.sentences))
        return [place for place, passed in zip(places, passes, strict=True) if passed]

    def _judge(
        self, candidates: Sequence[Candidate], batches: Sequence[Sequence[int]], judged: dict[int, Judgement]
    ) -> None:
        """Those of the batches: from the store, or made and kept."""
        keys = {place: self._assessor.key(candidates[place]) for batch in batches for place in batch}
        known = self._known(list(keys.values()))
        missing = []
        for batch in batches:
            some = _known_batch([candidates[place] for place in batch], [keys[place] for place in batch], known)
            if some is None:
                missing.append(batch)
            judged.update(zip(batch, some or (), strict=False))
        made = self._assessor.assess([[candidates[place] for place in batch] for batch in missing]) if missing else []
        fresh = {}
        for batch, judgements in zip(missing, made, strict=True):
            for place, judgement in zip(batch, judgements, strict=True):
                judged[place] = _checked(candidates[place], judgement)
                if not judged[place].error:
                    fresh[keys[place]] = judged[place].scores
        if fresh and self._assessor.kept:
            self._store.put_many(fresh)

    def _known(self, keys: Sequence[str]) -> dict[str, tuple[float, ...]]:
        return self._store.get_many(list(dict.fromkeys(keys))) if self._assessor.kept else {}

    def _candidates(self, batches: Sequence[Sequence[Wanted]]) -> list[list[Candidate]]:
        ids = self._index.corpus.chunk_ids
        found = read_chunks(self._index, [ids[row] for batch in batches for _, row, _ in batch])
        return [
            [
                Candidate(row, n, *found[ids[row]], float(self._similar[n][row]), community or self._home_of(row))
                for n, row, community in batch
            ]
            for batch in batches
        ]


def _cut(groups: Sequence[Sequence[Wanted]], count: int) -> list[Sequence[Wanted]]:
    """The first `count` of all."""
    found: list[Sequence[Wanted]] = []
    for group in groups:
        found.append(group[: max(count, 0)])
        count -= len(group)
    return found


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

"""The relevance tester: a test is one chunk, whose sentences an assessor scores 0 to 10 for a subquery."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Protocol

from monjyu_core.storage.ids import digest
from monjyu_query.modes.lazy.community_search import Wanted
from monjyu_query.modes.lazy.judgements import Judgements
from monjyu_query.modes.lazy.state import Candidate, Judgement
from monjyu_query.ranking.open_index import OpenIndex, read_chunks

Gate = Callable[[Sequence[Candidate]], Sequence[bool]]
"""Whether each candidate is sent to the model."""


class Assessor(Protocol):
    """Judges chunks: by the reader, by words and meaning (extractive), or by a language model."""

    @property
    def together(self) -> bool:
        """Whether a batch is judged in one call, so that a chunk's judgement depends on the others."""
        ...

    @property
    def kept(self) -> bool:
        """Whether judgements should be stored for other searches."""
        ...

    @property
    def even(self) -> float:
        """The score of even odds if scores are log odds, otherwise 0."""
        ...

    def key(self, candidate: Candidate) -> str:
        """The key of everything that the judgement depends on."""
        ...

    def assess(self, batches: Sequence[Sequence[Candidate]]) -> list[list[Judgement]]:
        """One judgement for each candidate, in order. Never raises for a chunk that cannot be judged."""
        ...


def text_hash(candidate: Candidate) -> str:
    """The hash of the text that an assessor reads of a chunk, wherever it occurs."""
    return digest(candidate.passage.header, *(sentence.text for sentence in candidate.sentences), length=32)


class RelevanceTester:
    """Reads the chunks of a round, takes known judgements from the store, requests the others and stores them."""

    def __init__(
        self,
        index: OpenIndex,
        assessor: Assessor,
        store: Judgements,
        a_call: int = 5,
        gate: Gate | None = None,
        home_of: Callable[[int], str | None] = lambda _: None,
    ) -> None:
        """`a_call` is the number of chunks per call of an assessor that judges batches; `home_of` returns the community
        of a row that was not reached through one."""
        self._index = index
        self._assessor = assessor
        self._store = store
        self._a_call = a_call
        self._gate = gate
        self._home_of = home_of

    def chance(self, score: float) -> float:
        """The probability (0 to 1) that a sentence with this score answers."""
        even = self._assessor.even
        return round(1 / (1 + math.exp(even - score)) if even else score / 10, 3)

    def passes(self, wanted: Sequence[Wanted]) -> Sequence[bool]:
        """Whether each of the chunks passes the gate; all pass without a gate."""
        return [True] * len(wanted) if self._gate is None else self._gate(self._candidates([wanted])[0])

    def test(self, groups: Sequence[Sequence[Wanted]], count: int) -> list[tuple[Candidate, Judgement]]:
        """The judgements of the first `count` chunks of the groups, in order.

        A model always judges a whole batch, even if only a part counts, so that no judgement depends on the budget.
        """
        size = self._a_call if self._assessor.together else 1
        wanted = [group[start : start + size] for group in groups for start in range(0, len(group), size)]
        begins = accumulate(map(len, wanted), initial=0)
        batches = self._candidates([batch for begin, batch in zip(begins, wanted, strict=False) if begin < count])
        if self._assessor.together:
            batches = [self._named(batch) for batch in batches]
        judged = [judgement for some in self._judge(batches) for judgement in some]
        return list(zip([candidate for batch in batches for candidate in batch], judged, strict=True))[:count]

    def _named(self, batch: Sequence[Candidate]) -> list[Candidate]:
        name = digest(*map(text_hash, batch), length=32)
        return [replace(candidate, beside=name) for candidate in batch]

    def _judge(self, batches: Sequence[Sequence[Candidate]]) -> list[list[Judgement]]:
        """The judgements of each batch, from the store, or requested and stored."""
        keys = [[self._assessor.key(candidate) for candidate in batch] for batch in batches]
        known = self._known([key for some in keys for key in some])
        judged = [_known_batch(batch, some, known) for batch, some in zip(batches, keys, strict=True)]
        missing = [place for place, some in enumerate(judged) if some is None]
        made = self._assessor.assess([batches[place] for place in missing]) if missing else []
        fresh: dict[str, tuple[float, ...]] = {}
        for place, judgements in zip(missing, made, strict=True):
            checked = [_checked(one, judgement) for one, judgement in zip(batches[place], judgements, strict=True)]
            judged[place] = checked
            pairs = zip(keys[place], checked, strict=True)
            fresh |= {key: judgement.scores for key, judgement in pairs if not judgement.error}
        if fresh and self._assessor.kept:
            self._store.put_many(fresh)
        return [some or [] for some in judged]

    def _known(self, keys: Sequence[str]) -> dict[str, tuple[float, ...]]:
        return self._store.get_many(list(dict.fromkeys(keys))) if self._assessor.kept else {}

    def _candidates(self, batches: Sequence[Sequence[Wanted]]) -> list[list[Candidate]]:
        ids = self._index.corpus.chunk_ids
        found = read_chunks(self._index, [ids[row] for batch in batches for _, row, _ in batch])
        return [
            [Candidate(row, n, *found[ids[row]], community or self._home_of(row)) for n, row, community in batch]
            for batch in batches
        ]


def _known_batch(
    batch: Sequence[Candidate], keys: Sequence[str], known: Mapping[str, tuple[float, ...]]
) -> list[Judgement] | None:
    """The judgements of a batch; None if not all are known."""
    scores = [known.get(key) for key in keys]
    found = [
        Judgement(some, cached=True)
        for candidate, some in zip(batch, scores, strict=True)
        if some is not None and len(some) == len(candidate.sentences)
    ]
    return found if len(found) == len(batch) else None


def _checked(candidate: Candidate, judgement: Judgement) -> Judgement:
    """The judgement, or an error if it has another number of scores than the chunk has sentences."""
    if judgement.error or len(judgement.scores) == len(candidate.sentences):
        return judgement
    return replace(judgement, scores=(), error="the judgement has another number of sentences than the chunk")

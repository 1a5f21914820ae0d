"""The state of a running lazy search: what it visited, what was relevant, what it has spent."""

import threading
from dataclasses import dataclass, field
from typing import Literal

from monjyu_core.values import Values
from monjyu_query.answers.selection import Question
from monjyu_query.asking.events import Emit, unheard
from monjyu_query.asking.lazy_explanation import Budget, Origin
from monjyu_query.asking.passages import Passage, PassageSentence
from monjyu_query.ranking.fusion import Scores

Ended = Literal["", "budget", "enough", "sufficient", "exhausted", "held", "cancelled", "failed"]


@dataclass(frozen=True)
class Judgement:
    """The judgement of a chunk: the scores (0 to 10) of its sentences in order, with their `reasons` if requested, or
    the `error`. `cached`: it is from the store and cost nothing."""

    scores: tuple[float, ...] = ()
    reasons: tuple[str, ...] = ()
    error: str = ""
    cached: bool = False
    final: bool = False
    """The error is permanent: no further test makes sense (a cap is reached, a server refuses)."""
    made: bool = True
    """False if no engine was called, because the search was cancelled or a cap was reached. It then costs no test."""

    @property
    def best(self) -> float:
        return max(self.scores, default=0.0)


@dataclass(frozen=True)
class Candidate:
    """A chunk to be judged: row of the corpus, text, sentences in order."""

    row: int
    subquery: int
    passage: Passage
    sentences: tuple[PassageSentence, ...]
    community: str | None = None
    beside: str = ""
    """The key of the chunks judged together with it, in one call; empty if each is judged by itself."""


@dataclass(frozen=True)
class Relevant:
    """A chunk with at least one relevant sentence; `sentences` are the relevant ones, best first, with their scores."""

    candidate: Candidate
    sentences: tuple[tuple[PassageSentence, float], ...]

    @property
    def score(self) -> float:
        return self.sentences[0][1]


@dataclass(frozen=True)
class Asked:
    """A question or subquery: weighted terms, similarity (n,) to all chunks, scores (n,) that order them."""

    text: str
    terms: Question
    similar: Scores
    ordered: Scores

    def near(self, row: int) -> float:
        return float(self.similar[row])


@dataclass
class LazyState:
    """The state of a running lazy search. `visited` are rows of the corpus, `held_back` the number of rows that the
    gate rejected, `communities` ids in order of the first visit, `tested` the chunks with their judgements,
    `sentence_ids` the relevant sentences (with `reasons` if requested) and `strong` those that count towards sufficient
    evidence. `level` is the highest level that led to evidence, if it is 2 or more."""

    budget: Budget
    subqueries: list[str] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    expanded: str = ""
    reasoning: str = ""
    visited: set[int] = field(default_factory=set)
    communities: dict[str, int] = field(default_factory=dict)
    depth: int = 0
    rounds: int = 0
    tested: list[tuple[Candidate, Judgement]] = field(default_factory=list)
    relevant: list[Relevant] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    sentence_ids: set[str] = field(default_factory=set)
    strong: set[str] = field(default_factory=set)
    claims: list[Values] = field(default_factory=list)
    level: int = 0
    held_back: int = 0
    cache_hits: int = 0
    errors: list[str] = field(default_factory=list)
    failed_rounds: int = 0
    ended: Ended = ""
    emit: Emit = unheard
    cancel: threading.Event = field(default_factory=threading.Event)
    warnings: list[str] = field(default_factory=list)

    def note(self, candidate: Candidate, judgement: Judgement, relevant_from: float, enough_from: float = 0.0) -> bool:
        """Record a judgement and return whether the chunk is relevant, which one with an error never is."""
        self.cache_hits += judgement.cached
        self.tested.append((candidate, judgement))
        if judgement.error:
            self.errors.append(judgement.error)
            return False
        pairs = zip(candidate.sentences, judgement.scores, strict=True)
        found = sorted(((s, score) for s, score in pairs if score >= relevant_from), key=lambda pair: -pair[1])
        if found:
            self.relevant.append(Relevant(candidate, tuple(found)))
            self.sentence_ids.update(sentence.sentence_id for sentence, _ in found)
            self.strong.update(sentence.sentence_id for sentence, score in found if score >= enough_from)
            named = zip((sentence.sentence_id for sentence in candidate.sentences), judgement.reasons, strict=False)
            self.reasons |= {name: reason for name, reason in named if reason and name in self.sentence_ids}
        return bool(found)

    @property
    def failed(self) -> bool:
        """Whether the search gave up on the assessor, or every judgement ended in an error."""
        return self.ended == "failed" or 0 < len(self.tested) == len(self.errors)

    @property
    def cancelled(self) -> bool:
        return self.cancel.is_set()

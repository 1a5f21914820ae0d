"""Which sentences show what a question wants, what that makes them worth, and what an answer lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from monjyu_query.answers.outcome import Outcome, Support
from monjyu_query.answers.quote_windows import Window
from monjyu_query.answers.wanted.wanted import Wanted, wanted
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import PassageSentence

_SHOWS = 3.0
"""How many times as much a sentence is worth that shows what is wanted."""
_READ_FIRST = 20.0
_NEARLY_SURE = 0.99
_SHOWS_NOT = 0.05
"""What is left of one that does not, where another sentence of the paper that is asked about does."""
_OPEN = ("No passage found states {}.", "{}を述べた箇所は見つかりませんでした。")
_NONE = ("no passage found states {}.", "{}を述べた箇所は見つかりませんでした。")
_NEAR = (
    "That is what comes closest; whether it answers the question is not certain.",
    "最も近い箇所ですが、問いにそのまま答えるものかどうかは確かではありません。",
)
"""In English and Japanese."""
_CLAIMS_LEVEL = 4
_CLAIMED = """SELECT unnest(sentence_ids) FROM claims WHERE kind IN ({kinds}) AND paper_id IN ({papers})"""


@dataclass(frozen=True)
class Showing:
    """`flags` (n,): which of the sentences that were read show what is `wanted` (None where nothing is); of the paper
    that is asked about alone, where one is named."""

    query: str = ""
    wanted: Wanted | None = None
    flags: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    ids: frozenset[str] = frozenset()
    named: bool = False

    @property
    def lifts(self) -> bool:
        """Whether what sentences show changes what they are worth."""
        if self.wanted is None or not self.ids:
            return False
        return self.wanted.lifts == "always" or (self.named and self.wanted.lifts == "named")

    @property
    def reading(self) -> NDArray[np.float64] | float:
        """By what (n,) a sentence's worth is multiplied when it is decided which are read closely."""
        return np.where(self.flags, _READ_FIRST if self.named else _SHOWS, 1.0) if self.lifts else 1.0

    def raised(self, worth: NDArray[np.float64]) -> NDArray[np.float64]:
        """The worth (n,) of each sentence with what it shows.

        No sentence of the paper that is asked about need name it, so words shared with the question say less there:
        those that show what is wanted gain the more, the less they are worth, and others lose.
        """
        if not self.lifts:
            return worth
        if self.named:
            return np.where(self.flags, np.sqrt(worth), _SHOWS_NOT * worth)
        return np.where(self.flags, np.minimum(_SHOWS * worth, np.maximum(worth, _NEARLY_SURE)), worth)

    def lacking(self, windows: Sequence[Window]) -> Wanted | None:
        """What is wanted, where no quote shows it."""
        if self.wanted is None or any(one.sentence_id in self.ids for window in windows for one in window.sentences):
            return None
        return self.wanted

    def spared(self, support: Support, windows: Sequence[Window]) -> Support:
        """Where a quote shows what is wanted, the words that ask for it are not missing: it may be called otherwise."""
        if self.wanted is None or self.lacking(windows):
            return support
        asking = self.wanted.asking(self.query)
        return replace(support, missing=tuple(word for word in support.missing if word.casefold() not in asking))

    def held_against(self, outcome: Outcome, windows: Sequence[Window]) -> Outcome:
        """The outcome, worse where what is wanted is in no quote: in part, or none where no sentence read has it.

        A quote of the paper that is asked about which shows the attribute is an answer, however few words of the
        question it has.
        """
        lacking = self.lacking(windows)
        japanese = outcome.language == "ja"
        if lacking is None and self.named and self.wanted and self.wanted.closed and outcome.status == "abstained":
            return replace(outcome, status="partial", reason="", missing=_NEAR[japanese])
        if self.wanted and self.wanted.claims and outcome.status == "abstained":
            return replace(outcome, reason=_NONE[japanese].format(self.wanted.named(outcome.language)))
        if lacking is None or (outcome.status == "abstained" and not self.nowhere):
            return outcome
        if self.nowhere:
            said = _NONE[japanese].format(lacking.named(outcome.language))
            return replace(outcome, status="abstained", reason=said, missing="")
        said = _OPEN[japanese].format(lacking.named(outcome.language))
        return replace(outcome, status="partial", missing=said)

    @property
    def nowhere(self) -> bool:
        """Whether an attribute is wanted that no sentence read shows, or an aspect of a paper that was read whole and
        has no cue of it: then there is no answer."""
        if self.wanted is None or self.ids:
            return False
        return self.wanted.closed or (self.named and self.wanted.lifts == "always")


def showing(index: OpenIndex, query: str, sentences: Sequence[PassageSentence], paper_id: str) -> Showing:
    """`paper_id`: the paper that the question names or is put to, "" for any."""
    want = wanted(query)
    if want is None:
        return Showing()
    claimed = _claimed(index, want, sentences)
    own = [not paper_id or sentence.passage.paper_id == paper_id for sentence in sentences]
    flags = np.array(
        [
            mine and (sentence.sentence_id in claimed or bool(want.shows.search(sentence.text)))
            for mine, sentence in zip(own, sentences, strict=True)
        ],
        dtype=bool,
    )
    ids = frozenset(sentence.sentence_id for sentence, flag in zip(sentences, flags, strict=True) if flag)
    return Showing(query, want, flags, ids, bool(paper_id) and any(own))


def _claimed(index: OpenIndex, want: Wanted, sentences: Sequence[PassageSentence]) -> frozenset[str]:
    """The sentences of the papers that are claims of the kind that is wanted."""
    papers = list({sentence.passage.paper_id for sentence in sentences})
    if not want.claims or not papers or index.snapshot.manifest.level < _CLAIMS_LEVEL:
        return frozenset()
    query = _CLAIMED.format(kinds=", ".join("?" * len(want.claims)), papers=", ".join("?" * len(papers)))
    rows = index.snapshot.cursor_of(papers).execute(query, [*want.claims, *papers]).fetchall()
    return frozenset(name for (name,) in rows)

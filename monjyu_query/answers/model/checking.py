"""Checks generated sentences against the passages: whether the cited sources support them, and which of their sentences
to quote."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from monjyu_core.embedding import Embedder
from monjyu_core.models.prompts import fence
from monjyu_core.text.language import message_language
from monjyu_core.text.quotes import foreign_addresses
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.tokens import count_tokens, first_within
from monjyu_query.answers.citing import cite
from monjyu_query.answers.model.marked_sentences import Marked
from monjyu_query.answers.selection import Question
from monjyu_query.answers.verification.exact_facts import Facts, Words
from monjyu_query.answers.verification.local_check import OF_THE_QUESTION, LocalVerdict, Source, local_check, states_gap
from monjyu_query.asking.passages import Passage, PassageSentence, load_passages, load_sentences
from monjyu_query.asking.result import Citation, Context, ContextSource, Hit, SentenceCheck
from monjyu_query.papers.labels import paper_labels
from monjyu_query.ranking.open_index import OpenIndex


def about_passage(passage: Passage, labels: Mapping[str, str]) -> str:
    """The paper's short name (by its id), its title and the headings above the passage."""
    return " ".join(filter(None, (labels.get(passage.paper_id, ""), passage.paper_title, passage.header)))


def context_of(
    index: OpenIndex, query: str, hits: Sequence[Hit], claims: Sequence[Mapping[str, Any]], most: int
) -> Context:
    """The evidence of the answer as one text for another model: the claims, if there are any, then the hits, in order.

    The items are numbered from 1, each between lines with its hash, so that a paper cannot end its own quotation.
    Together they have at most `most` tokens (cl100k).
    """
    scores = {claim["chunk_id"]: float(claim["score"]) for claim in claims} | {hit.chunk_id: hit.score for hit in hits}
    papers = [claim["paper_id"] for claim in claims] + [hit.paper_id for hit in hits]
    labels = paper_labels(index, papers, message_language(query))
    found = load_passages(index.snapshot.cursor_of(papers), list(scores), list(scores.values()), index.kept)
    passages = {passage.chunk_id: passage for passage in found}
    written = [
        (passages[claim["chunk_id"]], "\n".join(dict.fromkeys([str(claim["statement"]), str(claim["quote"])])))
        for claim in claims
        if claim["chunk_id"] in passages
    ]
    written += [(passages[hit.chunk_id], passages[hit.chunk_id].text) for hit in hits if hit.chunk_id in passages]
    texts = [fence(n, f"{about_passage(one, labels)}\n{text}") for n, (one, text) in enumerate(written, start=1)]
    text, count = "", 0
    for count in range(first_within(texts, most, at_least=0), -1, -1):  # separators count too
        text = "\n\n".join(texts[:count])
        if count_tokens(text) <= most:
            break
    told = [
        ContextSource(n=n, chunk_id=one.chunk_id, paper_id=one.paper_id, label=labels[one.paper_id], page=one.page)
        for n, (one, _) in enumerate(written[:count], start=1)
    ]
    return Context(text=text, tokens=count_tokens(text), sources=told)


NEAR_ACROSS = 0.6
"""For a source in another script, which shares no words: the minimum position of its sentence on the model's scale from
chance to paraphrase."""
ADDS, LEAST_SHARE = 0.15, 0.2
"""The share of a sentence's terms that a further quote must add, and that the first quote of a source must have."""
CLEARLY = 0.2
"""By how much the share of a sentence's words in other sources must exceed that in the sources it names, for the other
sources to be cited instead."""
MOST_QUOTES = 4
MOST_COMPARED = 12
"""Source sentences that are embedded for comparison with one generated sentence."""
FEWEST_WORDS = 2
"""The number of content words from which a sentence without a figure may get a source that it does not name."""


@dataclass(frozen=True)
class Checked:
    """A generated sentence with its supporting quotes and the findings about it."""

    said: Marked
    citations: list[Citation]
    check: SentenceCheck
    sources: tuple[int, ...]
    """Numbers of the passages against which it was checked."""
    settled: bool = False
    """Whether its words refute it so clearly that no model is asked."""
    beyond: float = 0.0
    """The share of its words that the sources do not have."""

    @property
    def kept(self) -> bool:
        return self.check.verdict == "supported"


class Checker:
    """Checks generated sentences against the passages of one question."""

    def __init__(
        self,
        index: OpenIndex,
        passages: Sequence[Passage],
        question: Question,
        embedder: Embedder,
        query: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """`labels`: how sentences may refer to the papers, by id ("Castro et al. (2021)")."""
        self._index = index
        self._embedder = embedder
        self._query = query
        self._labels = labels or {}
        self._passages = list(passages)
        self._weights = dict.fromkeys(question.weights, OF_THE_QUESTION)
        self._sentences = load_sentences(self._cursor(), passages)
        self._terms = [frozenset(terms) for terms in index.keywords.terms([s.text for s in self._sentences])]

    @property
    def language(self) -> str:
        """The language of the question: ja or en."""
        return message_language(self._query)

    def check(self, said: Marked) -> Checked:
        """Check the sentence against the sources that it names, and against the sources that share the most words
        with it if they support it clearly better."""
        named = tuple(n for n in said.sources if 0 < n <= len(self._passages))
        places = self._places(named)
        [terms] = self._index.keywords.terms([said.text])
        if said.sources and not named:
            places = []
        if states_gap(said.text):
            return self._gap(said, terms, named, places)
        if not named and _is_too_short(said.text):
            return Checked(said, [], SentenceCheck(verdict="not_found", method="words"), ())
        found = [
            self._checked(said, terms, numbers) for numbers in dict.fromkeys((named, self._best(terms))) if numbers
        ]
        kept = [one for one in found if one.kept]
        if len(kept) == 2:
            return kept[kept[0].beyond - kept[1].beyond > CLEARLY]
        return (kept or found or [self._checked(said, terms, ())])[0]

    def source_text(self, number: int) -> str:
        """A passage preceded by its context, as the answering model saw it."""
        passage = self._passages[number - 1]
        return f"{about_passage(passage, self._labels)}\n{passage.text}"

    def _checked(self, said: Marked, terms: Sequence[str], numbers: tuple[int, ...]) -> Checked:
        passages = [self._passages[n - 1] for n in numbers]
        sources = [Source(passage.text, about_passage(passage, self._labels)) for passage in passages]
        across = bool(passages) and bool(count_wide(said.text)) != bool(count_wide(passages[0].text))
        if across:
            return self._by_meaning(said, numbers)
        verdict = local_check(said.text, sources, self._query)
        text = " ".join(f"{source.about} {source.text}" for source in sources)
        if foreign_addresses(said.text, text):
            verdict = LocalVerdict("not_found", verdict.kind, 0.0, ("address not in the source",))
        quotes = self._quotes(terms, numbers)
        if not quotes and verdict.verdict == "supported":
            verdict = LocalVerdict("not_found", verdict.kind, 0.0, ("no sentence of the source has its words",))
        return Checked(said, cite(self._cursor(), quotes), _checked_as(verdict), numbers, verdict.clear, verdict.beyond)

    def _gap(self, said: Marked, terms: Sequence[str], named: tuple[int, ...], places: Sequence[int]) -> Checked:
        """Accept a sentence about what the sources lack, and cite the closest sentences of the sources that it
        names."""
        quotes = self._quotes(terms, named) if places else []
        check = SentenceCheck(verdict="supported", method="words", kind="gap")
        return Checked(said, cite(self._cursor(), quotes), check, named or self._best(terms))

    def _by_meaning(self, said: Marked, numbers: tuple[int, ...]) -> Checked:
        """Check a sentence in another script than its sources by its figures and the sentence nearest in meaning."""
        compared = [self._sentences[place] for place in self._places(numbers)[:MOST_COMPARED]]
        if not compared:
            return Checked(said, [], SentenceCheck(verdict="not_found", method="words"), numbers)
        vectors = self._embedder.embed_passages([said.text, *(s.text for s in compared)])
        similar = vectors[1:] @ vectors[0]
        best = int(np.argmax(similar))
        low, high = self._index.scale
        near = (float(similar[best]) - low) / (high - low) >= NEAR_ACROSS
        lost = Facts(compared[best].text).lacks_figures(said.text)
        reasons = [f"figure not in the source: {', '.join(lost)}"] if lost else []
        check = SentenceCheck(
            verdict="supported" if near and not lost else "not_found", method="words", reasons=reasons
        )
        return Checked(said, cite(self._cursor(), [compared[best]]), check, numbers)

    def _quotes(self, terms: Sequence[str], numbers: tuple[int, ...]) -> list[PassageSentence]:
        """From each source, the sentence with the most terms, and a second one that adds to it."""
        own = frozenset(terms)
        total = sum(self._weights.get(term, 1.0) for term in own)
        chosen: list[int] = []
        for number in numbers:
            have: frozenset[str] = frozenset()
            for least in (LEAST_SHARE, ADDS):
                gains = [(self._share(own & self._terms[p] - have, total), p) for p in self._places((number,))]
                best, place = max(gains, default=(0.0, -1), key=lambda gain: (gain[0], -gain[1]))
                if best < least or len(chosen) == MOST_QUOTES:
                    break
                chosen.append(place)
                have |= self._terms[place]
        return [self._sentences[place] for place in sorted(set(chosen))]

    def _share(self, terms: frozenset[str], total: float) -> float:
        return sum(self._weights.get(term, 1.0) for term in terms) / total if total else 0.0

    def _best(self, terms: Sequence[str]) -> tuple[int, ...]:
        """The passage with the most terms, and the one that adds most to it."""
        own = frozenset(terms)
        total = sum(self._weights.get(term, 1.0) for term in own)
        have: frozenset[str] = frozenset()
        numbers: list[int] = []
        for _ in range(2):
            gains = []
            for number, passage in enumerate(self._passages, start=1):
                known = {
                    t for s, ts in zip(self._sentences, self._terms, strict=True) if s.passage is passage for t in ts
                }
                gains.append((self._share(own & known - have, total), -number, known))
            best, number, known = max(gains, default=(0.0, 0, set()), key=lambda gain: gain[:2])
            if best < ADDS:
                break
            numbers.append(-number)
            have |= known
        return tuple(sorted(numbers))

    def _places(self, numbers: Sequence[int]) -> list[int]:
        named = {self._passages[n - 1].chunk_id for n in numbers}
        return [place for place, s in enumerate(self._sentences) if s.passage.chunk_id in named]

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        return self._index.snapshot.cursor()


def _is_too_short(text: str) -> bool:
    """Whether a sentence has too few words to come from a source: "I would rather not say"."""
    return not count_wide(text) and not re.search(r"\d", text) and len(Words(text).content) < FEWEST_WORDS


def _checked_as(verdict: LocalVerdict) -> SentenceCheck:
    return SentenceCheck(verdict=verdict.verdict, method="words", kind=verdict.kind, reasons=list(verdict.reasons))

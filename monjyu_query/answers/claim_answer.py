"""The answer to the expanded query from the claims: composed of their sentences, or abstained where they are thin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from monjyu_core.text.language import message_language
from monjyu_query.answers.answer import Answer, abstained
from monjyu_query.answers.citing import Neighbours, cite_windows
from monjyu_query.answers.claims import Claim
from monjyu_query.answers.composition import SHORT, asked_of, compose
from monjyu_query.answers.layout import in_sections, numbered, quoted
from monjyu_query.answers.segments import NARROW, form_of
from monjyu_query.answers.selection import Question
from monjyu_query.asking.passages import Passage, PassageSentence, load_sentences
from monjyu_query.knowledge.themes import papers_by_aspect
from monjyu_query.papers.paper_label import paper_labels
from monjyu_query.ranking.tools import Ask, Tools

MOST_PASSAGES = 12
"""Of a usual answer; one with more room is made of more."""
SENTENCES = 5
"""Of a usual answer by a model."""
_USUAL_BUDGET = 50
"""Tests that buy an answer of the usual length."""
_MOST_ROOM, _OF_FACT = 2.0, 1.4
_ROOM_OF_REPORT = 5.0
PAPERS = 6
"""In a usual answer about the collection as a whole."""


def room_of(ask: Ask, budget: int) -> float:
    """How many times as long as usual an answer may be: by the root of the budget, so that 100 tests buy 1.4 times and
    200 twice as much, which is the most: who wants more asks for a report. A fact is not made longer by money, nor an
    answer for which nobody named mode or budget."""
    request = ask.request
    if request.response_type == "report":
        return _ROOM_OF_REPORT
    if request.open_ended and ask.settings.mode == "auto":
        return 1.0
    narrow = form_of(request.query, ask.routing.query_type) in NARROW
    return min(max(math.sqrt(budget / _USUAL_BUDGET), 1.0), _OF_FACT if narrow else _MOST_ROOM)


def compose_hits(
    tools: Tools, ask: Ask, question: Question, hits: Sequence[Passage], similarity: float, room: float
) -> Answer:
    """The answer from the best passages, which may be `room` times as long as usual."""
    sentences = load_sentences(ask.index.snapshot.cursor_of(one.paper_id for one in hits), hits)
    return compose(asked_of(tools, ask, question, room), hits, sentences, similarity)


def overview(ask: Ask, claims: Sequence[Claim], budget: int) -> Answer:
    """For a question about the collection as a whole: of each paper its best claim, of each community one before a
    second of any, under the headings of their themes."""
    room = room_of(ask, budget)
    language = message_language(ask.request.query)
    turns: Counter[str | None] = Counter()
    ranked: dict[str, tuple[int, int, Claim]] = {}
    for place, claim in enumerate(claims):
        paper = claim.sentences[0].passage.paper_id
        if paper not in ranked:
            ranked[paper] = (turns[claim.community], place, claim)
            turns[claim.community] += 1
    most = SHORT if ask.request.response_type == "short" else round(PAPERS * room)
    best = [claim.sentences[0] for _, _, claim in sorted(ranked.values(), key=lambda one: one[:2])][:most]
    cursor = ask.index.snapshot.cursor_of(sentence.passage.paper_id for sentence in best)
    neighbours = Neighbours(load_sentences(cursor, passages_of(best)))
    cited = cite_windows(cursor, [neighbours.grown(sentence) for sentence in best])
    if not cited:
        return abstained("no retrieved sentence is in its source", language)
    quotes = quoted(cited)
    labels = paper_labels(ask.index, list(quotes), language)
    aspects = papers_by_aspect(ask.index, ask.request.query, quotes)
    parts = in_sections("survey", language, cited, labels, aspects)
    segments, _, citations = numbered(parts, [], cited)
    return Answer(segments, "complete", citations, verified=True)


def compose_claims(tools: Tools, ask: Ask, question: Question, claims: Sequence[Claim], similarity: float) -> Answer:
    """The answer from the chunks of the best claims; `question` are its terms, `similarity` of the closest chunk."""
    claimed = [claim.sentences[0] for claim in claims]
    passages = passages_of(claimed)[:MOST_PASSAGES]
    sentences = load_sentences(ask.index.snapshot.cursor_of(one.paper_id for one in passages), passages)
    return compose(asked_of(tools, ask, question), passages, sentences, similarity)


def passages_of(sentences: Sequence[PassageSentence]) -> list[Passage]:
    """The chunks of the sentences, in their order, each once."""
    return list({sentence.passage.chunk_id: sentence.passage for sentence in sentences}.values())


def claim_passages(claims: Sequence[Claim]) -> list[Passage]:
    """What a model writes an answer from: for each chunk its claims, with their quotes, instead of all of its text."""
    statements: dict[str, list[str]] = {}
    for claim in claims:
        first = claim.sentences[0]
        lines = statements.setdefault(first.passage.chunk_id, [])
        lines += dict.fromkeys([claim.statement, " ".join(first.text.split())])
    chunks = passages_of([claim.sentences[0] for claim in claims])
    return [replace(passage, text="\n".join(dict.fromkeys(statements[passage.chunk_id]))) for passage in chunks]

"""What papers say of a thing about which none were found to contradict each other: one sentence of each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from monjyu_core.text.standing_alone import stands_alone
from monjyu_core.text.word_terms import word_terms
from monjyu_query.answers.citing import cite
from monjyu_query.modes.passages.best_passages import passages_at
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.query_embedding import QueryEmbedder
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.passages import PassageSentence, load_sentences
from monjyu_query.search.result import Citation
from monjyu_query.search.tools import Ask

MOST_READ, MOST_QUOTED = 1000, 5
"""Passages that are looked through, and papers that are quoted."""
_MOST_PAPERS, _OF_EACH = 12, 3
"""Papers of which statements are given, and how many of each."""
_SHORTEST, _LONGEST = 40, 400
"""Characters of a sentence that is quoted."""
_FINDINGS = frozenset(("abstract", "results", "discussion", "conclusion"))


@dataclass(frozen=True)
class Said:
    """`papers`: how many speak of it; `citations`: a sentence of each of the best, in their order; `statements`: the
    sentences of the best on it, some of each paper, the nearest paper first."""

    papers: int
    citations: list[Citation]
    statements: tuple[PassageSentence, ...] = ()


def what_papers_say(ask: Ask, embedder: QueryEmbedder, what: str) -> Said:
    """The papers with a passage that has all words of `what`, the nearest first."""
    index, terms = ask.index, set(word_terms([what])[0])
    if not terms or not len(index.corpus):
        return Said(0, [])
    ranking = rank(index, embedder, what, "hybrid", ask.request.filters, ask.settings)
    rows = best_rows(ranking.scores, index.corpus.work, MOST_READ, passage=index.corpus.passage)
    passages = passages_at(index, rows, [float(ranking.scores[row]) for row in rows])
    there = [
        passage
        for passage, words in zip(passages, word_terms([passage.text for passage in passages]), strict=True)
        if terms <= set(words)
    ]
    papers = list(dict.fromkeys(passage.paper_id for passage in there))
    sentences = load_sentences(index.snapshot.cursor(), there) if there else []
    best = _best_of_each(sentences, terms)
    told = [best[paper] for paper in papers if paper in best]
    statements = tuple(sentence for some in told[:_MOST_PAPERS] for sentence in some[:_OF_EACH])
    return Said(len(papers), cite(index.snapshot.cursor(), [some[0] for some in told[:MOST_QUOTED]]), statements)


def _best_of_each(sentences: list[PassageSentence], terms: Collection[str]) -> dict[str, list[PassageSentence]]:
    """By paper its sentences that read by themselves, those with most of the words first; then findings, then those of
    the better passage."""
    found: dict[str, list[tuple[tuple[int, bool], PassageSentence]]] = {}
    for sentence, words in zip(sentences, word_terms([one.text for one in sentences]), strict=True):
        text = " ".join(sentence.text.split())
        shared = len(set(terms) & set(words))
        if not shared or not _SHORTEST <= len(text) <= _LONGEST or text.endswith("?") or not stands_alone(text):
            continue
        rank_of = (shared, sentence.passage.section_type in _FINDINGS)
        found.setdefault(sentence.passage.paper_id, []).append((rank_of, sentence))
    return {
        paper: [sentence for _, sentence in sorted(some, key=lambda one: one[0], reverse=True)]
        for paper, some in found.items()
    }

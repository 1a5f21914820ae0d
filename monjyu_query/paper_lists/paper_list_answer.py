"""The answer to "which papers …": every paper is ranked by its best passages, and those that speak of it are listed.

An answer made of the best passages leaves out papers whose passages come later, however plainly they speak of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.language import message_language
from monjyu_query.answers.answer_form import form_of
from monjyu_query.answers.answering import Answer, abstained
from monjyu_query.answers.arrangement import Cited, arranged, numbered
from monjyu_query.answers.assemble import result_of
from monjyu_query.answers.citing import cite_windows
from monjyu_query.answers.evidence_ranking.sentence_worth import Judge, standing
from monjyu_query.answers.paper_label import paper_labels
from monjyu_query.answers.quote_windows import Neighbours, Window
from monjyu_query.answers.segments import laid_out
from monjyu_query.answers.selection import Question
from monjyu_query.paper_lists.asked_topic import Topic, asked_topics
from monjyu_query.paper_lists.papers_found import PaperFound, listed, papers_found, perhaps
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.passages import PassageSentence
from monjyu_query.search.result import Citation, Routing, SearchResult, Segment, Status
from monjyu_query.search.tools import Ask, Tools

MOST_ROWS = 50
_SURELY = 0.5
"""What the best paper of an answer that is sure must be, see `PaperFound.speaks`."""
_COMPARED, _OF_PAPER = 24, 2
"""Sentences that are compared with the topic, and of one paper."""
_WORDS = {
    "en": {
        "are": "{n} of the {all} papers looked at {speak} of {topic}:",
        "may": "{n} of the {all} papers looked at may speak of {topic}:",
        "none": "none of the {all} papers looked at speaks of {topic}",
        "none but": "None of the {all} papers looked at speaks of {topic}. The nearest:",
        "beside": " The nearest of the others:",
        "more": "{n} more are not shown.",
    },
    "ja": {
        "are": "調べた論文{all}本のうち、{topic}について述べているのは{n}本です：",
        "may": "調べた論文{all}本のうち、{topic}について述べている可能性があるのは{n}本です：",
        "none": "このコレクションの論文は答えていません。調べた{all}本に、{topic}を述べたものはありませんでした。",
        "none but": "調べた論文{all}本に、{topic}について述べたものはありませんでした。最も近いもの：",
        "beside": "ほかに最も近いもの：",
        "more": "ほか{n}本は表にありません。",
    },
}


def paper_list_answer(ask: Ask, tools: Tools) -> SearchResult | None:
    """The result where a question asks which papers speak of something; None for other questions, where mode,
    controller or budget say how it is to be answered, and where a model writes answers."""
    request = ask.request
    if not request.open_ended or tools.uses_model("answer") or request.response_type not in (None, "table"):
        return None
    topics = asked_topics(request.query) if form_of(request.query, ask.routing.query_type) == "papers" else []
    index = ask.index
    if not topics or not len(index.corpus):
        return None
    papers = passing_papers(index.snapshot.cursor(), request.filters)
    count = len(papers)
    ranking = rank(
        index, tools.embedder, " ".join(one.words for one in topics), "hybrid", request.filters, ask.settings
    )
    questions = [Question.of(index.keywords.query_terms(one.words).result(), len(index.corpus)) for one in topics]
    found = papers_found(index, ranking, questions, ask.settings.min_score)
    speaking, beside = listed(index, found, questions, [one.words for one in topics])
    doubtful = not speaking and not beside
    told = _Told(ask, tools, topics, questions, count)
    answer = told.answer(speaking, perhaps(index, found) if doubtful else beside)
    passages = [passage for one in found for passage in one.passages]
    routing = Routing(query_type="survey", reason=f"it asks which papers: {count} were looked at")
    return result_of(replace(ask, mode="hybrid", routing=routing), answer, "extractive", passages)


@dataclass(frozen=True)
class _Told:
    """How the papers found are told; `papers`: how many were looked at."""

    ask: Ask
    tools: Tools
    topics: Sequence[Topic]
    questions: Sequence[Question]
    papers: int

    @property
    def _language(self) -> str:
        return message_language(self.ask.request.query)

    def answer(self, speaking: Sequence[PaperFound], beside: Sequence[PaperFound]) -> Answer:
        """A line that counts and names the papers that speak of it, then the nearest others, and a table of all."""
        shown = [*speaking[:MOST_ROWS], *beside]
        windows = self._windows(shown)
        cited = cite_windows(self.ask.index.snapshot.cursor_of(w.key.passage.paper_id for w in windows), windows)
        if not cited:
            return self._none()
        sure = any(one.says or one.speaks >= _SURELY for one in speaking)
        others = {one.paper_id for one in beside}
        segments = self._line(cited, others, sure=sure, count=len(speaking))
        labels = self._labels(cited)
        _, tables = arranged("papers", self._language, "table", cited, windows, {}, labels)
        if len(speaking) > MOST_ROWS:
            tables[0].title = self._said("more", len(speaking) - MOST_ROWS)
        segments, tables, citations = numbered(segments, tables, cited)
        status: Status = "complete" if sure else "partial"
        confidence = round(max(one.speaks for one in shown), 3)
        return Answer(segments, status, citations, True, [], tables, confidence)

    def _line(self, cited: Cited, others: set[str], *, sure: bool, count: int) -> list[Segment]:
        labels = self._labels(cited)
        groups: tuple[list[Citation], list[Citation]] = ([], [])
        for _, citation in cited:
            groups[citation.paper_id in others].append(citation)
        heads = ("are" if sure else "may", "beside") if groups[0] else ("", "none but")
        comma, end, space = ("、", "。", "") if self._language == "ja" else (",", ".", " ")
        segments: list[Segment] = []
        for head, group in zip(heads, groups, strict=True):
            if not group:
                continue
            segments.append(Segment(text=self._said(head, count)))
            ends = [*[comma] * (len(group) - 1), end]
            told = [(f"{labels[c.paper_id]}{mark}", [c.n], "") for c, mark in zip(group, ends, strict=True)]
            named = laid_out(told, None)
            named[0].text = f"{space}{named[0].text}"
            segments += named
        return segments

    def _labels(self, cited: Cited) -> dict[str, str]:
        return paper_labels(self.ask.index, [citation.paper_id for _, citation in cited], self._language)

    def _none(self) -> Answer:
        if self._language == "ja":
            return Answer([Segment(text=self._said("none", 0))], "abstained", confidence=0.0)
        return abstained(self._said("none", 0), self._language)

    def _said(self, name: str, count: int) -> str:
        left, right, between = ("「", "」", "・") if self._language == "ja" else ("“", "”", " or ")
        topic = between.join(f"{left}{one.label}{right}" for one in self.topics)
        text = _WORDS[self._language][name]
        return text.format(n=count, all=self.papers, topic=topic, speak="speaks" if count == 1 else "speak")

    def _windows(self, papers: Sequence[PaperFound]) -> list[Window]:
        """Of each paper the best sentence that has the topic's words, else the best, with what it points back at."""
        sentences = [sentence for one in papers for sentence in one.sentences]
        if not sentences:
            return []
        terms = self.ask.index.keywords.terms([sentence.text for sentence in sentences])
        shares = np.max([[one.share(set(own)) for own in one.read(terms)] for one in self.questions], axis=0)
        saying = set().union(*(one.saying for one in papers))
        says = np.array([sentence.sentence_id in saying for sentence in sentences])
        stands = standing(sentences)
        worth = self._judged(sentences, self.questions[0].read(terms), (shares + says) * stands)
        best: dict[str, int] = {}
        for row in np.lexsort((-shares * stands, -worth, ~says)).tolist():
            best.setdefault(sentences[row].passage.paper_id, row)
        neighbours = Neighbours(sentences)
        return [neighbours.grown(sentences[best[one.paper_id]]) for one in papers if one.paper_id in best]

    def _judged(
        self, sentences: Sequence[PassageSentence], terms: Sequence[Sequence[str]], order: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """What each is worth (0 to 1), 0 of those not first in this order: a few of each paper are judged."""
        index, topic = self.ask.index, " ".join(one.words for one in self.topics)
        similarities = self.tools.embedder.similarities_to(topic, index.snapshot.manifest)
        taken: dict[str, int] = {}
        rows = []
        for row in np.argsort(-order, kind="stable").tolist():
            paper = sentences[row].passage.paper_id
            taken[paper] = taken.get(paper, 0) + 1
            rows += [row] if taken[paper] <= _OF_PAPER else []
        rows = sorted(rows[:_COMPARED])
        judge = Judge(index, topic, self.questions[0], similarities, None)
        worth = np.zeros(len(sentences))
        worth[rows] = judge.judged([sentences[row] for row in rows], [terms[row] for row in rows]).probability
        return worth

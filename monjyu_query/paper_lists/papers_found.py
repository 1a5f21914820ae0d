"""Which papers speak of a topic: ranked by their best passages, each by what it says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact, folded, words
from monjyu_query.answers.selection import Question, asks, is_prose
from monjyu_query.modes.passages.best_passages import passages_at
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.ranker import Ranking
from monjyu_query.ranking.similarity_scale import nearness
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence, load_sentences

LOOKED_AT, OF_PAPER = 60, 2
"""Papers, the best first, whose passages are read, and passages of each."""
_NEAR_BEST = 0.6
"""Share of the best paper's score (standard deviations above the mean) that a paper must have: best F1 on every second
question of cranfield, made one for papers (docs/decisions/search.md)."""
_NEAR_BEST_BESIDE = 0.5
"""That of a paper which is named beside those that say the words."""
_SPEAKS, _PERHAPS = 0.45, 0.35
"""Half the share of the topic's words that one passage has and half its nearness: of a paper that is listed, and of the
best one of any. Questions of other collections have .33 at most in nine of ten cases."""
_ALL, _SHORT, _MOST_BESIDE = 0.99, 3, 5
_ENDING, _LEAST = 2, 3
"""Letters that an ending may change, and those that a word keeps; a shorter word is a name and has no other form."""


@dataclass
class PaperFound:
    """A paper with its best passages and their sentences; `speaks` (0 to 1) and `score` are of its best passage,
    `covers`: one passage has all terms of a topic. `saying` are sentences with all words of a topic."""

    passages: list[Passage]
    speaks: float
    score: float
    covers: bool
    sentences: list[PassageSentence] = field(default_factory=list)
    saying: set[str] = field(default_factory=set)
    titled: bool = False

    @property
    def paper_id(self) -> str:
        return self.passages[0].paper_id

    @property
    def says(self) -> bool:
        return self.titled or bool(self.saying)


def papers_found(
    index: OpenIndex, ranking: Ranking, questions: Sequence[Question], min_score: float | None
) -> list[PaperFound]:
    """The papers of the best passages, best first. `questions`: the terms of each topic, one of which is enough."""
    scores = ranking.scores
    rows = best_rows(scores, index.corpus.work, LOOKED_AT * OF_PAPER, OF_PAPER, min_score, index.corpus.passage)
    passages = passages_at(index, rows, [round(float(scores[row]), 6) for row in rows])
    texts = [f"{one.paper_title}\n{one.header}\n{one.text}" for one in passages]
    terms = index.keywords.terms(texts)
    covers = [
        max(shares) for shares in zip(*([q.share(set(own)) for own in q.read(terms)] for q in questions), strict=True)
    ]
    same = ranking.similarity
    near = [0.0 if same is None else nearness(float(same[row]), index.scale) for row in rows]
    papers: dict[str, list[int]] = {}
    for place, passage in enumerate(passages):
        papers.setdefault(passage.paper_id, []).append(place)
    return [
        _paper([passages[at] for at in some], [covers[at] for at in some], [near[at] for at in some])
        for some in papers.values()
    ]


def _paper(passages: list[Passage], covers: Sequence[float], near: Sequence[float]) -> PaperFound:
    best = max(covers)
    return PaperFound(passages, (best + max(near)) / 2, passages[0].score, best >= _ALL)


def listed(
    index: OpenIndex, found: Sequence[PaperFound], questions: Sequence[Question], topics: Sequence[str]
) -> tuple[list[PaperFound], list[PaperFound]]:
    """The papers that speak of a topic, and the nearest of the others, each with its sentences.

    Of a topic of few words all of them must stand together in a sentence or in the title, in any ending; a paper that
    is only near is one of the others. Of a longer one a paper speaks that comes near the best."""
    short = all(len(question.telling()) <= _SHORT for question in questions)
    best = max((one.score for one in found), default=0.0)
    near = [one for one in found if one.speaks >= _SPEAKS and one.score >= _NEAR_BEST * best]
    if not short:
        with_sentences(index, near)
        return near, []
    whole = [one for one in found if one.covers]
    with_sentences(index, whole)
    asked = [words(folded(topic)) for topic in topics]
    for one in whole:
        one.titled = _together(asked, one.passages[0].paper_title)
        one.saying = {s.sentence_id for s in one.sentences if _together(asked, s.text)}
    saying = [one for one in whole if one.says]
    rest = [one for one in found if not one.says and one.speaks >= _SPEAKS and one.score >= _NEAR_BEST_BESIDE * best]
    with_sentences(index, [one for one in rest if not one.sentences])
    return saying, rest[:_MOST_BESIDE]


def perhaps(index: OpenIndex, found: Sequence[PaperFound]) -> list[PaperFound]:
    """Where none speaks of it, the nearest that are not far."""
    near = [one for one in found[:OF_PAPER] if one.speaks >= _PERHAPS]
    with_sentences(index, near)
    return near


def with_sentences(index: OpenIndex, papers: Iterable[PaperFound]) -> None:
    """Fill in the sentences that can be quoted, of those that have none."""
    papers = [one for one in papers if not one.sentences]
    passages = [passage for one in papers for passage in one.passages]
    if not passages:
        return
    cursor = index.snapshot.cursor_of(passage.paper_id for passage in passages)
    by_paper: dict[str, list[PassageSentence]] = {}
    for sentence in load_sentences(cursor, passages):
        if is_prose(sentence.text) and not asks(sentence.text):
            by_paper.setdefault(sentence.passage.paper_id, []).append(sentence)
    for one in papers:
        one.sentences = by_paper.get(one.paper_id, [])


def _together(topics: Sequence[Sequence[str]], text: str) -> bool:
    """Whether the text has all words of a topic: each begins one of its words, or stands in it where words are not
    divided by spaces or by hyphens as in the topic."""
    low = folded(text)
    own, joined = set(words(low)), compact(low)
    return any(asked and (all(_said(one, low, own) for one in asked) or _whole(asked, joined)) for asked in topics)


def _said(word: str, low: str, own: Set[str]) -> bool:
    if count_wide(word):
        return word in low
    start = word[: max(len(word) - _ENDING, _LEAST)]
    return word in own if len(word) < _LEAST else any(other.startswith(start) for other in own)


def _whole(asked: Sequence[str], joined: str) -> bool:
    """Whether a name of letters and digits stands in the text, in whatever way it is divided."""
    name = "".join(asked)
    return any(c.isdigit() for c in name) and len(name) > _LEAST and name in joined

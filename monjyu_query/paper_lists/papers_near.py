"""The papers that are nearest to a topic, by their best passages: what there is where none says it in its words."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_query.answers.selection import Question, asks, is_prose
from monjyu_query.asking.passages import PassageSentence, load_sentences
from monjyu_query.modes.passages.best_passages import passages_at
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.query_embedding import nearness
from monjyu_query.ranking.ranker import Ranking, best_rows

LOOKED_AT, OF_PAPER = 60, 2
"""Papers, the best first, whose passages are read, and passages of each."""
_NEAR_BEST = 0.6
"""Share of the best paper's score (standard deviations above the mean) that a paper must have: best F1 on every second
question of cranfield, made one for papers (docs/decisions/search.md)."""
_SPEAKS, _PERHAPS = 0.45, 0.35
"""Half the share of the topic's words that one passage has and half its nearness: of a paper that is listed, and of the
best one of any. Questions of other collections have .33 at most in nine of ten cases."""
_MOST_PERHAPS = 2


def papers_near(
    index: OpenIndex, ranking: Ranking, questions: Sequence[Question], min_score: float | None
) -> tuple[dict[str, list[PassageSentence]], float]:
    """The papers of the best passages with the sentences of these that can be quoted, best first, and how near the
    nearest is (0 to 1). `questions`: the terms of each topic, one of which is enough."""
    rows = best_rows(ranking.scores, index.corpus.work, LOOKED_AT * OF_PAPER, OF_PAPER, min_score, index.corpus.passage)
    passages = passages_at(index, rows, [round(float(ranking.scores[row]), 6) for row in rows])
    terms = index.keywords.terms([f"{one.paper_title}\n{one.header}\n{one.text}" for one in passages])
    speaks: dict[str, float] = {}
    scores: dict[str, float] = {}
    shares = zip(*([q.share(set(own)) for own in q.read(terms)] for q in questions), strict=True)
    for row, passage, share in zip(rows, passages, map(max, shares), strict=True):
        near = 0.0 if ranking.similarity is None else nearness(float(ranking.similarity[row]), index.scale)
        speaks[passage.paper_id] = max(speaks.get(passage.paper_id, 0.0), (share + near) / 2)
        scores[passage.paper_id] = max(scores.get(passage.paper_id, 0.0), passage.score)
    best = max(scores.values(), default=0.0)
    chosen = [paper for paper in speaks if speaks[paper] >= _SPEAKS and scores[paper] >= _NEAR_BEST * best]
    chosen = chosen or [paper for paper in list(speaks)[:_MOST_PERHAPS] if speaks[paper] >= _PERHAPS]
    found: dict[str, list[PassageSentence]] = {paper: [] for paper in chosen}
    read = [passage for passage in passages if passage.paper_id in found]
    cursor = index.snapshot.cursor_of(found)
    for sentence in load_sentences(cursor, read) if read else []:
        if is_prose(sentence.text) and not asks(sentence.text):
            found[sentence.passage.paper_id].append(sentence)
    return found, max((speaks[paper] for paper in found), default=0.0)

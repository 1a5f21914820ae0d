"""A comparison of papers: aspect by aspect what each says, and who cites whom."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_core.errors import QueryError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_query.answers.answering import Answer
from monjyu_query.answers.composition import Asked, compose
from monjyu_query.answers.selection import Question
from monjyu_query.digests.digest_result import Digest
from monjyu_query.digests.draft import Draft
from monjyu_query.digests.model_digest import write_part
from monjyu_query.digests.paper_text import ASPECTS, FURTHER, about, best_sentences, passages_by_aspect, question_of
from monjyu_query.modes.passages.passage_search import ANSWER_PASSAGES
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.passages import Passage, load_passages, load_sentences
from monjyu_query.search.request import SearchRequest, make_request
from monjyu_query.search.searcher import Searcher

MOST_PAPERS = 6
MOST_ASPECTS = 8
SENTENCES = 2
"""Of one paper on one aspect."""


def compare(searcher: Searcher, paper_ids: Sequence[str], aspects: Sequence[str] = ()) -> Digest:
    """Two to six papers side by side. Without `aspects` by what their sections are for; an aspect in words is searched
    for in each paper, and left out of a paper that says nothing on it, with a warning.

    QueryError for too few or too many papers or aspects, and for a paper the collection does not have.
    """
    wanted = list(dict.fromkeys(paper_ids))
    if not 2 <= len(wanted) <= MOST_PAPERS:
        said = f"A comparison takes 2 to {MOST_PAPERS} different papers, not {len(wanted)}."
        raise QueryError(said, "Name more of them (paper_ids)." if len(wanted) < 2 else "Name the most important ones.")
    if len(aspects) > MOST_ASPECTS:
        raise QueryError(f"{len(aspects)} aspects are too many.", f"Name at most {MOST_ASPECTS}.")
    index = searcher.current()
    titles = {paper_id: about(index, paper_id)[0] or paper_id for paper_id in wanted}
    draft = Draft(index)
    used = _asked(searcher, draft, wanted, aspects) if aspects else _by_section(searcher, draft, wanted)
    listed = "; ".join(f"“{title}”" for title in titles.values())
    on = f" with regard to {', '.join(aspects)}" if aspects else ""
    whole = write_part(searcher, index, draft, "Comparison", f"Compare these papers{on}: {listed}.", used)
    return draft.finish("comparison", " / ".join(titles.values()), wanted, partial=not whole)


def _by_section(searcher: Searcher, draft: Draft, paper_ids: Sequence[str]) -> list[Passage]:
    """Each aspect with each paper; gives the passages that were quoted."""
    index = searcher.current()
    questions = {paper_id: question_of(index, " ".join(about(index, paper_id))) for paper_id in paper_ids}
    found = {paper_id: passages_by_aspect(index, paper_id) for paper_id in paper_ids}
    used: dict[str, Passage] = {}
    for aspect in (*ASPECTS, FURTHER):
        for paper_id in paper_ids:
            passages = found[paper_id].get(aspect, [])
            sentences = best_sentences(index, questions[paper_id], passages, SENTENCES) if passages else []
            draft.quote(aspect, paper_id, sentences)
            used |= {sentence.passage.chunk_id: sentence.passage for sentence in sentences}
    return list(used.values())


def _asked(searcher: Searcher, draft: Draft, paper_ids: Sequence[str], aspects: Sequence[str]) -> list[Passage]:
    """What a search for each aspect finds in each paper; the model of the role `answer` is not asked for each."""
    used: dict[str, Passage] = {}
    for aspect in aspects:
        for paper_id in paper_ids:
            request = make_request(query=aspect, collection=searcher.collection, filters={"paper_ids": [paper_id]})
            answer, passages = extractive_answer(searcher, request)
            if answer.status == "abstained":
                draft.warnings.append(f"{paper_id} says too little on “{request.query}”.")
            draft.cited(request.query, paper_id, answer.citations[:SENTENCES])
            used |= {passage.chunk_id: passage for passage in passages[:SENTENCES]}
    return list(used.values())


def extractive_answer(searcher: Searcher, request: SearchRequest) -> tuple[Answer, list[Passage]]:
    """The answer and the passages it was made from, best first, in the mode that the settings name."""
    index, settings = searcher.current(), searcher.settings.search
    asked = index.keywords.query_terms(request.query)
    with charged_to(searcher.account(index)):
        ranking = rank(index, searcher.tools.embedder, request.query, settings.mode, request.filters, settings)
    rows = best_rows(ranking.scores, index.corpus.work, ANSWER_PASSAGES, passage=index.corpus.passage)
    chunks = [index.corpus.chunk_ids[row] for row in rows]
    passages = load_passages(index.snapshot.cursor(), chunks, [float(ranking.scores[row]) for row in rows])
    closest = None if ranking.similarity is None or not rows else float(ranking.similarity[rows].max())
    similarities = searcher.tools.embedder.similarities_to(request.query, index.snapshot.manifest)
    question = Question.of(asked.result(), len(index.corpus))
    whole = Asked(index, request.query, question, similarities, searcher.settings.answer)
    return compose(whole, passages, load_sentences(index.snapshot.cursor(), passages), closest), passages

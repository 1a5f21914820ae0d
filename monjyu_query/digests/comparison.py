"""A comparison of papers: a table of what each says on each aspect, who cites whom, and their shared terms."""

from collections.abc import Mapping, Sequence

from monjyu_core.errors import QueryError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_query.answers.answer import Answer
from monjyu_query.answers.composition import Asked, compose
from monjyu_query.answers.selection import Question
from monjyu_query.asking.passages import load_passages, load_sentences
from monjyu_query.asking.request import SearchRequest, clean_text, make_request
from monjyu_query.asking.result import Cell, Citation
from monjyu_query.digests.draft import Asker, Draft, Said, as_quoted, write_part
from monjyu_query.digests.paper_text import Choice, PaperText, cached_paper
from monjyu_query.digests.result import Digest, language_for, word
from monjyu_query.knowledge.aspects import COMPARED, aspect, aspect_named
from monjyu_query.modes.passage_search import ANSWER_PASSAGES
from monjyu_query.papers.names import one_paper
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.ranker import best_rows, rank

MOST_PAPERS = 6
MOST_ASPECTS = 8
ANSWERS = 2
"""The maximum number of quotes of one paper on an aspect in the user's words."""
_SHARED_TERMS = 8
_TERMS = """SELECT any_value(n.surface) FROM phrase_mentions m JOIN graph_nodes n ON n.phrase = m.phrase
WHERE list_contains($papers, m.paper_id) AND length(m.phrase) > 3
GROUP BY m.phrase HAVING count(DISTINCT m.paper_id) = $all
ORDER BY any_value(n.papers), sum(m.count) DESC, m.phrase LIMIT $most"""


def compare(
    searcher: Asker,
    papers: Sequence[str],
    aspects: Sequence[str] = (),
    *,
    language: str = "",
    index: OpenIndex | None = None,
) -> Digest:
    """A comparison of two to six papers by aspect. An aspect in the user's own words is searched in each paper; if a
    paper says nothing about it, there is a warning.

    `papers` are ids, DOIs, words of titles, or first authors and years. Raises QueryError for too few or too many
    papers or aspects, and for a paper the collection does not have.
    """
    index = index or searcher.current()
    wanted = list(dict.fromkeys(one_paper(index, name) for name in papers))
    if not 2 <= len(wanted) <= MOST_PAPERS:
        told = f"A comparison takes 2 to {MOST_PAPERS} different papers, not {len(wanted)}."
        raise QueryError(told, "Name more of them (paper_ids)." if len(wanted) < 2 else "Name the most important ones.")
    if len(aspects) > MOST_ASPECTS:
        raise QueryError(f"{len(aspects)} aspects are too many.", f"Name at most {MOST_ASPECTS}.")
    aspects = [clean for one in aspects if (clean := clean_text(one))]
    language = language or language_for(index, wanted, " ".join(aspects))
    texts = {paper_id: cached_paper(index, paper_id) for paper_id in wanted}
    draft = Draft(index, language)
    rows = _asked(searcher, index, draft, texts, aspects) if aspects else _by_aspect(draft, texts)
    draft.shared_terms = _shared_terms(index, wanted)
    titles = [text.title or paper_id for paper_id, text in texts.items()]
    whole = _written(searcher, index, draft, titles, aspects, rows)
    told_rows = {name: cells for name, cells in rows.items() if any(cells.values())}
    labels = draft.labels(wanted)
    table: list[list[Cell | list[Said]]] = [[Cell(text=name), *cells.values()] for name, cells in told_rows.items()]
    draft.table([word("aspect", language), *labels], table)
    return draft.finish("comparison", " / ".join(titles), wanted, partial=not whole)


Rows = dict[str, dict[str, list[Said]]]
"""The quotes by aspect and paper."""


def _by_aspect(draft: Draft, texts: Mapping[str, PaperText]) -> Rows:
    choices = {paper_id: Choice(text) for paper_id, text in texts.items()}
    wanted = [aspect(name) for name in COMPARED]
    told = iter(draft.quoted_each([choice.tell(one, 1) for one in wanted for choice in choices.values()]))
    rows: Rows = {one.title(draft.language): {paper_id: next(told) for paper_id in choices} for one in wanted}
    if not any(said for cells in rows.values() for said in cells.values()):
        first = {p: draft.quoted(choice.whole(1)) for p, choice in choices.items()}
        return {word("content", draft.language): first}
    return rows


def _asked(
    searcher: Asker, index: OpenIndex, draft: Draft, texts: Mapping[str, PaperText], aspects: Sequence[str]
) -> Rows:
    """The statements of each paper on each aspect: known aspects are found by their words, others by a search in the
    paper. The model of the role `answer` is not called for each aspect."""
    rows: Rows = {}
    for words in aspects:
        known = aspect_named(words)
        rows[words] = {}
        for paper_id, text in texts.items():
            found = draft.quoted(Choice(text).tell(known, ANSWERS)) if known else []
            found = found or as_quoted(searched(searcher, index, paper_id, words)[:ANSWERS])
            if not found:
                [label] = draft.labels([paper_id])
                draft.warnings.append(word("little", draft.language, paper=label, aspect=words))
            rows[words][paper_id] = found
    return rows


def searched(
    searcher: Asker, index: OpenIndex, paper_id: str, words: str, passages: int = ANSWER_PASSAGES
) -> list[Citation]:
    """One paper's quotes about `words`, best first, from up to `passages` passages; empty for an abstention."""
    request = make_request(query=words, collection=searcher.collection, filters={"paper_ids": [paper_id]})
    answer = extractive_answer(searcher, index, request, passages)
    return [] if answer.status == "abstained" else answer.citations


def _written(
    searcher: Asker, index: OpenIndex, draft: Draft, titles: Sequence[str], aspects: Sequence[str], rows: Rows
) -> bool:
    """Let a model write about the quoted passages, if one is set; return False if it failed."""
    if not searcher.tools.uses_model("answer"):
        return True
    told = [one for cells in rows.values() for some in cells.values() for one in some]
    chunks = list(dict.fromkeys(citation.chunk_id for one in told for citation in one.citations))
    passages = load_passages(index.snapshot.cursor(), chunks)
    named = "; ".join(f"“{title}”" for title in titles)
    on = f" with regard to {', '.join(aspects)}" if aspects else ""
    task = f"Compare these papers{on}: {named}."
    return write_part(searcher, index, draft, word("comparison", draft.language), task, passages)


def _shared_terms(index: OpenIndex, paper_ids: Sequence[str]) -> list[str]:
    """The rarest terms that all papers share; none below level 1."""
    if index.snapshot.manifest.level < 1:
        return []
    values = {"papers": list(paper_ids), "all": len(paper_ids), "most": _SHARED_TERMS}
    return [surface for (surface,) in index.snapshot.cursor().execute(_TERMS, values).fetchall()]


def extractive_answer(searcher: Asker, index: OpenIndex, request: SearchRequest, most: int = ANSWER_PASSAGES) -> Answer:
    """An extractive answer in the configured mode, from the best `most` passages."""
    settings = searcher.settings.search
    asked = index.keywords.query_terms(request.query)
    with charged_to(searcher.account(index)):
        ranking = rank(index, searcher.tools.embedder, request.query, settings.mode, request.filters, settings)
    rows = best_rows(ranking.scores, index.corpus.work, most, passage=index.corpus.passage)
    chunks = [index.corpus.chunk_ids[row] for row in rows]
    passages = load_passages(index.snapshot.cursor(), chunks, [float(ranking.scores[row]) for row in rows])
    closest = None if ranking.similarity is None or not rows else float(ranking.similarity[rows].max())
    similarities = searcher.tools.embedder.similarities_to(request.query, index.snapshot.manifest)
    question = Question.of(asked, len(index.corpus))
    readings = searcher.tools.readings
    whole = Asked(index, request.query, question, similarities, readings, searcher.settings.answer)
    return compose(whole, passages, load_sentences(index.snapshot.cursor(), passages), closest)

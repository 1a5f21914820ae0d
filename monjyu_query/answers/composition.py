"""Composes an answer from the passages of a mode: chooses the sentences to quote, names their papers, and lays them out
in the form that the question asks for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from monjyu_core.language.packs import Texts
from monjyu_core.settings.settings import AnswerSettings
from monjyu_core.text.language import message_language
from monjyu_core.text.quotes import points_outside
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.abstract_answer import abstract_answer, answer_of_named, is_general
from monjyu_query.answers.answer import Answer, abstained
from monjyu_query.answers.citing import Neighbours, Window, cite_windows, each_once, joined
from monjyu_query.answers.layout import arranged, in_sections, numbered, quoted, said
from monjyu_query.answers.named_passages import with_named, with_thanks
from monjyu_query.answers.outcome import NOTES, Support, is_name, outcome_of, support_of
from monjyu_query.answers.segments import NARROW, OF_MANY, AnswerForm, form_of, laid_out
from monjyu_query.answers.selection import Limits, Question, asks, choose_windows, is_prose, weigh_evidence
from monjyu_query.answers.sentence_ranking import Judge, Judged, standing
from monjyu_query.asking.passages import Passage, PassageSentence, sentences_before
from monjyu_query.asking.request import ResponseType
from monjyu_query.asking.result import AnswerTable, Segment
from monjyu_query.asking.topic import defines, sides_of, topic_of
from monjyu_query.knowledge.concept_graph import ConceptGraph
from monjyu_query.knowledge.themes import papers_by_aspect
from monjyu_query.papers.labels import paper_labels
from monjyu_query.papers.names import paper_in_question
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.passage_readings import MULTILINGUAL
from monjyu_query.ranking.retrieval import QueryTerm
from monjyu_query.ranking.scripts import foreign, is_wide
from monjyu_query.ranking.tools import Ask, Tools

SHORT = 2
"""The number of sentences in a short answer."""
_OF_SEVERAL = OF_MANY | {"comparison"}
_OF_OTHERS = 0.3
"""The factor on the weight of other papers' sentences if the question names a paper."""
_OF_BEST, _OF_WORDS = 0.1, 0.5
"""The minimum shares that a sentence of another paper must have in a table of papers: of the best sentence's weight,
and of the largest number of the question's words in a sentence."""
_NEAREST = 3
"""The number of sentences quoted from passages in another language than the question."""
_BETWEEN_LANGUAGES = 0.005
"""The cosine by which a passage in another language may be below the scale of texts in one language and still count as
near: of 16 questions in Japanese or English that papers in the other language answer, 15 have such a passage; of 15 on
other subjects, none."""
_CHANCE = 1 / 150
"""A sentence with a lower probability is not evidence."""
FACT, _REASONS = Limits(3, 450, 2), Limits(3, 800, 3, share=0.5)
_LIMITS: Mapping[AnswerForm, Limits] = {
    **dict.fromkeys(NARROW, FACT),
    "definition": replace(FACT, share=0.6),
    "yes_no": replace(FACT, share=0.2),
    "reasons": _REASONS,
    "steps": _REASONS,
    "exploration": Limits(4, 800, 2),
    "comparison": Limits(5, 900, 3),
    "survey": Limits(8, 1600, 2, least=0.03),
    "papers": Limits(5),
}
"""The limits by form; 450 columns are about 75 English words. A fact has at most two sentences per paper; evidence for
a yes or a no is often in more than one place."""
_WIDEST = 2300
"""Columns of the longest answer except a requested report: about 400 English words."""
_DEFINES, _SURE = 3.0, 0.95
"""The factor on the weight of a sentence that defines the requested thing, and the limit of that weight."""
_EXPLAINS: frozenset[AnswerForm] = frozenset({"reasons", "steps"})
"""Forms whose best sentence may be quoted with its neighbours."""
_MOST_PAPERS = 8
"""The number of rows in a table of papers."""
_A_SIDE = 2
"""The number of quotes on each side of a comparison."""
_BROAD: frozenset[AnswerForm] = frozenset({"survey", "exploration"})
_SHORTEST_USUAL = 400
"""The minimum length, in characters, of the usual answer of which longer answers are a multiple."""
_REPORT_ROOM = 2.0
"""From this multiple of the usual length on, an answer gets headings."""


@dataclass(frozen=True)
class Asked(Judge):
    """A question as input for composing an answer. `question` has its terms, `query_type` is the router's kind,
    `paper_id` the only paper asked about, `room` the multiple of the usual length."""

    settings: AnswerSettings
    response_type: ResponseType | None = None
    query_type: str = ""
    paper_id: str = ""
    room: float = 1.0

    @property
    def language(self) -> str:
        return message_language(self.query)

    @cached_property
    def form(self) -> AnswerForm:
        """The form of the answer; a comparison in which no two sides are recognised is answered as an ordinary
        question."""
        form = form_of(self.query, self.query_type)
        return form if form != "comparison" or self.sides else form_of(self.query, "factoid")

    @cached_property
    def sides(self) -> dict[str, set[str]]:
        """The things that a comparison names, each with the terms that only it has; empty without two of them."""
        names = sides_of(self.query)
        sets = {name: set(own) for name, own in zip(names, self.index.keywords.terms(names), strict=True)}
        if not self._are_things(sets):
            return {}
        alone = {name: own - set().union(*(o for o in sets.values() if o is not own)) for name, own in sets.items()}
        named = {name: own for name, own in alone.items() if own & self.question.weights.keys()}
        return named if len(named) > 1 else {}

    def _are_things(self, sides: Mapping[str, set[str]]) -> bool:
        """Whether each side is a name or a concept of the collection; True without level 1, which finds the
        concepts."""
        graph = ConceptGraph.of(self.index.snapshot.cursor())
        near = graph.candidates(sorted(set().union(*sides.values()))) if len(sides) > 1 else []
        known = {frozenset(own) for own in self.index.keywords.terms([concept.surface for concept in near])}
        return not graph.present or all(
            own in known or any(is_name(word, self.query) for word in name.split()) for name, own in sides.items()
        )

    @cached_property
    def named_paper(self) -> str:
        """The id of the paper that a question about one paper names, "" if it names none."""
        found = None if self.paper_id or self.form in _OF_SEVERAL else paper_in_question(self.index, self.query)
        return found.paper_id if found else ""

    @property
    def limits(self) -> Limits:
        """The limits of the answer. Surveys are longer and cite more papers, because no single sentence answers them;
        facts have the same length at every budget."""
        usual, most = _LIMITS[self.form], self.settings.max_sentences
        if self.response_type == "short":
            return replace(usual, sentences=min(SHORT, most))
        room = 1.0 if self.form in NARROW else self.room
        sentences = usual.sentences if self.form == "survey" else min(usual.sentences, most)
        width = round(usual.width * room)
        width = width if self.response_type == "report" else min(width, _WIDEST)
        return Limits(
            round(sentences * room), width, round(usual.a_paper * room), usual.share / room, usual.least / room
        )

    @property
    def in_sections(self) -> bool:
        """Whether the answer is a report with headings."""
        long = self.form in _BROAD and self.room >= _REPORT_ROOM and self.response_type is None
        return self.response_type == "report" or long


def asked_of(tools: Tools, ask: Ask, question: Question, room: float = 1.0) -> Asked:
    """The input for a search's question, whose terms are `question`; `room` as in `Asked`."""
    similarities = tools.embedder.similarities_to(ask.request.query, ask.index.snapshot.manifest)
    settings, kind = tools.settings.answer, ask.request.response_type
    papers = ask.request.filters.paper_ids
    paper = papers[0] if len(set(papers)) == 1 else ""
    if form_of(ask.request.query, ask.routing.query_type) in OF_MANY:
        question = question.only(topic_of(ask.request.query))
    return Asked(
        ask.index,
        ask.request.query,
        question,
        similarities,
        tools.readings,
        settings,
        kind,
        ask.routing.query_type,
        paper,
        room,
    )


def model_answer(
    tools: Tools, ask: Ask, passages: Sequence[Passage], asked: Sequence[QueryTerm]
) -> tuple[Answer | None, str]:
    """The answer of the role `answer` from the passages, and why its model failed; None without a model or passages."""
    if not passages or not tools.uses_model("answer"):
        return None, ""
    from monjyu_query.answers.model.answer import answer_with_model

    return answer_with_model(
        tools, ask.index, ask.request, passages, asked, ask.account, ask.emit, query_type=ask.routing.query_type
    )


def or_extractive(written: Answer | None, failure: str, extract: Callable[[], Answer]) -> tuple[Answer, str]:
    """The model's answer if there is one, otherwise the extractive answer, which a failure of the model makes partial;
    with the name of the engine."""
    if written is not None:
        return written, "llm"
    answer = extract()
    if failure:
        status = "partial" if answer.status == "complete" else answer.status
        answer = replace(answer, status=status, warnings=[failure, *answer.warnings])
    return answer, "extractive"


@dataclass(frozen=True)
class Pool:
    """Candidate sentences of an answer, best passage first, with their terms and weights."""

    sentences: Sequence[PassageSentence]
    terms: Sequence[Sequence[str]]
    judged: Judged
    neighbours: Neighbours


def compose(
    asked: Asked, passages: Sequence[Passage], sentences: Sequence[PassageSentence], similarity: float | None
) -> Answer:
    """The answer from the passages, best first, and their sentences. `similarity` is that of the closest passage, None
    if vectors say nothing. It abstains, with the closest sentence, if the evidence is too weak."""
    if not passages:
        return abstained("no passage was found", message_language(asked.query))
    passages, sentences = with_named(asked.index, asked.named_paper, passages, sentences)
    sentences = with_thanks(asked.index, asked.query, asked.paper_id or asked.named_paper, passages, sentences)
    pool, windows, support = weighed(asked, passages, sentences, similarity)
    answer = _answer(asked, pool, windows, support)
    named = None if asked.paper_id else answer_of_named(asked.index, asked.query, asked.language)
    if named is not None and named.citations[0].paper_id in {passage.paper_id for passage in passages}:
        return replace(named, confidence=answer.confidence)
    if answer.status == "complete":
        return answer if asked.paper_id or topic_of(asked.query) else _mark_as_examples(answer, asked.language)
    general = asked.paper_id and is_general(asked.query)
    told = abstract_answer(asked.index, asked.paper_id, asked.language) if general else None
    if told is None and answer.status == "abstained":
        told = _nearest_in_meaning(asked, passages, sentences)
    return answer if told is None else replace(told, confidence=answer.confidence)


def _nearest_in_meaning(
    asked: Asked, passages: Sequence[Passage], sentences: Sequence[PassageSentence]
) -> Answer | None:
    """The sentences closest in meaning, from passages in another language than the question. Vectors of a multilingual
    model compare languages; the reader and words do not. None if the closest passage is not near."""
    abroad, wide = foreign(asked.query, asked.index.languages), bool(count_wide(asked.query))
    others = {one.chunk_id: one for one in passages if abroad or is_wide(one.text) != wide}
    read = [one for one in sentences if one.passage.chunk_id in others and is_prose(one.text) and not asks(one.text)]
    if not read or asked.index.snapshot.manifest.embedding.model != MULTILINGUAL:
        return None
    cosines = asked.similarities([*(one.text for one in others.values()), *(one.text for one in read)])
    if cosines is None or max(cosines[: len(others)]) < asked.index.scale[0] - _BETWEEN_LANGUAGES:
        return None
    near = dict(zip(others, cosines.tolist(), strict=False))
    worth = standing(read, asked.query) * (cosines[len(others) :] + [near[one.passage.chunk_id] for one in read])
    best = [Window((read[row],), (read[row],)) for row in np.argsort(-worth, kind="stable").tolist()]
    cursor = asked.index.snapshot.cursor_of(one.paper_id for one in others.values())
    cited = cite_windows(cursor, each_once(best)[:_NEAREST])
    labels = paper_labels(asked.index, list(dict.fromkeys(c.paper_id for _, c in cited)), asked.language)
    parts = laid_out([(said(window), [c.n], labels[c.paper_id]) for window, c in cited], asked.response_type)
    segments, _, citations = numbered(parts, [], cited)
    note = Segment(text=f"\n\n{NOTES[asked.language]['translated']}")
    return Answer([*segments, note], "partial", citations, True)


def _mark_as_examples(answer: Answer, language: str) -> Answer:
    """Mark an answer to a question about the collection as a whole as partial: its quotes are examples, not the
    collection's themes."""
    note = Segment(text=f"\n\n{Texts('answer')[language]['examples']}")
    return replace(answer, segments=[*answer.segments, note], status="partial")


def weighed(
    asked: Asked, passages: Sequence[Passage], sentences: Sequence[PassageSentence], similarity: float | None
) -> tuple[Pool, list[Window], Support]:
    """What `compose` builds the answer from: all sentences with their weights, the selected windows, their support."""
    index = asked.index
    texts = [*(f"{passage.header}\n{passage.text}" for passage in passages), *(s.text for s in sentences)]
    terms = asked.question.read(index.keywords.terms(texts))
    own = terms[len(passages) :]
    judged = asked.judged(sentences, own)
    ours = np.array([sentence.passage.paper_id == asked.named_paper for sentence in sentences], dtype=bool)
    if ours.any():
        judged = replace(judged, probability=np.where(ours, 1.0, _OF_OTHERS) * judged.probability)
    if asked.form == "definition":
        told = np.array([defines(asked.query, sentence.text) for sentence in sentences], dtype=bool)
        raised = np.minimum(judged.probability * _DEFINES, _SURE)
        judged = replace(judged, probability=np.where(told, np.maximum(judged.probability, raised), judged.probability))
    pool = Pool(sentences, own, judged, _neighbours(index, sentences))
    evidence = weigh_evidence(asked.question, terms[: len(passages)], similarity, index.scale)
    windows = _chosen(asked, pool)
    if asked.form in _EXPLAINS and windows:
        windows = joined([asked.widened(windows[0], pool.neighbours), *windows[1:]], pool.neighbours)
    support = support_of(index, asked.query, asked.question, evidence, judged, own, sentences, windows)
    if foreign(asked.query, index.languages):
        support = replace(support, unmet=(), absent=(), unseen=0.0)  # the papers' language lacks every word
    return pool, windows, support


def _neighbours(index: OpenIndex, sentences: Sequence[PassageSentence]) -> Neighbours:
    """The neighbours of the sentences, including those right before a passage that begins in the middle of a
    section."""
    first: dict[str, PassageSentence] = {}
    for sentence in sentences:
        known = first.setdefault(sentence.passage.chunk_id, sentence)
        first[sentence.passage.chunk_id] = min(known, sentence, key=lambda s: (s.section_ord, s.place))
    hanging = [sentence for sentence in first.values() if points_outside(sentence.text)]
    cursor = index.snapshot.cursor_of(sentence.passage.paper_id for sentence in hanging)
    return Neighbours([*sentences_before(cursor, hanging), *sentences])


def _chosen(asked: Asked, pool: Pool) -> list[Window]:
    if (asked.form == "papers" and asked.response_type != "short") or asked.response_type == "table":
        return _one_a_paper(asked, pool)
    worth, limits = pool.judged.probability, asked.limits
    if asked.room > 1 and asked.response_type != "report":
        usual = sum(len(window.text) for window in _chosen(replace(asked, room=1.0), pool))
        limits = replace(limits, width=min(limits.width, round(asked.room * max(usual, _SHORTEST_USUAL))))
    if asked.form in _BROAD:
        limits = replace(limits, others=pool.judged.weights.broad)
    return choose_windows(asked.question, worth, pool.sentences, pool.terms, limits, pool.neighbours)


def _least(asked: Asked, pool: Pool) -> float:
    """The minimum weight of a sentence of another paper in a table. It is low because no paper is far better if many
    answer."""
    best = float(pool.judged.probability.max(initial=0.0))
    return min(pool.judged.weights.least, max(_OF_BEST * best / max(1.0, asked.room) ** 2, _CHANCE))


def _one_a_paper(asked: Asked, pool: Pool) -> list[Window]:
    """The best sentence of each paper, for papers with enough weight and words of the question."""
    worth = pool.judged.probability
    shares = [asked.question.share(set(terms)) for terms in pool.terms]
    enough_words = _OF_WORDS * max(shares, default=0.0)
    best: dict[str, Window] = {}
    for row in np.argsort(-worth, kind="stable").tolist():
        sentence = pool.sentences[row]
        paper = sentence.passage.paper_id
        enough = not best or (worth[row] >= _least(asked, pool) and shares[row] >= enough_words)
        if enough and worth[row] > 0 and paper not in best and is_prose(sentence.text) and not asks(sentence.text):
            best[paper] = pool.neighbours.grown(sentence)
    return list(best.values())[: round(_MOST_PAPERS * asked.room)]


def _answer(asked: Asked, pool: Pool, windows: Sequence[Window], support: Support) -> Answer:
    cursor = asked.index.snapshot.cursor_of(sentence.passage.paper_id for sentence in pool.sentences)
    sides = _sides(asked, pool) if asked.form == "comparison" else {}
    extra = [window for side in sides.values() for window in side]
    cited = cite_windows(cursor, each_once([*windows, *extra]))
    if not cited:
        return abstained("no sentence was chosen from the passages", message_language(asked.query))
    dropped = len(each_once([*windows, *extra])) - len(cited)
    warnings = [f"{dropped} quotes were not found in their source and left out."] if dropped else []
    rows = {sentence.sentence_id: row for row, sentence in enumerate(pool.sentences)}
    for window, citation in cited:
        if window.key.sentence_id in rows:
            citation.relevance = round(float(pool.judged.probability[rows[window.key.sentence_id]]), 4)
    labels = paper_labels(asked.index, list(dict.fromkeys(c.paper_id for _, c in cited)), asked.language)
    lacking = [name for name, found in sides.items() if not found]
    several = asked.form in _OF_SEVERAL and len(labels) > 1
    outcome = outcome_of(support, lacking, asked.language, asked.settings, many=several)
    if outcome.status == "abstained" and not support.related:
        return Answer([outcome.states_no_answer()], "abstained", confidence=outcome.confidence)
    if outcome.status == "abstained":
        window, closest = cited[0]
        segments = outcome.abstains(said(window), closest, labels[closest.paper_id])
        return Answer(segments, "abstained", [closest], verified=True, confidence=outcome.confidence)
    themes = papers_by_aspect(asked.index, asked.query, quoted(cited)) if asked.in_sections else {}
    if asked.response_type == "report" or len(themes) > 1:
        tables: list[AnswerTable] = []
        parts = in_sections(asked.form, asked.language, cited, labels, themes)
    else:
        told, tables = arranged(asked.form, asked.language, asked.response_type, cited, windows, sides, labels)
        parts = laid_out(told, asked.response_type)
    segments, tables, citations = numbered(parts, tables, cited)
    if outcome.note:
        segments.append(Segment(text=f"\n\n{outcome.note}"))
    return Answer(segments, outcome.status, citations, True, warnings, tables, outcome.confidence)


def _sides(asked: Asked, pool: Pool) -> dict[str, list[Window]]:
    """The best windows of each side of a comparison, by the words that only this side has."""
    order = np.argsort(-pool.judged.probability, kind="stable").tolist()
    found: dict[str, list[Window]] = {}
    for name, some in asked.sides.items():
        rows = [row for row in order if some & set(pool.terms[row]) and is_prose(pool.sentences[row].text)]
        found[name] = [pool.neighbours.grown(pool.sentences[row]) for row in rows if pool.judged.probability[row] > 0]
        found[name] = found[name][:_A_SIDE]
    return found

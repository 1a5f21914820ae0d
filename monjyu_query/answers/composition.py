"""An answer built from evidence: which windows of which sentences, under whose name, in the form the question asks for.

All modes find; what they found is composed here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from monjyu_core.settings.settings import AnswerSettings
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.abstract_answer import abstract_answer, is_general
from monjyu_query.answers.answer_form import OF_MANY, AnswerForm, form_of
from monjyu_query.answers.answering import Answer, abstained
from monjyu_query.answers.citing import cite_windows
from monjyu_query.answers.evidence_ranking.answer_types import asked_types, counted
from monjyu_query.answers.evidence_ranking.evidence_ranker import READ, Judged, Similarities, judge_sentences
from monjyu_query.answers.outcome import Support, outcome_of, support_of
from monjyu_query.answers.paper_label import paper_labels
from monjyu_query.answers.quote_windows import Neighbours, Window, connective, points_outside
from monjyu_query.answers.segments import laid_out
from monjyu_query.answers.selection import Limits, Question, asks, choose_windows, is_prose, weigh_evidence
from monjyu_query.answers.topic import sides_of, topic_of
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence, sentences_before
from monjyu_query.search.request import ResponseType
from monjyu_query.search.result import AnswerTable, Cell, Citation, Segment
from monjyu_query.search.tools import Ask, Tools

SHORT = 2
"""Sentences of a short answer."""
_OF_SEVERAL = OF_MANY | {"comparison"}
_MORE = 2
_OF_BEST, _OF_WORDS = 0.1, 0.5
"""Shares of the best sentence's worth, and of the most words of the question that a sentence has, which a sentence of
another paper must have."""
_COUNTS, _MOST_PROBABLE = 3.0, 0.99
_SURVEY = Limits(8, 1600, 2)
_READ_DOWN: frozenset[AnswerForm] = frozenset({"reasons", "steps", "comparison", "survey", "exploration"})
"""Forms in which the sentences of a paper stand in its own order; in the others the best stands first."""
_MOST_PAPERS = 8
"""Rows of a table of papers."""
_A_SIDE = 2
"""Quotes on each side of a comparison."""
_DENIES = re.compile(
    r"\b(?:no|not|never|neither|nor|without|fail(?:s|ed|ure)?|lack(?:s|ed)?|insufficient|unlikely|cannot|unable|absence"
    r"|little|limited|questionable)\b|n[’']t\b|な(?:い|かった)|ません|ず[、。]",
    re.IGNORECASE,
)
"""Of 440 answering sentences of pubmedqa_dev this tells yes from no in 79 %."""
_WORDS = {
    "en": {
        "against": "against it, or with reservations",
        "paper": "Paper",
        "quote": "Quote",
        "page": "Page",
        "whole": "These are single passages: the themes of a collection are told by its community reports (level 3).",
    },
    "ja": {
        "against": "否定または留保",
        "paper": "論文",
        "quote": "引用",
        "page": "ページ",
        "whole": "これらは個々の箇所です。コレクション全体のテーマはコミュニティの報告（レベル3）が述べます。",
    },
}


@dataclass(frozen=True)
class Asked:
    """A question as answers are composed for it. `question` are its terms, `query_type` the router's kind, `paper_id`
    the only paper that was asked."""

    index: OpenIndex
    query: str
    question: Question
    similarities: Similarities
    settings: AnswerSettings
    response_type: ResponseType | None = None
    query_type: str = ""
    paper_id: str = ""

    @property
    def language(self) -> str:
        return language_of(self.query)

    @property
    def form(self) -> AnswerForm:
        return form_of(self.query, self.query_type)

    @property
    def limits(self) -> Limits:
        """How long the answer may be: a survey longer, and of more papers, as it has no best sentence."""
        most = self.settings.max_sentences
        if self.response_type == "short":
            return Limits(min(SHORT, most))
        return replace(_SURVEY, sentences=max(most, _SURVEY.sentences)) if self.form == "survey" else Limits(most)


def language_of(query: str) -> str:
    """In which an answer says what is not quoted: ja or en."""
    return "ja" if count_wide(query) else "en"


def asked_of(tools: Tools, ask: Ask, question: Question) -> Asked:
    """A search's question, of which `question` are the terms."""
    similarities = tools.embedder.similarities_to(ask.request.query, ask.index.snapshot.manifest)
    settings, kind = tools.settings.answer, ask.request.response_type
    papers = ask.request.filters.paper_ids
    paper = papers[0] if len(set(papers)) == 1 else ""
    if form_of(ask.request.query, ask.routing.query_type) in OF_MANY:
        question = question.only(topic_of(ask.request.query))
    return Asked(ask.index, ask.request.query, question, similarities, settings, kind, ask.routing.query_type, paper)


@dataclass(frozen=True)
class Pool:
    """Sentences that an answer may be made of, best passage first, with their terms and what they are worth."""

    sentences: Sequence[PassageSentence]
    terms: Sequence[Sequence[str]]
    judged: Judged
    neighbours: Neighbours


def compose(
    asked: Asked, passages: Sequence[Passage], sentences: Sequence[PassageSentence], similarity: float | None
) -> Answer:
    """The answer from the passages, best first, and the sentences of them. `similarity` is that of the closest passage,
    None where vectors say nothing. Abstained, with the closest sentence, where they hold too little."""
    if not passages:
        return abstained("no passage was found")
    pool, windows, support = weighed(asked, passages, sentences, similarity)
    answer = _answer(asked, pool, windows, support)
    if answer.status == "complete":
        return answer if asked.paper_id or topic_of(asked.query) else _of_the_whole(answer, asked.language)
    general = asked.paper_id and is_general(asked.query)
    told = abstract_answer(asked.index, asked.paper_id, asked.language) if general else None
    return answer if told is None else replace(told, confidence=answer.confidence)


def numbers_first(query: str, judged: Judged, sentences: Sequence[PassageSentence]) -> Judged:
    """To "how many lessons" a sentence that counts lessons is worth more than one that only speaks of them."""
    pattern = counted(query)
    if pattern is None:
        return judged
    lift = np.array([_COUNTS if pattern.search(sentence.text) else 1.0 for sentence in sentences])
    return Judged(np.minimum(judged.probability * lift, _MOST_PROBABLE), judged.least)


def _of_the_whole(answer: Answer, language: str) -> Answer:
    """A question about the collection as a whole that passages were found for: they are examples, not its themes."""
    note = Segment(text=f"\n\n{_WORDS[language]['whole']}")
    return replace(answer, segments=[*answer.segments, note], status="partial")


def weighed(
    asked: Asked, passages: Sequence[Passage], sentences: Sequence[PassageSentence], similarity: float | None
) -> tuple[Pool, list[Window], Support]:
    """What `compose` makes an answer of: all sentences with their worth, those that are chosen, and what speaks for
    them."""
    index = asked.index
    texts = [*(f"{passage.header}\n{passage.text}" for passage in passages), *(s.text for s in sentences)]
    terms = index.keywords.terms(texts)
    own = terms[len(passages) :]
    most = READ * _MORE if asked.form in OF_MANY else READ
    judged = judge_sentences(asked.query, asked.question, sentences, own, asked.similarities, index.scale, most)
    judged = numbers_first(asked.query, judged, sentences)
    pool = Pool(sentences, own, judged, _neighbours(index, sentences))
    evidence = weigh_evidence(asked.question, terms[: len(passages)], similarity, index.scale)
    windows = _chosen(asked, pool)
    support = support_of(
        asked.query, asked.question, evidence, judged, own, sentences, windows, many=asked.form in _OF_SEVERAL
    )
    return pool, windows, support


def _neighbours(index: OpenIndex, sentences: Sequence[PassageSentence]) -> Neighbours:
    """Of the sentences, and of those right before a passage that begins in the middle of a section."""
    first: dict[str, PassageSentence] = {}
    for sentence in sentences:
        known = first.setdefault(sentence.passage.chunk_id, sentence)
        first[sentence.passage.chunk_id] = min(known, sentence, key=lambda s: (s.section_ord, s.place))
    hanging = [sentence for sentence in first.values() if points_outside(sentence.text)]
    return Neighbours([*sentences_before(index.snapshot.cursor(), hanging), *sentences])


def _chosen(asked: Asked, pool: Pool) -> list[Window]:
    if asked.form == "papers" and asked.response_type != "short":
        return _one_a_paper(asked, pool)
    worth, types = pool.judged.probability, asked_types(asked.query)
    return choose_windows(
        asked.question, worth, _least(asked, pool), pool.sentences, pool.terms, asked.limits, pool.neighbours, types
    )


def _least(asked: Asked, pool: Pool) -> float:
    """What a further sentence must be worth: of many papers that answer none stands out."""
    best = float(pool.judged.probability.max(initial=0.0))
    return min(pool.judged.least, _OF_BEST * best) if asked.form in OF_MANY else pool.judged.least


def _one_a_paper(asked: Asked, pool: Pool) -> list[Window]:
    """The best sentence of each paper that is worth quoting."""
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
    return list(best.values())[:_MOST_PAPERS]


def _answer(asked: Asked, pool: Pool, windows: Sequence[Window], support: Support) -> Answer:
    cursor = asked.index.snapshot.cursor()
    sides = _sides(asked, pool) if asked.form == "comparison" else {}
    extra = [window for side in sides.values() for window in side]
    cited = cite_windows(cursor, _each_once([*windows, *extra]))
    if not cited:
        return abstained("no sentence of the passages found speaks of it")
    dropped = len(_each_once([*windows, *extra])) - len(cited)
    warnings = [f"{dropped} quotes were not found in their source and left out."] if dropped else []
    labels = paper_labels(asked.index, list(dict.fromkeys(c.paper_id for _, c in cited)), asked.language)
    lacking = [name for name, found in sides.items() if not found]
    outcome = outcome_of(support, lacking, asked.language, asked.settings, many=asked.form in _OF_SEVERAL)
    if outcome.status == "abstained" and not support.related:
        return Answer([outcome.says_why()], "abstained", confidence=outcome.confidence)
    if outcome.status == "abstained":
        window, closest = cited[0]
        segments = outcome.abstains(said(window), closest, labels[closest.paper_id])
        return Answer(segments, "abstained", [closest], verified=True, confidence=outcome.confidence)
    told, tables = _arranged(asked, cited, windows, sides, labels)
    segments, tables, citations = _numbered(laid_out(told, asked.response_type), tables, cited)
    if outcome.missing:
        segments.append(Segment(text=f"\n\n{outcome.missing}"))
    return Answer(segments, outcome.status, citations, True, warnings, tables, outcome.confidence)


Told = list[tuple[str, Sequence[int], str]]
Cited = Sequence[tuple[Window, Citation]]


def _arranged(
    asked: Asked,
    cited: Cited,
    windows: Sequence[Window],
    sides: Mapping[str, Sequence[Window]],
    labels: Mapping[str, str],
) -> tuple[Told, list[AnswerTable]]:
    """Texts with their citations and labels in reading order, and tables."""
    if asked.form == "papers" and asked.response_type is None:
        return _table_of_papers(cited, labels, asked.language)
    chosen = {window.key.sentence_id for window in windows}
    across = {w.key.sentence_id for side in sides.values() for w in side} if _differ(sides) else set()
    down = [(w, c) for w, c in cited if w.key.sentence_id in chosen - across] or list(cited[:1])
    tables = [_table_of_sides(cited, sides, labels, asked.language)] if across else []
    return _by_paper(asked, down, labels), tables


def _differ(sides: Mapping[str, Sequence[Window]]) -> bool:
    """Whether each side has a quote that no other side has: else there is nothing to set against each other."""
    keys = [{window.key.sentence_id for window in side} for side in sides.values()]
    return len(keys) > 1 and all(own - set().union(*(other for other in keys if other is not own)) for own in keys)


def _by_paper(asked: Asked, cited: Cited, labels: Mapping[str, str]) -> Told:
    """Paper by paper, the one with the best quote first."""
    papers = list(dict.fromkeys(citation.paper_id for _, citation in cited))
    if asked.form in _READ_DOWN:
        cited = sorted(cited, key=lambda one: (papers.index(one[1].paper_id), one[0].sentences[0].place))
    elif asked.form == "yes_no" and len({_denies(window) for window, _ in cited}) == 2:
        against = {"against": _WORDS[asked.language]["against"]}
        ordered = sorted(cited, key=lambda one: (_denies(one[0]), papers.index(one[1].paper_id)))
        return [
            (said(w), [c.n], f"{labels[c.paper_id]}, {against['against']}" if _denies(w) else labels[c.paper_id])
            for w, c in ordered
        ]
    else:
        cited = sorted(cited, key=lambda one: papers.index(one[1].paper_id))
    return [(said(window), [citation.n], labels[citation.paper_id]) for window, citation in cited]


def _denies(window: Window) -> bool:
    return bool(_DENIES.search(window.key.text))


def said(window: Window) -> str:
    """What the answer says of a quote: all of it, but for a word that would join it to a sentence not quoted."""
    text = window.text
    cut = connective(text)
    return f"… {text[cut:]}" if cut else text


def _each_once(windows: Sequence[Window]) -> list[Window]:
    """Without those of which another quotes a sentence already."""
    found: list[Window] = []
    known: set[str] = set()
    for window in windows:
        names = {sentence.sentence_id for sentence in window.sentences}
        if not names & known:
            found.append(window)
            known |= names
    return found


def _sides(asked: Asked, pool: Pool) -> dict[str, list[Window]]:
    """For each side of a comparison its best windows, by the words of the question that it alone has; empty where the
    question has no two sides."""
    names = sides_of(asked.query)
    sets = [set(some) for some in asked.index.keywords.terms(names)]
    alone = [one - set().union(*(other for other in sets if other is not one)) for one in sets]
    named = {name: some for name, some in zip(names, alone, strict=True) if some & asked.question.weights.keys()}
    if len(named) < 2:
        return {}
    order = np.argsort(-pool.judged.probability, kind="stable").tolist()
    found: dict[str, list[Window]] = {}
    for name, some in named.items():
        rows = [row for row in order if some & set(pool.terms[row]) and is_prose(pool.sentences[row].text)]
        found[name] = [pool.neighbours.grown(pool.sentences[row]) for row in rows if pool.judged.probability[row] > 0]
        found[name] = found[name][:_A_SIDE]
    return found


def _table_of_sides(
    cited: Cited, sides: Mapping[str, Sequence[Window]], labels: Mapping[str, str], language: str
) -> AnswerTable:
    """Side × paper × quote."""
    words = _WORDS[language]
    citations = {window.key.sentence_id: (window, citation) for window, citation in cited}
    rows = []
    for name, windows in sides.items():
        for window in windows:
            if window.key.sentence_id in citations:
                kept, citation = citations[window.key.sentence_id]
                paper = Cell(text=labels[citation.paper_id], paper_id=citation.paper_id)
                rows.append([Cell(text=name), paper, Cell(text=said(kept), citations=[citation.n])])
    return AnswerTable(columns=["", words["paper"], words["quote"]], rows=rows)


def _table_of_papers(cited: Cited, labels: Mapping[str, str], language: str) -> tuple[Told, list[AnswerTable]]:
    """The papers in a line, each with its citation, and a table of paper, quote and page."""
    words = _WORDS[language]
    rows = []
    for window, citation in cited:
        paper = Cell(text=f"{labels[citation.paper_id]}: {citation.paper_title}", paper_id=citation.paper_id)
        page = Cell(text="" if citation.page is None else str(citation.page))
        rows.append([paper, Cell(text=said(window), citations=[citation.n]), page])
    comma, end = ("、", "。") if language == "ja" else (",", ".")
    ends = [*[comma] * (len(cited) - 1), end]
    told: Told = [(f"{labels[c.paper_id]}{mark}", [c.n], "") for (_, c), mark in zip(cited, ends, strict=True)]
    return told, [AnswerTable(columns=[words["paper"], words["quote"], words["page"]], rows=rows)]


def _numbered(
    segments: list[Segment], tables: list[AnswerTable], cited: Cited
) -> tuple[list[Segment], list[AnswerTable], list[Citation]]:
    """Numbers in the order in which they are read."""
    places: list[Segment | Cell] = [*segments, *(cell for table in tables for row in table.rows for cell in row)]
    read = [number for one in places for number in one.citations]
    order = {old: new for new, old in enumerate(dict.fromkeys(read), start=1)}
    for one in places:
        one.citations = [order[number] for number in one.citations]
    used = [citation.model_copy(update={"n": order[citation.n]}) for _, citation in cited if citation.n in order]
    return segments, tables, sorted(used, key=lambda citation: citation.n)

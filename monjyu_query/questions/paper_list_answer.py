"""Answers "which papers …", "how many papers …" and "how often …": checks every sentence of every paper, and counts and
lists the matching papers, each with its best sentence.

An answer from the best passages would omit papers whose passages rank lower, however plainly they mention it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from monjyu_core.language.packs import Texts, also, quoted
from monjyu_core.text.language import message_language
from monjyu_core.text.search_text import count_wide, search_words, word_terms
from monjyu_core.text.unicode_words import compact, folded, folded_sql, words
from monjyu_query.answers.answer import Answer, result_of
from monjyu_query.answers.citing import cite
from monjyu_query.answers.selection import Question, asks, is_prose, word_count
from monjyu_query.answers.sentence_ranking import Array, Judge, standing
from monjyu_query.asking.passages import PassageSentence, load_sentences, sentences_by_id
from monjyu_query.asking.result import AnswerTable, Cell, Citation, Routing, SearchResult, Segment
from monjyu_query.asking.topic import topic_of
from monjyu_query.modes.best_passages import passages_at
from monjyu_query.papers.labels import paper_labels
from monjyu_query.questions.intents import Intent
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.query_embedding import nearness
from monjyu_query.ranking.ranker import Ranking, best_rows, rank
from monjyu_query.ranking.tools import Ask, Tools

# Finds which papers say something by checking every sentence of every paper: in any inflection, with or without
# hyphens, written as one word or two, and by the paper's own abbreviation. References do not count.
_SENTENCES = f"""
WITH said AS (SELECT paper_id, sentence_id, section_ord, ord, text, {folded_sql("text")} AS low FROM sentences)
SELECT s.paper_id, s.sentence_id, s.text FROM said s JOIN sections t USING (paper_id, section_ord)
WHERE t.section_type <> 'references'
  AND ({{held}} OR contains(translate(low, ' -\u00ad\u2010\u2011\u2012\u2013\n', ''), {folded_sql("?")}))
ORDER BY s.paper_id, s.section_ord, s.ord"""
_WITH_BRACKETS = """SELECT text FROM sentences WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))
AND regexp_matches(text, '\\([A-Z][A-Za-z]+\\)')"""
_SLACK = {1: 0, 2: 3, 3: 4, 4: 4}
"""The number of additional words allowed between the words of a topic, by its length; the words of a longer topic may
be anywhere in a sentence."""
_INFLECTED = re.compile(r"(?:ing|ed|es|s|ly)$")
_ENDING, _LEAST = 2, 3
"""The number of final letters that inflection may change, and the minimum number of letters that stay: a stem alone
would equate "relativity" and "relative"."""
_JOINING = frozenset(
    re.findall(r"\w+", "the a an of in on for and to with by from at their its our this that these during about")
)
_LONGEST_ENDING, _LEAST_JOINED = 3, 5
"""The maximum number of letters after joined words, and the minimum number of letters of such a word."""
_AFTER_NAME = re.compile(r"(?<=[A-Z]{2})(?:s|\d+)$")
_SHORT_NAME = 4
"""The maximum length of names in capitals that must match as written: AI, WHO, SARS."""
_DEFINED = re.compile(r"\(([A-Z][A-Za-z]{0,6}[A-Z])s?\)")
_LEAST_ALIAS = 3


@dataclass
class Sayings:
    """The sentences with a phrase (ids in order, by paper), the papers with it in their title, its aliases."""

    sentences: dict[str, list[str]] = field(default_factory=dict)
    titled: set[str] = field(default_factory=set)
    aliases: list[str] = field(default_factory=list)

    @property
    def papers(self) -> set[str]:
        return self.titled | set(self.sentences)

    def add(self, more: Sayings) -> None:
        """Add the sentences, titles and aliases of another phrase."""
        self.aliases += more.aliases
        self.titled |= more.titled
        for paper, some in more.sentences.items():
            self.sentences[paper] = list(dict.fromkeys([*self.sentences.get(paper, []), *some]))


class _Phrase:
    """The words of a topic prepared for the search."""

    def __init__(self, text: str) -> None:
        self.wide = [folded(run) for run in text.split() if count_wide(run)]
        self._exact = {
            w for w in words(search_words(text)) if w.isupper() and not w.isdigit() and len(w) <= _SHORT_NAME
        }
        self.words = [w if w in self._exact else folded(w) for w in words(search_words(text)) if w not in _JOINING]
        self._bases = [word if word in self._exact else self._base(word) for word in self.words]
        self._stems = _stems(self.words)
        self.joined = folded("".join(self.words)).removesuffix("s")

    def _base(self, word: str) -> str:
        """The common beginning of a word's forms. A single noun in -ing has no other: grades are not grading."""
        if word.endswith("ility"):
            return word.removesuffix("ility")
        if word.endswith("ing") and len(self.words) == 1:
            return word
        base = _INFLECTED.sub("", word)
        return base[: max(len(base) - _ENDING, _LEAST)]

    def starts(self) -> list[str]:
        """The folded text that a sentence must contain for each word."""
        return [*map(folded, self._bases), *self.wide]

    def said(self, text: str, stems: dict[str, str]) -> bool:
        if not all(run in folded(text) for run in self.wide):
            return False
        own = words(search_words(text))
        return not self.words or self._together(own, stems) or self._as_one(own)

    def _together(self, own: Sequence[str], stems: dict[str, str]) -> bool:
        places = [[at for at, other in enumerate(own) if self._is(n, other, stems)] for n in range(len(self.words))]
        if not all(places):
            return False
        letter = len(self.words) > 1 and any(len(word) == 1 for word in self._exact)
        slack = 0 if letter else _SLACK.get(len(self.words), len(own))
        width = len(self.words) + slack
        firsts = (first for some in places for first in some)
        return any(all(any(first <= at < first + width for at in some) for some in places) for first in firsts)

    def _is(self, n: int, other: str, stems: dict[str, str]) -> bool:
        word = self.words[n]
        if word in self._exact:
            return _AFTER_NAME.sub("", other) == word
        low = folded(other)
        if low == word or len(word) < _LEAST:
            return low == word
        return stems.get(other) == self._stems[word] and low.startswith(self._bases[n])

    def _as_one(self, own: Sequence[str]) -> bool:
        """Whether a text with the words `own` has the phrase with other divisions between words. It must begin with a
        word and end at most `_LONGEST_ENDING` letters before the end of one."""
        if len(self.joined) < _LEAST_JOINED:
            return False
        low = [folded(word) for word in own]
        for first in range(len(low)):
            rest, at = self.joined, first
            while at < len(low) and rest and rest.startswith(low[at]) and len(rest) > len(low[at]):
                rest, at = rest[len(low[at]) :], at + 1
            if at < len(low) and low[at].startswith(rest) and len(low[at]) - len(rest) <= _LONGEST_ENDING:
                return at > first or len(self.words) > 1
        return False


def sayings(index: OpenIndex, topic: str, papers: Iterable[str]) -> Sayings:
    """The sentences and titles of `papers` that contain the topic or one of its aliases."""
    wanted = frozenset(papers)
    found = _sayings(index, topic, wanted)
    for alias in _aliases(index, topic, found):
        found.add(_sayings(index, alias, wanted))
        found.aliases.append(alias)
    return found


def _sayings(index: OpenIndex, topic: str, papers: frozenset[str]) -> Sayings:
    phrase, found = _Phrase(topic), Sayings()
    starts = phrase.starts()
    if not starts:
        return found
    query = _SENTENCES.format(held=" AND ".join([f"contains(low, {folded_sql('?')})"] * len(starts)))
    rows = index.snapshot.cursor().execute(query, [*starts, phrase.joined or starts[0]]).fetchall()
    titles = [(paper, about.title) for paper, about in index.about_papers.items() if paper in papers]
    stems = _stems(
        word
        for text in (*(row[2] for row in rows), *(title for _, title in titles))
        for word in words(search_words(text))
    )
    found.titled = {paper for paper, title in titles if phrase.said(title, stems)}
    for paper, sentence, text in rows:
        if paper in papers and phrase.said(text, stems):
            found.sentences.setdefault(paper, []).append(sentence)
    return found


def _stems(some: Iterable[str]) -> dict[str, str]:
    distinct = list(dict.fromkeys(some))
    return {word: "".join(terms) or word for word, terms in zip(distinct, word_terms(distinct), strict=True)}


def _aliases(index: OpenIndex, topic: str, found: Sayings) -> list[str]:
    """Up to two aliases: abbreviations in brackets after the topic, or the words that the topic abbreviates."""
    parts = words(topic)
    ids = [name for some in found.sentences.values() for name in some]
    if not ids or count_wide(topic):
        return []
    rows = index.snapshot.cursor().execute(_WITH_BRACKETS, {"ids": ids}).fetchall()
    aliases: dict[str, None] = {}
    for (text,) in rows:
        for defined in _DEFINED.finditer(text):
            short = defined[1]
            before = words(text[: defined.start()])[-len(short) :]
            if len(short) < _LEAST_ALIAS or [word[0].casefold() for word in before] != list(short.casefold()):
                continue
            if len(parts) > 1 and compact(" ".join(before)).removesuffix("s") == compact(topic).removesuffix("s"):
                aliases[short] = None
            elif [short] == parts:
                aliases[" ".join(before)] = None
    return list(aliases)[:2]


# The papers nearest to a topic, by their best passages, for topics that no paper mentions literally.
LOOKED_AT, OF_PAPER = 60, 2
"""The number of best papers whose passages are read, and the number of passages of each."""
_NEAR_BEST = 0.6
"""The share of the best paper's score (standard deviations above the mean) that a paper must have: best F1 on every
second question of cranfield, rewritten as a question for papers (docs/decisions/search.md)."""
_SPEAKS, _PERHAPS = 0.45, 0.35
"""Thresholds on half the share of the topic's words in one passage plus half its nearness: for a listed paper, and for
the best one of any. Questions of other collections have at most .33 in nine of ten cases."""
_MOST_PERHAPS = 2


def papers_near(
    index: OpenIndex, ranking: Ranking, questions: Sequence[Question], min_score: float | None
) -> tuple[dict[str, list[PassageSentence]], float]:
    """The papers of the best passages with their quotable sentences, best first, and the nearness of the nearest paper
    (0 to 1). `questions` are the terms of each topic; a paper must be near one of them."""
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


MOST_ROWS = 50
_MOST_NEAREST = 5
"""The number of papers shown if none contains a short topic."""
_SHORT = 3
"""The number of words of a topic that a paper about it is expected to have together."""
_COMPARED, _OF_PAPER, _READ = 24, 2, 8
"""The number of sentences that are judged, of those from one paper, and of those from one paper considered first."""
_USUAL_WORDS = (8, 40)
_BEGINNING = "SELECT sentence_id FROM sentences WHERE paper_id = ? ORDER BY section_ord, ord LIMIT ?"
_OR = re.compile(r"\s*(?:,\s*|\b)(?:or|and/or)\b\s*" + also("paper_list_answer.or"), re.IGNORECASE)
_AND = re.compile(r"\s*(?:,\s*|\b)(?:and|as well as|together with)\b\s*" + also("paper_list_answer.and"), re.IGNORECASE)
_BOTH = re.compile(r"^both\s+", re.IGNORECASE)
_AROUND = " .,;:?!？。、“”\"'「」『』"


def paper_list_answer(ask: Ask, tools: Tools, intent: Intent) -> SearchResult | None:
    """The result of a question for the papers about something, or for their number or a frequency. None if mode,
    controller or budget is requested, unless the question asks for a number; if no answer or a report is requested; and
    if the collection has no text."""
    request, index = ask.request, ask.index
    counted = intent.counts and request.answer
    if not (request.open_ended or counted) or request.response_type == "report" or not len(index.corpus):
        return None
    papers = passing_papers(index.snapshot.cursor(), request.filters)
    topics = [part.strip(_AROUND) for part in _OR.split(intent.text) if part.strip(_AROUND)]
    told = _Phrasing(ask, tools, intent, topics, papers)
    whole = Sayings()
    for topic in topics:
        whole.add(_topic_mentions(index, topic, papers))
    answer = told.answer(whole)
    reason = f"it asks which papers: every sentence of {len(papers)} was searched"
    routing = Routing(query_type="collection" if intent.counts else "survey", reason=reason)
    return result_of(
        replace(ask, mode="catalogue", routing=routing), answer, "tables" if whole.papers else "extractive", []
    )


def _topic_mentions(index: OpenIndex, topic: str, papers: Collection[str]) -> Sayings:
    """The sentences with a topic; for "A and B" with short parts, of the papers that contain both anywhere."""
    parts = [_BOTH.sub("", part).strip(_AROUND) for part in _AND.split(topic)]
    if len(parts) == 1 or not all(part and len(part.split()) <= _SHORT for part in parts):
        return sayings(index, topic, papers)
    each = [sayings(index, part, papers) for part in parts]
    common = set.intersection(*(one.papers for one in each))
    found = Sayings(titled=set.intersection(*(one.titled for one in each)))
    for paper in common:
        found.sentences[paper] = [name for one in each for name in one.sentences.get(paper, [])]
    return found


@dataclass
class _Phrasing:
    """Composes the answer about the papers with the topics; `papers` are those searched."""

    ask: Ask
    tools: Tools
    intent: Intent
    topics: Sequence[str]
    papers: Sequence[str]

    def __post_init__(self) -> None:
        self.language = message_language(self.ask.request.query)
        self._questions = [
            Question.of(self.ask.index.keywords.query_terms(topic_of(topic) or topic), len(self.ask.index.corpus))
            for topic in self.topics
        ]

    def answer(self, said: Sayings) -> Answer:
        """The answer: the number of papers with the topic and a table of them. The table includes the nearest other
        papers if no paper has the topic, or if it has many words, which are rarely in one sentence."""
        order = sorted(said.papers, key=lambda paper: (-len(said.sentences.get(paper, [])), paper))
        counts = {paper: len(said.sentences.get(paper, [])) for paper in order}
        lacking = self._long or not order
        near, nearness = self._near(set(order)) if lacking and not self.intent.counts else ({}, 1.0)
        if not order and not self._long:
            near = dict(list(near.items())[:_MOST_NEAREST])
        if not order and not near:
            return Answer([Segment(text=self._text("none"))], "abstained", confidence=0.0)
        shown = [*order[:MOST_ROWS], *near]
        citations = self._citations({**self._candidates(said, order[:MOST_ROWS]), **near})
        also = "".join(self._text("also", alias=alias) for alias in said.aliases)
        name = "often" if self.intent.name == "often" else "are"
        line = self._text(name, n=len(order), also=also, times=sum(counts.values())) if order else self._text("near")
        if order and near:
            line += self._text("beside")
        rows = self._rows(shown, counts, citations)
        texts = Texts("paper_list")[self.language]
        table = AnswerTable(columns=[texts[name] for name in ("paper", "quote", "page", "sentences")], rows=rows)
        if len(order) > MOST_ROWS:
            table.title = self._text("more", n=len(order) - MOST_ROWS)
        quotes = sorted(citations.values(), key=lambda citation: citation.n)
        status = "complete" if order else "partial"
        return Answer([Segment(text=line)], status, quotes, bool(quotes), tables=[table], confidence=round(nearness, 3))  # type: ignore[arg-type]

    @property
    def _long(self) -> bool:
        return any(len(question.telling()) > _SHORT for question in self._questions)

    def _near(self, without: Collection[str]) -> tuple[Mapping[str, list[PassageSentence]], float]:
        ask = self.ask
        about = " ".join(topic_of(topic) or topic for topic in self.topics)
        ranking = rank(ask.index, self.tools.embedder, about, "hybrid", ask.request.filters, ask.settings)
        found, nearness = papers_near(ask.index, ranking, self._questions, ask.settings.min_score)
        return {paper: some for paper, some in found.items() if paper not in without}, nearness

    def _candidates(self, said: Sayings, papers: Sequence[str]) -> dict[str, list[PassageSentence]]:
        """The first sentences of each paper with the topic, or its first sentences if only its title has it."""
        cursor = self.ask.index.snapshot.cursor_of(papers)
        ids = {paper: said.sentences.get(paper, [])[:_READ] for paper in papers}
        for paper in (paper for paper, some in ids.items() if not some):
            ids[paper] = [name for (name,) in cursor.execute(_BEGINNING, [paper, _READ]).fetchall()]
        found = sentences_by_id(cursor, [name for some in ids.values() for name in some])
        return {paper: [found[name] for name in some if name in found] for paper, some in ids.items()}

    def _citations(self, candidates: Mapping[str, Sequence[PassageSentence]]) -> dict[str, Citation]:
        """The best sentence of each paper, numbered in the order of the papers."""
        some = [sentence for own in candidates.values() for sentence in self._best(own)]
        worth = self._sentence_weights(some)
        best: dict[str, PassageSentence] = {}
        for row in np.argsort(-worth, kind="stable").tolist():
            best.setdefault(some[row].passage.paper_id, some[row])
        chosen = [best[paper] for paper in candidates if paper in best]
        cited = cite(self.ask.index.snapshot.cursor_of(best), chosen) if chosen else []
        return {citation.paper_id: citation for citation in cited}

    @staticmethod
    def _best(sentences: Sequence[PassageSentence]) -> list[PassageSentence]:
        """The sentences that read best by themselves: prose of a usual length that asks nothing."""
        low, high = _USUAL_WORDS

        def readable(sentence: PassageSentence) -> tuple[bool, bool]:
            text = sentence.text
            return is_prose(text) and not asks(text), low <= word_count(text) <= high

        return sorted(sentences, key=readable, reverse=True)[:_OF_PAPER]

    def _sentence_weights(self, sentences: Sequence[PassageSentence]) -> Array:
        """The weight of each sentence (0 to 1): judged for the first `_COMPARED`, by form for the others."""
        worth = standing(sentences) / 1000 if sentences else np.zeros(0)
        rows = sentences[:_COMPARED]
        if rows:
            index, topic = self.ask.index, " ".join(self.topics)
            terms = index.keywords.terms([one.text for one in rows])
            same = self.tools.embedder.similarities_to(topic, index.snapshot.manifest)
            judge = Judge(index, topic, self._questions[0], same, None)
            worth[: len(rows)] = judge.judged(rows, self._questions[0].read(terms)).probability
        return worth

    def _rows(
        self, papers: Sequence[str], counts: Mapping[str, int], citations: Mapping[str, Citation]
    ) -> list[list[Cell]]:
        labels = paper_labels(self.ask.index, papers, self.language)
        rows = []
        for paper in papers:
            title = self.ask.index.about_papers[paper].title
            quote = citations.get(paper)
            quoted = Cell(text=" ".join(quote.quote.split()), citations=[quote.n]) if quote else Cell(text="")
            name = Cell(text=f"{labels[paper]}: {title}" if title else labels[paper], paper_id=paper)
            page = Cell(text=str(quote.page) if quote and quote.page is not None else "")
            rows.append([name, quoted, page, Cell(text=str(counts.get(paper, 0)))])
        return rows

    def _text(self, name: str, **values: object) -> str:
        texts = Texts("paper_list")[self.language]
        topic = texts["between"].join(quoted(one, self.language) for one in self.topics)
        n, times = values.get("n", 0), values.get("times", 0)
        words = {"mention": "mentions" if n == 1 else "mention", "sentences": "sentence" if times == 1 else "sentences"}
        return texts[name].format_map({"all": len(self.papers), "topic": topic, **words, **values})

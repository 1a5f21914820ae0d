"""Decides whether the evidence answers the question: completely, partly, or not, with a calibrated confidence.

The confidence comes from the reader's scores of the best passage and of the best quoted sentence, or without a reader
from the agreement of words. `training/answers.py` learned the weights from questions, asked with and without the paper
that answers them.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from monjyu_core.language.packs import Texts, quoted, sentences
from monjyu_core.settings.settings import AnswerSettings
from monjyu_core.text import unicode_words
from monjyu_core.text.language import EAST_ASIAN
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact, folded, folded_sql
from monjyu_query.answers.citing import Window
from monjyu_query.answers.segments import laid_out
from monjyu_query.answers.selection import Evidence, Question
from monjyu_query.answers.sentence_ranking import Judged
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.result import Citation, Segment, Status
from monjyu_query.asking.topic import topic_of
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.query_embedding import nearness

_FAR = 0.2
"""The maximum nearness of a passage that is unrelated to a question: 0 is chance, 1 a paraphrase."""
_SEVERAL = 2
_ALIKE = 0.8
"""Words with at least this similarity (difflib) are spellings of one word."""
_MOST_NAMED = 4
_SPELT_OTHERWISE = 6
"""The minimum number of letters of a word that may be misspelt."""
_LEAST_LETTERS = 4
"""The minimum number of letters of a word that may be another spelling."""
_SHORTEST_TITLE = 3
"""The minimum number of words after the first, mostly capitalised, in a question that is a title."""
_ENDING = 3
"""The maximum number of final letters that may differ."""
_NAME_RUN = re.compile(r"(?:[A-Z]|\d)[\w-]*(?:[ -]\(?(?:[A-Z]|\d)[\w-]*\)?)+")
"""Consecutive words with capitals or figures."""
_KATAKANA = re.compile(r"[\u30a1-\u30fc]{3,}")


@dataclass(frozen=True)
class Support:
    """The support of an answer: its `confidence`, the thresholds for a partial and a complete answer, and whether the
    closest passage is `related` to the question at all. `unseen`: the weighted share (0 to 1) of the subject's words
    that no retrieved passage has; 0 for a single word, because it may have a synonym.

    `unmet`: names and numbers of the question that no quoted paper has; `absent`: words of its subject that no passage
    of the whole collection has, in any spelling.
    """

    confidence: float
    partly: float
    whole: float
    unmet: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    related: bool = True
    unseen: float = 0.0


NOTES = Texts("outcome")
"""Each note states what was looked up in the index or in the quotes, never what papers do not say."""


@dataclass(frozen=True)
class Outcome:
    """Whether and how well the evidence answers. `note` names what is missing; a partial answer ends with it."""

    status: Status
    confidence: float
    note: str
    language: str

    def states_no_answer(self) -> Segment:
        """A segment that states that there is no answer, with the reason if it is known."""
        return Segment(text=self._nothing())

    def abstains(self, text: str, closest: Citation, label: str) -> list[Segment]:
        """Segments that state that there is no answer and quote the closest passage."""
        [quote] = laid_out([(text, [closest.n], label)], None)
        quote.text = f"\n\n{quote.text}"
        return [Segment(text=f"{self._nothing()}{NOTES[self.language]['nearest']}"), quote]

    def _nothing(self) -> str:
        nothing = Texts("answer")[self.language]["nothing"]
        return NOTES[self.language]["noted"].format(nothing=nothing, note=self.note).rstrip()


def support_of(
    index: OpenIndex,
    query: str,
    question: Question,
    evidence: Evidence,
    judged: Judged,
    terms: Sequence[Sequence[str]],
    sentences: Sequence[PassageSentence],
    windows: Sequence[Window],
) -> Support:
    """The support of an answer. `terms` are those of each sentence; `windows` are the candidates for quotes, best
    first."""
    rows = {sentence.sentence_id: row for row, sentence in enumerate(sentences)}
    quoted: set[str] = set()
    for window in windows:
        quoted.update(*(terms[rows[s.sentence_id]] for s in window.sentences if s.sentence_id in rows))
    unseen = unlike_any(evidence.missing, (sentence.text for sentence in sentences))
    subject = topic_of(query).casefold()
    foreign = index.languages.isdisjoint(EAST_ASIAN)
    named = [
        term
        for term in question.telling()
        if question.words[term].casefold() in subject and not (foreign and count_wide(question.words[term]))
    ]
    weight = sum(question.weights[term] for term in named)
    unknown = sum(question.weights[term] for term in named if question.words[term] in unseen)
    several = sum(question.words[term] in unseen for term in named) >= _SEVERAL
    best = max((float(judged.probability[rows[window.key.sentence_id]]) for window in windows), default=0.0)
    near = 0.0 if evidence.similarity is None else nearness(evidence.similarity, evidence.scale)
    lookup = _Lookup(index, query, question)
    lacking = [term for term in named if question.words[term] in unseen]
    return Support(
        judged.weights.confidence(best, judged.answered, float(judged.probability.sum())),
        judged.weights.partly,
        judged.weights.whole,
        unmet_names(query, {question.words[term]: lookup.is_met(term, windows) for term in named}),
        tuple(question.words[term] for term in lacking if lookup.is_absent(term)),
        question.share(quoted) > 0 or near > _FAR,
        unknown / weight if weight and several else 0.0,
    )


def unmet_names(query: str, met: Mapping[str, bool]) -> tuple[str, ...]:
    """The words without a match, except words of a name most of whose words have one: "Motif" in "C-C Motif Chemokine
    Ligand 3"."""
    runs = [unicode_words.words(run) for run in _NAME_RUN.findall(query)]
    known = {word for run in runs for word in run if 2 * sum(met.get(one, True) for one in run) > len(run) > 1}
    return tuple(word for word, found in met.items() if not found and word not in known)


@dataclass(frozen=True)
class _Lookup:
    """Looks up the words of a question in the index of terms, in all known spellings."""

    index: OpenIndex
    query: str
    question: Question

    def is_met(self, term: str, windows: Sequence[Window]) -> bool:
        """Whether a quoted paper has the word. True without quotes, and for a word that is not a name, because papers
        may express it differently."""
        word = self.question.words[term]
        if not windows or not is_name(word, self.query):
            return True
        corpus = self.index.corpus
        papers = {window.key.passage.paper_id for window in windows}
        rows = np.flatnonzero(self._chunks(term))
        if papers & {corpus.paper_ids[corpus.paper[row]] for row in rows}:
            return True
        texts = [f"{window.key.passage.paper_title} {window.text}" for window in windows]
        return not unlike_any([word], texts) or bool(self._papers_by(word) & papers)

    def is_absent(self, term: str) -> bool:
        return not self._chunks(term).any() and not self._papers_by(self.question.words[term])

    def _chunks(self, term: str) -> NDArray[np.bool_]:
        return self.index.keywords.chunks_with([(term,), *self.question.also.get(term, ())])

    def _papers_by(self, word: str) -> set[str]:
        """The papers with an author whose name contains the word."""
        rows = self.index.snapshot.cursor().execute(_OF_AUTHOR, [f"%{compact(word)}%"]).fetchall()
        return {paper_id for (paper_id,) in rows}


_OF_AUTHOR = f"SELECT paper_id FROM authors WHERE regexp_replace({folded_sql('name')}, '[^\\pL\\pN]', '', 'g') LIKE ?"


def outcome_of(
    support: Support,
    unanswered: Sequence[str],
    language: str,
    settings: AnswerSettings,
    *,
    many: bool = False,
) -> Outcome:
    """The outcome of an answer. `unanswered` are sides of a comparison without evidence. No single sentence answers a
    question to several papers (`many`): it is complete from the lower confidence on, and below that it abstains only if
    words or sides lack evidence or the passages are unrelated. Only names and numbers are reported as missing words,
    because other words have synonyms."""
    least = support.partly if settings.min_confidence is None else settings.min_confidence
    sure = support.whole if settings.sure_confidence is None else settings.sure_confidence
    confidence = support.confidence
    lacks = bool(support.unmet or support.unseen or unanswered)
    if confidence < least and (lacks or not many or not support.related):
        told = [word for word in support.absent if word in support.unmet]
        return Outcome("abstained", confidence, _note("absent", told, language), language)
    if support.unmet or unanswered or confidence < (least if many else sure):
        return Outcome("partial", confidence, _left_open(support, unanswered, language), language)
    return Outcome("complete", confidence, "", language)


def _left_open(support: Support, unanswered: Sequence[str], language: str) -> str:
    absent = [word for word in support.unmet if word in support.absent]
    unmet = [word for word in support.unmet if word not in support.absent]
    named = set(support.absent) | set(support.unmet)
    parts = {"side": [side for side in unanswered if side not in named], "absent": absent, "unmet": unmet}
    notes = [note for name, words in parts.items() if (note := _note(name, words, language))]
    return sentences(notes, language) or NOTES[language]["unsure"]


def _note(name: str, words: Sequence[str], language: str) -> str:
    named = [quoted(word, language) for word in words[:_MOST_NAMED]]
    return NOTES[language][name].format(NOTES[language]["comma"].join(named)) if words else ""


def unlike_any(words: Collection[str], texts: Iterable[str]) -> set[str]:
    """The words that no text contains in any spelling; "COVID-19" is a spelling of "COVID19"."""
    if not words:
        return set()
    read = [folded(text) for text in texts]
    joined = "\n".join(map(compact, read))
    known = {other for text in read for other in unicode_words.words(text) if len(other) >= _LEAST_LETTERS}
    return {word for word in words if not _spelt(folded(word), joined, known)}


def _spelt(word: str, joined: str, known: Collection[str]) -> bool:
    bare = compact(word)
    if len(bare) >= _SPELT_OTHERWISE and bare in joined:
        return True
    if len(word) < _SPELT_OTHERWISE:
        return False
    stem = word[: max(_SPELT_OTHERWISE, len(word) - _ENDING)]
    near = [other for other in known if other[0] == word[0] and abs(len(other) - len(word)) <= 1]
    return any(other.startswith(stem) for other in known) or bool(get_close_matches(word, near, 1, _ALIKE))


def is_name(word: str, query: str) -> bool:
    """Whether a word of a question is a name or number, which has no synonym: it is in katakana, or it
    contains a digit, or a capital that does not merely begin a sentence or belong to a title."""
    if _KATAKANA.fullmatch(word) or any(c.isdigit() for c in word) or word[1:] != word[1:].lower():
        return True
    begins = re.search(rf"(?:^|[.:?!–—-]\s)\W*{re.escape(word)}\b", query)
    return word != word.lower() and not begins and not _is_title(query)


def _is_title(query: str) -> bool:
    long = unicode_words.letter_words(query, _LEAST_LETTERS)[1:]
    return len(long) >= _SHORTEST_TITLE and sum(word[0].isupper() for word in long) > len(long) / 2

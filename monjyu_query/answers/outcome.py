"""Whether what was found answers the question: answered, partly, or not, with a calibrated confidence.

A logistic regression over what the evidence shows, learned by `training/confidence.py` from questions asked with and
without the paper that answers them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

import numpy as np

from monjyu_core.settings.settings import AnswerSettings
from monjyu_core.text import unicode_words
from monjyu_core.text.unicode_words import compact, folded
from monjyu_query.answers.answering import NOT_ANSWERED
from monjyu_query.answers.evidence_ranking.answer_types import (
    asked_types,
    asks_past_time,
    has_digits,
    has_number,
    shows,
    shows_past_time,
    without_citations,
)
from monjyu_query.answers.evidence_ranking.evidence_ranker import Judged, read_weights
from monjyu_query.answers.evidence_ranking.lifting import named_thing
from monjyu_query.answers.quote_windows import Window
from monjyu_query.answers.segments import laid_out
from monjyu_query.answers.selection import Evidence, Question
from monjyu_query.answers.topic import topic_of
from monjyu_query.ranking.similarity_scale import nearness
from monjyu_query.search.passages import PassageSentence
from monjyu_query.search.result import Citation, Segment, Status

FEATURES = (
    "quoted",  # log odds of the best quoted sentence that it is evidence
    "second",  # of the second best sentence found
    "nearness",  # of the closest passage, between chance and paraphrase
    "passage_cover",  # weighted share of the question's terms that the best passage has
    "quote_cover",  # that all quotes together have
    "one_quote_cover",  # that one quote has
    "rare_quoted",  # of the question's rarest terms, those that are quoted
    "rare_found",  # those that any passage has
    "type_lacking",  # a figure, date, name or place was asked for, and no quote shows one
    "one_paper",  # share of the quotes that are of one paper; 1 where several were asked for
)
_RARE = 0.7
"""Terms with this share of the largest weight are the question's rare ones."""
_HARD_TYPES = ("number", "date", "person", "place")
_NO_ODDS = -8.0
_FAR = 0.2
"""Nearness of a passage that has nothing to do with a question: 0 is chance, 1 a paraphrase."""
_MOST_UNSEEN = 0.5
"""A subject of whose words the passages lack more is another one than theirs, unless the answer is sure."""
_SEVERAL = 2
_ALIKE = 0.8
"""Words of which so much agrees (difflib) are spellings of one."""
_MOST_MISSING = 4
_SPELT_OTHERWISE = 6
"""Letters of a word that may have been written wrongly."""
_LEAST_LETTERS = 4
"""Of a word that another may be a spelling of."""
_ENDING = 3
"""Letters that may end a word otherwise."""
_KATAKANA = re.compile(r"[\u30a1-\u30fc]{3,}")


@dataclass(frozen=True)
class Support:
    """What speaks for an answer: `features` (10,), and the words of the question that no passage found has.
    `numberless`: a number or a date was asked for, and no quote has any. `unseen`: weighted share (0 to 1) of the
    words that name the question's subject which no passage found has; 0 for a single word, which another may stand for.
    """

    features: tuple[float, ...]
    missing: tuple[str, ...]
    numberless: bool = False
    unseen: float = 0.0

    @property
    def related(self) -> bool:
        """Whether the closest passage has anything to do with the question."""
        shown = dict(zip(FEATURES, self.features, strict=True))
        return shown["quote_cover"] > 0 or shown["nearness"] > _FAR


@dataclass(frozen=True)
class Outcome:
    """`missing`: what an answer in part leaves open, in words, as the last thing it says."""

    status: Status
    confidence: float
    missing: str
    reason: str
    language: str

    def says_why(self) -> Segment:
        """Why there is no answer."""
        return Segment(text=f"{NOT_ANSWERED[self.language]}{self.reason}")

    def abstains(self, text: str, closest: Citation, label: str) -> list[Segment]:
        """Why there is no answer, and the closest that was found."""
        begins, nearest = NOT_ANSWERED[self.language], _NEAREST[self.language]
        [quote] = laid_out([(text, [closest.n], label)], None)
        quote.text = f"\n\n{quote.text}"
        return [Segment(text=f"{begins}{self.reason} {nearest}"), quote]


_NO_NUMBER = "No passage found gives the number or the time that was asked for."
_NEAREST = {"en": "The closest passage:", "ja": "最も近い箇所："}


def support_of(
    query: str,
    question: Question,
    evidence: Evidence,
    judged: Judged,
    terms: Sequence[Sequence[str]],
    sentences: Sequence[PassageSentence],
    windows: Sequence[Window],
    *,
    many: bool,
) -> Support:
    """`terms` are those of each sentence; the windows are what would be quoted, best first. `many`: the question is to
    several papers."""
    rows = {sentence.sentence_id: row for row, sentence in enumerate(sentences)}
    quotes = [
        set().union(*(terms[rows[s.sentence_id]] for s in window.sentences if s.sentence_id in rows))
        for window in windows
    ]
    quoted = set().union(*quotes)
    odds = sorted(map(_log_odds, judged.probability.tolist()), reverse=True)
    own = [_log_odds(float(judged.probability[rows[window.key.sentence_id]])) for window in windows]
    rarest = max(question.weights.values(), default=0.0)
    rare = [term for term in question.telling() if question.weights[term] >= _RARE * rarest]
    unseen = unlike_any(evidence.missing, (sentence.text for sentence in sentences))
    subject = topic_of(query).casefold()
    hard = [name for name in _HARD_TYPES if name in asked_types(query)]
    shown = any(_shows(name, window.text) for name in hard for window in windows)
    papers = [window.key.passage.paper_id for window in windows]
    features = (
        max(own, default=_NO_ODDS),
        odds[1] if len(odds) > 1 else _NO_ODDS,
        0.0 if evidence.similarity is None else nearness(evidence.similarity, evidence.scale),
        evidence.coverage,
        question.share(quoted),
        max(map(question.share, quotes), default=0.0),
        _share(term in quoted for term in rare),
        _share(question.words[term] not in unseen for term in rare),
        float(bool(hard) and not shown),
        1.0 if many else max((papers.count(paper) for paper in papers), default=0) / max(len(papers), 1),
    )
    lacking = (question.words[term] for term in rare if question.words[term] in unseen)
    asks_number = not {"number", "date"}.isdisjoint(asked_types(query))
    numberless = asks_number and not any(has_number(without_citations(window.text)) for window in windows)
    if asks_past_time(query):
        numberless = not any(shows_past_time(without_citations(window.text)) for window in windows)
    named = [term for term in question.telling() if question.words[term].casefold() in subject]
    weight = sum(question.weights[term] for term in named)
    unknown = sum(question.weights[term] for term in named if question.words[term] in unseen)
    several = sum(question.words[term] in unseen for term in named) >= _SEVERAL
    lost = unknown / weight if weight and several else 0.0
    absent = [word for word in lacking if word.casefold() in subject]
    thing = named_thing(query)
    if thing and not absent and not any(_together(thing, sentence.text) for sentence in sentences):
        absent, lost = [thing], 1.0
    return Support(features, tuple(absent), numberless, lost)


def outcome_of(
    support: Support,
    unanswered: Sequence[str],
    language: str,
    settings: AnswerSettings,
    *,
    many: bool = False,
    script: str = "spaced",
) -> Outcome:
    """`unanswered` are sides of a comparison on which nothing was found. A question to several papers (`many`) has
    no one sentence that answers it: it goes without an answer only where the papers lack a word of it. `script` of the
    question: spaced or wide."""
    model = confidence_model(script)
    least = model.least if settings.min_confidence is None else settings.min_confidence
    sure = model.sure if settings.sure_confidence is None else settings.sure_confidence
    confidence = round(model.confidence(support.features), 3)
    missing = list(dict.fromkeys([*unanswered, *support.missing]))[:_MOST_MISSING]
    whole = support.unseen == 1
    elsewhere = support.unseen > _MOST_UNSEEN and confidence < (1.5 * sure if whole else (least + sure) / 2)
    if elsewhere or (confidence < least and (missing or not many or not support.related)):
        return Outcome("abstained", confidence, "", _reason(missing, language), language)
    names = [word for word in missing if word in unanswered or is_name(word)]
    if names or whole or confidence < sure or support.numberless:
        left_open = _left_open(missing, language, numberless=support.numberless)
        return Outcome("partial", confidence, left_open, "", language)
    return Outcome("complete", confidence, "", "", language)


def unlike_any(words: Collection[str], texts: Iterable[str]) -> set[str]:
    """Those of the words of which the texts have no other spelling: "COVID-19" is one of "COVID19"."""
    if not words:
        return set()
    read = [folded(text) for text in texts]
    joined = "\n".join(map(compact, read))
    known = {other for text in read for other in unicode_words.words(text) if len(other) >= _LEAST_LETTERS}
    return {word for word in words if not _spelt(folded(word), joined, known)}


def _together(name: str, text: str) -> bool:
    """Whether a sentence has all words of a name, in whatever form."""
    low = folded(text)
    return all(word[: max(len(word) - 2, 3)] in low for word in folded(name).split())


def _spelt(word: str, joined: str, known: Collection[str]) -> bool:
    bare = compact(word)
    if len(bare) >= _SPELT_OTHERWISE and bare in joined:
        return True
    if len(word) < _SPELT_OTHERWISE:
        return False
    stem = word[: max(_SPELT_OTHERWISE, len(word) - _ENDING)]
    near = [other for other in known if other[0] == word[0] and abs(len(other) - len(word)) <= 1]
    return any(other.startswith(stem) for other in known) or bool(get_close_matches(word, near, 1, _ALIKE))


def is_name(word: str) -> bool:
    """Whether a word can stand for nothing else: it has a capital, a figure, or is katakana."""
    return word != word.lower() or any(c.isdigit() for c in word) or bool(_KATAKANA.fullmatch(word))


def _reason(missing: Sequence[str], language: str) -> str:
    if language == "ja":
        return f"{_listed(missing, language)}についての箇所は見つかりませんでした。" if missing else ""
    return f"no passage found has {_listed(missing, language)}." if missing else "no passage found says it."


def _left_open(missing: Sequence[str], language: str, *, numberless: bool = False) -> str:
    if numberless and not missing:
        return "問われた数や時期を述べた箇所は見つかりませんでした。" if language == "ja" else _NO_NUMBER
    if language == "ja":
        return (
            f"{_listed(missing, language)}について述べた箇所は見つかりませんでした。"
            if missing
            else "問いにそのまま答える箇所かどうかは確かではありません。"
        )
    if missing:
        return f"No passage found speaks of {_listed(missing, language)}."
    return "These passages come closest; whether they answer the question is not certain."


def _listed(words: Sequence[str], language: str) -> str:
    if language == "ja":
        return "".join(f"「{word}」" for word in words)
    return ", ".join(f"“{word}”" for word in words)


def _shows(answer_type: str, text: str) -> bool:
    return shows(answer_type, text) or (answer_type == "number" and has_digits(text))


def _share(flags: object) -> float:
    values = list(flags)  # type: ignore[call-overload]
    return sum(values) / len(values) if values else 1.0


def _log_odds(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


@dataclass(frozen=True)
class ConfidenceModel:
    """Below `least` there is no answer, below `sure` one in part."""

    weights: tuple[float, ...]
    bias: float
    least: float
    sure: float

    def confidence(self, features: Sequence[float]) -> float:
        """The chance (0 to 1) that an answer with these features holds what was asked."""
        return float(1 / (1 + np.exp(-(np.dot(features, self.weights) + self.bias))))


@cache
def confidence_model(script: str) -> ConfidenceModel:
    """For questions in a `spaced` or a `wide` script. ConfigurationError where the file is not ours."""
    held = read_weights(f"confidence_{script}")
    return ConfidenceModel(tuple(held[name] for name in FEATURES), held["bias"], held["least"], held["sure"])

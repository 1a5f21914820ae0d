"""Whether what was found answers the question: answered, partly, or not, with a calibrated confidence.

The confidence is what the reader says of the best passage and of the best sentence that is quoted, and without a reader
how far the words agree; `training/answers.py` learned both from questions with and without the paper that answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from monjyu_core.settings.settings import AnswerSettings
from monjyu_core.text import unicode_words
from monjyu_core.text.unicode_words import compact, folded
from monjyu_query.answers.answering import NOT_ANSWERED
from monjyu_query.answers.evidence_ranking.sentence_worth import Judged
from monjyu_query.answers.quote_windows import Window
from monjyu_query.answers.segments import laid_out
from monjyu_query.answers.selection import Evidence, Question
from monjyu_query.answers.topic import topic_of
from monjyu_query.ranking.similarity_scale import nearness
from monjyu_query.search.passages import PassageSentence
from monjyu_query.search.result import Citation, Segment, Status

_RARE = 0.7
"""Terms with this share of the largest weight are the question's rare ones."""
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
    """What speaks for an answer: its `confidence`, from which there is one in part and a whole one, the words of the
    question that no passage found has, and whether the closest passage is `related` to it at all. `unseen`:
    weighted share (0 to 1) of the words that name the question's subject which no passage found has; 0 for a single
    word, which another may stand for.
    """

    confidence: float
    partly: float
    whole: float
    missing: tuple[str, ...]
    related: bool = True
    unseen: float = 0.0


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


_NEAREST = {"en": "The closest passage:", "ja": "最も近い箇所："}


def support_of(
    query: str,
    question: Question,
    evidence: Evidence,
    judged: Judged,
    terms: Sequence[Sequence[str]],
    sentences: Sequence[PassageSentence],
    windows: Sequence[Window],
) -> Support:
    """`terms` are those of each sentence; the windows are what would be quoted, best first."""
    rows = {sentence.sentence_id: row for row, sentence in enumerate(sentences)}
    quoted: set[str] = set()
    for window in windows:
        quoted.update(*(terms[rows[s.sentence_id]] for s in window.sentences if s.sentence_id in rows))
    rarest = max(question.weights.values(), default=0.0)
    rare = [term for term in question.telling() if question.weights[term] >= _RARE * rarest]
    unseen = unlike_any(evidence.missing, (sentence.text for sentence in sentences))
    subject = topic_of(query).casefold()
    named = [term for term in question.telling() if question.words[term].casefold() in subject]
    weight = sum(question.weights[term] for term in named)
    unknown = sum(question.weights[term] for term in named if question.words[term] in unseen)
    several = sum(question.words[term] in unseen for term in named) >= _SEVERAL
    absent = [question.words[term] for term in rare if question.words[term] in unseen]
    best = max((float(judged.probability[rows[window.key.sentence_id]]) for window in windows), default=0.0)
    near = 0.0 if evidence.similarity is None else nearness(evidence.similarity, evidence.scale)
    return Support(
        judged.weights.confidence(best, judged.answered),
        judged.weights.partly,
        judged.weights.whole,
        tuple(word for word in absent if word.casefold() in subject),
        question.share(quoted) > 0 or near > _FAR,
        unknown / weight if weight and several else 0.0,
    )


def outcome_of(
    support: Support,
    unanswered: Sequence[str],
    language: str,
    settings: AnswerSettings,
    *,
    many: bool = False,
) -> Outcome:
    """`unanswered` are sides of a comparison on which nothing was found. A question to several papers (`many`) has
    no one sentence that answers it: it goes without an answer only where the papers lack a word of it, and is whole
    from the lower confidence."""
    least = support.partly if settings.min_confidence is None else settings.min_confidence
    sure = support.whole if settings.sure_confidence is None else settings.sure_confidence
    confidence = support.confidence
    missing = list(dict.fromkeys([*unanswered, *support.missing]))[:_MOST_MISSING]
    whole = support.unseen == 1
    elsewhere = support.unseen > _MOST_UNSEEN and confidence < (1.5 * sure if whole else (least + sure) / 2)
    if elsewhere or (confidence < least and (missing or not many or not support.related)):
        return Outcome("abstained", confidence, "", _reason(missing, language), language)
    names = [word for word in missing if word in unanswered or is_name(word)]
    if names or whole or confidence < (least if many else sure):
        return Outcome("partial", confidence, _left_open(missing, language), "", language)
    return Outcome("complete", confidence, "", "", language)


def unlike_any(words: Collection[str], texts: Iterable[str]) -> set[str]:
    """Those of the words of which the texts have no other spelling: "COVID-19" is one of "COVID19"."""
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


def is_name(word: str) -> bool:
    """Whether a word can stand for nothing else: it has a capital, a figure, or is katakana."""
    return word != word.lower() or any(c.isdigit() for c in word) or bool(_KATAKANA.fullmatch(word))


def _reason(missing: Sequence[str], language: str) -> str:
    if language == "ja":
        return f"{_listed(missing, language)}についての箇所は見つかりませんでした。" if missing else ""
    return f"no passage found has {_listed(missing, language)}." if missing else "no passage found says it."


def _left_open(missing: Sequence[str], language: str) -> str:
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

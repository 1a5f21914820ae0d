"""The answer to "do papers disagree about …?": both sides of each tension, each quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from monjyu_core.text.language import message_language
from monjyu_core.text.word_terms import word_terms
from monjyu_query.answers.answering import Answer
from monjyu_query.answers.assemble import result_of
from monjyu_query.answers.citing import cite
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.search.passages import PassageSentence
from monjyu_query.search.result import Citation, Routing, SearchResult, Segment
from monjyu_query.search.tools import Ask, Tools
from monjyu_query.tensions.none_found import none_found
from monjyu_query.tensions.pair_reading import held_by_model, opposed_by_model
from monjyu_query.tensions.tension_list import LONGEST_CONCEPT, Tensions, tensions_of
from monjyu_query.tensions.what_papers_say import Said, what_papers_say

MOST_SHOWN = 5
"""Pairs that an answer shows; `monjyu tensions` lists all."""
_SAYERS = (
    r"(?:the |these |any |some |different |all )*(?:papers?|studies|study|authors?|articles?|publications|results"
    r"|findings|researchers|literature|evidence|sources)"
)
_DISAGREE = r"(?:disagree|contradict|conflict|differ|diverge|clash)"
_ABOUT = r"(?:about|on|over|regarding|concerning|as to|in|with regard to|with respect to)"
_EACH_OTHER = r"(?: each other| one another)"
_ASKED = re.compile(
    rf"^\W*(?:(?:do|did|does|where do|how do|on what do|what do) {_SAYERS} {_DISAGREE}(?: with)?"
    rf"{_EACH_OTHER}?(?: {_ABOUT} (?P<does>.+?))?"
    r"|(?:is|are) (?:there )?(?:any |some |a )*(?:disagreements?|contradictions?|tensions?|controvers(?:y|ies)"
    r"|conflicts?"
    r"|(?:conflicting|contradictory) (?:results|findings|evidence|claims|statements))"
    rf"(?: (?:among|between|in|across) {_SAYERS})?(?: {_ABOUT} (?P<there>.+?))?"
    rf"|(?:which|what) {_SAYERS} (?:contradict|disagree with|conflict with){_EACH_OTHER}"
    rf"(?: {_ABOUT} (?P<which>.+?))?)[?.!\s]*$"
    r"|^(?P<ja>.+?)について(?:の)?(?:論文|研究|文献)(?:の間で|間で|どうし)?(?:は|で)?(?:意見|見解|結果|主張)?(?:は|が|に)?"
    r"(?:食い違|矛盾|対立|一致しな)[^。?？]*[。?？]?$",
    re.IGNORECASE,
)
_WORDS = {
    "en": (
        "The papers were found to disagree about {what}",
        "The papers were found to disagree",
        " in {n} places",
        " in one place",
        "{more} more are in the list of tensions.",
    ),
    "ja": (
        "{what}について、論文の記述が食い違う箇所があります",
        "論文の記述が食い違う箇所があります",
        "（{n} 件）",
        "（1 件）",
        "ほかに {more} 件が対立の一覧にあります。",
    ),
}
_BY_MODEL = {
    "en": "A model read what papers say about {what}, and calls these statements opposed. Read both before you do.",
    "ja": "{what}についての論文の記述をモデルが読み、次の記述が両立しないとしました。両方を読んで確かめてください。",
}
_AGAINST = {"en": "against that: ", "ja": "これに対して: "}


def asked_about(query: str) -> str | None:
    """What a question asks the disagreement about: "" where about anything, None where it asks something else."""
    asked = _ASKED.match(query) if len(query) <= 2 * LONGEST_CONCEPT else None
    if asked is None:
        return None
    return next((found for name in ("does", "there", "which", "ja") if (found := asked[name])), "").strip()


def tension_answer(ask: Ask, tools: Tools) -> SearchResult | None:
    """The result where a question asks whether papers disagree: both sides of each tension (that the model of
    `roles.verify`, where one is set, calls one); where none is known, how many papers speak of it and what they say.
    None for other questions, and where mode, controller or budget say how it is to be answered."""
    request = ask.request
    what = asked_about(request.query) if request.open_ended else None
    if what is None or len(what) > LONGEST_CONCEPT:
        return None
    if what and not word_terms([what])[0]:
        what = ""  # "about it", "about this": about anything
    allowed = set(passing_papers(ask.index.snapshot.cursor(), request.filters))
    found = tensions_of(ask.index, what or None, MOST_SHOWN, allowed)
    language = message_language(request.query)
    found, warning = held_by_model(tools, ask.account, found, language)
    warnings = [warning]
    if found.tensions:
        answer = Answer(_told(found, what, language), "complete", found.citations, verified=True)
    else:
        said = what_papers_say(ask, tools.embedder, what) if what else Said(len(allowed), [])
        pairs, warning = opposed_by_model(tools, ask.account, what, said.statements, language)
        warnings.append(warning)
        level = found.level if not found.built else None
        answer = _told_by_model(ask, pairs, what, language) or none_found(said, what, level, language)
    routing = Routing(query_type="tensions", reason="it asks where papers disagree, which the tensions of level 4 say")
    told = list(filter(None, warnings))
    return result_of(replace(ask, mode="tensions", routing=routing), answer, "extractive", [], warnings=told)


def _told(found: Tensions, what: str, language: str) -> list[Segment]:
    about, anything, many, one, more = _WORDS[language]
    head = about.format(what=what) if what else anything
    head += one if found.total == 1 else many.format(n=found.total)
    segments = [Segment(text=f"{head}{'。' if language == 'ja' else '.'}")]
    quotes = _quotes(found.citations)
    for tension in found.tensions:
        segments += _both(tension.first.citation, tension.second.citation, quotes, language)
    left = found.total - len(found.tensions)
    return [*segments, Segment(text=f"\n\n{more.format(more=left)}")] if left > 0 else segments


def _told_by_model(
    ask: Ask, pairs: Sequence[tuple[PassageSentence, PassageSentence]], what: str, language: str
) -> Answer | None:
    """Both sides of the pairs that the model calls opposed; None where there are none."""
    shown = pairs[:MOST_SHOWN]
    used = list({sentence.sentence_id: sentence for pair in shown for sentence in pair}.values())
    citations = cite(ask.index.snapshot.cursor(), used) if used else []
    if not shown or len(citations) < len(used):
        return None
    number = {sentence.sentence_id: citation.n for sentence, citation in zip(used, citations, strict=True)}
    quoted = _quotes(citations)
    segments = [Segment(text=_BY_MODEL[language].format(what=what))]
    for one, other in shown:
        segments += _both(number[one.sentence_id], number[other.sentence_id], quoted, language)
    return Answer(segments, "complete", citations, verified=True)


def _quotes(citations: Sequence[Citation]) -> dict[int, str]:
    return {citation.n: " ".join(citation.quote.split()) for citation in citations}


def _both(first: int, second: int, quotes: Mapping[int, str], language: str) -> list[Segment]:
    """Both sides, one under the other, by the numbers of their quotes: never one alone."""
    return [
        Segment(text=f"\n- {quotes[first]}", citations=[first]),
        Segment(text=f" {_AGAINST[language]}{quotes[second]}", citations=[second]),
    ]

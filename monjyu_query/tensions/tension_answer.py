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
from monjyu_query.search.result import Citation, Routing, SearchResult, Segment
from monjyu_query.search.tools import Ask, Tools
from monjyu_query.tensions.none_found import none_found
from monjyu_query.tensions.statements import Said, StatementPair, pairs_among, pairs_of_all, what_papers_say
from monjyu_query.tensions.tension_list import LONGEST_CONCEPT, judge_pairs

MOST_PAIRS, MOST_SHOWN = 16, 5
"""Pairs of statements that the model reads for an answer (two calls) and shows; `monjyu tensions` reads more."""
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
_BY_MODEL = {
    "en": (
        "A model read what papers say about {what}, and calls these statements opposed. Read both before you do.",
        "A model read what papers find, and calls these statements opposed. Read both before you do.",
    ),
    "ja": (
        "{what}についての論文の記述をモデルが読み、次の記述が両立しないとしました。両方を読んで確かめてください。",
        "論文の記述をモデルが読み、次の記述が両立しないとしました。両方を読んで確かめてください。",
    ),
}
_AGAINST = {"en": "against that: ", "ja": "これに対して: "}


def asked_about(query: str) -> str | None:
    """What a question asks the disagreement about: "" where about anything, None where it asks something else."""
    asked = _ASKED.match(query) if len(query) <= 2 * LONGEST_CONCEPT else None
    if asked is None:
        return None
    return next((found for name in ("does", "there", "which", "ja") if (found := asked[name])), "").strip()


def tension_answer(ask: Ask, tools: Tools) -> SearchResult | None:
    """The result where a question asks whether papers disagree: both sides of each pair that the model of
    `roles.verify` calls contradicted; where there are none, or no model is set, how many papers speak of it and what
    they say. None for other questions, and where mode, controller or budget say how it is to be answered."""
    request, index = ask.request, ask.index
    what = asked_about(request.query) if request.open_ended else None
    if what is None or len(what) > LONGEST_CONCEPT:
        return None
    language = message_language(request.query)
    if what and word_terms([what])[0]:
        said = what_papers_say(index, tools, what, request.filters, ask.settings)
        pairs = pairs_among(index, said.statements, MOST_PAIRS)
    else:
        what = ""  # "about it", "about this": about anything
        said = Said(len(passing_papers(index.snapshot.cursor(), request.filters)), [])
        pairs = pairs_of_all(index, request.filters, ask.settings, MOST_PAIRS) if tools.uses_model("verify") else []
    judged = judge_pairs(tools, ask.account, pairs, language)
    read = None if judged.held else judged.read
    answer = _told(ask, judged.held, what, language) or none_found(said, what, read, language)
    routing = Routing(
        query_type="tensions", reason="it asks where papers disagree, which the model of roles.verify says"
    )
    warnings = [judged.warning] if judged.warning else []
    return result_of(replace(ask, mode="tensions", routing=routing), answer, "extractive", [], warnings=warnings)


def _told(ask: Ask, held: Sequence[tuple[StatementPair, str]], what: str, language: str) -> Answer | None:
    """Both sides of the pairs that the model calls contradicted; None where there are none."""
    shown = [pair for pair, _ in held[:MOST_SHOWN]]
    used = list({side.sentence_id: side for pair in shown for side in (pair.first, pair.second)}.values())
    citations = cite(ask.index.snapshot.cursor(), used) if used else []
    if not shown or len(citations) < len(used):
        return None
    number = {side.sentence_id: citation.n for side, citation in zip(used, citations, strict=True)}
    quotes = _quotes(citations)
    about, anything = _BY_MODEL[language]
    segments = [Segment(text=about.format(what=what) if what else anything)]
    for pair in shown:
        segments += _both(number[pair.first.sentence_id], number[pair.second.sentence_id], quotes, language)
    return Answer(segments, "complete", citations, verified=True)


def _quotes(citations: Sequence[Citation]) -> dict[int, str]:
    return {citation.n: " ".join(citation.quote.split()) for citation in citations}


def _both(first: int, second: int, quotes: Mapping[int, str], language: str) -> list[Segment]:
    """Both sides, one under the other, by the numbers of their quotes: never one alone."""
    return [
        Segment(text=f"\n- {quotes[first]}", citations=[first]),
        Segment(text=f" {_AGAINST[language]}{quotes[second]}", citations=[second]),
    ]

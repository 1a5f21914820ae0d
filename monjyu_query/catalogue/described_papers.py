"""The one paper that a question describes ("What does the paper by Arribas-Bel teach?"), asked about as if it was
chosen by a filter; where the description fits several papers, the answer is the question which of them is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from monjyu_core.text.language import message_language
from monjyu_query.answers.answering import Answer
from monjyu_query.answers.assemble import result_of
from monjyu_query.asking.result import AnswerTable, Cell, Routing, SearchResult, Segment
from monjyu_query.catalogue.catalogue_wording import COLUMNS, told
from monjyu_query.papers.paper_label import paper_labels
from monjyu_query.papers.paper_names import PaperName, find_papers, has_word, unknown_author
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Ask

_PAPER = r"paper|article|study|publication|report"
_THING = (
    r"course|class|module|package|tutorial|lessons?|notebooks?|workshop|curriculum|project|trial|review|textbook|book"
    r"|tool|library|software|framework|interpreter"
)
_CAPITAL = r"(?-i:[^\W\d_a-z][\w'’-]+)"
_WORD = r"(?!(?:of|in|on|for|to|by|the|an?|and|or|with|from|as|is|are|was|were|do|does|did|that|which)\b)[\w'’.&-]+"
_VERBS = (
    r"is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|may|say|says|said|teach(?:es)?|use[sd]?|finds?"
    r"|found|reports?|reported|shows?|showed|shown|describe[sd]?|recommends?|conclude[sd]?|mentions?|explains?|argues?"
    r"|claims?|proposes?|suggests?|cites?|requires?|need|needs|cover|covers|take|takes|include[sd]?|deal|deals|designed"
    r"|measured?|written|published|made|done|compared|differ"
)
_END, _NOT_END = rf"(?= (?:{_VERBS})\b|[,;:?!)]|\.$|$)", rf"(?! (?:{_VERBS})\b)"
_CITED = re.compile(
    rf"(?:{_CAPITAL}(?:(?:,? and |,? & |, ){_CAPITAL})*(?: et al\.?)?,? \(?(?:18|19|20)\d\d[a-z]?\)?"
    rf"|{_CAPITAL} et al\.?|{_CAPITAL}(?:, {_CAPITAL})*,? (?:and|&) {_CAPITAL})"
)
_DESCRIBED = re.compile(
    rf"\b(?:the (?:{_WORD} ){{0,5}}?|{_CAPITAL}['’]s? (?:{_WORD} ){{0,3}}?)"
    rf"(?:(?P<paper>{_PAPER})|(?:{_THING}))\b(?!['’\w-])"
    rf"(?P<tail>(?:{_NOT_END} .+?)?){_END}"
    r"|(?P<ja>[^、。？?「」]{2,60}?|「[^」]{2,200}」)(?:に関する|についての|の|という)"
    r"(?P<ja_paper>論文|研究|文献|講義|教材)(?=[はがでにをのと、])",
    re.IGNORECASE,
)
_QUOTES = '“"«「『'
_QUOTED = re.compile(r"[“\"«「『]([^”\"»」』]{5,300})[”\"»」』]")
_POINTING = re.compile(r"^(?:どの|この|その|これら|それら|すべて|全て|他|ほか|最新|主|先行|どんな|何)")
_MOST_WORDS = 14
"""Of a description after "the paper"."""
_MOST_MEANT = 4


@dataclass(frozen=True)
class Described:
    """What a question's words from `start` to `end` describe: one paper that is meant, several that may be, or none
    because no author has the name `unknown`."""

    start: int
    end: int
    papers: tuple[PaperName, ...]
    unknown: str = ""

    @property
    def paper(self) -> PaperName | None:
        return self.papers[0] if self.papers and self.papers[0].sure else None


def paper_described(index: OpenIndex, query: str) -> Described | None:
    """The description of one paper in a question, to the last word that the paper's title or authors have; None where
    there is none that the collection's titles, authors or abstracts bear out."""
    sure: Described | None = None
    doubtful: Described | None = None
    for start, end, is_paper in _spans(query):
        if sure is not None and start != sure.start:
            return sure
        text = query[start:end]
        if sure is None and is_paper and (unknown := unknown_author(index, text)):
            doubtful = doubtful or Described(start, end, (), unknown)
            continue
        found = tuple(find_papers(index, text))
        told = bool(found) and (found[0].named if text[0] in _QUOTES else found[0].how != "description")
        if found and found[0].sure and (told or is_paper):
            if sure is not None and found[0].paper_id != sure.papers[0].paper_id:
                return sure
            sure = Described(start, end, found)
            if has_word(found[0], text.split()[-1]):
                return sure
        elif sure is None and told and is_paper and len(found) <= _MOST_MEANT:
            doubtful = doubtful or Described(start, end, found)
    return sure or doubtful


def descriptions(query: str) -> list[str]:
    """The words of a question that may describe a paper, whatever the collection has, each as long as it goes."""
    found: dict[int, int] = {}
    for start, end, _ in _spans(query):
        found.setdefault(start, end)
    return [query[start:end] for start, end in found.items()]


def ask_of_described(ask: Ask) -> tuple[Ask, SearchResult | None]:
    """The question put to the paper that it describes, with the paper as filter; or the result that asks back. The same
    where it describes none, and where a filter names papers already."""
    request = ask.request
    described = None if request.filters.paper_ids else paper_described(ask.index, request.query)
    if described is None:
        return ask, None
    if described.paper is None:
        return ask, _asked_back(ask, described)
    before, after = request.query[: described.start], request.query[described.end :]
    one = "この論文" if message_language(request.query) == "ja" else "this paper"
    filters = request.filters.model_copy(update={"paper_ids": [described.paper.paper_id]})
    asked = request.model_copy(update={"query": f"{before}{one}{after}", "filters": filters})
    reason = f"{ask.routing.reason}; “{request.query[described.start : described.end]}” is {described.paper.paper_id}"
    read_as = f"{before}“{described.paper.title}”{after}"
    return replace(ask, request=asked, read_as=read_as, routing=ask.routing.model_copy(update={"reason": reason})), None


def _spans(query: str) -> Iterator[tuple[int, int, bool]]:
    """Where a description may stand, the longest first of each, and whether it says that it is one of a paper."""
    for pattern in (_QUOTED, _CITED):
        for found in pattern.finditer(query):
            yield (*found.span(), False)
    for found in _DESCRIBED.finditer(query):
        if found["ja"] is not None:
            if not _POINTING.match(found["ja"]):
                yield (*found.span(), found["ja_paper"] in ("論文", "研究", "文献"))
            continue
        ends = [found.start("tail") + place.start() for place in re.finditer(r" |$", found["tail"])]
        for end in sorted(set(ends[: _MOST_WORDS + 1]), reverse=True):
            yield found.start(), end, found["paper"] is not None


def _asked_back(ask: Ask, described: Described) -> SearchResult:
    language = message_language(ask.request.query)
    names = [one.paper_id for one in described.papers]
    labels = paper_labels(ask.index, names, language)
    titles = [f"{labels[one.paper_id]}, “{one.title}”" for one in described.papers]
    if described.unknown:
        sentence = told("no author", language, what=described.unknown)
    else:
        sentence = told("which", language, what=(" か " if language == "ja" else ", or ").join(titles))
    columns = [COLUMNS[language][name] for name in ("paper", "title")]
    rows = [[Cell(text=labels[one.paper_id], paper_id=one.paper_id), Cell(text=one.title)] for one in described.papers]
    tables = [AnswerTable(columns=columns, rows=rows)] if rows else []
    answer = Answer([Segment(text=sentence)], "abstained", tables=tables, confidence=0.0)
    reason = f"“{ask.request.query[described.start : described.end]}” fits {len(names)} papers"
    routing = Routing(query_type="collection", reason=reason)
    return result_of(replace(ask, mode="catalogue", routing=routing), answer, "tables", [])

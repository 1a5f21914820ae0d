"""Recognises a paper that a question describes ("What does the paper by Arribas-Bel teach?") and asks the question with
the paper as filter; if the description fits several papers, the answer asks which one is meant."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from monjyu_core.language.packs import Texts, also, cues, listed
from monjyu_core.text.language import message_language
from monjyu_core.text.unicode_words import folded, words
from monjyu_query.answers.answer import Answer, result_of
from monjyu_query.asking.request import SearchRequest, Turn
from monjyu_query.asking.result import AnswerTable, Cell, Routing, SearchResult, Segment
from monjyu_query.papers.labels import paper_label, paper_labels
from monjyu_query.papers.names import PaperName, find_papers, has_word, known_papers, unknown_author
from monjyu_query.questions.intents import recognised
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Ask

# Sentences about rows of the catalogue, in English and Japanese.
COLUMNS = Texts("catalogue_columns")


def told(name: str, language: str, *, label: str = "", what: str = "", n: int = 0) -> str:
    """A sentence about the collection, with verbs in the right number."""
    one = n == 1
    return Texts("catalogue")[language][name].format(
        label=label, what=what, n=n, papers="paper" if one else "papers", are="is" if one else "are",
        cite="cites" if one else "cite",
        have="has" if one else "have",
    )  # fmt: skip


def described(author: str, year_from: int | None, year_to: int | None, language_name: str, language: str) -> str:
    """The selection of papers in words: "by Barba, from 2020 to 2022"."""
    words = Texts("described")[language]
    parts = [words["author"].format(author)] if author else []
    if year_from is not None and year_to is not None:
        parts.append(words["year" if year_from == year_to else "years"].format(year_from, year_to))
    elif year_from is not None:
        parts.append(words["since"].format(year_from))
    elif year_to is not None:
        parts.append(words["until"].format(year_to))
    if language_name:
        parts.append(words["language"].format(Texts("language_names")[language].get(language_name, language_name)))
    return words["comma"].join(parts)


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
    r"|(?P<before>[^、。？?「」]{2,60}?|「[^」]{2,200}」)"
    rf"(?:{cues('described_papers.link')})(?:(?P<work>{cues('described_papers.work')})|(?:{cues('described_papers.thing')}))(?={cues('described_papers.next')})",
    re.IGNORECASE,
)
_QUOTES = '“"«「『'
_QUOTED = re.compile(r"[“\"«「『]([^”\"»」』]{5,300})[”\"»」』]")
_POINTING = re.compile(cues("described_papers.pointing"))
_MOST_WORDS = 14
"""The maximum number of words of a description after "the paper"."""
_MOST_MEANT = 4


@dataclass(frozen=True)
class Described:
    """A description of a paper in a question, from `start` to `end`. `papers`: the paper, several candidates, or none
    because no author has the name `unknown`."""

    start: int
    end: int
    papers: tuple[PaperName, ...]
    unknown: str = ""

    @property
    def paper(self) -> PaperName | None:
        return self.papers[0] if self.papers and self.papers[0].sure else None


def paper_described(index: OpenIndex, query: str) -> Described | None:
    """The description of one paper in a question, up to the last word in the paper's title or authors; None if no
    description matches the collection's titles, authors or abstracts."""
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
    """The parts of a question that may describe a paper, regardless of the collection, each as long as possible."""
    found: dict[int, int] = {}
    for start, end, _ in _spans(query):
        found.setdefault(start, end)
    return [query[start:end] for start, end in found.items()]


def ask_of_described(ask: Ask) -> tuple[Ask, SearchResult | None]:
    """The question with the described paper as filter, and None; or the question as it is, and a result that asks which
    paper is meant if several fit or none. If it describes no paper, or a filter names papers, nothing changes."""
    request = ask.request
    described = None if request.filters.paper_ids else paper_described(ask.index, request.query)
    if described is None:
        return ask, None
    if described.paper is None:
        return ask, _asked_back(ask, described)
    before, after = request.query[: described.start], request.query[described.end :]
    one = Texts("described")[message_language(request.query)]["one"]
    filters = request.filters.model_copy(update={"paper_ids": [described.paper.paper_id]})
    asked = request.model_copy(update={"query": f"{before}{one}{after}", "filters": filters})
    reason = f"{ask.routing.reason}; “{request.query[described.start : described.end]}” is {described.paper.paper_id}"
    read_as = f"{before}“{described.paper.title}”{after}"
    return replace(ask, request=asked, read_as=read_as, routing=ask.routing.model_copy(update={"reason": reason})), None


def _spans(query: str) -> Iterator[tuple[int, int, bool]]:
    """The spans that may be descriptions, the longest first, and whether each calls what it describes a paper."""
    for pattern in (_QUOTED, _CITED):
        for found in pattern.finditer(query):
            yield (*found.span(), False)
    for found in _DESCRIBED.finditer(query):
        if found["before"] is not None:
            if not _POINTING.match(found["before"]):
                yield (*found.span(), found["work"] is not None)
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
        sentence = told("which", language, what=listed(titles, language, "or"))
    columns = [COLUMNS[language][name] for name in ("paper", "title")]
    rows = [[Cell(text=labels[one.paper_id], paper_id=one.paper_id), Cell(text=one.title)] for one in described.papers]
    tables = [AnswerTable(columns=columns, rows=rows)] if rows else []
    answer = Answer([Segment(text=sentence)], "abstained", tables=tables, confidence=0.0)
    reason = f"“{ask.request.query[described.start : described.end]}” fits {len(names)} papers"
    routing = Routing(query_type="collection", reason=reason)
    return result_of(replace(ask, mode="catalogue", routing=routing), answer, "tables", [])


# The papers that the last answer of a conversation named, and follow-ups that are about them.
_OF_THEM = re.compile(cues("described_papers.of_them"), re.IGNORECASE)
_THEY = re.compile(r"\b(?:they|these(?: papers)?|those(?: papers)?)\b(?! (?:who|that|which|of)\b)", re.IGNORECASE)
_PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1, "former": 0}
_ONE_OF = re.compile(rf"\bthe ({'|'.join(_PLACES)})(?: (?:one|paper|of (?:them|these|those)))?\b", re.IGNORECASE)
_LISTS = ("papers", "listed", "counted", "citing", "cited", "newest", "oldest", "often")
_ASKED_BACK = re.compile(r"^Do you mean " + also("described_papers.asked_back"))
_FEWEST_WORDS, _PREFERRED = 3, 3
"""The minimum number of words of a title that names its paper, and the maximum number of papers that a follow-up
prefers."""


def papers_in_answer(index: OpenIndex, text: str) -> list[PaperName]:
    """The papers whose label or title is in an answer, in the order of the answer."""
    found: dict[int, PaperName] = {}
    language = message_language(text)
    for paper in known_papers(index):
        label = paper_label(paper.authors, paper.year, paper.title, language).rstrip(")）")
        places = [text.find(label) if paper.authors or paper.title else -1]
        places.append(text.find(paper.title) if len(paper.title.split()) >= _FEWEST_WORDS else -1)
        if max(places) >= 0:
            found.setdefault(min(place for place in places if place >= 0), paper)
    return [found[place] for place in sorted(found)]


def follow_up_on_papers(index: OpenIndex, request: SearchRequest) -> tuple[SearchRequest, list[str]]:
    """A follow-up on the papers of the previous answer, rewritten with these papers as filter if it asks about all of
    them ("Which of them …"), or with the title of the one that it means. Any other follow-up is unchanged, with the
    papers that it prefers."""
    before, answer = _last(request.history)
    if not answer or request.filters.paper_ids:
        return request, []
    told = papers_in_answer(index, answer)
    if not told:
        return request, []
    chosen = _chosen(request.query, told)
    if _ASKED_BACK.search(answer) and chosen is None:
        chosen = _named(request.query, told)
    if _ASKED_BACK.search(answer) and chosen and (spans := descriptions(before)):
        return request.model_copy(update={"query": before.replace(spans[0], f"“{chosen.title}”")}), []
    if chosen and _ONE_OF.search(request.query):
        return request.model_copy(update={"query": _ONE_OF.sub(f"“{chosen.title}”", request.query, count=1)}), []
    listed = (intent := recognised(before)) is not None and intent.name in _LISTS
    pattern = _OF_THEM if _OF_THEM.search(request.query) else _THEY if listed else None
    if pattern is None or not pattern.search(request.query):
        return request, [one.paper_id for one in told] if len(told) <= _PREFERRED else []
    query = pattern.sub(lambda found: _instead(found, request.query), request.query, count=1)
    filters = request.filters.model_copy(update={"paper_ids": [one.paper_id for one in told]})
    return request.model_copy(update={"query": query, "filters": filters}), []


def _last(history: Sequence[Turn]) -> tuple[str, str]:
    """The last question and its answer."""
    turns = [turn for turn in history if turn.role != "system"]
    if len(turns) < 2 or turns[-1].role != "assistant":
        return "", ""
    return turns[-2].content, turns[-1].content


def _chosen(query: str, told: Sequence[PaperName]) -> PaperName | None:
    found = _ONE_OF.search(query)
    place = _PLACES[found[1].casefold()] if found else len(told)
    return told[place] if place < len(told) else None


def _named(query: str, told: Sequence[PaperName]) -> PaperName | None:
    """The paper whose title and year have the most words of a reply, more than any other."""
    asked = set(words(folded(query)))
    shared = sorted(
        ((len(asked & {*words(folded(one.title)), str(one.year)}), one.paper_id) for one in told), reverse=True
    )
    if not shared or not shared[0][0] or (len(shared) > 1 and shared[1][0] == shared[0][0]):
        return None
    return next(one for one in told if one.paper_id == shared[0][1])


def _instead(found: re.Match[str], query: str) -> str:
    asks = next((group for group in found.groups() if group), "") if found.re is _OF_THEM else ""
    words = Texts("described")[message_language(query)]
    return words["asked"].format(asks) if asks else words["these"]

"""The one paper that a question describes ("What does the paper by Arribas-Bel teach?"), asked about as if it was
chosen by a filter; where the description fits several papers, the answer is the question which of them is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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

# What is said of rows of the catalogue, in English and Japanese.


COLUMNS = {
    "en": {"paper": "Paper", "title": "Title", "authors": "Authors", "year": "Year", "venue": "Venue", "doi": "DOI",
           "quote": "Quote", "author": "Author", "papers": "Papers", "cited": "Cited by"},
    "ja": {"paper": "論文", "title": "題名", "authors": "著者", "year": "年", "venue": "掲載", "doi": "DOI",
           "quote": "引用", "author": "著者", "papers": "論文数", "cited": "被引用"},
}  # fmt: skip

_EN = {
    "count": "{n} {papers} of the collection {are} {what}.",
    "all": "The collection has {n} {papers}.",
    "authors": "{label}: {what}.",
    "no authors": "{label} names no author.",
    "counted": "{label} has {n} authors: {what}.",
    "title": "The title is {label}.",
    "nearest": "No paper of the collection clearly fits “{what}”. These come closest:",
    "makers": "The paper on it, {label}, is by {what}.",
    "year": "{label} is of {what}.",
    "no year": "{label} names no year.",
    "venue": "{label} was published in {what}.",
    "no venue": "{label} does not say where it was published.",
    "doi": "The DOI of {label} is {what}.",
    "no doi": "{label} has no DOI in the collection.",
    "citing": "{n} {papers} of the collection {cite} {label}.",
    "cited": "{label} cites {n} {papers} of the collection; its list of references has {what} works.",
    "newest": "The newest papers are of {what}.",
    "oldest": "The oldest papers are of {what}.",
    "prolific": "{what} wrote the most papers: {n}.",
    "not prolific": "No author of the collection wrote more than one of its papers.",
    "most_cited": "{label} is cited most: by {n} {papers} of the collection.",
    "none cited": "No paper of the collection cites another.",
    "venues": "The papers are from {n} journals, conferences or other venues.",
    "years": "The papers are of the years {what}.",
    "undated": " {n} {papers} of the collection {name} no year.",
    "no author": "No paper of the collection is by {what}.",
    "close": " Authors with a similar name: {what}.",
    "which": "Do you mean {what}?",
    "more": "{n} more are not shown.",
}
_JA = {
    "count": "{what}論文は{n}本です。",
    "all": "このコレクションには{n}本の論文があります。",
    "authors": "{label}の著者：{what}。",
    "no authors": "{label}には著者名がありません。",
    "counted": "{label}の著者は{n}人です：{what}。",
    "title": "題名は{label}です。",
    "nearest": "「{what}」にはっきりと当てはまる論文はありません。近い論文：",
    "makers": "これについての論文、{label}の著者：{what}。",
    "year": "{label}は{what}年のものです。",
    "no year": "{label}には年の記載がありません。",
    "venue": "{label}の掲載：{what}。",
    "no venue": "{label}には掲載先の記載がありません。",
    "doi": "{label}のDOIは{what}です。",
    "no doi": "{label}のDOIはコレクションにありません。",
    "citing": "{label}を引用している論文は{n}本です。",
    "cited": "{label}はコレクションの論文を{n}本引用しています（参考文献は{what}件）。",
    "newest": "最も新しい論文は{what}年のものです。",
    "oldest": "最も古い論文は{what}年のものです。",
    "prolific": "最も多く論文を書いた著者は{what}（{n}本）です。",
    "not prolific": "2本以上の論文を書いた著者はいません。",
    "most_cited": "最も引用されているのは{label}（{n}本から）です。",
    "none cited": "互いに引用し合う論文はありません。",
    "venues": "掲載先は{n}種類です。",
    "years": "論文の年は{what}です。",
    "undated": "年の記載がない論文は{n}本です。",
    "no author": "{what}による論文はこのコレクションにありません。",
    "close": "似た名前の著者：{what}。",
    "which": "{what}のどちらですか？",
    "more": "ほかに{n}件あります。",
}


def told(name: str, language: str, *, label: str = "", what: str = "", n: int = 0) -> str:
    """One sentence; the verbs agree with the number."""
    one = n == 1
    return (_JA if language == "ja" else _EN)[name].format(
        label=label, what=what, n=n, papers="paper" if one else "papers", are="is" if one else "are",
        cite="cites" if one else "cite",
        name="names" if one else "name",
    )  # fmt: skip


def described(author: str, year_from: int | None, year_to: int | None, language_name: str, language: str) -> str:
    """What papers were selected by: "by Barba, of 2020 to 2022"."""
    if language == "ja":
        parts = [f"{author}が書いた"] if author else []
        if year_from is not None or year_to is not None:
            span = f"{year_from}年から{year_to}年まで"
            if year_from == year_to:
                span = f"{year_from}年"
            elif year_to is None:
                span = f"{year_from}年以降"
            elif year_from is None:
                span = f"{year_to}年以前"
            parts.append(f"{span}の")
        if language_name:
            parts.append(f"{_NAMES_JA.get(language_name, language_name)}の")
        return "".join(parts)
    parts = [f"by {author}"] if author else []
    if year_from is not None and year_from == year_to:
        parts.append(f"of {year_from}")
    elif year_from is not None and year_to is not None:
        parts.append(f"of {year_from} to {year_to}")
    elif year_from is not None:
        parts.append(f"of {year_from} or later")
    elif year_to is not None:
        parts.append(f"of {year_to} or earlier")
    if language_name:
        parts.append(f"in {_NAMES_EN.get(language_name, language_name)}")
    return ", ".join(parts)


_NAMES_EN = {"en": "English", "ja": "Japanese", "de": "German", "fr": "French", "zh": "Chinese", "es": "Spanish"}
_NAMES_JA = {"en": "英語", "ja": "日本語", "de": "ドイツ語", "fr": "フランス語", "zh": "中国語", "es": "スペイン語"}


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


# The papers that the last answer of a conversation named, and follow-ups that are about them.


_OF_THEM = re.compile(
    r"\b(which|what|how many|any|some|all|none|most|each|one|both)(?: (?:ones?|papers))?"
    r" (?:of|among|from) (?:them|these|those)\b(?: (?:papers|articles|studies))?"
    r"|^(?:of|among) (?:them|these|those)(?: (?:papers|articles|studies))?,? (which|what|how many)\b"
    r"(?: (?:ones?|papers))?"
    r"|(?:その|この|これらの|それらの)(?:うち|中)(?:で|に|の)?(?:は)?、?",
    re.IGNORECASE,
)
_THEY = re.compile(r"\b(?:they|these(?: papers)?|those(?: papers)?)\b(?! (?:who|that|which|of)\b)", re.IGNORECASE)
_PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1, "former": 0}
_ONE_OF = re.compile(rf"\bthe ({'|'.join(_PLACES)})(?: (?:one|paper|of (?:them|these|those)))?\b", re.IGNORECASE)
_LISTS = ("papers", "listed", "counted", "citing", "cited", "newest", "oldest", "often")
_ASKED_BACK = re.compile(r"^Do you mean |のどちらですか？")
_FEWEST_WORDS, _PREFERRED = 3, 3
"""Words of a title that names its paper, and papers of an answer that a follow-up is put to first."""


def papers_told(index: OpenIndex, text: str) -> list[PaperName]:
    """The papers whose label or title stands in an answer, in the order of the answer."""
    found: dict[int, PaperName] = {}
    language = message_language(text)
    for paper in known_papers(index):
        label = paper_label(paper.authors, paper.year, paper.title, language).rstrip(")）")
        places = [text.find(label) if paper.authors or paper.title else -1]
        places.append(text.find(paper.title) if len(paper.title.split()) >= _FEWEST_WORDS else -1)
        if max(places) >= 0:
            found.setdefault(min(place for place in places if place >= 0), paper)
    return [found[place] for place in sorted(found)]


def about_papers_told(index: OpenIndex, request: SearchRequest) -> tuple[SearchRequest, list[str]]:
    """A follow-up on the papers of the answer before, with these as filter where it asks of them all ("Which of them
    …"), with a title where it means one; and the papers that any other follow-up is put to first."""
    before, answer = _last(request.history)
    if not answer or request.filters.paper_ids:
        return request, []
    told = papers_told(index, answer)
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
    """The paper whose title and year have most words of a reply, more than those of any other."""
    asked = set(words(folded(query)))
    shared = sorted(
        ((len(asked & {*words(folded(one.title)), str(one.year)}), one.paper_id) for one in told), reverse=True
    )
    if not shared or not shared[0][0] or (len(shared) > 1 and shared[1][0] == shared[0][0]):
        return None
    return next(one for one in told if one.paper_id == shared[0][1])


def _instead(found: re.Match[str], query: str) -> str:
    asks = next((group for group in found.groups() if group), "") if found.re is _OF_THEM else ""
    if message_language(query) == "ja":
        return ""
    return f"{asks} papers" if asks else "these papers"

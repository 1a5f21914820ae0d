"""The layout of an answer's quotes: paper by paper or as tables, numbered in reading order."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from monjyu_core.language.packs import Texts
from monjyu_core.text.inline_marks import without_citation_marks
from monjyu_query.answers.citing import Window, without_opening
from monjyu_query.answers.segments import AnswerForm, laid_out
from monjyu_query.asking.request import ResponseType
from monjyu_query.asking.result import AnswerTable, Cell, Citation, Segment

_READ_DOWN: frozenset[AnswerForm] = frozenset({"reasons", "steps", "comparison", "survey", "exploration"})
"""Forms in which near sentences of a paper are in the paper's order; otherwise the best is first."""
_NEAR = 3
"""The largest distance, in sentences of the paper, of two sentences that are near each other."""
_BEFORE = re.compile(
    r"^(?:\s*\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\])+[\s.,]*(?=[A-Z])"
    r"|^(?:abstract|summary|text|(?:background|introduction|objectives?|aims?|purpose|methods?|results?|findings"
    r"|discussion|conclusions?|interpretation|significance)(?: (?:and|&) \w+)?)\s?[:：]\s+(?=\S)",
    re.IGNORECASE,
)
_WORDS = Texts("layout")

Told = list[tuple[str, Sequence[int], str]]
Cited = Sequence[tuple[Window, Citation]]


def arranged(
    form: AnswerForm,
    language: str,
    response_type: ResponseType | None,
    cited: Cited,
    windows: Sequence[Window],
    sides: Mapping[str, Sequence[Window]],
    labels: Mapping[str, str],
) -> tuple[Told, list[AnswerTable]]:
    """Texts with their citations and labels in reading order, and tables; each quote is in one of them. `windows` were
    chosen for the whole question, `sides` for the sides of a comparison."""
    if response_type == "table" or (form == "papers" and response_type is None):
        return _table_of_papers(cited, labels, language)
    chosen = {window.key.sentence_id for window in windows}
    of_sides = Counter(window.key.sentence_id for side in sides.values() for window in side)
    keys = [window.key.sentence_id for window, _ in cited]
    across = {key for key in keys if of_sides[key] == 1}
    down = chosen - across or set(keys[:1])
    rows = {name: [w for w in side if w.key.sentence_id in across - down] for name, side in sides.items()}
    tabled = bool(rows) and all(rows.values())
    told = [(w, c) for w, c in cited if w.key.sentence_id in (down if tabled else down | across)]
    tables = [_table_of_sides(cited, rows, labels, language)] if tabled else []
    return _by_paper(form, told, labels), tables


def quoted(cited: Cited) -> dict[str, list[tuple[str, str]]]:
    """The (chunk id, text) pairs of the quotes, by paper id."""
    found: dict[str, list[tuple[str, str]]] = {}
    for window, citation in cited:
        found.setdefault(citation.paper_id, []).append((window.key.passage.chunk_id, window.text))
    return found


def in_sections(
    form: AnswerForm, language: str, cited: Cited, labels: Mapping[str, str], themes: Mapping[str, Sequence[str]]
) -> list[Segment]:
    """A report: the papers under the headings of their themes, beginning with the theme of the best quote. Papers
    without a shared theme come last, or first without a heading if they have the best quote. If there are fewer than
    two themes, each paper is under its title."""
    titles = {citation.paper_id: citation.paper_title for _, citation in cited}
    if len(themes) < 2:
        themes = {titles[paper]: [paper] for paper in titles}
    places = {paper: place for place, paper in enumerate(titles)}
    order = sorted(themes, key=lambda one: min((places[paper] for paper in themes[one] if paper in places), default=0))
    if order[0]:
        order.sort(key=lambda one: not one)
    found: list[Segment] = []
    for heading in order:
        own = [(window, citation) for window, citation in cited if citation.paper_id in themes[heading]]
        body = laid_out(_by_paper(form, own, labels), None)
        if len(themes) > 1 and (heading or found):
            lead = "\n\n" if found else ""
            found.append(Segment(text=lead + (heading or _WORDS[language]["further"]), heading=True))
            body[0].text = f"\n\n{body[0].text}"
        found += body
    return found


def _by_paper(form: AnswerForm, cited: Cited, labels: Mapping[str, str]) -> Told:
    """The quotes paper by paper, beginning with the paper of the best quote."""
    papers = list(dict.fromkeys(citation.paper_id for _, citation in cited))
    runs: list[list[tuple[Window, Citation]]] = []
    for one in sorted(cited, key=lambda one: papers.index(one[1].paper_id)):
        near = next((run for run in runs if form in _READ_DOWN and any(_near(one[0], w) for w, _ in run)), None)
        runs.append([one]) if near is None else near.append(one)
    ordered = [one for run in runs for one in sorted(run, key=lambda one: one[0].sentences[0].place)]
    return [(said(window), [citation.n], labels[citation.paper_id]) for window, citation in ordered]


def _near(one: Window, other: Window) -> bool:
    first, second = one.sentences[0], other.sentences[0]
    return first.passage.paper_id == second.passage.paper_id and abs(first.place - second.place) <= _NEAR


def said(window: Window) -> str:
    """The window's quote as an answer shows it."""
    return displayed_text(window.text)


def displayed_text(text: str) -> str:
    """A quote on one line, without the paper's citation marks, the name of an abstract's part, an item's bullet, or a
    word that only joins it to an unquoted sentence."""
    return without_opening(without_citation_marks(_BEFORE.sub("", " ".join(text.split()))))


def _table_of_sides(
    cited: Cited, sides: Mapping[str, Sequence[Window]], labels: Mapping[str, str], language: str
) -> AnswerTable:
    """The table with columns side, paper, quote."""
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
    ends = [*[words["comma"]] * (len(cited) - 1), words["end"]]
    told: Told = [(f"{labels[c.paper_id]}{mark}", [c.n], "") for (_, c), mark in zip(cited, ends, strict=True)]
    return told, [AnswerTable(columns=[words["paper"], words["quote"], words["page"]], rows=rows)]


def numbered(
    segments: list[Segment], tables: list[AnswerTable], cited: Cited
) -> tuple[list[Segment], list[AnswerTable], list[Citation]]:
    """Number the citations in reading order."""
    places: list[Segment | Cell] = [*segments, *(cell for table in tables for row in table.rows for cell in row)]
    read = [number for one in places for number in one.citations]
    order = {old: new for new, old in enumerate(dict.fromkeys(read), start=1)}
    for one in places:
        one.citations = [order[number] for number in one.citations]
    used = [citation.model_copy(update={"n": order[citation.n]}) for _, citation in cited if citation.n in order]
    return segments, tables, sorted(used, key=lambda citation: citation.n)

"""Answers questions about the collection with a sentence and the supporting rows of its tables.

Rows are the index's own records, not quotes, so the answer is never `verified`.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from monjyu_core.language.packs import also, listed, quoted
from monjyu_core.text.language import message_language
from monjyu_core.text.unicode_words import folded
from monjyu_query.answers.answer import Answer, result_of
from monjyu_query.asking.request import Filters
from monjyu_query.asking.result import AnswerTable, Cell, Routing, SearchResult, Segment
from monjyu_query.papers.labels import paper_labels
from monjyu_query.papers.names import PaperName, find_papers, paper_named, says_paper
from monjyu_query.questions.described_papers import COLUMNS, described, told
from monjyu_query.questions.intents import Intent
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.ranking.ranker import best_rows, rank
from monjyu_query.ranking.tools import Ask, Tools

MOST_ROWS, MOST_NEAR = 50, 3
_SAYS_PAPER = re.compile(
    r"\bthe (?:paper|article|publication|study)\b" + also("catalogue_answer.says_paper"), re.IGNORECASE
)
_ABOUT = re.compile(r"^(?:about|on|of|by|with) ", re.IGNORECASE)
_OF_PAPERS = ("citing", "cited", "doi")
"""Intents that are about papers only; others may be about a paper's subject ("When was Python released?")."""

_PAPERS = """SELECT p.paper_id, coalesce(p.title, ''), p.year, coalesce(p.venue, ''), coalesce(p.doi, ''),
  coalesce((SELECT list(a.name ORDER BY a.ord) FROM authors a WHERE a.paper_id = p.paper_id), [])
FROM papers p WHERE list_contains($papers, p.paper_id) ORDER BY p.year DESC NULLS LAST, lower(p.title), p.paper_id"""
_CITING = """SELECT DISTINCT e.paper_id, coalesce(e.contexts[1].context, '')
FROM citation_edges e JOIN paper_identity i ON i.canonical_id = e.cited_id WHERE i.paper_id = $paper ORDER BY ALL"""
_CITED = """SELECT DISTINCT min(b.paper_id), ''
FROM citation_edges e JOIN paper_identity a ON a.canonical_id = e.citing_id
JOIN paper_identity b ON b.canonical_id = e.cited_id WHERE a.paper_id = $paper GROUP BY e.cited_id ORDER BY ALL"""
_REFERENCES = 'SELECT count(*) FROM "references" WHERE paper_id = $paper'
_PROLIFIC = """SELECT any_value(name), count(DISTINCT paper_id) AS n FROM authors WHERE list_contains($papers, paper_id)
GROUP BY lower(name) HAVING n > 1 ORDER BY n DESC, any_value(name) LIMIT $most"""
_MOST_CITED = """SELECT min(b.paper_id), count(DISTINCT e.citing_id) AS n FROM citation_edges e
JOIN paper_identity b ON b.canonical_id = e.cited_id WHERE list_contains($papers, b.paper_id)
GROUP BY e.cited_id ORDER BY n DESC, min(b.paper_id) LIMIT $most"""
_VENUES = """SELECT venue, count(*) AS n FROM papers WHERE list_contains($papers, paper_id) AND venue IS NOT NULL
AND venue <> '' GROUP BY venue ORDER BY n DESC, venue LIMIT $most"""
_YEARS = """SELECT year, count(*) FROM papers WHERE list_contains($papers, paper_id) AND year IS NOT NULL
GROUP BY year ORDER BY year DESC LIMIT $most"""
_UNDATED = "SELECT count(*) FROM papers WHERE list_contains($papers, paper_id) AND year IS NULL"
_AUTHORS = "SELECT DISTINCT name FROM authors ORDER BY name"


@dataclass(frozen=True)
class _Paper:
    paper_id: str
    title: str
    year: int | None
    venue: str
    doi: str
    authors: list[str]


def catalogue_answer(ask: Ask, tools: Tools, intent: Intent) -> SearchResult | None:
    """The result if the question is about the collection itself, in any mode; None if it names an unknown paper, or if
    no answer is requested."""
    answer = _Catalogue(ask, tools, intent).answer() if ask.request.answer else None
    if answer is None:
        return None
    routing = Routing(
        query_type="collection", reason="a question about the collection itself, answered from its tables"
    )
    return result_of(replace(ask, mode="catalogue", routing=routing), answer, "tables", [])


class _Catalogue:
    """One question and the papers that pass the request's filters."""

    def __init__(self, ask: Ask, tools: Tools, question: Intent) -> None:
        self._ask, self._tools = ask, tools
        self._index, self._question, self._query = ask.index, question, ask.request.query
        self._cursor = ask.index.snapshot.cursor()
        self._filters = ask.request.filters
        self._language = message_language(ask.request.query)
        self._columns = COLUMNS[self._language]
        self._papers = passing_papers(self._cursor, self._filters)

    def answer(self) -> Answer | None:
        match self._question.name:
            case "listed" | "counted":
                return self._selected()
            case "authors" | "year" | "venue" | "doi" | "title" | "citing" | "cited":
                return self._of_a_paper()
            case "makers":
                return self._makers()
            case "newest" | "oldest":
                return self._dated()
            case "most_cited":
                return self._most_cited()
            case _:
                return self._grouped()

    def _selected(self) -> Answer:
        asked = self._question
        wanted = Filters(
            year_from=asked.year_from,
            year_to=asked.year_to,
            authors=[asked.author] if asked.author else [],
            languages=[asked.language] if asked.language else [],
        )
        chosen = set(passing_papers(self._cursor, wanted)) & set(self._papers)
        if asked.author and not chosen and not passing_papers(self._cursor, Filters(authors=[asked.author])):
            return self._no_author(asked.author)
        what = described(asked.author, asked.year_from, asked.year_to, asked.language, self._language)
        n = len(chosen)
        sentence = self._sentence("count", what=what, n=n) if what else self._sentence("all", n=n)
        if asked.year_from is not None or asked.year_to is not None:
            sentence += self._undated()
        return self._answered(sentence, [self._table_of_papers(sorted(chosen))] if chosen else [])

    def _undated(self) -> str:
        """A sentence on the number of papers without a year, which no count by year includes; empty if all have one."""
        [(n,)] = self._rows(_UNDATED, papers=self._papers)
        return self._sentence("undated", n=n) if n else ""

    def _no_author(self, name: str) -> Answer:
        """An abstention that names up to three authors with a similar spelling."""
        parts: dict[str, str] = {}
        for (one,) in self._rows(_AUTHORS):
            parts.setdefault(folded(one), one)
            parts.setdefault(folded(one.split()[-1]), one)
        near = difflib.get_close_matches(folded(name.split()[-1]), list(parts), 3, 0.75)
        sentence = self._sentence("no author", what=name)
        if close := list(dict.fromkeys(parts[part] for part in near)):
            sentence += self._sentence("close", what=self._listed(close))
        return Answer([Segment(text=sentence)], "abstained")

    def _of_a_paper(self) -> Answer | None:
        found = find_papers(self._index, self._question.text)
        if not found:
            return self._nearest() if _SAYS_PAPER.search(self._query) else None
        if not (found[0].named or self._question.name in _OF_PAPERS or says_paper(self._query)):
            return None
        if not found[0].sure:
            labels = self._labels([one.paper_id for one in found])
            titles = [f"{labels[one.paper_id]}, {self._titled(one.title)}" for one in found]
            what = listed(titles, self._language, "or")
            return self._answered(self._sentence("which", what=what), [self._table_of_papers(list(labels))])
        best = found[0]
        match self._question.name:
            case "citing":
                return self._links(best, self._rows(_CITING, paper=best.paper_id), "citing")
            case "cited":
                [(works,)] = self._rows(_REFERENCES, paper=best.paper_id)
                return self._links(best, self._rows(_CITED, paper=best.paper_id), "cited", str(works))
            case _:
                return self._field(best)

    def _nearest(self) -> Answer | None:
        """An abstention with the papers that a search finds for a description that matches no paper."""
        text, index = self._question.text, self._index
        scores = rank(index, self._tools.embedder, text, "hybrid", self._filters, self._ask.settings).scores
        rows = best_rows(scores, index.corpus.paper, MOST_NEAR, per_paper=1)
        papers = [index.corpus.paper_ids[index.corpus.paper[row]] for row in rows]
        if not papers:
            return None
        answer = self._answered(
            self._sentence("nearest", what=_ABOUT.sub("", text)), [self._table_of_papers(papers, keep_order=True)]
        )
        return replace(answer, status="abstained")

    def _makers(self) -> Answer | None:
        """An answer with the authors of the paper about a named thing; None if no paper or no author is found."""
        paper = paper_named(self._index, self._question.text)
        if paper is None or not paper.authors:
            return None
        sentence = self._sentence("makers", label=self._titled(paper.title), what=self._listed(paper.authors))
        return self._answered(sentence, [self._table_of_papers([paper.paper_id], told="authors")])

    def _field(self, paper: PaperName) -> Answer:
        """The recorded value of a field of one paper."""
        [record] = self._records([paper.paper_id])
        kind = self._question.name
        values = {
            "authors": self._listed(record.authors),
            "year": str(record.year or ""),
            "venue": record.venue,
            "doi": record.doi,
            "title": record.title,
        }
        if self._question.counts and record.authors:
            kind, values["counted"] = "counted", values["authors"]
        name, n = (kind if values[kind] else f"no {kind}"), len(record.authors)
        sentence = self._sentence(name, label=self._titled(record.title), what=values[kind], n=n)
        return self._answered(sentence, [self._table_of_papers([paper.paper_id], told=kind)])

    def _links(self, paper: PaperName, rows: Sequence[tuple[str, str]], name: str, what: str = "") -> Answer:
        """An answer with the papers at the other end of citations, and the citing sentences."""
        passing = set(self._papers)
        rows = [row for row in rows if row[0] in passing]
        label = self._labels([paper.paper_id])[paper.paper_id]
        sentence = self._sentence(name, label=label, what=what, n=len(rows))
        if not rows:
            return self._answered(sentence, [])
        contexts = dict(rows)
        extra = {"quote": contexts} if any(contexts.values()) else {}
        return self._answered(sentence, [self._table_of_papers(list(contexts), extra)])

    def _dated(self) -> Answer | None:
        """The papers of the last year, or of the first."""
        found = [paper for paper in self._records(self._papers) if paper.year is not None]
        if not found:
            return None
        years = [paper.year for paper in found if paper.year is not None]
        year = max(years) if self._question.name == "newest" else min(years)
        chosen = [paper.paper_id for paper in found if paper.year == year]
        sentence = self._sentence(self._question.name, what=str(year)) + self._undated()
        return self._answered(sentence, [self._table_of_papers(chosen)])

    def _most_cited(self) -> Answer:
        rows = self._counted(_MOST_CITED)
        if not rows:
            return self._answered(self._sentence("none cited"), [])
        paper, n = rows[0]
        label = self._labels([paper])[paper]
        counts = {one: str(number) for one, number in rows}
        table = self._table_of_papers(list(counts), {"cited": counts}, keep_order=True)
        return self._answered(self._sentence("most_cited", label=label, n=n), [table])

    def _grouped(self) -> Answer | None:
        """Authors, venues or years with their number of papers."""
        kind = self._question.name
        if kind == "prolific":
            rows = self._counted(_PROLIFIC)
            if not rows:
                return self._answered(self._sentence("not prolific"), [])
            most = rows[0][1]
            who = self._listed([str(name) for name, n in rows if n == most])
            sentence, first = self._sentence("prolific", what=who, n=most), "author"
        elif kind == "venues":
            rows = self._counted(_VENUES)
            sentence, first = self._sentence("venues", n=len(rows)), "venue"
        else:
            rows = self._counted(_YEARS)
            span = f"{rows[-1][0]}–{rows[0][0]}" if rows else ""
            sentence, first = self._sentence("years", what=span) + self._undated(), "year"
        if not rows:
            return None
        cells = [[Cell(text=str(name)), Cell(text=str(n))] for name, n in rows]
        table = AnswerTable(columns=[self._columns[first], self._columns["papers"]], rows=cells)
        return self._answered(sentence, [table])

    def _rows(self, query: str, **values: Any) -> list[Any]:
        return self._cursor.execute(query, values).fetchall()

    def _counted(self, query: str) -> list[tuple[Any, int]]:
        """The first rows of `_PROLIFIC`, `_VENUES` or `_YEARS` (a value and its number of papers), or of `_MOST_CITED`
        (a paper and its number of citing papers in the collection)."""
        return self._rows(query, papers=self._papers, most=MOST_ROWS)

    def _records(self, paper_ids: Sequence[str]) -> list[_Paper]:
        """The papers, the newest first."""
        return [_Paper(*row) for row in self._rows(_PAPERS, papers=list(paper_ids))]

    def _table_of_papers(
        self,
        paper_ids: Sequence[str],
        extra: dict[str, dict[str, str]] | None = None,
        *,
        keep_order: bool = False,
        told: str = "",
    ) -> AnswerTable:
        """One row per paper, the newest first; `extra` are further columns by paper, `told` the column that the
        answer's sentence states."""
        records = {paper.paper_id: paper for paper in self._records(paper_ids)}
        order = [name for name in paper_ids if name in records] if keep_order else list(records)
        shown = order[:MOST_ROWS]
        labels, extra = self._labels(shown), extra or {}
        rows = []
        for name in shown:
            paper = records[name]
            cells = {
                "paper": Cell(text=labels[name], paper_id=name),
                "title": Cell(text=paper.title),
                "authors": Cell(text=", ".join(paper.authors)),
                "year": Cell(text="" if paper.year is None else str(paper.year)),
                **{column: Cell(text=" ".join(values[name].split())) for column, values in extra.items()},
            }
            rows.append([cell for column, cell in cells.items() if column != told])
        columns = [self._columns[name] for name in ("paper", "title", "authors", "year", *extra) if name != told]
        title = self._sentence("more", n=len(order) - len(shown)) if len(order) > len(shown) else ""
        return AnswerTable(title=title, columns=columns, rows=rows)

    def _answered(self, sentence: str, found: list[AnswerTable]) -> Answer:
        return Answer([Segment(text=sentence)], "complete", tables=found)

    def _titled(self, title: str) -> str:
        return quoted(title, self._language)

    def _labels(self, paper_ids: Sequence[str]) -> dict[str, str]:
        return paper_labels(self._index, paper_ids, self._language)

    def _listed(self, names: Sequence[str]) -> str:
        return listed(names, self._language)

    def _sentence(self, name: str, *, label: str = "", what: str = "", n: int = 0) -> str:
        return told(name, self._language, label=label, what=what, n=n)

"""Fills the cells of one paper from its own sentences: with the value that a column asks for and its sentence, or with
a sentence about the column."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from monjyu_core.language.packs import Texts
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.prompts import Prompt, fence
from monjyu_core.models.types import Message
from monjyu_core.text.language import function_words
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.citing import Window, lone
from monjyu_query.answers.selection import is_prose
from monjyu_query.answers.sentence_ranking import log_odds
from monjyu_query.answers.verification.local_check import Source, local_check
from monjyu_query.answers.verification.numbers import figures
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.request import Filters
from monjyu_query.digests.draft import Asker, Draft, Said
from monjyu_query.digests.paper_text import Choice, PaperText, question_of
from monjyu_query.digests.table_columns import LIKE, NAMES, Column, ValueKind, kind_of, values_in
from monjyu_query.knowledge.aspects import COUNTED, aspect, aspect_named
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.query_embedding import nearness
from monjyu_query.ranking.ranker import rank

READ = 10
"""The maximum number of sentences of a paper that the reader reads for one column."""
LOOKED_AT = 120
"""The maximum number of sentences of a paper in which names are searched."""
_EMBEDDED = 24
"""The maximum number of candidate values of a cell whose vectors are compared with the column."""
_AROUND, _BESIDE = 50, 24
"""Characters on each side of a value in which words of its column mention it, or name it directly."""
_SHORTEST, _LONGEST = 12, 600
_LETTERS = 5
"""The number of initial letters by which words match: "licensed" matches licence, "programming" matches programs."""
_SMALL = 10
_SAYS = 0.5
"""The share of a column's words that a sentence must have if the column asks for no value."""
_WORDS = re.compile(r"\w+")


def _stems(text: str) -> frozenset[str]:
    words = (word for word in _WORDS.findall(text.casefold()) if word not in function_words("en"))
    return frozenset(word[:_LETTERS] for word in words)


def _share(asked: frozenset[str], text: str) -> float:
    return len(asked & _stems(text)) / len(asked) if asked else 0.0


@dataclass(frozen=True)
class _Value:
    """A value in a sentence (its position in the paper). `cheap` is the sum of its `signals` without models."""

    place: int
    text: str
    signals: Mapping[str, float]
    cheap: float


_WEIGHTS: dict[str, float] = {
    "reader": 0.12, "share": 0.5, "close": 0.6, "beside": 0.6, "inside": -0.3, "often": 0.1, "abstract": 0.2,
    "ranked": 0.2, "facet": 0.12, "title": -0.3, "near": 0.8,
}  # fmt: skip
"""Weights of the reader's log odds, of the share of the column's words in the sentence, around, right next to and
inside the value, of its frequency in the paper, of its presence in abstract or title, of its passage's rank in the
index, of the sentence's weight for a known facet, and of the value's nearness to the column's name. Set by hand, on 100
cells of 20 papers."""
_OF_KIND: dict[ValueKind, dict[str, float]] = {
    "count": {"reader": 0.4, "inside": 1.0, "size": 0.7, "often": 0.0, "title": 0.0},
    "duration": {"often": 0.0},
    "organisation": {"near": 1.0},
    "name": {"near": 1.2, "often": 0.05, "title": 0.0},
}
_OF_PLACES = {"reader": 0.4, "title": 1.0, "often": 0.4, "aside": -0.5}
"""Weights of a place that stand alone: papers name places of suppliers, of others' studies and of outbreaks next to the
words of the column. The reader is asked where the study was made; `aside` is 1 inside parentheses. Set by hand, on 49
papers of covidqa_dev: 19 of 25 places are right, 16 of 42 before."""
_STUDIED = Texts("table_cells")
_LEAST: dict[ValueKind, float] = {"count": -0.8, "duration": -0.3, "place": -1.1, "organisation": 0.3, "name": 0.85}
_USUAL_LEAST = 0.5
"""The minimum weight of a value, chosen so that most values are right."""
_IN_ALL = re.compile(r"[nN]\s?=")
"""A count of the whole sample: n = 53."""
_LEAST_NEAR = 0.15
"""The minimum similarity of a place to the examples of places."""


class CellReader:
    """Fills cells for the columns of one table, paper by paper."""

    def __init__(self, searcher: Asker, index: OpenIndex, draft: Draft, columns: Sequence[Column]) -> None:
        self._searcher, self._index, self._draft = searcher, index, draft
        with charged_to(searcher.account(index)):
            self._columns = [self._with_kind(column) for column in columns]
            self._ranked = {column.name: self._ranking(column) for column in columns}

    def cells(self, paper: PaperText) -> list[list[Said]]:
        """A quote for each column, none if the paper says nothing about it; no quote of a known facet is used twice."""
        choice = Choice(paper)
        return [self._cell(paper, choice, column) for column in self._columns]

    def _with_kind(self, column: Column) -> Column:
        """The column with its kind. Known facets are shown as sentences, except their counts and licences."""
        if column.aspect and not column.counts and column.aspect.name != "licence":
            return column
        similar = self._searcher.tools.embedder.similarities_to(column.name, self._index.snapshot.manifest)
        kind = kind_of(column.name, similar)
        return replace(column, kind="count" if column.counts and kind in ("text", "name", "place") else kind)

    def _ranking(self, column: Column) -> dict[str, float]:
        """The index's score of each chunk for the column."""
        tools, index = self._searcher.tools, self._index
        settings = self._searcher.settings.search
        ranking = rank(index, tools.embedder, column.name, settings.mode, Filters(), settings)
        return dict(zip(index.corpus.chunk_ids, ranking.scores.tolist(), strict=True))

    def _cell(self, paper: PaperText, choice: Choice, column: Column) -> list[Said]:
        values = [] if column.kind == "text" else self._weighed(paper, column)
        best = max(values, key=lambda one: one[0], default=None)
        if best is not None and best[0] >= _LEAST.get(column.kind, _USUAL_LEAST):
            quotes = self._draft.quoted([lone(paper.sentences[best[1].place])])
            return [quote._replace(value=best[1].text) for quote in quotes]
        if column.aspect:
            told = choice.tell(column.aspect, 1, counts=column.counts)
            return self._draft.quoted(told) if column.kind != "count" else self._counted(told, column)
        return self._draft.quoted(self._told(paper, column)) if column.kind == "text" else []

    def _counts(self, column: Column, value: str) -> bool:
        """Whether a count is of what the column counts: 40 learners may be its students, 11 lessons are not."""
        counted, asked = self._index.keywords.terms([value, column.words])
        if counted[-1] in asked or count_wide(value):
            return True
        of_sample = bool(_IN_ALL.match(value) or (column.usual and COUNTED.search(value)))
        meant = aspect("sample") if of_sample else aspect_named(value.split()[-1])
        return meant is not None and meant is column.aspect

    def _counted(self, told: Sequence[Window], column: Column) -> list[Said]:
        """The sentence with its largest count for the column, if that is more than a few."""
        found: list[Said] = []
        for window in told:
            spans = values_in([window.text], "count")[0]
            counts = [text for a, b in spans if self._counts(column, text := window.text[a:b])]
            most = max(counts, key=_size, default="")
            if most and _size(most) >= _size(str(_SMALL)):
                found += [quote._replace(value=most) for quote in self._draft.quoted([window])]
        return found

    def _told(self, paper: PaperText, column: Column) -> list[Window]:
        """The sentence with enough of the column's words that the reader prefers."""
        asked = _stems(column.words)
        places = [
            p for p, worth in self._worth(paper, column).items() if _share(asked, paper.sentences[p].text) >= _SAYS
        ]
        odds = self._odds(paper, column, places[:READ])
        best = max(odds, key=lambda place: odds[place], default=None)
        return [] if best is None else [lone(paper.sentences[best])]

    def _odds(self, paper: PaperText, column: Column, places: Iterable[int]) -> dict[int, float]:
        """The reader's log odds for sentences, read together in the paper's order."""
        best = sorted(places)
        texts = [paper.sentences[place].text for place in best]
        studied = _STUDIED[self._draft.language]["place"].format(column.name)
        question = studied if column.kind == "place" else column.name
        read = self._searcher.tools.readings.of(question, [(paper.title, texts)]) if best else None
        return (
            dict(zip(best, log_odds(read[0].sentence_scores).tolist(), strict=True))
            if read
            else dict.fromkeys(best, 0.0)
        )

    def _worth(self, paper: PaperText, column: Column) -> dict[int, float]:
        """The prose of a paper, ordered by relevance to the column: by its words, its passage, its section."""
        asked, ranked = _stems(column.words), self._ranked_in(paper, column)
        of_facet = paper.worth[column.aspect.name] if column.aspect else {}
        worth = {}
        for place, sentence in enumerate(paper.sentences):
            heading, kind = paper.sections[sentence.section_ord]
            if _SHORTEST <= len(sentence.text) <= _LONGEST and is_prose(sentence.text, 0.5):
                said = _share(asked, sentence.text) + 0.3 * _share(asked, heading)
                worth[place] = said + 0.3 * (kind == "abstract") + 0.4 * ranked[place] + 0.15 * of_facet.get(place, 0.0)
        return dict(sorted(worth.items(), key=lambda one: (-one[1], one[0])))

    def _ranked_in(self, paper: PaperText, column: Column) -> list[float]:
        """The rank of each sentence's passage among the passages of the paper, 0 to 1."""
        own = [self._ranked[column.name].get(one.passage.chunk_id, 0.0) for one in paper.sentences]
        low, high = min(own, default=0.0), max(own, default=0.0)
        return [(score - low) / (high - low) if high > low else 0.0 for score in own]

    def _weighed(self, paper: PaperText, column: Column) -> list[tuple[float, _Value]]:
        """The values in the most relevant sentences for the column, with their weights."""
        values = self._read(self._values(paper, column))
        weights = _weights(column)
        odds = self._odds(paper, column, {value.place for value in values})
        near = self._near(column, values)
        found = []
        for value in values:
            signals = {**value.signals, "reader": odds[value.place], "near": near[value.text]}
            if column.kind == "place" and near[value.text] < _LEAST_NEAR:
                continue
            found.append((sum(weights.get(name, 0.0) * worth for name, worth in signals.items()), value))
        return found

    @staticmethod
    def _read(values: Iterable[_Value]) -> list[_Value]:
        """The best values, up to `_EMBEDDED` different ones from up to `READ` sentences."""
        found: list[_Value] = []
        for value in sorted(values, key=lambda one: -one.cheap):
            places, texts = {one.place for one in found}, {one.text for one in found}
            if len(places | {value.place}) <= READ and len(texts | {value.text}) <= _EMBEDDED:
                found.append(value)
        return found

    def _near(self, column: Column, values: Sequence[_Value]) -> dict[str, float]:
        """The nearness of each value to the column's question, 0 to 1; .5 if vectors say nothing."""
        texts = list(dict.fromkeys(value.text for value in values))
        likes = ", ".join(LIKE.get(column.kind, ()))
        similar = self._searcher.tools.embedder.similarities_to(
            f"{column.name}: {likes}" if likes else column.name, self._index.snapshot.manifest
        )
        found = similar(texts) if texts else None
        if found is None:
            return dict.fromkeys(texts, 0.5)
        return {text: nearness(float(one), self._index.scale) for text, one in zip(texts, found, strict=True)}

    def _values(self, paper: PaperText, column: Column) -> Iterator[_Value]:
        worth = self._worth(paper, column)
        places = list(worth)[: LOOKED_AT if column.kind in NAMES else None]
        values = values_in([paper.sentences[place].text for place in places], column.kind)
        spans = [(place, span) for place, some in zip(places, values, strict=True) for span in some]
        often = Counter(paper.sentences[place].text[a:b].casefold() for place, (a, b) in spans)
        asked, ranked = _stems(column.words), self._ranked_in(paper, column)
        of_facet = paper.worth[column.aspect.name] if column.aspect else {}
        cheap = _weights(column)
        small = {word for one in paper.sentences for word in _WORDS.findall(one.text) if word.islower()}
        for place, (start, end) in spans:
            text = paper.sentences[place].text
            value = text[start:end]
            if column.kind == "count" and not self._counts(column, value):
                continue
            if len(value) > 1 and value.istitle() and value.casefold() in small:
                continue  # not a name, but a word at the beginning of a sentence or a line
            before, after = text[max(0, start - _BESIDE) : start], text[end : end + _BESIDE]
            signals = {
                "share": _share(asked, text),
                "close": _share(asked, text[max(0, start - _AROUND) : end + _AROUND]),
                "beside": _share(asked, f"{before.rpartition('(')[2]} {after}"),
                "inside": float(column.usual) or _share(asked, value),
                "often": math.log1p(often[value.casefold()]),
                "abstract": float(paper.sections[paper.sentences[place].section_ord][1] == "abstract"),
                "ranked": ranked[place],
                "facet": of_facet.get(place, 0.0),
                "title": float(value.casefold() in paper.title.casefold()),
                "size": _size(value) if column.kind == "count" else 0.0,
                "aside": float(text.rfind("(", 0, start) > text.rfind(")", 0, start)),
            }
            yield _Value(place, value, signals, sum(cheap.get(name, 0.0) * one for name, one in signals.items()))


def _weights(column: Column) -> dict[str, float]:
    return _OF_PLACES if column.kind == "place" else _WEIGHTS | _OF_KIND.get(column.kind, {})


def _size(value: str) -> float:
    """The score of a count by its size: most counts of a few things are incidental."""
    size = max((abs(one.value) for one in figures(value)), default=0.0)
    worth = -3.0 if size < _SMALL and not any(map(str.isdigit, value)) else min(1.0, math.log10(size + 1) / 3)
    return worth + 0.7 * bool(_IN_ALL.match(value))


# The cells of one paper as written by a model, each from named sentences against which it is checked.
OF_A_COLUMN = 8
"""The number of sentences shown to the model for each column."""
OF_THE_ABSTRACT = 12
MOST_QUOTES = 3
"""The maximum number of sentences in one cell."""
LONGEST_CELL = 400
"""The maximum number of characters that a model may write in a cell."""


class ModelCell(BaseModel):
    column: int = Field(ge=1)
    text: str = ""
    sentences: list[int] = []


class ModelRow(BaseModel):
    cells: list[ModelCell]


def sentences_shown(index: OpenIndex, paper: PaperText, columns: Sequence[Column]) -> list[PassageSentence]:
    """Sentences for the columns, in reading order: the abstract, and each column's best sentences."""
    places = [p for p, one in enumerate(paper.sentences) if paper.sections[one.section_ord][1] == "abstract"]
    wanted = set(places[:OF_THE_ABSTRACT])
    for column in columns:
        wanted.update(_best(index, paper, column))
    return [paper.sentences[place] for place in sorted(wanted)]


def _best(index: OpenIndex, paper: PaperText, column: Column) -> list[int]:
    if column.aspect:
        worth = paper.worth[column.aspect.name]
    else:
        asked = question_of(index, column.words)
        worth = {place: asked.share(terms) for place, terms in enumerate(paper.terms)}
    best = sorted((place for place in worth if worth[place] > 0), key=lambda place: (-worth[place], place))
    return best[:OF_A_COLUMN]


async def asked_row(
    session: Session, prompt: Prompt, paper: PaperText, columns: Sequence[Column], shown: Sequence[PassageSentence]
) -> ModelRow:
    """The row from one model call. Raises the errors of `monjyu_core.models.call_errors`."""
    lines = [f"{number}. {' '.join(one.text.split())}" for number, one in enumerate(shown, start=1)]
    text = prompt.render(
        source=fence(1, "\n".join([paper.title, *lines])),
        columns="\n".join(f"{number}. {column.name}" for number, column in enumerate(columns, start=1)),
    )
    return await session.structured("answer", [Message("user", text)], prompt.hash, ModelRow, [paper.paper_id])


def checked_cells(
    draft: Draft, paper: PaperText, columns: Sequence[Column], shown: Sequence[PassageSentence], row: ModelRow
) -> list[list[Said]]:
    """The cells with their supporting quotes. A model's text that its sentences do not support is replaced by them; a
    cell that names no sentence is empty."""
    cells: list[list[Said]] = [[] for _ in columns]
    for said in row.cells:
        numbers = [n for n in dict.fromkeys(said.sentences) if 1 <= n <= len(shown)][:MOST_QUOTES]
        if not 1 <= said.column <= len(columns) or not numbers or not said.text.strip():
            continue
        quotes = draft.quoted([lone(shown[number - 1]) for number in numbers])
        if quotes:
            cells[said.column - 1] = _supported(" ".join(said.text.split()), columns[said.column - 1], paper, quotes)
    return cells


def _supported(text: str, column: Column, paper: PaperText, quotes: list[Said]) -> list[Said]:
    """The model's words, if the quotes support them and they add to the column's name; otherwise the first quote."""
    citations = [citation for quote in quotes for citation in quote.citations]
    source = Source(" ".join(citation.quote for citation in citations), f"{paper.title} {paper.abstract}")
    says = set(_WORDS.findall(text.casefold())) - set(_WORDS.findall(column.name.casefold()))
    if says and len(text) <= LONGEST_CELL and local_check(text, [source]).verdict == "supported":
        return [Said(text, citations)]
    return quotes[:1]

"""The cells of one paper as a model words them, each from sentences that it names and that are held against it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from monjyu_core.models.calls.gateway import Session
from monjyu_core.models.prompts import Prompt, fence
from monjyu_core.models.types import Message
from monjyu_query.answers.quote_windows import lone
from monjyu_query.answers.verification.local_check import local_check
from monjyu_query.answers.verification.signs import Source
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.digests.draft import Draft, Said
from monjyu_query.digests.paper_text import PaperText, question_of
from monjyu_query.digests.study_table.table_columns import Column
from monjyu_query.ranking.open_index import OpenIndex

OF_A_COLUMN = 8
"""Sentences that are shown for each column."""
OF_THE_ABSTRACT = 12
MOST_QUOTES = 3
"""Sentences of one cell."""
LONGEST_CELL = 400
"""Characters."""
_WORD = re.compile(r"\w+")


class ModelCell(BaseModel):
    column: int = Field(ge=1)
    text: str = ""
    sentences: list[int] = []


class ModelRow(BaseModel):
    cells: list[ModelCell]


def sentences_shown(index: OpenIndex, paper: PaperText, columns: Sequence[Column]) -> list[PassageSentence]:
    """What may tell of the columns, in reading order: the abstract, and for each column its best sentences."""
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
    """One call. Raises the errors of `monjyu_core.models.call_errors`."""
    lines = [f"{number}. {' '.join(one.text.split())}" for number, one in enumerate(shown, start=1)]
    text = prompt.render(
        source=fence(1, "\n".join([paper.title, *lines])),
        columns="\n".join(f"{number}. {column.name}" for number, column in enumerate(columns, start=1)),
    )
    return await session.structured("answer", [Message("user", text)], prompt.hash, ModelRow, [paper.paper_id])


def checked_cells(
    draft: Draft, paper: PaperText, columns: Sequence[Column], shown: Sequence[PassageSentence], row: ModelRow
) -> list[list[Said]]:
    """The cells with the quotes that they rest on. What its sentences do not say gives way to them; a cell that names
    no sentence is empty."""
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
    """The model's words, where they say more than the column's name and the quotes hold them; else the first quote."""
    citations = [citation for quote in quotes for citation in quote.citations]
    source = Source(" ".join(citation.quote for citation in citations), f"{paper.title} {paper.abstract}")
    says = set(_WORD.findall(text.casefold())) - set(_WORD.findall(column.name.casefold()))
    if says and len(text) <= LONGEST_CELL and local_check(text, [source]).verdict == "supported":
        return [Said(text, citations)]
    return quotes[:1]

"""An answer in pieces, each with the numbers of its citations. Interfaces render these; no one reads marks out of text.

A segment's text begins with the white space (in a list also the dash) that parts it from the one before: the texts
one after another are the answer without its marks. A bracket in a text is the paper's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from monjyu_query.search.request import ResponseType
from monjyu_query.search.result import AnswerTable, Cell, Segment

_BRACKETS = re.compile(r"(\\*)([\[\]]|$)")


def escaped(text: str) -> str:
    """Markdown in which the text's own brackets are no marks: `[2]` becomes `\\[2\\]`, a backslash before it two, and
    one at the end, which the next text's bracket would follow, as well."""
    return _BRACKETS.sub(lambda found: found[1] * 2 + (f"\\{found[2]}" if found[2] else ""), text)


def pieces(segments: Iterable[Segment], shown: Callable[[str], str] = escaped) -> Iterator[tuple[str, str]]:
    """Each segment's text, line by line as `shown` gives it, and its marks: `[1][3]`, or nothing."""
    for segment in segments:
        body = segment.text.lstrip()
        lead = segment.text[: len(segment.text) - len(body)]
        marks = "".join(f"[{number}]" for number in segment.citations)
        yield lead + "\n".join(map(shown, body.split("\n"))), marks


def markdown(segments: Iterable[Segment], shown: Callable[[str], str] = escaped) -> str:
    """The answer as Markdown, in which `[n]` is the `n` of a citation and nothing else is."""
    return "".join(f"{text} {marks}" if marks else text for text, marks in pieces(segments, shown))


def answer_markdown(segments: Sequence[Segment], tables: Sequence[AnswerTable]) -> str:
    """The whole answer as Markdown: its segments, then its tables."""
    return "\n\n".join(filter(None, [markdown(segments), *map(table_markdown, tables)]))


def table_markdown(table: AnswerTable) -> str:
    """A table of GitHub's Markdown under its title; brackets and bars of the papers' own are escaped."""
    head = [_row(map(_in_cell, table.columns)), _row(["---"] * len(table.columns))]
    rows = [_row(map(_cell, cells)) for cells in table.rows]
    title = [f"**{escaped(' '.join(table.title.split()))}**", ""] if table.title else []
    return "\n".join([*title, *head, *rows])


def _cell(cell: Cell) -> str:
    return " ".join(filter(None, [_in_cell(cell.text), "".join(f"[{number}]" for number in cell.citations)]))


def _in_cell(text: str) -> str:
    return escaped(" ".join(text.split())).replace("|", "\\|")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(segments: Iterable[Segment]) -> str:
    """The answer without marks, brackets as papers have them."""
    return "".join(segment.text for segment in segments)


def laid_out(said: Sequence[tuple[str, Sequence[int], str]], response_type: ResponseType | None) -> list[Segment]:
    """Texts with their citations and their papers: on one line, a paragraph a paper, or an item each."""
    if response_type == "paragraphs":
        papers = list(dict.fromkeys(paper for _, _, paper in said))
        said = sorted(said, key=lambda one: papers.index(one[2]))
    found: list[Segment] = []
    before = ""
    for text, citations, paper in said:
        new = response_type == "paragraphs" and paper != before
        lead = separator(response_type, first=not found, new_paragraph=new)
        found.append(Segment(text=lead + text, citations=list(citations)))
        before = paper
    return found


def separator(response_type: ResponseType | None, *, first: bool, new_paragraph: bool = False) -> str:
    """What stands before a text of an answer."""
    if response_type == "list":
        return "- " if first else "\n- "
    if first:
        return ""
    return "\n\n" if new_paragraph else " "

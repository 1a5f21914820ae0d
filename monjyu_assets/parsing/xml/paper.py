"""What assembles JATS and TEI papers: tables, ranges of citations, and the last steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from monjyu_assets.parsing.bibliography.citations import link_citations
from monjyu_assets.parsing.bibliography.pandoc_citations import attach, take_places
from monjyu_assets.parsing.text.common import complete, judge
from monjyu_assets.parsing.text.text_marks import Places
from monjyu_assets.parsing.xml.tree import Element
from monjyu_core.paper import ParsedPaper, Reference, Table

_RANGE = re.compile(r"\s*[\[(]?(\d{1,4})[\])]?\s*[\u2010-\u2015\u2212-]\s*[\[(]?")
_MOST_BETWEEN = 60
_MOST_COLUMNS = 200


def finish(paper: ParsedPaper, references: Sequence[Reference], language: str | None) -> ParsedPaper:
    """Complete a paper whose text has the citations of these references marked."""
    places, _ = take_places(paper)
    order = {reference.ref_id: number for number, reference in enumerate(references)}
    paper.references = list(references)
    for section in paper.sections:
        lead = len(section.text) - len(section.text.lstrip())
        section.text = section.text.strip()
        known = [
            (min(max(position - lead, 0), len(section.text)), key)
            for position, key in places[id(section)]
            if key in order
        ]
        places[id(section)] = _with_ranges(known, section.text, order, references)
    complete(paper, [], language)
    attach(paper, references, places)
    if references and not paper.inline_citations:  # the source links none: what the text prints counts
        text = [section for section in paper.sections if section.section_type != "references"]
        paper.inline_citations = link_citations(text, references)
        judge(paper)
    return paper


def _with_ranges(
    places: Places, text: str, order: dict[str, int], references: Sequence[Reference]
) -> list[tuple[int, str]]:
    """If the text says 3-6 and the source names only 3 and 6, the text cites those between too."""
    found: Places = []
    for number, (position, key) in enumerate(places):
        found.append((position, key))
        if number + 1 == len(places):
            break
        end, last = places[number + 1]
        between = range(order[key] + 1, order[last])
        if len(between) <= _MOST_BETWEEN and end - position < 20 and _RANGE.fullmatch(text, position, end):
            found += [(position, references[place].ref_id) for place in between]
    return found


def unique_ids(references: Sequence[Reference]) -> list[Reference]:
    """Each reference with an id of its own: the source's, else its number."""
    seen: set[str] = set()
    kept = []
    for number, reference in enumerate(references, 1):
        name = reference.ref_id
        while not name or name in seen:
            name = f"{reference.ref_id}-{number}" if reference.ref_id else str(number)
            if name in seen:
                number += len(references)
        seen.add(name)
        kept.append(reference.model_copy(update={"ref_id": name}))
    return kept


def read_table(heads: Sequence[Element], rows: Sequence[Element], cell_text: Callable[[Element], str]) -> Table:
    """A table of head and body rows; a cell over several columns or rows stands in each of them."""
    head, body = _grid(heads, cell_text), _grid(rows, cell_text)
    if not head and body and rows and all(cell.tag == "th" for cell in rows[0]):
        head, body = body[:1], body[1:]
    columns = max((len(row) for row in head), default=0)
    headers = [" ".join(dict.fromkeys(row[i] for row in head if i < len(row) and row[i])) for i in range(columns)]
    return Table(headers=headers, rows=body)


def _grid(rows: Sequence[Element], cell_text: Callable[[Element], str]) -> list[list[str]]:
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in rows:
        cells: list[str] = []
        waiting, below = below, {}
        for cell in [*row, None]:
            while len(cells) in waiting:
                left, text = waiting.pop(len(cells))
                if left > 1:
                    below[len(cells)] = (left - 1, text)
                cells.append(text)
            if cell is None or not isinstance(cell.tag, str) or len(cells) >= _MOST_COLUMNS:
                continue
            text = cell_text(cell)
            for _ in range(_span(cell, "colspan", "cols")):
                if (deep := _span(cell, "rowspan", "rows")) > 1:
                    below[len(cells)] = (deep - 1, text)
                cells.append(text)
        grid.append(cells)
    return [row for row in grid if any(row)]


def _span(cell: Element, *names: str) -> int:
    value = next((cell.get(name) for name in names if cell.get(name)), "1")
    return min(int(value), 50) if value.isascii() and value.isdigit() and len(value) < 6 and int(value) else 1

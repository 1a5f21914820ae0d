"""Tables and figures of a LaTeX paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from monjyu_assets.parsing.formats.latex.latex_names import TABULARS
from monjyu_core.paper import Figure, ParsedPaper, Table

_LINES = {"hline", "toprule", "midrule", "bottomrule", "cline", "cmidrule", "specialrule", "addlinespace", "endhead"}
_LINES |= {"endfirsthead", "endfoot", "endlastfoot", "Xhline", "rowcolor"}
_MOST_COLUMNS = 200


class Floats:
    """Adds the tables and figures that it is given to a paper; `text_of` says what nodes print."""

    def __init__(self, paper: ParsedPaper, text_of: Callable[[list[Any]], str]) -> None:
        self._paper = paper
        self._text_of = text_of

    def read(self, node: Any, name: str) -> None:
        """A float: its tables with its caption, else one figure. Captions of parts follow that of the whole."""
        if name in TABULARS:
            self.table(node, self._caption(node))
            return
        caption = self._caption(node)
        tables = list(_tabulars(node.nodelist))
        for table in tables if "table" in name.lower() else []:
            self.table(table, caption)
        if "table" not in name.lower():
            self._paper.figures.append(Figure(caption=caption))
        elif not tables:
            self._paper.tables.append(Table(caption=caption))

    def _caption(self, node: Any) -> str | None:
        own = [child for child in node.nodelist or [] if _is(child, "caption")]
        deeper = own or list(_inside(node.nodelist, "caption"))
        texts = [self._text_of([child.nodeargd.argnlist[-1]]) for child in deeper if child.nodeargd]
        return " ".join(" ".join(texts).split()) or None

    def table(self, node: Any, caption: str | None) -> None:
        rows = [row for row in self._rows(node.nodelist or []) if any(row)]
        table = Table(caption=caption, headers=rows[0] if rows else [], rows=rows[1:])
        self._paper.tables.append(table)

    def _rows(self, nodes: list[Any]) -> Iterator[list[str]]:
        cells: list[str] = []
        held: list[Any] = []
        for node in [*nodes, None]:
            ends_row = node is None or _is(node, "\\") or _is(node, "tabularnewline")
            if ends_row or getattr(node, "specials_chars", "") == "&":
                cells += self._cell(held)
                held = []
            elif not any(_is(node, name) for name in _LINES) and not _is(node, "caption"):
                held.append(node)
            if ends_row:
                yield cells[:_MOST_COLUMNS]
                cells = []

    def _cell(self, nodes: list[Any]) -> list[str]:
        text = " ".join(self._text_of(nodes).split())
        text = re.sub(r"^\[[\d.]+\s*(?:pt|ex|em|mm|cm)\]", "", text)
        wide = next((node for node in nodes if _is(node, "multicolumn")), None)
        if wide is None or not wide.nodeargd.argnlist:
            return [text]
        count = wide.nodeargd.argnlist[0].latex_verbatim().strip("{} ")
        return [text] * (min(int(count), 50) if count.isascii() and count.isdigit() and len(count) < 4 else 1)


def _is(node: Any, name: str) -> bool:
    return getattr(node, "macroname", None) == name


def _children(node: Any) -> list[Any]:
    arguments = node.nodeargd.argnlist if getattr(node, "nodeargd", None) is not None else None
    return [child for child in [*(getattr(node, "nodelist", None) or []), *(arguments or [])] if child is not None]


def _tabulars(nodes: list[Any] | None) -> Iterator[Any]:
    for node in nodes or []:
        if getattr(node, "environmentname", "").rstrip("*") in TABULARS:
            yield node
        else:
            yield from _tabulars(_children(node))


def _inside(nodes: list[Any] | None, name: str) -> Iterator[Any]:
    for node in nodes or []:
        if _is(node, name):
            yield node
        else:
            yield from _inside(_children(node), name)

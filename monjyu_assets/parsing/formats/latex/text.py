"""Reads the body of a LaTeX paper into sections of plain text, with citations written out and marked."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from monjyu_assets.parsing.bibliography.latex_words import WORDS
from monjyu_assets.parsing.bibliography.pandoc_citations import Citer
from monjyu_assets.parsing.formats.latex import names as known
from monjyu_assets.parsing.formats.latex.names import TABULARS, written
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_core.errors import MalformedDocument
from monjyu_core.paper import Equation, Figure, ParsedPaper, Section, SectionType, Table

# Tables and figures of a LaTeX paper.
_LINES = {"hline", "toprule", "midrule", "bottomrule", "cline", "cmidrule", "specialrule", "addlinespace", "endhead"}
_LINES |= {"endfirsthead", "endfoot", "endlastfoot", "Xhline", "rowcolor"}
_MOST_COLUMNS = 200


class Floats:
    """Adds tables and figures to a paper; `text_of` returns the printed text of nodes."""

    def __init__(self, paper: ParsedPaper, text_of: Callable[[list[Any]], str]) -> None:
        self._paper = paper
        self._text_of = text_of

    def read(self, node: Any, name: str) -> None:
        """Add the tables of a float with its caption, or one figure. Captions of parts count only if the float has none
        itself."""
        if name in TABULARS:
            self.table(node, self._caption(node))
            return
        caption = self._caption(node)
        tables = list(_descendants(node.nodelist, _is_tabular))
        for table in tables if "table" in name.lower() else []:
            self.table(table, caption)
        if "table" not in name.lower():
            self._paper.figures.append(Figure(caption=caption))
        elif not tables:
            self._paper.tables.append(Table(caption=caption))

    def _caption(self, node: Any) -> str | None:
        own = [child for child in node.nodelist or [] if _is(child, "caption")]
        deeper = own or list(_descendants(node.nodelist, lambda child: _is(child, "caption")))
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


def _is_tabular(node: Any) -> bool:
    return getattr(node, "environmentname", "").rstrip("*") in TABULARS


def _descendants(nodes: list[Any] | None, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """Yield the nodes that are `wanted`, at any depth but not inside one another."""
    for node in nodes or []:
        if wanted(node):
            yield node
        else:
            inner = [child for child in getattr(node, "nodelist", None) or [] if child is not None]
            given = _arguments(node) if hasattr(node, "nodeargd") else []
            yield from _descendants([*inner, *given], wanted)


Node = Any
"""A node of pylatexenc's tree."""

_BREAK = "\n\n"
_MATH_NOISE = re.compile(r"\\(?:label|tag)\s*\{[^{}]*\}|\\(?:nonumber|notag|displaystyle)(?![A-Za-z])")
_MATH_ENDS = re.compile(r"(?s)\s*(?:\$\$?|\\\(|\\\[)(.*?)(?:\$\$?|\\\)|\\\])\s*")


class LatexText:
    """Reads pylatexenc's nodes; sections, floats and formulas are added to the paper."""

    def __init__(self, paper: ParsedPaper, citer: Citer | None, numbers: dict[str, str]) -> None:
        from pylatexenc.latex2text import LatexNodes2Text

        self.paper = paper
        self._citer = citer
        self._numbers = numbers
        self._symbols = LatexNodes2Text(math_mode="text", keep_comments=False)
        self._floats = Floats(paper, self.capture)
        self._pieces: list[str] = []
        self._notes: list[str] = []
        self._section = Section(heading="", level=2)
        self._appendix = False

    def read(self, source: str) -> None:
        """Read a body. Raises MalformedDocument if it is nested too deeply."""
        self._walk(self._nodes(source))
        self._close()

    def line(self, source: str) -> str:
        """A piece of source as text on one line, without its notes."""
        return " ".join(self.capture(self._nodes(source)).split())

    def paragraphs(self, source: str) -> str:
        return self.capture(self._nodes(source))

    def take_notes(self) -> list[str]:
        """Return and clear the notes read since the last section was closed."""
        notes, self._notes = self._notes, []
        return notes

    def capture(self, nodes: list[Node]) -> str:
        """The printed text of `nodes`, separate from the running text; their notes wait for the end of the section."""
        outer, self._pieces = self._pieces, []
        self._walk(nodes)
        text = tidy("".join(self._pieces))
        self._pieces = outer
        return text

    def _nodes(self, source: str) -> list[Node]:
        from pylatexenc.latexwalker import LatexWalker, LatexWalkerError

        try:
            walker = LatexWalker(source, latex_context=known.context(), tolerant_parsing=True)
            nodes: list[Node] = walker.get_latex_nodes()[0]
        except RecursionError:
            raise MalformedDocument("The LaTeX is nested too deeply.") from None
        except (LatexWalkerError, ValueError, IndexError) as error:
            raise MalformedDocument(f"The LaTeX cannot be read: {str(error)[:150]}.") from None
        return nodes

    def _walk(self, nodes: list[Node] | None) -> None:
        following = iter([*(nodes or []), None])
        for node in following:
            if node is None:
                continue
            if getattr(node, "macroname", "") in known.TITLED:
                node = self._titled(node, next(following, None))
            match type(node).__name__:
                case "LatexCharsNode":
                    self._pieces.append(node.chars)
                case "LatexGroupNode":
                    self._walk(node.nodelist)
                case "LatexMathNode":
                    self._math(node.latex_verbatim(), inline=node.displaytype == "inline")
                case "LatexMacroNode":
                    self._macro(node)
                case "LatexEnvironmentNode":
                    self._environment(node)
                case "LatexSpecialsNode":
                    self._pieces.append(" " if node.specials_chars == "&" else self._symbols.nodelist_to_text([node]))

    def _macro(self, node: Node) -> None:
        name: str = node.macroname
        arguments = _arguments(node)
        if name in known.HEADINGS:
            self._heading(known.HEADINGS[name], arguments)
        elif name in known.RUN_IN:
            heading = self.capture(arguments[-1:]) if arguments else ""
            self._pieces.append(f"{_BREAK}{heading}{'' if heading.endswith(('.', ':', '?')) else '.'} ")
        elif (cited := written(node, self._citer)) is not None:
            self._pieces.append(cited)
        elif name in known.CROSS_REFERENCES:
            self._pieces.append(self._reference(name, arguments))
        elif name in known.NOTES:
            if note := self.capture(arguments[-1:]):
                self._notes.append(note)
        elif name == "appendix":
            self._appendix = True
        elif name in ("par", "\\", "newline", "item", "linebreak", "tabularnewline", "bigskip", "medskip", "smallskip"):
            self._pieces.append(" " if name in ("\\", "newline", "linebreak", "tabularnewline") else _BREAK)
        elif name in ("caption", "centerline") and arguments:
            self._pieces.append(f"{_BREAK}{self.capture(arguments[-1:])}{_BREAK}")
        elif name == "epigraph" and arguments:
            said, source = self.capture(arguments[:1]), self.capture(arguments[1:]).lstrip("-\u2013\u2014 ")
            self._pieces.append(f"{_BREAK}{said}{_BREAK}\u2014 {source}{_BREAK}")
        elif name in known.LAST_ARGUMENT:
            self._walk(arguments[-1:])
        elif name == "textsuperscript":
            raised = self.capture(arguments[-1:])
            power = raised[:1].lstrip("-−").isdigit() and "".join(self._pieces[-1:])[-1:].isdigit()
            self._pieces.append(f"^{raised}" if power else raised)
        elif name == "xspace":
            self._pieces.append(" ")
        elif name == "IEEEPARstart":
            self._walk(arguments)
        elif name in WORDS:
            self._pieces.append(WORDS[name])
        elif name not in known.SILENT:
            self._pieces.append(self._symbols.nodelist_to_text([node]) if _is_symbol(node) else "")
            if not _is_symbol(node):
                self._walk(arguments)

    def _heading(self, level: int, arguments: list[Node]) -> None:
        outer, self._notes = self._notes, []
        heading = " ".join(self.capture(arguments[-1:]).split())
        notes, self._notes = self._notes, outer
        if not heading:
            return
        kind = section_type(heading)
        kind = "appendix" if self._appendix and level <= 2 and kind != "references" else kind
        self._open(heading, level, kind)
        self._notes = notes

    def _open(self, heading: str, level: int = 2, kind: SectionType = "other") -> None:
        self._close()
        self._section = Section(heading=heading, level=level, section_type=kind)

    def _titled(self, node: Node, following: Node) -> Node:
        """Begin a section that a command names. Its text is the command's argument, otherwise the nodes after the
        command. Returns the node with which to continue."""
        heading = known.TITLED[node.macroname]
        if type(following).__name__ != "LatexGroupNode":
            self._open(heading, kind=section_type(heading))
            return following
        self._set_apart(heading, following.nodelist)
        return None

    def _set_apart(self, heading: str, nodes: list[Node]) -> None:
        self._open(heading, kind=section_type(heading))
        self._walk(nodes)
        self._open("")

    def _close(self) -> None:
        """Add the section that was being read."""
        self._section.text = "\n\n".join(part for part in (tidy("".join(self._pieces)), *self._notes) if part)
        self._pieces, self._notes = [], []
        if self._section.heading or self._section.text:
            self.paper.sections.append(self._section)

    def _environment(self, node: Node) -> None:
        name = node.environmentname.rstrip("*")
        inner = node.nodelist
        if name in known.DISPLAYED:
            self._math("".join(child.latex_verbatim() for child in node.nodelist or []), inline=False)
        elif name in known.UNSEEN_ENVIRONMENTS:
            return
        elif name in known.FLOATS:
            self._floats.read(node, name)
        elif name in known.TABULARS:
            self._floats.table(node, None)
        elif name in known.ABSTRACTS:
            self._abstract(inner)
        elif name in known.TITLED:
            self._set_apart(known.TITLED[name], inner)
        elif name == "appendices":
            self._appendix = True
            self._walk(inner)
            self._appendix = False
        else:
            outer, self._notes = self._notes, []
            self._pieces.append(_BREAK)
            self._walk(inner)
            self._pieces += [_BREAK, *(f"{note}{_BREAK}" for note in self._notes)]
            self._notes = outer

    def _abstract(self, nodes: list[Node]) -> None:
        """Insert the abstract as the first section, wherever it is written."""
        text = self.capture(nodes)
        if text and not any(section.section_type == "abstract" for section in self.paper.sections):
            self.paper.sections.insert(0, Section(heading="Abstract", level=2, section_type="abstract", text=text))

    def _math(self, source: str, inline: bool) -> None:
        ends = _MATH_ENDS.fullmatch(source)
        latex = " ".join(_MATH_NOISE.sub(" ", ends[1] if ends else source).split())
        if not latex:
            return
        self.paper.equations.append(Equation(text=latex, latex=latex, inline=inline))
        self._pieces.append(latex if inline else f"{_BREAK}{latex}{_BREAK}")

    def _reference(self, name: str, arguments: list[Node]) -> str:
        """The number of a label in the printed paper, if it can be counted."""
        labels = arguments[-1].latex_verbatim().strip("{}").split(",") if arguments else []
        numbers = ", ".join(found for label in labels if (found := self._numbers.get(label.strip())))
        return f"({numbers})" if name == "eqref" and numbers else "" if name == "pageref" else numbers


def _is_symbol(node: Node) -> bool:
    """Whether the node is an accent or a sign, not a command around text."""
    return len(node.macroname) < 2 or not _arguments(node) or node.macroname in ("textdegree", "textmu")


def _arguments(node: Node) -> list[Node]:
    given = node.nodeargd.argnlist if node.nodeargd is not None and node.nodeargd.argnlist else []
    return [argument for argument in given if argument is not None]


def tidy(text: str) -> str:
    """Paragraphs separated by one blank line, one space between words."""
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", clean(text)))
    return "\n\n".join(re.sub(r"\s+([,.;:)\]])", r"\1", part) for part in paragraphs if part)

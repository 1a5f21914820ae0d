"""Title pages set by hand, without `\\title`: the largest print at the head of a paper, and the names below it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monjyu_assets.parsing.bibliography.names import is_name
from monjyu_assets.parsing.formats.latex.latex_authors import Plain
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_core.paper import Author, ParsedPaper

FIRST_HEADING = re.compile(r"\\(?:section|chapter|part|bmhead)\*?\s*[\[{]")
_SIZES = ("Huge", "huge", "LARGE", "Large", "large", "bfseries", "bf", "textbf")
_BOLD = _SIZES.index("bfseries")
_TOKEN = re.compile(
    rf"\\(?P<plain>normalsize|small|footnotesize|normalfont|rm)(?![A-Za-z])|(?P<brace>\\[{{}}]|[{{}}])|\\(?P<size>{'|'.join(_SIZES)})(?![A-Za-z])|(?P<edge>\\(?:begin|end)\s*\{{[^{{}}]*\}})"
    r"|(?P<line>\\\\(?:\[[^\]\n]*\])?|\n[ \t]*\n"
    r"|\\(?:par|newline|bigskip|medskip|smallskip|vfill|vskip[^\n]*)(?![A-Za-z])"
    r"|\\vspace\*?\s*\{[^{}]*\})"
)
_CENTRED = re.compile(r"\\begin\s*\{(?:center|titlepage|flushleft)\}|\\centerline|\\centering")
_BETWEEN = re.compile(r",|;|&|\\and(?![a-z])|\sand\s|\\q?quad(?![a-z])")
_LONGEST_HEAD, _LONGEST_TITLE, _MOST_LINES = 6000, 300, 60


@dataclass
class _Line:
    """A line of the head: where it is, what it prints, and the rank of its size (0 for the largest)."""

    start: int
    end: int
    text: str
    rank: int


def hand_set_front(paper: ParsedPaper, body: str, plain: Plain) -> str:
    """Fill in a title and authors that are set by hand; returns the body without them."""
    heading = FIRST_HEADING.search(body)
    head = body[: min(heading.start() if heading else len(body), _LONGEST_HEAD)]
    lines = [line for line in _lines(head, plain) if line.text]
    largest = min((line.rank for line in lines), default=len(_SIZES))
    if largest == len(_SIZES) or (largest >= _BOLD and not _CENTRED.search(head)):
        return body
    first = next(i for i, line in enumerate(lines) if line.rank == largest)
    last = first
    while last + 1 < len(lines) and lines[last + 1].rank == largest < _BOLD:
        last += 1
    title = " ".join(line.text for line in lines[first : last + 1])
    if not 3 < len(title) < _LONGEST_TITLE or section_type(title) != "other" or title.count(". ") > 1:
        return body
    paper.title = title
    taken = lines[first : last + 1]
    for line in lines[last + 1 :] if not paper.authors else []:
        names = _names(head[line.start : line.end], plain)
        goes_on = not paper.authors or len(names) > 1 or taken[-1].text.endswith((",", "and", "&"))
        if not names or not goes_on or not all(map(is_name, names)):
            break
        paper.authors += [Author(name=name) for name in names]
        taken.append(line)
    for line in reversed(taken):  # its braces stay, so that groups are closed as before
        braces = "".join(re.findall(r"(?<!\\)[{}]", body[line.start : line.end]))
        body = body[: line.start] + braces + body[line.end :]
    return body


def _names(source: str, plain: Plain) -> list[str]:
    parts = [plain(part) for part in _BETWEEN.split(re.sub(r"\$[^$]*\$|\\footnote(?:mark)?\{[^{}]*\}", "", source))]
    parts = [re.sub(r"^(?:by|and)\s+|[*\d†‡§]+$", "", part, flags=re.IGNORECASE).strip(" .") for part in parts]
    return [part for part in parts if part]


def _lines(head: str, plain: Plain) -> list[_Line]:
    """Lines with the size in effect: that of a command holds until its group is closed."""
    lines: list[_Line] = []
    sizes: list[int] = [len(_SIZES)]
    at, rank = 0, len(_SIZES)
    for match in [*_TOKEN.finditer(head), None]:
        if match is not None and match["brace"]:
            if match["brace"] == "{":
                sizes.append(sizes[-1])
            elif match["brace"] == "}" and len(sizes) > 1:
                sizes.pop()
            continue
        if match is not None and match["plain"]:
            sizes[-1] = len(_SIZES)
            continue
        if match is not None and match["size"]:
            found = _SIZES.index(match["size"])
            rank = min(rank, found)
            if match["size"] != "textbf":
                sizes[-1] = found if found < _BOLD else min(sizes[-1], _BOLD)
            continue
        end = match.start() if match else len(head)
        if len(lines) < _MOST_LINES:
            lines.append(_Line(at, end, plain(re.sub(r"(?<!\\)[{}]", "", head[at:end])).strip(), min(rank, _BOLD)
                               if rank < len(_SIZES) else rank))  # fmt: skip
        at, rank = (match.end() if match else end), min(sizes[-1], len(_SIZES))
    return lines

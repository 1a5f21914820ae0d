"""An answer in pieces, each with the numbers of its citations. Interfaces render the pieces; they parse no marks.

A segment's text begins with the white space (in a list also the dash) that separates it from the previous one: joined,
the texts are the answer without its marks. Brackets in a text are the paper's own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from monjyu_core.language.packs import also, cues
from monjyu_query.asking.request import ResponseType
from monjyu_query.asking.result import AnswerTable, Cell, Segment

_BRACKETS = re.compile(r"(\\*)([\[\]]|$)")
_WORDS = re.compile(r"(\[(?!\^)(?=[^\[\]\\\n]{2})[^\[\]\\\n]{0,80}?[^\[\]\\\n\d\s,;–-][^\[\]\\\n]{0,80}\](?=[^(\[:]))")
"""Words in brackets that Markdown reads neither as a link nor as a mark."""


def escaped(text: str) -> str:
    """Markdown in which the text's own brackets are escaped: `[2]` becomes `\\[2\\]`. Backslashes before a bracket are
    doubled, and at the end of the text, because the next text may begin with a bracket. `[sic]` is unambiguous."""
    parts = _WORDS.split(text)
    parts[::2] = [_BRACKETS.sub(_escape, part) for part in parts[::2]]
    return "".join(parts)


def _escape(found: re.Match[str]) -> str:
    return found[1] * 2 + (f"\\{found[2]}" if found[2] else "")


class Piece(NamedTuple):
    """A segment as shown: white space and dash, its label, the text after it, and marks as `[1][3]`; and whether it is
    a heading."""

    lead: str
    label: str
    text: str
    marks: str
    heading: bool = False


def pieces(segments: Iterable[Segment], shown: Callable[[str], str] = escaped) -> Iterator[Piece]:
    """Each segment as a piece, whose label and lines of text are passed through `shown`."""
    for segment in segments:
        body = segment.text.lstrip()
        if segment.label:
            body = body.removeprefix("- ")
        lead = segment.text[: len(segment.text) - len(body)]
        label = segment.label if segment.label and body.startswith(segment.label) else ""
        marks = "".join(f"[{number}]" for number in segment.citations)
        text = "\n".join(map(shown, body[len(label) :].split("\n")))
        yield Piece(lead, shown(label) if label else "", text, marks, segment.heading)


def markdown(segments: Iterable[Segment], shown: Callable[[str], str] = escaped) -> str:
    """The answer as Markdown, in which `[n]` is always the `n` of a citation; labels are bold."""
    return "".join(_piece_markdown(piece) for piece in pieces(segments, shown))


def _piece_markdown(piece: Piece) -> str:
    label = f"**{piece.label}**" if piece.label else "### " if piece.heading else ""
    text = f"{piece.lead}{label}{piece.text}"
    return f"{text} {piece.marks}" if piece.marks else text


def answer_markdown(segments: Sequence[Segment], tables: Sequence[AnswerTable]) -> str:
    """The whole answer as Markdown: its segments, then its tables."""
    return "\n\n".join(filter(None, [markdown(segments), *map(table_markdown, tables)]))


def table_markdown(table: AnswerTable, shown: Callable[[str], str] = escaped) -> str:
    """A GitHub Markdown table under its title; the papers' own brackets and bars are escaped."""
    head = [_row(_in_cell(name, shown) for name in table.columns), _row(["---"] * len(table.columns))]
    rows = [_row(_cell(cell, shown) for cell in cells) for cells in table.rows]
    title = [f"**{shown(' '.join(table.title.split()))}**", ""] if table.title else []
    return "\n".join([*title, *head, *rows])


def _cell(cell: Cell, shown: Callable[[str], str]) -> str:
    text = _in_cell(cell.text, shown)
    if found := value_in(text, _in_cell(cell.value or "", shown)):
        text = f"{text[: found[0]]}**{text[found[0] : found[1]]}**{text[found[1] :]}"
    return " ".join(filter(None, [text, "".join(f"[{number}]" for number in cell.citations)]))


def value_in(text: str, value: str) -> tuple[int, int] | None:
    """The position of a cell's value in its text, in whole words; None if it is not in the text."""
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) if value else None
    return found.span() if found else None


def _in_cell(text: str, shown: Callable[[str], str]) -> str:
    return shown(" ".join(text.split())).replace("|", "\\|")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(segments: Iterable[Segment]) -> str:
    """The answer without marks; brackets remain as in the papers."""
    return "".join(segment.text for segment in segments)


def laid_out(said: Sequence[tuple[str, Sequence[int], str]], response_type: ResponseType | None) -> list[Segment]:
    """Texts with their citations and labels: a paragraph for consecutive texts with the same label, all on one line if
    the answer is short, or one item each. The first text of a label begins with it."""
    found: list[Segment] = []
    before = ""
    for text, citations, label in said:
        new = bool(label) and (label != before or response_type == "list")
        lead = separator(response_type, first=not found, new_paragraph=new and response_type != "short")
        whole = f"{lead}{label}: {text}" if new else lead + text
        found.append(Segment(text=whole, label=label if new else None, citations=list(citations)))
        before = label
    return found


def separator(response_type: ResponseType | None, *, first: bool, new_paragraph: bool = False) -> str:
    """The separator before a text of an answer."""
    if response_type == "list":
        return "- " if first else "\n- "
    if first:
        return ""
    return "\n\n" if new_paragraph else " "


AnswerForm = Literal[
    "fact", "number", "definition", "reasons", "steps", "yes_no", "comparison", "papers", "survey", "exploration"
]

OF_MANY: frozenset[AnswerForm] = frozenset({"papers", "survey"})
"""Forms that improve with the number of papers: more passages are read for them."""

NARROW: frozenset[AnswerForm] = frozenset({"fact", "number", "definition", "yes_no"})
"""Forms that one or two sentences fill, however much was found."""

_PAPERS = re.compile(cues("segments.papers"), re.IGNORECASE)
_STEPS = re.compile(cues("segments.steps"), re.IGNORECASE)

_ASKED = {
    "number": cues("segments.asked_number"),
    "date": cues("segments.asked_date"),
    "person": r"\bwho(?:m|se)?\b" + also("segments.asked_person"),
    "place": cues("segments.asked_place"),
    "reason": r"\bwhy\b|\b(?:reason|cause|purpose)s?\b" + also("segments.asked_reason"),
    "procedure": cues("segments.asked_procedure"),
    "comparison": r"\b(?:compar|differ|versus|vs\.?|better|than)\w*" + also("segments.asked_comparison"),
    "yes_no": cues("segments.asked_yes_no"),
    "definition": r"^(?:what (?:is|are|was|were)|define)\b" + also("segments.asked_definition"),
}
_TYPES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _ASKED.items()}


def asked_types(question: str) -> frozenset[str]:
    """The types of answer that the question's words ask for; often none, sometimes several."""
    return frozenset(name for name, pattern in _TYPES.items() if pattern.search(question))


def form_of(query: str, query_type: str) -> AnswerForm:
    """The form of the answer to a question; `query_type` is the router's kind of question."""
    asked = asked_types(query)
    if _PAPERS.search(query):
        return "papers"
    if query_type == "comparison":
        return "comparison"
    if "number" in asked or "date" in asked:
        return "number"
    if "reason" in asked:
        return "reasons"
    if "yes_no" in asked:
        return "yes_no"
    if query_type == "survey":
        return "survey"
    if _STEPS.search(query):
        return "steps"
    if "definition" in asked and len(query.split()) <= 8:
        return "definition"
    return "fact" if query_type == "factoid" else "exploration"

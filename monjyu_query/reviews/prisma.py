"""Counts the records of a review for a PRISMA 2020 flow diagram (Page et al., BMJ 2021;372:n71), and draws the diagram
as Mermaid text and SVG. Every record is counted once, by its outcome.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from xml.sax.saxutils import escape

from pydantic import BaseModel

from monjyu_query.citations.export import xml_text
from monjyu_query.reviews.protocol import Protocol
from monjyu_query.reviews.records import Record

_HUMAN = "Decided by a person"
_KINDS = {"database": "Database: ", "register": "Register: "}


class Reason(BaseModel):
    """A reason for exclusion with the number of records. `criterion` is empty if a person gave the reason."""

    criterion: str
    text: str
    count: int


class SourceCount(BaseModel):
    """The records identified from one source of the protocol; `kind` as in the protocol."""

    name: str
    kind: str
    count: int


class Prisma(BaseModel):
    """The counts of the flow diagram: `identified` = `duplicates` + `unsupported` + `unreadable` + `screened` +
    `pending`, and `screened` = `excluded` + `unsure` + `included`. `sources` divides the identified records, `reasons`
    the excluded ones."""

    identified: int
    sources: list[SourceCount]
    duplicates: int
    unsupported: int
    unreadable: int
    pending: int
    screened: int
    excluded: int
    excluded_by_automation: int
    excluded_by_human: int
    reasons: list[Reason]
    unsure: int
    included: int
    included_by_automation: int
    included_by_human: int


def prisma(protocol: Protocol, records: Sequence[Record]) -> Prisma:
    """Count the records. Reasons are in the protocol's order; reasons in a person's own words come last."""
    of = Counter(record.outcome for record in records)
    who = Counter((record.outcome, record.by) for record in records)
    return Prisma(
        identified=len(records),
        sources=[
            SourceCount(name=name, kind=kind, count=count)
            for (name, kind), count in Counter((record.source, record.kind) for record in records).most_common()
        ],
        duplicates=of["duplicate"],
        unsupported=of["unsupported"],
        unreadable=of["unreadable"],
        pending=of["pending"],
        screened=of["excluded"] + of["unsure"] + of["included"],
        excluded=of["excluded"],
        excluded_by_automation=who["excluded", "automation"],
        excluded_by_human=who["excluded", "human"],
        reasons=_reasons(protocol, records),
        unsure=of["unsure"],
        included=of["included"],
        included_by_automation=who["included", "automation"],
        included_by_human=who["included", "human"],
    )


def _reasons(protocol: Protocol, records: Sequence[Record]) -> list[Reason]:
    counts = Counter(
        record.reason if protocol.criterion(record.reason) else "" for record in records if record.outcome == "excluded"
    )
    order = [one.id for one in protocol.criteria]
    return [
        Reason(criterion=name, text=reason_text(protocol, name), count=counts[name])
        for name in sorted(counts, key=lambda name: order.index(name) if name in order else len(order))
    ]


def reason_text(protocol: Protocol, name: str) -> str:
    """Return the text of a reason for exclusion: an exclusion criterion met, or an inclusion criterion not met."""
    criterion = protocol.criterion(name)
    if criterion is None:
        return _HUMAN
    return f"Not met: {criterion.text}" if criterion in protocol.include else criterion.text


def record_reason(protocol: Protocol, record: Record) -> str:
    """Return the reason for a record's outcome as text; empty for a record that all criteria include."""
    if record.override:
        return record.override.reason
    criterion = protocol.criterion(record.reason)
    if criterion and record.outcome == "unsure":
        return f"Not clear: {criterion.text}"
    return reason_text(protocol, record.reason) if criterion else record.reason


Box = tuple[str, list[str]]
"""The heading of a box of the diagram, and its lines."""


def boxes(counts: Prisma) -> dict[str, Box]:
    """Return the boxes of the diagram: in the middle `identified`, `screened` and `included`, next to them `removed`,
    `excluded` and `unsure` (if there are any)."""
    removed = [
        f"Duplicate records (n = {counts.duplicates})",
        f"Files of other types (n = {counts.unsupported})",
        f"Files that cannot be read (n = {counts.unreadable})",
    ]
    excluded = [f"{reason.text} (n = {reason.count})" for reason in counts.reasons]
    found: dict[str, Box] = {
        "identified": (
            f"Records identified (n = {counts.identified})",
            [f"{_KINDS.get(one.kind, '')}{one.name} (n = {one.count})" for one in counts.sources],
        ),
        "removed": ("Records removed before screening", removed),
        "screened": (
            f"Records screened (n = {counts.screened})",
            [f"Not screened yet (n = {counts.pending})"] if counts.pending else [],
        ),
        "excluded": (
            f"Records excluded (n = {counts.excluded})",
            [
                f"by automation (n = {counts.excluded_by_automation}), by people (n = {counts.excluded_by_human})",
                *excluded,
            ],
        ),
        "included": (
            f"Studies included in review (n = {counts.included})",
            [f"by automation (n = {counts.included_by_automation}), by people (n = {counts.included_by_human})"],
        ),
    }
    if counts.unsure:
        found["unsure"] = (f"Awaiting a person's decision (n = {counts.unsure})", [])
    return found


def mermaid(counts: Prisma) -> str:
    """Return the diagram as a Mermaid flowchart. Texts are in quotes, with special characters as entities."""
    shown = boxes(counts)
    arrows = [("identified", "removed"), ("identified", "screened"), ("screened", "excluded")]
    arrows += [("screened", "unsure")] if "unsure" in shown else []
    arrows += [("screened", "included")]
    nodes = [f'  {name}["{"<br/>".join(map(_escaped, (head, *lines)))}"]' for name, (head, lines) in shown.items()]
    return "\n".join(["flowchart TD", *nodes, *(f"  {a} --> {b}" for a, b in arrows)]) + "\n"


def _escaped(text: str) -> str:
    """Mermaid reads `#35;` as `#`."""
    plain = " ".join(text.split())
    return "".join(sign if sign.isalnum() or sign in " .,:=()-–’'" else f"#{ord(sign)};" for sign in plain)


# The flow diagram as an SVG picture: boxes in the middle from top to bottom, excluded records next to them.
_WIDTH, _GAP, _MARGIN, _LINE, _PAD = 360, 60, 20, 18, 12
"""In pixels: of a box, between boxes, around everything, of a line, inside a box."""
_RIGHT = _MARGIN + _WIDTH + _GAP
_BETWEEN = 12
_COLUMNS = 52
"""The width of a line of text in columns; a wide character takes two."""
_BESIDE: dict[str, tuple[str, ...]] = {"identified": ("removed",), "screened": ("excluded", "unsure"), "included": ()}
"""The middle boxes from top to bottom, each with the boxes next to it."""
_STYLE = (
    "text{font:13px sans-serif;fill:#1b1b1b}.h{font-weight:600}rect{fill:#fff;stroke:#444}"
    "path{stroke:#444;fill:none;marker-end:url(#a)}"
)
_WORD = re.compile(r"\(n = \d+\)\S*|\S+")
"""Matches a word; `(n = 12)` counts as one, so that it stays on one line."""
_HEAD = ' class="h"'


def prisma_svg(counts: Prisma) -> str:
    """Return the diagram as a standalone SVG. Its title states the main figures for people who cannot see it."""
    shown = boxes(counts)
    parts: list[str] = []
    top: float = _MARGIN
    for name, beside in _BESIDE.items():
        bottom = top
        for other in beside:
            if other in shown:
                lines = _lines(shown[other])
                middle = bottom + _height(lines) / 2
                parts += [_box(_RIGHT, bottom, _height(lines), lines), _arrow(_MARGIN + _WIDTH, middle, _RIGHT, middle)]
                bottom += _height(lines) + _BETWEEN
        lines = _lines(shown[name])
        height = max(_height(lines), bottom - _BETWEEN - top)
        parts.append(_box(_MARGIN, top, height, lines))
        top += height
        if name != "included":
            parts.append(_arrow(_MARGIN + _WIDTH / 2, top, _MARGIN + _WIDTH / 2, top + _GAP / 2))
            top += _GAP / 2
    wide, high = 2 * _WIDTH + _GAP + 2 * _MARGIN, int(top) + _MARGIN
    title = f"PRISMA 2020 flow: {counts.identified} identified, {counts.screened} screened, {counts.included} included"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
            ' role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            '<defs><marker id="a" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            '<path d="M0 0 8 4 0 8z" style="fill:#444;stroke:none;marker-end:none"/></marker></defs>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _box(left: float, top: float, height: float, lines: list[tuple[str, bool]]) -> str:
    texts = [
        f'<text x="{left + _PAD}" y="{top + _PAD + _LINE * (number + 0.75)}"{_HEAD if head else ""}>'
        f"{escape(xml_text(line))}</text>"
        for number, (line, head) in enumerate(lines)
    ]
    return "\n".join([f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{height}" rx="4"/>', *texts])


def _height(lines: list[tuple[str, bool]]) -> float:
    return len(lines) * _LINE + 2 * _PAD


def _arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<path d="M{x0} {y0} L{x1} {y1}"/>'


def _lines(box: Box) -> list[tuple[str, bool]]:
    """Return the lines of a box, each with whether it belongs to the heading."""
    head, rest = box
    return [(line, True) for line in wrapped(head)] + [(line, False) for text in rest for line in wrapped(text)]


def wrapped(text: str) -> list[str]:
    """Break a text into lines of at most `_COLUMNS`: at spaces, or inside a word that is too long for its line."""
    lines = [""]
    for word in _WORD.findall(text):
        if _columns(lines[-1]) + 1 + _columns(word) <= _COLUMNS:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
            continue
        lines.append("")
        for sign in word:
            if _columns(lines[-1]) + _columns(sign) > _COLUMNS:
                lines.append("")
            lines[-1] += sign
    return [line for line in lines if line]


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)

"""Marks behind the names of authors ("1", "a", "*") and the notes that explain them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_assets.parsing.bibliography.identifiers import PRINTED_ORCID
from monjyu_assets.parsing.formats.pdf.front.title_page import Piece

_SYMBOLS = "*\u2217\u204e\uff0a\u2020\u2021\u00a7\u00b6\u2016#\u2709\U0001f582\uf0e0"
ENVELOPES = {"\u2709", "\U0001f582", "\uf0e0"}
_TOKEN = re.compile(rf"\d{{1,2}}|[a-z](?![a-z])|[{_SYMBOLS}]")
_STARRED = str.maketrans({"\u2217": "*", "\u204e": "*", "\uff0a": "*"})
Stream = tuple[str, list[bool]]
"""Text of several lines and, for each character, whether it is raised."""


def stream_of(pieces: Sequence[Piece]) -> Stream:
    """The pieces in one text, a line break between them."""
    text, raised = "", list[bool]()
    for piece in pieces:
        text += piece.text + "\n"
        raised += [*piece.raised, False]
    return text, raised


def orcid_of(text: str) -> str | None:
    """The first ORCID of a text, with plain hyphens."""
    match = PRINTED_ORCID.search(text)
    return re.sub(r"[\u2013\u2212\u2010]", "-", match.group()).upper() if match else None


def marks_behind(names: Sequence[str], stream: Stream) -> list[tuple[list[str], str | None]]:
    """For each name, in order, the marks behind it and the ORCID printed with them."""
    text, raised = stream
    places: list[tuple[int, int] | None] = []
    position = 0
    for name in names:
        words = r"[\s.]{1,3}".join(re.escape(word.strip(".")) for word in name.split())
        match = re.compile(words, re.I).search(text, position)
        places.append(match.span() if match else None)
        position = match.end() if match else position
    found: list[tuple[list[str], str | None]] = []
    for number, place in enumerate(places):
        if place is None:
            found.append(([], None))
            continue
        later = [other[0] for other in places[number + 1 :] if other is not None]
        end = min([*later[:1], *([text.find("\n", place[1])] if "\n" in text[place[1] :] else [len(text)])])
        found.append(_marks(text[place[1] : end], raised[place[1] : end]))
    return found


def _marks(gap: str, raised: list[bool]) -> tuple[list[str], str | None]:
    orcid = orcid_of(gap)
    kept = PRINTED_ORCID.sub(lambda match: " " * len(match.group()), gap)
    marks: list[str] = []
    for match in _TOKEN.finditer(kept):
        symbol = match.group() in _SYMBOLS
        close = match.start() == 0 or bool(re.fullmatch(r"[\d,\s*]*", kept[: match.start()]))
        if raised[match.start()] or symbol or (match.group().isdigit() and close):
            marks.append(match.group().translate(_STARRED))
    return list(dict.fromkeys(marks)), orcid


def notes_by_mark(pieces: Sequence[Piece], marks: set[str]) -> dict[str, str]:
    """The note behind each mark in these lines: it runs to the next mark or a wide gap."""
    notes: dict[str, str] = {}
    current: str | None = None
    above: Piece | None = None
    counted = 0
    for piece in pieces:
        if above is not None and not _runs_on(above, piece):
            current = None
        for mark, text in _parts(piece, marks, counted):
            current = mark or current
            counted = int(mark) if mark is not None and mark.isdigit() else counted
            if current is not None:
                joined = notes.get(current, "")
                notes[current] = f"{joined}{_gap(joined)}{text}".strip() if mark is None or joined == "" else joined
                if mark is not None and joined:
                    current = None  # already explained; a second note on the same mark belongs to something else
        above = piece
    return notes


def _gap(text: str) -> str:
    return "" if not text or text.endswith("-") else " "


_OTHER = re.compile(
    r"\W*(?:doi|software|received|accepted|published|submitted|editors?|licen[sc]e|copyright|©|citation|edited|reviewed|"
    r"academic editor|specialty|keywords?|article|open access|this (?:is|article|work))\b", re.I,
)  # fmt: skip


def _runs_on(above: Piece, piece: Piece) -> bool:
    if _OTHER.match(piece.text):
        return False
    step = piece.base - above.base
    return -1 < step < 2.2 * max(above.size, piece.size) and abs(piece.size - above.size) < 1.6


def _parts(piece: Piece, marks: set[str], counted: int) -> list[tuple[str | None, str]]:
    """The piece cut at its marks: (mark or None, text). `counted` is the last number that opened a note (0: none)."""
    cuts: list[tuple[int, int, str]] = []
    for match in re.finditer(rf"\d{{1,2}}|[a-z](?![a-z])|[{_SYMBOLS}]", piece.text):
        mark = match.group().translate(_STARRED)
        if mark not in marks:
            continue
        before, after = piece.text[: match.start()], piece.text[match.end() :]
        opens = re.match(r"[.)\]]?\s*[^\W\d_]", after) is not None
        leads = not before and opens and not mark.isalpha()
        next_one = mark.isdigit() and int(mark) == counted + 1
        inline = next_one and counted and re.search(r"[\s,;]$", before) and re.match(r"[.)]?\s+[^\W\d_a-z]|\s*$", after)
        if piece.raised[match.start()] or leads or inline:
            cuts.append((match.start(), match.end(), mark))
            counted = int(mark) if mark.isdigit() else counted
    if not cuts:
        return [(None, piece.text)]
    found: list[tuple[str | None, str]] = [(None, piece.text[: cuts[0][0]])] if cuts[0][0] else []
    ends = [start for start, _, _ in cuts[1:]] + [len(piece.text)]
    return found + [(mark, piece.text[end:stop]) for (_, end, mark), stop in zip(cuts, ends, strict=True)]

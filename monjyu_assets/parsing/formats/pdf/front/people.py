"""What page 1 says about each author: affiliation, e-mail, ORCID, and who is the corresponding author."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_assets.parsing.bibliography.identifiers import PRINTED_ORCID
from monjyu_assets.parsing.formats.pdf.front.affiliations import (
    PLACE,
    blocks_below,
    is_place,
    named_in_notes,
    places_at_end,
    tidy_place,
)
from monjyu_assets.parsing.formats.pdf.front.author_marks import (
    ENVELOPES,
    marks_behind,
    notes_by_mark,
    orcid_of,
    stream_of,
)
from monjyu_assets.parsing.formats.pdf.front.title_page import Piece, give_emails, pieces_of, refit
from monjyu_assets.parsing.formats.pdf.page.layout import Layout, squeezed
from monjyu_assets.parsing.text.author_block import ends_front
from monjyu_core.paper import Author

_CORRESPONDING = re.compile(r"correspond(?:ing\b|ence\b)|to whom|責任著者|連絡先", re.I)


def fill_people(layout: Layout, authors: list[Author], title_end: int, stop: int) -> None:
    """Set affiliation, e-mail, ORCID and `is_corresponding` of the authors, in place.

    The names stand in `layout.lines[title_end:stop]`; the notes there, at the foot of page 1, in side columns and, for
    addresses that close a paper, at its end.
    """
    if not authors or title_end >= len(layout.lines):
        return
    front, foot = _regions(layout, title_end, stop)
    names = [author.name for author in authors]
    marks_of = marks_behind(names, stream_of(front))
    known = {mark for marks, _ in marks_of for mark in marks}
    below = _below_names(front, names)
    notes = notes_by_mark([*below, *foot], known)
    for author, (marks, orcid) in zip(authors, marks_of, strict=True):
        author.orcid = orcid
        places = [tidy_place(notes[mark]) for mark in marks if mark in notes and is_place(notes[mark])]
        author.affiliation = "; ".join(dict.fromkeys(place for place in places if is_place(place))) or None
    owners: dict[int, list[Piece]] = {}
    if not any(author.affiliation for author in authors):
        owners = blocks_below(front, names)
        for number, pieces in owners.items():
            lines = [tidy_place(piece.text) for piece in pieces if is_place(piece.text)]
            authors[number].affiliation = _joined([line for line in lines if is_place(line)]) or None
    named_in_notes(authors, " ".join(piece.text for piece in foot))
    emails = give_emails(authors, front, foot, owners, marks_of, notes)
    if not emails:
        places_at_end(layout, authors)
    _orcids(layout, authors, front)
    _orcids_in_notes(authors, " ".join(piece.text for piece in foot))
    _corresponding(authors, marks_of, notes, [*front, *foot])


def _regions(layout: Layout, title_end: int, stop: int) -> tuple[list[Piece], list[Piece]]:
    """Pieces between title and text, and those of the notes at the foot and beside the text of the same page."""
    page = layout.lines[title_end].page
    front: list[Piece] = []
    end = title_end
    for end in range(title_end, min(stop, len(layout.lines), title_end + 80)):
        line = layout.lines[end]
        if line.page != page or ends_front(line.text):
            break
        front += pieces_of(refit(line, layout), layout)
    low = 0.45 * layout.pages[page - 1].height
    small = [
        line for line in layout.lines[end:]
        if line.page == page and line.size < 0.93 * layout.body_size and line.base > low
    ]  # fmt: skip
    beside = [line for line in layout.asides if line.page == page]
    labelled = [line for line in layout.lines[end:] if line.page == page and _CORRESPONDING.search(line.text)]
    ordered = dict.fromkeys(id(line) for line in [*beside, *small, *labelled])
    by_id = {id(line): line for line in [*beside, *small, *labelled]}
    return front, [piece for key in ordered for piece in pieces_of(by_id[key], layout)]


def _below_names(front: Sequence[Piece], names: Sequence[str]) -> list[Piece]:
    """The pieces under the last name."""
    wanted = [squeezed(name.split()[-1]) for name in names]
    last = max((i for i, piece in enumerate(front) if any(w in squeezed(piece.text) for w in wanted[-1:])), default=-1)
    holding = [i for i, piece in enumerate(front) if squeezed(names[-1]) in squeezed(piece.text)]
    return list(front[(holding[0] if holding else last) + 1 :])


def _joined(lines: Sequence[str]) -> str:
    """Lines of an address, separated by commas; a line broken in the middle is closed."""
    text = ""
    for line in lines:
        line = line.strip(" ,;")
        if not text:
            text = line
        elif text.endswith("-") or re.search(r"\b(?:of|and|for|the|de|et|für|und)$", text):
            text = f"{text} {line}" if not text.endswith("-") else text[:-1] + line
        else:
            text = f"{text}, {line}"
    return text


def _orcids(layout: Layout, authors: Sequence[Author], front: Sequence[Piece]) -> None:
    """ORCIDs of links on page 1 go to the name to their left, or to the name they are drawn over."""
    taken = {author.orcid for author in authors}
    for link in layout.links:
        orcid = orcid_of(link.uri) if "orcid.org" in link.uri else None
        if orcid is None or orcid in taken:
            continue
        owner = _beside(link.box, authors, front)
        if owner is not None and owner.orcid is None:
            owner.orcid = orcid
            taken.add(orcid)


def _orcids_in_notes(authors: Sequence[Author], text: str) -> None:
    """ "ORCID: 0000-0002-1825-0097 (A. Byron)", or the name in front of it."""
    for match in PRINTED_ORCID.finditer(text):
        behind, before = text[match.end() : match.end() + 40], text[max(0, match.start() - 60) : match.start()]
        inside = re.match(r"\s*\(([^()]{3,40})\)", behind)
        places = [inside[1]] if inside else [before]
        owners = [a for a in authors if any(re.search(rf"\b{re.escape(a.name.split()[-1])}\b", p) for p in places)]
        if len(owners) == 1 and owners[0].orcid is None:
            owners[0].orcid = orcid_of(match.group())


def _beside(box: tuple[float, float, float, float], authors: Sequence[Author], front: Sequence[Piece]) -> Author | None:
    """The author whose name ends nearest to the left of the middle of the box, in its row."""
    best: tuple[float, Author] | None = None
    for piece in front:
        if not box[1] - 3 <= piece.base - 0.3 * piece.size <= box[3] + 3:
            continue
        width = (piece.x1 - piece.x0) / max(1, len(piece.text))
        for author in authors:
            start = piece.text.casefold().find(author.name.casefold())
            if start < 0:
                continue
            x = piece.x0 + width * start
            distance = (box[0] + box[2]) / 2 - x
            if distance > -4 and (best is None or distance < best[0]):
                best = distance, author
    return best[1] if best else None


def _corresponding(
    authors: Sequence[Author],
    marks_of: Sequence[tuple[list[str], str | None]],
    notes: dict[str, str],
    pieces: Sequence[Piece],
) -> None:
    """Authors with an envelope or a mark whose note mentions correspondence, or named where the text mentions it."""
    meant = {mark for mark, note in notes.items() if _CORRESPONDING.search(note[:120])} | ENVELOPES
    for author, (marks, _) in zip(authors, marks_of, strict=True):
        author.is_corresponding = bool(meant & set(marks))
    text = " ".join(piece.text for piece in pieces)
    for match in _CORRESPONDING.finditer(text):
        following = text[match.start() : match.end() + 160]
        for author in authors:
            surname = re.escape(author.name.split()[-1])
            named = re.match(rf"[^.;]{{0,60}}?[:：]\s*(?:[^\W\d_][\w.\s-]{{0,40}}\s)?{surname}\b", following)
            by_mail = author.email is not None and re.match(
                rf"[^;@]{{0,80}}?{re.escape(author.email)}", following, re.I
            )
            addressed = re.match(rf"[^;@:]{{0,40}}?\bto:?\s(?:[^\W\d_][\w.\s-]{{0,40}}\s)?{surname}\b", following)
            if named or by_mail or addressed:
                author.is_corresponding = True


__all__ = ["PLACE", "fill_people"]

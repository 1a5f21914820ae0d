"""The lines around the authors' names: without cover pages, in rows, split at wide gaps; and their e-mail addresses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from monjyu_assets.parsing.bibliography.names import is_name
from monjyu_assets.parsing.formats.pdf.page.layout import Layout, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.author_block import ABSTRACT, ends_front, is_place
from monjyu_assets.parsing.text.heading_types import strip_numbering
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import Author


@dataclass(frozen=True)
class Piece:
    """A piece of text in a row; `raised[i]` is True if `text[i]` is a raised mark."""

    text: str
    raised: tuple[bool, ...]
    x0: float
    x1: float
    base: float
    size: float
    italic: bool = False

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2


def refit(line: Line, layout: Layout) -> Line:
    """The line with the size of its largest common letters, so that long raised marks do not determine it."""
    page = layout.pages[line.page - 1]
    rows = line.index[line.index >= 0]
    if not len(rows):
        return line
    sizes = np.round(page.size[rows], 1)
    values, counts = np.unique(sizes, return_counts=True)
    common = values[counts >= 0.15 * len(rows)]
    size = float(common.max()) if len(common) else line.size
    if size <= 1.05 * line.size:
        return line
    base = float(np.median(page.base[rows[sizes == size]]))
    script = [
        1 if row >= 0 and page.size[row] < 0.87 * size and page.base[row] < base - 0.12 * size else 0
        for row in line.index.tolist()
    ]
    return replace(line, size=size, base=base, script=script)


def pieces_of(line: Line, layout: Layout) -> list[Piece]:
    """The parts of a line between wide gaps, left to right."""
    page = layout.pages[line.page - 1]
    bounds = [0, *(gap + 1 for gap in line.wide_gaps), len(line.text)]
    found: list[Piece] = []
    for start, stop in pairwise(bounds):
        text = line.text[start:stop].rstrip()
        rows = [row for row in line.index[start:stop].tolist() if row >= 0]
        if not text or not rows:
            continue
        raised = tuple(script == 1 for script in line.script[start : start + len(text)])
        x0, x1 = float(page.x0[rows].min()), float(page.x1[rows].max())
        found.append(Piece(text, raised, x0, x1, line.base, line.size, line.italic_share > 0.6))
    return found


_RUNNING_HEAD = re.compile(rf"(?:{alternatives('labels.running_head')})\s*:", re.I)


def named_heads(layout: Layout) -> set[int]:
    """Return the lines of the first pages that are labelled as the running head ("Running head: BEES")."""
    return {i for i, line in enumerate(layout.lines) if line.page < 3 and _RUNNING_HEAD.match(line.text)}


_COVER_LENGTH = 3500
"""The maximum number of characters on a cover page with the address of its paper."""
_COVER = re.compile(r"researchgate\.net/publication", re.I)


_ADDRESS = re.compile(r"https?:|www\.|\bdoi\b", re.I)


def cover_lines(layout: Layout) -> set[int]:
    """Return the lines of up to two cover pages that a server put in front of the paper. Such a page has ResearchGate's
    profiles of authors, or little text with a link or DOI and the title that the next page has in large type. A link
    without a printed address is also on the title page of a working paper, which has an abstract."""
    covers: set[int] = set()
    for page in (1, 2):
        own = {i for i, line in enumerate(layout.lines) if line.page == page}
        text = " ".join(layout.lines[i].text for i in sorted(own))
        put = _COVER.search(text) and re.search(r"author profiles|see profile", text, re.I)
        again = len(text) < _COVER_LENGTH and _title_again(layout, page + 1, squeezed(text))
        linked = any(link.page == page and link.uri.startswith("http") for link in layout.links) and not any(
            ABSTRACT.match(layout.lines[i].text) for i in own
        )
        if not (put or (again and (linked or _ADDRESS.search(text)))):
            break
        covers |= own
    return covers if len(covers) < len(layout.lines) else set()


def _title_again(layout: Layout, page: int, text: str) -> bool:
    """Whether the largest type at the top of the page is a title that the text of the previous page (squeezed) contains
    as well, be it with a side column between its lines."""
    size, title = _largest(layout, page)
    found = title in text or title == _largest(layout, page - 1)[1]
    return size > 1.2 * layout.body_size and 20 < len(title) < 300 and found


def _largest(layout: Layout, page: int) -> tuple[float, str]:
    """The largest type at the top of the page and the text in it (squeezed)."""
    height = layout.pages[page - 1].height if len(layout.pages) >= page else 0.0
    head = [line for line in layout.lines if line.page == page and line.base < 0.6 * height]
    size = max((line.size for line in head), default=0.0)
    return size, squeezed(" ".join(line.text for line in head if line.size > 0.97 * size))


def gather_large_lines(layout: Layout) -> None:
    """Move a line in large type directly after the line above it if a gutter, a side column or a raised mark separated
    them, as with the last line of a centred title."""
    lines = layout.lines
    count = sum(line.page == lines[0].page for line in lines) if lines else 0
    for i in range(min(count, 60) - 1):
        line = lines[i]
        own = lines[i + 1]
        if len(line.text) == 1 and 0 < own.base - line.base < line.size and abs(line.x0 - own.x1) < line.size:
            lines[i : i + 2] = own, line  # a mark of a symbol font, raised more than its line
        if line.size < 1.25 * layout.body_size:
            continue
        for j in range(i + 2, min(count, i + 20)):
            other = lines[j]
            alike = abs(other.size - line.size) < 0.03 * line.size and other.style[1:3] == line.style[1:3]
            shared = min(line.x1, other.x1) - max(line.x0, other.x0)
            below = 0 < other.base - line.base < 1.7 * line.size and shared > 0.5 * min(line.width, other.width)
            edges = min(line.x0, other.x0), max(line.x1, other.x1)
            if (
                alike
                and below
                and all(
                    between.base > other.base
                    or between.x1 <= edges[0]
                    or (between.size < 0.6 * line.size and not edges[0] < between.x1 < edges[1])
                    for between in lines[i + 1 : j]
                )
            ):
                lines.insert(i + 1, lines.pop(j))
                break


def move_names_beside(layout: Layout, start: int, end: int) -> tuple[int, int, int]:
    """Move names left of the title, in its rows, directly below it; return the title's range and the end of the
    names."""
    lines, title = layout.lines, layout.lines[start:end]
    if not title:
        return start, end, end
    left, top, bottom = min(line.x0 for line in title), title[0].base - title[0].size, title[-1].base
    beside = [line for line in lines if line.page == title[0].page and top < line.base <= bottom and line.x1 <= left]
    if not beside or not all(is_name(line.text.strip(" ,")) for line in beside):
        return start, end, end
    moved = {id(line) for line in [*beside, *title]}
    before, after = ([line for line in part if id(line) not in moved] for part in (lines[:start], lines[end:]))
    layout.lines = [*before, *title, *sorted(beside, key=lambda line: line.base), *after]
    return len(before), len(before) + len(title), len(before) + len(moved)


def running_heads(layout: Layout, title_end: int) -> set[int]:
    """Return the lines at the top of later pages, apart from the text, whose words are all in the title or the lines
    below it."""
    if not 0 < title_end <= len(layout.lines):
        return set()
    first = layout.lines[title_end - 1].page
    front = " ".join(line.text for line in layout.lines[: title_end + 12] if line.page == first)
    words = {squeezed(word) for word in re.findall(r"[^\W\d_]+", front)} | {"et", "al", "and"}
    found: set[int] = set()
    for i in range(title_end, len(layout.lines) - 1):
        line, below = layout.lines[i], layout.lines[i + 1]
        top = line.page > first and layout.lines[i - 1].page < line.page and below.page == line.page
        if not top or line.base > 0.15 * layout.pages[line.page - 1].height or below.base - line.base < 1.7 * line.size:
            continue
        if line.bold_share > 0.6 or line.size > layout.body_size + 0.5:
            continue  # a heading of the title's words
        own = [squeezed(word) for word in re.findall(r"[^\W\d_]+", line.text)]
        if own and len(line.text) < 90 and all(word in words for word in own):
            found.add(i)
    return found


def _in_rows(lines: list[Line], numbers: list[int]) -> list[int]:
    """Pieces top to bottom, and left to right if their baselines differ by less than 2 points."""
    rows: list[list[int]] = []
    for i in sorted(numbers, key=lambda i: lines[i].base):
        if rows and lines[i].base - lines[rows[-1][0]].base < 2:
            rows[-1].append(i)
        else:
            rows.append([i])
    return [i for row in rows for i in sorted(row, key=lambda i: lines[i].x0)]


def order_title_page(layout: Layout, title_end: int) -> None:
    """Put blocks of authors that a gutter divides back into rows, because names are read across and text down the
    columns."""
    lines = layout.lines
    if title_end >= len(lines) or not title_end:
        return
    page, top = lines[title_end - 1].page, lines[title_end - 1].base
    own = [i for i in range(title_end, len(lines)) if lines[i].page == page]
    bottom = min((lines[i].base for i in own if _ends_names(lines[i].text) and lines[i].base > top), default=None)
    if bottom is None:
        return
    above = _in_rows(lines, [i for i in own if top < lines[i].base < bottom - 3])
    moved: list[int] = []
    for i in above:
        left, right = layout.extents[page, lines[i].block]
        if not lines[i].full_width and lines[i].width > 0.85 * (right - left) and len(lines[i].text) > 45:
            break
        moved.append(i)
    if not 0 < len(moved) < 60 or moved == list(range(title_end, title_end + len(moved))):
        return
    rest = [i for i in range(title_end, len(lines)) if i not in set(moved)]
    layout.lines = [*lines[:title_end], *(lines[i] for i in [*moved, *rest])]


def _ends_names(text: str) -> bool:
    """Whether a line is the first below the names: an abstract, or a section that is known or has the number 1."""
    first = strip_numbering(text)[0] in ("1", "I") and len(text) < 60 and not is_place(text) and "," not in text
    return ends_front(text) or first


# E-mail addresses of page 1 and their owners.
_ONE = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
_GROUP = re.compile(
    r"[{(\[]\s*([\w.+-]{1,64}(?:\s*[,;|]\s*[\w.+-]{1,64}){1,30})\s*[})\]]\s*@\s*([\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"
)
EMAIL = re.compile(_ONE)
AuthorMarks = Sequence[tuple[list[str], str | None]]


def emails_in(text: str) -> list[tuple[str, int, int]]:
    """Return e-mail addresses with their start and end in the text; `{ada,bob}@x.org` is two addresses."""
    found = [
        (f"{local.strip()}@{match[2]}", match.start(), match.end())
        for match in _GROUP.finditer(text)
        for local in re.split(r"[,;|]", match[1])
    ]
    taken = [(start, end) for _, start, end in found]
    for match in EMAIL.finditer(text):
        if not any(start <= match.start() < end for start, end in taken):
            address = match.group().rstrip(".")
            found.append((address.lower() if address.isupper() else address, match.start(), match.end()))
    return sorted(found, key=lambda item: item[1])


def without_emails(text: str) -> str:
    """The text without addresses and the words that introduce them."""
    text = EMAIL.sub(" ", _GROUP.sub(" ", text))
    text = re.sub(r"\(?\s*\be-?mails?(?:\s+address(?:es)?)?\s*:?\s*[;,\s]*\)?\s*$", "", text, flags=re.I)
    return " ".join(text.split()).strip(" ;,:()")


def give_emails(
    authors: Sequence[Author],
    front: Sequence[Piece],
    foot: Sequence[Piece],
    owners: Mapping[int, Sequence[Piece]],
    marks_of: AuthorMarks,
    notes: Mapping[str, str],
) -> list[str]:
    """Set the e-mail address of each author by the name after it, its block, its mark or its spelling. Returns all
    addresses."""
    text = "\n".join(piece.text for piece in [*front, *foot])
    found = emails_in(text)
    unclaimed: list[str] = []
    blocks = {mail: number for number, pieces in owners.items() for p in pieces for mail, _, _ in emails_in(p.text)}
    single = len(set(blocks.values())) > 1 or len(authors) == 1
    for mail, _, end in found:
        named = _named_behind(authors, text[end : end + 60])
        by_block = authors[blocks[mail]] if mail in blocks and single else None
        owner = named or by_block or _by_mark(authors, mail, marks_of, notes) or _by_spelling(authors, mail)
        if owner is not None and owner.email is None:
            owner.email = mail
        elif owner is None:
            unclaimed.append(mail)
    left = [author for author in authors if author.email is None]
    if len(authors) == 1 and unclaimed and left:
        authors[0].email = unclaimed[0]
    return [mail for mail, _, _ in found]


def _named_behind(authors: Sequence[Author], following: str) -> Author | None:
    """The author in "ada@x.org (Ada Byron)", or None."""
    match = re.match(r"\s*\(([^()]{2,50})\)", following)
    if not match:
        return None
    inside = squeezed(match[1])
    initials = [author for author in authors if inside == "".join(squeezed(word)[:1] for word in author.name.split())]
    if len(initials) == 1:
        return initials[0]
    owners = [author for author in authors if squeezed(author.name.split()[-1]) in inside]
    exact = [author for author in authors if squeezed(author.name) == inside]
    return exact[0] if exact else owners[0] if len(owners) == 1 else None


def _by_mark(authors: Sequence[Author], mail: str, marks_of: AuthorMarks, notes: Mapping[str, str]) -> Author | None:
    """The only author with the mark whose note contains the address."""
    for mark, note in notes.items():
        if mail in note and len(emails_in(note)) == 1:
            owners = [author for author, (marks, _) in zip(authors, marks_of, strict=True) if mark in marks]
            if len(owners) == 1:
                return owners[0]
    return None


def _by_spelling(authors: Sequence[Author], mail: str) -> Author | None:
    """The author whose names form the local part, if one author fits better than all others."""
    local = squeezed(mail.split("@")[0])
    scores = [(_likeness(local, author.name), number) for number, author in enumerate(authors)]
    scores.sort(reverse=True)
    if not scores or scores[0][0] < 1.5 or (len(scores) > 1 and scores[1][0] == scores[0][0]):
        return None
    return authors[scores[0][1]]


def _likeness(local: str, name: str) -> float:
    words = [squeezed(word) for word in name.replace("-", " ").split()]
    words = [word for word in words if word]
    if not words:
        return 0
    surname, given = words[-1], words[:-1]
    score = 0.0
    if len(surname) > 1 and surname in local:
        score += 2 + len(surname) / 10
    elif len(local) >= 4 and surname.startswith(local[1:]) and words[0][0] == local[0]:
        score += 2
    score += sum(1.5 for word in given if len(word) > 2 and word in local)
    if given and score and local.startswith(given[0][0]):
        score += 0.3
    if not score and local == "".join(word[0] for word in words) and len(local) > 1:
        score = 2
    if not score and len(words[0]) > 2 and (local == words[0] or local == surname + given[0][0] if given else False):
        score = 2
    whole = squeezed(name)
    return score + (1 if local and local == whole else 0)

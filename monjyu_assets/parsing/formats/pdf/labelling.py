"""Labels each line of a PDF in consecutive stages. The order, with its reasons:

1. Lines are removed and moved, before any is labelled: lists of contents and a server's cover page are removed; the
   title is found; below it, rows of names on the title page are put in order and running heads are removed. From here
   on no line moves, so that indices stay valid.
2. The reference list, because it divides the text into the ranges in front of it and behind it.
3. Headings of these ranges, without bold lines of the title page.
4. The front: authors end where the first heading begins; abstract and keywords follow them, and the headings of their
   parts are removed from the headings of the paper. The remaining headings get their levels.
5. Floats: captions with their tables and figures take a heading or a line of the front only as a table's cell.
6. Running text is the rest, except lettering of figures and small type.
7. Footnotes are found by the markers in the running text and removed from it; formulas stay. The rest is notes and
   lettering.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise

from monjyu_assets.parsing.bibliography.names import person_name
from monjyu_assets.parsing.formats.pdf.body.heading import Heading, contents_lines
from monjyu_assets.parsing.formats.pdf.body.heading_levels import set_levels
from monjyu_assets.parsing.formats.pdf.body.headings import find_headings
from monjyu_assets.parsing.formats.pdf.body.reference_list import ReferenceList, find_reference_list
from monjyu_assets.parsing.formats.pdf.body.sections import body_lines, lines_in_images
from monjyu_assets.parsing.formats.pdf.front.affiliations import PLACE
from monjyu_assets.parsing.formats.pdf.front.authors import find_authors, names_in_line, turned_name
from monjyu_assets.parsing.formats.pdf.front.first_page import CLASSES, Front, begins_at, find_front
from monjyu_assets.parsing.formats.pdf.front.people import fill_people
from monjyu_assets.parsing.formats.pdf.front.title import find_title
from monjyu_assets.parsing.formats.pdf.front.title_page import (
    cover_lines,
    gather_large_lines,
    move_names_beside,
    named_heads,
    order_title_page,
    running_heads,
)
from monjyu_assets.parsing.formats.pdf.front.unlabelled import find_motto, find_unlabelled
from monjyu_assets.parsing.formats.pdf.page.captions import Floats, find_floats
from monjyu_assets.parsing.formats.pdf.page.footnotes import Footnote, find_footnotes
from monjyu_assets.parsing.formats.pdf.page.layout import Layout, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Style
from monjyu_assets.parsing.text.author_block import ABSTRACT, FIRST_NUMBER
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.paper import Author


class Role(Enum):
    """The role of a line. After all stages each line has one."""

    TITLE = auto()
    AUTHORS = auto()
    REFERENCES = auto()
    HEADING = auto()
    FRONT = auto()
    """Lines of the abstract and keywords."""
    FLOAT = auto()
    """Captions, tables and the text inside figures."""
    LETTERING = auto()
    """Text over an image, and fragments of formulas and figures."""
    TEXT = auto()
    FOOTNOTE = auto()
    NOTE = auto()
    """Lines outside the text: the journal's lines on page 1, addresses after the reference list."""


_TAKEN = (Role.HEADING, Role.FRONT, Role.FLOAT, Role.LETTERING, Role.NOTE)
"""Roles of lines that cannot be running text. A title and a reference list can, in documents that are not built like a
paper."""


@dataclass
class Labelled:
    """The lines of a layout with their roles, and what they contain. Line numbers are indices of `layout.lines`.

    `ranges` are the lines before and after the reference list, without the title.
    """

    layout: Layout
    words: Words
    title: str = ""
    title_start: int = 0
    title_end: int = 0
    references: ReferenceList | None = None
    ranges: list[tuple[int, int]] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    authors: list[Author] = field(default_factory=list)
    authors_end: int = 0
    body_start: int = 0
    front: Front = field(default_factory=Front)
    floats: list[Floats] = field(default_factory=list)
    notes: list[Footnote] = field(default_factory=list)
    roles: dict[int, Role] = field(default_factory=dict)

    def label(self, lines: Iterable[int], role: Role) -> None:
        """Set the role of `lines`; a later role replaces an earlier one."""
        self.roles.update(dict.fromkeys(lines, role))

    def having(self, *roles: Role) -> list[int]:
        """Lines with one of `roles`, in order."""
        return sorted(i for i, role in self.roles.items() if role in roles)

    def taken(self) -> set[int]:
        return set(self.having(*_TAKEN))


def label_lines(layout: Layout) -> Labelled:
    """Run all stages in order, and return the lines with their roles. Lists of contents, cover pages and running heads
    are moved from `layout.lines` to the furniture."""
    labelled = settle_lines(layout)
    _find_headings(labelled)
    _label_front(labelled)
    _label_floats(labelled)
    _label_text(labelled)
    _label_footnotes(labelled)
    for i in range(len(layout.lines)):
        if i not in labelled.roles:
            words = re.findall(r"[^\W\d_]{3,}|[\u3041-\u9fff\uac00-\ud7a3]", layout.lines[i].text)
            labelled.label([i], Role.NOTE if len(words) > 2 else Role.LETTERING)  # parts of formulas
    return labelled


def settle_lines(layout: Layout) -> Labelled:
    """Run the first two stages."""
    words = Words(line.text for line in layout.lines)
    contents = contents_lines(layout)
    _drop(layout, contents)
    _drop(layout, cover_lines(layout) | named_heads(layout))
    gather_large_lines(layout)
    title, start, end = find_title(layout, words)
    start, end, names_end = move_names_beside(layout, start, end)
    order_title_page(layout, names_end)
    _drop(layout, running_heads(layout, end))
    labelled = Labelled(layout, words, title, start, end)
    labelled.label(range(start, end), Role.TITLE)
    _label_references(labelled)
    return labelled


def _drop(layout: Layout, numbers: set[int]) -> None:
    """Move lines of contents, cover pages and running heads to the furniture."""
    layout.furniture += [layout.lines[i] for i in sorted(numbers)]
    layout.lines = [line for i, line in enumerate(layout.lines) if i not in numbers]


def _label_references(labelled: Labelled) -> None:
    count = len(labelled.layout.lines)
    place = labelled.references = find_reference_list(labelled.layout, labelled.title_end)
    labelled.ranges = [(labelled.title_end, place.heading if place else count)]
    if place:
        labelled.label([*range(place.heading, place.end), *range(*place.more)], Role.REFERENCES)
        bounds = [place.end, *(place.more if any(place.more) else ()), count]
        labelled.ranges += [
            (first, last) for first, last in zip(bounds[::2], bounds[1::2], strict=True) if first < last
        ]


def _find_headings(labelled: Labelled) -> None:
    """Find the headings. They are labelled with the front, which removes some of them."""
    layout = labelled.layout
    found = find_headings(layout, labelled.ranges, labelled.words)
    if (place := labelled.references) and place.tail:  # bold lines of the publisher there are not headings
        found = [
            h for h in found
            if h.start < place.end or h.number or h.outline_level is not None or section_type(h.text) != "other"
        ]  # fmt: skip
    labelled.headings = _after_front(found, layout, labelled.title_end)


def _label_front(labelled: Labelled) -> None:
    layout, title_end, stop = labelled.layout, labelled.title_end, labelled.ranges[0][1]
    headings = labelled.headings
    names_stop = headings[0].start if headings else min(stop, title_end + 60)
    motto = find_motto(layout, title_end, names_stop)
    names_stop = motto[0] if motto and motto[0] > title_end else names_stop
    labelled.authors, labelled.authors_end = find_authors(layout, labelled.title_start, title_end, names_stop)
    labelled.label(range(title_end, labelled.authors_end), Role.AUTHORS)
    headings = [heading for heading in headings if heading.start >= labelled.authors_end]
    front = labelled.front = find_front(layout, labelled.authors_end, stop, headings, labelled.words)
    kept = [heading for heading in headings if heading not in front.dropped]
    first_page = layout.lines[title_end].page if title_end < len(layout.lines) else 1
    early = [heading for heading in kept if layout.lines[heading.start].page <= first_page + 1]
    titles = [*_translated_titles(early, front), *(heading for heading in early if CLASSES.match(heading.text))]
    titles += [heading for heading in kept if squeezed(heading.text) == squeezed(labelled.title)]
    labelled.headings = [heading for heading in kept if heading not in titles]
    labelled.label((i for heading in titles for i in range(heading.start, heading.end)), Role.NOTE)
    opening = _unlabelled(labelled, stop, motto)
    first_text = min([*front.used, *opening[:1], stop, *(heading.start for heading in headings[:1])])
    fill_people(layout, labelled.authors, title_end, first_text)
    for author in labelled.authors:
        author.name = person_name(author.name)
    set_levels(labelled.headings, layout.body_size)
    labelled.label((i for heading in labelled.headings for i in range(heading.start, heading.end)), Role.HEADING)
    labelled.label(front.used, Role.FRONT)
    until = _body_start(layout, labelled.authors_end, labelled.headings, front.used)
    labelled.label(opening, Role.TEXT)
    behind = [i for i in opening if i > max(front.used, default=-1)]
    labelled.body_start = min([until, *behind[:1]])
    for i in range(labelled.body_start):
        if i not in labelled.roles:
            text = layout.lines[i].text
            of_people = i >= title_end and (PLACE.search(text) or "@" in text)
            labelled.label([i], Role.AUTHORS if of_people else Role.NOTE)


def _translated_titles(headings: list[Heading], front: Front) -> list[Heading]:
    """Headings above the abstract, and unknown ones directly above an abstract in another language, before the
    introduction."""
    label = min(front.used, default=-1) if front.abstract else -1
    unknown = [section_type(heading.text) == "other" and heading.number is None for heading in headings]
    above = [heading for heading in headings if heading.start < label and heading.number is None]
    found = [heading for heading in above if section_type(heading.text) != "abstract"]
    for k, (heading, following) in enumerate(pairwise(headings)):
        kind = section_type(heading.text)
        if kind not in ("other", "abstract"):
            break
        if unknown[k] and heading.start > label and section_type(following.text) == "abstract":
            found.append(heading)
    return found


def _unlabelled(labelled: Labelled, stop: int, motto: list[int]) -> list[int]:
    """Take the abstract from unlabelled prose if there is no other; return the lines of such prose that belong to the
    text, with those of a motto."""
    layout, front = labelled.layout, labelled.front
    end = min([stop, *(heading.start for heading in labelled.headings[:1])])
    abstract, text = find_unlabelled(layout, labelled.authors_end, end, front.used | set(motto))
    above = layout.lines[labelled.authors_end : min(abstract, default=-1) + 1]
    if any(FIRST_NUMBER.fullmatch(line.text) for line in above):
        abstract, text = [], [*abstract, *text]  # a section that has a number in place of a heading
    text = sorted([*text, *motto])
    if front.abstract:
        return sorted([*abstract, *text])
    front.abstract = [(layout.lines[i], 0, len(layout.lines[i].text)) for i in abstract]
    if abstract and (match := ABSTRACT.match(layout.lines[abstract[0]].text)):  # "Abstract We count ..." in one face
        line, _, stop_at = front.abstract[0]
        hung = len(abstract) > 1 and begins_at(layout, line, match.end(), layout.lines[abstract[1]].x0)
        front.abstract[0] = (line, match.end() if hung or line.text[match.end() :][:1].isupper() else 0, stop_at)
    front.used.update(abstract)
    return text


def _label_floats(labelled: Labelled) -> None:
    """Label captions, tables and figures. A heading that turns out to be a cell of a table or a label in a figure is
    dropped."""
    taken, layout, words = labelled.taken(), labelled.layout, labelled.words
    unknown = [h for h in labelled.headings if h.outline_level is None and section_type(h.text) == "other"]
    doubtful = {i for heading in unknown for i in range(heading.start, heading.end)}
    labelled.floats = [find_floats(layout, first, last, taken, words, doubtful) for first, last in labelled.ranges]
    labelled.label((i for found in labelled.floats for i in found.taken), Role.FLOAT)
    kept = [heading for heading in labelled.headings if labelled.roles.get(heading.start) is not Role.FLOAT]
    if len(kept) < len(labelled.headings):
        labelled.headings = kept
        set_levels(kept, layout.body_size)


def _label_text(labelled: Labelled) -> None:
    layout, ranges = labelled.layout, labelled.ranges
    for start, end in ranges[1:]:
        # Addresses, imprints and notices follow the list; what has a heading is a part of the paper.
        first = next((heading.start for heading in labelled.headings if heading.start >= start), end)
        labelled.label((i for i in range(start, first) if i not in labelled.roles), Role.NOTE)
    labelled.label((i for first, last in ranges for i in lines_in_images(layout, first, last)), Role.LETTERING)
    taken = labelled.taken()
    # Small type below other headings is a note: thanks, and notices of publishers.
    after = {h.end for h in labelled.headings if section_type(h.text) not in ("other", "acknowledgments")}
    for first, last in ranges:
        labelled.label(body_lines(layout, max(first, labelled.body_start), last, taken, after), Role.TEXT)
    other = set(labelled.having(Role.HEADING, Role.FRONT, Role.FLOAT, Role.LETTERING))
    kept = sum(len(layout.lines[i].text) for i in [*other, *labelled.having(Role.TEXT)])
    place = labelled.references
    listed = place.end - place.heading if place else 0
    if kept < 0.5 * sum(len(line.text) for line in layout.lines) and listed < 0.4 * len(layout.lines):
        # Not built like a paper (a slide, a form, a web page): everything below the title is text.
        below = [i for first, last in ranges for i in range(first, last) if i not in other]
        labelled.label(below or [i for i in range(len(layout.lines)) if i not in other], Role.TEXT)


def _label_footnotes(labelled: Labelled) -> None:
    text, taken = labelled.having(Role.TEXT), labelled.taken()
    labelled.notes = [
        note for first, last in labelled.ranges for note in find_footnotes(labelled.layout, text, taken, first, last)
    ]
    labelled.label((i for note in labelled.notes for i in note.lines), Role.FOOTNOTE)


def _after_front(headings: list[Heading], layout: Layout, title_end: int) -> list[Heading]:
    """Return the headings without bold lines of the title page. All above the first heading in the outline or numbered
    1 are dropped; above a known section name, those in front of the first with prose below it and the style of a later
    heading; without any of these, those in front of the first that is not a name or place or is on a later page."""
    first_page = layout.lines[title_end].page if title_end < len(layout.lines) else 1
    early = [heading for heading in headings if layout.lines[heading.start].page <= first_page + 1]
    styles: set[Style] | None = None
    for k, heading in enumerate(early):
        counted = heading.number in ("1", "I") and not PLACE.search(heading.text)  # not "1 University of Delft"
        if heading.outline_level is not None or counted or section_type(heading.text) != "other":
            if heading.outline_level is not None or counted:
                return headings[k:]
            styles = {later.style for later in headings[k:]}
            early = early[:k]
            break
    for k, heading in enumerate(early):
        if styles is None and layout.lines[heading.start].page > first_page:
            return headings[k:]
        place = PLACE.match(strip_numbering(heading.text)[1])
        line, below = layout.lines[heading.start], layout.lines[heading.end : heading.end + 3]
        words = " ".join(line.text for line in below).split()
        prose = len(words) > 9 and sum(word[0].islower() for word in words) >= 0.25 * len(words)
        prose = prose and sum(other.style == heading.style for other in headings) > 1
        named = place or turned_name(line, below) or (names_in_line(line) and (not prose or 1 in line.script))
        if not named and (styles is None or (heading.style in styles and prose)):
            return headings[k:]
    return headings[len(early) :]


def _body_start(layout: Layout, start: int, headings: list[Heading], used: set[int]) -> int:
    """The first line that can be running text: a heading, the line after the abstract, or the first prose."""
    if headings and layout.lines[headings[0].start].page == layout.lines[start].page:
        return headings[0].start
    if used:
        return max(used) + 1
    for i in range(start, len(layout.lines) - 2):
        run = layout.lines[i : i + 3]
        same = all(abs(line.size - layout.body_size) < 0.5 and line.block == run[0].block for line in run)
        if same and sum(len(line.text) for line in run[:2]) > 80:
            return i
    return start

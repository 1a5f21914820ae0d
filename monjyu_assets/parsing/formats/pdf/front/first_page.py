"""Reads page 1 except title and authors: abstract, keywords, DOI, arXiv id, dates."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_assets.parsing.bibliography.dates import MONTH_AND_YEAR, RECENT_YEAR, days_in, iso_day, iso_month
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_ON_PAGE, DOI_PREFIX, find_doi
from monjyu_assets.parsing.formats.pdf.body.heading import Heading
from monjyu_assets.parsing.formats.pdf.front.unlabelled import SENTENCE_END
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.author_block import ABSTRACT, ACCEPTED, KEYWORDS, PUBLISHED, RECEIVED
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.line_ends import Words

Piece = tuple[Line, int, int]
"""A line and the range of its characters."""


@dataclass
class Front:
    """The abstract, as pieces of lines, and the keywords. `used` are the lines of both (indices of `layout.lines`),
    `dropped` the headings in them."""

    abstract: list[Piece] = field(default_factory=list)
    abstract_heading: str = "Abstract"
    keywords: list[str] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    dropped: list[Heading] = field(default_factory=list)


def take_side_heading(layout: Layout, i: int, stop: int, front: Front) -> bool:
    """Fill `front` and return True if the heading of the abstract follows a wide gap in line `i`, with text below it.

    The abstract is the text under the heading; the words to its left are notes, including the keywords.
    """
    line = layout.lines[i]
    gap = next((gap for gap in line.wide_gaps if ABSTRACT.fullmatch(line.text[gap + 1 :].strip())), None)
    if gap is None:
        return False
    left = _x(layout, line, gap + 1) - 4
    used, notes, above = [i], list[str](), line
    for k in range(i + 1, stop):
        below = layout.lines[k]
        start = _start(layout, below, left)
        near = below.page == line.page and 0 < below.base - above.base < 3.0 * max(above.size, 8)
        if not near or (start is None and below.x1 > left) or _RIGHTS.match(below.text[start or 0 :]):
            break
        if start is not None:
            front.abstract.append((below, start, len(below.text)))
        notes.append(below.text[:start].strip() if start is not None else below.text)
        used.append(k)
        above = below
    if sum(stop - start for _, start, stop in front.abstract) < 60:
        front.abstract = []
        return False
    front.abstract_heading = line.text[gap + 1 :].strip()
    front.used.update(used)
    front.keywords = front.keywords or _keywords(notes)
    return True


def _x(layout: Layout, line: Line, place: int) -> float:
    row = next((int(row) for row in line.index[place:].tolist() if row >= 0), -1)
    return float(layout.pages[line.page - 1].x0[row]) if row >= 0 else line.x1


def begins_at(layout: Layout, line: Line, place: int, x: float) -> bool:
    """Whether the character at `place` begins at `x`, as the text behind a label that hangs out does."""
    return abs(_x(layout, line, place) - x) < 3


def _start(layout: Layout, line: Line, left: float) -> int | None:
    """The beginning of the text under the heading: a word after a wide gap, or the start of the line."""
    if left <= line.x0 < left + 30:
        return 0
    starts = [gap + 1 for gap in line.wide_gaps]
    return next((start for start in starts if left <= _x(layout, line, start) < left + 30), None)


def _keywords(notes: list[str]) -> list[str]:
    """Keywords, one per line, under "Keywords"."""
    for k, note in enumerate(notes):
        match = KEYWORDS.match(note)
        if match:
            words = [note[match.end() :], *notes[k + 1 :]]
            end = next((n for n, word in enumerate(words) if n and not word), len(words))
            parts = [part.strip(" .,") for word in words[:end] for part in word.split(";")]
            return [part for part in parts if 1 < len(part) < 80][:30]
    return []


# The date of publication as page 1 prints it.
_LABELS = [(4.0, PUBLISHED), (0.5, ACCEPTED), (0.2, RECEIVED)]
"""Labels before a date, with the trust in it as the date of publication. A date on its own line without a label has
2."""


def find_date(layout: Layout, of_venue: str | None, notes: Sequence[Line], doi: str | None) -> str | None:
    """Return the date of publication printed on page 1, as ISO 8601 with the printed precision. In order of trust: a
    date labelled as that of publication, the stamp of a preprint server, the date in the line of the venue
    (`of_venue`), a date on its own line or in small type, a month on its own line, a year in the line of the venue, the
    day of acceptance, that of receipt, any other date; then a year in running heads or in `notes` (lines outside the
    text), and one in the DOI.
    """
    found: list[tuple[float, str]] = [(3.0 if of_venue and len(of_venue) > 4 else 1.5, of_venue)] if of_venue else []
    first = layout.lines[0].page if layout.lines else 1
    found += [(3.5, iso_day(match)) for match in days_in(layout.pages[first - 1].turned)]
    for line in (*layout.furniture, *layout.asides, *layout.lines):
        alone_month = MONTH_AND_YEAR.fullmatch(line.text.rpartition("\u00b7")[2].strip(" ()."))
        if alone_month and line.page in (1, first):
            found.append((1.6, iso_month(alone_month)))
        if line.page != first:
            continue
        for match in days_in(line.text):
            before = line.text[max(0, match.start() - 25) : match.start()]
            labels = [(word.start(), value) for value, label in _LABELS for word in label.finditer(before)]
            alone = line.size < 0.95 * layout.body_size or len(line.text) < 60
            found.append((max(labels)[1] if labels else 2.0 if alone else 0.1, iso_day(match)))
    return max(found)[1] if found else _year([*layout.furniture, *layout.asides, *notes], first, doi)


def _year(lines: Sequence[Line], page: int, doi: str | None) -> str | None:
    """The year that most lines outside the text of a page contain, the latest if there are several; otherwise that in a
    DOI (10.1109/abc.2010.49)."""
    years: Counter[str] = Counter()
    for line in lines:
        if line.page == page and not RECEIVED.search(line.text):
            years.update(match.group() for match in _ONE_YEAR.finditer(line.text))
            years.update({_century(match[1]) for match in _MEETING.finditer(line.text)})
    if not years and doi and (match := re.search(rf"\.({RECENT_YEAR})\.", doi)):
        return match[1]
    return max(years, key=lambda year: (years[year], year), default=None)


_ONE_YEAR = re.compile(rf"(?<![\w.,/\u2010-\u2015\uff0d-]){RECENT_YEAR}(?![\w/\u2010-\u2015\uff0d-])")
"""A year that is not part of a span of years (of a life, of pages), of a number or of a link."""
_MEETING = re.compile(r"\b[A-Z][A-Za-z]*[A-Z]\s?['\u2019](\d\d)\b")
"""An abbreviation of a conference with its year: SOSP'07."""


def _century(digits: str) -> str:
    return f"{'19' if int(digits) > 60 else '20'}{digits}"


_IMRAD_PARTS = re.compile(
    r"(?:background|objectives?|aims?|purpose|introduction|(?:materials? (?:and|&) )?methods?|design|setting|results?|"
    r"findings|conclusions?|discussion|significance|interpretation|importance|context|trial registration|funding)"
    r"(?:\s*(?:and|/|&)\s*\w+)?\s*[:.]?", re.I,
)  # fmt: skip
CLASSES = re.compile(
    r"categories (?:and|&) subject|general terms\b|ccs concepts|acm (?:classification|reference)|jel\b|pacs\b|msc\b|"
    r"(?:\w+ )?mathematics subject class", re.I,
)  # fmt: skip
"""How the lines of a classification below an abstract begin."""
_RIGHTS = re.compile(
    r"(?:copyright\s*)?(?:\u00a9|\(c\))\s*(?:the authors?\b|\d{4}\b|copyright\b)|copyright\s+(?:c\s+)?\d{4}\b|"
    r"\d{4}\s.{3,60}\ball rights reserved|c\s\d{4}\b", re.I,
)  # fmt: skip
"""A notice such as "© 2003 Elsevier", which ends an abstract; some fonts lose the sign or its circle."""


def find_front(layout: Layout, start: int, stop: int, headings: list[Heading], words: Words) -> Front:
    """Return the abstract and keywords between line `start` (after the authors) and `stop`, on the page of `start` or
    the next."""
    front = Front()
    pages = {layout.lines[start].page, layout.lines[start].page + 1} if start < len(layout.lines) else set()
    early = [i for i in range(start, stop) if layout.lines[i].page in pages]
    _find_keywords(layout, front, early, headings, words)
    for i in early:
        if take_side_heading(layout, i, stop, front):
            front.dropped += [heading for heading in headings if heading.start in front.used]
            return front
        match = ABSTRACT.match(layout.lines[i].text)
        if match and _is_abstract_start(layout, i, match, any(heading.start < i for heading in headings)):
            _take_abstract(layout, front, i, match.end(), stop, headings)
            return front
    _find_later(layout, front, max(early, default=stop), stop, headings, words)
    return front


def _find_later(layout: Layout, front: Front, last: int, stop: int, headings: list[Heading], words: Words) -> None:
    """Take the abstract of a thesis, which has a heading on a page of its own between line `last` and introduction."""
    until = next((heading.start for heading in headings if _opens(heading)), 0)
    between = (heading for heading in headings if last < heading.start < until)
    own = next((heading for heading in between if ABSTRACT.fullmatch(heading.text.strip())), None)
    if own is not None:
        page = layout.lines[own.start].page
        pages = [i for i in range(own.start, stop) if layout.lines[i].page in (page, page + 1)]
        _find_keywords(layout, front, pages, headings, words)
        _take_abstract(layout, front, own.start, len(layout.lines[own.start].text), stop, headings)


def _is_abstract_start(layout: Layout, i: int, match: re.Match[str], headed: bool) -> bool:
    """Whether the abstract starts here. With `headed`, a heading is above; a "Summary" below a heading is the last
    section."""
    line = layout.lines[i]
    alone = match.end() >= len(line.text.rstrip())
    if match["word"].casefold() == "summary" and (not alone or (headed and not match["mark"].strip())):
        return False
    return alone or bool(match["mark"].strip()) or (line.bold[0] and not all(line.bold)) or match["word"].isupper()


def _take_abstract(layout: Layout, front: Front, i: int, offset: int, stop: int, headings: list[Heading]) -> None:
    """Take the lines from the heading to the keywords, the next heading outside the abstract, or a change of type."""
    lines = layout.lines
    starts = {heading.start: heading for heading in headings}
    own = starts.get(i)
    if ABSTRACT.fullmatch(lines[i].text[offset:].strip(" -\u2013\u2014/")):  # in two languages
        offset = len(lines[i].text)
    front.abstract_heading = lines[i].text[:offset].strip(" .:\u2014\u2013-") or "Abstract"
    front.used.add(i)
    if own is not None:
        front.dropped.append(own)
    if offset < len(lines[i].text.rstrip()):
        front.abstract.append((lines[i], offset, len(lines[i].text)))
    first: Line | None = None if not front.abstract else lines[i]
    after = next((heading for heading in headings if heading.start > i and heading not in front.dropped), None)
    until = _opens(after) and after is not None and lines[after.start].page == lines[i].page
    above, k = i, i + 1
    while k < stop:
        line = lines[k]
        if not front.abstract and line.base < lines[i].base and line.size < 0.8 * lines[i].size:
            k += 1  # a side column of small type
            continue
        again = ABSTRACT.match(line.text)  # in another language
        if k in front.used or KEYWORDS.match(line.text) or CLASSES.match(line.text) or _RIGHTS.match(line.text):
            break
        labelled = again is not None and again["mark"].strip() and again.end() < len(line.text)
        bold = line.bold[0] and not all(line.bold) and _has_prose(front)
        if labelled and first and (bold or line.style != first.style):
            break
        heading = starts.get(k)
        if heading is not None:
            named = heading.run_in and section_type(heading.text) not in ("other", "references")
            part = (named or _IMRAD_PARTS.fullmatch(heading.text)) and _below(heading, own, lines[i])
            parts = [other for other in front.dropped if other is not own and other.start > i]
            part = part and (parts[0].style == heading.style if parts else not _has_prose(front))
            if not part or _another_same(heading, [h for h in headings if h not in front.dropped]):
                break
            front.dropped.append(heading)
        elif (
            first is not None
            and _changes(layout, first, lines[above], line, len(front.abstract))
            and not (until and line.style == first.style and line.block == lines[k - 1].block)  # another paragraph
        ):
            over = _over_notes(lines, above, k, stop)
            if over is None:
                break
            k, line = over, lines[over]
        if heading is None:
            first = first or line
        front.abstract.append((line, 0, len(line.text)))
        front.used.add(k)
        above = k if len(line.text) > 3 else above
        k += 1


def _over_notes(lines: Sequence[Line], above: int, k: int, stop: int) -> int | None:
    """The line on the next page with which a sentence of the abstract goes on behind the notes at the foot of its page,
    which begin at `k`; None without one."""
    last = lines[above]
    following = next((n for n in range(k, stop) if lines[n].page > last.page), None)
    if following is None or SENTENCE_END.search(last.text) or lines[k].page != last.page:
        return None
    line = lines[following]
    notes = all(each.size < 0.9 * last.size for each in lines[k:following])
    return following if notes and line.style == last.style and line.text[:1].islower() else None


def _opens(heading: Heading | None) -> bool:
    """Whether the heading opens the text, so that no prose precedes it."""
    return heading is not None and (heading.number in ("1", "I") or section_type(heading.text) == "introduction")


def _has_prose(front: Front) -> bool:
    """Whether the abstract begins with sentences and so ends at the next heading. An abstract with headed parts begins
    with a heading."""
    return sum(stop - start for _, start, stop in front.abstract) > 150


def _below(heading: Heading, own: Heading | None, line: Line) -> bool:
    """Whether a heading is smaller than the heading of the abstract (on `line`) or in another face, as headings of its
    parts are."""
    if own is None:
        return heading.style[0] < line.size + 1.0
    other_face = (own.style[1], own.style[3]) != (heading.style[1], heading.style[3])
    return heading.style[0] < own.style[0] - 0.4 or other_face


def _another_same(heading: Heading, headings: list[Heading]) -> bool:
    """Whether the heading has the style of an introduction above it. It then belongs to a section, not to a part of the
    abstract."""
    return any(
        other.style == heading.style and section_type(other.text) == "introduction"
        for other in headings
        if other is not heading and other.start < heading.start
    )


def _changes(layout: Layout, first: Line, above: Line, line: Line, count: int) -> bool:
    """Whether the size changes, or the width of the column after a gap: the abstract has ended. A sentence that goes on
    in the next row does not end it."""
    near = line.page == above.page and -1 < line.base - above.base < 1.6 * above.size
    if near and abs(line.size - above.size) < 0.2 * above.size and not SENTENCE_END.search(above.text):
        return False
    if abs(line.size - first.size) > 0.45 and line.size > 0.8 * first.size:
        return True
    if line.size <= 0.8 * first.size:
        return len(line.text) > 3  # not a part of a formula
    step = line.base - above.base
    if line.page != above.page or line.block != above.block:
        return count >= 3 and (line.full_width != first.full_width or abs(line.width - first.width) > 0.3 * first.width)
    return step > 2.4 * line.size and count >= 3 and not re.match(r"[^\W\d_]+(?:\s[^\W\d_]+){0,3}:", line.text)


def _continued(text: str, following: str, words: Words) -> str:
    """Join two lines, dropping or keeping a hyphen at the end of the first."""
    hyphen = words.hyphen(text, following)
    return f"{text} {following}".strip() if hyphen is None else text[:-1] + hyphen + following


_OTHER_LABEL = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?:\s")
"""Another field below the keywords ("Word count: 4501")."""


def _find_keywords(layout: Layout, front: Front, early: list[int], headings: list[Heading], words: Words) -> None:
    starts, lines = {heading.start for heading in headings}, layout.lines
    for i in early:
        line = layout.lines[i]
        match = KEYWORDS.match(line.text)
        if match is None:
            continue
        text, used = line.text[match.end() :], [i]
        for k in range(i + 1, min(i + 6, len(layout.lines))):
            below, above = layout.lines[k], layout.lines[k - 1]
            step = below.base - above.base
            headed = not text  # "Keywords" is on its own line, like a heading
            near = below.page == above.page and 0 < step < (2.4 if headed else 1.45) * line.size
            if (
                not near
                or _OTHER_LABEL.match(below.text)
                or (not headed and (k in starts or abs(below.size - lines[used[-1]].size) > 0.4))
            ):
                break
            if text.rstrip().endswith(".") and step > 1.25 * line.size:
                break
            text = _continued(text, below.text, words)
            used.append(k)
        parts = (
            re.split(r"\s*[;\u00b7\u2022|]\s*|\s+\u2013\s+", text)
            if re.search(r"[;\u00b7\u2022|]", text)
            else text.split(",")
        )
        keywords = [part.strip(" .,") for part in parts]
        front.keywords = [keyword for keyword in keywords if 1 < len(keyword) < 80][:30]
        front.used.update(used)
        front.dropped += [heading for heading in headings if heading.start in used]
        return


def find_identifiers(layout: Layout, info: dict[str, str]) -> tuple[str | None, str | None]:
    """Return the paper's own DOI (the most frequent one) and arXiv id, printed on page 1 (in its text, margins or
    furniture) or in PDF Info."""
    stamp = ARXIV_ON_PAGE.search(layout.pages[0].turned)
    arxiv = stamp.group(1) if stamp else None
    first = [line for line in (*layout.furniture, *layout.asides, *layout.lines) if line.page == 1]
    ordered = sorted(first, key=lambda line: (line.base, line.x0))
    candidates: list[str] = []
    for k, line in enumerate(ordered):
        if re.search(rf"doi|{DOI_PREFIX}", line.text, re.I):
            following = " ".join(other.text for other in _below_in_column(ordered, k))
            closed = re.sub(r"(10\.)\s*(?=\d{4,9}/)|(?<=/)\s+(?=[\w.]+$)", r"\1", line.text)
            doi = find_doi(closed) or find_doi(f"{line.text}{following}")
            if doi:
                candidates.append(doi)
        found = ARXIV_ON_PAGE.search(line.text)
        arxiv = arxiv or (found.group(1) if found else None)
    for key in ("doi", "DOI", "Subject", "Keywords"):
        candidates += [doi] if (doi := find_doi(info.get(key, ""))) else []
    counts = {doi: candidates.count(doi) for doi in candidates}
    best = max(counts, key=lambda doi: (counts[doi], -candidates.index(doi)), default=None)
    return best, arxiv


def _below_in_column(ordered: list[Line], k: int) -> list[Line]:
    line = ordered[k]
    near = [o for o in ordered[k + 1 :] if abs(o.x0 - line.x0) < 6 and 0 < o.base - line.base < 2 * line.size]
    return near[:1]

"""Finds the reference list of a PDF and splits its lines into entries."""

import itertools
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

from monjyu_assets.parsing.bibliography.dates import YEAR_ALONE
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_REFERENCE, DOI_PREFIX
from monjyu_assets.parsing.bibliography.names import CITED_PARTICLE, ENTRY_NAME, UPPER
from monjyu_assets.parsing.bibliography.references import CLOSED, OPENED, label_of, numbered_starts
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.author_block import CONTENTS, NUMBERED_FLOAT
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_assets.parsing.text.line_ends import Words

_URL_TAIL = re.compile(rf"(?:https?://|www\.|doi\.org|{DOI_PREFIX}/?)\S*$|\b10\.$|doi:\s*$", re.I)
_DATED = re.compile(rf"{YEAR_ALONE.pattern}|(?i:{ARXIV_IN_REFERENCE.pattern})")
_NAMED = re.compile(
    rf"(?:{CITED_PARTICLE}\s){{0,2}}{UPPER}[\w'\u2019-]+(?:[\s-]{UPPER}[\w'\u2019-]+)?(?:,\s+{UPPER}|\s{UPPER}\.)|"
    rf"(?:{UPPER}\.[\s-]?){{1,3}}{UPPER}"
)
"""A name with initials, or with the surname first."""
_MOST_LINES_OF_ENTRY, _LEAST_ENTRIES, _LEAST_INDENT = 9, 5, 4.0
"""Bounds of a list of hanging entries without a heading; the indent in points."""
_FIRST_LABEL = re.compile(rf"\s*(?:{OPENED}\s?1\s?{CLOSED}|1\.|\(1\))")


@dataclass(frozen=True)
class ReferenceList:
    """Lines `heading:start` are the heading, `start:end` the entries; `tail` is set if lines without a heading follow.
    `more` are the lines of a second list after the methods, whose numbers continue those of the first."""

    heading: int
    start: int
    end: int
    tail: bool = False
    more: tuple[int, int] = (0, 0)


def find_reference_list(layout: Layout, first: int) -> ReferenceList | None:
    """Return the longest reference list that has a heading and entries with years or numbers below it, otherwise a
    labelled list without a heading, or None."""
    found: ReferenceList | None = None
    for i in range(first, len(layout.lines)):
        text = layout.lines[i].text.strip()
        if (found and i < found.end) or len(text) > 45 or YEAR_ALONE.search(text):
            continue
        if section_type(strip_numbering(text)[1]) != "references":
            continue
        following = layout.lines[i + 1 : i + 16]
        years = sum(1 for line in following if _DATED.search(line.text))
        numbered = [label_of(line.text) for line in following]
        if years >= 2 or (years and len(following) < 6) or ("1" in numbered[:1] and "2" in numbered):
            end = _end(layout, i)
            last = _last(layout, i + 1, end)
            listed = ReferenceList(i, i + 1, last, last < end)
            if found is None or listed.end - listed.start > found.end - found.start:
                found = listed
    found = found or _without_heading(layout, first)
    return replace(found, more=_more(layout, found)) if found else None


def _more(layout: Layout, listed: ReferenceList) -> tuple[int, int]:
    lines = layout.lines
    entries = [line.text for line in lines[listed.start : listed.end]]
    starts = numbered_starts(entries)
    last = label_of(entries[starts[-1]]) if len(starts) > 4 else None
    for i in range(listed.end, len(lines) - 1) if last and last.isdigit() else ():
        if label_of(lines[i].text) != str(int(last or 0) + 1):
            continue
        labels = [label_of(line.text) for line in lines[i + 1 : i + 8]]
        years = sum(bool(_DATED.search(line.text)) for line in lines[i : i + 12])
        if str(int(last or 0) + 2) in labels and years > 2:
            return i, _last(layout, i, _end(layout, i))
    return 0, 0


def _without_heading(layout: Layout, first: int) -> ReferenceList | None:
    """A list in the last part of the text that needs no heading: labelled [1], [2], [3], with years in its entries, or
    of hanging entries."""
    lines = layout.lines
    for i in range(len(lines) - 2, max(first, len(lines) // 3), -1):
        if label_of(lines[i].text) != "1" or not _FIRST_LABEL.match(lines[i].text):
            continue
        end = _end(layout, i - 1)
        starts = numbered_starts([line.text for line in lines[i:end]])
        years = sum(bool(_DATED.search(line.text)) for line in lines[i:end])
        if len(starts) >= 3 and years >= 0.7 * len(starts) and len(starts) >= 0.15 * (end - i):
            last = _last(layout, i, end)
            return ReferenceList(i, i, last, last < end)
    return _of_hanging_entries(lines, first)


def _of_hanging_entries(lines: list[Line], first: int) -> ReferenceList | None:
    """A list of neighbouring entries that begin with a name or label, have a year, and indent their further lines."""
    bounds: list[int] = []  # the end of the list, then the starts of its entries from the last one backwards
    for i in reversed(range(max(first, len(lines) // 2), len(lines))):
        if not (_NAMED.match(lines[i].text) or label_of(lines[i].text)):
            continue
        if not bounds or i < bounds[-1] - _MOST_LINES_OF_ENTRY:
            if len(bounds) > _LEAST_ENTRIES:
                break
            bounds = [_end_of_indent(lines, i)]
        if _is_hanging(lines[i : bounds[-1]]):
            bounds.append(i)
        elif len(bounds) > 1 and _is_hanging(lines[i : bounds[-2]]):  # its second line begins with a name as well
            bounds[-1] = i
    entries = [(start, end) for end, start in itertools.pairwise(bounds)]
    dated = sum(any(_DATED.search(line.text) for line in lines[start:end]) for start, end in entries)
    indented = sum(end - start > 1 for start, end in entries)
    if len(entries) < _LEAST_ENTRIES or min(dated / 0.6, indented / 0.4) < len(entries):
        return None
    return ReferenceList(bounds[-1], bounds[-1], bounds[0], bounds[0] < len(lines))


def _end_of_indent(lines: list[Line], i: int) -> int:
    end = i + 1
    while end < min(len(lines), i + _MOST_LINES_OF_ENTRY) and _below(lines[end - 1], lines[end]):
        if lines[end].x0 < lines[i].x0 + _LEAST_INDENT:
            break
        end += 1
    return end


def _is_hanging(entry: list[Line]) -> bool:
    head = entry[0]
    own = [line for line in entry[1:] if (line.page, line.block) == (head.page, head.block)]
    dated = label_of(head.text) or any(_DATED.search(line.text) for line in entry)
    return bool(dated) and all(line.x0 > head.x0 + _LEAST_INDENT for line in own) and len(entry) <= _MOST_LINES_OF_ENTRY


def _end(layout: Layout, heading: int) -> int:
    """The line after the list: the next heading, list of contents or final figures and tables, otherwise the end of the
    document."""
    style = layout.lines[heading].style
    distinct = style[0] > layout.body_size + 0.4 or style[1] or style[3]
    for i in range(heading + 2, len(layout.lines)):
        line = layout.lines[i]
        own = line.style
        if _apart(layout, i) and (CONTENTS.fullmatch(line.text.strip(" .:")) or _floats_follow(layout, i)):
            return i
        known = section_type(line.text) not in ("other", "references") and len(line.text) < 60
        same = distinct and own[:2] == style[:2] and own[3] == style[3] and len(line.text) < 90
        if same and not YEAR_ALONE.search(line.text) and (known or _apart(layout, i)):
            return i
        if own[3] and _apart(layout, i) and _names_part(layout, i):
            return i
        if known and own[0] >= layout.body_size and (own[1] or own[0] > layout.body_size + 0.9) and _apart(layout, i):
            return i
    return len(layout.lines)


def _names_part(layout: Layout, i: int) -> bool:
    """Whether a line in capitals, such as BIOSKETCHES, is not an author, title or year and has few years below it."""
    text = layout.lines[i].text.strip()
    if not 6 < len(text) < 50 or re.search(r"[\d,;:&]|\.\s|\.$", text) or layout.lines[i - 1].style[3]:
        return False
    below = layout.lines[i + 1 : i + 9]
    return len(below) > 3 and sum(bool(YEAR_ALONE.search(line.text)) for line in below) <= 0.25 * len(below)


def _floats_follow(layout: Layout, i: int) -> bool:
    """Whether hardly any line after this caption has a year or a label, because figures and tables are at the end."""
    if not NUMBERED_FLOAT.match(layout.lines[i].text):
        return False
    rest = layout.lines[i:]
    return sum(1 for line in rest if YEAR_ALONE.search(line.text) or label_of(line.text)) < 0.16 * len(rest)


def _last(layout: Layout, start: int, end: int) -> int:
    """The end of the list in `start:end`, which is earlier if text without a heading follows it."""
    numbers = [i for i in range(start, end) if not _stray(layout.lines[i])]
    kept = _without_tail([layout.lines[i] for i in numbers])
    kept = kept[: _end_of_last(kept)]
    return numbers[len(kept) - 1] + 1 if len(kept) < len(numbers) else end


def _apart(layout: Layout, i: int) -> bool:
    above, line = layout.lines[i - 1], layout.lines[i]
    return above.page != line.page or above.block != line.block or line.base - above.base > 1.3 * layout.leading


def split_entries(layout: Layout, lines: list[Line]) -> list[list[Line]]:
    """The lines of a reference list, grouped by entry."""
    lines = _in_rows([_with_label(line) for line in lines if not _stray(line)])
    if not lines:
        return []
    starts = numbered_starts([line.text for line in lines])
    if not starts:
        starts = _hanging(lines) or _spaced(lines) or _by_text(lines)
    starts = starts if starts and starts[0] == 0 else [0, *starts]
    bounds = [*starts, len(lines)]
    entries = [lines[a:b] for a, b in itertools.pairwise(bounds) if b > a]
    return [entry for entry in entries if sum(c.isalpha() for line in entry for c in line.text) > 8]


def _with_label(line: Line) -> Line:
    """The line with a space after a raised number at its start, which is then a label: "12Byron, A."."""
    raised = next((k for k, script in enumerate(line.script) if script != 1), 0)
    label, text = line.text[:raised], line.text[raised:]
    return replace(line, text=f"{label} {text}") if label.isdecimal() and text[:1].isalpha() else line


def _stray(line: Line) -> bool:
    return not any(c.isalnum() for c in line.text)


def _without_tail(lines: list[Line]) -> list[Line]:
    """The lines up to the end of the list. It ends at a wide gap after which years and labels become rare (notices,
    addresses), or at a gap wider than all others after which no line begins with the name of an entry (biographies of
    the authors)."""
    steps = [b.base - a.base for a, b in itertools.pairwise(lines) if a.page == b.page and b.base > a.base]
    usual = sorted(steps)[int(0.8 * len(steps))] if steps else 0.0
    marked = [bool(YEAR_ALONE.search(line.text) or label_of(line.text)) for line in lines]
    signs = [*itertools.accumulate(reversed(marked))][::-1]  # years and labels from each line on
    named = [i for i, line in enumerate(lines) if _NAMED.match(line.text) or label_of(line.text)]
    widest = 0.0
    for i in range(1, len(lines)):
        above, line = lines[i - 1], lines[i]
        step = line.base - above.base if _below(above, line) else 0.0
        if len(named) > 0.1 * i and i > named[-1] and step > 1.4 * widest > 0 and i > len(lines) // 3:
            return lines[:i]
        widest = max(widest, step)
        if i < len(lines) // 3:
            continue
        moved = not _below(above, line) and _ends_entry(above.text) and bool(named) and i > named[-1]
        if moved and not signs[i] and any("@" in other.text for other in lines[i:]):
            return lines[:i]  # addresses of the authors
        wide = above.page == line.page and line.base - above.base > 1.5 * usual
        if wide and signs[i] < 0.16 * (len(lines) - i) and label_of(line.text) is None:
            return lines[:i]
    return lines


def _end_of_last(lines: list[Line]) -> int:
    """The end of the last entry of a labelled list: at a gap, or at a change of type or column after a full stop that
    no other entry has (addresses and biographies of the authors follow)."""
    starts = numbered_starts([line.text for line in lines])
    if len(starts) < 4 or label_of(lines[starts[-1]].text) is None:
        return len(lines)
    others = list(itertools.pairwise(starts))
    longest = max(b - a for a, b in others)
    steps = [b.base - a.base for s, e in others for a, b in itertools.pairwise(lines[s:e]) if _below(a, b)]
    size = sorted(line.size for line in lines)[len(lines) // 2]
    for i in range(starts[-1] + 1, len(lines)):
        above, line = lines[i - 1], lines[i]
        wide = _below(above, line) and line.base - above.base > 1.3 * max(steps, default=1.3 * size)
        moved = not _below(above, line) and _ends_entry(above.text)
        other = abs(line.size - size) > 0.4 and abs(above.size - size) < 0.2
        if wide or i - starts[-1] > longest + 3 or ((moved or other) and _ends_entry(above.text)):
            return i
    return len(lines)


def _below(above: Line, line: Line) -> bool:
    return above.page == line.page and above.block == line.block and line.base > above.base


def _lefts(lines: list[Line]) -> list[float]:
    """Offset of each line from the left edge of its column on its page. Overlapping columns count as one, because wide
    gaps between the words of a few lines look like a gutter."""
    edges: dict[tuple[int, int], tuple[float, float]] = {}
    for line in lines:
        left, right = edges.get((line.page, line.column), (line.x0, line.x1))
        edges[line.page, line.column] = min(left, line.x0), max(right, line.x1)
    on_page: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for (page, _), edge in edges.items():
        on_page[page].append(edge)
    shared = {
        (page, column): min(edge[0] for edge in on_page[page] if edge[0] <= right - 9 and edge[1] >= left + 9)
        if right - left > 18
        else left
        for (page, column), (left, right) in edges.items()
    }
    return [line.x0 - shared[line.page, line.column] for line in lines]


def _in_rows(lines: list[Line]) -> list[Line]:
    """The lines, row by row on pages where most lines run across the gutter: these have one column."""
    found: list[Line] = []
    for _, group in itertools.groupby(lines, key=lambda line: line.page):
        page = list(group)
        if sum(line.full_width for line in page) > 0.5 * len(page):
            page = [replace(line, column=0) for line in page]
            rows: list[list[Line]] = []
            for line in sorted(page, key=lambda line: line.base):
                if rows and line.base - rows[-1][0].base < 0.3 * line.size:
                    rows[-1].append(line)
                else:
                    rows.append([line])
            page = [line for row in rows for line in sorted(row, key=lambda line: line.x0)]
        found += page
    return found


def _hanging(lines: list[Line]) -> list[int]:
    """Starts of entries with a hanging indent: they begin at the left edge, their other lines one indent further in."""
    offsets = _lefts(lines)
    indents = Counter(round(offset) for offset in offsets if offset > 4)
    if not indents:
        return []
    indent, count = indents.most_common(1)[0]
    flush = [i for i, offset in enumerate(offsets) if offset < 0.5 * indent]
    near = sum(1 for offset in offsets if abs(offset - indent) < 2.5)
    if near < 0.25 * len(lines) or len(flush) < 2 or count < 2:
        return []
    set_in = [i for i, offset in enumerate(offsets) if abs(offset - indent) < 2.5]
    if _begun(lines, set_in) > max(0.7 * len(set_in), 1.5 * len(set_in) / len(flush) * _begun(lines, flush)):
        return set_in  # entries are indented like paragraphs
    names = sum(1 for i in flush if _entry_start(lines[i].text))
    return flush if names >= 0.5 * len(flush) else []


def _begun(lines: list[Line], starts: list[int]) -> int:
    """The number of lines that begin with a name, below a line that ends an entry."""
    return sum(
        ENTRY_NAME.match(lines[i].text) is not None and (not i or _ends_entry(lines[i - 1].text)) for i in starts
    )


def _entry_start(text: str) -> bool:
    return bool(ENTRY_NAME.match(text)) or bool(re.match(r"[^\W\d_a-z]", text))


def _spaced(lines: list[Line]) -> list[int]:
    """Starts of entries separated by wider gaps."""
    steps = [
        b.base - a.base if a.page == b.page and a.block == b.block and b.base > a.base else None
        for a, b in itertools.pairwise(lines)
    ]
    known = sorted(step for step in steps if step is not None)
    if len(known) < 4:
        return []
    small = known[len(known) // 10]
    wide = [step for step in known if step > 1.18 * small]
    if not 0.12 * len(known) < len(wide) < 0.85 * len(known):
        return []
    starts = [0]
    for i, step in enumerate(steps, start=1):
        if step is None:
            if _ends_entry(lines[i - 1].text) and _entry_start(lines[i].text):
                starts.append(i)
        elif step > 1.18 * small:
            starts.append(i)
    return starts


def _ends_entry(text: str) -> bool:
    return bool(re.search(r"(?:[.\])]|\d|/\S+)$", text.rstrip())) and not re.search(
        r"(?:,|\b[A-Z]\.|and|&|doi\.org/?)$", text.rstrip()
    )


_IN_CAPITALS = re.compile(rf"(?:{CITED_PARTICLE}\s)?{UPPER}{{2}}")


def _by_text(lines: list[Line], name: re.Pattern[str] = ENTRY_NAME) -> list[int]:
    """Starts of entries recognised by words alone: a name after a line that ends a sentence, with a year since the last
    start. Where most names are in capitals, others begin no entry."""
    starts = [0]
    seen_year = bool(YEAR_ALONE.search(lines[0].text))
    for i in range(1, len(lines)):
        if seen_year and name.match(lines[i].text) and _ends_entry(lines[i - 1].text):
            starts.append(i)
            seen_year = False
        seen_year = seen_year or bool(YEAR_ALONE.search(lines[i].text))
    capitals = sum(_IN_CAPITALS.match(lines[i].text) is not None for i in starts)
    return _by_text(lines, _IN_CAPITALS) if capitals > 0.7 * len(starts) and name is ENTRY_NAME else starts


def entry_text(lines: list[Line], words: Words) -> str:
    """Return the text of an entry; links and words divided at a line end are joined."""
    text = ""
    for line in lines:
        piece = line.text.strip()
        text = _joined(text, piece, words) if text else piece
    return text


def _joined(text: str, piece: str, words: Words) -> str:
    url = _URL_TAIL.search(text)
    if url and re.match(r"[\w/(#%.]", piece) and not re.match(r"(?:PMID|PMCID|Accessed|Available|Retrieved)\b", piece):
        token = piece.split()[0]
        open_end = text[-1] in "/._-=&?%:" or re.search(r"[\d/._-]", token.rstrip(".,;"))
        if open_end and not (text.endswith(".") and re.fullmatch(r"10\.\d+/\S+", token)):
            return text + piece
    hyphen = words.hyphen(text, piece)
    if hyphen is not None:
        return text[:-1] + hyphen + piece
    if text.endswith(("-", "\u2013")) and re.match(r"\w", piece):
        return text + piece
    return f"{text} {piece}"

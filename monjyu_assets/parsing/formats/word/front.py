"""Reads the front of a Word paper: title, authors, date, keywords and abstract, by style, appearance or content."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import clean_orcid
from monjyu_assets.parsing.bibliography.names import author_line, is_name, split_names
from monjyu_assets.parsing.formats.word.styles import Look, Styles, W, value
from monjyu_assets.parsing.office.packages import Element
from monjyu_assets.parsing.office.sections import one_line
from monjyu_assets.parsing.text.author_block import UDC, raised, read_authors
from monjyu_assets.parsing.text.common import comparable, join_lines, split_keywords
from monjyu_assets.parsing.text.front_lines import take_field, take_line
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.marks import take_marks
from monjyu_core.language.packs import also
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import Author, ParsedPaper

CHARACTERS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
"""The elements of a run that print one character."""
_LONGEST_TITLE = 300
_LONGEST_LINE = 400
_LONGEST_NAME = 100
_FRONT = 40
"""The number of paragraphs at the start of a document that may belong to its front."""
_MOST_ABOVE = 8
"""The number of paragraphs above a title: a journal's lines, names, affiliations."""


@dataclass
class Paragraph:
    """A paragraph of the body: its element, its words, the role given by its style, and the level of its heading."""

    element: Element
    text: str
    role: str
    level: int | None


def take_front(
    paper: ParsedPaper, paragraphs: Sequence[Paragraph], styles: Styles, properties: dict[str, str]
) -> list[Paragraph]:
    """Fill in the fields of the front; return the paragraphs that were recognised and so belong to no section."""
    title = _title(paragraphs, styles, properties.get("title", ""))
    paper.title = one_line(join_lines([paragraph.text for paragraph in title]))
    taken = list(title)
    after = paragraphs[paragraphs.index(title[-1]) + 1 :] if title else paragraphs
    names = _listed(paper, after) or _names(paper, after, styles) or _names_above(paper, paragraphs, title, styles)
    after = [paragraph for paragraph in after if paragraph not in names]
    taken += names
    for index, paragraph in enumerate(after[:_FRONT]):
        if paragraph.level is not None or section_type(paragraph.text) not in ("other", "abstract"):
            break
        if not paragraph.role and len(paragraph.text) > _LONGEST_LINE:
            break
        if _take(paper, paragraph, styles, first=index == 0):
            taken.append(paragraph)
    _trust_creator(paper, paragraphs, properties.get("creator", ""))
    paper.keywords = paper.keywords or split_keywords(properties.get("keywords", ""))
    return taken


def _names(paper: ParsedPaper, paragraphs: Sequence[Paragraph], styles: Styles) -> list[Paragraph]:
    """Take authors and their affiliations from paragraphs with the styles for them, otherwise from those below the
    title that look like them; return these paragraphs."""
    front = list(takewhile(lambda p: p.level is None and p.role not in ("abstract", "keywords"), paragraphs[:_FRONT]))
    named = [paragraph for paragraph in front if paragraph.role in ("author", "affiliation")]
    block = named if any(paragraph.role == "author" for paragraph in named) else front
    lines = [(paragraph, line) for paragraph in block for line in _raised_line(paragraph.element).split("\n")]
    authors, used = read_authors([line for _, line in lines])
    if not authors and lines and len(lines[0][1]) > _LONGEST_NAME:  # a note to the title
        del lines[0]
        block = block[1:]
        authors, used = read_authors([line for _, line in lines])
    alone = len(authors) == 1 and len(used) == 1 and block is not named
    if not authors or (alone and not Look(block[0].element, styles).centred):
        return []
    paper.authors = authors
    left = [paragraph for number, (paragraph, _) in enumerate(lines) if number not in used]
    return [paragraph for paragraph in block if paragraph not in left]


def _names_above(
    paper: ParsedPaper, paragraphs: Sequence[Paragraph], title: Sequence[Paragraph], styles: Styles
) -> list[Paragraph]:
    """Take the names that some journals print above the title, where nothing is a heading."""
    above = paragraphs[: paragraphs.index(title[0])] if title else []
    for start in range(len(above) if not _has_prose(above) else 0):
        above[start].level = None
        if names := _names(paper, above[start:], styles):
            return names
    return []


def _has_prose(paragraphs: Sequence[Paragraph]) -> bool:
    return len(paragraphs) > _MOST_ABOVE or any(len(paragraph.text) > _LONGEST_LINE for paragraph in paragraphs)


_AUTHORS = re.compile(rf"(?:{alternatives('labels.authors')})\W*", re.I)
_ONE_OF_A_LIST = re.compile(r"\W*(?P<name>[^\d·,;(\n@]{4,60}?)\s*(?:$|[·,;(\n]|(?=\s\d{4}-))(?P<rest>.*)", re.S)


def _listed(paper: ParsedPaper, paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Take the authors from a section "Authors" of the front: a paragraph for each, with identifiers, accounts and
    the affiliation after the name. Return its paragraphs, none if one of them is something else."""
    headings = [i for i, paragraph in enumerate(paragraphs) if paragraph.level is not None][:2]
    if not headings or headings[0] >= _FRONT or not _AUTHORS.fullmatch(paragraphs[headings[0]].text.strip()):
        return []
    section = paragraphs[headings[0] : headings[1] if len(headings) > 1 else None]
    found = [_ONE_OF_A_LIST.match(paragraph.text) for paragraph in section[1:]]
    names = [match["name"].strip() for match in found if match]
    if not names or len(names) < len(found) or not all(map(is_name, names)):
        return []
    for name, match in zip(names, filter(None, found), strict=True):
        parts = [part for part in match["rest"].split("·") if len(part.split()) > 2]
        accounts = "·" in match["rest"] and bool(parts)
        place = parts[0].split(maxsplit=1)[1] if accounts else " ".join(parts)
        place = re.sub(r"^[\s\dX-]{19,}", "", place).strip(" ,;()")
        paper.authors.append(Author(name=name, orcid=clean_orcid(match["rest"]), affiliation=place or None))
    return list(section)


def _raised_line(element: Element) -> str:
    """The words of a paragraph with its raised letters marked."""
    pieces: list[str] = []
    for run in element.iterchildren(f"{W}r"):
        text = take_marks("".join(CHARACTERS.get(piece.tag, piece.text or "") for piece in run))[0]
        pieces.append(raised(text) if value(run, "rPr/vertAlign") == "superscript" else text)
    return "".join(pieces).strip()


def _title(paragraphs: Sequence[Paragraph], styles: Styles, named: str) -> list[Paragraph]:
    """The title: by style, which can span several paragraphs; by the file's properties, if printed; by position and
    appearance."""
    for index, paragraph in enumerate(paragraphs[:_FRONT]):
        if paragraph.role == "title":
            end = index + 1
            while end < len(paragraphs) and paragraphs[end].role == "title":
                end += 1
            return list(paragraphs[index:end])
    front = [paragraph for paragraph in paragraphs[:_FRONT] if len(paragraph.text) <= _LONGEST_TITLE]
    if printed := next((p for p in front if named and comparable(p.text) == comparable(named)), None):
        return [printed]
    levels = [paragraph.level for paragraph in paragraphs if paragraph.level]
    if levels.count(min(levels, default=0)) == 1:
        top = next(paragraph for paragraph in paragraphs if paragraph.level == min(levels))
        above = paragraphs[: paragraphs.index(top)]
        first = not above if len(levels) == 1 else not _has_prose(above)
        if first and top in front and section_type(top.text) == "other":
            return [top]
    return _by_look(front, styles)


def _by_look(front: Sequence[Paragraph], styles: Styles) -> list[Paragraph]:
    """The largest, otherwise the first, of the short paragraphs before the first heading."""
    candidates: list[Paragraph] = []
    for paragraph in front[:8]:
        if paragraph.level or section_type(paragraph.text) != "other":
            headed = paragraph is not front[0] and section_type(paragraph.text) == "other" and not candidates
            candidates += [paragraph] if headed else []
            break
        if UDC.match(paragraph.text) or paragraph.text.startswith("\u00a9") or author_line(paragraph.text):
            continue
        if re.search(r"[^\W\d_]{2}", paragraph.text) and not re.search(r"[.!?。] \S.*[.!?。]$", paragraph.text):
            candidates.append(paragraph)
    if not candidates:
        return []
    looks = [Look(paragraph.element, styles) for paragraph in candidates]
    best = max(range(len(candidates)), key=lambda i: (looks[i].size, looks[i].bold, looks[i].centred, -i))
    if candidates[best].text.endswith((".", "。")) and not looks[best].bold:
        return []
    return [candidates[best]]


_KEYWORDS = re.compile(rf"^\W*(?:key ?words?|index terms{also('word_front.keywords')})\W+", re.I)


def _take(paper: ParsedPaper, paragraph: Paragraph, styles: Styles, *, first: bool) -> bool:
    line = one_line(paragraph.text)
    if paragraph.role == "author" and (not paper.authors or author_line(line)):
        paper.authors += [Author(name=name) for name in split_names(line)]
        return True
    if paragraph.role == "date" and paper.publication_date is None:
        paper.publication_date = parse_date(line)
        return paper.publication_date is not None
    if paragraph.role == "keywords" and not take_field(paper, line):
        paper.keywords = split_keywords(_KEYWORDS.sub("", line))
        return True
    several = "," in line or " and " in line or "・" in line
    return bool(
        paragraph.role == "keywords"
        or take_field(paper, line)
        or take_line(paper, line, names_fit=several or (first and Look(paragraph.element, styles).centred))
    )


def _trust_creator(paper: ParsedPaper, paragraphs: Sequence[Paragraph], creator: str) -> None:
    """Take the file's author if the front prints it."""
    names = split_names(creator)
    front = " ".join(paragraph.text for paragraph in paragraphs[:_FRONT])[:5000]
    if not paper.authors and names and all(len(name) > 3 and name in front for name in names):
        paper.authors = [Author(name=name) for name in names]

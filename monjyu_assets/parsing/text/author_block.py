"""Reads authors as a title page prints them: names with raised marks, and affiliations that begin with the same
marks."""

import re
from collections.abc import Container, Iterator, Sequence

from monjyu_assets.parsing.bibliography.names import (
    AND_WORD,
    BY,
    DEGREE,
    PRINTED_SEPARATOR,
    STOPS,
    UPPER,
    is_name,
    person_name,
)
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_core.language.vocabulary import alternatives, folded, stems, words
from monjyu_core.paper import Author


# Labels that a paper prints in front of its parts, in every language: "Abstract", "Mots-clés :", "Abb. 3", 图1.
def _spaced(key: str) -> str:
    """A pattern for the words of a key, also with spaces between their letters (A B S T R A C T)."""
    forms = dict.fromkeys(form for word in words(key) for form in (word, folded(word)))
    return "(?:" + "|".join(r"\s?".join(map(re.escape, form.replace(" ", ""))) for form in forms) + r")(?![^\W\d_])"


_LABEL_MARK = r"\s*[.:：\u2014\u2013-]+\s*"
_ABSTRACT = _spaced("labels.abstract")
ABSTRACT = re.compile(rf"[【\[<(]?(?P<word>{_ABSTRACT})[】\]>)]?(?P<mark>{_LABEL_MARK}|\s+|$)", re.I)
"""The label of an abstract at the start of a line, and the marks between it and the text."""
KEYWORDS = re.compile(rf"[【\[<(]?{_spaced('labels.keywords')}[】\]>)]?(?:{_LABEL_MARK}|\s*)", re.I)
"""The label of keywords at the start of a line, with the mark after it."""

UDC = re.compile(r"\W*(?:УДК|UDC|UDK|CDU|CDD|ББК)\s*:?\s*\d")
"""The number of a library's classification, above a title."""

_FIGURE, _TABLE = alternatives("labels.figure"), alternatives("labels.table")
_MORE = r"(?:(?:supplementary|extended\s+data|appendix)\s+)?"
CAPTION = re.compile(
    rf"(?P<kind>{_MORE}(?:(?P<table>{_TABLE})|{_FIGURE}))\s*\.?\s*"
    r"(?P<number>S?\d{1,3}[a-z]?|[IVX]{1,5}\b|[A-Z]\.?\d{1,2})\s*(?P<mark>[.:：|\u2013\u2014)-])?", re.I,
)  # fmt: skip
"""The label at the start of a caption; group `table` is None for a figure."""
NUMBERED_FLOAT = re.compile(
    rf"{_MORE}(?:{_TABLE}|{_FIGURE}|algorithm|listing|box)\s*\.?\s*(?:S?\d+|[IVXL]+\b|[A-Z]\d*\b)", re.I
)
"""The beginning of a caption of any kind."""
CONTENTS = re.compile(alternatives("labels.contents"), re.I)

RECEIVED, ACCEPTED, PUBLISHED = (
    re.compile(alternatives(f"labels.{name}"), re.I) for name in ("received", "accepted", "published")
)
"""Labels of dates."""


FIRST_NUMBER = re.compile(r"I\.?")
"""The number in place of the first section's heading."""


def ends_front(line: str) -> bool:
    """Whether a line below the title begins the abstract, the keywords or the first section."""
    if (
        ABSTRACT.match(line)
        or KEYWORDS.match(line)
        or line[:12].casefold() == "ccs concepts"
        or FIRST_NUMBER.fullmatch(line)
    ):
        return True
    return len(line) < 60 and section_type(line) in ("abstract", "introduction")


_OPEN, _CLOSE = "\ue0fa", "\ue0fb"
"""The characters around a raised mark: private-use characters, which are removed from all text of documents."""
LINE = "\ue0fc"
"""A line break inside a paragraph."""
_RAISED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_MARK = r"(?:\d{1,2}|[*†‡§¶#∗])"
_UNRAISED = re.compile(
    rf"(?<=[^\W\d_.])\s?({_MARK}(?:\s?,?\s?{_MARK})*)(?=\s*(?:[,;\u3001\u30fb\uff0c\uff1b]|$|{AND_WORD}|&))"
)
"""Marks after a name that are not raised, or no longer raised: "Ann One1,*"."""
_SMALL_DIGITS = re.compile("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+(?:,[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+)*")
_DIGITS = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "0123456789")
_INITIALS_BEHIND = re.compile(rf"\s*{UPPER}[\w'\u2019-]+\s(?:{UPPER}\.\s?){{1,3}}(?=[,\s]*[^\W\d_])")
_IN_FRONT = re.compile(r"\s*[(\[（]?(\d{1,2}|[a-z]|[*†‡§¶#∗])[)\].．）]?\s+(?=\S)")
_NEXT_MARK = re.compile(r"(?:\s|[;；]\s*)(\d{1,2})[).．）]\s*")
MAIL = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}")
_ORGANISATION = re.compile(stems("names.organisation"), re.IGNORECASE)
_NOTE = re.compile(r"(?i)\b(?:correspond|contribut|equal|deceased|present address)")
_STAR = re.compile(r"[*∗⁎]")
_LONGEST_LINE, _MOST_LINES = 1500, 60


def raised(marks: str) -> str:
    """Mark raised letters of a source for `read_authors`."""
    return f"{_OPEN}{marks}{_CLOSE}" if marks.strip() else marks


def without_marks(text: str) -> str:
    return _RAISED.sub("", text)


def unraised(text: str) -> str:
    """The text without marks of raised letters and line breaks; powers are written as 10^6."""
    text = re.sub(f"(?<=\\d){_OPEN}([-+\u2212\u2013]?\\d[^{_CLOSE}]*){_CLOSE}", r"^\1", text)
    return text.replace(_OPEN, "").replace(_CLOSE, "").replace(LINE, " ")


def read_authors(lines: Sequence[str]) -> tuple[list[Author], list[int]]:
    """Return the authors of the lines below a title, and the numbers of the lines with names, affiliations and
    addresses; ([], []) if the first line is not a list of names. An affiliation without a mark belongs to all names
    that have none of their own."""
    people: list[tuple[Author, list[str]]] = []
    places: dict[str, str] = {}
    shared: list[str] = []
    used: list[int] = []
    block = 0
    for number, printed in enumerate(lines[:_MOST_LINES]):
        line = _SMALL_DIGITS.sub(lambda match: raised(match[0].translate(_DIGITS)), printed)
        if len(line) > _LONGEST_LINE or ends_front(unraised(line)):
            break
        marked_first = bool(people) and line.lstrip().startswith(_OPEN)
        found = list(_people(line)) if not (marked_first or places) else []
        here = None if found or marked_first or places else _name_and_place(line)
        if shared and not here and not (found and is_place("".join(lines[number + 1 : number + 2]))):
            found = []
        if (found and shared) or here:  # the next block of names with its own affiliation
            _place_all(people[block:], shared)
            block, shared = len(people), here[1:] if here else []
        found = [(Author(name=here[0]), [])] if here else found
        known = {mark for _, marks in people for mark in marks}
        keyed = list(_places(line, known)) if people and not found else []
        mails = MAIL.findall(line)
        if found:
            people += found
        elif keyed and _NOTE.search(line):
            if not mails:
                continue  # a note on contributions, which stays in the text
        elif keyed:
            places |= {mark: place for mark, place in keyed if place}
        elif people and (is_place(line) or (shared and _is_address(line))):
            shared.append(_without_mail(line))
        elif not (people and mails and len(line) < 300):
            break
        bearers = [author for author, marks in people if any(mark in marks for mark, _ in keyed)]
        _give_mails(bearers if len(bearers) == 1 else [author for author, _ in people[block:]], mails)
        used.append(number)
    if not any(marks for _, marks in people):
        shared = shared or list(places.values())
    for author, marks in people[block:]:
        own = [places[mark] for mark in marks if mark in places] or shared
        author.affiliation = "; ".join(dict.fromkeys(filter(None, own))) or None
    return [author for author, _ in people], used


def _place_all(people: Sequence[tuple[Author, list[str]]], places: Sequence[str]) -> None:
    for author, _ in people:
        author.affiliation = author.affiliation or "; ".join(dict.fromkeys(filter(None, places))) or None


def _name_and_place(line: str) -> list[str] | None:
    """The name and the affiliation of a line with one of each: "Ann One, University of Rivers"; "Onev A. A. lecturer of
    the University of Rivers"."""
    said = unraised(line)
    name = match[0] if (match := _INITIALS_BEHIND.match(said)) else said.partition(",")[0]
    place = said[len(name) :].strip(" ,")
    return (
        [person_name(name), _without_mail(place)] if is_name(name) and is_place(place) and not is_place(name) else None
    )


def _is_address(line: str) -> bool:
    """Whether a line below an affiliation goes on with a street or a town and its postcode."""
    return len(line) < 200 and "," in line and re.search(r"(?<!\d)\d{4,6}(?!\d)", line) is not None


def _people(line: str) -> Iterator[tuple[Author, list[str]]]:
    """Each name of a line with its marks; nothing if one of its parts is not a name."""
    text = BY.sub("", DEGREE.sub("", line), count=1) if BY.match(line) else DEGREE.sub("", line)
    text = MAIL.sub("", text) if len(MAIL.findall(text)) < 2 else text
    if _OPEN not in text:
        text = _UNRAISED.sub(lambda match: raised(match[1]), text)
    text = re.sub(rf"([,;])\s*((?:{_RAISED.pattern}\s*)+)", r"\2\1", text)  # One,¹ Two² as One¹, Two²
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[1])
        return f"{_OPEN}{_CLOSE}"

    parts = [
        part for part in PRINTED_SEPARATOR.split(_RAISED.sub(hide, text)) if part and part.strip(f"{_OPEN}{_CLOSE} .")
    ]
    plain = (" ".join(part.replace(_OPEN, " ").replace(_CLOSE, " ").split()).strip(" *†‡") for part in parts)
    names = [person_name(STOPS.sub("", name)) for name in plain]
    if not names or not all(map(is_name, names)):
        return
    marks = iter(hidden)
    for part, name in zip(parts, names, strict=True):
        own = [mark for _ in range(part.count(_OPEN)) for mark in _split(next(marks, ""))]
        yield Author(name=name, is_corresponding=any(map(_STAR.search, own))), own


def _split(marks: str) -> list[str]:
    """The marks of a group: "1,2*" is three."""
    return re.findall(r"\d+|[^\W\d_]|[*†‡§¶#∗⁎]", marks)


def _places(line: str, known: Container[str]) -> Iterator[tuple[str, str]]:
    """The affiliations of a line by the mark before each; a mark that is not raised is `known` from a name."""
    if _OPEN not in line:
        match = _IN_FRONT.match(line)
        pieces = _NEXT_MARK.split(line[match.end() :]) if match else []
        if match and match[1] in known and all(mark in known for mark in pieces[1::2]):
            yield from zip([match[1], *pieces[1::2]], map(_without_mail, pieces[::2]), strict=True)
        return
    pieces = _RAISED.split(line)
    if pieces[0].strip():
        return
    for marks, text in zip(pieces[1::2], pieces[2::2], strict=True):
        for mark in _split(marks):
            yield mark, _without_mail(text)


def is_place(line: str) -> bool:
    """Whether a line names an organisation and is not prose."""
    return (
        len(line) < 400
        and _ORGANISATION.search(line) is not None
        and not re.search(r"[.!?]\s+[^\W\d_]{3,}\s+[a-z]", line)
    )


def _without_mail(text: str) -> str:
    text = re.sub(r"(?i)\b(?:e-?mails?|correspondence)\s*:?\s*$", "", MAIL.sub("", unraised(text)).strip(" ,;:.()"))
    return " ".join(text.split()).strip(" ,;:.()（）")


def _give_mails(authors: Sequence[Author], mails: Sequence[str]) -> None:
    """Give each address to the author whose surname it contains, or to the only author."""
    for mail in mails:
        local = mail.partition("@")[0].casefold()
        fits = [a for a in authors if not a.email and (len(authors) == 1 or a.name.split()[-1].casefold() in local)]
        if fits:
            fits[0].email = mail

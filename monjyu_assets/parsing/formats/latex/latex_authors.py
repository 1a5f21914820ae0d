"""The authors of a LaTeX paper: one `\\author` for all, or one each, with labels or followed by what belongs to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from monjyu_assets.parsing.bibliography.identifiers import clean_orcid
from monjyu_assets.parsing.formats.latex.latex_calls import Call, find_calls, without_calls
from monjyu_assets.parsing.formats.latex.latex_names import names
from monjyu_core.paper import Author

Plain = Callable[[str], str]
"""LaTeX source to text on one line."""

_PLACES = ("affil", "affiliation", "address", "institute", "icmlaffiliation", "altaffiliation")
_MAILS = ("email", "ead", "mail", "icmlcorrespondingauthor", "correspondingauthor")
_ORCIDS = ("orcid", "orcidlink", "orcidID")
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}")
_MARKS = re.compile(
    r"\$\s*(?:\{\s*\})?\^\s*(?:\{([^{}$]{0,60})\}|([^\s${}]))\s*\$|\\textsuperscript\s*\{((?:[^{}]|\{[^{}]*\}){0,60})\}"
    r"|\\inst\s*\{([^{}]{0,60})\}|\^\{([^{}]{0,60})\}"
)
_LINE_END = re.compile(r"\\\\\s*(?:\[[^\]]{0,20}\])?|\\newline(?![a-z])|\\AND(?![a-zA-Z])")
_BETWEEN = re.compile(
    r"\\(?:and|And|AND)(?![A-Za-z])|\\q?quad(?![a-z])|\\hfill(?![a-z])|\\enspace(?![a-z])|\\hspace\*?\{[^{}]*\}|[,;&\u3001\u30fb](?![^{]*\})|\s(?:and|und|et)\s"
)
_BLOCKS = re.compile(r"\\(?:and|And|AND)(?![A-Za-z])")
_CORRESPONDING = re.compile(
    r"\\(?:corref|Letter|cormark|corresponding)(?![a-z])|\\thanks\s*\{[^{}]*orrespond|\\faEnvelope"
)
_DROPPED = names(
    "thanks footnote footnotemark footnotetext corref fnref orcid orcidlink orcidID textsuperscript inst email cormark"
    " fnmark IEEEmembership IEEEauthorrefmark authornote tnoteref vspace href url"
)
"""Commands inside an author's name that are not part of it."""
_PLACE_WORDS = re.compile(
    r"(?i)\b(?:universi|institut|department|dept\.?|school|college|laborator|centre|center|faculty|hospital|academy|"
    r"research|inc\.|ltd|gmbh|corporation|company|google|microsoft|@)|大学|研究所|研究科|学部|株式会社"
)
_MOST = 2000


@dataclass
class _Person:
    author: Author
    marks: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)


def read_authors(source: str, plain: Plain) -> list[Author]:
    """Authors in order, with affiliation, e-mail, ORCID and who corresponds, where the source says so."""
    calls = find_calls(source, ("author", "icmlauthor", *_PLACES, *_MAILS, *_ORCIDS), 3)[:_MOST]
    writers = [call for call in calls if call.name in ("author", "icmlauthor") and call.arguments]
    keyed = _keyed_places(calls, plain)
    if len(writers) == 1 and writers[0].name == "author" and not writers[0].options:
        people = _of_one_block(writers[0].first, keyed, plain)
        rest = [call for call in calls if call is not writers[0]]
        _shared(people, rest, plain)
    else:
        people = _of_many(calls, plain)
    for person in people:
        own = [keyed[mark] for mark in person.marks if mark in keyed] or person.places
        person.author.affiliation = "; ".join(dict.fromkeys(own)) or None
    return [person.author for person in people if person.author.name]


def _person(source: str, plain: Plain) -> _Person:
    marks = [
        mark for match in _MARKS.finditer(source) for mark in _split_marks("".join(g or "" for g in match.groups()))
    ]
    mail = _MAIL.search(source.replace("\\_", "_"))
    named = find_calls(source, ("fnm", "sur"), 1)
    text = " ".join(call.first for call in named) if named else without_calls(_MARKS.sub("", source), _DROPPED)
    name = _MAIL.sub("", plain(text))
    name = re.sub(r"(?i)^(?:and|by)\s+|\s+and$", "", re.sub(r"[*†‡§¶∗]+|\s*\d+$", "", name).strip(" ,;.:"))
    author = Author(
        name=" ".join(name.split())[:200],
        email=mail[0] if mail else None,
        orcid=clean_orcid(source),
        is_corresponding=_CORRESPONDING.search(source) is not None,
    )
    return _Person(author, marks)


def _split_marks(text: str) -> list[str]:
    text = re.sub(r"\\(?:rm|bf|it|text[a-z]*|mathrm)\b|[{}]", " ", text)
    return [mark for part in re.split(r"[,;\s]+", text) if (mark := part.strip().lstrip("\\"))]


def _place(source: str, plain: Plain) -> str:
    """An affiliation on one line, without marks and e-mail addresses; `organization={…}, city={…}` gives its values."""
    values = re.findall(r"[a-z]+\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", source)
    text = ", ".join(value for value in values if value.strip()) if values else source
    calls = find_calls(
        text, ("institution", "department", "city", "state", "country", "orgname", "orgdiv", "streetaddress"), 1
    )
    if calls and any(call.first.strip() for call in calls):
        text = ", ".join(call.first.strip() for call in calls if call.first.strip())
    text = without_calls(_MARKS.sub("", text), ("email", "ead", "thanks", "url", "href", "orcid", "texttt"))
    lines = [plain(line).strip(" ,;.") for line in _LINE_END.split(text)]
    return ", ".join(_MAIL.sub("", line).strip(" ,;{}") for line in lines if _MAIL.sub("", line).strip(" ,;.{}"))


def _keyed_places(calls: list[Call], plain: Plain) -> dict[str, str]:
    """Places by their label: from \\affil[1]{…}, \\icmlaffiliation{key}{…}, and \\institute{… \\and …} by number."""
    keyed: dict[str, str] = {}
    for call in calls:
        if call.name == "institute":
            parts = re.split(r"\\and(?![a-z])", call.first)
            keyed |= {str(number): _place(part, plain) for number, part in enumerate(parts, 1)}
        elif call.name == "icmlaffiliation" and len(call.arguments) > 1:
            keyed[call.first.strip()] = _place(call.arguments[1], plain)
        elif call.name in _PLACES and call.options and call.arguments:
            keyed |= {mark: _place(call.first, plain) for mark in _split_marks(call.options[0])}
    return {key: place for key, place in keyed.items() if place}


def _of_one_block(source: str, keyed: dict[str, str], plain: Plain) -> list[_Person]:
    """All authors in one argument: in blocks of names and lines below them, or names with marks and places by mark."""
    if "\\IEEEauthorblockN" in source:
        return _of_ieee(source, keyed, plain)
    people: list[_Person] = []
    for block in _BLOCKS.split(source):
        lines = [line for line in _LINE_END.split(block) if line.strip()]
        top, below = _parted(lines, plain)
        here = [_person(part, plain) for line in top for part in _names(line) if part.strip()]
        here = [person for person in here if person.author.name]
        free: list[str] = []
        for line in below:
            marks = re.match(rf"\s*(?:{_MARKS.pattern})", line)
            found = _place(line, plain)
            if marks and found:
                keyed |= dict.fromkeys(_split_marks("".join(g or "" for g in marks.groups())), found)
            elif found:
                free.append(found)
        _give_mails(here, _MAIL.findall(" ".join(below).replace("\\_", "_")))
        for person in here:
            person.places = [", ".join(free)] if free else []
        people += here
    return people


def _names(line: str) -> list[str]:
    """The names of a line; what stands in braces is not taken apart."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[0])
        return f"\ue0f5{len(hidden) - 1}\ue0f6"

    line = re.sub(r"\$[^$]*\$|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", hide, line)
    parts = _BETWEEN.split(line)
    return [re.sub("\ue0f5(\\d+)\ue0f6", lambda match: hidden[int(match[1])], part) for part in parts]


def _parted(lines: list[str], plain: Plain) -> tuple[list[str], list[str]]:
    """Lines of names, and the lines below them, which begin where one names a place or begins with a mark."""
    for number, line in enumerate(lines):
        text = plain(without_calls(line, ("thanks", "footnote")))
        starts = re.match(rf"\s*(?:{_MARKS.pattern})", line)
        if number and (starts or _PLACE_WORDS.search(text) or (len(lines) <= 4 and not _MARKS.search(line))):
            return lines[:number], lines[number:]
    return lines, []


def _of_ieee(source: str, keyed: dict[str, str], plain: Plain) -> list[_Person]:
    people: list[_Person] = []
    waiting: list[_Person] = []
    for call in find_calls(source, ("IEEEauthorblockN", "IEEEauthorblockA"), 1):
        if call.name.endswith("N"):
            marked = re.sub(r"\\IEEEauthorrefmark\s*\{([^{}]*)\}", r"$^{\1}$", call.first)
            waiting = [_person(part, plain) for part in _names(marked) if part.strip()]
            people += waiting
            continue
        mark = re.match(r"\s*\\IEEEauthorrefmark\s*\{([^{}]*)\}", call.first)
        place = _place(without_calls(call.first, ("IEEEauthorrefmark",)), plain)
        if mark:
            keyed[mark[1].strip()] = place
        for person in waiting if not mark else []:
            person.places = [place]
        _give_mails(waiting, _MAIL.findall(call.first.replace("\\_", "_")))
    return [person for person in people if person.author.name]


def _of_many(calls: list[Call], plain: Plain) -> list[_Person]:
    """One command an author; what follows belongs to it; a place belongs also to earlier authors that have none yet."""
    people: list[_Person] = []
    since: list[_Person] = []
    placed = False
    for call in calls:
        if call.name in ("author", "icmlauthor") and call.arguments:
            for person in _of_command(call, plain):
                since = [] if placed else since
                placed = False
                people.append(person)
                since.append(person)
        elif call.name in _PLACES and not call.options and call.name != "icmlaffiliation":
            for person in since:
                person.places.append(_place(call.first, plain))
            placed = True
        elif people:
            _attribute(people, call)
    return people


def _of_command(call: Call, plain: Plain) -> Iterator[_Person]:
    found = (
        _names(call.first) if call.name == "author" and not find_calls(call.first, ("fnm", "sur"), 1) else [call.first]
    )
    for name in found:
        person = _person(name, plain)
        if not person.author.name:
            continue
        if call.name == "icmlauthor" and len(call.arguments) > 1:
            person.marks = _split_marks(call.arguments[1])
        elif call.options:
            person.marks += _split_marks(call.options[-1])
        person.author.is_corresponding |= call.star
        yield person


def _attribute(people: list[_Person], call: Call) -> None:
    last = people[-1].author
    if call.name == "icmlcorrespondingauthor" and len(call.arguments) > 1:
        for person in people:
            if person.author.name == " ".join(call.first.split()):
                person.author.email, person.author.is_corresponding = call.arguments[1].strip(), True
    elif call.name in _MAILS and (mail := _MAIL.search(call.first.replace("\\_", "_"))):
        last.email = last.email or mail[0]
    elif call.name in _ORCIDS:
        last.orcid = last.orcid or clean_orcid(call.first)


def _shared(people: list[_Person], calls: list[Call], plain: Plain) -> None:
    """What follows one \\author for all: places without labels, addresses."""
    places = [_place(call.first, plain) for call in calls if call.name in _PLACES and not call.options]
    for person in people:
        if not person.places and not person.marks and len(places) == 1:
            person.places = places
    for call in calls:
        for number, part in enumerate(re.split(r"\\and(?![a-z])", call.first) if call.name == "institute" else [], 1):
            there = [person for person in people if str(number) in person.marks] or (people if number == 1 else [])
            _give_mails(there, _MAIL.findall(part.replace("\\_", "_")))
    _give_mails(people, [m for call in calls if call.name in _MAILS for m in _MAIL.findall(call.first)])


def _give_mails(people: list[_Person], mails: list[str]) -> None:
    """One address each if there are as many as people; else by the family name that an address contains."""
    without = [person.author for person in people if not person.author.email]
    for number, mail in enumerate(mails):
        fits = [a for a in without if a.name.split() and a.name.split()[-1].lower() in mail.partition("@")[0].lower()]
        if fits:
            fits[0].email = fits[0].email or mail
        elif len(mails) == len(without):
            without[number].email = without[number].email or mail

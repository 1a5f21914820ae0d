"""Reads the authors of a LaTeX paper from one `\\author` for all, or from one for each with its affiliation and
addresses."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from monjyu_assets.parsing.bibliography.identifiers import clean_orcid
from monjyu_assets.parsing.bibliography.names import is_name
from monjyu_assets.parsing.formats.latex.macros import Call, brace_pairs, find_calls, without_calls
from monjyu_assets.parsing.formats.latex.names import names
from monjyu_core.language.packs import cues
from monjyu_core.paper import Author

Plain = Callable[[str], str]
"""Converts LaTeX source to text on one line."""

_GROUP = "collaboration"
WRITERS = ("author", "Author", "authors", "authorsnames", "icmlauthor", "twoauthors", "threeauthors", "fourauthors",
           _GROUP)  # fmt: skip
PLACES = ("affil", "affiliation", "address", "institute", "icmlaffiliation", "altaffiliation", "altaffiltext")
MAILS = ("email", "emailAdd", "ead", "mail", "icmlcorrespondingauthor", "correspondingauthor")
ORCIDS = ("orcid", "orcidlink", "orcidID")
_ONE_EACH = {"twoauthors": "twoaffiliations", "threeauthors": "threeaffiliations", "fourauthors": "fouraffiliations"}
"""Commands whose arguments are authors, with those whose arguments are their affiliations."""
_APA_PLACES = "authorsaffiliations"
"""The affiliations of `\\authorsnames`, each in braces."""
_STYLES = ("textbf", "textsc", "textrm", "textnormal", "textit", "emph", "mbox", "large", "Large", "bf")
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}")
_MAIL_GROUP = re.compile(r"\\?\{([\w.+,;|\s-]{1,300}?)\\?\}\s*(@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6})")
_MARKS = re.compile(
    r"\$\s*(?:\{\s*\})?\^\s*(?:\{((?:[^{}$]|\{[^{}$]*\}){0,60})\}|(\\[A-Za-z]{1,20}(?:\{[^{}$]{0,40}\})?|[^\s${}]))\s*\$"
    r"|\\textsuperscript\s*\{((?:[^{}]|\{[^{}]*\}){0,60})\}"
    r"|\\(?:inst|altaffilmark|affilnum|IEEEauthorrefmark|fnref|thanksref)\s*\{([^{}]{0,60})\}|\\affmark\s*\[([^\[\]]{0,60})\]"
    r"|(?<!\\)\^\{([^{}]{0,60})\}"
)
"""Marks after a name that refer to an affiliation. A caret after a backslash is an accent."""
_LINE_END = re.compile(r"\\\\\s*(?:\[[^\]]{0,20}\])?|\\newline(?![a-z])|\\AND(?![a-zA-Z])")
_BETWEEN = re.compile(
    r"\\(?:and|And|AND)(?![A-Za-z])|\\q?quad(?![a-z])|\\hfill(?![a-z])|\\enspace(?![a-z])|\\hspace\*?\{[^{}]*\}"
    r"|(?:~|\\\s)(?:\s*(?:~|\\\s))+"
    r"|(?<!\\)[,;&\u3001\uff0c\u30fb](?![^{]*\})|\s\\&\s|\s(?:and|und|et|и)\s"
)
_TOO_EARLY = re.compile(rf",((?:\s*(?:{_MARKS.pattern}|\\thanks\s*\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}))+)")
"""A comma in front of the marks of the name before it."""
_BLOCKS = re.compile(r"\\(?:and|And|AND)(?![A-Za-z])")
_GOES_ON = re.compile(r"(?:[,;&]|\\q?quad|\s(?:and|und|et))\s*$")
"""The end of a line of names that the next line continues."""
_CORRESPONDING = re.compile(
    r"\\(?:corref|Letter|cormark|corresponding)(?![a-z])|\\thanks\s*\{[^{}]*orrespond|\\faEnvelope"
)
_NAME_PARTS = ("fnm", "fnms", "given", "spfx", "sur", "snm", "sfx")
"""Parts of a name, which a class marks and prints in this order."""
_DROPPED = names(
    "thanks Thanks footnote footnotemark footnotetext corref fnref orcid orcidlink orcidID textsuperscript inst email"
    " cormark fnmark IEEEmembership IEEEauthorrefmark authornote tnoteref vspace href url affil institute thanksref"
    " equalcont dgr tanm equal icmlEqualContribution note"
)
"""Commands inside an author's name that are not part of it."""
_PLACE_WORDS = re.compile(cues("latex_authors.place_words"))
_NO_PLACE = re.compile(r"(?i)\b(?:work|support|perform|grant|fund|equal|contribut|thank|partial)|\.\s+[A-Z][a-z]+ ")
_LABEL = re.compile(r"[\w*†‡§¶]{1,6}")
_MOST = 2000


@dataclass
class _Person:
    author: Author
    marks: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)


def read_authors(source: str, plain: Plain) -> list[Author]:
    """Return the authors in order, with affiliation, e-mail address, ORCID and the corresponding author, if the source
    states them."""
    calls = find_calls(source, (*WRITERS, *PLACES, *MAILS, *ORCIDS, *_ONE_EACH.values(), _APA_PLACES, "fntext"), 5)[
        :_MOST
    ]
    writers = [call for call in calls if call.name in WRITERS and call.name != _GROUP and call.arguments]
    keyed = _keyed_places(calls, plain)
    first = writers[0] if writers else None
    marked = first is not None and (_labels(first, keyed) or clean_orcid(" ".join(first.options)))
    if first is not None and first.name == "authorsnames":
        people = _of_apa(first, plain)
    elif first is not None and len(writers) == 1 and len(first.arguments) == 1 and not marked:
        people = _of_one_block(first.first, keyed, plain)
        _shared(people, [call for call in calls if call is not first], plain)
        people += [_person(call.first, plain) for call in calls if call.name == _GROUP]
    else:
        people = _of_many(calls, keyed, plain)
    for person in people:
        own = [keyed[mark] for mark in person.marks if mark in keyed] or person.places
        person.author.affiliation = "; ".join(dict.fromkeys(own)) or None
    return [person.author for person in people if person.author.name]


def _of_apa(call: Call, plain: Plain) -> list[_Person]:
    r"""Read `\authorsnames[1,{1,2}]{…}`, whose option has the numbers of the affiliations of each name; without one,
    affiliations and names are in the same order."""
    people = [_person(name, plain) for name in _names(call.first)]
    numbers = _apart(re.compile(","), call.options[0]) if call.options else map(str, range(1, len(people) + 1))
    for person, marks in zip(people, numbers, strict=False):
        person.marks = _split_marks(marks)
    return people


def _labels(call: Call, keyed: dict[str, str]) -> list[str]:
    """The labels of affiliations in the option of an author's command; empty if it is a short name or an ORCID."""
    marks = _split_marks(call.options[0]) if call.options else []
    return marks if all(mark in keyed or _LABEL.fullmatch(mark) for mark in marks) else []


def _person(source: str, plain: Plain) -> _Person:
    marks = [mark for match in _MARKS.finditer(source) for mark in _marks_of(match)]
    places = []
    for call in find_calls(source, ("affil", "institute", "affiliation"), 2):
        label, place = call.arguments if len(call.arguments) == 2 else (call.first, "")
        if not place and all(map(_LABEL.fullmatch, _split_marks(label))) and len(label) <= 12 and " " not in label:
            marks += _split_marks(label)
        else:
            places.append(_place(place or label, plain))
    thanks = [call.first for call in find_calls(source, ("thanks",), 1)]
    places += [_place(text, plain) for text in thanks if not places and is_place(plain(text))]
    mails = _mails(source)
    given = find_calls(source, _NAME_PARTS, 1)
    text = " ".join(call.first for call in given) if given else without_calls(_MARKS.sub("", source), _DROPPED, 2)
    name = _MAIL.sub("", plain(text))
    name = re.sub(r"(?i)^(?:and|by)\s+|\s+and$", "", re.sub(r"[*†‡§¶∗]+|\s*\d+$", "", name).strip(" ,;.:"))
    author = Author(
        name=" ".join(name.split())[:200],
        email=mails[0] if mails else None,
        orcid=clean_orcid(source),
        is_corresponding=_CORRESPONDING.search(source) is not None,
    )
    return _Person(author, marks, places)


def without_mail(text: str) -> str:
    return _MAIL.sub("", text).strip(" ,;.:{}()")


def is_place(text: str) -> bool:
    """Whether a footnote to a name contains only an affiliation."""
    begins = _PLACE_WORDS.search(_MAIL.sub("", text)[:80])
    return len(text) < 300 and begins is not None and not _NO_PLACE.search(text)


def _marks_of(match: re.Match[str]) -> list[str]:
    return _split_marks("".join(group or "" for group in match.groups()))


def _split_marks(text: str) -> list[str]:
    text = re.sub(r"\\(?:rm|bf|it|text[a-z]*|math(?:rm|sf|bf|it|tt|cal)|ast|star)\b|[{}]", " ", text)
    return [mark for part in re.split(r"[,;\s]+|(?=\\)", text) if (mark := part.strip().lstrip("\\"))]


def _mails(source: str) -> list[str]:
    r"""Addresses in order; `\{ann,ben\}@x.org` is two."""
    source = source.replace("\\_", "_")

    def each(match: re.Match[str]) -> str:
        return " ".join(f"{part.strip()}{match[2]}" for part in re.split(r"[,;|\s]+", match[1]) if part.strip())

    return _MAIL.findall(_MAIL_GROUP.sub(each, source))


def _place(source: str, plain: Plain) -> str:
    """An affiliation on one line, without marks and e-mail addresses; of `organization={…}, city={…}` the values are
    used."""
    values = re.findall(r"[a-z]+\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", source)
    text = ", ".join(value for value in values if value.strip()) if values else source
    parts = ("institution", "department", "city", "state", "country", "orgname", "orgdiv", "street", "streetaddress")
    calls = find_calls(_opened(text, "orgaddress"), (*parts, "postcode"), 1)
    if calls and any(call.first.strip() for call in calls):
        text = ", ".join(call.first.strip() for call in calls if call.first.strip())
    text = without_calls(_MARKS.sub("", text), ("email", "ead", "thanks", "url", "href", "orcid", "texttt"))
    lines = [without_mail(plain(line)) for line in _LINE_END.split(_MAIL_GROUP.sub("", text))]
    return ", ".join(line for line in lines if line)


def _opened(source: str, *names: str) -> str:
    """The source with the arguments of commands in the place of their calls."""
    for call in reversed(find_calls(source, names, 1)):
        source = f"{source[: call.start]}{call.first}{source[call.end :]}" if call.arguments else source
    return source


def _keyed_places(calls: list[Call], plain: Plain) -> dict[str, str]:
    """Affiliations by their label: from \\affil[1]{…}, \\affiliation{1}{…}, \\altaffiltext{1}{…},
    \\icmlaffiliation{key}{…}, \\institute{… \\and …} by number, and from one list with marks in front of each."""
    keyed: dict[str, str] = {}
    for call in calls:
        if call.name in ("institute", _APA_PLACES):
            each = re.findall(r"\{((?:[^{}]|\{[^{}]*\})*)\}", call.first) if call.name == _APA_PLACES else []
            parts = each or re.split(r"\\and(?![a-z])", call.first)
            keyed |= {str(number): _place(part, plain) for number, part in enumerate(parts, 1)}
        elif call.name in PLACES and not call.options and len(call.arguments) > 1:
            keyed |= dict.fromkeys(_split_marks(call.first), _place(call.arguments[1], plain))
        elif call.name == "fntext":
            keyed |= dict.fromkeys(call.options, _place(call.first, plain) if is_place(plain(call.first)) else "")
        elif call.name in PLACES and call.options and call.arguments:
            keyed |= dict.fromkeys(_split_marks(call.options[0]), _place(call.first, plain))
        elif call.name in PLACES:
            keyed |= {mark: place for marks, text in _parts_by_mark(call.first) for mark in marks
                      if (place := _place(text, plain))}  # fmt: skip
    return {key: place for key, place in keyed.items() if place}


def _parts_by_mark(source: str) -> Iterator[tuple[list[str], str]]:
    """Yield the parts of a list of affiliations with the marks in front of each; text without a mark comes first."""
    at, marks = 0, list[str]()
    for match in _MARKS.finditer(source):
        if source[at : match.start()].strip(" ,;\\"):
            yield marks, source[at : match.start()]
            marks = []
        marks, at = marks + _marks_of(match), match.end()
    if source[at:].strip(" ,;\\"):
        yield marks, source[at:]


def _of_one_block(source: str, keyed: dict[str, str], plain: Plain) -> list[_Person]:
    """Read all authors from one argument: blocks of names with lines below them, or names with marks and affiliations
    by mark."""
    if "\\IEEEauthorblockN" in source:
        return _of_ieee(source, keyed, plain)
    if inside := [
        call.first for call in find_calls(source, ("name",), 1) if call.arguments
    ]:  # \name{A and B} \affil{…}
        source = "\\\\".join([*inside, *(call.first for call in find_calls(source, ("affil",), 1))])
    source = _TOO_EARLY.sub(r"\1,", _opened(source, *_STYLES))
    people: list[_Person] = []
    blocks = _apart(_BLOCKS, source)
    for block in blocks:
        lines = [line for line in _apart(_LINE_END, block) if line.strip()]
        top, below = _parted(lines, plain, alone=len(blocks) == 1)
        here = [_person(part, plain) for part in _names(" \\and ".join(top)) if part.strip()]
        here = [person for person in here if person.author.name]
        free: list[str] = []
        for marks, text in (part for line in below for part in _parts_by_mark(line)):
            found = _place(text, plain)
            if marks and found:
                keyed |= dict.fromkeys(marks, found)
            elif found:
                free.append(found)
        _give_mails(here, _mails(" ".join(below)))
        for person in here:
            person.places = [", ".join(free)] if free else person.places
        people += here
    return people


def _names(line: str) -> list[str]:
    return _apart(_BETWEEN, line)


def _apart(separator: re.Pattern[str], source: str) -> list[str]:
    """Split a source at a separator, except in braces and formulas."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[0])
        return f"\ue0f5{len(hidden) - 1}\ue0f6"

    while source.startswith("{") and brace_pairs(source).get(0) == len(source) - 1:
        source = source[1:-1].strip()
    source = re.sub(r"\$[^$]*\$|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", hide, source)
    return [re.sub("\ue0f5(\\d+)\ue0f6", lambda match: hidden[int(match[1])], part) for part in separator.split(source)]


def _parted(lines: list[str], plain: Plain, *, alone: bool) -> tuple[list[str], list[str]]:
    """Split into lines of names and the lines below them, which begin with the first line that names an organisation,
    begins with a mark or is not a list of names. In one of several blocks only the first line has names, unless it
    continues."""
    for number, line in enumerate(lines[1:], 1):
        text = plain(without_calls(line, ("thanks", "footnote")))
        if re.match(rf"\s*(?:{_MARKS.pattern})", line) or _PLACE_WORDS.search(text):
            return lines[:number], lines[number:]
        if _MARKS.search(line) or _GOES_ON.search(lines[number - 1]):
            continue
        parts = [plain(part) for part in _names(line)]
        if not (alone and (len(parts) > 1 or len(lines) > 4) and all(map(is_name, parts))):
            return lines[:number], lines[number:]
    return lines, []


def _of_ieee(source: str, keyed: dict[str, str], plain: Plain) -> list[_Person]:
    people: list[_Person] = []
    waiting: list[_Person] = []
    for call in find_calls(source, ("IEEEauthorblockN", "IEEEauthorblockA"), 1):
        if call.name.endswith("N"):
            waiting = [_person(part, plain) for part in _names(call.first) if part.strip()]
            people += waiting
            continue
        mark = re.match(r"\s*\\IEEEauthorrefmark\s*\{([^{}]*)\}", call.first)
        for marks, text in _parts_by_mark(call.first) if mark else []:
            keyed |= dict.fromkeys(marks, _place(text, plain))
        for person in waiting if not mark else []:
            person.places = [_place(call.first, plain)]
        _give_mails(waiting, _mails(call.first))
    return [person for person in people if person.author.name]


def _of_many(calls: list[Call], keyed: dict[str, str], plain: Plain) -> list[_Person]:
    """Read authors with one command each. What follows a command belongs to its author; an affiliation belongs also to
    preceding authors without one."""
    people: list[_Person] = []
    since: list[_Person] = []
    placed = False
    for call in calls:
        if call.name in WRITERS and call.arguments:
            for person in _of_command(call, keyed, plain):
                since = [] if placed else since
                placed = False
                people.append(person)
                since.append(person)
        elif call.name in PLACES and not call.options and len(call.arguments) == 1:
            for person in since:
                person.places.append(_place(call.first, plain))
            placed = True
        elif call.name in _ONE_EACH.values():
            for person, place in zip(people, call.arguments, strict=False):
                person.places.append(_place(place, plain))
        elif people:
            _attribute(people, call)
    return people


def _of_command(call: Call, keyed: dict[str, str], plain: Plain) -> Iterator[_Person]:
    """The authors of one command: `{Ann One}`, `{Ann}{One}`, `{Ann One}{place}{mail}{ORCID}{funding}`, `{A}{B}`."""
    whole = call.name == "icmlauthor" or find_calls(call.first, _NAME_PARTS, 1)
    found = [call.first] if whole else list(call.arguments) if call.name in _ONE_EACH else _names(call.first)
    if call.name == "Author" and len(call.arguments) > 1:
        found = [" ".join(call.arguments[:2])]
    for name in found:
        person = _person(name, plain)
        if not person.author.name:
            continue
        if call.name == "icmlauthor" and len(call.arguments) > 1:
            person.marks = _split_marks(call.arguments[1])
        elif call.name == "author" and len(call.arguments) > 3:
            person.places = [_place(call.arguments[1], plain)]
            person.author.email = next(iter(_mails(call.arguments[2])), None)
            person.author.orcid = clean_orcid(call.arguments[3])
        person.marks += _labels(call, keyed)
        person.author.orcid = person.author.orcid or clean_orcid(" ".join(call.options))
        person.author.is_corresponding |= call.star
        yield person


def _attribute(people: list[_Person], call: Call) -> None:
    last = people[-1].author
    if call.name == "icmlcorrespondingauthor" and len(call.arguments) > 1:
        for person in people:
            if person.author.name == " ".join(call.first.split()):
                person.author.email, person.author.is_corresponding = call.arguments[1].strip(), True
    elif call.name in MAILS and (mails := _mails(call.first)):
        last.email = last.email or mails[0]
    elif call.name in ORCIDS:
        last.orcid = last.orcid or clean_orcid(call.first)


def _shared(people: list[_Person], calls: list[Call], plain: Plain) -> None:
    """Assign the affiliations without labels and the addresses after one \\author for all."""
    places = [_place(call.first, plain) for call in calls if call.name in PLACES and not call.options]
    for person in people:
        if not person.places and not person.marks and 1 in (len(places), len(people)):
            person.places = places
    for call in calls:
        for number, part in enumerate(re.split(r"\\and(?![a-z])", call.first) if call.name == "institute" else [], 1):
            there = [person for person in people if str(number) in person.marks] or (people if number == 1 else [])
            _give_mails(there, _mails(part))
    _give_mails(people, [mail for call in calls if call.name in MAILS for mail in _mails(call.first)])


def _give_mails(people: list[_Person], mails: list[str]) -> None:
    """Assign each address to the author whose family name it contains, otherwise the given name; in order, if their
    number equals the number of people and no name contradicts it."""
    without = [person.author for person in people if not person.author.email]
    local = [mail.partition("@")[0].lower() for mail in mails]
    found = [_owners(without, name) for name in local]
    in_order = len(mails) == len(without) and all(n in fits for n, fits in enumerate(found) if fits)
    for number, mail in enumerate(mails):
        owners = [number] if in_order else found[number]
        if owners:
            without[owners[0]].email = without[owners[0]].email or mail


def _owners(authors: list[Author], local: str) -> list[int]:
    """The numbers of the authors whose family name is in the local part of an address, otherwise a given name."""
    words = [author.name.lower().split() for author in authors]
    family = [n for n, names in enumerate(words) if names and names[-1] in local]
    return family or [n for n, names in enumerate(words) if any(len(word) > 2 and word in local for word in names[:-1])]

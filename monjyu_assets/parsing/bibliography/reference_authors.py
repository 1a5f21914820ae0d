"""Reads the author list at the start of a reference."""

import re
from functools import cache

from monjyu_assets.parsing.bibliography.dates import CENTURY, RECENT_YEAR, YEAR, month_number
from monjyu_assets.parsing.bibliography.names import AND_WORD, CITED_PARTICLE, LISTED_PARTICLE, NO_PARTICLE, UPPER
from monjyu_core.language.vocabulary import alternatives

_SURNAME = (
    rf"{LISTED_PARTICLE}{{0,3}}{UPPER}[\w'\u2019\u2018.-]{{0,30}}[\w'\u2019]"
    rf"(?:[\s-]{LISTED_PARTICLE}{{0,2}}(?![JS]r\.){UPPER}[\w'\u2019-]{{1,30}}){{0,2}}(?![\w'\u2019])"
)
_DOTTED = rf"{UPPER}(?:[a-z]|-{UPPER})?\.(?:[\s-]*{UPPER}[a-z]?\.|-?[a-z]\.){{0,4}}"
_BARE = rf"{UPPER}{{1,4}}(?:-{UPPER})?(?![\w'\u2019])(?:\s(?:Jr|Sr|II|III|2nd|3rd)\b)?"
_SPACED = rf"{UPPER}(?:[\s-]{UPPER}){{1,3}}(?![\w'\u2019])"
_GIVEN = rf"{UPPER}[\w'\u2019-]+(?:[\s-]+(?:{UPPER}\.|{UPPER}[\w'\u2019-]*)){{0,3}}"
_WORD = rf"(?:{UPPER}\.(?:-{UPPER}\.)?|(?:Chr?|Ph|St|Th|Yu|Wm)\.|{UPPER}[\w'\u2019-]*)"
_BEHIND = rf"(?:\s{LISTED_PARTICLE}{{0,2}}{CITED_PARTICLE}(?=\s*[,.;&]))?"
"""Particles that a list prints behind the initials ("Jong, J. de")."""
_JUNIOR = r"(?:,?\s(?:Jr|Sr|III?|IV)\b\.?)?"

_STYLES = {
    "surname, F. M.": rf"{_SURNAME},\s*{_DOTTED}{_BEHIND}{_JUNIOR}",
    "surname FM": rf"{_SURNAME},?\s(?:{_SPACED}|{_BARE}){_JUNIOR}",
    "F. M. surname": rf"{_DOTTED}(?:{UPPER}(?=\s))?\s*{_SURNAME}{_JUNIOR}",
    "surname, given": rf"{_SURNAME},\s{_GIVEN}",
    "given surname": rf"{_WORD}(?:\s{_WORD}){{0,3}}\s{_SURNAME}",
    "surname F. M.": rf"{_SURNAME}\s{_DOTTED}{_JUNIOR}",
    "FM surname": rf"{UPPER}{{1,3}}(?:-{UPPER})?(?:\.?\s{_SURNAME}|(?<={UPPER}{UPPER}){UPPER}[^\W\d_A-Z]{{2,30}})",
}
_SEPARATOR = (
    rf"(?:\s*[,;]\s*(?:{AND_WORD}|&|[ye]\s|\u2026|\.\s?\.\s?\.)?\s*|\s+(?:{AND_WORD}|&|[ye])\s+|\s*/\s*|"
    r"\s*(?:\u2026|\. \. \.)\s*)"
)
_OTHERS = rf"(?:[,;]?\s*(?:{AND_WORD}\s+)?(?i:{alternatives('names.and_others')}|others)\.?)?"
_EDITORS = rf"(?:\s*[,(]?\s*\(?(?i:{alternatives('names.editors')})\.?\)?)?"


def _list_pattern(first: str, others: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<list>(?:{first})(?:{_SEPARATOR}(?:{others}))*){_OTHERS}{_EDITORS}")


@cache
def _lists() -> list[re.Pattern[str]]:
    """The styles of lists. Compiling them takes 0.2 s, and most processes read no reference."""
    return [
        _list_pattern(_STYLES["surname, F. M."], f"{_STYLES['surname, F. M.']}|{_STYLES['F. M. surname']}"),
        _list_pattern(_STYLES["surname FM"], f"{_STYLES['surname FM']}|{_STYLES['surname, F. M.']}"),
        _list_pattern(_STYLES["F. M. surname"], f"{_STYLES['F. M. surname']}|(?!A\\s){_STYLES['FM surname']}"),
        _list_pattern(_STYLES["surname, given"], f"{_STYLES['surname, given']}|{_STYLES['given surname']}"),
        _list_pattern(_STYLES["given surname"], _STYLES["given surname"]),
        _list_pattern(_STYLES["surname F. M."], _STYLES["surname F. M."]),
        _list_pattern(f"(?:{_STYLES['FM surname']}),\\s(?:{_STYLES['FM surname']})", _STYLES["FM surname"]),
    ]


_END = re.compile(
    rf"\s*(?:[.:;,]+\s|\.?\s*\(|\s*[\u201c\u201d\"\u2018`]|\s+(?={RECENT_YEAR})|\s*$|[.,]?\s*\[|(?<=\.)\s)"
)
_DOUBTFUL = (3, 4)
"""Styles without initials, which titles can resemble: a full stop or a year must follow."""


def author_list(text: str) -> tuple[str, str]:
    """Split an entry into the author list at its start and the rest; ("", text) without a list."""
    dated = _before_year(text)
    best = _full_names(text)
    for number, pattern in enumerate(_lists()):
        match = pattern.match(text)
        if match is None:
            continue
        if short := _SHORT_SURNAME.search(match[0]):
            match = pattern.match(text, 0, short.end()) or match
        end = match.end()
        ended = _END.match(text, end) or text[end - 1] == "."
        if not ended:
            continue
        strict = number in _DOUBTFUL
        if strict and not re.match(
            rf"\s*(?:[.:]\s|\(\s*{CENTURY}|,?\s*[\u201c\u201d\"]|,?\s*{RECENT_YEAR})", text[end:]
        ):
            continue
        if strict and (
            (best and _NO_TITLE.match(text, end)) or (text[end : end + 1] == ":" and _ARTICLE.search(match[0]))
        ):
            continue  # the last words are the title
        best = max(best, end)
    if dated > best and not (best and (_COLON.match(text, best) or _SENTENCE.search(text[best:dated]))):
        best = dated
    if not best:
        quoted = _BEFORE_QUOTE.match(text)
        if quoted and len(quoted[1].split()) <= 12 and not _PROSE.search(re.sub(rf"\b{AND_WORD}\b", "", quoted[1])):
            return quoted[1].strip(), text[quoted.end() :]
        return _organisation(text)
    return text[:best].strip(" ,;:"), text[best:]


_BEFORE_QUOTE = re.compile(r"([^.\u201c\u201d\"\u2018`]{2,150}?)\s?[,:.]\s?(?=[\u201c\u201d\"]|``)")
"""A name of any form in front of a title in quotation marks."""
_CAPITALS = re.compile(
    rf"((?:{UPPER}|[\s,&-]){{0,60}}?{UPPER}{{4}}(?:{UPPER}|[\s,&-]){{0,60}})\.\s+(?={UPPER}[^.]*[^\W\d_A-Z])"
)
"""Lists of the Brazilian standard print names of bodies in capitals."""
_SHORT_SURNAME = re.compile(
    rf"(?:{AND_WORD}|&)\s(?:{UPPER}\.[\s-]?|-?[a-z]\.\s?){{1,3}}(?<=\s){UPPER}[a-z](?=\.\s{UPPER}[\w-]{{2,}}$)"
)
"""The last name of a list, whose short surname looks like an initial of the next word ("and C. Yu. Learning")."""
_COLON = re.compile(r":\s")
_NO_TITLE = re.compile(rf"\.\s+[^.;\d]{{2,60}}\.?\s+{YEAR}\s*[;,:]\s*\d")
"""A journal, its year and volume directly after a name."""
_FULL = f"(?>{_STYLES['given surname']})"  # atomic: a long list without an end is scanned only once
_ALONE = re.compile(rf"(?P<one>{_FULL}),\s+(?P<title>{UPPER}[\w'\u2019-]*:?\s+(?:[a-z]|[^,]{{12,}}))")
_JOINED = re.compile(rf"(?P<list>{_FULL}(?:,\s{_FULL}){{0,40}}+,?\s(?:and|&)\s{_FULL}),\s")
_ARTICLE = re.compile(r"\b(?:The|A|An|On|In|For|Of|To|From|With|How|What|Why|When|Towards?)\b")


def _full_names(text: str) -> int:
    """The end of a list of full names followed by a comma ("Ida Holm and Jo Jansen, A small set"), or 0."""
    joined = _JOINED.match(text)
    if joined and not _ARTICLE.search(joined.group("list")):
        return joined.end("list")
    alone = _ALONE.match(text)
    known = alone and not _ARTICLE.search(alone.group("one")) and not _BODY.search(alone.group("one"))
    return alone.end("one") if alone and known and len(alone.group("one").split()) <= 4 else 0


_LOOKED_UP = rf"(?i:{alternatives('references.available')}|{alternatives('references.accessed')})"
_SENTENCE = re.compile(rf"(?:\b{NO_PARTICLE}[a-z]{{3,}}\s+){{2}}[a-z]{{2,}}|[a-z]{{3,}}\s[a-z]{{3,}}[,:.]|\.\s+In\s")


def _before_year(text: str) -> int:
    """The end of the text before a year in brackets, or between full stops, near the start."""
    match = re.match(rf"(.{{3,600}}?)[.,]?\s*\(\s*(?:{YEAR}[a-z]?(?:,[^()]{{1,20}})?|n\.\s?d\.|in press)\s*\)", text)
    ends = match is not None and len(text) - match.end() < 8  # a year at the very end separates nothing
    if (
        match
        and not ends
        and not re.search(r"[\s,]\d+$|[\u201c\"]|[a-z]{3,}\.\s+[A-Z][a-z]+\s[a-z]+\s[a-z]+", match.group(1))
    ):
        return match.end(1)
    plain = re.match(rf"(.{{3,400}}?)\.\s+{YEAR}[a-z]?\.\s+(?!{_LOOKED_UP})", text)
    if plain and not re.search(r"[\u201c\"]|//", plain[1]) and month_number(plain[1].split()[-1]) is None:
        return plain.end(1) + 1
    return 0


_BODY = re.compile(
    r"\b(?:group|organi[sz]ation|commission|institutes?|agency|council|association|committee|society|centers?|centres?|"
    r"department|ministry|team|foundation|university|consortium|academy|office|bureau|board|service|alliance|union|network)\b",
    re.I,
)  # fmt: skip


_ONE_AND_OTHERS = re.compile(rf"{_SURNAME}\s(?i:et\s+al)\.?(?=\s*,?\s*\(?{YEAR})")


def _organisation(text: str) -> tuple[str, str]:
    """Split off an organisation as the author, if a short first sentence names one; ("", text) otherwise."""
    if match := _ONE_AND_OTHERS.match(text):
        return match[0], text[match.end() :]
    if match := _CAPITALS.match(text):
        return match[1], text[match.end() :]
    match = re.match(r"([^.,\u201c\"]{6,90}?)(?:\s*\([A-Z]{2,8}\))?(?=,\s+[^\W\d_a-z][^.]{12,})", text)
    if (
        match
        and len(match.group(1).split()) <= 6
        and _BODY.search(match.group(1))
        and not _PROSE.search(match.group(1))
    ):
        return match.group(1).strip(), text[match.end() :]
    match = re.match(r"([^.\u201c\"]{6,90}?)(?:\s*\([A-Z]{2,8}\))?[.;]\s+(?=[^\W\d_a-z])", text)
    if match and len(match.group(1).split()) <= 9 and _BODY.search(match.group(1)):
        return match.group(1).strip(), text[match.end() :]
    return "", text


_PROSE = re.compile(r"\s(?!of\b|and\b|for\b|the\b|on\b|de\b)[a-z]")
_ONE = [re.compile(pattern) for pattern in _STYLES.values()]


_GIVEN_BEHIND = 3
_LAST = re.compile(rf",\s(?:{AND_WORD}|&)\s[^\s,]+\s[^,]+$")
"""A last name with the given name in front: only the first name of the list is inverted."""
_INITIALLED = (0, 1, 2, 5)
"""Styles with initials; names in other styles may be words of a title."""


def end_of_initialled(text: str) -> int:
    """The end of the list of names with initials at the start of a text, or 0."""
    return max((match.end() for number in _INITIALLED if (match := _lists()[number].match(text))), default=0)


def initialled_names(text: str) -> list[str]:
    """The names of a text that consists only of names with initials, otherwise none."""
    text = text.strip(" ,;:")
    return names_of(text) if text and end_of_initialled(text) >= len(text) - 1 else []


_PLAIN_NAME = re.compile(rf"(?!{UPPER}{{1,2}}(?:\W|$)(?!\s*{UPPER}\w))(?:{UPPER}[\w'\u2019-]*\.?\s?){{1,4}}")


def names_of(text: str) -> list[str]:
    """Names as "Given Surname" in printed order."""
    text = re.sub(
        rf"\(?\b(?i:{alternatives('names.editors')})\.?\)?$|\bet\s+al\.?|\u2026|\b(?i:{alternatives('names.and_others')})$",
        "",
        text,
    )
    text = text.strip(" ,;.&")
    if not text:
        return []
    inverted = len(text.split(",")[0].split()) == 1 or text.split()[0].islower()
    order = range(len(_lists())) if inverted else [0, 1, 2, 5, 6, 4, 3]
    for number in order:
        pattern = _lists()[number]
        match = pattern.match(text + ("." if text[-1].isupper() else ""))
        if match and not re.search(r"\w", text[match.end("list") :]):
            return _by_style(text, number)
    if re.search(r";", text):
        text += "." if text[-1].isupper() else ""
        return [_turned(part.strip()) for part in re.split(rf";|\s(?:{AND_WORD}|&)\s", text) if part.strip()]
    parts = [
        part for part in (p.strip(" ,.") for p in re.split(rf"\s+(?:{AND_WORD}|&)\s+|,\s+{AND_WORD}\s+", text)) if part
    ]
    ones = [one for part in parts for one in part.split(", ") if one]
    plain = sum(_PLAIN_NAME.fullmatch(one) is not None for one in ones)
    if plain == len(ones) or (plain >= 0.5 * len(ones) and all(" " in one for one in ones)):
        parts = ones
    return parts[:60]


def _by_style(text: str, number: int) -> list[str]:
    style = list(_STYLES.values())[number]
    names: list[str] = []
    text += "." if text[-1].isupper() else ""
    position = 0
    separator = re.compile(_SEPARATOR)
    patterns = [re.compile(style), *(_ONE[-1:] if number == 2 else []), *_ONE]
    last = _LAST.search(text) if number == _GIVEN_BEHIND else None
    while position < len(text):
        ones = [_ONE[4], *patterns] if last and names else patterns
        found = next((m for p in ones if (m := p.match(text, position))), None)
        if found is None:
            break
        names.append(_turned(found.group()))
        gap = separator.match(text, found.end())
        if gap is None:
            break
        position = gap.end()
    return names


def _turned(name: str) -> str:
    """ "Smith, J. A." and "Smith JA" as "J. A. Smith"."""
    name = name.strip(" ,")
    if "," in name:
        surname, given = (part.strip() for part in name.split(",", 1))
        return f"{given} {surname}".strip()
    match = re.fullmatch(rf"(.+?)\s({_BARE}|{_DOTTED})", name)
    if match and not re.match(rf"{UPPER}\.", name):
        return f"{match.group(2)} {match.group(1)}"
    return name

"""Citations in running text: pandoc's keys, numbers in brackets, names with years, addresses of works."""

import re
from collections.abc import Iterator

from monjyu_query.drafts.pages import MARK, Pages, Wanted, Work

# DOIs, arXiv ids and years in a draft's description of a work.
DOI = re.compile(
    r"(?:https?://(?:dx\.)?doi\.org/|\bdoi:\s{0,3}|(?<![\w./]))(10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]{1,200})", re.I
)
ARXIV = re.compile(
    r"(?:https?://(?:www\.)?arxiv\.org/(?:abs|pdf)/|\barxiv:\s{0,3})(\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?",
    re.I,
)
YEAR = re.compile(r"(?<!\d)((?:1[89]|20)\d\d)(?!\d)")


def trimmed(doi: str) -> str:
    """The DOI in lower case, without the punctuation that follows it in a text. A bracket that it opens is kept."""
    while doi and (doi[-1] in ".,;:'*_" or (doi[-1] == ")" and doi.count("(") < doi.count(")"))):
        doi = doi[:-1]
    return doi.casefold()


def doi_in(text: str) -> str | None:
    found = DOI.search(text)
    return trimmed(found[1]) if found else None


def arxiv_in(text: str) -> str | None:
    found = ARXIV.search(text)
    return found[1] if found else None


def year_in(text: str) -> int | None:
    found = YEAR.search(text)
    return int(found[1]) if found else None


_LINK = re.compile(
    r"!?\[([^\[\]]{0,500})\]\(\s{0,3}<?([^()\s<>]{1,500}(?:\([^()\s]{0,100}\))?[^()\s<>]{0,200})>?(?:\s+\"[^\"]{0,300}\")?\s{0,3}\)"
)
_KEY = r"@(?:\{([^{}\s]{1,200})\}|([\w](?:[\w:.#$%&+?<>~/-]{0,198}[\w/])?))"
_KEYS = re.compile(_KEY)
_PANDOC = re.compile(r"\[([^\[\]@]{0,200}@[^\[\]]{1,1000})\]")
_SPOKEN_KEY = re.compile(rf"(?<![\w@.\\])-?{_KEY}(?:\s?\[[^\[\]@]{{1,100}}\])?")
_ITEM = r"\d{1,3}(?:\s{0,2}[–—‒‐-]\s{0,2}\d{1,3})?"
_NUMBERS = re.compile(
    rf"\[({_ITEM}(?:\s{{0,2}}[,;、]\s{{0,2}}{_ITEM}){{0,30}})(?:,\s?(?:pp?|Sec|Fig|ch)\.?[^\[\]]{{1,30}})?\](?!\()"
)
_NOTE = re.compile(r"\[(\^[\w-]{1,30})\](?!:)")
_LETTER = "[^\\W\\d_a-z\u00df-\u00f6\u00f8-\u00ff]"
_PARTICLE = r"(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|al|el|Van|Von|De|Der|La|Le|Di|Da)"
_NAME = rf"(?:{_PARTICLE}[\s-]){{0,3}}{_LETTER}[\w'’-]{{1,30}}(?:\s{_LETTER}[\w'’-]{{1,30}})?"
_MORE = rf"(?:(?:,\s{_NAME}){{0,8}},?\s(?:and|&|et|und)\s{_NAME}|,?\set\sal\.?|\sand\s(?:colleagues|others))"
_YEAR = r"(?:1[89]|20)\d\d"
_YEARS = rf"{_YEAR}[a-z]?(?:\s?[,;]\s?(?:{_YEAR})?[a-z]?(?![\w]))*"
_SPOKEN = re.compile(
    rf"(?<![\w'’.-])(?P<names>{_NAME}(?P<more>{_MORE})?)(?:['’]s?)?,?\s?"
    rf"[(\[](?P<years>{_YEARS})(?:,\s?(?:pp?\.|ch\.|Sec)[^()\[\]]{{0,20}})?[)\]]"
)
_ROUND = re.compile(r"[(\[]([^()\[\]]{3,500})[)\]]")
_INNER = re.compile(
    r"(?:(?:see|see also|e\.g\.|i\.e\.|cf\.|also|for example|as in|but see|reviewed in|review(?:ed)? by)[,:]?\s){0,3}"
    rf"(?P<names>{_NAME}(?P<more>{_MORE})?)"
    rf"(?P<comma>,?)\s(?P<years>{_YEARS})(?:[,:]\s?(?:pp?\.|ch\.|Sec|Fig|\d)[^;]{{0,30}})?"
)
_ONE_YEAR = re.compile(rf"({_YEAR})?([a-z])?")
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        "january february march april may june july august september october november december jan feb mar "
        "apr jun jul aug sep sept oct nov dec spring summer autumn fall winter since in from until version "
        "copyright figure table section the chapter equation appendix during after before between university "
        "conference",
    )
)


LONGEST = 20_000
"""The number of characters examined together, so that the cost of a hostile paragraph grows only linearly."""


def mark_text(text: str, pages: Pages) -> str:
    """The text with a mark for each citation in it."""
    return "".join(_marked(text[start : start + LONGEST], pages) for start in range(0, len(text), LONGEST))


def _marked(text: str, pages: Pages) -> str:
    text = _LINK.sub(lambda found: _linked(found, pages), text)
    text = DOI.sub(lambda found: pages.mark(found[0], [_address(found)]) + found[0][_end(found) :], text)
    text = ARXIV.sub(lambda found: pages.mark(found[0], [_address(found)]), text)
    text = _PANDOC.sub(lambda found: _keyed(found[0], found[1], pages), text)
    text = _SPOKEN_KEY.sub(lambda found: pages.mark(found[0], _keys(found[0]), spoken=True), text)
    text = _NUMBERS.sub(lambda found: pages.mark(found[0], list(_numbers(found[1]))), text)
    text = _NOTE.sub(lambda found: pages.mark(found[0], [Wanted(number=found[1])]), text)
    text = _SPOKEN.sub(lambda found: _spoken(found, pages), text)
    return _ROUND.sub(lambda found: _in_brackets(found, pages), text)


def _linked(found: re.Match[str], pages: Pages) -> str:
    """The text of a link, with a mark if the link is to a work."""
    if found[0].startswith("!"):
        return ""
    address = DOI.search(found[2]) or ARXIV.search(found[2])
    if address is None:
        return found[1]
    said = "" if DOI.search(found[1]) or ARXIV.search(found[1]) else f"{found[1]} "
    return f"{said}{pages.mark(f'({found[2]})', [_address(address)])}"


def _end(found: re.Match[str]) -> int:
    """The length of the DOI in a match, with the text before it."""
    return len(found[0]) - (len(found[1]) - len(trimmed(found[1])))


def _address(found: re.Match[str]) -> Wanted:
    if found.re is DOI:
        return Wanted(work=Work(doi=trimmed(found[1])))
    return Wanted(work=Work(arxiv_id=found[1]))


def _keys(text: str) -> list[Wanted]:
    return [Wanted(key=found[1] or found[2]) for found in _KEYS.finditer(text)]


def _keyed(whole: str, inner: str, pages: Pages) -> str:
    keys = _keys(inner)
    return pages.mark(whole, keys) if keys else whole


def _numbers(text: str) -> Iterator[Wanted]:
    for item in re.split(r"\s*[,;、]\s*", text):
        first, *last = map(int, re.findall(r"\d+", item))
        for number in range(first, min((last or [first])[0], first + 50) + 1):
            yield Wanted(number=str(number))


def _spoken(found: re.Match[str], pages: Pages) -> str:
    wanted = _named(found["names"], found["years"], doubtful=False)
    return pages.mark(found[0], wanted, spoken=True) if wanted else found[0]


def _in_brackets(found: re.Match[str], pages: Pages) -> str:
    """Names with years in brackets, separated by semicolons; other content leaves the brackets unchanged."""
    wanted: list[Wanted] = []
    for part in MARK.sub("", found[1]).split(";"):
        named = _INNER.fullmatch(part.strip())
        if named:
            wanted += _named(named["names"], named["years"], doubtful=not (named["more"] or named["comma"]))
    return pages.mark(found[0], wanted) + "".join(m[0] for m in MARK.finditer(found[1])) if wanted else found[0]


def _named(names: str, years: str, *, doubtful: bool) -> list[Wanted]:
    people = tuple(
        name
        for name in re.split(r",?\s(?:and|&|et|und)\s|,\s|,?\set\sal\.?", names)
        if name and name not in ("al.", "al")
    )
    if not people or people[0].split()[0].casefold() in _NO_NAMES:
        return []
    found, year = [], ""
    for item in re.split(r"\s?[,;]\s?", years):
        one = _ONE_YEAR.fullmatch(item)
        if one and item:
            year = one[1] or year
            found.append(Wanted(names=people, year=int(year), letter=one[2] or "", doubtful=doubtful))
    return found

"""Splits reference lists into entries and entries into fields. Used by every parser."""

import re
from collections.abc import Iterable

from monjyu_assets.parsing.bibliography.dates import MONTH, YEAR, month_number
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_REFERENCE, ARXIV_NUMBER, DOI, find_doi
from monjyu_assets.parsing.bibliography.names import UPPER
from monjyu_assets.parsing.bibliography.reference_authors import (
    author_list,
    end_of_initialled,
    initialled_names,
    names_of,
)
from monjyu_core.language.packs import also, cues
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import Reference

# Entries of reference lists in Chinese, Japanese and Korean: names without spaces, titles in corner brackets.
_LETTER = r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
_COMMA = r"\s*[,\uff0c\u3001\u30fb\u00b7;\uff1b]\s*"
_STOP = r"[.\uff0e\u3002:\uff1a]"
_NAME = rf"(?:{_LETTER}{{2,6}}|{_LETTER}{{1,4}}\s{_LETTER}{{1,4}})"
_BODY = re.compile(
    r"\s*(?P<names>[^\u300c\u300e\u201c\u201d\",\uff0c]{2,40}?)[,\uff0c]\s*(?=[\u300c\u300e\u201c\u201d\"])"
)
"""Any one name in front of a title in quotation marks."""
_AUTHORS = re.compile(
    rf"\s*(?P<names>{_NAME}(?:{_COMMA}{_NAME}){{0,40}})(?:(?:{_COMMA})?\s*{alternatives('names.and_others')})?"
    rf"(?:\s*[(\uff08]?{alternatives('names.editors')}[)\uff09]?{also('references.authors')})?"
    rf"(?:\s*{_STOP}\s*|(?=\s*[(\uff08\u300c\u300e\u201c\"])|{_COMMA}(?=[\u300c\u300e\u201c\u201d\"]|[^,\uff0c.\uff0e:\uff1a]{{7,}}))"
)
_EAST_ASIAN_YEAR = re.compile(
    rf"[\s,\uff0c]*[(\uff08]?\s*{YEAR}[a-z]?\s*(?:{cues('references.year')})?\s*(?:[)\uff09][.,:\uff1a\uff0e\s]*|[.\uff0e]\s+)"
)
_EAST_ASIAN_QUOTED = re.compile(
    r"[\s,\uff0c]*(?:\u300c(?P<title>.{2,300}?)\u300d|[\u201c\u201d\"]\s?(?P<other>.{2,300}?)\u300d?[\u201d\"])[\s,.\uff0c\uff0e]*"
)
_BOOK = re.compile(r"[\s,\uff0c]*\u300e(?P<title>.{2,300}?)\u300f[\s,.\uff0c\uff0e]*")
_EAST_ASIAN_KIND = r"\[[A-Z]{1,2}(?:/[A-Z]{2})?\]"
"""The kind of work: [J], [EB/OL]."""
_TITLE = re.compile(
    rf"\s*(?P<title>.{{2,300}}?)\s*(?:{_EAST_ASIAN_KIND}\s*[.\uff0e,]?\s*|[.\uff0e\u3002,\uff0c]\s*(?![^\[]{{0,80}}{_EAST_ASIAN_KIND})|$)"
)
_VENUE = re.compile(
    rf"(?:(?i:in{also('references.within')})\s*[:\uff1a]\s*)?(?P<venue>[^,\uff0c\d(\uff08\u300c\u300e]{{2,80}}?)\s*(?:[,\uff0c.\uff0e(\uff08\d]|$)"
)


def is_east_asian(text: str) -> bool:
    """Whether most letters of an entry's beginning are Chinese, Japanese or Korean."""
    start = text[:60]
    return len(re.findall(_LETTER, start)) > 0.5 * sum(map(str.isalpha, start))


def east_asian_fields(text: str) -> tuple[list[str], str, str]:
    """Return the names as printed, the title and the venue ("" if not found) of an entry without label and links."""
    found = _BODY.match(text) or _AUTHORS.match(text)
    names = [name.strip() for name in re.split(_COMMA, found["names"])] if found else []
    rest = text[found.end() :] if found else text
    if year := _EAST_ASIAN_YEAR.match(rest):
        rest = rest[year.end() :]
    title = _EAST_ASIAN_QUOTED.match(rest) or _BOOK.match(rest) or _TITLE.match(rest)
    if title is None:
        return names, "", ""
    name, rest = next(filter(None, title.groups())).strip(), rest[title.end() :]
    venue = _BOOK.match(rest)
    if venue is None:
        plain = _VENUE.match(rest)
        return names, name, plain["venue"].strip() if plain else ""
    return names, name, venue["title"].strip()


OPENED, CLOSED = r"[\[\uff3b<\u2039\u27e8\u3008\u3010\u3014{]", r"[\]\uff3d>\u203a\u27e9\u3009\u3011\u3015}]"
"""Brackets around the number of a reference."""
_LABEL = re.compile(
    rf"\s*(?:\[\s*([^\]\s]{{1,12}})\s*\]\.?|{OPENED}\s*(\d{{1,3}})\s*{CLOSED}\.?|"
    r"\(\s*(\d{1,3})\s*\)|(\d{1,3})\s*[.)](?!\d)|(\d{1,3})\s+(?=[^\W\d_]))\s*"
)
_LONGEST = 2500
"""The number of characters of an entry that are read; longer entries are not references."""
_URL = re.compile(r"(?:https?://|www\.)\S+", re.I)
_URL_REST = rf"(?:\s+(?!\(?{YEAR}[a-z]?\)?(?:[.,;]|\s|$))[\w.()-]*[/\d][\w./()-]*(?=[\s.]|$))?"
"""The rest of a link broken by a line end; a year after a link is not part of it."""
_VOLUME = r"[A-Z]{0,2}\d{1,4}[A-Z]?(?:\s?\(\d{1,3}\))?"
_PAGE = r"(?:pp?\.?\s?)?[A-Z]{0,2}\d[\w\u2013-]{0,15}"
_PLACE = re.compile(
    rf"(?<=[\s.])(?:vol\.\s?|v\.\s?)?(?:{_VOLUME}\s?[,:]\s?{_PAGE}[,;]?\s?\(?(?P<y1>{YEAR})\)?|"
    rf"{_VOLUME},?\s?\((?P<y2>{YEAR})\)\s?,?\s?{_PAGE}|(?P<y3>{YEAR}),\s?{_VOLUME},\s?{_PAGE})"
    r"(?=\s*(?:$|[.;,]?\s*(?:$|\[|\(|;|and\s|arxiv|[a-z-]{2,8}/\d|erratum|ibid|see\b|doi|[\d,\s().\u2013-]+$)))", re.I,
)  # fmt: skip
"""Volume, page and year, followed only by another work or an identifier."""
_JOURNAL = re.compile(
    rf"(?=[^\d]{{3,80}}$)(?:(?:{UPPER}[\w&'\u2019-]*\.?|of|and|&|the|de|der|für|in|\([A-Z][\w.]{{2,20}}\))\s?){{1,9}}"
)
_ARCHIVE = re.compile(
    r"\W*(?P<venue>arxiv(?:\s(?:e-?|pre)prints?)?)[\s,:#]*"
    r"(?:(?:arxiv:)?[a-z-]{0,12}/?\d[\d./v]*+[\s,]*+)*+(?:\[[\w.-]{1,20}\])?\W*",
    re.I,
)
"""An archive and its number after a year, without a title."""
_DATED_UNTITLED = re.compile(
    r"(?P<venue>[^\W\d_][^\d,:]{1,80}),\s*"
    r"(?:[A-Z]?\d{1,4}[A-Z]?,\s*[A-Za-z]{0,2}\d[\w\u2013-]*|in press|submitted|accepted)\.?\s*"
)
"""An entry without a title, with authors and a year in front of the journal."""
_ABBREVIATIONS = re.compile(
    rf"(?:{UPPER}[\w&-]{{0,6}}\.\s?|{UPPER}[\w&-]*\s|of\s|and\s|the\s|&\s){{0,8}}{UPPER}[\w&-]*\.?"
)
_YEAR = re.compile(rf"(?<![\d.\u2013/-])({YEAR})(?=[a-z]?(?:[^\d\w]|$))(?![\u2013-]\d)")
_YEAR_IN_BRACKETS = re.compile(rf"\(\s*(?:[^()]{{0,30}}?\b)?({YEAR})(?:[a-z]|-\d\d(?:-\d\d)?)?(?:,[^()]{{0,30}})?\s*\)")
_NO_YEAR = re.compile(
    rf"(?<=\bthe ){YEAR}\b|(?<![^\W\d_])(?i:{alternatives('references.parts')})(?:\.\s?|(?<=\w\w)\s){YEAR}\b"
)
"""Years of earlier editions ("reprint of the 1994 edition"), and pages and volumes."""
_YEAR_IN_NAME = re.compile(r"\b[A-Za-z][\w-]*\s?['\u2019\u2018](\d\d)(?!\d)(?=[\s,.;:)]|$)")
"""The year of a meeting: CCS'07, RAID ’11."""
_NEXT_WORK = re.compile(rf"(?<=[)\d])\s*;\s+(?={UPPER})")
_UNDATED = re.compile(rf"(?<![^\W\d_])(?i:{alternatives('references.undated')})")
_DATED = re.compile(
    rf"[\s.,:]*(?:[(\[]?\s*(?P<year>{YEAR})[a-z]?(?:,\s*(?i:{MONTH})(?:\s*\d{{1,2}})?(?=\W))?\s*[)\]]?\s*[.,:]?\s+(?=\S)|"
    rf"\(?\s*{_UNDATED.pattern}\s*\)?\s*[.,:]?\s+)"
)
"""A year between authors and title, or the word in its place."""
_LOOKED_AT = re.compile(
    rf"[(\[]?\s*(?i:{alternatives('references.accessed')})[^;()\[\]]{{0,30}}?{YEAR}(?:[./-]\d{{1,2}}){{0,2}}\s*(?:[)\]]|,?\s*(?:from|de)\b:?)?|"
    rf"\[{YEAR}-\d\d-\d\d\]"
)
"""The day on which a page was accessed, which says nothing about the year of a work."""
_KIND = re.compile(r"\s*\[(?:[JMDCNRSPAGZ]|EB|DB|CP)(?:/[A-Z]{2})?\]\s*[.,]?")
"""The kind of work, in lists of the Chinese and Russian standards."""
_QUOTED = re.compile(
    r"(?:[\u201c\u201e\u00ab\"\u300c\u300e]|(?<=[\s,.:])\u201d(?=\w)|``|''|\u2018\u2018)\s?(.{3,400}?)"
    r"(?:[\u201d\u00bb\"\u300d\u300f]|''|\u2019\u2019)(?!\w|:\s)"
    r"|(?<![\w\u2018])\u2018(?!\u2018)(.{8,300}?)\u2019(?=\s*(?:[,.;:(]|$)|\s+[Ii]n\b)"
)
_JOURNAL_BEHIND = re.compile(
    rf"(?<=,)\s(?={UPPER}(?:[^,.\d]|\.(?!\s(?:[^\s,]+\s){{1,20}}[^\s,.]+,)){{2,80}},\s\d{{1,4}}(?:\s?\(\d{{1,4}}\))?,\s(?:pp?\.\s?)?\d)"
)
"""Journal, volume and pages after a title, all behind commas."""
_SENTENCE_END = re.compile(r"[.?!\u3002](?=\s|$|[\u201d\"])")
_NEW_SENTENCE = re.compile(rf"[^\W\d_]{{4}}[.?!]\s+(?={UPPER})|[)\]][.?!]\s")
_NO_END = re.compile(
    r"(?:\b(?:vs|etc|spp?|var|cf|ed|eds|vol|no|pp|st|dr|mr|inc|u\.s|e\.g|i\.e|et al|ver|linn|al)|(?<![\w-])[A-Z])\.$",
    re.I,
)


def label_of(text: str) -> str | None:
    """Return the label at the start of an entry: "12" of "[12] Smith", "12." or "12)"; "Smi99" of "[Smi99] Smith"."""
    match = _LABEL.match(text)
    return next((group for group in match.groups() if group), None) if match else None


def numbered_starts(lines: list[str]) -> list[int]:
    """Return the numbers of the lines that begin entries in a list whose labels count up; empty if the list is not
    labelled."""
    keyed = [i for i, line in enumerate(lines) if re.match(r"\s*\[(?!\d)[\w+]{1,9}\]", line)]
    if len(keyed) > 1 and keyed[0] <= 1:
        return keyed
    starts: list[int] = []
    expected = 0
    for i, line in enumerate(lines):
        label = label_of(line)
        if label is None or not label.isdigit() or (starts and _bracket(line) != _bracket(lines[starts[0]])):
            continue  # also the issue "(6)" at the start of a line, in a list with [1]
        value = int(label)
        if (not starts and value <= 2 and i <= 3) or (starts and expected <= value <= expected + 2):
            starts.append(i)
            expected = value + 1
    return starts if len(starts) > 2 or (starts and len(starts) >= 0.3 * len(lines)) else []


def _bracket(line: str) -> str:
    """The bracket in front of the number with which a line begins."""
    return line.lstrip()[:1].strip("0123456789")


def _unlabelled(raw: str) -> str:
    return _LABEL.sub("", raw, count=1).strip() if label_of(raw) else raw


def parse_reference(ref_id: str, raw: str) -> Reference:
    """Parse one entry. Unrecognised fields stay empty; `raw_text` is the entry with single spaces."""
    raw = " ".join(raw.split())
    text = _unlabelled(raw)
    doi, arxiv = find_doi(text), ARXIV_IN_REFERENCE.search(text)
    names, title, year, venue = _fields(_plain(text[:_LONGEST]))
    return Reference(
        ref_id=ref_id, raw_text=raw, title=title or None, authors=names, year=year, venue=venue or None, doi=doi,
        arxiv_id=arxiv.group(1) if arxiv else None,
    )  # fmt: skip


def parse_entries(ref_ids: Iterable[str], entries: Iterable[str]) -> list[Reference]:
    """Parse the entries of a list. An entry with several works, each with names, journal and year, is split into "3",
    "3-2", "3-3": "[3] A. Ray, J. Ice 1, 2 (2000); B. Sen, J. Fog 2, 3 (2001)."."""
    found: list[Reference] = []
    for ref_id, raw in zip(ref_ids, entries, strict=True):
        parts = _NEXT_WORK.split(raw[:_LONGEST])
        several = len(parts) > 1 and all(_untitled(_plain(_unlabelled(part))) for part in parts)
        works = parts if several else [raw]
        found += [parse_reference(f"{ref_id}-{k}" if k > 1 else ref_id, work) for k, work in enumerate(works, 1)]
    return found


def _fields(plain: str) -> tuple[list[str], str, int | None, str]:
    """Names, title, year and venue of an entry without label and links; for several works in one entry those of the
    first."""
    if is_east_asian(plain):
        names, title, venue = east_asian_fields(plain)
        return names, title, _year(plain), venue
    plain = re.sub(r"^\(?a\)\s+", "", plain)
    if untitled := _untitled(plain):
        return untitled
    authors, rest = author_list(plain)
    dated = _DATED.match(rest)
    rest = rest[dated.end() :] if dated else rest
    year = int(dated["year"]) if dated and dated["year"] else None
    if year and (archive := _ARCHIVE.fullmatch(rest)):
        return names_of(authors), "", year, archive["venue"]
    journal = _DATED_UNTITLED.fullmatch(rest) if year else None
    closed = not dated or not dated[0].rstrip().endswith(",")
    if journal and ("." not in journal["venue"] or (not closed and _ABBREVIATIONS.fullmatch(journal["venue"]))):
        return names_of(authors), "", year, journal["venue"]
    title, after = ("", rest) if year and rest.startswith("in ") else _title(plain, rest)
    year = year if dated else _year(after) or _year(rest) or _year(plain)
    title, after = _before_in(title, after)
    return names_of(authors), title, year, _venue(after)


def _untitled(plain: str) -> tuple[list[str], str, int | None, str] | None:
    """The fields of "A. Ray and B. Sen, Phys. Rev. Z 1, 21 (2001); 2, 33 (2002)", None if a title may be in it."""
    place = _PLACE.search(plain[:400])
    if place is None:
        return None
    head = plain[: place.start()]
    comma = head.rstrip(" ,").rfind(", ")
    for end in (comma, end_of_initialled(head)):
        venue = head[max(end, 0) :].strip(" ,:")
        if end <= 0 or not _JOURNAL.fullmatch(venue) or not _is_abbreviated(venue):
            continue
        if names := initialled_names(head[:end]):
            return names, "", next(int(year) for year in place.groups() if year), venue
    return None


def _is_abbreviated(venue: str) -> bool:
    """Whether the name can be a journal's and not a title: at most two words, or at least half of them with full
    stops."""
    words = [word for word in venue.split() if word[0].isupper() and len(word) > 1]
    closed = [word.endswith(".") for word in words]
    titled = "J." in words[1:] and not all(closed[: words.index("J.", 1)])
    return len(words) <= 2 or (sum(closed) >= 0.5 * len(words) and not titled)


def _plain(text: str) -> str:
    """The entry without links, identifiers and access notes."""
    text = re.sub(r"\[(?:PMID|PMCID|CrossRef|Crossref|PubMed|Google Scholar|http|doi)[^\]]*\]?", " ", text)
    text = re.sub(rf"(?:\b(?:URL|Url|url):?\s+)?https?:\s*//\s*\S+{_URL_REST}", " ", text)
    text = re.sub(r"\bdoi\s*:?\s*10\.\S*", " ", text, flags=re.I)
    text = _LOOKED_AT.sub(" ", _URL.sub(" ", DOI.sub(" ", text)))
    text = re.sub(r"\b(?:PMID|PMCID)\s*:?\s*\w*", " ", text)
    return re.sub(r"\s+(?=[,;]\s)", "", " ".join(text.split()))


def _year(text: str) -> int | None:
    """The last year of a text, preferably one in brackets."""
    text = re.sub(ARXIV_NUMBER, " ", text)
    sure = _NO_YEAR.sub(" ", text)
    found = _YEAR_IN_BRACKETS.findall(sure) or _YEAR.findall(sure) or _YEAR.findall(text)
    believable = [int(value) for value in found if 1600 < int(value) < 2100]
    if not believable and (meeting := _YEAR_IN_NAME.search(text)):
        believable = [int(meeting[1]) + (2000 if int(meeting[1]) < 50 else 1900)]
    return believable[-1] if believable else None


def _title(plain: str, rest: str) -> tuple[str, str]:
    """The title and the text after it."""
    if kind := _KIND.search(rest):
        return _trimmed(rest[: kind.start()].lstrip(" .,:;")), rest[kind.end() :]
    if slashes := re.search(r"\s//\s?", rest):
        return _trimmed(rest[: slashes.start()].lstrip(" .,:;")), rest[slashes.end() :]
    quoted = _QUOTED.search(plain)
    closed = quoted is not None and (quoted[1] or quoted[2]).endswith(",")  # a title, also behind an affiliation
    at_start = quoted is not None and (closed or quoted.start() <= len(plain) - len(rest) + 6)
    if quoted and (at_start or (len(rest) == len(plain) and quoted.start() < 0.6 * len(plain))):
        return (quoted[1] or quoted[2]).strip(" .,"), plain[quoted.end() :]
    named = _QUOTED.search(rest) if quoted and len(rest) < len(plain) else _JOURNAL_BEHIND.search(rest)
    before = rest[: named.start()].rstrip() if named else ""
    if named and len(before) > 8 and before.endswith(",") and not _NEW_SENTENCE.search(before):
        return before.strip(" ,.:;"), rest[named.start() :]
    commas = bool(re.match(r"\s*,", rest)) and len(rest) < len(plain)
    rest = rest.lstrip(" .,:;")
    if commas or _comma_style(rest):
        first = re.search(r",\s+(?=(?:in:?\s|arXiv|[^\W\d_a-z]))", rest)
        if first and first.start() > 12:
            return rest[: first.start()].strip(), rest[first.end() :]
    parted = re.match(r"([^.;]{10,200}); (?:[^.;]+; )?[^.;:]{3,60}: [^\W\d_a-z]", rest)
    if parted:
        return _trimmed(parted.group(1)), rest[parted.end(1) + 1 :]
    for match in _SENTENCE_END.finditer(rest):
        head = rest[: match.end()]
        if (_NO_END.search(head) and match.end() < len(rest)) or len(head) < 6:
            continue
        following = rest[match.end() :].lstrip()
        if following and following[0].islower() and not following.startswith(("arXiv", "in ")):
            continue
        second = re.match(r"((?!In\b)[^\W\d_a-z][^.\d()]{25,200})\.\s+(?=\S)", following)
        if second and _is_prose(second.group(1)):
            return _trimmed(f"{head} {second.group(1)}"), following[second.end() :]
        return _trimmed(head), following
    return _trimmed(rest), ""


_WITHIN = re.compile(rf"[,.]\s+(?:(?i:{alternatives('references.within')}):|In)\s+(?=\S)")


def _before_in(title: str, after: str) -> tuple[str, str]:
    """Move a book ("Title, in: Book") from the title to the text after it."""
    match = _WITHIN.search(title)
    if match is None or match.start() < 6:
        return title, after
    return title[: match.start()], f"{title[match.start() + 1 :]}. {after}"


def _is_prose(sentence: str) -> bool:
    """Whether most words are lower-case, as in a second sentence of the title and not in the name of a journal or
    publisher."""
    words = sentence.split()
    return len(words) >= 5 and sum(word[0].islower() for word in words) >= 0.6 * len(words) and ":" not in sentence


def _comma_style(rest: str) -> bool:
    """Whether title, venue and year are separated by commas ("Title, Journal 12 (2010) 3-4.")."""
    head = _SENTENCE_END.split(rest, maxsplit=1)[0]
    return bool(re.search(r",\s+[^\W\d_a-z][^,]{3,80}\s\d{1,4}\s*(?:\(|,|:)", head))


def _trimmed(text: str) -> str:
    text = re.sub(r"\s*\((?:\d+(?:st|nd|rd|th) ed\.?|Version [^)]*|v?\d[\d.]*)\)\s*\.?$", "", text.strip(), flags=re.I)
    text = re.sub(r"\s*\[[^\]]{3,40}\]\s*\.?$", "", text)
    text = re.sub(rf"\s*\((?:[^()]{{0,80}}\b{YEAR}\)?|[^():]{{2,40}}:\s[^():]{{2,60}}\))\s*\.?$", "", text)
    return text.strip(' .,;:\u201c\u201d"')


_ABBREVIATED = re.compile(
    rf"(?=[^\d,;(]*\.)(?P<venue>(?:{UPPER}[\w&-]*\.?\s|(?:of|and|on|the|in|für|de)\s){{0,8}}?{UPPER}[\w&-]*\.?,?\s)"
    rf"(?:(?i:vol)\.?\s*)?(?!{YEAR}\b)[A-Z]?\d"
)
_EDITED = re.compile(rf"[^()]{{3,120}}\((?i:{alternatives('names.editors')})\.?\)\s*[:,.]?\s+")
_NO_VENUE = re.compile(
    rf"(?i:{alternatives('references.available')}|{alternatives('references.accessed')}|url\b|"
    rf"{alternatives('references.parts')}\.?\s?\d)"
)


def _venue(after: str) -> str:
    """The journal, meeting, book or publisher after a title; "" if none is found. "Comput. J. 27" keeps its full
    stops."""
    text = re.sub(rf"^[\s.,;:\u2014\u2013]*(?:(?i:{alternatives('references.within')})\s*:\s+|[Ii]n\s+)?", "", after)
    text = re.sub(
        r"^[\"\u201c\u00ab\u201e]([^\"\u201d\u00bb\u201c]{2,120})[\"\u201d\u00bb\u201c]",
        r"\1",
        _EDITED.sub("", text, count=1),
    )
    abbreviated = _ABBREVIATED.match(text)
    match = abbreviated or re.match(
        r"(?P<venue>.+?)(?:[,;(]|\.\s(?!(?:of|on|the|in|für|de)\s)|\s[\u2014\u2013]\s|\s\d(?!\d{0,2}(?:st|nd|rd|th)\b)|\s*$)",
        text,
    )
    venue = match["venue"].strip(" ,;:" if abbreviated else " .,;:") if match else ""
    named = sum(c.isalpha() for c in venue) > 2 and not _NO_VENUE.match(venue) and month_number(venue) is None
    return venue if named else ""

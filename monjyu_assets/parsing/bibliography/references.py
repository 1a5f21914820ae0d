"""Reference lists: from text to entries, from an entry to its fields. Used by every parser."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.dates import MONTH, YEAR
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_REFERENCE, ARXIV_NUMBER, DOI, find_doi
from monjyu_assets.parsing.bibliography.reference_authors import author_list, names_of
from monjyu_core.paper import Reference

_LABEL = re.compile(
    r"\s*(?:\[\s*([^\]\s]{1,12})\s*\]\.?|\(\s*(\d{1,3})\s*\)|(\d{1,3})\s*[.)](?!\d)|(\d{1,3})\s+(?=[^\W\d_]))\s*"
)
_LONGEST = 2500
"""How many characters of an entry are read; longer entries are not references."""
_URL = re.compile(r"(?:https?://|www\.)\S+", re.I)
_URL_REST = rf"(?:\s+(?!\(?{YEAR}[a-z]?\)?(?:[.,;]|\s|$))[\w.()-]*[/\d][\w./()-]*(?=[\s.]|$))?"
"""The rest of a link that a line end has broken; a year behind a link is not such a rest."""
_UNTITLED = re.compile(r"[^\W\d_][^\d,.:]{2,80},\s*\d{1,4},\s*[A-Za-z]?\d[\w\u2013-]*\.?\s*")
"""A journal, its volume and a page: some lists print no titles."""
_YEAR = re.compile(rf"(?<![\d.\u2013/-])({YEAR})(?=[a-z]?(?:[^\d\w]|$))(?![\u2013-]\d)")
_YEAR_IN_BRACKETS = re.compile(rf"\(\s*(?:[^()]{{0,30}}?\b)?({YEAR})[a-z]?(?:,[^()]{{0,30}})?\s*\)")
_QUOTED = re.compile(r"[\u201c\u201e\u00ab\"\u300c\u300e](.{3,400}?)[\u201d\u00bb\"\u300d\u300f](?!\w)")
_SENTENCE_END = re.compile(r"[.?!\u3002](?=\s|$|[\u201d\"])")
_NO_END = re.compile(
    r"(?:\b(?:vs|etc|spp?|var|cf|ed|eds|vol|no|pp|st|dr|mr|inc|u\.s|e\.g|i\.e|et al|ver|linn|al)|(?<![\w-])[A-Z])\.$",
    re.I,
)


def label_of(text: str) -> str | None:
    """The label in front of an entry: "12" of "[12] Smith", "12." or "12)"; "Smi99" of "[Smi99] Smith"."""
    match = _LABEL.match(text)
    return next((group for group in match.groups() if group), None) if match else None


def numbered_starts(lines: list[str]) -> list[int]:
    """Lines that begin entries in a list whose labels count up; empty where the list is not labelled."""
    keyed = [i for i, line in enumerate(lines) if re.match(r"\s*\[[A-Za-z+]{1,8}\d{2,4}[a-z]?\]\s*\S", line)]
    if len(keyed) > 1 and keyed[0] <= 1:
        return keyed
    starts: list[int] = []
    expected = 0
    for i, line in enumerate(lines):
        label = label_of(line)
        if label is None or not label.isdigit():
            continue
        value = int(label)
        if (not starts and value <= 2 and i <= 3) or (starts and expected <= value <= expected + 2):
            starts.append(i)
            expected = value + 1
    return starts if len(starts) > 2 or (starts and len(starts) >= 0.3 * len(lines)) else []


def parse_reference(ref_id: str, raw: str) -> Reference:
    """The fields of one entry. Fields that cannot be recognised stay empty; `raw_text` is the entry as given."""
    raw = " ".join(raw.split())
    label = label_of(raw)
    text = _LABEL.sub("", raw, count=1).strip() if label else raw
    doi, arxiv = find_doi(text), ARXIV_IN_REFERENCE.search(text)
    plain = _plain(text[:_LONGEST])
    authors, rest = author_list(plain)
    year, rest = _year(plain, rest)
    untitled = year is not None and _UNTITLED.fullmatch(rest)
    title, after = ("", rest) if untitled else _before_in(*_title(plain, rest))
    return Reference(
        ref_id=ref_id, raw_text=raw, title=title or None, authors=names_of(authors), year=year,
        venue=_venue(after) or None, doi=doi, arxiv_id=arxiv.group(1) if arxiv else None,
    )  # fmt: skip


def _plain(text: str) -> str:
    """The entry without links, identifiers and access notes."""
    text = re.sub(r"\[(?:PMID|PMCID|CrossRef|Crossref|PubMed|Google Scholar|http|doi)[^\]]*\]?", " ", text)
    text = re.sub(rf"https?:\s*//\s*\S+{_URL_REST}", " ", text)
    text = re.sub(r"\bdoi\s*:?\s*10\.\S*", " ", text, flags=re.I)
    text = _URL.sub(" ", DOI.sub(" ", text))
    text = re.sub(r"\b(?:PMID|PMCID)\s*:?\s*\w*", " ", text)
    return " ".join(text.split())


def _year(plain: str, rest: str) -> tuple[int | None, str]:
    """The year, and the rest without it where it stands between authors and title."""
    leading = re.match(
        rf"[\s.,:]*[(\[]?\s*({YEAR})[a-z]?(?:,\s*(?i:{MONTH})(?:\s*\d{{1,2}})?(?=\W))?\s*[)\]]?\s*[.,:]?\s+(?=\S)",
        rest,
    )
    if leading:
        return int(leading.group(1)), rest[leading.end() :]
    undated = re.match(r"[\s.,:]*\(\s*(?:n\.\s?d\.|in press|forthcoming)\s*\)\s*[.,:]?\s+", rest, re.I)
    if undated:
        return None, rest[undated.end() :]
    without_arxiv = re.sub(ARXIV_NUMBER, " ", rest)
    bracketed = _YEAR_IN_BRACKETS.findall(without_arxiv)
    found = bracketed or list(_YEAR.findall(without_arxiv)) or _YEAR.findall(plain)
    believable = [int(value) for value in found if 1600 < int(value) < 2100]
    return (believable[-1] if believable else None), rest


def _title(plain: str, rest: str) -> tuple[str, str]:
    """The title and what follows it."""
    quoted = _QUOTED.search(plain)
    at_start = quoted is not None and quoted.start() <= len(plain) - len(rest) + 6
    if quoted and (at_start or (len(rest) == len(plain) and quoted.start() < 0.6 * len(plain))):
        return quoted.group(1).strip(" .,"), plain[quoted.end() :]
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


def _before_in(title: str, after: str) -> tuple[str, str]:
    """The title without the book it stands in ("Title, in: Book")."""
    match = re.search(r"[,.]\s+(?:[Ii]n:|In)\s+(?=\S)", title)
    if match is None or match.start() < 6:
        return title, after
    return title[: match.start()], f"{title[match.start() + 1 :]}. {after}"


def _is_prose(sentence: str) -> bool:
    """Mostly lower-case words: a second sentence of the title, not the name of a journal or publisher."""
    words = sentence.split()
    return len(words) >= 5 and sum(word[0].islower() for word in words) >= 0.6 * len(words) and ":" not in sentence


def _comma_style(rest: str) -> bool:
    """Title, venue and year separated by commas ("Title, Journal 12 (2010) 3-4.")."""
    head = _SENTENCE_END.split(rest, maxsplit=1)[0]
    return bool(re.search(r",\s+[^\W\d_a-z][^,]{3,80}\s\d{1,4}\s*(?:\(|,|:)", head))


def _trimmed(text: str) -> str:
    text = re.sub(r"\s*\((?:\d+(?:st|nd|rd|th) ed\.?|Version [^)]*|v?\d[\d.]*)\)\s*\.?$", "", text.strip(), flags=re.I)
    text = re.sub(r"\s*\[[^\]]{3,40}\]\s*\.?$", "", text)
    text = re.sub(rf"\s*\((?:[^()]{{0,80}}\b{YEAR}\)?|[^():]{{2,40}}:\s[^():]{{2,60}}\))\s*\.?$", "", text)
    return text.strip(' .,;:\u201c\u201d"')


def _venue(after: str) -> str:
    text = re.sub(r"^[\s.,;:]*(?:[Ii]n\s*:?\s+)?", "", after)
    match = re.match(r"(.+?)(?:[,;(]|\.\s|\s\d(?!\d{0,2}(?:st|nd|rd|th)\b)|\s*$)", text)
    venue = match.group(1).strip(" .,;:") if match else ""
    return (
        venue
        if sum(c.isalpha() for c in venue) > 2 and not venue.casefold().startswith(("available", "accessed"))
        else ""
    )

"""Reads the front matter and the reference list of a JATS paper."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from monjyu_assets.parsing.bibliography.bibtex import Work
from monjyu_assets.parsing.bibliography.dates import month_number, parse_date, year_in
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_FIELD, bare_arxiv, clean_orcid, find_doi
from monjyu_assets.parsing.bibliography.names import full_name
from monjyu_assets.parsing.bibliography.references import parse_reference
from monjyu_assets.parsing.text.common import comparable
from monjyu_assets.parsing.xml.tree import TITLE_TEXT, Element, plain, unique_ids, words
from monjyu_core.paper import Author, ParsedPaper, Reference

_DATES = ("epub", "epub-ppub", "pub", "ppub", "preprint", "collection")
"""Types of dates, the best first: `pub-type` of JATS 1.0, `date-type` of later versions."""
_TITLE = re.compile(r"(?:(?:Dr|Prof)\.\s+)+(?=\S)")
"""Academic titles in front of a given name."""
_NOT_WRITERS = re.compile(r"editor|review|translator|compiler|illustrator|assignee|non-byline", re.IGNORECASE)
_MOST_AUTHORS = 5000
_MOST_PLACES = 50
"""The maximum number of affiliations of one author; without links between authors and affiliations, each author has
all."""
_LONGEST_PLACE = 1000


def read_front(paper: ParsedPaper, front: Element) -> None:
    """Fill in the fields of the paper from `front`."""
    meta = front.find("article-meta")
    meta = meta if meta is not None else front
    titles = meta.find("title-group")
    if titles is not None:
        main, below = TITLE_TEXT.line(titles.find("article-title")), TITLE_TEXT.line(titles.find("subtitle"))
        paper.title = f"{main.rstrip(':')}: {below}" if main and below else main
    paper.authors = list(islice(_authors(meta), _MOST_AUTHORS))
    _identifiers(paper, meta)
    _journal(paper, front, meta)
    paper.publication_date = _date(meta)
    groups = [group for group in meta.findall("kwd-group") if "abbrev" not in (group.get("kwd-group-type") or "")]
    names = (TITLE_TEXT.line(word) for group in groups for word in group.iter("kwd"))
    paper.keywords = list(dict.fromkeys(name for name in names if name))


def _identifiers(paper: ParsedPaper, meta: Element) -> None:
    for item in meta.findall("article-id"):
        kind, value = (item.get("pub-id-type") or "").lower(), plain(item)
        if kind == "doi":
            paper.doi = paper.doi or find_doi(value)
        elif kind == "pmid" and value.isdigit():
            paper.pmid = value
        elif kind == "arxiv":
            paper.arxiv_id = bare_arxiv(value) or None


def _journal(paper: ParsedPaper, front: Element, meta: Element) -> None:
    journal = front.find("journal-meta")
    title = journal.find(".//journal-title") if journal is not None else None
    name = plain(title) or (plain(journal.find("journal-id")) if journal is not None else "")
    event = plain(meta.find("conference/conf-name"))
    if name or event:
        paper.venue, paper.venue_type = name or event, "conference" if event else "journal"
    paper.volume, paper.issue = plain(meta.find("volume")) or None, plain(meta.find("issue")) or None
    first, last = plain(meta.find("fpage")), plain(meta.find("lpage"))
    pages = f"{first}-{last}" if first and last and first != last else first
    paper.pages = pages or plain(meta.find("elocation-id")) or None


def _date(meta: Element) -> str | None:
    """The date of publication: of several, the one whose type comes first in `_DATES`."""
    found: dict[str, str] = {}
    for item in meta.findall("pub-date"):
        kind = (item.get("pub-type") or item.get("date-type") or "pub").lower()
        if (item.get("iso-8601-date") and (date := parse_date(item.get("iso-8601-date")))) or (date := _of_parts(item)):
            found.setdefault(kind, date)
    return next((found[kind] for kind in (*_DATES, *found) if kind in found), None)


def _of_parts(item: Element) -> str | None:
    year, month, day = (plain(item.find(name)) for name in ("year", "month", "day"))
    month = str(month_number(month) or month)
    parts = [year, *([month, *([day] if day.isdigit() else [])] if month.isdigit() else [])]
    return parse_date("-".join(parts)) or parse_date(year)


def _authors(meta: Element) -> Iterator[Author]:
    affiliations = list(meta.iter("aff"))
    places = {_label(item): _place(item) for item in reversed(affiliations) if _label(item)}
    places |= {item.get("id"): _place(item) for item in affiliations if item.get("id")}
    mails = {item.get("id"): plain(item.find(".//email")) for item in meta.iter("corresp") if item.get("id")}
    of_all = [_place(item) for item in meta.findall("aff")[:_MOST_PLACES]]
    for group in meta.findall("contrib-group"):
        if _NOT_WRITERS.search(group.get("content-type") or ""):
            continue
        shared = [_place(item) for item in group.findall("aff")[:_MOST_PLACES]] or of_all
        linked = group.find(".//xref[@ref-type='aff']") is not None
        for contrib in group.findall("contrib"):
            if is_writer(contrib) and (name := name_of(contrib)):
                yield _author(contrib, name, places, [] if linked else shared, mails)


def is_writer(contrib: Element) -> bool:
    return _NOT_WRITERS.search(contrib.get("contrib-type") or "") is None


def _author(contrib: Element, name: str, places: dict[str, str], shared: list[str], mails: dict[str, str]) -> Author:
    links = [
        (item.get("ref-type") or "", rid)
        for item in contrib.iter("xref")
        for rid in (item.get("rid") or plain(item)).split()
    ]
    own = [places[rid] for kind, rid in links if kind == "aff" and places.get(rid)]
    own += [_place(item) for item in contrib.findall("aff")]
    corresponding = [rid for kind, rid in links if kind == "corresp" or rid in mails]
    mail = plain(contrib.find(".//email")) or next((mails[rid] for rid in corresponding if mails.get(rid)), "")
    orcid = next((plain(i) for i in contrib.iter("contrib-id") if (i.get("contrib-id-type") or "") == "orcid"), "")
    return Author(
        name=name,
        affiliation="; ".join(islice(dict.fromkeys(own or shared), _MOST_PLACES)) or None,
        email=mail or None,
        orcid=clean_orcid(orcid),
        is_corresponding=bool(corresponding) or contrib.get("corresp") == "yes",
    )


def _label(aff: Element) -> str:
    """The printed mark of an affiliation, to which a link without an id refers."""
    return plain(aff.find("label")) or plain(aff.find("sup"))


def _place(aff: Element) -> str:
    """An affiliation on one line, without its label, e-mail and identifiers."""
    unseen = {"label", "sup", "email", "institution-id", "fn", "xref", "ext-link"}
    pieces: list[str] = []

    def walk(element: Element) -> None:
        pieces.append(element.text or "")
        for child in element:
            if isinstance(child.tag, str) and child.tag not in unseen:
                if (
                    pieces
                    and pieces[-1].strip()
                    and not re.search(r"[,;]\s*$", pieces[-1])
                    and child.tag not in _STYLES
                ):
                    pieces.append(", ")
                walk(child)
            pieces.append(child.tail or "")

    walk(aff)
    text = " ".join("".join(pieces).split())
    return re.sub(r"\s+,|(?:,\s*){2,}", ",", text).replace(",,", ",").strip(" ,;.")[:_LONGEST_PLACE]


_STYLES = {"italic", "bold", "sc", "styled-content", "named-content"}


def name_of(item: Element) -> str:
    """Given names and surname of a person, or the name of a group."""
    alternatives = item.find("name-alternatives")
    holder = alternatives if alternatives is not None else item
    name = holder.find("name")
    if name is None:
        name = holder.find("string-name")
    if name is not None:
        return personal_name(name)
    group = item.find("collab")
    if group is None:
        group = item.find("collab-alternatives/collab")
    return words(group) if group is not None and group.find("contrib-group") is None else plain_collab(group)


def plain_collab(group: Element | None) -> str:
    """The name of a group whose members are listed inside it."""
    if group is None:
        return ""
    return " ".join((group.text or "").split()) or plain(group.find("institution"))


def personal_name(name: Element) -> str:
    """Return `name` or `string-name` as "Given Surname Suffix"; its text unchanged if it has no parts."""
    given, family = plain(name.find("given-names")), plain(name.find("surname"))
    if not family:
        return given or plain(name)
    given = given[match.end() :] if (match := _TITLE.match(given)) else given
    particle, suffix = plain(name.find("prefix")), plain(name.find("suffix"))
    particle = particle if particle[:1].islower() else ""
    if name.get("name-style") == "eastern":
        return f"{family} {given}".strip()
    return full_name(given, " ".join(part for part in (particle, family, suffix) if part))


# The reference list of a JATS paper: tagged entries, printed ones, and those that are both.
_CITATIONS = ("element-citation", "mixed-citation", "nlm-citation", "citation")
_TITLES = ("article-title", "chapter-title", "part-title", "data-title", "trans-title")
_NOT_AUTHORS = {"editor", "translator", "guest-editor", "illustrator", "compiler"}


def read_references(article: Element) -> list[Reference]:
    """The entries in order, with the source's ids. An entry with several works is split."""
    found = article.iterfind(".//ref-list/ref")
    items = [item for item in found if next(item.iterancestors("sub-article", "response"), None) is None]
    return unique_ids([reference for item in items for reference in _entries(item)])


def _entries(item: Element) -> Iterator[Reference]:
    name = item.get("id") or plain(item.find("label")).strip("[]().")
    citations = [child for child in item if child.tag in _CITATIONS]
    alternatives = item.find("citation-alternatives")
    if alternatives is not None:
        citations += [child for child in alternatives if child.tag in _CITATIONS][:1]
    if not citations:
        text = _without_label(item)
        if text:
            yield parse_reference(name, text)
    for place, (citation, printed) in enumerate(_works(citations)):
        reference = _reference(citation, (citation.get("id") if place else None) or name)
        text = _without_label(printed) if printed is not None else ""
        yield reference.model_copy(update={"raw_text": text}) if text else reference


def _works(citations: Sequence[Element]) -> Iterator[tuple[Element, Element | None]]:
    """The works of an entry, each as tagged and, if the source has both, as printed. Several citations of one kind are
    several works; a printed and a tagged one of the same year and title are one."""
    printed = [citation for citation in citations if citation.tag == "mixed-citation"]
    tagged = [citation for citation in citations if citation.tag != "mixed-citation"]
    if not printed or not tagged:
        yield from ((citation, None) for citation in citations)
        return
    for citation in tagged:
        same = next((other for other in printed if _is_same(citation, other, len(citations) == 2)), None)
        if same is not None:
            printed.remove(same)
        yield citation, same
    yield from ((citation, None) for citation in printed)


def _is_same(tagged: Element, printed: Element, only: bool) -> bool:
    """Whether the printed citation has the year and the title of the tagged one; for the `only` pair of an entry one of
    both suffices."""
    work, text = _work(tagged, ""), comparable(_without_label(printed))
    dated = work.year is None or str(work.year) in text
    titled = not work.title or comparable(work.title)[:40] in text
    return (dated and titled) or (only and (dated or titled))


def _reference(citation: Element, name: str) -> Reference:
    work = _work(citation, name)
    tagged = work.reference()
    if citation.tag == "element-citation" and (work.title or work.venue):
        return tagged
    text = _without_label(citation)
    if len(text) < 12 and work.title:
        return tagged
    printed = parse_reference(name, text or work.printed)
    raw = work.printed if citation.tag != "mixed-citation" and work.title and work.authors else text
    fields = {k: v for k, v in tagged.model_dump().items() if v and k not in ("ref_id", "raw_text")}
    if tagged.title:
        fields.setdefault("venue", None)
    return printed.model_copy(update={"raw_text": raw or printed.raw_text} | fields)


def _work(citation: Element, name: str) -> Work:
    titles = [text for tag in _TITLES for item in citation.findall(tag) if (text := plain(item).strip(' .,“”"'))]
    source = plain(citation.find("source")).strip(" .,")
    year = year_in(plain(citation.find("year")) or plain(citation.find("date")))
    first, last = plain(citation.find("fpage")), plain(citation.find("lpage"))
    ids = _reference_identifiers(citation)
    return Work(
        key=name,
        title=titles[0] if titles else source,
        authors=list(_people(citation)),
        year=year,
        venue=source if titles else plain(citation.find("publisher-name")),
        volume=plain(citation.find("volume")),
        issue=plain(citation.find("issue")),
        pages=(f"{first}–{last}" if first and last else first) or plain(citation.find("elocation-id")),
        doi=ids.get("doi"),
        arxiv_id=ids.get("arxiv"),
    )


def _people(citation: Element) -> Iterator[tuple[str, str]]:
    groups = citation.findall("person-group")
    writers = [group for group in groups if (group.get("person-group-type") or "author") not in _NOT_AUTHORS]
    for holder in writers or [citation] if not groups or writers else groups:
        for item in holder:
            if item.tag in ("name", "string-name"):
                family = plain(item.find("surname"))
                given = plain(item.find("given-names"))
                yield (given, family) if family else ("", personal_name(item))
            elif item.tag == "name-alternatives" and item.find("name") is not None:
                yield plain(item.find("name/given-names")), plain(item.find("name/surname"))
            elif item.tag in ("collab", "institution") and words(item):
                yield "", words(item)


def _reference_identifiers(citation: Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in citation.iter("pub-id", "ext-link", "uri", "article-id"):
        kind = (item.get("pub-id-type") or item.get("ext-link-type") or "").lower()
        value = f"{plain(item)} {item.get('href') or ''}"
        doi = find_doi(value)
        if doi and (kind == "doi" or "doi.org" in value or kind == "uri"):
            found.setdefault("doi", doi)
        elif ("arxiv" in kind or "arxiv" in value.lower()) and (match := ARXIV_IN_FIELD.search(value)):
            found.setdefault("arxiv", match[1])
    return found


def _without_label(item: Element) -> str:
    """The entry as printed, without its label."""
    pieces = [item.text or ""]
    for child in item:
        if child.tag != "label":
            pieces.append(plain(child) if child.tag != "person-group" else words(child))
        pieces.append(child.tail or "")
    return " ".join("".join(pieces).split()).lstrip(" .,;:")

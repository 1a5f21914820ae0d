"""The header of a TEI paper: title, authors, journal, identifiers, date, keywords."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_assets.parsing.bibliography.bibtex import Work
from monjyu_assets.parsing.bibliography.dates import parse_date, year_in
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_TEI, clean_orcid, find_doi
from monjyu_assets.parsing.bibliography.names import full_name
from monjyu_assets.parsing.bibliography.references import parse_reference
from monjyu_assets.parsing.text.common import split_keywords
from monjyu_assets.parsing.xml.xml_math import TITLE_TEXT
from monjyu_assets.parsing.xml.xml_paper import unique_ids
from monjyu_assets.parsing.xml.xml_tree import Element, plain, words
from monjyu_core.paper import Author, ParsedPaper, Reference


def read_header(paper: ParsedPaper, header: Element) -> None:
    """Fill in what `teiHeader` says. All else stays as it is."""
    source = header.find("fileDesc/sourceDesc/biblStruct")
    paper.title = _title(header.find("fileDesc/titleStmt"))
    if not paper.title and source is not None:
        paper.title = _title(source.find("analytic"))
    writers = source.findall("analytic/author") if source is not None else []
    writers = writers or header.findall("fileDesc/titleStmt/author")
    paper.authors = [author for item in writers if (author := _author(item)).name]
    paper.keywords = list(_keywords(header))
    if source is not None:
        _journal(paper, source)
        _identifiers(paper, source)
    date = header.find("fileDesc/publicationStmt/date")
    paper.publication_date = paper.publication_date or _date(date)


def _title(holder: Element | None) -> str:
    """Main title and subtitle, which are elements beside each other or inside one."""
    if holder is None:
        return ""
    titles = list(holder.iter("title"))
    parts = [
        next((text for item in titles if item.get("type") == kind and (text := TITLE_TEXT.line(item))), "")
        for kind in ("main", "sub")
    ]
    if parts[0]:
        return f"{parts[0].rstrip(' :')}: {parts[1]}" if parts[1] else parts[0]
    return next((text for item in titles if item.get("type") != "sub" and (text := TITLE_TEXT.line(item))), "")


def _journal(paper: ParsedPaper, source: Element) -> None:
    title = source.find("monogr/title")
    if name := TITLE_TEXT.line(title):
        paper.venue = name
        paper.venue_type = {"j": "journal", "m": "conference"}.get(title.get("level") or "", "other")
    imprint = source.find("monogr/imprint")
    if imprint is None:
        return
    scopes = {item.get("unit"): item for item in reversed(imprint.findall("biblScope"))}
    paper.volume = plain(scopes.get("volume")) or None
    paper.issue = plain(scopes.get("issue")) or None
    paper.pages = page_range(scopes.get("page")) or None
    paper.publication_date = _date(imprint.find("date"))


def page_range(scope: Element | None) -> str:
    if scope is None:
        return ""
    first, last = scope.get("from") or "", scope.get("to") or ""
    return (f"{first}-{last}" if last and last != first else first) or plain(scope)


def _date(date: Element | None) -> str | None:
    if date is None:
        return None
    return parse_date(date.get("when") or "") or parse_date(plain(date))


def _identifiers(paper: ParsedPaper, source: Element) -> None:
    for item in source.iter("idno"):
        kind, value = (item.get("type") or "").lower(), plain(item)
        if any(above.tag in ("author", "editor") for above in item.iterancestors()):
            continue
        if kind == "doi":
            paper.doi = paper.doi or find_doi(value)
        elif kind == "arxiv" and (match := ARXIV_IN_TEI.search(value)):
            paper.arxiv_id = match[1]
        elif kind == "pmid" and value.isdigit():
            paper.pmid = value


def _keywords(header: Element) -> Iterator[str]:
    groups = header.findall("profileDesc/textClass/keywords")
    named = [group for group in groups if (group.get("n") or "").lower() == "keywords"]
    for group in named or groups:  # others name topics and kinds of talks
        terms = [TITLE_TEXT.line(term) for term in group.iter("term")]
        yield from (term for term in terms if term)
        if not terms:
            yield from split_keywords(plain(group))


def _author(item: Element) -> Author:
    orcid = next((plain(idno) for idno in item.findall(".//idno") if (idno.get("type") or "").upper() == "ORCID"), "")
    places = [place for aff in item.findall("affiliation") if (place := _place(aff))]
    return Author(
        name=person(item),
        affiliation="; ".join(dict.fromkeys(places)) or None,
        email=plain(item.find(".//email")) or None,
        orcid=clean_orcid(orcid),
        is_corresponding=(item.get("role") or "") == "corresp",
    )


def person(item: Element) -> str:
    """ "Given Middle Surname" of a `persName`, else the name as it stands."""
    name = item.find("persName")
    holder = name if name is not None else item
    family = plain(holder.find("surname"))
    given = [plain(part) for part in holder.findall("forename")]
    if family:
        particle, suffix = plain(holder.find("nameLink")), plain(holder.find("genName"))
        return full_name(" ".join(given), " ".join(part for part in (particle, family, suffix) if part))
    if given:
        return " ".join(given)
    organisation = item.find("orgName")
    if name is None and organisation is None:
        organisation = item.find("name")
    return words(name) if name is not None else words(organisation)


def _place(aff: Element) -> str:
    """Department, institution and address of an affiliation."""
    order = {"department": 0, "laboratory": 1, "institution": 2}
    names = sorted(aff.findall("orgName"), key=lambda item: order.get(item.get("type") or "", 3))
    address = aff.find("address")
    parts = [plain(name) for name in names]
    parts += [plain(part) for part in address if isinstance(part.tag, str)] if address is not None else []
    return ", ".join(part for part in parts if part) or plain(aff)


# The reference list of a TEI paper.


def read_references(root: Element) -> list[Reference]:
    """Entries of `listBibl` in order, with their `xml:id` (`b0`)."""
    items = [item for group in root.iterfind("text//listBibl") for item in group if item.tag in ("biblStruct", "bibl")]
    return unique_ids([_reference(item) for item in items])


def _reference(item: Element) -> Reference:
    name = item.get("id") or ""
    raw = next((plain(note) for note in item.findall("note") if (note.get("type") or "") == "raw_reference"), "")
    if item.tag == "bibl" and item.find("title") is None:
        return parse_reference(name, plain(item))
    raw = raw or (plain(item) if item.tag == "bibl" else "")
    work = _work(item, name)
    tagged = work.reference()
    if not (work.title or work.venue) and raw:
        return parse_reference(name, raw)
    return tagged.model_copy(update={"raw_text": raw}) if raw else tagged


def _work(item: Element, name: str) -> Work:
    places = ("analytic/title", "monogr/title") if item.tag == "biblStruct" else ("title[1]", "title[2]")
    titles = [text for place in places if (text := plain(item.find(place)).strip(' ,.“”"'))]
    imprint = item.find("monogr/imprint") if item.tag == "biblStruct" else item
    scopes = {scope.get("unit"): scope for scope in reversed(item.findall(".//biblScope"))}
    date = imprint.find("date") if imprint is not None else None
    year = year_in(f"{date.get('when') or ''} {plain(date)}") if date is not None else None
    ids = {(idno.get("type") or "").lower(): plain(idno) for idno in item.iter("idno")}
    arxiv = ARXIV_IN_TEI.search(ids.get("arxiv", ""))
    links = " ".join(ptr.get("target") or "" for ptr in item.iter("ptr"))
    venue = titles[1] if len(titles) > 1 else plain(imprint.find("publisher")) if imprint is not None else ""
    return Work(
        key=name,
        title=titles[0] if titles else "",
        authors=list(_people(item)),
        year=year,
        venue=venue,
        volume=plain(scopes.get("volume")),
        issue=plain(scopes.get("issue")),
        pages=page_range(scopes.get("page")).replace("-", "–"),
        doi=find_doi(ids.get("doi", "")) or find_doi(links if "doi.org" in links else ""),
        arxiv_id=arxiv[1] if arxiv else None,
    )


def _people(item: Element) -> Iterator[tuple[str, str]]:
    writers = item.findall("analytic/author") or item.findall("monogr/author") or item.findall("author")
    for writer in writers:
        family = f"{plain(writer.find('.//nameLink'))} {plain(writer.find('.//surname'))}".strip()
        given = " ".join(plain(part) for part in writer.findall(".//forename"))
        if family or given:
            yield given, family
        elif name := person(writer):
            yield "", name

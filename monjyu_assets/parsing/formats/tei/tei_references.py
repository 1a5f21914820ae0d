"""The reference list of a TEI paper."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_assets.parsing.bibliography.bibtex import Work
from monjyu_assets.parsing.bibliography.dates import year_in
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_TEI, find_doi
from monjyu_assets.parsing.bibliography.references import parse_reference
from monjyu_assets.parsing.formats.tei.tei_front import page_range, person
from monjyu_assets.parsing.xml.xml_paper import unique_ids
from monjyu_assets.parsing.xml.xml_tree import Element, plain
from monjyu_core.paper import Reference


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

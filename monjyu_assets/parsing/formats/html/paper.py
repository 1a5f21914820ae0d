"""Parses HTML pages (arXiv, ar5iv, PubMed Central, publishers and any other) into papers."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import (
    ARXIV_ADDRESS,
    ARXIV_IN_TAG,
    ARXIV_WATERMARK,
    clean_orcid,
    find_doi,
)
from monjyu_assets.parsing.bibliography.names import author_line, person_name
from monjyu_assets.parsing.formats.html.authors import authors_in_dialog, read_authors_of, settle_lead
from monjyu_assets.parsing.formats.html.body import Body, BodyReader, find_article
from monjyu_assets.parsing.formats.html.references import is_button, of_tags
from monjyu_assets.parsing.formats.html.tree import prune, read_html
from monjyu_assets.parsing.text.common import add_notes, add_references, comparable, language_code, split_keywords
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.front_lines import is_prose
from monjyu_assets.parsing.text.marks import unmarked
from monjyu_assets.parsing.xml.tree import Element, finish, plain
from monjyu_core.errors import MalformedDocument
from monjyu_core.paper import Author, ParsedPaper, Section
from monjyu_core.settings.papers import ParseSettings
from monjyu_core.values import Values

# Metadata of a page: the tags that Google Scholar reads (`citation_*`), Dublin Core, PRISM, JSON-LD.
_PMID = re.compile(r"\d{1,9}")
_MOST_TAGS = 20_000
_MOST_JSON = 2_000_000
_MOST_AUTHORS = 5000
_LONGEST_PLACES = 2000
_PAPERS = ("scholarlyarticle", "medicalscholarlyarticle", "article", "techarticle", "report", "thesis", "chapter")
_PAGES = ("newsarticle", "blogposting", "webpage")
Tags = list[tuple[str, str]]
"""Names (lower case) and contents of a page's `meta` tags, in order."""


def read_metadata(paper: ParsedPaper, root: Element) -> Tags:
    """Fill in the fields from the page's metadata, and return the tags."""
    tags = list(_tags(root))
    _from_tags(paper, tags)
    _from_json(paper, root)
    links = [link.get("href") or "" for link in root.iter("link") if "canonical" in (link.get("rel") or "").lower()]
    links += [base.get("href") or "" for base in root.iter("base")] + _all(tags, "og:url", "citation_arxiv_id")
    for link in links:
        address = f"arxiv.org{link}" if link.startswith(("/html/", "/abs/")) else link.replace("ar5iv.labs.", "")
        address = address.replace("ar5iv.org", "arxiv.org")
        if not paper.arxiv_id and (match := ARXIV_ADDRESS.search(address)):
            paper.arxiv_id = match[1]
    return tags


def citation_references(tags: Tags) -> list[dict[str, list[str]]]:
    """Return the works of `citation_reference` tags: their fields if the tag separates them, otherwise `text`."""
    found = []
    for content in _all(tags, "citation_reference"):
        fields: dict[str, list[str]] = {}
        for part in re.split(r";\s*(?=citation_\w+=)", content.strip("; ")):
            name, equals, value = part.partition("=")
            if equals and name.strip().startswith("citation_") and value.strip():
                fields.setdefault(name.strip().removeprefix("citation_"), []).append(value.strip(" ;"))
        found.append(fields or {"text": [content]})
    return [fields for fields in found if any(any(values) for values in fields.values())]


def _tags(root: Element) -> Iterator[tuple[str, str]]:
    for number, meta in enumerate(root.iter("meta")):
        name = meta.get("name") or meta.get("property") or meta.get("itemprop") or ""
        content = " ".join(clean(unmarked(meta.get("content") or "")).split())
        if number < _MOST_TAGS and name and content:
            yield name.lower().replace("dcterms.", "dc.").replace("bepress_", "").replace("wkhealth_", ""), content


def _all(tags: Tags, *names: str) -> list[str]:
    """The contents of the tags with the first of `names` that the page has."""
    for wanted in names:
        if found := [content for name, content in tags if name == wanted]:
            return found
    return []


def _first(tags: Tags, *names: str) -> str:
    return next(iter(_all(tags, *names)), "")


def _from_tags(paper: ParsedPaper, tags: Tags) -> None:
    paper.title = _first(tags, "citation_title", "dc.title", "eprints.title")
    paper.authors = list(_authors(tags)) or [
        Author(name=person_name(name)) for name in _all(tags, "dc.creator", "eprints.creators_name")[:_MOST_AUTHORS]
    ]
    if paper.title and not paper.authors:  # a page that names the title of a work names the work's authors, not its own
        paper.authors = author_line(" ".join(_first(tags, "author").replace(" , ", ", ").split()))
    paper.abstract = _without_tags(_first(tags, "citation_abstract", "dc.description.abstract", "eprints.abstract"))
    dois = _all(tags, "citation_doi") + _all(tags, "prism.doi") + _all(tags, "dc.identifier")
    paper.doi = next((doi for text in dois if (doi := find_doi(text))), None)
    if match := ARXIV_IN_TAG.fullmatch(_first(tags, "citation_arxiv_id")):
        paper.arxiv_id = match[1]
    if _PMID.fullmatch(pmid := _first(tags, "citation_pmid")):
        paper.pmid = pmid
    dates = ("citation_publication_date", "citation_date", "citation_online_date", "dc.date", "dc.date.issued")
    more = ("dc.issued", "prism.publicationdate", "article:published_time", "citation_year")
    found = [date for name in (*dates, *more) for text in _all(tags, name)[:1] if (date := parse_date(text))]
    paper.publication_date = max((date for date in found if date.startswith(found[0])), key=len, default=None)
    meeting = _first(tags, "citation_conference_title", "citation_conference")
    journal = _first(tags, "citation_journal_title", "prism.publicationname", "citation_inbook_title")
    if journal or meeting:
        paper.venue, paper.venue_type = journal or meeting, "journal" if journal else "conference"
    paper.volume = _first(tags, "citation_volume", "prism.volume") or None
    paper.issue = _first(tags, "citation_issue", "prism.number") or None
    first = _first(tags, "citation_firstpage", "prism.startingpage")
    last = _first(tags, "citation_lastpage", "prism.endingpage")
    paper.pages = (f"{first}-{last}" if first and last and first != last else first) or None
    words = _all(tags, "citation_keywords", "citation_keyword", "dc.subject", "article:tag", "keywords")
    paper.keywords = list(dict.fromkeys(split_keywords(words[0]) if len(words) == 1 else words))[:200]


def _authors(tags: Tags) -> Iterator[Author]:
    """Yield the authors, each with the data of the tags between it and the next."""
    current: Author | None = None
    number = 0
    for name, content in tags:
        if name == "citation_author":
            if current:
                yield current
            number += 1
            current = Author(name=person_name(content)) if number <= _MOST_AUTHORS else None
        elif current and name == "citation_author_institution":
            if len(places := current.affiliation or "") < _LONGEST_PLACES:
                current.affiliation = f"{places}; {content}" if places else content
        elif current and name == "citation_author_email":
            current.email = content
        elif current and name == "citation_author_orcid":
            current.orcid = clean_orcid(content)
    if current:
        yield current
    elif not number:
        for content in _all(tags, "citation_authors"):
            separator = ";" if ";" in content else ","
            yield from (Author(name=person_name(name)) for name in content.split(separator) if name.strip())


def _without_tags(text: str) -> str:
    text = re.sub(r"<[^<>]{0,200}>", " ", text)
    return re.sub(r"^\s*abstract\b[\s.:]*", "", " ".join(text.split()), flags=re.IGNORECASE)


def _from_json(paper: ParsedPaper, root: Element) -> None:
    """Fill in fields that the tags lack from the article's JSON-LD."""
    items = [item for text in _json_texts(root) for item in _items(_loaded(text))]
    ranks = {name: rank for rank, name in enumerate((*_PAPERS, *_PAGES))}
    known = [(min(ranks[kind] for kind in kinds), item) for item in items if (kinds := _kinds(item) & ranks.keys())]
    if not known:
        return
    item = min(known, key=lambda pair: pair[0])[1]
    paper.title = paper.title or _text(item.get("headline")) or _text(item.get("name"))
    if not paper.authors:
        people = (_person(person) for person in _listed(item.get("author") or item.get("creator"))[:_MOST_AUTHORS])
        paper.authors = [author for author in people if author]
    paper.abstract = paper.abstract or _without_tags(_text(item.get("abstract")))
    links = " ".join(_text(value) for key in ("@id", "sameAs", "identifier", "doi") for value in _listed(item.get(key)))
    paper.doi = paper.doi or find_doi(links)
    paper.publication_date = paper.publication_date or parse_date(_text(item.get("datePublished")))
    if not paper.keywords:
        words = [_text(word) for word in _listed(item.get("keywords"))]
        paper.keywords = (split_keywords(words[0]) if len(words) == 1 else [word for word in words if word])[:200]
    place = item.get("isPartOf")
    for _ in range(4):  # an issue of a volume of a journal
        if not isinstance(place, dict):
            break
        if "periodical" in _kinds(place) and not paper.venue:
            paper.venue, paper.venue_type = _text(place.get("name")) or None, "journal"
        paper.volume = paper.volume or _text(place.get("volumeNumber")) or None
        paper.issue = paper.issue or _text(place.get("issueNumber")) or None
        place = place.get("isPartOf")


def _json_texts(root: Element) -> Iterator[str]:
    for script in root.iter("script"):
        if "ld+json" in (script.get("type") or "").lower() and script.text and len(script.text) < _MOST_JSON:
            yield script.text


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _items(value: object) -> Iterator[Values]:
    for item in _listed(value)[:100]:
        if isinstance(item, dict):
            yield item
            for inner in (*_listed(item.get("@graph"))[:100], item.get("mainEntity")):
                if isinstance(inner, dict):
                    yield inner


def _kinds(item: Values) -> set[str]:
    return {kind.lower() for kind in _listed(item.get("@type")) if isinstance(kind, str)}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: object) -> str:
    """A string of JSON-LD, or the string in an object used instead."""
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name") or value.get("value")
    return " ".join(clean(unmarked(str(value))).split()) if isinstance(value, str | int) else ""


def _person(item: object) -> Author | None:
    if not isinstance(item, dict):
        return Author(name=person_name(_text(item))) if _text(item) else None
    given, family = _text(item.get("givenName")), _text(item.get("familyName"))
    name = person_name(_text(item.get("name"))) or f"{given} {family}".strip()
    if not name:
        return None
    places = [place for value in _listed(item.get("affiliation"))[:20] if (place := _text(value))]
    ids = " ".join(_text(value) for key in ("@id", "identifier", "sameAs") for value in _listed(item.get(key))[:20])
    mail = _text(item.get("email")).removeprefix("mailto:")
    return Author(name=name, affiliation="; ".join(places) or None, email=mail or None, orcid=clean_orcid(ids))


_SITE = re.compile(r"\s+(?:[|\u2013\u2014·:]|-{1,3})\s+[^|\u2013\u2014·]{1,60}$")


def parse_html(data: bytes, settings: ParseSettings) -> ParsedPaper:
    """Parse a saved page into sections of plain text, with levels from 1.

    Raises EmptyDocument, MalformedDocument (nested too deeply, binary) or DocumentTooLarge.
    """
    root, warnings = read_html(data, settings)
    paper = ParsedPaper(document_type="html", processor="lxml", warnings=warnings)
    try:
        return _read(paper, root)
    except RecursionError:
        raise MalformedDocument("The HTML is nested too deeply.") from None


def _read(paper: ParsedPaper, root: Element) -> ParsedPaper:
    tags = read_metadata(paper, root)
    named = _page_title(root, tags)
    _stamp(paper, root)
    paper.authors = paper.authors or authors_in_dialog(root)
    prune(root)
    article = find_article(root)
    told = bool(paper.authors)
    notes = [] if told else read_authors_of(paper, root)
    paper.doi = paper.doi or _doi_near_title(root)
    body = BodyReader(paper, article).read()
    paper.title = paper.title or body.title or _heading_above(root, article, named) or named
    settle_lead(paper, told=told)
    if told:
        paper.sections = list(_without_empty(paper.sections))
    _add_abstract(paper)
    add_notes(paper, [*notes, body.notes.strip()])
    language = _language(paper, root)
    if not body.references.references:
        body.references.references = of_tags(citation_references(tags))
    return _finished(paper, body, language, told=told)


def _finished(paper: ParsedPaper, body: Body, language: str | None, *, told: bool) -> ParsedPaper:
    references = body.references.references
    if references:
        printed = [s for s in paper.sections if s.section_type == "references" and s.text]
        around = [
            text for s in printed for text in s.text.split("\n\n") if is_prose(text) or not (told or is_button(text))
        ]
        paper.sections = [s for s in paper.sections if s.section_type != "references"]
        add_references(paper, references, body.heading)
        paper.sections[-1].text = "\n\n".join([*around, paper.sections[-1].text])
    return finish(paper, references, language)


def _heading_above(root: Element, article: Element, named: str) -> str:
    """The last main heading in front of the article, if the page has no other name."""
    last = ""
    for element in root.iter():
        if element is article:
            break
        if element.tag == "h1":
            last = plain(element) or last
    return last if not named or comparable(last) in comparable(named) else ""


def _page_title(root: Element, tags: Tags) -> str:
    """The page's own title, without the name of the site."""
    shared = next((content for name, content in tags if name == "og:title"), "")
    return _SITE.sub("", shared or plain(root.find("head/title")))


def _stamp(paper: ParsedPaper, root: Element) -> None:
    """Read arXiv's stamp in the margin: id and date."""
    for element in root.iter("div", "span", "p"):
        if (element.get("id") or "").startswith("watermark") and (match := ARXIV_WATERMARK.search(plain(element))):
            paper.arxiv_id = paper.arxiv_id or match[1]
            paper.publication_date = paper.publication_date or parse_date(match[2] or "")
            return


def _doi_near_title(root: Element) -> str | None:
    """The DOI linked between the title and the next heading; links further down belong to other works."""
    headings = 0
    for element in root.iter("h1", "h2", "h3", "h4", "h5", "h6", "a"):
        headings += element.tag != "a"
        if headings > 1:
            break
        if element.tag == "a" and "doi.org/" in (link := element.get("href") or ""):
            return find_doi(link)
    return None


def _without_empty(sections: Sequence[Section]) -> Iterator[Section]:
    """Yield the sections except empty ones without subsections, such as "About this article"."""
    for section, following in zip_longest(sections, sections[1:]):
        if section.text or (following and following.level > section.level) or section.section_type == "references":
            yield section


def _add_abstract(paper: ParsedPaper) -> None:
    """If the page prints no abstract, add the metadata's as a section, so that it can be found and quoted."""
    if not paper.abstract:
        return
    if any(section.section_type == "abstract" for section in paper.sections):
        paper.abstract = ""  # the printed one, which is taken from its section
    else:
        paper.sections.insert(0, Section(heading="Abstract", section_type="abstract", text=paper.abstract))


def _language(paper: ParsedPaper, root: Element) -> str | None:
    """The language that the page declares, if its text is too short to detect it."""
    short = sum(len(section.text) for section in paper.sections) < 500
    return language_code(clean(unmarked(root.get("lang") or ""))) if short else None

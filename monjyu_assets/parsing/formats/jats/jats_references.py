"""The reference list of a JATS paper: tagged entries, printed ones, and those that are both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monjyu_assets.parsing.bibliography.bibtex import Work
from monjyu_assets.parsing.bibliography.dates import year_in
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_FIELD, find_doi
from monjyu_assets.parsing.bibliography.references import parse_reference
from monjyu_assets.parsing.formats.jats.jats_front import personal_name
from monjyu_assets.parsing.xml.xml_paper import unique_ids
from monjyu_assets.parsing.xml.xml_tree import Element, plain, words
from monjyu_core.paper import Reference

_CITATIONS = ("element-citation", "mixed-citation", "nlm-citation", "citation")
_TITLES = ("article-title", "chapter-title", "part-title", "data-title", "trans-title")
_NOT_AUTHORS = {"editor", "translator", "guest-editor", "illustrator", "compiler"}


def read_references(article: Element) -> list[Reference]:
    """Entries in order, with the source's ids. An entry that holds several works gives one for each."""
    items = [item for item in article.iterfind(".//ref-list/ref") if not _in_response(item)]
    return unique_ids([reference for item in items for reference in _entries(item)])


def _in_response(item: Element) -> bool:
    return any(above.tag in ("sub-article", "response") for above in item.iterancestors())


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
    """Whether the printed citation has the year and the words of the title of the tagged one; the only pair of an entry
    may differ in one of both."""
    work, text = _work(tagged, ""), _folded(_without_label(printed))
    dated = work.year is None or str(work.year) in text
    titled = not work.title or _folded(work.title)[:40] in text
    return (dated and titled) or (only and (dated or titled))


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


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
    ids = _identifiers(citation)
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


def _identifiers(citation: Element) -> dict[str, str]:
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
    """The entry as printed."""
    pieces = [item.text or ""]
    for child in item:
        if child.tag != "label":
            pieces.append(plain(child) if child.tag != "person-group" else words(child))
        pieces.append(child.tail or "")
    return " ".join("".join(pieces).split()).lstrip(" .,;:")

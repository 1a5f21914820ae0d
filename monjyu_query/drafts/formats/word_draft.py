"""Word files: paragraphs with marks for citation fields (Zotero, Mendeley, EndNote, Word's own) and for plain ones."""

from __future__ import annotations

from monjyu_core.errors import QueryError
from monjyu_core.user_files.bounded_archive import unzip
from monjyu_core.user_files.bounded_reading import FileRefused
from monjyu_query.drafts.formats.citation_marks import mark_text
from monjyu_query.drafts.formats.cited_works import is_heading, works_of_list
from monjyu_query.drafts.formats.draft_pages import Pages
from monjyu_query.drafts.formats.word_xml import Body, Sources, parse_xml

MOST_BYTES, MOST_XML, MOST_FILES = 50 << 20, 40 << 20, 5_000
"""Of the file, of the parts that are read, unpacked, and parts in it."""
_DOCUMENT = "word/document.xml"
_HINT = "Save it again as .docx, or split the draft."
_SOURCES = 20
_UNREADABLE = "This is not a Word file that can be read."


def read_word(data: bytes, pages: Pages) -> None:
    """Fill `pages`; footnotes are not read. QueryError for what is no Word file, or too large, packed or unpacked."""
    body = Body(pages)
    try:
        parts = unzip(data, MOST_FILES, MOST_XML, _is_read).files
        document = parts.pop(_DOCUMENT).decode("utf-8-sig")
        sources = [part.decode("utf-8-sig") for part in list(parts.values())[:_SOURCES]]
    except (FileRefused, KeyError, UnicodeDecodeError) as error:
        raise QueryError(f"{_UNREADABLE} {error if isinstance(error, FileRefused) else ''}", _HINT) from error
    for text in sources:
        if "<b:Source>" in text:
            parse_xml(text, listed := Sources())
            pages.works.by_key |= listed.works
    parse_xml(document, body)
    _read(body, pages)


def _is_read(name: str) -> bool:
    return name == _DOCUMENT or (name.startswith("customXml/item") and name.endswith(".xml"))


def _read(body: Body, pages: Pages) -> None:
    in_list, listed = False, []
    for paragraph in body.paragraphs:
        text = " ".join(paragraph.text.split())
        if is_heading(text):
            in_list = True
        elif paragraph.heading:
            in_list = False
        elif text and (in_list or paragraph.of_list):
            listed.append(text)
        elif text and not paragraph.heading:
            pages.texts.append(mark_text(text, pages))
    pages.works.listed += works_of_list(listed)

"""Word files: paragraphs with marks for citation fields (Zotero, Mendeley, EndNote, Word's own) and for plain ones."""

from __future__ import annotations

import io
import zipfile
import zlib

from monjyu_core.errors import QueryError
from monjyu_query.drafts.formats.citation_marks import mark_text
from monjyu_query.drafts.formats.cited_works import is_heading, works_of_list
from monjyu_query.drafts.formats.draft_pages import Pages
from monjyu_query.drafts.formats.word_xml import Body, Sources, parse_xml

MOST_BYTES, MOST_XML, MOST_FILES = 50 << 20, 40 << 20, 5_000
"""Of the file, of one part unpacked, and parts in it."""
_SOURCES = 20
_UNREADABLE = "This is not a Word file that can be read."


def read_word(data: bytes, pages: Pages) -> None:
    """Fill `pages`; footnotes are not read. QueryError for what is no Word file, or too large, packed or unpacked."""
    body = Body(pages)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > MOST_FILES:
                raise QueryError("The Word file has too many parts.", "Save it again from Word.")
            names = [n for n in archive.namelist() if n.startswith("customXml/item") and n.endswith(".xml")]
            for name in names[:_SOURCES]:
                text = _part(archive, name)
                if "<b:Source>" in text:
                    parse_xml(text, sources := Sources())
                    pages.works.by_key |= sources.works
            parse_xml(_part(archive, "word/document.xml"), body)
    except (
        zipfile.BadZipFile,
        KeyError,
        UnicodeDecodeError,
        RuntimeError,
        NotImplementedError,
        OSError,
        zlib.error,
    ) as error:
        raise QueryError(_UNREADABLE, "Save it again as .docx.") from error
    _read(body, pages)


def _part(archive: zipfile.ZipFile, name: str) -> str:
    """A part's text, unpacked no further than the limit."""
    with archive.open(name) as part:
        data = part.read(MOST_XML + 1)
    if len(data) > MOST_XML:
        raise QueryError(f"The Word file unpacks to more than {MOST_XML >> 20} MiB.", "Split the draft.")
    return data.decode("utf-8-sig")


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

"""Opening a PDF and reading its pages, outline and Info; what cannot be read as a paper's text is told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monjyu_assets.parsing.pdf.characters import FontTable, PageChars, read_page
from monjyu_assets.parsing.pdf.layout import Layout, OutlineItem, build_layout
from monjyu_assets.parsing.pdf.links import page_links
from monjyu_core.errors import (
    DocumentError,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    MalformedDocument,
    ScannedDocument,
)
from monjyu_core.settings import ParseSettings

_OUTLINE_LIMIT = 2000
_OCR_HINT = "Add a text layer to the file with an OCR program."


def read_layout(path: Path, settings: ParseSettings) -> tuple[Layout, list[str]]:
    """The layout of a PDF and warnings about pages that could not be read.

    Raises EncryptedDocument, EmptyDocument, ScannedDocument, MalformedDocument, DocumentTooLarge.
    """
    document = _open(path)
    try:
        count = len(document)
        if count == 0:
            raise EmptyDocument("The PDF has no pages.")
        if count > settings.max_pages:
            raise DocumentTooLarge(
                f"The PDF has {count} pages, the limit is {settings.max_pages}.", "Raise parse.max_pages to read it."
            )
        fonts = FontTable()
        pages, warnings = _read_pages(document, count, fonts, settings)
        _check_text(pages)
        layout = build_layout(pages, fonts.fonts, _outline(document, count), _info(document))
        layout.links = page_links(document, 0)
        return layout, warnings
    finally:
        document.close()


def _open(path: Path) -> Any:
    import pypdfium2 as pdfium

    if path.stat().st_size == 0:
        raise EmptyDocument("The file holds no bytes.")
    try:
        return pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        # pdfium's last error may be that of an earlier file, so the file itself says whether it is encrypted.
        if b"/Encrypt" in path.read_bytes():
            raise EncryptedDocument(
                "The PDF needs a password.", "Save a copy without password protection and index that."
            ) from error
        raise MalformedDocument(
            "The file is no readable PDF.", "It is damaged, cut short or of another type."
        ) from error


def _read_pages(
    document: Any, count: int, fonts: FontTable, settings: ParseSettings
) -> tuple[list[PageChars], list[str]]:
    pages: list[PageChars] = []
    failed: list[int] = []
    total = 0
    for index in range(count):
        page = _read_one(document, index, fonts)
        if page is None:
            failed.append(index + 1)
            page = empty_page(index + 1)
        total += page.raw_count
        if total > settings.max_characters:
            raise DocumentTooLarge(
                f"The PDF holds more than {settings.max_characters} characters.",
                "Raise parse.max_characters to read it.",
            )
        pages.append(page)
    if len(failed) == count:
        raise MalformedDocument("No page of the PDF could be read.")
    warnings = [f"page {number} could not be read" for number in failed]
    return pages, warnings


def _read_one(document: Any, index: int, fonts: FontTable) -> PageChars | None:
    import pypdfium2 as pdfium

    try:
        return read_page(document, index, fonts)
    except pdfium.PdfiumError:
        return None


def empty_page(number: int) -> PageChars:
    """A page without characters, in place of one that cannot be read."""
    import numpy as np

    none, whole = np.zeros(0), np.zeros(0, np.int64)
    return PageChars(number, 612.0, 792.0, [], none, none, none, none, none, none, whole, np.zeros(0, bool))


def _check_text(pages: list[PageChars]) -> None:
    raw = sum(page.raw_count for page in pages)
    garbled = sum(page.garbled for page in pages)
    images = [page.number for page in pages if _image_share(page) > 0.5]
    if raw > 50 and garbled > 0.3 * raw:
        raise ScannedDocument("The text of the PDF has no usable character codes.", _OCR_HINT)
    if raw < 25 * max(1, len(pages)) and len(images) >= 0.5 * len(pages) and raw < 400:
        raise ScannedDocument("The pages of the PDF are images without text.", _OCR_HINT)
    if raw == 0:
        if any(page.images for page in pages):
            raise ScannedDocument("The pages of the PDF are images without text.", _OCR_HINT)
        raise EmptyDocument("The PDF holds no text.")


def _image_share(page: PageChars) -> float:
    area = max((max(0.0, x1 - x0) * max(0.0, y1 - y0) for x0, y0, x1, y1 in page.images), default=0.0)
    return area / max(1.0, page.width * page.height)


def _outline(document: Any, count: int) -> list[OutlineItem]:
    import pypdfium2 as pdfium

    items: list[OutlineItem] = []
    try:
        for bookmark in document.get_toc(max_depth=8):
            if len(items) >= _OUTLINE_LIMIT:
                break
            destination = bookmark.get_dest()
            page = destination.get_index() if destination else None
            number = page + 1 if page is not None and 0 <= page < count else None
            items.append(OutlineItem(bookmark.get_title().strip(), int(bookmark.level), number))
    except (pdfium.PdfiumError, UnicodeError, ValueError):
        return []
    return items


def _info(document: Any) -> dict[str, str]:
    try:
        return {key: value.strip("\x00 ") for key, value in document.get_metadata_dict(skip_empty=True).items()}
    except (UnicodeError, ValueError):
        return {}


__all__ = ["DocumentError", "read_layout"]

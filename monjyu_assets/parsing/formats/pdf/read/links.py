"""Links on the pages of a PDF: where they lie and where they lead. Nothing is fetched."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from monjyu_assets.parsing.formats.pdf.read.geometry import displayed
from monjyu_core.paper import Box

_MOST = 200
"""The most links of a page that are read."""
_LONGEST = 2048


@dataclass(frozen=True)
class Link:
    """A link to an address; `box` in points of the displayed page, origin top-left."""

    page: int
    box: Box
    uri: str


def page_links(document: Any, index: int) -> list[Link]:
    """Links to addresses on page `index` (0-based) of a `pypdfium2.PdfDocument`; none where the page cannot be read."""
    import pypdfium2 as pdfium
    import pypdfium2.raw as raw

    try:
        page = document[index]
    except pdfium.PdfiumError:
        return []
    try:
        box, rotation = page.get_bbox(), int(page.get_rotation()) // 90 % 4
        place, link, found = ctypes.c_int(0), raw.FPDF_LINK(), list[Link]()
        for _ in range(_MOST):
            if not raw.FPDFLink_Enumerate(page.raw, ctypes.byref(place), ctypes.byref(link)):
                break
            rect = raw.FS_RECTF()
            uri = _address(raw, document, link)
            if uri and raw.FPDFLink_GetAnnotRect(link, ctypes.byref(rect)):
                found.append(Link(index + 1, _shown(rect, box, rotation), uri))
        return found
    finally:
        page.close()


def _address(raw: Any, document: Any, link: Any) -> str:
    action = raw.FPDFLink_GetAction(link)
    if not action:
        return ""
    length = int(raw.FPDFAction_GetURIPath(document.raw, action, None, 0))
    if not 1 < length <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFAction_GetURIPath(document.raw, action, buffer, length)
    return buffer.value.decode("utf-8", "replace")


def _shown(rect: Any, box: Any, rotation: int) -> Box:
    import numpy as np

    x, y = displayed(np.array([rect.left, rect.right]), np.array([rect.bottom, rect.top]), box, rotation)
    return (float(x.min()), float(y.min()), float(x.max()), float(y.max()))

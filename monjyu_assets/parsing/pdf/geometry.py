"""Page coordinates, and what is drawn on a page besides text."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_OBJECTS = 20_000
"""Objects of a page that are looked at; pages of hostile files hold millions."""


def drawn_objects(
    pdfium: Any, page: Any, box: tuple[float, float, float, float], rotation: int
) -> tuple[list[tuple[float, float, float, float]], list[tuple[float, float, float, float]]]:
    """Boxes of images and of thin ruled lines, top-left origin; only the first objects of a page are looked at."""
    images: list[tuple[float, float, float, float]] = []
    rules: list[tuple[float, float, float, float]] = []
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    refs = [ctypes.byref(v) for v in (left, bottom, right, top)]
    for i in range(min(MAX_OBJECTS, max(0, int(pdfium.FPDFPage_CountObjects(page.raw))))):
        item = pdfium.FPDFPage_GetObject(page.raw, i)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind not in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_PATH):
            continue
        if not pdfium.FPDFPageObj_GetBounds(item, *refs):
            continue
        corners = np.array([[left.value, bottom.value], [right.value, top.value]])
        x, y = displayed(corners[:, 0], corners[:, 1], box, rotation)
        bounds = (float(x.min()), float(y.min()), float(x.max()), float(y.max()))
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            images.append(bounds)
        elif min(bounds[2] - bounds[0], bounds[3] - bounds[1]) < 3 < max(bounds[2] - bounds[0], bounds[3] - bounds[1]):
            rules.append(bounds)
    return images, rules


def displayed(x: Floats, y: Floats, box: tuple[float, float, float, float], rotation: int) -> tuple[Floats, Floats]:
    """User space to the displayed page: crop box origin, /Rotate, y down."""
    left, bottom, right, top = box
    if rotation == 1:
        return y - bottom, x - left
    if rotation == 2:
        return right - x, y - bottom
    if rotation == 3:
        return top - y, right - x
    return x - left, top - y


def turned(x: Floats, y: Floats, width: float, height: float, turn: int) -> tuple[Floats, Floats]:
    """Displayed page to the frame in which text with this quarter turn (counter-clockwise) is upright."""
    if turn == 1:
        return height - y, x
    if turn == 2:
        return width - x, height - y
    if turn == 3:
        return y, width - x
    return x, y

"""Whether OCR can be done, and with what. Light: it is asked at every run."""

from __future__ import annotations

import importlib.metadata
import importlib.util

from monjyu_core.extras import packages_of
from monjyu_core.settings.settings import OcrSettings

_MODULES = ("rapidocr", "cv2", "pyclipper", "shapely")


def engine_version() -> str | None:
    """Name and version of the engine, None where it is not installed."""
    if any(importlib.util.find_spec(module) is None for module in _MODULES):
        return None
    return f"rapidocr-{importlib.metadata.version('rapidocr')}"


def install_hint() -> str:
    """Stands in rows of failures, so that it names no path of this machine."""
    return f"Install the extra `ocr` (pip install {packages_of('ocr')}) and index again."


def ocr_state(settings: OcrSettings) -> str:
    """What OCR would be done with now: enters the reuse key of papers that lack it."""
    return engine_version() or "none" if settings.enabled == "auto" else "off"

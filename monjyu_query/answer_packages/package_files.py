"""A package as files by name: its manifest of hashes, and the two ways of writing it, which are the same each time."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from monjyu_core.errors import ConfigurationError

MANIFEST, SIGNATURE = "manifest-sha256.txt", "signature.json"
_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*)")
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_UNIX, _PLAIN_FILE = 3, 0o100644 << 16
Files = Mapping[str, bytes]


def with_manifest(files: Files) -> dict[str, bytes]:
    """The files with their manifest: a line a file, sorted, as `sha256sum` writes and checks them."""
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return {**files, MANIFEST: "".join(lines).encode()}


def read_manifest_file(content: bytes) -> dict[str, str] | None:
    """Hashes by name; None for what is not, to the byte, a manifest as `with_manifest` writes it."""
    try:
        lines = content.decode("ascii").splitlines(keepends=True)
    except UnicodeDecodeError:
        return None
    found = [_LINE.fullmatch(line.removesuffix("\n")) if line.endswith("\n") else None for line in lines]
    entries = [(match[2], match[1]) for match in found if match is not None]
    in_order = [name for name, _ in entries]
    if len(entries) != len(found) or in_order != sorted(set(in_order)) or "".join(lines).encode() != content:
        return None
    return dict(entries)


def as_zip(files: Files) -> bytes:
    """An archive that is equal to the byte for equal files: sorted, not compressed, of no time and no owner."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system, entry.external_attr = _UNIX, _PLAIN_FILE
            archive.writestr(entry, content)
    return written.getvalue()


def write_package(files: Files, output: Path) -> None:
    """An archive where the name ends in `.zip`, else a folder, which must be new or empty."""
    if output.suffix.lower() == ".zip":
        output.write_bytes(as_zip(files))
        return
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ConfigurationError(f"{output} is there already.", "Name a new folder, or a file that ends in .zip.")
    for name, content in files.items():
        path = output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

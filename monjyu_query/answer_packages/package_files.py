"""A package as files by name: writes it reproducibly, reads untrusted packages, signs them, checks signatures."""

import base64
import hashlib
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from monjyu_core.errors import ConfigurationError, MonjyuError
from monjyu_core.user_files.bounded_reading import FileRefused, parse_json, read_folder, regular_file, unzip
from monjyu_core.values import Values
from monjyu_query.asking.result import SearchResult

MANIFEST, SIGNATURE = "manifest-sha256.txt", "signature.json"
_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*)")
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_UNIX, _PLAIN_FILE = 3, 0o100644 << 16
MOST_FILES, MOST_BYTES = 2000, 64 << 20
"""The maximum number of files in a package, and their total size in bytes: sixty parts of pages have about 20 MiB."""
MOST_VALUES = 500_000
"""The maximum number of values in a JSON file: an answer of a hundred passages has about ten thousand."""
_LONGEST_LINE, _PIECE = 550, 1 << 16
Files = Mapping[str, bytes]


class NotAPackage(MonjyuError):
    """The files are not the package of an answer, or exceed the limits."""

    exit_code = 2


@dataclass(frozen=True)
class ReadPackage:
    """The files by name. `damaged`: files that contradict the archive's own checksum. `framed`: the archive equals,
    byte for byte, what `as_zip` writes; True for a folder."""

    files: dict[str, bytes]
    damaged: tuple[str, ...] = ()
    framed: bool = True


def with_manifest(files: Files) -> dict[str, bytes]:
    """Return the files with their manifest: one line per file, sorted by name, in the format of `sha256sum`."""
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return {**files, MANIFEST: "".join(lines).encode()}


def read_manifest_file(content: bytes) -> dict[str, str] | None:
    """Return the hashes by name, or None unless the content has exactly the form that `with_manifest` writes."""
    if len(content) > MOST_FILES * _LONGEST_LINE:
        return None
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


def write_zip(files: Files, to: IO[bytes]) -> None:
    """Write an archive: sorted, uncompressed, without times and owners, so that equal files produce equal bytes."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system, entry.external_attr = _UNIX, _PLAIN_FILE
            archive.writestr(entry, content)


def as_zip(files: Files) -> bytes:
    """The archive that `write_zip` writes, as bytes."""
    write_zip(files, written := io.BytesIO())
    return written.getvalue()


def write_package(files: Files, output: Path) -> None:
    """Write an archive if the name ends in `.zip`, otherwise a folder, which must be new or empty."""
    if output.suffix.lower() == ".zip":
        output.write_bytes(as_zip(files))
        return
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ConfigurationError(f"{output} already exists.", "Name a new folder, or a file that ends in .zip.")
    for name, content in files.items():
        path = output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read_package(path: Path) -> ReadPackage:
    """Read a folder or an archive into memory once. Raises NotAPackage for anything else, or beyond the limits."""
    try:
        if path.is_dir():
            package = ReadPackage(read_folder(path, MOST_FILES, MOST_BYTES))
        else:
            with regular_file(path) as packed:
                found = unzip(packed, MOST_FILES, MOST_BYTES, strict=True)
                framed = not found.damaged and _is_written_so(found.files, packed)
            package = ReadPackage(found.files, found.damaged, framed)
    except (FileRefused, OSError) as error:
        raise NotAPackage(f"{path} is not a package that can be read. {error}") from error
    if MANIFEST not in package.files:
        raise NotAPackage(f"{path} is not the package of an answer: it has no {MANIFEST}.")
    return package


def _is_written_so(files: Files, packed: BinaryIO) -> bool:
    if packed.seek(0, io.SEEK_END) < sum(map(len, files.values())):
        return False  # it is compressed; the content of a decompression bomb must not be written
    with tempfile.TemporaryFile() as again:
        write_zip(files, again)
        again.seek(0), packed.seek(0)
        pieces = iter(lambda: (again.read(_PIECE), packed.read(_PIECE)), (b"", b""))
        return all(one == other for one, other in pieces)


# The parts of an answer that must be equal when it is repeated, and their canonical form.
_DIGITS = 6
"""Significant digits of a number: the last bits of a sum differ between processors."""
_OF_USAGE = ("relevance_tests", "held_back", "budget_total")
"""The fields of `usage` that are equal in a repeated search; times, costs and cache hits are not."""


def canonical_answer(result: SearchResult) -> Values:
    """Return the result without its trace id, times and costs. Texts of passages are replaced by their hashes and the
    context is omitted, because a package may contain only quoted text."""
    told = result.model_dump(mode="json", exclude={"trace_id", "phases", "usage", "context"})
    told["usage"] = {name: getattr(result.usage, name) for name in _OF_USAGE}
    for claim in told["claims"]:
        claim.pop("extracted_at", None)
    for hit in told["hits"]:
        hit["text_sha256"] = text_sha256(hit.pop("text"))
    same: Values = rounded(told)
    return same


def canonical_bytes(value: object) -> bytes:
    """Return the value as JSON in UTF-8, with sorted names, an indent of one space and a line end."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")


def read_json(content: bytes) -> Any:
    """The JSON value in an untrusted file. Raises ValueError if it is not JSON or has too many values."""
    return parse_json(content.decode(), MOST_VALUES)


def text_sha256(text: str) -> str:
    """Return the SHA-256 (hex) of a text without its white space, which differs between a quote and its sentences."""
    return hashlib.sha256("".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def rounded(value: object) -> Any:
    """Return a JSON value with its numbers rounded to six significant digits, as in `answer.json`."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


# A package's signature: Ed25519 over its manifest, which contains the hashes of all other files.
LONGEST_KEY = 64 * 1024
"""The maximum size of a PEM file in bytes."""


def signed(files: Mapping[str, bytes], key: bytes) -> dict[str, bytes]:
    """Return the files, signed. Raises ConfigurationError unless `key` is an unencrypted Ed25519 key (PEM)."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise ConfigurationError(
            "The file does not contain an unencrypted private Ed25519 key (PEM).",
            "`openssl genpkey -algorithm ed25519` creates one.",
        )
    return {**files, SIGNATURE: _signature(private.public_key().public_bytes_raw(), private.sign(files[MANIFEST]))}


def _signature(key: bytes, signature: bytes) -> bytes:
    encoded = {"public_key": base64.b64encode(key).decode(), "signature": base64.b64encode(signature).decode()}
    return canonical_bytes({"algorithm": "ed25519", **encoded})


def signer_of(files: Mapping[str, bytes]) -> str | None:
    """Return the public key (base64) of the package's signature, or None if that is missing or not valid."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = files.get(SIGNATURE, b"")
    try:
        stated = read_json(content)
        key, signature = (base64.b64decode(stated[name], validate=True) for name in ("public_key", "signature"))
        Ed25519PublicKey.from_public_bytes(key).verify(signature, files[MANIFEST])
    except (ValueError, TypeError, KeyError, RecursionError, InvalidSignature):
        return None
    return str(stated["public_key"]) if content == _signature(key, signature) else None


def public_key_of(pem: bytes) -> str:
    """Return the public Ed25519 key in a PEM file, in base64. Raises ConfigurationError for any other content."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        public = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise ConfigurationError(
            "The file is not a public Ed25519 key (PEM).",
            "`openssl pkey -in KEY -pubout` writes that of a private key.",
        )
    return base64.b64encode(public.public_bytes_raw()).decode()

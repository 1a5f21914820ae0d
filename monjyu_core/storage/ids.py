"""Identifiers and hashes: computed from content, never from history."""

import hashlib
import re
from functools import lru_cache
from pathlib import Path, PurePosixPath

from monjyu_core.errors import ConfigurationError

MOST_BUCKETS = 1 << 16
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def digest(*parts: object, length: int = 16) -> str:
    """Hex digits of the SHA-256 of the parts, each ended so that ("ab", "c") and ("a", "bc") differ."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(str(part).encode("utf-8", "surrogatepass") + b"\x00")
    return hasher.hexdigest()[:length]


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def shard_of(paper_id: str) -> str:
    """One of 16 shards, by the hash of the paper's id."""
    return hashlib.sha256(paper_id.encode()).hexdigest()[0]


def bucket_of(paper_id: str, buckets: int) -> str:
    """A paper's bucket if each shard has `buckets` buckets, a power of two up to `MOST_BUCKETS`: the shard's name, a
    dot and the next bits of the hash (`3.0101` of 16); with one bucket, only the shard's name."""
    hashed = hashlib.sha256(paper_id.encode()).hexdigest()
    return _bucket(hashed[0], f"{int(hashed[1:5], 16):016b}"[: buckets.bit_length() - 1])


@lru_cache(maxsize=256)
def buckets_of(shard: str, buckets: int) -> tuple[str, ...]:
    """The names of all buckets of a shard, in order."""
    bits = buckets.bit_length() - 1
    return tuple(_bucket(shard, f"{number:0{bits}b}" if bits else "") for number in range(buckets))


def shard_of_bucket(bucket: str) -> str:
    return bucket.partition(".")[0]


def _bucket(shard: str, bits: str) -> str:
    return f"{shard}.{bits}" if bits else shard


def file_paper_id(relative_path: str, salt: str = "") -> str:
    """The id of a file's paper, stable across edits: the stem, then a hash of the path inside the source."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", PurePosixPath(relative_path).stem).strip("-.")[:60]
    return f"{stem or 'paper'}-{digest(relative_path, salt, length=8)}"


def check_collection_name(name: str) -> str:
    if not _COLLECTION.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} is not a valid collection name.",
            "Use up to 64 of a-z, 0-9, _ and -, starting with a letter or digit.",
        )
    return name


def unlike_source(name: str, source: Path) -> bool:
    """Whether the collection's name lacks a letter or digit of its source's name."""
    stem = source.name if source.is_dir() else source.stem
    return any(letter.isalnum() and letter not in name for letter in stem.lower())


def collection_name_for(source: Path) -> str:
    """The default name of a source's collection: its folder's or file's name in lower case."""
    stem = source.name if source.is_dir() else source.stem
    name = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_")[:64]
    if not name:
        raise ConfigurationError(f"No collection name can be made from {source.name!r}.", "Give one with -c NAME.")
    return name

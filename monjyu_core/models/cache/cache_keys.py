"""Keys of cached answers (everything that an answer depends on) and the bytes that answers are kept as."""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from monjyu_core.models.cache.response_cache import Codec
from monjyu_core.models.types import ChatReply, ChatRequest, Role

FORMAT = "1"
"""Raised when keys or bytes change their form, so that old entries are no longer found."""


_REPLY = TypeAdapter(ChatReply)


def chat_key(identity: str, request: ChatRequest, *, role: Role, prompt_hash: str, code_version: str) -> str:
    """Key of a chat answer: client, messages, limits, sampling, schema, role, prompt and the code that reads it."""
    parts = {"request": asdict(request), "role": role, "prompt": prompt_hash, "code": code_version}
    return _key("chat", identity, parts)


def embedding_key(identity: str, text: str, *, code_version: str) -> str:
    """Key of the vector of one text."""
    return _key("embedding", identity, {"text": text, "code": code_version})


def _key(kind: str, identity: str, parts: Mapping[str, object]) -> str:
    whole = {"format": FORMAT, "kind": kind, "client": identity, **parts}
    # ASCII escapes, because lone surrogates from broken PDFs cannot be encoded.
    return hashlib.sha256(json.dumps(whole, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _reply_to_bytes(reply: ChatReply) -> bytes:
    return json.dumps(asdict(reply), ensure_ascii=True, separators=(",", ":")).encode()


def _reply_from_bytes(value: bytes) -> ChatReply | None:
    """The reply; None where the bytes are none of ours or damaged, which counts as not cached."""
    try:
        return _REPLY.validate_json(value)
    except ValidationError:
        return None


def _vector_to_bytes(vector: Sequence[float]) -> bytes:
    """Little-endian floats after one letter: `f` where 32 bits hold every number exactly, else `d`."""
    doubles = array("d", vector)
    try:
        singles = array("f", doubles)
        exact = array("d", singles) == doubles
    except OverflowError:
        singles, exact = array("f"), False
    return b"f" + _little(singles) if exact else b"d" + _little(doubles)


def _vector_from_bytes(value: bytes) -> list[float] | None:
    """The vector; None where the bytes are none."""
    kind = value[:1]
    if kind not in (b"f", b"d"):
        return None
    numbers: array[float] = array("f" if kind == b"f" else "d")
    if not value[1:] or (len(value) - 1) % numbers.itemsize:
        return None
    numbers.frombytes(value[1:])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def _little(numbers: array[float]) -> bytes:
    if sys.byteorder == "big":
        numbers = array(numbers.typecode, numbers)
        numbers.byteswap()
    return numbers.tobytes()


CHAT: Codec[ChatReply] = Codec(_reply_to_bytes, _reply_from_bytes)
"""Every reply is kept; whoever wants to keep only whole ones gives another `write`."""
VECTOR: Codec[list[float]] = Codec(_vector_to_bytes, _vector_from_bytes)

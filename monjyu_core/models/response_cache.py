"""Cached answers of models: identical calls are paid for once, even if several processes make them at the same time.

A finished answer is stored before it is returned, so after a SIGKILL only unfinished calls are repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from array import array
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from typing import Generic, ParamSpec, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from monjyu_core.errors import MonjyuError
from monjyu_core.models.types import ChatReply, ChatRequest, Role
from monjyu_core.settings.models import CacheSettings
from monjyu_core.storage.folders import DataFolder, new_owner

T = TypeVar("T")
P = ParamSpec("P")

CLAIM_SECONDS = 30.0
"""Seconds that a claim is valid without renewal; it is renewed three times in this period while the call runs."""
_SHORTEST_POLL, _LONGEST_POLL = 0.02, 0.5


class ResponseCache(Protocol):
    """Values by key, with claims on keys whose call is in progress. Processes and threads may share it.

    Raises StorageError (SQLite) or ExternalAPIError (Redis) if the store cannot be used.
    """

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The stored values by key; a key without a value is left out."""
        ...

    def put_many(self, values: Mapping[str, bytes], labels: Collection[str] = ()) -> None:
        """Store the values, and end the claims on their keys. An existing value is not replaced, so that every process
        sees one answer. `labels` name the sources of the values (`labels_of`), so that they can be removed together.
        """
        ...

    def has_many(self, keys: Sequence[str]) -> set[str]: ...

    def claim(self, key: str, owner: str, seconds: float) -> bool:
        """Create or renew the claim on a key; False while another owner's claim is valid."""
        ...

    def release(self, key: str, owner: str) -> None: ...

    def forget(self, label: str) -> int:
        """Remove the values with a label and return their number."""
        ...

    def discard(self, key: str) -> None:
        """Remove one value, for example one that cannot be read."""
        ...

    def __len__(self) -> int: ...

    def close(self) -> None: ...


def open_cache(settings: CacheSettings, data: DataFolder) -> ResponseCache | None:
    """The cache named in the settings: Redis, otherwise SQLite in `data/state`; None if caching is off."""
    if not settings.enabled:
        return None
    redis = _redis(settings)
    return _sqlite(settings, data) if redis is None else redis  # an empty cache is falsy


def forget_answers(settings: CacheSettings, data: DataFolder, label: str) -> int:
    """Remove the answers with a label from every cache, even if caching is off; return their number."""
    stores = [_redis(settings)]
    if any(data.state.glob("model_cache*.sqlite")):
        stores.append(_sqlite(settings, data))
    gone = 0
    for store in stores:
        if store is not None:
            gone += store.forget(label)
            store.close()
    return gone


def _redis(settings: CacheSettings) -> ResponseCache | None:
    if settings.redis_url is None:
        return None
    from monjyu_core.models.cache_redis import RedisCache

    return RedisCache(settings.redis_url.get_secret_value(), settings.max_entries, settings.max_age_seconds)


def _sqlite(settings: CacheSettings, data: DataFolder) -> ResponseCache:
    from monjyu_core.models.cache_sqlite import SQLiteCache

    return SQLiteCache(data.state / "model_cache.sqlite", settings.max_entries, settings.max_age_seconds)


def labels_of(collection: str | None, paper_ids: Collection[str] = ()) -> list[str]:
    """Labels of a value computed from a collection's papers, for `put_many`; `forget` accepts any one of them."""
    if collection is None:
        return []
    return [f"collection:{collection}", *(f"paper:{collection}/{paper_id}" for paper_id in sorted(set(paper_ids)))]


@dataclass(frozen=True)
class Codec(Generic[T]):
    """Converts values to bytes and back. `write` may return None for a value that must not be stored (a truncated
    answer). `read` returns None if the bytes are damaged, which counts as not cached."""

    write: Callable[[T], bytes | None]
    read: Callable[[bytes], T | None]


async def once(
    cache: ResponseCache,
    key: str,
    make: Callable[[], Awaitable[T]],
    codec: Codec[T],
    *,
    labels: Collection[str] = (),
    claim_seconds: float = CLAIM_SECONDS,
    places: AbstractAsyncContextManager[object] | None = None,
) -> tuple[T, bool]:
    """Return the value of a key and whether it existed (or another caller computed it); otherwise compute it with
    `make` and store it. A computation occupies one of the `places` (a semaphore) until its value is stored, which
    limits the number of values lost when a process dies.

    Of all concurrent callers, in all processes, one calls `make` and the others wait for its value. If it fails, it
    raises its error and the next caller tries; if its process dies, its claim ends. Waiting callers pay nothing.
    """
    owner = new_owner()
    renewal: asyncio.Task[None] | None = None
    try:
        found = await _read_or_claim(cache, key, codec, owner, claim_seconds)
        if found is not None:
            return found, True
        renewal = asyncio.create_task(_renew(cache, key, owner, claim_seconds))
        # Between the read and the claim the former owner may have finished.
        found = await _read(cache, key, codec)
        if found is not None:
            return found, True
        async with places or nullcontext():
            made = await make()
            value = codec.write(made)
            if value is not None:
                await _to_the_end(cache.put_many, {key: value}, labels)
        return made, False
    finally:
        if renewal is not None:
            renewal.cancel()
            await asyncio.wait([renewal])
        await _to_the_end(cache.release, key, owner)


async def _read_or_claim(cache: ResponseCache, key: str, codec: Codec[T], owner: str, claim_seconds: float) -> T | None:
    """Wait for the value; return None if this owner obtains the claim instead."""
    wait = _SHORTEST_POLL
    while True:
        found = await _read(cache, key, codec)
        if found is not None or await _to_the_end(cache.claim, key, owner, claim_seconds):
            return found
        await asyncio.sleep(wait)
        wait = min(wait * 1.5, _LONGEST_POLL)


async def _read(cache: ResponseCache, key: str, codec: Codec[T]) -> T | None:
    value = (await asyncio.to_thread(cache.get_many, [key])).get(key)
    if value is None:
        return None
    read = codec.read(value)
    if read is None:
        await asyncio.to_thread(cache.discard, key)
    return read


async def _to_the_end(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Finish the work in a thread even when cancelled: what was paid is stored, claims are released."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments, **named))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _renew(cache: ResponseCache, key: str, owner: str, claim_seconds: float) -> None:
    while True:
        await asyncio.sleep(claim_seconds / 3)
        with suppress(MonjyuError):  # a busy moment of the store: the next renewal is in time
            await _to_the_end(cache.claim, key, owner, claim_seconds)


# Keys of cached answers (everything on which an answer depends) and their encoding.
FORMAT = "1"
"""Raise it when the form of keys or values changes, so that old entries are not found."""


_REPLY = TypeAdapter(ChatReply)


def chat_key(identity: str, request: ChatRequest, *, role: Role, prompt_hash: str, code_version: str) -> str:
    """Key of a chat answer: client, messages, limits, sampling, schema, role, prompt and the code that reads it."""
    parts = {"request": asdict(request), "role": role, "prompt": prompt_hash, "code": code_version}
    return _key("chat", identity, parts)


def embedding_key(identity: str, text: str, *, code_version: str) -> str:
    """The key of the vector of one text."""
    return _key("embedding", identity, {"text": text, "code": code_version})


def _key(kind: str, identity: str, parts: Mapping[str, object]) -> str:
    whole = {"format": FORMAT, "kind": kind, "client": identity, **parts}
    # ASCII escapes, because lone surrogates from broken PDFs cannot be encoded.
    return hashlib.sha256(json.dumps(whole, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _reply_to_bytes(reply: ChatReply) -> bytes:
    return json.dumps(asdict(reply), ensure_ascii=True, separators=(",", ":")).encode()


def _reply_from_bytes(value: bytes) -> ChatReply | None:
    """The reply; None if the bytes are foreign or damaged, which counts as not cached."""
    try:
        return _REPLY.validate_json(value)
    except ValidationError:
        return None


def _vector_to_bytes(vector: Sequence[float]) -> bytes:
    """Little-endian floats after one letter: `f` if 32 bits represent every number exactly, otherwise `d`."""
    doubles = array("d", vector)
    try:
        singles = array("f", doubles)
        exact = array("d", singles) == doubles
    except OverflowError:
        singles, exact = array("f"), False
    return b"f" + _little(singles) if exact else b"d" + _little(doubles)


def _vector_from_bytes(value: bytes) -> list[float] | None:
    """The vector; None if the bytes do not encode one."""
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
"""Stores every reply; a caller that wants only complete ones passes another `write`."""
VECTOR: Codec[list[float]] = Codec(_vector_to_bytes, _vector_from_bytes)

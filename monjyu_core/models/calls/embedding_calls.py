"""Embedding calls on an account and in the cache: whoever embeds says first who pays (`charged_to`).

A batch is stored as soon as it is answered, so that what was paid is there when a later batch fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from monjyu_core.models.accounting.account import Account
from monjyu_core.models.accounting.estimate import estimated_texts
from monjyu_core.models.cache.cache_keys import VECTOR, embedding_key
from monjyu_core.models.cache.response_cache import labels_of
from monjyu_core.models.calls.guarded_clients import EmbeddingCaller

CODE_VERSION = "1"

_account: ContextVar[Account | None] = ContextVar("account", default=None)


@contextmanager
def charged_to(account: Account) -> Iterator[None]:
    """Within it this thread's calls of an embedding model on a server are on the account, and cached."""
    token = _account.set(account)
    try:
        yield
    finally:
        _account.reset(token)


def paying() -> Account | None:
    """The account of this thread; to be handed to `embed_batch`, which runs in another."""
    return _account.get()


async def embed_batch(caller: EmbeddingCaller, model: str, texts: Sequence[str], account: Account) -> list[list[float]]:
    """A vector for each text, in order; only those that are not in the cache are asked for."""
    identity = caller.client.identity
    keys = [embedding_key(identity, text, code_version=CODE_VERSION) for text in texts]
    known = await _known(account, keys)
    missing = [place for place, key in enumerate(keys) if key not in known]
    if missing:
        asked = [texts[place] for place in missing]
        expected = account.accounting.prices.cost(estimated_texts(asked), model).usd
        async with account.call("embed", model, identity, expected) as on_attempt:
            made = await caller.embed(asked, on_attempt)
        new = {keys[place]: vector for place, vector in zip(missing, made, strict=True)}
        await _keep(account, new)
        known |= new
    return [known[key] for key in keys]


async def _known(account: Account, keys: Sequence[str]) -> dict[str, list[float]]:
    cache = account.accounting.cache
    if cache is None:
        return {}
    found = await asyncio.to_thread(cache.get_many, keys)
    read = {key: VECTOR.read(value) for key, value in found.items()}
    return {key: vector for key, vector in read.items() if vector is not None}


async def _keep(account: Account, vectors: dict[str, list[float]]) -> None:
    cache = account.accounting.cache
    if cache is not None:
        values = {key: value for key, vector in vectors.items() if (value := VECTOR.write(vector)) is not None}
        await asyncio.to_thread(cache.put_many, values, labels_of(account.scope.collection))

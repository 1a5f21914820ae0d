"""Embedding calls on the ledger and in the cache: whoever embeds says first what for (`charged_to`).

A batch is stored as soon as it is answered, so that what was paid is there when a later batch fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from monjyu_core.folders import DataFolder
from monjyu_core.models.cache import ResponseCache, labels_of, open_cache
from monjyu_core.models.cache_keys import VECTOR, embedding_key
from monjyu_core.models.callers import EmbeddingCaller
from monjyu_core.models.ledger import Entry, Ledger, Scope
from monjyu_core.models.prices import PriceTable
from monjyu_core.models.resilience import Attempt, OnAttempt, untold
from monjyu_core.models.types import TokenUsage
from monjyu_core.settings import Settings

CODE_VERSION = "1"


@dataclass(frozen=True)
class Charge:
    """What embeddings are made for, and where their calls are noted and kept."""

    scope: Scope
    ledger: Ledger
    prices: PriceTable
    cache: ResponseCache | None


_charge: ContextVar[Charge | None] = ContextVar("charge", default=None)


@contextmanager
def charged_to(settings: Settings, data: DataFolder, scope: Scope) -> Iterator[None]:
    """Within it, this thread's calls of an embedding model on a server are on the ledger under `scope`, and cached."""
    if settings.embedding.remote is None:
        yield
        return
    ledger, cache = Ledger(data), open_cache(settings.cache, data)
    token = _charge.set(Charge(scope, ledger, PriceTable(settings.spending.prices), cache))
    try:
        yield
    finally:
        _charge.reset(token)
        ledger.close()
        if cache is not None:
            cache.close()


def current_charge() -> Charge | None:
    """Of this thread; to be handed to `embed_batch`, which runs in another."""
    return _charge.get()


async def embed_batch(
    caller: EmbeddingCaller, model: str, texts: Sequence[str], charge: Charge | None
) -> list[list[float]]:
    """A vector for each text, in order; only those that are not in the cache are asked for."""
    if charge is None:
        return await caller.embed(texts, untold)
    keys = [embedding_key(caller.client.identity, text, code_version=CODE_VERSION) for text in texts]
    known = await _known(charge, keys)
    missing = [place for place, key in enumerate(keys) if key not in known]
    if missing:
        teller = _teller(charge, model, caller.client.identity)
        made = await caller.embed([texts[place] for place in missing], teller)
        new = {keys[place]: vector for place, vector in zip(missing, made, strict=True)}
        await _keep(charge, new)
        known |= new
    return [known[key] for key in keys]


async def _known(charge: Charge, keys: Sequence[str]) -> dict[str, list[float]]:
    if charge.cache is None:
        return {}
    found = await asyncio.to_thread(charge.cache.get_many, keys)
    read = {key: VECTOR.read(value) for key, value in found.items()}
    return {key: vector for key, vector in read.items() if vector is not None}


async def _keep(charge: Charge, vectors: dict[str, list[float]]) -> None:
    if charge.cache is not None:
        values = {key: value for key, vector in vectors.items() if (value := VECTOR.write(vector)) is not None}
        await asyncio.to_thread(charge.cache.put_many, values, labels_of(charge.scope.collection))


def _teller(charge: Charge, model: str, identity: str) -> OnAttempt:
    def told(attempt: Attempt) -> None:
        usage = attempt.usage or TokenUsage()
        cost = charge.prices.cost(usage, model)
        charge.ledger.record(
            Entry(
                charge.scope, "embed", model, identity, usage, seconds=attempt.seconds, cost_usd=cost.usd,
                priced=cost.priced, status="failed" if attempt.error else "ok",
                error=type(attempt.error).__name__ if attempt.error else None,
            )
        )  # fmt: skip

    return told

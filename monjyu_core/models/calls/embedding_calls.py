"""Embedding calls, charged to an account and cached: the caller first names the account (`charged_to`).

A batch that a server refuses is divided until it fits, down to the text that cannot be embedded. Vectors are stored as
soon as their batch is answered, so that a later failure loses nothing that was paid for.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from monjyu_core.models.account import Account
from monjyu_core.models.call_errors import (
    ModelAnswerUnusable,
    ModelCallError,
    ModelContentFiltered,
    ModelRefused,
    ModelServerError,
    ModelUnreachable,
    PromptTooLong,
)
from monjyu_core.models.calls.guarded_clients import EmbeddingCaller
from monjyu_core.models.clients.refusals import stated_limit
from monjyu_core.models.estimate import estimated_texts
from monjyu_core.models.response_cache import VECTOR, embedding_key, labels_of

CODE_VERSION = "1"
KNOWN_TEXT = "dimensions"
"""A text that is embedded to learn whether a server embeds at all, and the length of its vectors."""
SHORTEST_WINDOW = 200
"""In characters. A text that is too long for a server is embedded in windows; shorter windows than this are not
tried."""
_log = logging.getLogger(__name__)

T = TypeVar("T")
_account: ContextVar[Account | None] = ContextVar("account", default=None)
Result = list[float] | ModelCallError
"""A vector, or the error of the call."""


@contextmanager
def charged_to(account: Account) -> Iterator[None]:
    """A context in which this thread's calls of a remote embedding model are charged to the account and cached."""
    token = _account.set(account)
    try:
        yield
    finally:
        _account.reset(token)


def paying() -> Account | None:
    """The account of this thread, to pass to `BatchedCalls`, which runs in another thread."""
    return _account.get()


@dataclass
class BatchedCalls:
    """Calls of one embedding model. `most`: the number of texts that its server accepts per request, as learned;
    `windowed`: the number of texts, and of halves of texts, that were too long and were embedded in windows."""

    caller: EmbeddingCaller
    model: str
    most: int
    windowed: int = 0
    _embeds: bool = False
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def embed(self, texts: Sequence[str], account: Account) -> list[Result]:
        """A vector for each text, in order, or the error of a text that the server refuses while it embeds others. Only
        texts that are not in the cache are sent.

        Raises ModelCallError if the server embeds nothing: the first failure ends the other calls.
        """
        identity = self.caller.client.identity
        keys = [embedding_key(identity, text, code_version=CODE_VERSION) for text in texts]
        known: dict[str, Result] = {**await _known(account, keys)}
        asked = [(key, text) for key, text in zip(keys, texts, strict=True) if key not in known]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._batch([text for _, text in some], [key for key, _ in some], account))
                    for some in parts_of(asked, self.most)
                ]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        made = chain.from_iterable(task.result() for task in tasks)
        known |= dict(zip((key for key, _ in asked), made, strict=True))
        return [known[key] for key in keys]

    async def _batch(self, texts: Sequence[str], keys: Sequence[str], account: Account) -> list[Result]:
        refused: ModelCallError | None = None
        if len(texts) <= self.most:
            try:
                return await self._ask_and_store(texts, keys, account)
            except ModelCallError as error:
                if not may_be_of_texts(error):
                    raise
                refused = error
            if not await self._embeds_others(refused, account):
                if not isinstance(refused, ModelServerError):
                    raise refused
                # The server fails on any text: retry the call.
                return await self._ask_and_store(texts, keys, account, input_may_be_wrong=False)
            if len(texts) == 1:
                if isinstance(refused, PromptTooLong):
                    return [await self._windows(texts[0], keys[0], account)]
                refused.hint = "It embeds other texts but fails on this one."
                return [refused]
        size = min(self.most, stated_limit(refused, len(texts)) or -(-len(texts) // 2))
        windowed = self.windowed
        both = zip(parts_of(texts, size), parts_of(keys, size), strict=True)
        done = await asyncio.gather(*(self._batch(some, own, account) for some, own in both))
        results = list(chain.from_iterable(done))
        of_size = isinstance(refused, ModelRefused | ModelUnreachable)
        of_size &= windowed == self.windowed  # otherwise one of them was too long
        if of_size and size < self.most and not any(isinstance(one, ModelCallError) for one in results):
            self.most = size
            _log.warning("%s accepts %d texts per request: set embedding.batch_size to that.", self.model, size)
        return results

    async def _windows(self, text: str, key: str, account: Account) -> Result:
        """The sum of the unit vectors of a text's halves, by length; a half that is too long is divided again."""
        if len(text) < 2 * SHORTEST_WINDOW:
            return ModelAnswerUnusable(
                f"{self.model} cannot read a text of {len(text)} characters: it is too long.",
                "Start its server with a larger context.",
            )
        cut = text.rfind(" ", SHORTEST_WINDOW, len(text) // 2 + 1)
        cut = cut if cut > 0 else len(text) // 2
        mean: list[float] = []
        for half in (text[:cut], text[cut:]):
            own = embedding_key(f"window of {key}", half, code_version=CODE_VERSION)
            [found] = await self._batch([half], [own], account)
            if isinstance(found, ModelCallError):
                return found
            share = len(half) / sum(value * value for value in found) ** 0.5
            mean = [share * value + before for value, before in zip(found, mean or [0.0] * len(found), strict=True)]
        self.windowed += 1
        if self.windowed == 1:
            _log.warning("%s cannot read texts of %d characters: they are embedded in windows.", self.model, len(text))
        await _keep(account, {key: mean})
        return mean

    async def _embeds_others(self, refused: ModelCallError, account: Account) -> bool:
        """Whether the server embeds a known text, so that the failure is due to the input. A server that has embedded
        something before is asked again only if it failed or could not be reached, not if it refused."""
        async with self._asking:
            if self._embeds and not isinstance(refused, ModelServerError | ModelUnreachable):
                return True
            try:
                await self._asked([KNOWN_TEXT], account)
            except ModelCallError:
                return False
            return True

    async def _ask_and_store(
        self, texts: Sequence[str], keys: Sequence[str], account: Account, *, input_may_be_wrong: bool = True
    ) -> list[Result]:
        vectors = await self._asked(texts, account, input_may_be_wrong=input_may_be_wrong)
        await _keep(account, dict(zip(keys, vectors, strict=True)))
        return [*vectors]

    async def _asked(
        self, texts: Sequence[str], account: Account, *, input_may_be_wrong: bool = True
    ) -> list[list[float]]:
        expected = account.accounting.prices.cost(estimated_texts(texts), self.model).usd
        async with account.call("embed", self.model, self.caller.client.identity, expected) as on_attempt:
            vectors = await self.caller.embed(texts, on_attempt, input_may_be_wrong=input_may_be_wrong)
        self._embeds = True
        return vectors


def may_be_of_texts(error: ModelCallError) -> bool:
    """Whether the failure may be due to the texts of the request or to their number."""
    if isinstance(error, ModelRefused):
        return error.status in (400, 413, 422, 500)
    if isinstance(error, ModelServerError):
        return error.may_be_of_input
    return isinstance(error, ModelAnswerUnusable | ModelContentFiltered | ModelUnreachable)


def parts_of(several: Sequence[T], size: int) -> list[Sequence[T]]:
    """Divide the sequence into parts of at most `size`."""
    return [several[start : start + size] for start in range(0, len(several), size)]


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

"""The one place through which every chat call goes: cache, caps, limits and retries, ledger.

A `Session` is one asset run or one query: what it spends is counted together and capped together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from monjyu_core.folders import DataFolder
from monjyu_core.models.cache import Codec, labels_of, once, open_cache
from monjyu_core.models.cache_keys import CHAT, chat_key
from monjyu_core.models.callers import Caller
from monjyu_core.models.caps import Reservations, SpendingCap, cap_per_query, cap_per_run, reserve_in
from monjyu_core.models.errors import CostCapReached, ModelCallError
from monjyu_core.models.estimate import worst_cost
from monjyu_core.models.factory import chat_client, role_model
from monjyu_core.models.ledger import Entry, Ledger, Scope, Status
from monjyu_core.models.prices import PriceTable
from monjyu_core.models.resilience import Attempt, Guard, OnAttempt
from monjyu_core.models.structured import ask_structured, read_as, schema_message, schema_of
from monjyu_core.models.types import ChatReply, ChatRequest, ChatRole, Message, TokenUsage
from monjyu_core.settings import Settings

CODE_VERSION = "1"
"""Stands in every key: raised when equal messages are to be asked anew."""

T = TypeVar("T", bound=BaseModel)


@dataclass
class Used:
    """What a session has used. `prompt_tokens` and `completion_tokens` are those that were paid for."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    cache_hits: int = 0


class Gateway:
    """Clients, cache, ledger and prices of one process. Its coroutines belong to one event loop."""

    def __init__(self, settings: Settings, data: DataFolder) -> None:
        self.settings = settings
        self.ledger = Ledger(data)
        self.prices = PriceTable(settings.spending.prices)
        self.cache = open_cache(settings.cache, data)
        self._callers: dict[ChatRole, Caller] = {}

    def session(self, scope: Scope, run_cap: SpendingCap | None = None) -> Session:
        """A session with the cap of its kind; several of one run share its `run_cap`."""
        spending = self.settings.spending
        cap = cap_per_query(spending) if scope.kind == "query" else (run_cap or cap_per_run(spending))
        return Session(self, scope, [cap])

    def caller(self, role: ChatRole) -> Caller:
        """The guarded client of a role, made at its first call. ConfigurationError where its model is not set up."""
        if role not in self._callers:
            name, model = role_model(self.settings, role)
            settings = getattr(self.settings.roles, role)
            client = chat_client(name, model, settings.timeout_seconds)
            self._callers[role] = Caller(client, Guard(f"models.{name}", settings))
        return self._callers[role]

    async def close(self) -> None:
        for caller in self._callers.values():
            await caller.close()
        self._callers.clear()
        self.ledger.close()
        if self.cache is not None:
            self.cache.close()


class Session:
    """Calls for one scope. `used` is what they took so far."""

    def __init__(self, gateway: Gateway, scope: Scope, caps: Sequence[SpendingCap]) -> None:
        self.scope = scope
        self.used = Used()
        self._gateway = gateway
        self._caps = caps

    async def chat(
        self,
        role: ChatRole,
        messages: Sequence[Message],
        prompt_hash: str,
        *,
        paper_ids: Sequence[str] = (),
        schema: type[BaseModel] | None = None,
        usable: Callable[[ChatReply], bool] | None = None,
    ) -> ChatReply:
        """The reply to these messages, from the cache where an equal call was answered before.

        `paper_ids`: whose text is in the messages. A reply that is not `usable` (or was cut off) is not kept.
        Raises the errors of `monjyu_core.models.errors`, CostCapReached among them.
        """
        request = self._request(role, messages, schema)
        cache = self._gateway.cache
        if cache is None:
            return await self._paid(role, request)

        def write(reply: ChatReply) -> bytes | None:
            whole = reply.finish == "stop" and reply.text.strip()
            return CHAT.write(reply) if whole and (usable is None or usable(reply)) else None

        key = self._key(role, request, prompt_hash)
        labels = labels_of(self.scope.collection, paper_ids)
        codec = Codec(write, CHAT.read)
        reply, hit = await once(cache, key, lambda: self._paid(role, request), codec, labels=labels)
        if hit:
            self._note_hit(role, reply)
        return reply

    async def structured(
        self,
        role: ChatRole,
        messages: Sequence[Message],
        prompt_hash: str,
        model: type[T],
        paper_ids: Sequence[str] = (),
    ) -> T:
        """The reply as an object of the model. ModelAnswerUnusable where it is none, also when asked again."""
        if not self._gateway.caller(role).client.native_schema:
            messages = [schema_message(model), *messages]

        def usable(reply: ChatReply) -> bool:
            try:
                return bool(read_as(reply.text, model))
            except ValueError:
                return False

        async def ask(sent: tuple[Message, ...]) -> ChatReply:
            return await self.chat(role, sent, prompt_hash, paper_ids=paper_ids, schema=model, usable=usable)

        return await ask_structured(ask, tuple(messages), model)

    async def stream(
        self, role: ChatRole, messages: Sequence[Message], prompt_hash: str, paper_ids: Sequence[str] = ()
    ) -> AsyncGenerator[str | ChatReply, None]:
        """Pieces of text, then the reply. Closing it ends the call; what was answered until then is on the ledger."""
        request = self._request(role, messages, None)
        cache, key = self._gateway.cache, self._key(role, request, prompt_hash)
        if cache is not None:
            known = (await asyncio.to_thread(cache.get_many, [key])).get(key)
            reply = CHAT.read(known) if known else None
            if reply is not None:
                self._note_hit(role, reply)
                yield reply.text
                yield reply
                return
        async with aclosing(self._paid_stream(role, request)) as items:
            async for item in items:
                if isinstance(item, ChatReply) and cache is not None and item.finish == "stop" and item.text.strip():
                    value = CHAT.write(item)
                    if value is not None:
                        labels = labels_of(self.scope.collection, paper_ids)
                        await asyncio.to_thread(cache.put_many, {key: value}, labels)
                yield item

    async def _paid(self, role: ChatRole, request: ChatRequest) -> ChatReply:
        with await self._admitted(role, request) as admission:
            return await self._gateway.caller(role).chat(request, self._teller(role, request, admission))

    async def _paid_stream(self, role: ChatRole, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
        with await self._admitted(role, request) as admission:
            items = self._gateway.caller(role).stream(request, self._teller(role, request, admission))
            async with aclosing(items) as whole:
                async for item in whole:
                    yield item

    async def _admitted(self, role: ChatRole, request: ChatRequest) -> _Admission:
        expected = worst_cost(
            request, self._gateway.prices, self._model(role), schema_is_sent=request.schema is not None
        )
        return _Admission(self._caps, expected, await reserve_in(self._caps, expected))

    def _teller(self, role: ChatRole, request: ChatRequest, admission: _Admission) -> OnAttempt:
        def told(attempt: Attempt) -> None:
            usage = attempt.usage or TokenUsage()
            cost = self._gateway.prices.cost(usage, self._model(role))
            self._count(usage, cost.usd)
            self._gateway.ledger.record(
                Entry(
                    self.scope, role, self._model(role), self._gateway.caller(role).client.identity, usage,
                    seconds=attempt.seconds, cost_usd=cost.usd, priced=cost.priced, status=_status(attempt),
                    error=type(attempt.error).__name__ if attempt.error else None,
                )
            )  # fmt: skip
            admission.settle(cost.usd)
            error = attempt.error
            retries: int = getattr(self._gateway.settings.roles, role).retries
            if isinstance(error, ModelCallError) and error.may_pass and attempt.number <= retries:
                admission.again(error)

        return told

    def _note_hit(self, role: ChatRole, reply: ChatReply) -> None:
        self.used.cache_hits += 1
        identity = self._gateway.caller(role).client.identity
        self._gateway.ledger.record(Entry(self.scope, role, self._model(role), identity, reply.usage, cache_hit=True))

    def _count(self, usage: TokenUsage, cost_usd: float) -> None:
        self.used.llm_calls += 1
        self.used.prompt_tokens += usage.prompt_tokens
        self.used.completion_tokens += usage.completion_tokens
        self.used.cost_usd += cost_usd

    def _request(self, role: ChatRole, messages: Sequence[Message], schema: type[BaseModel] | None) -> ChatRequest:
        settings = getattr(self._gateway.settings.roles, role)
        native = schema is not None and self._gateway.caller(role).client.native_schema
        return ChatRequest(
            tuple(messages), settings.max_tokens, settings.temperature,
            schema=schema_of(schema) if native and schema is not None else None,
        )  # fmt: skip

    def _key(self, role: ChatRole, request: ChatRequest, prompt_hash: str) -> str:
        identity = self._gateway.caller(role).client.identity
        return chat_key(identity, request, role=role, prompt_hash=prompt_hash, code_version=CODE_VERSION)

    def _model(self, role: ChatRole) -> str:
        return role_model(self._gateway.settings, role)[1].model


class _Admission:
    """What the caps have granted to one call; each repetition of it is admitted anew."""

    def __init__(self, caps: Sequence[SpendingCap], expected: float, granted: Reservations) -> None:
        self._caps, self._expected, self._granted = caps, expected, granted
        self._open = True

    def settle(self, cost_usd: float) -> None:
        """An attempt is over."""
        if self._open:
            self._granted.settle(cost_usd)
        self._open = False

    def again(self, error: ModelCallError) -> None:
        """Another attempt is wanted after this error. Raises CostCapReached where it would pass a cap."""
        try:
            parts = [cap.try_reserve(self._expected) for cap in self._caps]
        except CostCapReached as reached:
            raise CostCapReached(f"{error.message} It is not tried again: {reached.message}", reached.hint) from error
        self._granted, self._open = Reservations([part for part in parts if part is not None]), True

    def __enter__(self) -> _Admission:
        return self

    def __exit__(self, *_: object) -> None:
        """What was granted and not begun is given back."""
        if self._open:
            self._granted.release()


def _status(attempt: Attempt) -> Status:
    if attempt.error is None:
        return "ok"
    if isinstance(attempt.error, asyncio.CancelledError):
        return "cancelled"
    paid = attempt.usage is not None and isinstance(attempt.error, ModelCallError | CostCapReached)
    return "partial" if paid else "failed"

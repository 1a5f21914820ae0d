"""The gateway of every chat call: cache, caps, limits and retries, ledger."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import TypeVar

from pydantic import BaseModel

from monjyu_core.models.account import Account, Accounting
from monjyu_core.models.call_errors import ModelAnswerUnusable, ModelCallError, ModelContentFiltered
from monjyu_core.models.calls.guarded_clients import Caller
from monjyu_core.models.calls.resilience import Guard
from monjyu_core.models.calls.structured import ask_structured, readable, schema_of
from monjyu_core.models.estimate import PlannedCall, worst_cost
from monjyu_core.models.factory import chat_client, role_model
from monjyu_core.models.response_cache import CHAT, Codec, chat_key, labels_of, once
from monjyu_core.models.types import ChatReply, ChatRequest, ChatRole, Message

CODE_VERSION = "1"
"""Part of every cache key: raise it to ask equal messages again."""

T = TypeVar("T", bound=BaseModel)


class Gateway:
    """Chat clients of one process. Its coroutines belong to one event loop."""

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting
        self.settings = accounting.settings
        self._callers: dict[ChatRole, Caller] = {}

    def session(self, account: Account) -> Session:
        return Session(self, account)

    def caller(self, role: ChatRole) -> Caller:
        """A role's guarded client, created at its first call. Raises ConfigurationError if its model is not set up."""
        if role not in self._callers:
            name, model = role_model(self.settings, role)
            settings = getattr(self.settings.roles, role)
            client = chat_client(name, model, settings.timeout_seconds)
            self._callers[role] = Caller(client, Guard(f"models.{name}", settings, place=f"roles.{role}."))
        return self._callers[role]

    async def close(self) -> None:
        for caller in self._callers.values():
            await caller.close()
        self._callers.clear()


class Session:
    """Chat calls on one account."""

    def __init__(self, gateway: Gateway, account: Account) -> None:
        self.account = account
        self._gateway = gateway

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
        """The reply to `messages`, from the cache if an identical call was answered before. `paper_ids` are the papers
        whose text is in the messages. A reply that is not `usable` is not cached; without `usable`, a truncated reply
        is not cached. Raises the errors of `monjyu_core.models.call_errors`, CostCapReached among them.
        """
        request = self._request(role, messages, schema)
        cache = self._gateway.accounting.cache
        if cache is None:
            return await self._paid(role, request)

        def write(reply: ChatReply) -> bytes | None:
            kept = reply.finish == "stop" and reply.text.strip() if usable is None else usable(reply)
            return CHAT.write(reply) if kept else None

        key = self._key(role, request, prompt_hash)
        labels = labels_of(self.account.scope.collection, paper_ids)
        codec = Codec(write, CHAT.read)
        places = self._gateway.caller(role).places
        reply, hit = await once(cache, key, lambda: self._paid(role, request), codec, labels=labels, places=places)
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
        """The reply as an instance of `model`. Raises ModelAnswerUnusable, with the reason, if the reply is empty or
        cannot be read as one even after a second request, and the errors of `chat`."""

        def usable(reply: ChatReply) -> bool:
            return readable(reply, model)

        async def ask(sent: tuple[Message, ...]) -> ChatReply:
            reply = await self.chat(role, sent, prompt_hash, paper_ids=paper_ids, schema=model, usable=usable)
            if not (reply.text.strip() or reply.refusal or reply.reasoned or reply.finish != "stop"):
                reply = await self.chat(role, sent, prompt_hash, paper_ids=paper_ids, schema=model, usable=usable)
            if not reply.text.strip():
                raise self._empty_reply(role, reply)
            return reply

        with self._noting_failures():
            return await ask_structured(ask, tuple(messages), model)

    def plan(
        self, role: ChatRole, messages: Sequence[Message], prompt_hash: str, model: type[BaseModel]
    ) -> PlannedCall:
        """The call that `structured` would make, for estimates; nothing is sent."""
        request = self._request(role, messages, model)
        key = self._key(role, request, prompt_hash)
        return PlannedCall(role, role_model(self._gateway.settings, role)[1].model, request, key)

    async def stream(
        self, role: ChatRole, messages: Sequence[Message], prompt_hash: str, paper_ids: Sequence[str] = ()
    ) -> AsyncGenerator[str | ChatReply, None]:
        """Yield pieces of text, then the reply, whose text takes precedence over the pieces. Closing the generator ends
        the call; the ledger records the tokens until then. Raises ModelAnswerUnusable if the reply is empty."""
        request = self._request(role, messages, None)
        cache, key = self._gateway.accounting.cache, self._key(role, request, prompt_hash)
        if cache is not None:
            known = (await asyncio.to_thread(cache.get_many, [key])).get(key)
            reply = CHAT.read(known) if known else None
            if reply is not None:
                self._note_hit(role, reply)
                yield reply.text
                yield reply
                return
        with self._noting_failures():
            async with aclosing(self._paid_stream(role, request)) as items:
                async for item in items:
                    if isinstance(item, ChatReply) and not item.text.strip():
                        raise self._empty_reply(role, item)
                    if isinstance(item, ChatReply) and cache is not None and item.finish == "stop":
                        value = CHAT.write(item)
                        if value is not None:
                            labels = labels_of(self.account.scope.collection, paper_ids)
                            await asyncio.to_thread(cache.put_many, {key: value}, labels)
                    yield item

    @contextmanager
    def _noting_failures(self) -> Iterator[None]:
        try:
            yield
        except ModelCallError as error:
            self.account.note_failure(error)
            raise

    def _empty_reply(self, role: ChatRole, reply: ChatReply) -> ModelCallError:
        """The error for an empty reply: its cause, and what to change."""
        setting, most = f"roles.{role}.max_tokens", getattr(self._gateway.settings.roles, role).max_tokens
        if reply.finish == "content_filter" and not reply.refusal:
            stopped = f"{reply.model} wrote no answer: the server's content filter stopped it."
            return ModelContentFiltered(stopped, "Rephrase the question, or use another model.")
        if reply.refusal:
            why, hint = f"it refused: {reply.refusal}", "Rephrase the question, or use another model."
        elif reply.finish == "broken":
            why, hint = "its server broke off", "Try again."
        elif reply.finish == "length" and reply.reasoned:
            why = f"its reasoning used up {setting} ({most})"
            hint = f"Raise {setting}, reduce its reasoning, or use a model that does not reason."
        elif reply.finish == "length":
            why, hint = f"{setting} ({most}) was used up before any text came", f"Raise {setting}."
        elif reply.reasoned:
            why = "all of its reply was marked as reasoning"
            hint = "Check the server's reasoning parser, or turn reasoning off."
        else:
            why, hint = "its reply is empty", "Try again, or use another model."
        return ModelAnswerUnusable(f"{reply.model} wrote no answer: {why}.", hint)

    async def _paid(self, role: ChatRole, request: ChatRequest) -> ChatReply:
        async with self.account.call(*self._described(role), self._worst(role, request)) as on_attempt:
            return await self._gateway.caller(role).chat(request, on_attempt)

    async def _paid_stream(self, role: ChatRole, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
        async with (
            self.account.call(*self._described(role), self._worst(role, request)) as on_attempt,
            aclosing(self._gateway.caller(role).stream(request, on_attempt)) as items,
        ):
            async for item in items:
                yield item

    def _worst(self, role: ChatRole, request: ChatRequest) -> float:
        return worst_cost(request, self._gateway.accounting.prices, self._described(role)[1])

    def _note_hit(self, role: ChatRole, reply: ChatReply) -> None:
        self.account.note_hit(*self._described(role), reply.usage)

    def _described(self, role: ChatRole) -> tuple[ChatRole, str, str]:
        """The role, its model and its client's identity, as the ledger records them."""
        model = role_model(self._gateway.settings, role)[1].model
        return role, model, self._gateway.caller(role).client.identity

    def _request(self, role: ChatRole, messages: Sequence[Message], schema: type[BaseModel] | None) -> ChatRequest:
        settings = getattr(self._gateway.settings.roles, role)
        asked = None if schema is None else schema_of(schema)
        return ChatRequest(tuple(messages), settings.max_tokens, settings.temperature, schema=asked)

    def _key(self, role: ChatRole, request: ChatRequest, prompt_hash: str) -> str:
        identity = self._gateway.caller(role).client.identity
        return chat_key(identity, request, role=role, prompt_hash=prompt_hash, code_version=CODE_VERSION)

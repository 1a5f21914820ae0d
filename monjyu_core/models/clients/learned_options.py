"""Learns from refusals which options of a call a server does not accept: the call is repeated without them, and later
calls omit them.

An option is a part of a call that can be omitted or expressed differently. Options that a refusal names are tried
first; if it names none, each is tried alone, once per model. An option is dropped only after a call without it has
succeeded.
"""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from monjyu_core.models.call_errors import ModelCallError, ModelContentFiltered, ModelRateLimited, PromptTooLong
from monjyu_core.models.clients.model_server import Server
from monjyu_core.values import Values

Call = Values
Change = Callable[[Call], Call]
T = TypeVar("T")
_log = logging.getLogger(__name__)
_NAMED = (400, 404, 415, 422, 500, 501)
"""Statuses of refusals that may name an option: llama.cpp answers 500 if a template or a grammar fails."""
_NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?![\w-])")
_NOT_OPTIONS = re.compile(
    r"api[ _-]?key|unauthor|authenticat|\bmodel\b.{0,60}not (?:found|exist)|quota|batch|too large", re.I
)


@dataclass(frozen=True)
class Option:
    """An option of a call that some servers refuse. `named`: how refusals refer to it. `change`: the call without it,
    given the refusal's words; None if the call does not use it. `advice`: the setting that avoids the refused request,
    with `{}` for the model's name."""

    name: str
    named: re.Pattern[str]
    change: Callable[[Call, str], Change | None]
    advice: str = ""


class Learned:
    """The options that one model on one server refuses. Shared by all clients of the process, in one event loop."""

    def __init__(self) -> None:
        self._changes: dict[str, Change] = {}
        self._searched = False

    @property
    def refused(self) -> list[str]:
        """Names of the options that calls omit."""
        return list(self._changes)

    async def ask(
        self, server: Server, options: Sequence[Option], call: Call, send: Callable[[Call], Awaitable[T]]
    ) -> T:
        """The result of `send` for the call, or for the call without the options that the server refuses.

        Raises the error of the first refusal that no option explains.
        """
        tried: dict[str, Change] = {}
        while True:
            try:
                result = await send(self._adapted(options, call, tried))
                self._keep(server, options, tried)
                return result
            except ModelCallError as error:
                if not _may_be_of_options(error):
                    raise
                left = self._left(options, call, tried, error)
                option = next((one for one in left if one.named.search(error.message)), None)
                if option is None:
                    return await self._search(server, options, call, tried, left, error, send)
                tried[option.name] = left[option]

    async def _search(
        self,
        server: Server,
        options: Sequence[Option],
        call: Call,
        tried: Mapping[str, Change],
        left: Mapping[Option, Change],
        refusal: ModelCallError,
        send: Callable[[Call], Awaitable[T]],
    ) -> T:
        """Try the call with one more option omitted, whichever it is; otherwise raise the refusal."""
        if self._searched or refusal.status not in (400, 422) or _NOT_OPTIONS.search(refusal.message):
            raise refusal
        self._searched = True
        for option, change in left.items():
            wider = {**tried, option.name: change}
            try:
                result = await send(self._adapted(options, call, wider))
            except ModelCallError as error:
                if not _may_be_of_options(error):
                    raise
                continue
            self._keep(server, options, wider)
            self._searched = False
            return result
        raise refusal

    def _adapted(self, options: Sequence[Option], call: Call, tried: Mapping[str, Change]) -> Call:
        changes = {**self._changes, **tried}
        for option in options:
            if option.name in changes:
                call = changes[option.name](call)
        return call

    def _left(
        self, options: Sequence[Option], call: Call, tried: Mapping[str, Change], refusal: ModelCallError
    ) -> dict[Option, Change]:
        """The options that the call as sent still has, with the change that omits each."""
        sent = self._adapted(options, call, tried)
        known = {*self._changes, *tried}
        changes = {o: o.change(sent, refusal.message) for o in options if o.name not in known}
        return {option: change for option, change in changes.items() if change is not None}

    def _keep(self, server: Server, options: Sequence[Option], tried: Mapping[str, Change]) -> None:
        for option in options:
            if option.name in tried and option.name not in self._changes:
                advice = (
                    f" Set {option.advice.format(server.name)} to avoid the refused request." if option.advice else ""
                )
                _log.info("%s refuses %s: calls continue without it.%s", server, option.name, advice)
        self._changes |= tried


_known: dict[tuple[str, str], Learned] = {}


def learned_of(server: Server) -> Learned:
    """The options that this process has learned about the server's model."""
    return _known.setdefault((server.address, server.model), Learned())


def _may_be_of_options(error: ModelCallError) -> bool:
    return error.status in _NAMED and not isinstance(error, PromptTooLong | ModelContentFiltered | ModelRateLimited)


def left_out(*fields: str) -> Callable[[Call, str], Change | None]:
    """The change that omits an option consisting of fields of the call."""

    def change(call: Call, _: str) -> Change | None:
        if not any(field in call for field in fields):
            return None
        return lambda call: {name: value for name, value in call.items() if name not in fields}

    return change


def _renamed(field: str, instead: str) -> Callable[[Call, str], Change | None]:
    """The change that gives a field of the call another name."""

    def change(call: Call, _: str) -> Change | None:
        if field not in call:
            return None
        return lambda call: {instead if name == field else name: value for name, value in call.items()}

    return change


def _fewer_tokens(call: Call, said: str) -> Change | None:
    """The change that lowers the maximum number of tokens to what the refusal allows, if it states a number."""
    field = next((name for name in ("max_tokens", "max_completion_tokens") if name in call), None)
    numbers = [int(number.replace(",", "")) for number in _NUMBER.findall(said.partition(" answered ")[2][5:])]
    most = max((number for number in numbers if field and 16 <= number < call[field]), default=0)
    if not most:
        return None
    return lambda call: {name: min(value, most) if name == field else value for name, value in call.items()}


def schema_instruction(schema: Mapping[str, object]) -> str:
    """The instruction to follow a schema, for the prompt."""
    said = json.dumps(schema, ensure_ascii=False)
    return f"Answer with one JSON object that follows this schema, and nothing else:\n{said}"


def schema_in_prompt(call: Call, _: str = "") -> Change | None:
    """The change that puts the schema into the prompt instead of its own field."""
    if "response_format" not in call and "format" not in call:
        return None

    def change(call: Call) -> Call:
        native = call.get("response_format", {}).get("json_schema", {}).get("schema") or call.get("format")
        rest = {name: value for name, value in call.items() if name not in ("response_format", "format")}
        if native is None:
            return rest
        return rest | {"messages": [{"role": "system", "content": schema_instruction(native)}, *call["messages"]]}

    return change


def _without_system(call: Call, _: str) -> Change | None:
    """The change that turns system messages into user messages and merges consecutive messages of one role."""
    roles = [message["role"] for message in call.get("messages", ())]
    if "system" not in roles and all(one != other for one, other in pairwise(roles)):
        return None

    def change(call: Call) -> Call:
        said = [("user" if one["role"] == "system" else one["role"], one["content"]) for one in call["messages"]]
        joined: list[dict[str, str]] = []
        for role, content in said:
            if joined and joined[-1]["role"] == role:
                joined[-1] = {"role": role, "content": f"{joined[-1]['content']}\n\n{content}"}
            else:
                joined.append({"role": role, "content": content})
        return call | {"messages": joined}

    return change


def _as_stream(call: Call, _: str) -> Change | None:
    if call.get("stream") or "options" in call:
        return None
    return lambda call: call | {"stream": True, "stream_options": {"include_usage": True}}


CHAT_OPTIONS = (
    Option(
        "answers that are not streamed",
        re.compile(r"non-?stream|only supports? stream|(?:enable|must use|requires?) (?:the )?stream", re.I),
        _as_stream,
    ),
    Option(
        "response_format",
        re.compile(
            r"response_format|json.?schema|json mode|structured.?output|guided|grammar|xgrammar|additionalProperties"
            r"|\bschema\b|invalid format|ChatRequest\.format|\bformat\b.{0,20}(?:json|unsupported|not supported)",
            re.I,
        ),
        schema_in_prompt,
        "models.{}.native_schema: false",
    ),
    Option(
        "the system role",
        re.compile(
            r"system (?:role|message|prompt|instruction)|role\W{0,4}(?:of )?\W?system|['\"]system['\"]"
            r"|developer instruction|roles? must alternate|must alternate|only user and assistant|chat.?template|jinja",
            re.I,
        ),
        _without_system,
    ),
    Option("stream_options", re.compile(r"stream_options|include_usage", re.I), left_out("stream_options")),
    Option("seed", re.compile(r"\bseed\b", re.I), left_out("seed")),
    Option("temperature", re.compile(r"temperature|sampling param", re.I), left_out("temperature")),
    Option(
        "max_tokens of this size",
        re.compile(
            r"(?:max_(?:completion_)?tokens|completion tokens).*"
            r"(?:at most|range|too large|exceed|less than|<=|maximum|between|should be|supports)",
            re.I | re.S,
        ),
        _fewer_tokens,
        "max_tokens of its roles",
    ),
    # max_tokens follows the options whose refusals may mention it too.
    Option(
        "max_tokens",
        re.compile(r"max_tokens(?!.*too large)", re.I | re.S),
        _renamed("max_tokens", "max_completion_tokens"),
    ),
    Option("max_completion_tokens", re.compile(r"max_completion_tokens", re.I), left_out("max_completion_tokens")),
    Option("streams", re.compile(r"\bstream(?:ing|ed)?\b(?!_)", re.I), left_out("stream", "stream_options")),
)
"""Older servers do not support `stream_options`; reasoning models refuse a temperature and use another name for the
limit; templates of Gemma and Mistral have no system role; few servers accept a JSON schema."""


def _as_numbers(call: Call, _: str) -> Change | None:
    if call.get("encoding_format") != "base64":
        return None
    return lambda call: call | {"encoding_format": "float"}


EMBEDDING_OPTIONS = (
    Option("vectors in base64", re.compile(r"encoding_format|base64|\bencoding\b", re.I), _as_numbers),
    Option("encoding_format", re.compile(r"encoding_format|\bencoding\b", re.I), left_out("encoding_format")),
    Option("dimensions", re.compile(r"dimension|matryoshka", re.I), left_out("dimensions"), "models.{}.dimensions"),
    Option("truncate", re.compile(r"truncate", re.I), left_out("truncate")),
)


RERANK_OPTIONS = (Option("documents", re.compile(r"texts|documents", re.I), _renamed("documents", "texts")),)
"""Text Embeddings Inference calls the documents `texts`."""

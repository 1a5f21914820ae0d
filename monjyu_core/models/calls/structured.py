"""Answers as objects of a schema: native where the server has it, else found in the text, mended and checked."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from monjyu_core.models.call_errors import ModelAnswerUnusable
from monjyu_core.models.types import ChatReply, Message

T = TypeVar("T", bound=BaseModel)

LONGEST_ANSWER = 400_000
"""Characters. Mending is quadratic at worst, and no role asks for a tenth of this."""
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_FENCE = re.compile(r"```(?:json|JSON)?\s*\n?(.*?)(?:```|\Z)", re.S)

_log = logging.getLogger(__name__)
_told: set[str] = set()
"""Models of which it was said that an answer was cut off: once is enough."""

Ask = Callable[[tuple[Message, ...]], Awaitable[ChatReply]]
"""One chat call that asks for the schema."""


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model in the form that servers with strict schemas take: closed objects, all required."""
    schema = model.model_json_schema()
    _close(schema)
    return schema


def _close(node: Any) -> None:
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            node["additionalProperties"] = False
            node["required"] = list(node["properties"])
        for key in ("default", "title"):
            if not isinstance(node.get(key), dict):
                node.pop(key, None)
        for inner in node.values():
            _close(inner)
    elif isinstance(node, list):
        for inner in node:
            _close(inner)


def find_json(text: str) -> Any:
    """The JSON value in a model's answer, whatever stands around it; ValueError where there is none.

    Thinking text goes, a fenced block is preferred, prose before and after is passed over, and small faults (a missing
    bracket, single quotes, a comma too many, a cut end) are mended.
    """
    text = _THINKING.sub("", text[:LONGEST_ANSWER]).strip()
    fenced = _FENCE.search(text)
    for candidate in ([fenced.group(1)] if fenced else []) + [text]:
        start = _first_bracket(candidate)
        if start is None:
            continue
        try:
            return json.JSONDecoder().raw_decode(candidate, start)[0]
        except ValueError:
            mended = _mended(candidate[start:])
            if mended is not None:
                return mended
    raise ValueError("there is no JSON in it")


def _first_bracket(text: str) -> int | None:
    places = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    return min(places) if places else None


def _mended(text: str) -> Any | None:
    from json_repair import repair_json

    try:
        value = repair_json(text, return_objects=True)
    except (ValueError, RecursionError, IndexError):
        return None
    return value if isinstance(value, dict | list) and value else None


def read_as(text: str, model: type[T], *, in_part: bool = False) -> T:
    """The answer as an object of the model; ValueError says what is wrong in words that the model can act on.

    `in_part`: members of its lists that cannot be read are left out, as the last of an answer that was cut off."""
    value = find_json(text)
    if isinstance(value, list) and len(model.model_fields) == 1:  # the one list without its object around it
        value = {next(iter(model.model_fields)): value}
    try:
        return model.model_validate(value)
    except ValidationError as error:
        if in_part and _without_unreadable(value, error):
            return read_as(json.dumps(value), model)
        places = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'top'}: {e['msg']}" for e in error.errors()[:5])
        raise ValueError(places) from error


def _without_unreadable(value: Any, error: ValidationError) -> bool:
    """Take the members that are wrong out of the lists of an object. False where something else is wrong."""
    wrong = {tuple(one["loc"][:2]) for one in error.errors()}
    if not all(len(place) == 2 and isinstance(place[1], int) for place in wrong):
        return False
    for name, number in sorted(wrong, key=lambda place: -int(place[1])):
        value[name].pop(number)
    return any(isinstance(inner, list) and inner for inner in value.values())


def schema_message(model: type[BaseModel]) -> Message:
    """The instruction for a server that takes no schema."""
    schema = json.dumps(schema_of(model), ensure_ascii=False)
    return Message("system", f"Answer with one JSON object that follows this schema, and nothing else:\n{schema}")


async def ask_structured(ask: Ask, messages: tuple[Message, ...], model: type[T]) -> T:
    """Ask, read, and ask once more with the error where the answer cannot be read.

    Raises ModelAnswerUnusable with the cause after that; the errors of the call itself pass through.
    """
    reply = await ask(messages)
    try:
        return _read(reply, model)
    except ValueError as error:
        shorter = " Be brief: it must be far shorter." if reply.finish == "length" else ""
        wanted = f"That answer cannot be used: {error}. Send only the JSON object, whole and valid.{shorter}"
        again = (*messages, Message("assistant", reply.text[:4000]), Message("user", wanted))
    reply = await ask(again)
    try:
        return _read(reply, model, in_part=True)
    except ValueError as error:
        raise ModelAnswerUnusable(
            f"{reply.model} gave no usable answer, twice: {error}.", "A larger model or a longer max_tokens may help."
        ) from error


def readable(reply: ChatReply, model: type[BaseModel]) -> bool:
    """Whether the reply can be read at the first asking."""
    try:
        return bool(_read(reply, model))
    except ValueError:
        return False


def _read(reply: ChatReply, model: type[T], *, in_part: bool = False) -> T:
    """Of an answer that was cut off what is whole of it: asked again it would be cut off again."""
    cut = reply.finish == "length"
    if not reply.text.strip():
        raise ValueError("it is empty" + (" (cut off at max_tokens)" if cut else ""))
    try:
        found = read_as(reply.text, model, in_part=cut or in_part)
    except ValueError as error:
        if cut:
            raise ValueError(f"it was cut off at max_tokens; {error}") from error
        raise
    if cut and reply.model not in _told:
        _told.add(reply.model)
        _log.warning("An answer of %s was cut off at the role's max_tokens: the rest of it is missing.", reply.model)
    return found

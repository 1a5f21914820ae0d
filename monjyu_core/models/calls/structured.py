"""Reads answers as objects of a schema: finds the JSON in the model's text, repairs and validates it."""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from monjyu_core.models.call_errors import ModelAnswerUnusable
from monjyu_core.models.types import ChatReply, Message
from monjyu_core.values import Values

T = TypeVar("T", bound=BaseModel)

LONGEST_ANSWER = 400_000
"""In characters. Repair takes quadratic time at worst, and no role asks for a tenth of this."""
_MOST_STARTS, _MOST_MENDED, _DEEPEST = 300, 8, 3
_BRACKET = re.compile(r"[{\[]")
_FENCE = re.compile(r"```[A-Za-z]*\s*\n?(.*?)(?:```|\Z)", re.S)
_WIDE = str.maketrans("｛｝［］：，＂“”０１２３４５６７８９．－", '{}[]:,"""0123456789.-')

_log = logging.getLogger(__name__)
_reported: set[str] = set()
"""Models whose truncated answers were already reported; each is reported once."""

Ask = Callable[[tuple[Message, ...]], Awaitable[ChatReply]]
"""One chat call that asks for the schema."""


def schema_of(model: type[BaseModel]) -> Values:
    """The JSON schema of a model in the form that strict servers require: closed objects, all properties required."""
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


def read_as(text: str, model: type[T], *, in_part: bool = False) -> T:
    """Read the answer as an instance of the model. Text around the JSON is ignored. Of several values that fit, the
    last object counts, or the last list if none is an object.

    Small faults (a missing bracket, single quotes, full-width punctuation, a truncated end) are repaired. With
    `in_part`, invalid members of lists are left out, such as the last one of a truncated answer. Raises ValueError,
    whose message states what the model must correct.
    """
    text = text[:LONGEST_ANSWER]
    wrong: ValidationError | None = None
    for values in (_found(text), _found(_half_width(text)), _mended(text)):
        fitting: list[tuple[bool, T]] = []
        for value in values:
            try:
                fitting.append((isinstance(value, dict), _validated(value, model)))
            except ValidationError as error:
                if in_part and (rest := _without_unreadable(value, model, error)) is not None:
                    fitting.append((False, rest))
                elif wrong is None or isinstance(value, dict):
                    wrong = error
        if fitting:  # an object is more likely the answer than a list, which may be a citation
            return [one for named, one in fitting if named == any(named for named, _ in fitting)][-1]
    if wrong is None:
        raise ValueError("there is no JSON in it")
    places = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'top'}: {e['msg']}" for e in wrong.errors()[:5])
    raise ValueError(places) from wrong


def _validated(value: Any, model: type[T]) -> T:
    """The value, or an object inside it, as an instance of the model. Raises the ValidationError of the value."""
    try:
        return model.model_validate(_wrapped(value, model))
    except ValidationError:
        for inner in _inner(value, _DEEPEST):
            try:
                return model.model_validate(inner)
            except ValidationError:
                continue
        raise


def _wrapped(value: Any, model: type[BaseModel]) -> Any:
    """Wrap a bare list as the only field of the model."""
    if isinstance(value, list) and len(model.model_fields) == 1:
        return {next(iter(model.model_fields)): value}
    return value


def _inner(value: Any, depth: int) -> Iterator[Values]:
    """Yield the objects inside a value, in lists the last first: models often wrap the requested object."""
    inside = list(value.values()) if isinstance(value, dict) else value[::-1] if isinstance(value, list) else []
    for one in inside[:_MOST_MENDED] if depth else ():
        if isinstance(one, str) and one.lstrip().startswith("{"):  # the arguments of a tool call
            one = next(_found(one), None)
        if isinstance(one, dict):
            yield one
        yield from _inner(one, depth - 1)


def _without_unreadable(value: Any, model: type[T], error: ValidationError) -> T | None:
    """The value without the invalid members of its lists; None if something else is invalid, or nothing is left."""
    value = json.loads(json.dumps(_wrapped(value, model)))
    wrong = {tuple(one["loc"][:2]) for one in error.errors()}
    if not all(len(place) == 2 and isinstance(place[1], int) for place in wrong):
        return None
    for name, number in sorted(wrong, key=lambda place: -int(place[1])):
        value[name].pop(number)
    if not any(isinstance(inner, list) and inner for inner in value.values()):
        return None
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _found(text: str) -> Iterator[Any]:
    """The outermost JSON objects and lists in a text that can be read without repair, in order."""
    place = 0
    for _ in range(_MOST_STARTS):
        start = _BRACKET.search(text, place)
        if start is None:
            return
        try:
            value, place = json.JSONDecoder().raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            place = start.end()


def _mended(text: str) -> Iterator[Any]:
    """Yield the first repair that works: of the fenced parts, the last first, then from the first brackets on."""
    from json_repair import repair_json

    text = _half_width(text)
    fences = [found[1] for found in _FENCE.finditer(text)]
    starts = [found.start() for found in _BRACKET.finditer(text)]
    objects = [start for start in starts if text[start] == "{"]
    first = objects[:1] + starts[: _MOST_MENDED - 1]
    for part in [*reversed(fences[-_MOST_MENDED:]), *(text[start:] for start in first)]:
        try:
            value = repair_json(part, return_objects=True)
        except (ValueError, RecursionError, IndexError):
            continue
        if isinstance(value, dict | list) and value:
            yield value
            return


def _half_width(text: str) -> str:
    """The text with full-width JSON punctuation and digits made half-width, outside strings."""
    if text.isascii() or not any(chr(mark) in text for mark in _WIDE):
        return text
    pieces, closing, escaped = [], "", False
    for character in text:
        if closing:
            ends = character == closing and not escaped
            escaped = character == "\\" and not escaped
            pieces.append('"' if ends else character)
            closing = "" if ends else closing
        else:
            pieces.append(character.translate(_WIDE))
            closing = {'"': '"', "“": "”", "＂": "＂", "”": "”"}.get(character, "")
    return "".join(pieces)


async def ask_structured(ask: Ask, messages: tuple[Message, ...], model: type[T]) -> T:
    """Ask and return the answer as an instance of the model; ask once more, with the error, if it cannot be read.

    Raises ModelAnswerUnusable if the second answer cannot be read either, and the errors of `ask`.
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
            f"{reply.model} gave no usable answer in two attempts: {error}.",
            "Use a larger model or raise max_tokens; `monjyu models try` tests what this model can do.",
        ) from error


def readable(reply: ChatReply, model: type[BaseModel]) -> bool:
    """Whether the reply can be read without asking again."""
    try:
        return bool(_read(reply, model))
    except ValueError:
        return False


def _read(reply: ChatReply, model: type[T], *, in_part: bool = False) -> T:
    """Read the reply; of a truncated answer, read the complete part, because asking again would truncate it again."""
    cut = reply.finish == "length"
    try:
        found = read_as(reply.text, model, in_part=cut or in_part)
    except ValueError as error:
        if cut:
            raise ValueError(f"it was cut off at max_tokens; {error}") from error
        raise
    if cut and reply.model not in _reported:
        _reported.add(reply.model)
        _log.warning("An answer of %s was cut off at the role's max_tokens: the rest of it is missing.", reply.model)
    return found

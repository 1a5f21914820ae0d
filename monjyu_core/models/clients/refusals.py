"""Converts the refusals of model servers, in any form, into Monjyu's errors with a hint."""

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime

from monjyu_core.models.call_errors import (
    ModelCallError,
    ModelContentFiltered,
    ModelRateLimited,
    ModelRefused,
    ModelServerError,
    ModelUnreachable,
    PromptTooLong,
)
from monjyu_core.values import Values

_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|$)", re.I | re.S)
_TAG = re.compile(r"<[^<>]*>")
_MOST_OF_PAGE = 20_000
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_TOO_LONG = re.compile(
    r"context[ _](?:size|length|window)|too large to process|too big compared to|range of input length"
    r"|maximum (?:input|prompt|sequence) length|(?:input|prompt|text|sequence)s? (?:is |are )?too long"
    r"|exceed\w* (?:the )?max\w* (?:number of )?tokens|exceed\w*[^.]{0,40}\btokens\b|less than \d+ tokens"
    r"|too many tokens|reduce the length|\btokens? (?:limit|exceed)|length exceeds|max_new_tokens.{0,4} must be <=",
    re.I,
)
"""Messages about a prompt or text that is too long, from OpenAI, vLLM, llama.cpp, LM Studio, Ollama, Text Embeddings
Inference, Mistral, DashScope and others."""
_FILTER_CODES = frozenset(
    {"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation", "data_inspection_failed"}
    | {"DataInspectionFailed", "1301", "PROHIBITED_CONTENT", "SAFETY"}
)
_FILTERED = re.compile(
    r"content exists risk|inappropriate content|content[ _](?:filter|management|policy)|considered high risk"
    r"|flagged (?:as|by|for)|input was flagged|usage polic(?:y|ies)|requires moderation|safety system",
    re.I,
)
_QUOTA_CODES = frozenset({"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached", "Arrearage"})
_QUOTA = re.compile(r"insufficient (?:balance|quota|credits?)|exceeded your current quota|billing|out of credits", re.I)
_WRONG_KEY = re.compile(r"api[ _-]?key (?:not valid|is invalid|expired)|invalid[ _]api[ _-]?key|API_KEY_INVALID", re.I)
_NO_PATH = re.compile(r"unexpected endpoint|no such (?:path|endpoint)|unknown (?:path|endpoint|url)", re.I)
_NO_MODEL = re.compile(
    r"models?\b.{0,80}not (?:found|exist)|does not exist|not a valid model|invalid model|no models? loaded|pulling it"
    r"|deployment .{0,40}not exist",
    re.I,
)
_WAIT = re.compile(r"(?:try again|retry)(?: in| after)? (\d+(?:\.\d+)?) ?(ms|s|sec|m|min)?\b|retryDelay\W+(\d+)s", re.I)

_TEXTS = re.compile(r"batch|inputs?\b|array|items?\b|texts?\b|contents?\b|requests?\b|documents?\b|list", re.I)
_COUNT = re.compile(r"(?<![\w.-])\d+(?![\w-])")


def refusal(
    who: str,
    name: str,
    shown: Callable[[str], str],
    status: int,
    headers: Mapping[str, str],
    body: object,
) -> ModelCallError:
    """A refusal's error. `who` names the model in messages, `name` in hints; `shown` makes a server's text safe."""
    said, codes = message_in(body), _codes(body)
    place = f"models.{name}"
    summary = f"{who} answered {status}: {shown(said).rstrip('.') or 'no reason given'}."
    wait = retry_after(headers)
    wait = _wait_in(body) if wait is None and status == 429 else wait
    if status in (400, 403, 422, 451, 500) and (codes & _FILTER_CODES or _FILTERED.search(said)):
        stopped = f"The content filter of {who} stopped the question: {shown(said)}."
        return ModelContentFiltered(stopped, "Rephrase it, or use another model.", status=status)
    out_of_quota = codes & _QUOTA_CODES or (
        wait is None and _QUOTA.search(said)
    )  # Gemini's message for a limit per minute
    if status == 402 or (status in (400, 403, 429) and out_of_quota):
        return ModelRefused(summary, "The quota is used up. Raise it; a retry does not help.", status=402)
    if status == 429:
        hint = "Lower the role's requests_per_minute or concurrency."
        return ModelRateLimited(summary, hint, retry_after=wait, status=status)
    if status in (408, 504):
        return ModelUnreachable(summary, f"See {place}.base_url.", retry_after=wait, status=status)
    if status in (400, 413, 422, 500) and (codes & _TOO_LONG_CODES or _TOO_LONG.search(said)):
        return PromptTooLong(
            summary, f"Start the server with a larger context, or set {place}.context_tokens to its own.", status=status
        )
    if status >= 500 and _NO_PATH.search(said):
        status = 404
    if status >= 500 or status in (409, 424, 425):
        return ModelServerError(
            summary,
            f"Check the server, and whether {place}.base_url is the address of its API.",
            retry_after=wait,
            status=status,
        )
    # A refusal that concerns every request must not be attributed to a part of the call, or to a text.
    of_all = 401 if _WRONG_KEY.search(said) else 404 if _NO_MODEL.search(said) else status
    return ModelRefused(summary, _hint(place, status, said), status=of_all)


def stated_limit(error: ModelCallError | None, count: int) -> int | None:
    """The number of texts that a refusal allows: `batch size 32 > maximum allowed batch size 8`."""
    said = error.message.partition(" answered ")[2][5:] if isinstance(error, ModelRefused) else ""
    if not _TEXTS.search(said):
        return None
    return max((number for number in map(int, _COUNT.findall(said)) if 1 <= number < count), default=None)


def status_in(body: object) -> int:
    """The status that an error with HTTP status 200 names, as in mid-stream; 500 if it names none."""
    for found in _objects(body):
        for key in ("code", "status", "status_code"):
            text = str(found.get(key))
            if text in ("rate_limit_exceeded", "RESOURCE_EXHAUSTED", "429"):
                return 429
            if text.isdecimal() and 400 <= int(text) < 600:
                return int(text)
    return 400 if _codes(body) & (_TOO_LONG_CODES | _FILTER_CODES) else 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None


def _wait_in(body: object) -> float | None:
    """The seconds to wait that a message states: `Please try again in 1.2s`, Gemini's `retryDelay`."""
    found = _WAIT.search(json.dumps(body, ensure_ascii=False, default=str)[:_MOST_OF_PAGE])
    if found is None:
        return None
    number, unit = float(found[1] or found[3]), (found[2] or "s").lower()
    return number / 1000 if unit == "ms" else number * 60 if unit in ("m", "min") else number


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _codes(body: object) -> set[str]:
    return {str(found[key]) for found in _objects(body) for key in ("code", "type", "status") if found.get(key)}


def _objects(body: object) -> Iterator[Values]:
    """Yield the error object and those nested in it: Gemini wraps the object in a list, Mistral nests another as its
    message, and gateways embed the inner one as text."""
    for _ in range(5):
        if isinstance(body, list) and body:
            body = body[0]
        if isinstance(body, str) and body.lstrip().startswith(("{", "[{")):
            try:
                body = json.loads(body[:_MOST_OF_PAGE])
            except (ValueError, RecursionError):
                return
            continue
        if not isinstance(body, dict):
            return
        yield body
        inner = body.get("message")
        text = isinstance(inner, str) and inner.lstrip().startswith(("{", "[{"))
        nested = inner if text or isinstance(inner, dict) else None
        body = body.get("error") or body.get("innererror") or nested


def message_in(body: object) -> str:
    """The server's error message: `error.message`, `error`, `message` or `detail`, otherwise the text."""
    said = ""
    for found in _objects(body):
        for key in ("message", "error", "detail", "error_msg", "msg"):
            if isinstance(found.get(key), str):
                said = str(found[key])
                break
        else:
            said = said or str(found.get("detail") or "")
    if said:
        return said
    return _plain(body) if isinstance(body, str) else ""


def _plain(text: str) -> str:
    """The text, without markup if it is an HTML page of a proxy or gateway."""
    return _TAG.sub(" ", _UNSEEN.sub(" ", text[:_MOST_OF_PAGE])) if text.lstrip().startswith("<") else text


def _hint(place: str, status: int, said: str) -> str:
    if 300 <= status < 400:
        return f"Set {place}.base_url to the address that it redirects to."
    if status == 401 or _WRONG_KEY.search(said):
        return f"Check {place}.api_key."
    if status == 403:
        return f"Check {place}.api_key and its permissions."
    if status == 404 and "pull" in said:
        return f"Pull the model on the server (`ollama pull MODEL`), or correct {place}.model."
    if _NO_MODEL.search(said):
        return f"Check {place}.model."
    if status in (404, 405):
        return f"Check {place}.base_url (most servers need /v1 at its end) and {place}.model."
    if "max_tokens" in said or "max_completion_tokens" in said:
        return "Lower the role's max_tokens."
    return f"Check {place} and the roles that use it; `monjyu models try {place.removeprefix('models.')}` shows more."

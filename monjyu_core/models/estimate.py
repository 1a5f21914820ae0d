"""What calls cost: prices of the settings, token counts (cl100k_base) of planned calls and silent servers."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

from monjyu_core.models.types import ChatRequest, Role, TokenUsage
from monjyu_core.settings.models import PriceSettings
from monjyu_core.text.tokens import count_many, count_tokens

_log = logging.getLogger(__name__)

_DATED = re.compile(r"[-@:](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4}|\d{3}|latest)")
"""Suffixes that servers append to a model's name for a version: gpt-4o-2024-08-06, claude-x-20250219, gpt-4-0613."""


@dataclass(frozen=True)
class Cost:
    """The cost of tokens in US dollars. `priced` is False if the table has no price; `usd` is then 0."""

    usd: float
    priced: bool


class PriceTable:
    """Prices in US dollars per million tokens, by model name. Warns once for each model without a price."""

    def __init__(self, prices: Mapping[str, PriceSettings]) -> None:
        self._prices = {name.lower(): price for name, price in prices.items()}
        self._warned: set[str] = set()

    def cost(self, usage: TokenUsage, model: str) -> Cost:
        """The cost of one call of a model."""
        price = self.price(model)
        if price is None:
            return Cost(0.0, priced=False)
        return Cost(
            (usage.prompt_tokens * price.prompt + usage.completion_tokens * price.completion) / 1e6, priced=True
        )

    def price(self, model: str) -> PriceSettings | None:
        """The price of a model, with or without its version; None if it has none."""
        found = self._prices.get(model.lower()) or self._undated(model.lower())
        if found is None and model not in self._warned:
            self._warned.add(model)
            _log.warning(
                "%s has no price in spending.prices: its calls count as 0 dollars, so caps on cost do not limit them.",
                model,
            )
        return found

    def _undated(self, name: str) -> PriceSettings | None:
        """The price of the model of which `name` is a version: gpt-4o-mini-2024-07-18 is one of gpt-4o-mini only."""
        for known, price in self._prices.items():
            if name.startswith(known) and _DATED.fullmatch(name, len(known)):
                return price
        return None


TOKENS_A_MESSAGE = 4
"""Tokens that each message adds: three marks and its role (OpenAI's cookbook, "How to count tokens with tiktoken")."""
TOKENS_A_REPLY = 3
"""Tokens that prime the answer, once per call (the same source)."""
_CALLS_AT_ONCE = 1000


@dataclass(frozen=True)
class PlannedCall:
    """A planned model call. `request` contains the messages as they will be sent; `key` is its key in the response
    cache, if one is used."""

    role: Role
    model: str
    request: ChatRequest
    key: str | None = None


@dataclass
class Estimate:
    """An estimate, in the form that `monjyu upgrade --estimate --json` prints: `pages` only if a service reads pages,
    `seconds` only if the noun graph has to be built. It excludes calls in the cache and pages that were read before."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    pages: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, float]:
        return {name: value for name, value in asdict(self).items() if value or name not in ("pages", "seconds")}

    def __add__(self, other: Estimate) -> Estimate:
        mine, theirs = asdict(self), asdict(other)
        return Estimate(**{name: mine[name] + theirs[name] for name in mine})


def prompt_tokens(requests: Sequence[ChatRequest], *, schema_is_sent: bool = False) -> list[int]:
    """The prompt tokens of each request. With `schema_is_sent`, `request.schema` counts too, as at OpenAI."""
    texts, bounds = [], [0]
    for request in requests:
        texts += [message.content for message in request.messages]
        if schema_is_sent and request.schema is not None:
            texts.append(json.dumps(request.schema, ensure_ascii=False))
        bounds.append(len(texts))
    counts = count_many(texts)
    return [
        sum(counts[start:end]) + TOKENS_A_MESSAGE * len(request.messages) + TOKENS_A_REPLY
        for request, start, end in zip(requests, bounds, bounds[1:], strict=False)
    ]


def estimated_usage(request: ChatRequest, answer: str) -> TokenUsage:
    """The estimated usage of a call whose server does not report it."""
    return TokenUsage(prompt_tokens([request])[0], count_tokens(answer), estimated=True)


def estimated_texts(texts: Sequence[str]) -> TokenUsage:
    return TokenUsage(sum(count_many(texts)), 0, estimated=True)


def estimate(
    calls: Iterable[PlannedCall],
    prices: PriceTable,
    *,
    completions: Mapping[tuple[str, str], float] | None = None,
    cached: Callable[[Sequence[str]], Collection[str]] | None = None,
    schema_is_sent: bool = False,
) -> Estimate:
    """The number, tokens and cost of the calls that are not cached; calls with equal keys count once. `calls` is read a
    thousand at a time, so it may be a long iterator.

    `completions`: mean tokens of an answer by (role, model), as measured in the ledger (`mean_completions`); an answer
    without a mean counts with its maximum length (`max_tokens`). `cached`: a cache's `has_many`.
    """
    total = Estimate()
    seen: set[str] = set()
    remaining = iter(calls)
    while batch := list(islice(remaining, _CALLS_AT_ONCE)):
        new = _new(batch, cached, seen)
        for call, tokens in zip(
            new, prompt_tokens([call.request for call in new], schema_is_sent=schema_is_sent), strict=True
        ):
            usage = TokenUsage(tokens, completion_tokens(call, completions), estimated=True)
            cost = prices.cost(usage, call.model)
            total += Estimate(1, usage.prompt_tokens, usage.completion_tokens, cost.usd)
    return total


def worst_cost(request: ChatRequest, prices: PriceTable, model: str) -> float:
    """The cost in dollars of a call whose answer is as long as allowed and whose schema counts, to reserve in a cap."""
    [tokens] = prompt_tokens([request], schema_is_sent=True)
    return prices.cost(TokenUsage(tokens, request.max_tokens, estimated=True), model).usd


def completion_tokens(call: PlannedCall, completions: Mapping[tuple[str, str], float] | None = None) -> int:
    """The expected tokens of an answer: the measured mean, at most `max_tokens`; without a mean, `max_tokens`."""
    mean = (completions or {}).get((call.role, call.model))
    longest = call.request.max_tokens
    return longest if mean is None else min(longest, round(mean))


def _new(
    batch: Sequence[PlannedCall], cached: Callable[[Sequence[str]], Collection[str]] | None, seen: set[str]
) -> list[PlannedCall]:
    """The calls that are neither in the cache nor equal to an earlier one."""
    keys = [call.key for call in batch if call.key is not None]
    known = set(cached(keys)) if cached is not None and keys else set()
    new = []
    for call in batch:
        if call.key is not None:
            if call.key in known or call.key in seen:
                continue
            seen.add(call.key)
        new.append(call)
    return new

"""What a call costs, by the price table of the settings."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

from monjyu_core.models.types import TokenUsage
from monjyu_core.settings.models_settings import PriceSettings

_log = logging.getLogger(__name__)

_DATED = re.compile(r"[-@:](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4}|\d{3}|latest)")
"""What servers append to a model's name for one version of it: gpt-4o-2024-08-06, claude-x-20250219, gpt-4-0613."""


@dataclass(frozen=True)
class Cost:
    """`priced` is False where the table has no price: then `usd` is 0 and says nothing."""

    usd: float
    priced: bool


class PriceTable:
    """Prices in US dollars for a million tokens, by model name. Warns once of each model that has none."""

    def __init__(self, prices: Mapping[str, PriceSettings]) -> None:
        self._prices = {name.lower(): price for name, price in prices.items()}
        self._warned: set[str] = set()

    def cost(self, usage: TokenUsage, *names: str) -> Cost:
        """Cost of one call, by the first of the model's names (the setting's, then the server's) that has a price."""
        price = self.price(*names)
        if price is None:
            return Cost(0.0, priced=False)
        return Cost(
            (usage.prompt_tokens * price.prompt + usage.completion_tokens * price.completion) / 1e6, priced=True
        )

    def price(self, *names: str) -> PriceSettings | None:
        """The price under a name, else under the name of what it is a dated version of."""
        for name in names:
            found = self._prices.get(name.lower()) or self._undated(name.lower())
            if found is not None:
                return found
        self._warn(names[0] if names else "")
        return None

    def _undated(self, name: str) -> PriceSettings | None:
        """Price of the model that a name is a dated version of: gpt-4o-mini-2024-07-18 is one of gpt-4o-mini only."""
        for known, price in self._prices.items():
            if name.startswith(known) and _DATED.fullmatch(name, len(known)):
                return price
        return None

    def _warn(self, name: str) -> None:
        if name not in self._warned:
            self._warned.add(name)
            _log.warning(
                "%s has no price in spending.prices: its calls count as 0 dollars, so caps on money do not see them.",
                name,
            )

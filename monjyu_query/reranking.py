"""Passages in a new order by a rerank model (`roles.rerank.engine: llm`, off by default)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monjyu_core.folders import DataFolder
from monjyu_core.models.background import run
from monjyu_core.models.callers import RerankCaller
from monjyu_core.models.errors import ModelCallError
from monjyu_core.models.factory import rerank_client, role_model
from monjyu_core.models.ledger import Entry, Ledger, Scope
from monjyu_core.models.prices import PriceTable
from monjyu_core.models.resilience import Attempt, Guard
from monjyu_core.models.types import TokenUsage
from monjyu_core.settings import Settings
from monjyu_query.passages import Passage


class Reranker:
    """The model that `roles.rerank` names. May be shared by threads."""

    def __init__(self, settings: Settings, data: DataFolder) -> None:
        name, self._model = role_model(settings, "rerank")
        role = settings.roles.rerank
        self._caller = RerankCaller(
            rerank_client(name, self._model, role.timeout_seconds), Guard(f"models.{name}", role)
        )
        self._ledger = Ledger(data)
        self._prices = PriceTable(settings.spending.prices)

    def rerank(self, query: str, passages: Sequence[Passage], scope: Scope) -> tuple[list[Passage], str]:
        """The passages, best first, with the model's scores; as they were with a word on why where it failed."""
        if not passages:
            return [], ""
        texts = [f"{passage.header}\n{passage.text}" for passage in passages]
        try:
            scores = run(self._caller.rerank(query, texts, lambda attempt: self._note(attempt, scope)))
        except ModelCallError as error:
            return list(passages), f"Not reranked: {error}"
        order = sorted(range(len(passages)), key=lambda place: -scores[place])
        return [replace(passages[place], score=round(scores[place], 6)) for place in order], ""

    def _note(self, attempt: Attempt, scope: Scope) -> None:
        usage = attempt.usage or TokenUsage()
        cost = self._prices.cost(usage, self._model.model)
        self._ledger.record(
            Entry(
                scope, "rerank", self._model.model, self._caller.client.identity, usage, seconds=attempt.seconds,
                cost_usd=cost.usd, priced=cost.priced, status="failed" if attempt.error else "ok",
                error=type(attempt.error).__name__ if attempt.error else None,
            )
        )  # fmt: skip

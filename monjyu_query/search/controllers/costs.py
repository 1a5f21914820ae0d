"""What a step of the progressive controller may cost at the worst, by calls and dollars, before it is begun."""

from __future__ import annotations

from dataclasses import dataclass

from monjyu_core.models.factory import role_model
from monjyu_core.models.types import Role, TokenUsage
from monjyu_query.asking.budget import Budget
from monjyu_query.knowledge.reports import load_reports
from monjyu_query.ranking.tools import Ask, Tools

TEST_TOKENS = 600
"""Prompt of one relevance test: a chunk, its header and the instructions."""
EXTRACT_CHUNKS = 8
CHARACTERS_A_TOKEN = 3


@dataclass(frozen=True)
class Expected:
    calls: int = 0
    cost_usd: float = 0.0


def expected_cost(tools: Tools, ask: Ask) -> Expected:
    """Of the ask's mode without the answer; nothing where its roles are extractive."""
    if ask.mode == "lazy":
        tests = Budget.of(ask.request.budget).total
        groups, batch = -(-tests // EXTRACT_CHUNKS), ask.settings.lazy.chunks_per_call
        return _sum(
            _calls(tools, ask, "expand", 1, TEST_TOKENS),
            _calls(tools, ask, "assess", -(-tests // batch), batch * TEST_TOKENS),
            _calls(tools, ask, "claims", groups, EXTRACT_CHUNKS * TEST_TOKENS),
        )
    if ask.mode == "global":
        reports = load_reports(ask.index.snapshot.cursor()).all
        tokens = sum(len(report.text) for report in reports) // CHARACTERS_A_TOKEN
        calls = max(1, -(-tokens // ask.settings.reports.map_tokens))
        each = tokens // calls + TEST_TOKENS
        return _sum(_calls(tools, ask, "assess", calls, each), _calls(tools, ask, "claims", calls, each))
    return Expected()


def _calls(tools: Tools, ask: Ask, role: Role, calls: int, prompt_tokens: int) -> Expected:
    if not tools.uses_model(role):
        return Expected()
    longest = getattr(tools.settings.roles, role).max_tokens
    model = role_model(tools.settings, role)[1].model
    cost = ask.account.accounting.prices.cost(TokenUsage(prompt_tokens * calls, longest * calls), model)
    return Expected(calls, cost.usd)


def _sum(*parts: Expected) -> Expected:
    return Expected(sum(part.calls for part in parts), sum(part.cost_usd for part in parts))

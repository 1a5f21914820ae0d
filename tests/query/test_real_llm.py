"""A real small model answers a question with checked citations. Opt-in: it wants a server and minutes.

    MONJYU_TEST_LLM=http://127.0.0.1:8080/v1 python -m pytest tests/query/test_real_llm.py

Any server with OpenAI's API will do (docs/extend.md says how to start one from packages alone).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from monjyu_core.models.accounting.ledger_totals import CallFilter, usage_of
from monjyu_core.storage.folders import DataFolder
from monjyu_query import Monjyu
from monjyu_query.search.request import make_request
from monjyu_query.search.searcher import Searcher

URL = os.environ.get("MONJYU_TEST_LLM", "")

pytestmark = pytest.mark.skipif(not URL, reason="opt-in: MONJYU_TEST_LLM names no server")


def test_a_question_is_answered_with_checked_citations(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "MODELS__DEFAULT__MODEL": os.environ.get("MONJYU_TEST_LLM_MODEL", "local"),
        "MODELS__DEFAULT__BASE_URL": URL,
        "ROLES__ANSWER__ENGINE": "llm",
        "ROLES__ANSWER__TIMEOUT_SECONDS": "600",
        "ROLES__ANSWER__MAX_TOKENS": "300",
        "ROLES__VERIFY__ENGINE": "llm",
        "ROLES__VERIFY__TIMEOUT_SECONDS": "600",
        "CACHE__ENABLED": "false",
    }
    monkeypatch.setenv("MONJYU_DATA", str(sample_data))
    for name, value in values.items():
        monkeypatch.setenv(f"MONJYU_{name}", value)
    request = make_request(query="How do readers and publishers of snapshots avoid waiting?", collection="samples")
    result = Searcher(DataFolder(sample_data), "samples").search(request)
    assert result.answer_engine == "llm", result.warnings
    assert result.citations and result.verified, (result.answer, result.warnings)
    assert usage_of(DataFolder(sample_data), CallFilter(run_id=result.trace_id)).completion_tokens > 0


def test_lazy_search_runs_through(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small models err: judgements that cannot be read are counted, and what is cited stands in its source."""
    values = {
        "MODELS__DEFAULT__MODEL": os.environ.get("MONJYU_TEST_LLM_MODEL", "local"),
        "MODELS__DEFAULT__BASE_URL": URL,
    }
    for role in ("EXPAND", "ASSESS", "CLAIMS", "ANSWER"):
        values |= {f"ROLES__{role}__ENGINE": "llm", f"ROLES__{role}__TIMEOUT_SECONDS": "600"}
        values[f"ROLES__{role}__MAX_TOKENS"] = "400"
    monkeypatch.setenv("MONJYU_DATA", str(sample_data))
    for name, value in values.items():
        monkeypatch.setenv(f"MONJYU_{name}", value)
    query = "What does the Leiden algorithm guarantee that Louvain does not?"
    request = make_request(query=query, collection="samples", mode="lazy", budget=6)
    result = Searcher(DataFolder(sample_data), "samples").search(request)
    assert result.usage.relevance_tests <= 6 and result.usage.llm_calls > 0
    assert result.citations or result.status == "abstained" or result.warnings, result
    if result.citations:
        assert result.verified


def test_a_study_table_is_worded(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a small model says, each cell rests on sentences of its paper."""
    values = {
        "MODELS__DEFAULT__MODEL": os.environ.get("MONJYU_TEST_LLM_MODEL", "local"),
        "MODELS__DEFAULT__BASE_URL": URL,
        "ROLES__ANSWER__ENGINE": "llm",
        "ROLES__ANSWER__TIMEOUT_SECONDS": "600",
        "ROLES__ANSWER__MAX_TOKENS": "500",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"MONJYU_{name}", value)
    digest = Monjyu(sample_data).table(["method", "result"], papers=3)
    assert digest.tables[0].engine == "llm" and digest.usage.llm_calls >= 3, digest.warnings
    for row in digest.tables[0].rows:
        cited = {n for cell in row[1:] for n in cell.citations}
        assert {one.paper_id for one in digest.citations if one.n in cited} <= {row[0].paper_id}

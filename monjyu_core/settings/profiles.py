"""What the profiles set. The file's own values go over these, its `profiles:` over both, the environment over all."""

from __future__ import annotations

from typing import Any

PROFILES = ("local", "azure")
_BY_MODEL = ("expand", "claims", "extract", "report", "answer")
BUILT_IN: dict[str, dict[str, Any]] = {
    "azure": {
        "models": {"default": {"provider": "azure", "model": "gpt-4o-mini", "context_tokens": 128_000}},
        "roles": {role: {"engine": "llm", "model": "default"} for role in _BY_MODEL},
    }
}
"""`azure`: one deployment of Azure OpenAI refines questions, draws claims, writes answers, finds entities and writes
reports. Relevance tests (`assess`) and embeddings stay on this machine: the first are calls by the dozen for each
question, the second would embed every collection anew. `local` sets nothing: that is what the defaults are."""

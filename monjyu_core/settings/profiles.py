"""What the profiles set. The file's own values go over these, its `profiles:` over both, the environment over all."""

from __future__ import annotations

import os
import re
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
_WITH_ENDPOINT: dict[str, dict[str, Any]] = {
    "document_intelligence": {"pdf": {"fallback": "document_intelligence"}},
    "search": {"search": {"backend": "azure_search"}},
}


def built_in(profile: str, values: dict[str, Any]) -> dict[str, Any]:
    """What a profile sets beside these values of a file. `azure` also turns on each service whose endpoint is given,
    and takes the deployment that the address of Azure OpenAI names."""
    if profile != "azure":
        return {}
    chosen, given = dict(BUILT_IN[profile]), values.get("azure")
    endpoint = os.environ.get("MONJYU_AZURE__OPENAI_ENDPOINT") or (
        given.get("openai_endpoint") if isinstance(given, dict) else ""
    )
    if deployment := re.search(r"/openai/deployments/([^/?]+)", str(endpoint)):
        default = BUILT_IN[profile]["models"]["default"] | {"model": deployment[1]}
        chosen["models"] = {"default": default}
    for service, settings in _WITH_ENDPOINT.items():
        own = given.get(service) if isinstance(given, dict) else None
        of_file = own.get("endpoint") if isinstance(own, dict) else None
        if os.environ.get(f"MONJYU_AZURE__{service.upper()}__ENDPOINT") or of_file:
            chosen |= settings
    return chosen

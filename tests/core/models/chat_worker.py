"""Asks a hundred questions through the gateway, four at once: what `test_gateway` kills in the middle."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from monjyu_core.models.account import Accounting
from monjyu_core.models.calls.gateway import Gateway
from monjyu_core.models.ledger import Scope
from monjyu_core.models.types import Message
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from tests.core.models.fake_server import KEY

QUESTIONS = 100
AT_ONCE = 4


async def ask_all(address: str, root: Path) -> None:
    models = {"default": {"model": "fake-model-1", "base_url": address, "api_key": KEY}}
    roles = {"answer": {"engine": "llm", "concurrency": AT_ONCE}}
    accounting = Accounting(load_settings({"models": models, "roles": roles}), DataFolder(root))
    gateway = Gateway(accounting)
    session = gateway.session(accounting.account(Scope("asset", "claims", 4, "c")))
    asks = [session.chat("answer", [Message("user", f"Question {n}.")], "hash") for n in range(QUESTIONS)]
    await asyncio.gather(*asks)
    await gateway.close()
    accounting.close()


if __name__ == "__main__":
    asyncio.run(ask_all(sys.argv[1], Path(sys.argv[2])))

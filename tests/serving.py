"""An application that answers on a port of this machine, in a thread of the test's process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore


@contextmanager
def serving(app: Any, **config: Any) -> Iterator[str]:
    """Its address, without a slash at the end."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none", access_log=False, **config))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def serving_mcp(data: Path, settings: dict[str, Any] | None = None) -> Iterator[str]:
    """The address of `monjyu mcp --http` for a data folder."""
    from monjyu_query.mcp_server.app import build_server
    from monjyu_query.mcp_server.caller_identity import CallersMonjyu
    from monjyu_query.mcp_server.http import PATH, http_app

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", str(data))
        loaded = load_settings(settings or {})
        server = build_server(CallersMonjyu(), loaded)
        app = http_app(server, loaded.service, "127.0.0.1", StateStore(DataFolder(data).state))
    with serving(app) as url:
        yield f"{url}{PATH}"

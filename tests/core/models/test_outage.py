"""A server that fails is asked once, and then not for a while."""

from __future__ import annotations

import logging

import pytest

from monjyu_core.errors import StorageError
from monjyu_core.models import outage
from monjyu_core.models.outage import Outage


def test_a_server_that_failed_is_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now, asked = [100.0], list[float]()
    monkeypatch.setattr(outage.time, "monotonic", lambda: now[0])

    def refused() -> str:
        asked.append(now[0])
        raise StorageError("Redis does not answer.")

    server = Outage("Nothing is shared")
    with caplog.at_level(logging.WARNING):
        assert server.tried(refused) is None
    assert "Nothing is shared for 30 s: Redis does not answer." in caplog.text
    now[0] += outage.SECONDS - 1
    assert server.lasts and server.tried(refused) is None and asked == [100.0]
    now[0] += 2
    assert not server.lasts and server.tried(lambda: "there") == "there"


def test_what_is_no_failure_of_the_server_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        Outage("Nothing is shared").tried(lambda: 1 / 0)

"""JSON over HTTP for servers whose API the openai library does not speak."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2

from monjyu_core.models.clients.model_server import Server


class JsonHttp:
    """POST to one server. Raises the errors of `monjyu_core.models.call_errors`."""

    def __init__(self, server: Server, timeout: float) -> None:
        self._server = server
        self._http = server.http_client(timeout)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        with _our_errors(self._server):
            response = await self._http.post(self._server.address + path, json=body)
            self._check(response)
            return response.json()

    async def lines(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        """The answer's lines, each parsed, as they come. Closing the iterator closes the connection."""
        with _our_errors(self._server):
            async with self._http.stream("POST", self._server.address + path, json=body) as response:
                if not response.is_success:
                    await response.aread()
                self._check(response)
                async for line in response.aiter_lines():
                    if line.strip():
                        yield json.loads(line)

    async def close(self) -> None:
        await self._http.aclose()

    def _check(self, response: httpx2.Response) -> None:
        if not response.is_success:
            raise self._server.refusal(response.status_code, response.headers, _body(response))


@contextmanager
def _our_errors(server: Server) -> Iterator[None]:
    """Theirs are not chained: they hold requests with keys."""
    try:
        yield
    except httpx2.TimeoutException:
        raise server.late() from None
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise server.unreachable(error) from None
    except ValueError as error:
        raise server.malformed(f"{type(error).__name__}: {error}") from None


def _body(response: httpx2.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return response.text

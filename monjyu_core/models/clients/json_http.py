"""JSON over HTTP to one server: whole answers, and streams of them as server-sent events or lines."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any

import httpx2

from monjyu_core.models.clients.model_server import Server

MOST_OF_ANSWER = 256 * 2**20
"""Bytes of an answer: 2,048 vectors of 3,072 dimensions as text are half of it."""
MOST_OF_LINE = 8 * 2**20
"""Characters of one event of a stream."""
DONE = "[DONE]"
"""What OpenAI's streams end with."""


class JsonHttp:
    """POST to one server. Raises the errors of `monjyu_core.models.call_errors`."""

    def __init__(self, server: Server, timeout: float) -> None:
        self._server = server
        self._url = server.address + server.path
        self._http = server.http_client(timeout)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer, parsed."""
        with _our_errors(self._server):
            async with self._http.stream("POST", self._url + path, json=body) as response:
                return json.loads(await self._whole(response))

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        """The events or lines of a streamed answer, each parsed, as they come; `DONE` where the server sends it. One
        value where the server does not stream. Closing the iterator closes the connection."""
        with _our_errors(self._server):
            async with self._http.stream("POST", self._url + path, json=body) as response:
                kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if not response.is_success or kind == "application/json":
                    yield json.loads(await self._whole(response))
                    return
                async with aclosing(_lines(response)) as lines:
                    async for line in lines:
                        if (data := _data_of(line)) is not None:
                            yield DONE if data == DONE else json.loads(data)

    async def close(self) -> None:
        await self._http.aclose()

    async def _whole(self, response: httpx2.Response) -> bytes:
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > MOST_OF_ANSWER:
                raise ValueError(f"more than {MOST_OF_ANSWER >> 20} MiB")
        if not response.is_success:
            text = content.decode("utf-8", "replace")
            try:
                said = json.loads(text)
            except (ValueError, RecursionError):
                said = text
            raise self._server.refusal(response.status_code, response.headers, said)
        return bytes(content)


async def _lines(response: httpx2.Response) -> AsyncGenerator[str, None]:
    """Lines as they come. ValueError for one that does not end."""
    held = ""
    async for text in response.aiter_text():
        *lines, held = (held + text).split("\n")
        for line in lines:
            yield line
        if len(held) > MOST_OF_LINE:
            raise ValueError(f"a line of more than {MOST_OF_LINE >> 20} million characters")
    yield held


def _data_of(line: str) -> str | None:
    """What an event's line or a line of JSON holds; None for comments, names of events and empty lines."""
    line = line.strip().removeprefix("\ufeff")
    if line.startswith("data:"):
        return line.removeprefix("data:").strip() or None
    return line if line[:1] in ("{", "[", "<") else None


@contextmanager
def _our_errors(server: Server) -> Iterator[None]:
    """Raise our errors for those of the library. Theirs are not chained: they hold requests with keys."""
    try:
        yield
    except httpx2.TimeoutException:
        raise server.late() from None
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
        raise server.unreachable(error) from None
    except (ValueError, RecursionError) as error:
        raise server.malformed(f"{type(error).__name__}: {error}") from None

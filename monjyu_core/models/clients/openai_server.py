"""The openai library held to one server: no environment, no retries of its own, its exceptions in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import openai

from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.clients.model_server import Server

if TYPE_CHECKING:
    from openai import AsyncOpenAI

AZURE_API_VERSION = "2024-10-21"
"""The newest version that Azure OpenAI calls stable and that has JSON schemas and streamed usage."""

_NOT_SUPPORTED = re.compile(r"unsupported|not support|unknown|unrecognized|unexpected|extra (?:input|field)s?", re.I)
_UNSENT = "-"
"""Stands in for the key inside the library, which wants one; the header is ours."""


def openai_library(server: Server, timeout: float) -> AsyncOpenAI:
    """A client of any server with OpenAI's API."""
    return openai.AsyncOpenAI(
        base_url=server.address,
        api_key=_UNSENT,
        max_retries=0,
        timeout=timeout,
        http_client=server.http_client(timeout),
    )


def azure_library(server: Server, api_version: str | None, timeout: float) -> AsyncOpenAI:
    """A client of one deployment of an Azure OpenAI resource."""
    return openai.AsyncAzureOpenAI(
        azure_endpoint=server.address,
        azure_deployment=server.model,
        api_version=api_version or AZURE_API_VERSION,
        api_key=_UNSENT,
        azure_ad_token=None,
        max_retries=0,
        timeout=timeout,
        http_client=server.http_client(timeout),
    )


@contextmanager
def our_errors(server: Server) -> Iterator[None]:
    """Raises the errors of `monjyu_core.models.call_errors` for those of the libraries. Theirs are not chained:
    they hold requests with keys."""
    try:
        yield
    except openai.APIError as error:
        raise _ours(error, server) from None
    except httpx2.TimeoutException:
        raise server.late() from None
    except (httpx2.HTTPError, httpx2.StreamError, openai.OpenAIError) as error:
        raise server.unreachable(error) from None
    except ValueError as error:
        raise server.malformed(f"{type(error).__name__}: {error}") from None


def _ours(error: openai.APIError, server: Server) -> ModelCallError:
    if isinstance(error, openai.APITimeoutError):
        return server.late()
    if isinstance(error, openai.APIConnectionError):
        return server.unreachable(error)
    if isinstance(error, openai.APIStatusError):
        return server.refusal(error.status_code, error.response.headers, error.body or error.response.text)
    if isinstance(error, openai.APIResponseValidationError):
        return server.malformed(error.message)
    return server.refusal(status_in(error.body), {}, error.body or error.message)


def status_in(body: object) -> int:
    """The status that an error names which came with status 200, as in mid-stream; 500 where it names none."""
    code = body.get("code") or body.get("status") if isinstance(body, dict) else None
    text = str(code)
    if text in ("rate_limit_exceeded", "429"):
        return 429
    return int(text) if text.isdecimal() and 400 <= int(text) < 600 else 500


class Parameters:
    """The parameters of a call that a server refuses by name, learned from its refusals; the call goes on without."""

    def __init__(self, optional: Mapping[str, str | None]) -> None:
        """`optional`: parameters that may be left out, or are sent under another name where one is given."""
        self._optional = optional
        self._refused: set[str] = set()

    def accepted(self, call: Mapping[str, Any]) -> dict[str, Any]:
        sent = {name: value for name, value in call.items() if name not in self._refused}
        for name in self._refused & call.keys():
            other = self._optional[name]
            if other:
                sent[other] = call[name]
        return sent

    def learned(self, error: openai.APIStatusError, sent: Mapping[str, Any]) -> bool:
        """Whether the refusal is of such a parameter, which will not be sent again."""
        if error.status_code not in (400, 422) or not _NOT_SUPPORTED.search(f"{error.code} {error.message}"):
            return False
        named = [name for name in self._optional if name in sent and _names(error, name)]
        self._refused.update(named[:1])
        return bool(named)


def _names(error: openai.APIStatusError, parameter: str) -> bool:
    return error.param == parameter or bool(re.search(rf"\b{parameter}\b", error.message))

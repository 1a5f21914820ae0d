"""Calls through Microsoft's clients. Their errors contain requests with headers, so they become Monjyu's errors."""

import re
from collections.abc import Callable
from typing import TypeVar

from monjyu_core.errors import ExternalAPIError

T = TypeVar("T")
_HINTS = {
    401: "Its key is wrong or has expired.",
    403: "The key or identity may not use it: see docs/azure.md.",
    404: "Check its endpoint.",
}


class AzureAnswer(ExternalAPIError):
    """The service answered with an error; `status` is the HTTP status, `code` the service's own code."""

    def __init__(self, name: str, status: int, code: str) -> None:
        told = f" ({code})" if code and code != str(status) else ""
        super().__init__(f"{name} answered {status}{told}.", _HINTS.get(status, "Try again later."))
        self.status = status
        self.code = code


def called(name: str, call: Callable[[], T]) -> T:
    """Return the call's result. Raises AzureAnswer or ExternalAPIError if it fails; `name` is the service's."""
    from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

    try:
        return call()
    except HttpResponseError as error:
        status = error.status_code or 0
        code = re.sub(r"[^A-Za-z0-9_]", "", str(getattr(error.error, "code", None) or status))[:60]
        raise AzureAnswer(name, status, code) from None
    except ClientAuthenticationError:
        raise ExternalAPIError("No identity could sign in to Azure.", "Run `az login`, or set the key.") from None
    except AzureError as error:
        kind = type(error).__name__
        raise ExternalAPIError(
            f"{name} could not be reached ({kind}).", "Check its endpoint and the network."
        ) from None

"""One document to Document Intelligence and its analysis back, by Microsoft's client."""

from __future__ import annotations

import re
import threading
import time
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from monjyu_assets.sources.records import MODEL
from monjyu_core.azure.calls import AzureAnswer, called
from monjyu_core.azure.credentials import credential_for, endpoint_of
from monjyu_core.errors import ExternalAPIError, MonjyuError
from monjyu_core.settings.azure import AzureSettings

if TYPE_CHECKING:
    from azure.ai.documentintelligence import DocumentIntelligenceClient

NAME = "Document Intelligence"
API_VERSION = "2024-11-30"
LONGEST_WAIT = 30.0
"""Seconds between two looks at an operation, whatever the service asks for."""
_OPERATION = re.compile(r"/analyzeResults/([A-Za-z0-9-]{1,100})(?:\?|$)")


class DocumentRefused(MonjyuError):
    """The service will never analyse this document; `code` is its reason."""

    def __init__(self, code: str) -> None:
        super().__init__(f"Document Intelligence refuses the document ({code}).")
        self.code = code


class OperationGone(MonjyuError):
    """The service knows the operation no more."""


class AnalysisLate(MonjyuError):
    """The service still works on the document."""


class AnalysisClient:
    """For several threads. Every failure is told in our words: theirs hold requests with headers."""

    def __init__(self, azure: AzureSettings) -> None:
        service = azure.document_intelligence
        self._settings = service
        self._stopped = threading.Event()
        self._endpoint = endpoint_of(service, "document_intelligence")
        credential = credential_for(service, "document_intelligence", azure.credential)
        from azure.ai.documentintelligence import DocumentIntelligenceClient

        self._client: DocumentIntelligenceClient = DocumentIntelligenceClient(
            self._endpoint,
            credential,
            api_version=API_VERSION,
            connection_timeout=service.timeout_seconds,
            read_timeout=service.timeout_seconds,
            retry_total=service.retries,
            retry_backoff_max=LONGEST_WAIT,
            permit_redirects=False,
        )

    def __enter__(self) -> AnalysisClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._client.close()

    def stop(self) -> None:
        """Let nobody wait for an analysis any longer: a run that is interrupted ends at once."""
        self._stopped.set()

    def custom_models(self) -> int:
        """How many models of its own the resource has: a question that costs nothing."""
        from azure.core.rest import HttpRequest

        address = f"{self._endpoint}/documentintelligence/info"
        request = HttpRequest("GET", address, params={"api-version": API_VERSION})
        answer = called(NAME, lambda: _read(self._client.send_request(request)))
        found = answer.get("customDocumentModels")
        return int(found["count"]) if isinstance(found, dict) and isinstance(found.get("count"), int) else 0

    def begin(self, path: Path) -> str:
        """Send a document, which is paid; the id of the operation. Raises DocumentRefused, ExternalAPIError."""
        told: list[str] = []

        def hear(response: Any) -> None:
            told.append(response.http_response.headers.get("Operation-Location", ""))

        features = ["formulas"] if self._settings.formulas else None
        with path.open("rb") as file:
            send = partial(
                self._client.begin_analyze_document,
                MODEL,
                file,
                content_type="application/octet-stream",
                features=features,
                string_index_type="unicodeCodePoint",
                polling=False,
                raw_response_hook=hear,
            )
            try:
                called(NAME, send)
            except AzureAnswer as error:
                if error.status in (400, 413, 415, 422):
                    raise DocumentRefused(error.code) from None
                raise
        found = _OPERATION.search(told[-1]) if told else None
        if found is None:
            raise ExternalAPIError("Document Intelligence named no operation.", "See its endpoint.")
        return found[1]

    def result(self, operation: str) -> dict[str, Any]:
        """The analysis of an operation, when it is done. Only the endpoint of the settings is asked, whatever address
        the service gives. Raises DocumentRefused, OperationGone, AnalysisLate, ExternalAPIError."""
        from azure.core.rest import HttpRequest

        path = f"/documentintelligence/documentModels/{MODEL}/analyzeResults/{operation}"
        request = HttpRequest("GET", f"{self._endpoint}{path}", params={"api-version": API_VERSION})
        end = time.monotonic() + self._settings.wait_seconds
        while True:
            response = called(NAME, partial(self._client.send_request, request))
            if response.status_code == 404:
                raise OperationGone(f"Operation {operation} is gone.")
            answer = called(NAME, partial(_read, response))
            if answer.get("status") == "succeeded" and isinstance(answer.get("analyzeResult"), dict):
                return dict(answer["analyzeResult"])
            if answer.get("status") in ("failed", "canceled"):
                raise DocumentRefused(_code(answer))
            wait = _seconds(response.headers.get("Retry-After"))
            if time.monotonic() + wait > end:
                raise AnalysisLate(f"An analysis is not done after {self._settings.wait_seconds:g} s.")
            if self._stopped.wait(wait):
                raise ExternalAPIError("The run was stopped.", "The next run asks for the analysis.")


def _read(response: Any) -> dict[str, Any]:
    from azure.core.exceptions import HttpResponseError

    response.raise_for_status()
    try:
        answer = response.json()
    except ValueError:
        raise HttpResponseError("no JSON", response=response) from None
    return answer if isinstance(answer, dict) else {}


def _code(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return re.sub(r"[^A-Za-z0-9_]", "", str(code or "failed"))[:60]


def _seconds(header: str | None) -> float:
    try:
        return min(max(float(header or 1.0), 0.02), LONGEST_WAIT)
    except ValueError:
        return 1.0

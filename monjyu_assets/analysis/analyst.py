"""Selects the papers of a run that Document Intelligence analyses, and sends them within the limits on cost."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from monjyu_assets.sources.records import MODEL, StoredAnalyses, analysed_types
from monjyu_assets.work.run_limits import current_cap
from monjyu_assets.work.work import Work
from monjyu_core.azure.calls import AzureAnswer, called
from monjyu_core.azure.credentials import credential_for, endpoint_of
from monjyu_core.errors import DocumentError, EmptyDocument, ExternalAPIError, MonjyuError, ScannedDocument
from monjyu_core.models.call_errors import CostCapReached
from monjyu_core.models.caps import Reservation, SpendingCap, cap_per_run
from monjyu_core.models.ledger import Entry, Scope, Status
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.azure import AzureSettings, DocumentIntelligenceSettings
from monjyu_core.values import Values

if TYPE_CHECKING:
    from azure.ai.documentintelligence import DocumentIntelligenceClient


NAME = "Document Intelligence"
API_VERSION = "2024-11-30"
LONGEST_WAIT = 30.0
"""The maximum seconds between two polls of an operation, even if the service asks for more."""
_OPERATION = re.compile(r"/analyzeResults/([A-Za-z0-9-]{1,100})(?:\?|$)")


class DocumentRefused(MonjyuError):
    """The service refuses to analyse a document. `code` is its reason."""

    def __init__(self, code: str) -> None:
        super().__init__(f"Document Intelligence refuses the document ({code}).")
        self.code = code


class OperationExpired(MonjyuError):
    """The service no longer has an operation."""


class AnalysisLate(MonjyuError):
    """The service has not finished an analysis in time."""


class AnalysisClient:
    """A thread-safe client of Document Intelligence. Errors have Monjyu's own messages, because those of Microsoft's
    library can contain request headers."""

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
        """Stop waiting for analyses, so that an interrupted run ends immediately."""
        self._stopped.set()

    def custom_models(self) -> int:
        """The number of custom models of the resource. This request costs nothing."""
        from azure.core.rest import HttpRequest

        address = f"{self._endpoint}/documentintelligence/info"
        request = HttpRequest("GET", address, params={"api-version": API_VERSION})
        answer = called(NAME, lambda: _read(self._client.send_request(request)))
        found = answer.get("customDocumentModels")
        return int(found["count"]) if isinstance(found, dict) and isinstance(found.get("count"), int) else 0

    def begin(self, path: Path) -> str:
        """Send a document, which costs money; return the operation's id. Raises DocumentRefused, ExternalAPIError."""
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
            raise ExternalAPIError("Document Intelligence returned no operation.", "Check its endpoint.")
        return found[1]

    def result(self, operation: str) -> Values:
        """Wait for an operation, and return its analysis. Only the configured endpoint is called, never an address that
        the service returns. Raises DocumentRefused, OperationExpired, AnalysisLate or ExternalAPIError."""
        from azure.core.rest import HttpRequest

        path = f"/documentintelligence/documentModels/{MODEL}/analyzeResults/{operation}"
        request = HttpRequest("GET", f"{self._endpoint}{path}", params={"api-version": API_VERSION})
        end = time.monotonic() + self._settings.wait_seconds
        while True:
            response = called(NAME, partial(self._client.send_request, request))
            if response.status_code == 404:
                raise OperationExpired(f"Operation {operation} no longer exists.")
            answer = called(NAME, partial(_read, response))
            if answer.get("status") == "succeeded" and isinstance(answer.get("analyzeResult"), dict):
                return dict(answer["analyzeResult"])
            if answer.get("status") in ("failed", "canceled"):
                raise DocumentRefused(_code(answer))
            wait = _seconds(response.headers.get("Retry-After"))
            if time.monotonic() + wait > end:
                raise AnalysisLate(f"An analysis is not done after {self._settings.wait_seconds:g} s.")
            if self._stopped.wait(wait):
                raise ExternalAPIError("The run was stopped.", "The next run fetches the analysis.")


def _read(response: Any) -> Values:
    from azure.core.exceptions import HttpResponseError

    response.raise_for_status()
    try:
        answer = response.json()
    except ValueError:
        raise HttpResponseError("no JSON", response=response) from None
    return answer if isinstance(answer, dict) else {}


def _code(answer: Values) -> str:
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return re.sub(r"[^A-Za-z0-9_]", "", str(code or "failed"))[:60]


def _seconds(header: str | None) -> float:
    try:
        return min(max(float(header or 1.0), 0.02), LONGEST_WAIT)
    except ValueError:
        return 1.0


PROVIDER = "azure_document_intelligence"
LEAST_KEPT = 0.5
"""The minimum share of a document's characters that the local parser must extract."""


@dataclass(frozen=True)
class Wanted:
    """A document to analyse: its file, which is named by its hash, and its number of pages, 0 if unknown."""

    path: Path
    pages: int

    @property
    def sha256(self) -> str:
        return self.path.name


class Analyst:
    """Selects papers for Document Intelligence (`wants`) and sends them (`analyse`)."""

    def __init__(self, work: Work, asset: str) -> None:
        self._work = work
        self._asset = asset
        self._pdf = work.settings.pdf
        self._settings = work.settings.azure.document_intelligence
        self._types = analysed_types(work.settings)
        self._kept = StoredAnalyses(work.folder, formulas=self._settings.formulas)
        self._cap: SpendingCap = current_cap() or cap_per_run(work.settings.spending)
        self._sent = 0
        self._lock = threading.Lock()
        self._stopped = False
        if self.in_use:
            endpoint_of(self._settings, "document_intelligence")
            credential_for(self._settings, "document_intelligence", work.settings.azure.credential)

    @property
    def in_use(self) -> bool:
        return bool(self._types)

    def wants(self, document_type: str, sha256: str, outcome: ParsedPaper | DocumentError) -> bool:
        """Whether the service should read a document, given the result of the local parser. Damaged, locked or too
        large documents are not sent."""
        if document_type not in self._types or self._kept.refused(sha256):
            return False
        if isinstance(outcome, DocumentError):
            return isinstance(outcome, ScannedDocument | EmptyDocument)
        return self._pdf.processor == "document_intelligence" or is_lacking(outcome)

    def analyse(self, wanted: Iterable[Wanted]) -> Iterator[tuple[Wanted, Path | None]]:
        """Yield each document with the path of its analysis; None without one, so that the run continues."""
        fresh = []
        for one in wanted:
            if (path := self._kept.found(one.sha256)) is None:
                fresh.append(one)
            else:
                yield one, path
        if not fresh:
            return
        self._work.progress("analyse", 0, len(fresh))
        with (
            AnalysisClient(self._work.settings.azure) as client,
            ThreadPoolExecutor(self._settings.concurrency) as pool,
        ):
            try:
                paths = pool.map(lambda one: self._analysed(client, one), fresh)
                for done, (one, made) in enumerate(zip(fresh, paths, strict=True), start=1):
                    self._work.progress("analyse", done, len(fresh))
                    yield one, made
            finally:
                client.stop()

    def _analysed(self, client: AnalysisClient, wanted: Wanted) -> Path | None:
        if self._stopped:
            return None
        try:
            return self._read(client, wanted)
        except DocumentRefused as error:
            self._kept.refuse(wanted.sha256, error.code)
            return None
        except AnalysisLate as error:
            self._work.warn(f"{error} The next run fetches it.")
        except CostCapReached as error:
            self._stop(str(error))
        except ExternalAPIError as error:
            self._note(0, 0.0, 0.0, error)
            self._stop(f"{error} Until the next run, the papers that wait for it are parsed on this machine.")
        return None

    def _read(self, client: AnalysisClient, wanted: Wanted) -> Path | None:
        begun, operation = time.monotonic(), self._kept.pending(wanted.sha256)
        if operation is not None:
            try:
                return self._take(wanted, client.result(operation), begun)
            except OperationExpired:
                self._kept.given_up(wanted.sha256)
        if not self._admitted(wanted.pages):
            most = self._settings.max_pages_per_run
            self._stop(f"azure.document_intelligence.max_pages_per_run ({most}) is reached; the next run continues.")
            return None
        with self._reserved(self._cost(max(wanted.pages, 1))):
            operation = client.begin(wanted.path)
            self._kept.begun(wanted.sha256, operation)
        return self._take(wanted, client.result(operation), begun)

    def _reserved(self, expected: float) -> Reservation:
        while (reservation := self._cap.try_reserve(expected)) is None:
            time.sleep(0.05)
        return reservation

    def _take(self, wanted: Wanted, result: dict[str, object], begun: float) -> Path:
        pages = result.get("pages")
        count = len(pages) if isinstance(pages, list) else wanted.pages
        self._note(count, self._cost(count), time.monotonic() - begun)
        return self._kept.keep(wanted.sha256, result)

    def _cost(self, pages: int) -> float:
        return page_price(self._settings) * pages

    def _admitted(self, pages: int) -> bool:
        """Whether `pages` further pages stay within the limit of the run; if so, they are counted."""
        most = self._settings.max_pages_per_run
        with self._lock:
            if most and self._sent + max(pages, 1) > most:
                return False
            self._sent += max(pages, 1)
            return True

    def _note(self, pages: int, cost: float, seconds: float, error: MonjyuError | None = None) -> None:
        scope = Scope("asset", self._asset, 0, self._work.name, run_id=self._work.run_id or None)
        status: Status = "failed" if error else "ok"
        name = type(error).__name__ if error else None
        self._work.accounting.ledger.record(
            Entry(scope, "read", MODEL, PROVIDER, seconds=seconds, cost_usd=cost, status=status, error=name)
        )

    def _stop(self, why: str) -> None:
        """Send nothing more in this run, and warn once with the reason."""
        with self._lock:
            said, self._stopped = self._stopped, True
        if not said:
            self._work.warn(why)


def is_lacking(paper: ParsedPaper) -> bool:
    """Whether the result of the local parser is insufficient: no title, less than half of the text, pages without text,
    or an academic paper without references."""
    kept = sum(len("".join(section.text.split())) for section in paper.sections)
    lost = bool(paper.raw_characters) and kept < LEAST_KEPT * (paper.raw_characters or 0)
    bare = paper.is_academic_paper and not paper.references
    return not paper.title.strip() or lost or bare or bool(paper.unread_pages)


def page_price(settings: DocumentIntelligenceSettings) -> float:
    """The price in US dollars per page."""
    formulas = settings.formula_price_per_1000_pages if settings.formulas else 0.0
    return (settings.price_per_1000_pages + formulas) / 1000

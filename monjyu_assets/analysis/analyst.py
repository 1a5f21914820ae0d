"""Which papers of a run are analysed by Document Intelligence, within what they may cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from monjyu_assets.analysis.client import AnalysisClient, AnalysisLate, DocumentRefused, OperationGone
from monjyu_assets.sources.records import MODEL, AnalysesKept, analysed_types
from monjyu_assets.work.run_limits import current_cap
from monjyu_assets.work.work import Work
from monjyu_core.azure.credentials import credential_for, endpoint_of
from monjyu_core.errors import DocumentError, EmptyDocument, ExternalAPIError, MonjyuError, ScannedDocument
from monjyu_core.models.call_errors import CostCapReached
from monjyu_core.models.caps import Reservation, SpendingCap, cap_per_run
from monjyu_core.models.ledger import Entry, Scope, Status
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.azure import DocumentIntelligenceSettings

PROVIDER = "azure_document_intelligence"
LEAST_KEPT = 0.5
"""Share of a document's visible characters below which its own parser has failed."""


@dataclass(frozen=True)
class Wanted:
    """A document to be analysed: its file, named by its hash, and its pages as far as they are known."""

    path: Path
    pages: int

    @property
    def sha256(self) -> str:
        return self.path.name


class Analyst:
    """`wants` says which papers the service is to read, `analyse` has them read."""

    def __init__(self, work: Work, asset: str) -> None:
        self._work = work
        self._asset = asset
        self._pdf = work.settings.pdf
        self._settings = work.settings.azure.document_intelligence
        self._types = analysed_types(work.settings)
        self._kept = AnalysesKept(work.folder, formulas=self._settings.formulas)
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
        """Whether the service is to read what the parser on this machine made this of. What that found to be damaged,
        locked or too large is not sent."""
        if document_type not in self._types or self._kept.refused(sha256):
            return False
        if isinstance(outcome, DocumentError):
            return isinstance(outcome, ScannedDocument | EmptyDocument)
        return self._pdf.processor == "document_intelligence" or is_lacking(outcome)

    def analyse(self, wanted: Iterable[Wanted]) -> Iterator[tuple[Wanted, Path | None]]:
        """Each with its analysis, kept or new; None where there is none now. The rest of the run goes on without."""
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
            self._work.warn(f"{error} The next run asks for it.")
        except CostCapReached as error:
            self._stop(str(error))
        except ExternalAPIError as error:
            self._note(0, 0.0, 0.0, error)
            self._stop(f"{error} Papers that wait for it are read on this machine until the next run.")
        return None

    def _read(self, client: AnalysisClient, wanted: Wanted) -> Path | None:
        begun, operation = time.monotonic(), self._kept.pending(wanted.sha256)
        if operation is not None:
            try:
                return self._take(wanted, client.result(operation), begun)
            except OperationGone:
                self._kept.given_up(wanted.sha256)
        if not self._admitted(wanted.pages):
            most = self._settings.max_pages_per_run
            self._stop(f"azure.document_intelligence.max_pages_per_run ({most}) is reached; the next run goes on.")
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
        """Whether these pages stay below the cap of the run; then they count."""
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
        """Say it once, and send nothing more in this run."""
        with self._lock:
            said, self._stopped = self._stopped, True
        if not said:
            self._work.warn(why)


def is_lacking(paper: ParsedPaper) -> bool:
    """Whether the parser on this machine failed by what it gave: no title, less than half of the text, or pages without
    any; or an academic paper without references."""
    kept = sum(len("".join(section.text.split())) for section in paper.sections)
    lost = bool(paper.raw_characters) and kept < LEAST_KEPT * (paper.raw_characters or 0)
    bare = paper.is_academic_paper and not paper.references
    return not paper.title.strip() or lost or bare or bool(paper.unread_pages)


def page_price(settings: DocumentIntelligenceSettings) -> float:
    """US dollars a page."""
    formulas = settings.formula_price_per_1000_pages if settings.formulas else 0.0
    return (settings.price_per_1000_pages + formulas) / 1000

"""Asks scholarly services about papers that they were not asked about recently. Answers are stored immediately, so an
interrupted run continues where it stopped. A service that failed is asked again in the next run."""

import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from monjyu_assets.scholarly.record import SOURCES, record_of
from monjyu_assets.scholarly.record_matching import Lookup, best_match
from monjyu_assets.scholarly.services import ServiceClient, ServiceRequest, id_requests, title_requests
from monjyu_core.errors import StorageError
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.settings.papers import ScholarlyService, ScholarlySettings
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.state_store import private_database

# Answers of the services are stored unchanged by the hash of the paper's file, so that each paper is requested once in
# `scholarly.refresh_days` days. Answers about removed papers are removed with them.
FILE = "scholarly.sqlite"
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    sha256 TEXT NOT NULL, service TEXT NOT NULL, asked TEXT NOT NULL, at REAL NOT NULL, works BLOB NOT NULL,
    PRIMARY KEY (sha256, service)) WITHOUT ROWID"""
_CHUNK = 500


@dataclass(frozen=True)
class Answer:
    """The works that a service returned for a paper, as it sent them. `sha256` is the hash of the paper's file, `asked`
    the hash of the request, and `at` its time in seconds since 1970."""

    sha256: str
    service: str
    asked: str
    at: float
    works: tuple[Any, ...]


class LookupAnswers:
    """The answers stored for one collection, in a SQLite file."""

    def __init__(self, folder: CollectionFolder) -> None:
        self._path = folder.root / FILE

    def put(self, answers: Iterable[Answer]) -> None:
        rows = [(a.sha256, a.service, a.asked, a.at, zlib.compress(json.dumps(a.works).encode())) for a in answers]
        with self._connect() as connection:
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", rows)

    def when(self, service: str) -> dict[str, tuple[str, float]]:
        """The hash and time (seconds since 1970) of the last request about each paper, by its file's SHA-256."""
        if not self._path.is_file():
            return {}
        with self._connect() as connection:
            rows = connection.execute("SELECT sha256, asked, at FROM answers WHERE service = ?", (service,))
            return {sha256: (asked, at) for sha256, asked, at in rows}

    def read(self, service: str, contents: Collection[str]) -> Iterator[Answer]:
        """The stored answers of a service about the papers whose files have the hashes `contents`."""
        if not self._path.is_file():
            return
        wanted = sorted(contents)
        with self._connect() as connection:
            for start in range(0, len(wanted), _CHUNK):
                some = wanted[start : start + _CHUNK]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT * FROM answers WHERE service = ? AND sha256 IN ({marks})", (service, *some)
                )
                for sha256, name, asked, at, works in rows:
                    yield Answer(sha256, name, asked, at, tuple(json.loads(zlib.decompress(works))))

    def version(self, services: Iterable[str], contents: Collection[str]) -> str:
        """A hash of the answers of `services` about the papers `contents`. It changes with every new answer."""
        known: Mapping[str, Mapping[str, tuple[str, float]]] = {service: self.when(service) for service in services}
        lines = [
            f"{service} {sha256} {at}"
            for service, rows in sorted(known.items())
            for sha256, (_, at) in sorted(rows.items())
            if sha256 in contents
        ]
        return digest(*lines)

    def forget_others(self, contents: Collection[str]) -> None:
        """Remove the answers about all papers but those with the hashes `contents`, and overwrite them in the file."""
        if not self._path.is_file():
            return
        with self._connect() as connection:
            kept = connection.execute("SELECT DISTINCT sha256 FROM answers").fetchall()
            gone = [row for row in kept if row[0] and row[0] not in contents]
            connection.executemany("DELETE FROM answers WHERE sha256 = ?", gone)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            private_database(self._path)
            with closing(sqlite3.connect(self._path, timeout=30)) as connection, connection:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute(_TABLE)
                yield connection
        except sqlite3.Error as error:
            raise StorageError(
                f"{self._path} cannot be used: {error}.", "Remove the file; its content is requested again."
            ) from error


DAY = 86_400.0
PAUSE = 3600.0
"""The seconds for which automatic runs skip a service that failed."""
_OF_NO_PAPER = ""
"""Takes the place of the paper's hash in the record of a service's failure."""


def asked_by(paper: Lookup) -> str:
    """A hash of the fields with which a service is asked about a paper; if they change, the service is asked again."""
    return digest(paper.doi or "", paper.arxiv_id or "", paper.title, " ".join(paper.families), str(paper.year))


def due(kept: LookupAnswers, service: ScholarlyService, papers: Iterable[Lookup], refresh_days: float) -> list[Lookup]:
    """The papers never looked up, looked up with other fields, or more than `refresh_days` ago."""
    known, oldest = kept.when(service), time.time() - refresh_days * DAY
    return [
        paper
        for paper in papers
        if (when := known.get(paper.sha256)) is None or when[0] != asked_by(paper) or when[1] < oldest
    ]


def failed_lately(kept: LookupAnswers, service: ScholarlyService) -> bool:
    """Whether the service has failed within the last hour."""
    failed = kept.when(service).get(_OF_NO_PAPER)
    return failed is not None and time.time() - failed[1] < PAUSE


def ask_services(
    settings: ScholarlySettings,
    kept: LookupAnswers,
    papers: Sequence[Lookup],
    progress: Callable[[str, int, int], None],
    warn: Callable[[str], None],
) -> None:
    """Ask each configured service about the papers that are due. `warn` is called for a service that failed."""
    for service in settings.services:
        waiting = due(kept, service, papers, settings.refresh_days)
        if not waiting:
            continue
        client = ServiceClient(service, settings)
        try:
            run(_ask(client, kept, waiting, progress))
        except ModelCallError as error:
            kept.put([Answer(_OF_NO_PAPER, service, "", time.time(), ())])
            left = len(due(kept, service, papers, settings.refresh_days))
            warn(f"{error} {left} papers wait for {SOURCES[service]} until the next run.")


async def _ask(
    client: ServiceClient, kept: LookupAnswers, papers: list[Lookup], progress: Callable[[str, int, int], None]
) -> None:
    """Ask by identifier, then by title about papers without a result. Papers without any result get an empty answer."""
    waiting = {paper.sha256: paper for paper in papers}

    def keep(found: dict[str, list[object]]) -> None:
        now = time.time()
        kept.put(
            Answer(content, client.service, asked_by(waiting.pop(content)), now, tuple(works))
            for content, works in found.items()
        )
        progress(client.service, len(papers) - len(waiting), len(papers))

    keep({})
    async with client:
        for request in id_requests(client.service, papers):
            keep({content: works for content, works in (await _works(client, request)).items() if works})
        for request in title_requests(client.service, list(waiting.values())):
            keep(await _works(client, request))
    keep({content: [] for content in waiting})


async def _works(client: ServiceClient, request: ServiceRequest) -> dict[str, list[object]]:
    """The returned works that may be one of the requested papers, by the hash of the paper's file."""
    works = await client.works(request)
    records = [(work, record) for work in works if (record := record_of(client.service, work))]
    return {
        paper.sha256: [work for work, record in records if best_match(paper, [record])] for paper in request.lookups
    }

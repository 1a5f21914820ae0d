"""Asks the services for the papers that they were not asked for lately. What was answered is kept at once, so that an
interrupted run goes on where it was; a service that fails is left for the next run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from monjyu_assets.scholarly.answers_kept import Answer, AnswersKept
from monjyu_assets.scholarly.record_matching import Lookup, best_match
from monjyu_assets.scholarly.scholarly_record import SOURCES, record_of
from monjyu_assets.scholarly.service_client import ServiceClient
from monjyu_assets.scholarly.services import ServiceRequest, id_requests, title_requests
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.settings.papers_settings import ScholarlyService, ScholarlySettings
from monjyu_core.storage.ids import digest

DAY = 86_400.0
PAUSE = 3600.0
"""Seconds for which a scheduler leaves a service alone that failed."""
_OF_NO_PAPER = ""
"""Stands for the content where a failure is kept."""


def asked_by(paper: Lookup) -> str:
    """A hash of what a service is asked about a paper: what is read anew from a paper is asked anew."""
    return digest(paper.doi or "", paper.arxiv_id or "", paper.title, " ".join(paper.families), str(paper.year))


def due(kept: AnswersKept, service: ScholarlyService, papers: Iterable[Lookup], refresh_days: float) -> list[Lookup]:
    """The papers that the service was never asked for, was asked for otherwise, or long ago."""
    known, oldest = kept.when(service), time.time() - refresh_days * DAY
    return [
        paper
        for paper in papers
        if (when := known.get(paper.sha256)) is None or when[0] != asked_by(paper) or when[1] < oldest
    ]


def failed_lately(kept: AnswersKept, service: ScholarlyService) -> bool:
    """Whether the service failed within the last hour and was not heard of since."""
    failed = kept.when(service).get(_OF_NO_PAPER)
    return failed is not None and time.time() - failed[1] < PAUSE


def ask_services(
    settings: ScholarlySettings,
    kept: AnswersKept,
    papers: Sequence[Lookup],
    progress: Callable[[str, int, int], None],
    warn: Callable[[str], None],
) -> None:
    """Ask each service of the settings for the papers that are due. `warn` hears of a service that failed."""
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
    client: ServiceClient, kept: AnswersKept, papers: list[Lookup], progress: Callable[[str, int, int], None]
) -> None:
    """By identifier, then by title for those that no work was found for."""
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
    """By the paper's content the works that may be it; of another paper's works none is kept."""
    works = await client.works(request)
    records = [(work, record) for work in works if (record := record_of(client.service, work))]
    return {
        paper.sha256: [work for work, record in records if best_match(paper, [record])] for paper in request.lookups
    }

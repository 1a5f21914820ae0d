"""Works from services and files to the papers of a collection: candidates by identifier or title, then the match."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from monjyu_assets.scholarly.record_matching import Lookup, Match, best_match, first_family, title_key
from monjyu_assets.scholarly.scholarly_record import ScholarlyRecord, record_of


@dataclass(frozen=True)
class FoundRecord:
    """A work that is a paper, as it came (`work`) and as it was understood; `retrieved`: the day (ISO) on which a
    service gave it, None for one of a file."""

    paper_id: str
    match: Match
    work: dict[str, Any]
    retrieved: str | None = None


class PaperIndex:
    """The papers by what a work may be told by."""

    def __init__(self, papers: Mapping[str, Lookup]) -> None:
        self._papers = papers
        self._by: dict[str, list[str]] = defaultdict(list)
        self._contents: dict[str, list[str]] = defaultdict(list)
        for paper_id, paper in papers.items():
            self._contents[paper.sha256].append(paper_id)
            family = paper.families[0] if paper.families else ""
            years = range(paper.year - 1, paper.year + 2) if paper.year and family else ()
            for key in (*_keys(paper.doi, paper.arxiv_id, paper.title), *(f"by {family} {year}" for year in years)):
                self._by[key].append(paper_id)

    def among(self, works: Iterable[tuple[ScholarlyRecord, dict[str, Any]]]) -> Iterator[FoundRecord]:
        """The works of a file that are papers of the collection; nothing of the others is kept."""
        for record, work in works:
            keys = [*_keys(record.doi, record.arxiv_id, record.title), f"by {first_family(record)} {record.year}"]
            near = {one for key in keys for one in self._by.get(key, ())}
            for paper_id in sorted(near):
                match = best_match(self._papers[paper_id], [record])
                if match:
                    yield FoundRecord(paper_id, match, work)

    def of_content(
        self, service: str, sha256: str, works: Iterable[dict[str, Any]], retrieved: str
    ) -> Iterator[FoundRecord]:
        """The best of the works that a service gave for the papers of this content."""
        records = [(record, work) for work in works if (record := record_of(service, work))]
        for paper_id in self._contents.get(sha256, ()):
            match = best_match(self._papers[paper_id], [record for record, _ in records])
            if match:
                work = next(work for record, work in records if record is match.record)
                yield FoundRecord(paper_id, match, work, retrieved)


def _keys(doi: str | None, arxiv_id: str | None, title: str) -> Iterator[str]:
    """With the title also what stands before its colon, for one side may lack the subtitle."""
    if doi:
        yield f"doi {doi}"
    if arxiv_id:
        yield f"arxiv {re.sub(r'v[0-9]+$', '', arxiv_id.lower())}"
    for text in dict.fromkeys((title_key(title), title_key(re.split(r":\s", title, maxsplit=1)[0]))):
        if text:
            yield f"title {text}"

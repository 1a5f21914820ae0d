"""The records of a review with their outcomes: the only source of its counts, lists, tables and exports."""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from monjyu_core.records.reviews import Decision, Override, ReviewState, Screening
from monjyu_core.storage.folders import UNSUPPORTED, read_other_files
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.protocol import Protocol, Source

Outcome = Literal["unsupported", "unreadable", "duplicate", "pending", "excluded", "unsure", "included"]
ELSEWHERE = "Other sources"
"""The name of the source of records that match no source of the protocol."""

_RECORDS = """SELECT m.paper_id, m.source_path, coalesce(p.title, ''), p.year, i.canonical_id,
  CASE WHEN m.document_type = 'duplicate' THEN 'duplicate' WHEN p.paper_id IS NULL THEN 'unreadable'
    WHEN i.canonical_id <> m.paper_id THEN 'duplicate' ELSE 'pending' END,
  coalesce(f.error_type, '')
FROM manifest m LEFT JOIN papers p ON p.paper_id = m.paper_id LEFT JOIN paper_identity i ON i.paper_id = m.paper_id
LEFT JOIN failures f ON f.paper_id = m.paper_id ORDER BY p.year NULLS LAST, coalesce(p.title, ''), m.paper_id"""

_OUTCOMES: dict[Decision, Outcome] = {"include": "included", "exclude": "excluded", "unsure": "unsure"}


@dataclass(frozen=True)
class Record:
    """A file of the sources, or a line of a file. `reason`: the criterion that excludes it or leaves it unsure, a
    person's own words, or why it was not screened. `outdated`: it has changed since a person decided on it."""

    paper_id: str
    source: str
    kind: str
    title: str
    year: int | None
    outcome: Outcome
    reason: str = ""
    by: Literal["", "automation", "human"] = ""
    screening: Screening | None = None
    override: Override | None = None
    outdated: bool = False


def review_records(index: OpenIndex, protocol: Protocol, state: ReviewState) -> list[Record]:
    """Return the records of the snapshot, by year and title, each with its outcome; then the files of unsupported types
    that the last scan found (they are in no snapshot)."""
    rows = index.snapshot.cursor().execute(_RECORDS).fetchall()
    same = {paper_id: same_as or paper_id for paper_id, _, _, _, same_as, _, _ in rows}
    decided = sorted(
        state.overrides.items(), key=lambda one: one[1].at
    )  # they may name any file of a paper; the latest counts
    overrides = {same.get(paper_id, paper_id): one for paper_id, one in decided}
    records = []
    for paper_id, path, title, year, same_as, outcome, error in rows:
        source = _source_of(protocol, path, index)
        base = Record(paper_id, source.name, source.kind, title, year, outcome)
        if outcome == "pending":
            records.append(_screened(base, state.screened.get(paper_id), overrides.get(paper_id)))
        else:
            reason = same_as if outcome == "duplicate" and same_as != paper_id else error
            records.append(replace(base, reason=reason or ""))
    return records + _unsupported(index, protocol)


def _screened(base: Record, screening: Screening | None, override: Override | None) -> Record:
    """Return the record with its outcome; a person's decision overrides that of a run."""
    if override is not None:
        return replace(
            base,
            outcome="included" if override.decision == "include" else "excluded",
            reason=override.criterion or override.reason,
            by="human",
            screening=screening,
            override=override,
            outdated=screening is not None and screening.key != override.key,
        )
    if screening is None:
        return base
    outcome = _OUTCOMES[screening.decision]
    return replace(base, outcome=outcome, reason=screening.criterion, by="automation", screening=screening)


def _source_of(protocol: Protocol, path: str, index: OpenIndex) -> Source:
    """Return the first source whose pattern matches the file's path, or else the source without a pattern if there is
    exactly one, or else `ELSEWHERE`. Without sources in the protocol, the source is the collection."""
    if not protocol.sources:
        return Source(name=index.snapshot.collection.name)
    for source in protocol.sources:
        if source.path and fnmatchcase(path, source.path):
            return source
    bare = [source for source in protocol.sources if source.path is None]
    return bare[0] if len(bare) == 1 else Source(name=ELSEWHERE)


def _unsupported(index: OpenIndex, protocol: Protocol) -> list[Record]:
    found = read_other_files(index.snapshot.collection)
    told = [
        Record(one.source_path, source.name, source.kind, "", None, "unsupported", one.error_type)
        for one in found.unsupported
        for source in (_source_of(protocol, one.source_path, index),)
    ]
    more = found.unsupported_count - len(told)
    elsewhere = _source_of(protocol, "", index)
    return told + [Record("", elsewhere.name, elsewhere.kind, "", None, "unsupported", UNSUPPORTED)] * more

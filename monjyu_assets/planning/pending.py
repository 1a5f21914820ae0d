"""Determines a collection's pending work from its sources, code, settings, computed and published state."""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
from pydantic import BaseModel

from monjyu_assets.planning.staleness import stale_collection_assets, stale_level, stale_shards
from monjyu_assets.publishing.publish import is_published
from monjyu_assets.sources.walking import types_hint
from monjyu_assets.stages import paper_manifest as manifest
from monjyu_assets.work.closed_set import ALL_FAILURES, HIGHEST, Cause, complete_level, failure_causes
from monjyu_assets.work.work import Work
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.collection import target_level
from monjyu_core.storage.folders import OtherFiles, UnsupportedFile
from monjyu_core.storage.rows_papers import FailureRow
from monjyu_core.storage.snapshot import read_current


# The models below are the output of `monjyu index` and `monjyu upgrade`.
class PaperCounts(BaseModel):
    """The numbers of papers by change. `unsupported` files have a type that Monjyu does not read; `skipped` files are
    ignored for a reason that `monjyu status --files` shows. The other counts do not include these files."""

    total: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: int = 0
    unsupported: int = 0
    skipped: int = 0


class Failure(BaseModel):
    """A paper that could not be read or, with `asset`, a paper of which some chunks have no vector or no result at
    levels 2 to 4."""

    source_path: str
    error_type: str
    message: str
    asset: str | None = None


class Usage(BaseModel):
    """The model calls of a run, with their tokens and cost."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class IndexResult(BaseModel):
    """The result of an index run, as `monjyu index --json` prints it. `unsupported` lists up to a thousand files."""

    collection: str
    level: int
    snapshot_id: str
    papers: PaperCounts
    chunks: int
    seconds: float
    usage: Usage
    failures: list[Failure]
    causes: list[Cause] = []
    behind: list[str] = []
    unsupported: list[UnsupportedFile] = []


def failure_rows(work: Work) -> list[Failure]:
    rows = [row for part in work.parts.heads("failures") if part.rows for row in part.records(FailureRow)]
    rows.sort(key=lambda row: (row["source_path"], row["paper_id"]))
    return [
        Failure(source_path=row["source_path"], error_type=row["error_type"], message=row["message"]) for row in rows
    ]


def level_failures(work: Work) -> list[Failure]:
    """The failures of embeddings and of engines of levels 2 to 4, one per paper (or `(communities)`), asset, cause."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    paths: dict[str, str] = {}
    for asset, table in ALL_FAILURES.items():
        rows = [row for part in work.parts.heads(table) if part.rows for row in part.read().to_pylist()]
        for row in rows:
            if row["failed"]:
                paths = paths or _paths(work)
                where = paths.get(row["paper_id"], row["paper_id"]) if "paper_id" in row else "(communities)"
                why = f"{row['paper_id']}: {row['message']}" if asset == "chunk_embeddings" else ""
                counts[where, row["error_type"], asset, why] += 1
    return [
        Failure(source_path=where, error_type=cause, message=_message(asset, count, why), asset=asset)
        for (where, cause, asset, why), count in sorted(counts.items())
    ]


def _message(asset: str, count: int, why: str) -> str:
    if not why:
        return f"{asset}: {count} without a result"
    paper_id, _, said = why.partition(": ")
    what = "1 passage is" if count == 1 else f"{count} passages are"
    return f"{what} found by words only, because {paper_id} could not be embedded: {said}"


def level_causes(work: Work) -> list[Cause]:
    """The failures of levels 2 to 4 by cause."""
    return [cause for level in range(2, HIGHEST + 1) for cause in failure_causes(work.parts, level)]


def _paths(work: Work) -> dict[str, str]:
    rows = [row for part in work.parts.heads("papers") for row in part.read(["paper_id", "source_path"]).to_pylist()]
    return {row["paper_id"]: row["source_path"] for row in rows}


@dataclass(frozen=True)
class Pending:
    """The pending work of a collection. `shards` are the stale shards of levels 0 and 1; `further` are the stale tables
    of the whole collection and the stale shards of higher levels."""

    level: int
    counts: PaperCounts
    scanned: pa.Table
    shards: dict[int, list[str]]
    further: list[str]
    published: bool

    @property
    def needed(self) -> bool:
        return any(self.shards.values()) or bool(self.further) or not self.published


def look(
    work: Work,
    source: str,
    *,
    allow_deletes: bool,
    asked_for: bool = False,
    level: int | None = None,
    again: bool = False,
) -> Pending:
    """Compare a collection with its sources, without writing anything. With `again`, chunks that could not be embedded
    are also pending; with `asked_for`, also failures of models, and levels that call paid models.

    Raises IndexBuildError if a run would delete too many papers.
    """
    level = level_to_build(work, asked_for=asked_for) if level is None else level
    check_level(level)
    work.progress("scan", 0, 0)
    scanned = manifest.scan_manifest(work, allow_deletes=allow_deletes)
    if scanned.num_rows == 0 and read_current(work.folder) is None:
        raise ConfigurationError(f"{source} has no documents.", types_hint(work.others or OtherFiles()))
    stale = {0: stale_shards(work, scanned, again=again)}
    if level:
        stale[1] = sorted({*stale[0], *stale_level(work, 1)})
    further = stale_collection_assets(work, level, again=asked_for)
    further += [shard for one in range(2, level + 1) for shard in stale_level(work, one, again=asked_for)]
    whole = min(level, complete_level(work.parts, work.settings.levels.max_failed_share))
    published = not any(stale.values()) and not further and is_published(work, whole)
    return Pending(level, count_papers(work, scanned), scanned, stale, further, published)


def level_to_build(work: Work, *, asked_for: bool) -> int:
    """The collection's level, or the highest without models, unless `asked_for` or levels.follow_changes."""
    level = target_level(work.record)
    allowed = asked_for or work.settings.levels.follow_changes
    return level if allowed else min([level, *(one - 1 for one in paid_levels(work.settings))])


def paid_levels(settings: Settings) -> list[int]:
    """The levels whose engine calls a model."""
    engines = {2: settings.roles.extract, 3: settings.roles.report, 4: settings.roles.extract}
    return [level for level, role in engines.items() if role.engine == "llm"]


def check_level(level: int) -> None:
    if not 0 <= level <= HIGHEST:
        raise ConfigurationError(f"Level {level} cannot be built by this version.", f"Levels are 0 to {HIGHEST}.")


def count_papers(work: Work, scanned: pa.Table) -> PaperCounts:
    """The numbers of papers by change between the current parts of the manifest and `scanned`."""
    before = manifest.content_hashes(manifest.current_manifest(work))
    after = manifest.content_hashes(scanned)
    both = before.keys() & after.keys()
    changed = sum(before[paper_id] != after[paper_id] for paper_id in both)
    return PaperCounts(
        total=len(after),
        added=len(after) - len(both),
        changed=changed,
        deleted=len(before) - len(both),
        unchanged=len(both) - changed,
    )

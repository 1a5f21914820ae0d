"""What a collection still needs: its sources, code and settings compared with what is computed and published."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from monjyu_assets.planning.index_result import PaperCounts
from monjyu_assets.planning.staleness import stale_collection_assets, stale_level, stale_phrases, stale_shards
from monjyu_assets.publishing.publish import is_published
from monjyu_assets.sources.walking import types_hint
from monjyu_assets.stages import paper_manifest as manifest
from monjyu_assets.work.closed_set import HIGHEST, whole_level
from monjyu_assets.work.work import Work
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.collection import target_level
from monjyu_core.storage.other_files import OtherFiles
from monjyu_core.storage.snapshot import read_current


@dataclass(frozen=True)
class Pending:
    """What a collection lacks compared with its sources, code and settings. `shards`: stale shards of levels 0 and 1.
    `further`: stale tables of the whole collection and stale shards of higher levels."""

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
    """Compare a collection with its sources, writing nothing. `again`: what could not be embedded is needed too.

    Raises IndexBuildError where a run would delete much.
    """
    level = level_to_build(work, asked_for=asked_for) if level is None else level
    check_level(level)
    work.progress("scan", 0, 0)
    scanned = manifest.scan_manifest(work, allow_deletes=allow_deletes)
    if scanned.num_rows == 0 and read_current(work.folder) is None:
        raise ConfigurationError(f"{source} has no documents.", types_hint(work.others or OtherFiles()))
    stale = {0: stale_shards(work, scanned, again=again)}
    if level:
        stale[1] = sorted({*stale[0], *stale_phrases(work)})
    further = stale_collection_assets(work, level, again=asked_for)
    further += [shard for one in range(2, level + 1) for shard in stale_level(work, one, again=asked_for)]
    whole = min(level, whole_level(work.parts, work.settings.levels.max_failed_share))
    published = not any(stale.values()) and not further and is_published(work, whole)
    return Pending(level, count_papers(work, scanned), scanned, stale, further, published)


def level_to_build(work: Work, *, asked_for: bool) -> int:
    """The level the collection is kept at, or the highest below it that needs no paid model."""
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
    """Papers by what the scan changes, compared with the current manifest parts."""
    before = _contents(manifest.current_manifest(work))
    after = _contents(scanned)
    both = before.keys() & after.keys()
    changed = sum(before[paper_id] != after[paper_id] for paper_id in both)
    return PaperCounts(
        total=len(after),
        added=len(after) - len(both),
        changed=changed,
        deleted=len(before) - len(both),
        unchanged=len(both) - changed,
    )


def _contents(rows: pa.Table) -> dict[str, str]:
    return dict(zip(rows["paper_id"].to_pylist(), rows["sha256"].to_pylist(), strict=True))

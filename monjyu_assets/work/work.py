"""Code shared by all stages: declared collections, the work on one collection, recipes, and reports of shards."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.sources.records import rules_of, with_source
from monjyu_assets.work.closed_set import is_current, level_of
from monjyu_assets.work.run_limits import current_cap, goal_of
from monjyu_core.models.account import Account, Accounting
from monjyu_core.models.ledger import Scope
from monjyu_core.settings.settings import Limit, Settings, settings_key
from monjyu_core.storage.collection import CollectionRecord, SourceRules, collection_settings, known_record, load_record
from monjyu_core.storage.folders import CollectionFolder, DataFolder, OtherFiles
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, columns_of

if TYPE_CHECKING:
    from monjyu_core.models.calls.gateway import Gateway, Session


# Collections that a Dagster project declares (`CorpusComponent`): the declaration overrides the record.
# Loading definitions only registers them in this process and writes nothing. Every operation on such a collection then
# uses the record as declared, and the run that publishes writes it, as for `monjyu index`.
@dataclass(frozen=True)
class Declaration:
    """A collection as declared. `place` is the file of the declaration. `include` and `exclude` select files in all its
    folders. `library` is a Zotero library whose works are imported into the collection before each run."""

    name: str
    sources: tuple[Path, ...]
    level: int = 0
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""
    library: Path | None = None


_declared: dict[CollectionFolder, Declaration] = {}


def declare(data: DataFolder, declaration: Declaration) -> None:
    """Use the declaration of a collection in this process from now on. It replaces an earlier one."""
    _declared[data.collection(declaration.name)] = declaration


def declaration_of(folder: CollectionFolder) -> Declaration | None:
    return _declared.get(folder)


def declared_names(data: DataFolder) -> list[str]:
    return sorted(folder.name for folder in _declared if folder.root.parent == data.index)


def record_of(data: DataFolder, name: str) -> CollectionRecord:
    """The collection's record, adjusted to its declaration; without a declaration that of `known_record`."""
    folder = data.collection(name)
    if folder not in _declared:
        return known_record(data, name)
    return as_declared(folder, load_record(folder) or CollectionRecord(name=name))


def as_declared(folder: CollectionFolder, record: CollectionRecord) -> CollectionRecord:
    """The record with the declared sources, patterns, settings and level; unchanged if nothing is declared.

    Sources that the declaration does not name are removed. A level above the declared one is kept, because models may
    have been paid for it; only `monjyu downgrade` drops it.
    """
    declaration = _declared.get(folder)
    if declaration is None:
        return record
    return _with_sources(record, declaration).model_copy(
        update={
            "level": max(record.level, declaration.level),
            "settings": dict(declaration.settings),
            "declared": declaration.place,
        }
    )


def _with_sources(record: CollectionRecord, declaration: Declaration) -> CollectionRecord:
    """The record with the declared sources and patterns. Removed sources are dropped first, so that a folder that is
    declared under a new path can become the first source again, and its papers keep their ids."""
    named = list(map(str, declaration.sources))
    kept = {source: rules for source, rules in rules_of(record).items() if source in named}
    record = record.model_copy(update={"sources": list(kept), "rules": kept})
    for source in declaration.sources:
        record = with_source(record, source)
    patterns = {"include": list(declaration.include), "exclude": list(declaration.exclude)}
    rules = {source: _chosen(source, held, patterns) for source, held in rules_of(record).items()}
    return record.model_copy(update={"sources": list(rules), "rules": rules})


def _chosen(source: str, rules: SourceRules, patterns: Mapping[str, list[str]]) -> SourceRules:
    """The rules of a source with the declared patterns, which do not apply to a single file."""
    return rules if Path(source).suffix and not Path(source).is_dir() else rules.model_copy(update=patterns)


R = TypeVar("R")
Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total)."""


Warn = Callable[[str], None]
"""Called with a warning for the user; the run continues."""


def no_progress(stage: str, done: int, total: int) -> None: ...


def no_warning(text: str) -> None: ...


@dataclass
class Work:
    """The work on one collection: its folder, parts, record, settings and accounts, and the callbacks for progress and
    warnings.

    `run_id` is the id of the Dagster run, if there is one.
    """

    data: DataFolder
    name: str
    progress: Progress = no_progress
    warn: Warn = no_warning
    run_id: str = ""
    others: OtherFiles | None = field(default=None, init=False, repr=False, compare=False)
    """The files other than papers that the last scan of this work found."""
    _accounts: dict[str, Account] = field(default_factory=dict, init=False, repr=False, compare=False)
    _gateway: Gateway | None = field(default=None, init=False, repr=False, compare=False)

    @cached_property
    def folder(self) -> CollectionFolder:
        return self.data.collection(self.name)

    @cached_property
    def parts(self) -> PartStore:
        return PartStore(self.folder.parts)

    @cached_property
    def record(self) -> CollectionRecord:
        goal = goal_of(self.folder)
        return goal.record if goal else record_of(self.data, self.name)

    @cached_property
    def settings(self) -> Settings:
        return collection_settings(self.record)

    @cached_property
    def accounting(self) -> Accounting:
        return Accounting(self.settings, self.data)

    def buckets(self, shards: Iterable[str]) -> list[str]:
        """The buckets of `shards`, in order."""
        return [bucket for shard in sorted(shards) for bucket in self.parts.buckets(shard)]

    def account(self, asset: str) -> Account:
        """The account to which an asset's model calls are charged. It is created once per asset."""
        if asset not in self._accounts:
            scope = Scope("asset", asset, level_of(asset), self.name)
            self._accounts[asset] = self.accounting.account(scope, current_cap())
        return self._accounts[asset]

    def session(self, asset: str) -> Session:
        """A session for chat calls that are charged to an asset."""
        from monjyu_core.models.calls.gateway import Gateway

        if self._gateway is None:
            self._gateway = Gateway(self.accounting)
        return self._gateway.session(self.account(asset))

    def close(self) -> None:
        """Close the connections to models, if any were opened."""
        if self._gateway is not None:
            from monjyu_core.models.calls.event_loop import run

            run(self._gateway.close())
            self._gateway = None

    def take_record(self, record: CollectionRecord) -> None:
        """Continue with `record`, and with the settings that follow from it."""
        self.record = record
        for made_of_it in ("settings", "accounting"):
            self.__dict__.pop(made_of_it, None)
        self._accounts.clear()
        self._gateway = None


@dataclass
class ShardReport:
    """The report of a stage on a bucket or the collection: numbers of papers, and of `failures` by cause."""

    shard: str
    total: int = 0
    reused: int = 0
    recomputed: int = 0
    deleted: int = 0
    failed: int = 0
    recomputed_ids: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)


def unchanged(work: Work, asset: str, bucket: str, made_with: str) -> ShardReport | None:
    """The report of a bucket built from the current inputs with the recipe `made_with`; None to rebuild it."""
    part = work.parts.head(ASSET_TABLES[asset][0], bucket)
    if part is None or part.code_version != made_with or not is_current(work.parts, asset, bucket):
        return None
    papers = work.parts.head("manifest" if asset in ("paper_manifest", "parsed_papers") else "papers", bucket)
    total = papers.rows if papers else 0
    return ShardReport(bucket, total=total, reused=total)


def together(reports: Iterable[ShardReport]) -> ShardReport:
    """The report of a collection, combined from those of its buckets."""
    whole = ShardReport(COLLECTION_SHARD)
    for report in reports:
        for cause, count in report.failures.items():
            whole.failures[cause] = whole.failures.get(cause, 0) + count
        for name in ("total", "reused", "recomputed", "deleted", "failed"):
            setattr(whole, name, getattr(whole, name) + getattr(report, name))
        whole.recomputed_ids += report.recomputed_ids
    return whole


class Timer:
    """Measures the seconds since it was created."""

    def __init__(self) -> None:
        self.start = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start


def recipe(asset: str, code_version: str, settings: Settings, *more: str) -> str:
    """A hash of everything on which a part of an asset depends in addition to its inputs: code, settings that change
    rows, limits, and `more`, such as models."""
    return digest(code_version, settings_key(settings, asset), settings_key(settings, asset, Limit), *more)


def rows_of(table: pa.Table, paper_ids: Iterable[str], column: str = "paper_id") -> pa.Table:
    """The rows of a table whose `column` is one of `paper_ids`."""
    return table.filter(pc.is_in(table[column], pa.array(list(paper_ids), pa.string())))


def records_of(work: Work, table: str, shard: str, row: type[R], paper_ids: Iterable[str] | None = None) -> list[R]:
    """The rows of a bucket as TypedDicts `row`, for `paper_ids` or all papers; empty if there is no part."""
    part = work.parts.head(table, shard)
    if part is None or paper_ids is None:
        return part.records(row) if part else []
    records: list[R] = rows_of(part.read(columns_of(table, row)), paper_ids).to_pylist()
    return records


def grouped(rows: Iterable[R], key: Callable[[R], str]) -> dict[str, list[R]]:
    """The rows by `key`, in order."""
    groups: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups

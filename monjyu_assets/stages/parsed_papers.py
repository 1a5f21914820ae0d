"""Level 0, second stage: parses documents. Only those with new content, or a new parser, are parsed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.analysis.analyst import Analyst, Wanted
from monjyu_assets.analysis.page_one import Looked, PageOne, page_one_key
from monjyu_assets.indexing.scan import WHOLE_FILES
from monjyu_assets.parsing.dispatch import PARSER_VERSION
from monjyu_assets.parsing.ocr_state import ocr_state
from monjyu_assets.parsing.sandbox.pool import ParserPool, Task
from monjyu_assets.stages.shared.corrected_papers import (
    INPUT,
    TABLE,
    Kept,
    corrections_for,
    inputs_of,
    key_as_read,
    keyed,
    with_corrections,
)
from monjyu_assets.stages.shared.paper_rows import PaperRows, failure_row, paper_rows, sentence_id
from monjyu_assets.stages.shared.run_rules import document_at
from monjyu_assets.stages.shared.source_files import keep_source
from monjyu_assets.stages.shared.work import (
    ShardReport,
    Timer,
    Work,
    finish,
    recipe,
    records_of,
    rows_of,
    unchanged,
)
from monjyu_core.errors import DocumentError, ScannedDocument, StorageError
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import Limit, Settings, parser_settings, settings_key
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.rows.rows_papers import ManifestRow
from monjyu_core.storage.schemas import ASSET_TABLES, table_of

ASSET = "parsed_papers"
PATHS = "paths"


def parse_recipe(settings: Settings) -> str:
    return recipe(ASSET, PARSER_VERSION, settings, ocr_state(settings.ocr), *filter(None, [page_one_key(settings)]))


@dataclass(frozen=True)
class ReuseKeys:
    """The keys under which results are kept. What is equal for all papers is computed once a run."""

    settings: str
    limits: str
    ocr: str
    page_one: str

    @classmethod
    def under(cls, settings: Settings) -> ReuseKeys:
        own, limits = settings_key(settings, ASSET), settings_key(settings, ASSET, Limit)
        return cls(own, limits, ocr_state(settings.ocr), page_one_key(settings))

    def of(self, row: ManifestRow) -> tuple[str, str, str, str]:
        """The keys of a paper's rows, of its failure, of rows that lack OCR, and of rows in which rules found no title.

        Rows depend on bytes, type, parser and the settings that change them. A failure also depends on the limits: new
        limits mean another try. A paper with pages that OCR did not read is parsed again once OCR works or its limits
        change.
        """
        content = digest(row["sha256"], row["document_type"], PARSER_VERSION, self.settings)
        failure = digest(content, self.limits)
        return content, failure, digest(failure, self.ocr), digest(content, "untitled", self.page_one)


@dataclass(frozen=True)
class Donor:
    """A result that another paper may reuse: the primary part that holds it, and the paper's id there."""

    part: Part
    paper_id: str


@dataclass
class _Shard:
    """A bucket being made: its manifest rows, where kept results come from, and new rows. `unanalysed`: a service
    should have read a paper, and could not yet."""

    shard: str
    manifest: dict[str, ManifestRow]
    inputs: dict[str, str]
    reuse: ReuseKeys
    corrections: Kept = field(default_factory=dict)
    kept: dict[str, Donor] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    rows: PaperRows = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    unanalysed: bool = False
    report: ShardReport = field(default_factory=lambda: ShardReport(""))


def parse_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Parse the new papers of these shards. Each bucket is written as soon as its last paper is done."""
    timer = Timer()
    analyst, page_one = Analyst(work, ASSET), PageOne(work, ASSET)
    made_with = parse_recipe(work.settings)
    corrections = corrections_for(work)
    changed: list[str] = []
    for bucket in work.buckets(shards):
        report = unchanged(work, ASSET, bucket, made_with)
        if report is None or _rests_on_other(work, bucket, corrections):
            changed.append(bucket)
        else:
            yield _with_failures(work, report)
    reuse = ReuseKeys.under(work.settings)
    donors = _donors(work) if changed else {}
    plans = {bucket: _plan(work, bucket, donors, reuse, corrections) for bucket in changed}
    tasks = [task for plan in plans.values() for task in _ready_tasks(work, plan)]
    for plan in plans.values():
        if not plan.waiting:
            yield _write(work, plan, timer)
    work.progress("parse", 0, len(tasks))
    pages = {"begun": 0, "all": 0}

    def count_pages(page: int, of: int) -> None:
        pages["begun" if page else "all"] += 1 if page else of
        work.progress("ocr", pages["begun"], pages["all"])

    with ParserPool(parser_settings(work.settings), count_pages) as pool:
        for_service: list[Task] = []
        for done, (task, outcome) in enumerate(pool.map(tasks), start=1):
            plan = plans[task["shard"]]
            work.progress("parse", done, len(tasks))
            if analyst.wants(task["document_type"], Path(task["path"]).name, outcome):
                known = outcome.page_count if isinstance(outcome, ParsedPaper) else 0
                for_service.append(task | {"pages": known})
                continue
            _take(plan, task, page_one.look(outcome))
            if not plan.waiting:
                yield _write(work, plan, timer)
        for task, outcome in pool.map(_analysed(analyst, for_service)):
            plan = plans[task["shard"]]
            _take(plan, task, page_one.look(outcome), unanalysed=task["analysis"] is None)
            if not plan.waiting:
                yield _write(work, plan, timer)


def _rests_on_other(work: Work, bucket: str, corrections: Kept) -> bool:
    """Whether the rows of a bucket were made of anything else than there is now."""
    now, before = _rests_on(work, bucket, corrections), _inputs_before(work, bucket)
    return bool(now.items() - before.items()) or now.get(INPUT) != before.get(INPUT)


def _rests_on(work: Work, bucket: str, corrections: Kept) -> dict[str, str]:
    """What the rows of a bucket are made of. Paths stand outside the manifest's version, and in the rows: its part's
    version stands for them."""
    manifest = work.parts.head("manifest", bucket)
    if manifest is None:
        raise StorageError(f"Shard {bucket} of {work.name} has no manifest.", "Materialise paper_manifest first.")
    papers = manifest.read(["paper_id"])["paper_id"].to_pylist() if corrections else []
    return {"paper_manifest": manifest.asset_version, PATHS: manifest.version} | inputs_of(corrections, papers)


def _inputs_before(work: Work, bucket: str) -> Mapping[str, str]:
    previous = work.parts.head("papers", bucket)
    return previous.inputs if previous else {}


def _with_failures(work: Work, report: ShardReport) -> ShardReport:
    part = work.parts.head("failures", report.shard)
    if part and part.rows:
        causes = Counter(part.read(["error_type"])["error_type"].to_pylist())
        report.failed, report.failures = part.rows, dict(sorted(causes.items()))
    return report


def _analysed(analyst: Analyst, tasks: list[Task]) -> Iterator[Task]:
    """The tasks again, each with its analysis. One without is parsed on this machine, for now."""
    by_path: dict[Path, list[Task]] = {}
    for task in tasks:
        by_path.setdefault(Path(task["path"]), []).append(task)
    for wanted, analysis in analyst.analyse([Wanted(path, same[0]["pages"]) for path, same in by_path.items()]):
        for task in by_path[wanted.path]:
            yield task | {"analysis": str(analysis) if analysis else None}


def _donors(work: Work) -> dict[str, Donor]:
    """Every current result by the key of what was read, over all shards: a moved file reuses the result of its old
    place."""
    return {
        key_as_read(key): Donor(part, paper_id)
        for part in reversed(work.parts.heads("papers"))
        for paper_id, key in part.keys.items()
    }


def _plan(work: Work, shard: str, donors: dict[str, Donor], reuse: ReuseKeys, corrections: Kept) -> _Shard:
    inputs = _rests_on(work, shard, corrections)
    rows = {row["paper_id"]: row for row in records_of(work, "manifest", shard, ManifestRow)}
    own = {paper_id: corrections[paper_id] for paper_id in rows.keys() & corrections.keys()}
    plan = _Shard(shard, rows, inputs, reuse, own, rows={name: [] for name in ASSET_TABLES[ASSET]})
    previous = work.parts.head("papers", shard)
    for paper_id, row in rows.items():
        held = key_as_read(previous.keys.get(paper_id, "")) if previous else None
        match = next((key for key in reuse.of(row) if held == key or key in donors), None)
        if match is None:
            plan.waiting.add(paper_id)
        else:
            plan.kept[paper_id] = Donor(previous, paper_id) if previous and held == match else donors[match]
            plan.keys[paper_id] = keyed(match, own.get(paper_id))
    plan.report = ShardReport(
        shard,
        total=len(rows),
        reused=len(plan.kept),
        recomputed=len(plan.waiting),
        deleted=len(previous.keys.keys() - rows.keys()) if previous else 0,
        recomputed_ids=sorted(plan.waiting),
    )
    return plan


def _ready_tasks(work: Work, plan: _Shard) -> Iterator[Task]:
    """Tasks for the pool; a file that cannot be copied has failed already."""
    for paper_id in sorted(plan.waiting):
        row = plan.manifest[paper_id]
        task: Task = {
            "paper_id": paper_id,
            "document_type": row["document_type"],
            "size": row["size"],
            "record": row["record"],
            "offset": row["offset"],
            "shard": plan.shard,
            "path": row["source_path"],
        }
        if row["document_type"] not in WHOLE_FILES:
            yield task | {"path": document_at(row["source_path"])}
            continue
        try:
            yield task | {"path": str(keep_source(work, Path(row["source_path"]), row["sha256"]))}
        except DocumentError as error:
            _take(plan, task, Looked(error))


@dataclass
class Unparsed:
    """What of a shard is to be parsed: how many papers, hashes of files, all kept in `sources/`, paths of files of
    records, and whether a file could not be read."""

    papers: int = 0
    files: list[str] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    unreadable: bool = False


def keep_sources(work: Work, shard: str) -> Unparsed:
    """Copy the files that a shard has to parse to `sources/`, for machines that do not see where they lie."""
    found, reuse = Unparsed(), ReuseKeys.under(work.settings)
    for bucket in work.parts.buckets(shard):
        plan = _plan(work, bucket, {}, reuse, {})
        found.papers += len(plan.waiting)
        for paper_id in sorted(plan.waiting):
            row = plan.manifest[paper_id]
            if row["document_type"] not in WHOLE_FILES:
                found.documents.add(row["source_path"])
                continue
            try:
                keep_source(work, Path(row["source_path"]), row["sha256"])
                found.files.append(row["sha256"])
            except DocumentError:
                found.unreadable = True
    return found


def _take(plan: _Shard, task: Task, looked: Looked, *, unanalysed: bool = False) -> None:
    paper_id, row, outcome = task["paper_id"], plan.manifest[task["paper_id"]], looked.outcome
    plan.waiting.discard(paper_id)
    key, failed, lacking, untitled = plan.reuse.of(row)
    key = untitled if looked.lacked else key
    corrected = plan.corrections.get(paper_id)
    if unanalysed or looked.waits:  # under a key that nothing is looked up by, so that the next run tries again
        plan.unanalysed, key = True, digest(key, "unanalysed")
        failed = lacking = key
    if isinstance(outcome, DocumentError):
        plan.rows["failures"].append(failure_row(paper_id, outcome.error_type, str(outcome)))
        plan.keys[paper_id] = keyed(lacking if isinstance(outcome, ScannedDocument) else failed, corrected)
        return
    outcome.paper_id = paper_id
    plan.keys[paper_id] = keyed(lacking if outcome.unread_pages else key, corrected)
    for name, rows in paper_rows(outcome, row["sha256"]).items():
        plan.rows[name] += rows


def _write(work: Work, plan: _Shard, timer: Timer) -> ShardReport:
    tables = with_corrections({name: _table(work, plan, name) for name in ASSET_TABLES[ASSET]}, plan.corrections)
    part = work.parts.write(
        ASSET,
        plan.shard,
        tables,
        inputs=plan.inputs,
        keys=plan.keys,
        code_version=parse_recipe(work.settings) + ("+" if plan.unanalysed else ""),
    )
    return finish(_with_failures(work, plan.report), part, work.parts, ASSET, timer)


def _table(work: Work, plan: _Shard, name: str) -> pa.Table:
    """New and kept rows, with the manifest's current paths."""
    table = pa.concat_tables([table_of(name, plan.rows[name]), *_kept(work, plan, name)])
    if "source_path" not in table.column_names:
        return table
    paths = [plan.manifest[paper_id]["source_path"] for paper_id in table["paper_id"].to_pylist()]
    column = table.column_names.index("source_path")
    return table.set_column(column, "source_path", pa.array(paths, pa.string()))


def _kept(work: Work, plan: _Shard, name: str) -> Iterator[pa.Table]:
    """Kept rows by donor part. Rows of a paper with another id there get the id it has here."""
    by_part: dict[str, tuple[Part, dict[str, str]]] = {}
    for paper_id, donor in plan.kept.items():
        by_part.setdefault(donor.part.version, (donor.part, {}))[1][paper_id] = donor.paper_id
    for part, ids in by_part.values():
        if name == TABLE and name not in part.siblings:
            continue
        source = part if name == part.table else work.parts.open(name, part.shard, part.siblings[name])
        rows = source.read()
        yield rows_of(rows, [old for new, old in ids.items() if new == old])
        for new, old in ids.items():
            if new != old:
                yield renamed(rows_of(rows, [old]), new)


def renamed(rows: pa.Table, paper_id: str) -> pa.Table:
    """The rows under another paper's id; sentence ids follow."""
    values = pa.array([paper_id] * rows.num_rows, pa.string())
    rows = rows.set_column(rows.column_names.index("paper_id"), "paper_id", values)
    if "sentence_id" not in rows.column_names:
        return rows
    order = pc.subtract(rows["ord"], pc.min(rows["ord"])) if rows.num_rows else rows["ord"]
    ids = [sentence_id(paper_id, number) for number in order.to_pylist()]
    return rows.set_column(rows.column_names.index("sentence_id"), "sentence_id", pa.array(ids, pa.string()))

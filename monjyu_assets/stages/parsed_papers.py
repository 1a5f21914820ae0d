"""Level 0, second stage: parses documents. Only documents with new content, settings or parser are parsed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.analysis.analyst import Analyst, Wanted
from monjyu_assets.analysis.page_one import Looked, PageOne
from monjyu_assets.parsing.sandbox.pool import ParserPool, Task
from monjyu_assets.sources.scan import WHOLE_FILES
from monjyu_assets.stages.shared.corrected_papers import (
    TABLE,
    corrections_for,
    failure_row,
    keyed,
    paper_rows,
    sentence_id,
    with_corrections,
)
from monjyu_assets.stages.shared.parse_plan import (
    ASSET,
    BucketPlan,
    ReuseKeys,
    donors_of,
    keep_source,
    parse_recipe,
    plan_bucket,
    rests_on_other,
)
from monjyu_assets.work.run_limits import document_at
from monjyu_assets.work.work import ShardReport, Work, rows_of, unchanged
from monjyu_core.errors import DocumentError, ScannedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import parser_settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import ASSET_TABLES, table_of


def parse_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Parse the new papers of `shards`. Each bucket is written as soon as its last paper is parsed."""
    analyst, page_one = Analyst(work, ASSET), PageOne(work, ASSET)
    made_with = parse_recipe(work.settings)
    corrections = corrections_for(work)
    changed: list[str] = []
    for bucket in work.buckets(shards):
        report = unchanged(work, ASSET, bucket, made_with)
        if report is None or rests_on_other(work, bucket, corrections):
            changed.append(bucket)
        else:
            yield _with_failures(work, report)
    reuse = ReuseKeys.under(work.settings)
    donors = donors_of(work) if changed else {}
    plans = {bucket: plan_bucket(work, bucket, donors, reuse, corrections) for bucket in changed}
    tasks = [task for plan in plans.values() for task in _ready_tasks(work, plan)]
    for plan in plans.values():
        if not plan.waiting:
            yield _write(work, plan)
    yield from _parsed(work, plans, tasks, analyst, page_one)


def _parsed(
    work: Work,
    plans: Mapping[str, BucketPlan],
    tasks: Sequence[Task],
    analyst: Analyst,
    page_one: PageOne,
) -> Iterator[ShardReport]:
    """Parse here, then the papers that a service analyses. A bucket is written when its last paper is parsed."""
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
                yield _write(work, plan)
        for task, outcome in pool.map(_analysed(analyst, for_service)):
            plan = plans[task["shard"]]
            _take(plan, task, page_one.look(outcome), unanalysed=task["analysis"] is None)
            if not plan.waiting:
                yield _write(work, plan)


def _with_failures(work: Work, report: ShardReport) -> ShardReport:
    part = work.parts.head("failures", report.shard)
    if part and part.rows:
        causes = Counter(part.read(["error_type"])["error_type"].to_pylist())
        report.failed, report.failures = part.rows, dict(sorted(causes.items()))
    return report


def _analysed(analyst: Analyst, tasks: list[Task]) -> Iterator[Task]:
    """Yield the tasks with their analyses. A task without an analysis is parsed on this machine for now."""
    by_path: dict[Path, list[Task]] = {}
    for task in tasks:
        by_path.setdefault(Path(task["path"]), []).append(task)
    for wanted, analysis in analyst.analyse([Wanted(path, same[0]["pages"]) for path, same in by_path.items()]):
        for task in by_path[wanted.path]:
            yield task | {"analysis": str(analysis) if analysis else None}


def _ready_tasks(work: Work, plan: BucketPlan) -> Iterator[Task]:
    """Yield the tasks for the pool. A file that cannot be copied fails here."""
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


def _take(plan: BucketPlan, task: Task, looked: Looked, *, unanalysed: bool = False) -> None:
    paper_id, row, outcome = task["paper_id"], plan.manifest[task["paper_id"]], looked.outcome
    plan.waiting.discard(paper_id)
    key, failed, lacking, untitled = plan.reuse.of(row)
    key = untitled if looked.lacked else key
    corrected = plan.corrections.get(paper_id)
    if unanalysed or looked.waits:  # this key is never looked up, so the next run tries again
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


def _write(work: Work, plan: BucketPlan) -> ShardReport:
    tables = with_corrections({name: _table(work, plan, name) for name in ASSET_TABLES[ASSET]}, plan.corrections)
    work.parts.write(
        ASSET,
        plan.shard,
        tables,
        inputs=plan.inputs,
        keys=plan.keys,
        code_version=parse_recipe(work.settings) + ("+" if plan.unanalysed else ""),
    )
    return _with_failures(work, plan.report)


def _table(work: Work, plan: BucketPlan, name: str) -> pa.Table:
    """The new and the reused rows of a table, with the current paths of the manifest."""
    table = pa.concat_tables([table_of(name, plan.rows[name]), *_donated_rows(work, plan, name)])
    if "source_path" not in table.column_names:
        return table
    paths = [plan.manifest[paper_id]["source_path"] for paper_id in table["paper_id"].to_pylist()]
    column = table.column_names.index("source_path")
    return table.set_column(column, "source_path", pa.array(paths, pa.string()))


def _donated_rows(work: Work, plan: BucketPlan, name: str) -> Iterator[pa.Table]:
    """Yield the reused rows from each donor part. A paper that has a different id in the donor gets its current id."""
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
    """The rows with `paper_id` as the paper's id, and with the sentence ids that follow from it."""
    values = pa.array([paper_id] * rows.num_rows, pa.string())
    rows = rows.set_column(rows.column_names.index("paper_id"), "paper_id", values)
    if "sentence_id" not in rows.column_names:
        return rows
    order = pc.subtract(rows["ord"], pc.min(rows["ord"])) if rows.num_rows else rows["ord"]
    ids = [sentence_id(paper_id, number) for number in order.to_pylist()]
    return rows.set_column(rows.column_names.index("sentence_id"), "sentence_id", pa.array(ids, pa.string()))

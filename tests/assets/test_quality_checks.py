"""Checks of parse quality: each names the paper that lacks something, warns past its threshold, and blocks nothing."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pyarrow as pa
import pytest

from monjyu_assets.definitions import defs
from monjyu_assets.orchestration.assets.index_snapshot import index_snapshot
from monjyu_assets.orchestration.resources import DataFolderResource, resources_of
from monjyu_assets.parsing.formats.pdf.parse_pdf import parse_pdf
from monjyu_assets.publishing.checks import over_parts
from monjyu_assets.publishing.snapshot_quality import snapshot_quality
from monjyu_core.quality import QUALITY_CHECKS, SHOWN, TABLES_READ, QualityResult, run_check
from monjyu_core.settings.settings import CheckSettings, ParseSettings
from monjyu_core.status import collection_status, describe
from monjyu_core.storage.ids import shard_of
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import open_current
from tests.assets.parsing.pdf_samples import one_column
from tests.assets.worlds import World, write_records
from tests.conftest import SAMPLES

WHOLE = """# A whole paper

## Abstract

We speak of graphs and of provenance.

## Introduction

Graphs are lazy [1]. They are built late.

## Results

They are cheap. The first of them was built in a second and the last of them in two, which is less than a reader waits.
What they cost was counted on a small machine with two cores, once without load and once beside another index, and the
two counts differ by a tenth. Nobody had said before what the edges of such a graph stand for, and we say it here.

## References

[1] A. Smith. Lazy graphs. Journal of Graphs, 2019.
"""
PAPERS = {
    "whole.md": WHOLE,
    "no-abstract.md": WHOLE.replace("## Abstract", "## Background"),
    "no-references.md": WHOLE.split("## References")[0],
    "no-sections.txt": "An even text\n\nIt has sentences. It has no heading at all. " * 5,
    "furniture.md": WHOLE.replace("\n\n## ", "\n\nJournal of Lazy Graphs Vol 3\n\n## "),
    "records.jsonl": json.dumps({"id": "untitled", "title": "", "text": "A record without a title."}) + "\n",
}
NAMED = {
    "title_found": ["untitled"],
    "abstract_found": ["no-abstract", "no-sections", "untitled"],
    "sections_found": ["no-sections"],
    "references_found": ["no-references"],
    "furniture_removed": ["furniture"],
    "text_kept": ["paper"],
}


def understood(world: World) -> dg.AssetCheckEvaluation:
    """The level-0 assets materialised and the snapshot published; gives the evaluation of the quality checks."""
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("collections", ["c"])
        world.build()
        result = dg.materialize(
            [asset for asset in defs.assets or [] if isinstance(asset, dg.AssetsDefinition)],
            selection=[index_snapshot],
            instance=instance,
            resources=resources_of(DataFolderResource(root=str(world.data.root))),
            partition_key="c",
        )
        assert result.success
        found = {check.check_name: check for check in result.get_asset_check_evaluations()}
        return found["papers_understood"]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dg.AssetCheckEvaluation]:
    folder = tmp_path_factory.mktemp("checked")
    world = World(folder / "data", folder / "papers")
    for name, text in PAPERS.items():
        (world.papers / name).write_text(text)
    one_column(folder).path.rename(world.papers / "paper.pdf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_CHECKS__MIN_COVERAGE", "1")
        patch.setenv("MONJYU_CHECKS__ABSTRACT_FOUND", "0.5")
        return world, understood(world)


@pytest.mark.parametrize("name", NAMED)
def test_a_check_names_the_papers_that_lack_something(
    name: str, checked: tuple[World, dg.AssetCheckEvaluation]
) -> None:
    check = checked[1]
    row = next(line for line in str(check.metadata["table"].value).splitlines() if line.startswith(f"| `{name}` |"))
    for listed in [row, *([str(check.metadata[name].value)] if name != "abstract_found" else [])]:
        named = [paper for paper in ("untitled", "paper", *(Path(key).stem for key in PAPERS)) if f"`{paper}" in listed]
        assert sorted(named) == NAMED[name]
    assert f"| {len(NAMED[name])} of " in row


def test_a_group_of_checks_warns_by_the_names_that_failed(checked: tuple[World, dg.AssetCheckEvaluation]) -> None:
    check = checked[1]
    assert (check.passed, check.blocking, check.partition) == (False, False, "c")
    assert check.severity == dg.AssetCheckSeverity.WARN
    failed = set(NAMED) - {"abstract_found"}  # 3 of 7 pass where half may offend
    assert check.description is not None
    assert (
        {name for name in QUALITY_CHECKS if name in check.description}
        == failed
        == QUALITY_CHECKS.keys() & check.metadata.keys()
    )


def test_no_text_of_a_paper_gets_into_the_log(checked: tuple[World, dg.AssetCheckEvaluation]) -> None:
    logged = " ".join(str(entry.value) for entry in checked[1].metadata.values())
    assert "no-abstract" in logged
    assert "Journal of Lazy" not in logged
    assert "whole paper" not in logged


def test_status_counts_what_papers_lack(checked: tuple[World, dg.AssetCheckEvaluation]) -> None:
    status = collection_status(checked[0].data, "c")
    assert status["without"] == {"title": 1, "abstract": 3, "sections": 1, "references": 1}
    assert "without title 1, abstract 3, sections 1, references 1" in describe(status, failures=False)


def test_raw_characters_are_those_on_the_pages_and_not_printed(tmp_path: Path) -> None:
    paper = parse_pdf(one_column(tmp_path).path, ParseSettings())
    assert paper.raw_characters is not None
    kept = sum(len("".join(section.text.split())) for section in paper.sections)
    assert kept < paper.raw_characters < 1.5 * kept
    assert "raw_characters" not in paper.model_dump()
    assert paper.to_wire()["raw_characters"] == paper.raw_characters


def tables(**rows: list[dict[str, Any]]) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    for name in TABLES_READ:
        connection.register(name, pa.Table.from_pylist(rows.get(name, []), TABLES[name].schema))
    return connection


def sentences(*lines: tuple[str, int]) -> list[dict[str, Any]]:
    return [
        {"paper_id": "p", "section_ord": 0, "ord": n, "text": text, "spans": [{"page": page, "boxes": []}]}
        for n, (text, page) in enumerate(lines)
    ]


def furniture(*lines: tuple[str, int]) -> QualityResult:
    return run_check(
        tables(papers=[{"paper_id": "p"}], sentences=sentences(*lines)), "furniture_removed", CheckSettings()
    )


@pytest.mark.parametrize(
    ("lines", "bad"),
    [
        (
            [
                ("Smith et al. | Lazy graphs 7", 1),
                ("Smith et al. | Lazy graphs 8", 2),
                ("SMITH et al. | Lazy graphs 9", 3),
            ],
            1,
        ),
        (
            [
                ("Smith et al. | Lazy graphs 7", 1),
                ("Smith et al. | Lazy graphs 8", 1),
                ("Smith et al. | Lazy graphs 9", 2),
            ],
            0,
        ),
        ([("17", 1), ("- 18 -", 2), ("Page 19 of 20", 3), ("19", 3), ("20", 4)], 1),
        ([("(1)", 1), ("(2)", 2), ("(3)", 3)], 0),
        ([("Proof.", 1), ("Proof.", 2), ("Proof.", 3)], 0),
        ([("It is shown in Table 1.", 1), ("It is shown in Table 2.", 2), ("It is shown in Table 3.", 3)], 0),
        ([("Reprints are sold by the publisher.", page) for page in (1, 2, 3)], 1),
        ([("Longer than any running head is, " * 5, page) for page in (1, 2, 3)], 0),
    ],
)
def test_furniture_is_a_short_line_that_comes_again_page_after_page(lines: list[tuple[str, int]], bad: int) -> None:
    assert furniture(*lines).count == bad


def test_text_kept_counts_every_table_and_no_spaces() -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "papers": [{"paper_id": "p", "title": "Ten chars ab", "raw_characters": 100}],
        "sections": [{"paper_id": "p", "heading": "Head", "text": "sixteen chars and more"}],
        "references": [{"paper_id": "p", "raw_text": "x" * 20}],
        "tables": [{"paper_id": "p", "caption": "abcd", "headers": ["a", "b"], "rows": [["c", "d"], ["e", "f"]]}],
        "figures": [{"paper_id": "p", "caption": "y" * 6}],
        "equations": [{"paper_id": "p", "text": "z" * 7, "inline": False}],
    }
    kept = 10 + 4 + 19 + 20 + 10 + 6 + 7
    for percent, count in ((kept, 0), (kept + 1, 1)):
        result = run_check(tables(**rows), "text_kept", CheckSettings(min_coverage=percent / 100))
        assert (result.count, result.looked_at) == (count, 1)
    assert result.papers == [("p", "76 % of 100 characters")]


def test_an_empty_collection_passes_and_a_long_list_is_cut() -> None:
    assert all(run_check(tables(), name, CheckSettings()).passed for name in QUALITY_CHECKS)
    many = run_check(tables(papers=[{"paper_id": f"p{n}"} for n in range(80)]), "title_found", CheckSettings())
    assert (many.count, len(many.papers), many.share) == (80, SHOWN, 1.0)


def test_a_shard_keeps_its_results_while_its_parts_are_the_same(tmp_path: Path) -> None:
    world = World(tmp_path / "data", tmp_path / "papers")
    records = {str(number): f"Record {number} speaks of graphs." for number in range(6)}
    write_records(world.papers, records)
    world.build()
    manifest = open_current(world.work.folder).manifest
    kept = world.work.folder.root / "quality.json"
    first = snapshot_quality(world.work, manifest)
    before = json.loads(kept.read_bytes())
    write_records(world.papers, records | {"3": "Record 3 speaks of another thing.", "more": "One more."})
    world.build()
    manifest = open_current(world.work.folder).manifest
    second = snapshot_quality(world.work, manifest)
    now = json.loads(kept.read_bytes())
    assert {shard for shard in now if now[shard] != before[shard]} == {shard_of("3"), shard_of("more")}
    kept.unlink()
    assert snapshot_quality(world.work, manifest) == second != first
    with over_parts([world.work.parts.open(e.table, e.shard, e.version) for e in manifest.parts]) as connection:
        assert second == [run_check(connection, name, CheckSettings()) for name in QUALITY_CHECKS]


def read_of(name: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a real PDF that two checks read."""
    paper = parse_pdf(SAMPLES / name, ParseSettings())
    rows: dict[str, list[dict[str, Any]]] = {"papers": [{"paper_id": "p", "document_type": "pdf"}]}
    rows["sections"] = [{"paper_id": "p", "section_ord": n, "text": one.text} for n, one in enumerate(paper.sections)]
    found = [(n, one) for n, section in enumerate(paper.sections) for one in section.sentences]
    rows["sentences"] = [
        one.model_dump() | {"paper_id": "p", "section_ord": n, "ord": ord, "sentence_id": f"p.s{ord}"}
        for ord, (n, one) in enumerate(found)
    ]
    return rows


def count_of(name: str, rows: dict[str, list[dict[str, Any]]]) -> int:
    return run_check(tables(**rows), name, CheckSettings()).count


def test_a_sentence_whose_rectangles_are_off_lies_over_others() -> None:
    rows = read_of("relevance-budget.pdf")
    assert count_of("boxes_apart", rows) == 0
    seen = 0
    for place in range(0, len(rows["sentences"]), max(1, len(rows["sentences"]) // 20)):
        moved = copy.deepcopy(rows)
        for span in moved["sentences"][place]["spans"]:
            span["boxes"] = [[x0 + 8, y0 + 8, x1 + 8, y1 + 8] for x0, y0, x1, y1 in span["boxes"]]
        seen += count_of("boxes_apart", moved)
    assert seen >= 12  # of 20: what has nothing beside or below it is not seen


def test_text_that_stands_in_no_sentence_is_counted() -> None:
    rows = read_of("relevance-budget.pdf")
    assert count_of("sentences_whole", rows) == 0
    for lost in (rows["sentences"][0], rows["sentences"][len(rows["sentences"]) // 2], rows["sentences"][-1]):
        left = [one for one in rows["sentences"] if one is not lost]
        assert count_of("sentences_whole", rows | {"sentences": left}) == 1
    assert count_of("sentences_whole", rows | {"sentences": []}) == 1

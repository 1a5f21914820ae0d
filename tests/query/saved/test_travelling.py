"""Time travel of answers: on a history of real papers, each change has the cause that was put there."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
import yaml

from monjyu_core.records.corrections import PaperIdentity, correct
from monjyu_core.records.questions import make_question
from monjyu_core.records.recorded_answers import answers_path, keep_answers, stored_answers
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.ids import file_paper_id
from monjyu_core.storage.snapshot import published, read_current
from monjyu_query.saved.ask_questions import ask_all
from monjyu_query.saved.causes import AnswerDiff, Cause
from monjyu_query.saved.compared_snapshots import Journey, snapshots_between
from monjyu_query.search.searcher import Searcher
from tests.assets.in_process import POOL, InThisProcess
from tests.assets.worlds import World
from tests.conftest import SAMPLES

pytestmark = pytest.mark.slow

PAPERS = ("answer-provenance.md", "incremental-indexes.txt", "relevance-budget.pdf", "noun-phrase-graphs.pdf")
PROVENANCE, BUDGET = file_paper_id(PAPERS[0]), file_paper_id(PAPERS[2])
QUESTIONS = [
    make_question(id=name, text=text, mode="hybrid")
    for name, text in {
        "ids": "How long must identifiers be so that they do not collide?",
        "quotes": "How is a quoted sentence found in its source?",
        "budget": "How is a budget of relevance tests spent?",
        "edges": "How are the edges of a noun phrase graph weighted?",
        "incremental": "When does an incremental index equal a full rebuild?",
        "leiden": "Which guarantee does Leiden give for communities?",
    }.items()
]
NEW = """---
title: "Guarantees of Leiden for Communities"
author: [Ada Quill, Ben Marsh]
date: 14 April 2025
doi: 10.1234/guarantees
---

# Abstract

Leiden gives the guarantee that communities are connected. We say which guarantee it gives, and prove it.

# Introduction

Which guarantee does Leiden give? It guarantees for communities that each of them is well connected [1], which Louvain
does not.

# References

1. Quill, A. (2024). Communities that hold together. Journal of Graphs, 3(1), 1-9.
"""


@dataclass
class History:
    """The steps of a world, each published, with what its snapshot answers."""

    world: World
    snapshots: dict[str, str]

    def step(self, name: str) -> None:
        self.world.build()
        current = read_current(self.world.work.folder)
        assert current is not None
        self.snapshots[name] = current
        searcher = Searcher(self.world.data, "c")
        keep_answers(self.world.work.folder, current, ask_all(searcher, QUESTIONS).answers)

    def diffs(self, older: str, newer: str) -> list[AnswerDiff]:
        return Journey(self.world.data, "c", self.snapshots[older], self.snapshots[newer]).diffs(QUESTIONS)

    def causes(self, older: str, newer: str) -> list[Cause]:
        """Of all citations that changed; some did."""
        found = [one.cause for diff in self.diffs(older, newer) for one in diff.citations]
        assert found
        return found


def edited(world: World) -> None:
    path = world.papers / PAPERS[0]
    path.write_text(path.read_text().replace("identifiers of 64 bits collide", "names of 64 bits clash"))


def added(world: World) -> None:
    (world.papers / "guarantees.md").write_text(NEW)


def renamed(world: World) -> None:
    (world.papers / PAPERS[1]).rename(world.papers / "rebuilds.txt")


def removed(world: World) -> None:
    (world.papers / "guarantees.md").unlink()


def retracted(world: World) -> None:
    heads = ["Title", "Author", "RetractionDate", "RetractionDOI", "OriginalPaperDate", "OriginalPaperDOI"]
    heads += ["OriginalPaperPubMedID", "RetractionNature", "Reason"]
    paper = next(row for row in world.tables()["papers"] if row["paper_id"] == BUDGET)
    author = next(row["name"] for row in world.tables()["authors"] if row["paper_id"] == BUDGET and row["ord"] == 0)
    row = [paper["title"], author, "3/31/2026 0:00", "10.1234/notice", f"1/1/{paper['year']} 0:00"]
    with (world.data.root / "notices.csv").open("w", newline="") as file:
        csv.writer(file).writerows([heads, [*row, paper["doi"] or "", "0", "Retraction", "+Data errors;"]])
    set_overrides(world, {"scholarly": {"notices": ["notices.csv"]}, "search": {"retracted": "exclude"}})


def corrected(world: World) -> None:
    sha256 = next(row["sha256"] for row in world.tables()["manifest"] if row["paper_id"] == PROVENANCE)
    settings = load_settings()
    correct(
        world.work.folder,
        settings,
        PROVENANCE,
        "title",
        "How Long Identifiers Must Be",
        seen=PaperIdentity(sha256),
        by="local",
    )
    correct(world.work.folder, settings, PROVENANCE, "authors", ["Ada Quill"], seen=PaperIdentity(sha256), by="local")


def rechunked(world: World) -> None:
    set_overrides(world, {"chunking": {"size_tokens": 60, "overlap_tokens": 0}})


class ReadOtherwise(InThisProcess):
    """A later parser, whose rectangles begin a point further to the right."""

    def map(self, tasks: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Any]]:
        for task, paper in super().map(tasks):
            for sentence in (one for section in paper.sections for one in section.sentences):
                for span in sentence.spans:
                    span.boxes = [(x0 + 1, y0, x1, y1) for x0, y0, x1, y1 in span.boxes]
            yield task, paper


def reparsed(world: World) -> None:
    PARSER.setattr(POOL, ReadOtherwise)
    PARSER.setattr("monjyu_assets.stages.shared.parse_plan.PARSER_VERSION", "another")


PARSER = pytest.MonkeyPatch()
STEPS: tuple[Callable[[World], None], ...] = (
    *(edited, added, renamed, removed),
    *(retracted, corrected, reparsed, rechunked),
)


def set_overrides(world: World, more: dict[str, object]) -> None:
    path = world.papers / "collection.yaml"
    before = yaml.safe_load(path.read_text())["overrides"] if path.exists() else {}
    path.write_text(yaml.safe_dump({"overrides": before | more}))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    folder = tmp_path_factory.mktemp("history")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", str(folder / "data"))
        patch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "20")
        PARSER.setattr(POOL, InThisProcess)
        world = World(folder / "data", folder / "papers")
        for name in PAPERS:
            shutil.copy(SAMPLES / name, world.papers)
        made = History(world, {})
        made.step("first")
        for change in STEPS:
            change(world)
            made.step(change.__name__)
        yield made
        PARSER.undo()


def test_each_change_has_its_cause(history: History) -> None:
    """The document that was touched is named for what it cites; what others lose or gain by it is ranking."""
    right, wrong = 0, []
    before = "first"
    touched = {"edited": PROVENANCE, "retracted": BUDGET, "corrected": PROVENANCE}
    touched |= {"added": file_paper_id("guarantees.md"), "removed": file_paper_id("guarantees.md")}
    for step in (change.__name__ for change in STEPS):
        for diff in history.diffs(before, step):
            for one in diff.citations:
                own = step in ("renamed", "reparsed", "rechunked") or one.paper_id == touched[step]
                expected = {"rechunked": "settings"}.get(step, step) if own else "ranking"
                as_expected = one.cause.kind == expected and (own or touched[step] in one.cause.documents)
                right += as_expected
                wrong += [] if as_expected else [(step, diff.question_id, one.change, one.paper_id, one.cause)]
        before = step
    assert not wrong, f"{len(wrong)} of {right + len(wrong)} causes are wrong: {wrong}"
    assert right >= 15


def test_each_step_is_seen(history: History) -> None:
    steps = ["first", *(change.__name__ for change in STEPS)]
    seen = {step: {one.kind for one in history.causes(before, step)} for before, step in pairwise(steps)}
    assert all({"rechunked": "settings"}.get(step, step) in kinds for step, kinds in seen.items()), seen


def test_a_renamed_file_is_the_same_document(history: History) -> None:
    changes = [one for diff in history.diffs("added", "renamed") for one in diff.citations]
    assert {(one.change, *one.what) for one in changes} == {("moved", "paper_id")}


def test_a_file_that_was_read_otherwise_is_told_from_one_that_changed(history: History) -> None:
    changes = [one for diff in history.diffs("corrected", "reparsed") for one in diff.citations]
    assert {(one.change, *one.what, one.cause.kind) for one in changes} == {("moved", "boxes", "reparsed")}
    assert all(one.cause.paper_id == one.paper_id and "the same file" in one.cause.detail for one in changes)
    assert all(one.sentence_ids and one.spans and one.page[0] == one.page[1] for one in changes)


def test_equal_snapshots_differ_in_nothing(history: History) -> None:
    for name in history.snapshots:
        assert all(one.same and not one.citations for one in history.diffs(name, name))


def test_what_is_not_recorded_is_asked_of_the_snapshot(history: History) -> None:
    """And gives what was recorded of it."""
    folder = history.world.work.folder
    recorded = history.diffs("first", "edited")
    path = answers_path(folder, history.snapshots["first"])
    aside = path.rename(path.with_suffix(".aside"))
    try:
        asked = history.diffs("first", "edited")
    finally:
        aside.rename(path)
    assert [one.recorded for one in asked] == [(False, True)] * len(QUESTIONS)
    assert [one.model_copy(update={"recorded": (True, True)}) for one in asked] == recorded


def test_a_setting_of_the_search_is_told_from_other_documents(history: History) -> None:
    """Both changed at once: what the older snapshot gives under the newer settings already is the settings' doing."""
    world, before = history.world, "rechunked"
    set_overrides(world, {"answer": {"max_sentences": 1}})
    (world.papers / "aside.md").write_text("---\ntitle: Of zebrafish\n---\n\n# Text\n\nThe zebrafish swims.\n")
    history.step("shorter")
    kinds = [one.kind for one in history.causes(before, "shorter")]
    assert kinds and set(kinds) == {"settings"}
    assert all("answer.max_sentences" in one.detail for one in history.causes(before, "shorter"))


def test_a_date_names_the_snapshot_of_then(history: History) -> None:
    folder = history.world.work.folder
    ids = published(folder)
    assert snapshots_between(folder, None, None) == (ids[-2], ids[-1])
    assert snapshots_between(folder, None, None, "2020-01-01")[0] == ids[0]
    assert snapshots_between(folder, None, None, "2999-01-01")[0] == ids[-1]


def test_answers_go_with_their_snapshot(history: History) -> None:
    from monjyu_assets.publishing.publish import collect

    folder = history.world.work.folder
    collect(folder, 2)
    kept = published(folder)
    assert [path.stem for path in sorted(answers_path(folder, "x").parent.glob("*.parquet"))] == kept
    assert all(stored_answers(folder, one) for one in kept)

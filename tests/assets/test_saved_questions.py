"""Saved questions at a publish: what blocks, what warns, what costs nothing, and what goes with a paper."""

from __future__ import annotations

import json
from typing import Any

import dagster as dg
import duckdb
import pytest
from click.testing import CliRunner

from monjyu_assets.indexing.index_operations import purge_paper
from monjyu_assets.orchestration.assets.index_snapshot import answers_metadata
from monjyu_assets.orchestration.checks.snapshot_checks import questions_result
from monjyu_assets.publishing.publish import PublishBlocked, publish
from monjyu_assets.publishing.questions_gate import QuestionsGate
from monjyu_core.records.question_list import QUESTIONS
from monjyu_core.records.recorded_answers import answers_path, stored_answers
from monjyu_core.storage.ids import file_paper_id
from monjyu_core.storage.snapshot import published, read_current
from monjyu_query.commands.questions_command import questions
from monjyu_query.saved.saving import accept, checked, save
from monjyu_query.search.searcher import Searcher
from tests.assets.changes import full_paper
from tests.assets.conftest import PROVENANCE as FILE
from tests.assets.worlds import World

PROVENANCE = file_paper_id(FILE)
TEXT = "How long must identifiers be so that they do not collide?"


def asked_here(gate: QuestionsGate, command: list[str], seconds: int) -> dict[str, Any]:
    """In place of the process of the reader, which takes seconds to begin; one test starts it."""
    done = CliRunner().invoke(questions, command[command.index("run") :])
    assert done.exit_code in (0, 1), done.output
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def ask_for(world: World, question_id: str, severity: str, **expect: Any) -> None:
    question = {"id": question_id, "text": TEXT, "mode": "hybrid", "severity": severity, "expect": expect}
    save(Searcher(world.data, "c"), [checked(question)])


def edit(world: World) -> None:
    path = world.papers / "answer-provenance.md"
    path.write_text(path.read_text().replace("identifiers of 64 bits collide", "names of 64 bits clash"))


def built_with(world: World, monkeypatch: pytest.MonkeyPatch) -> QuestionsGate:
    """The gate that a build of the world went through."""
    gate = QuestionsGate(world.work)
    monkeypatch.setattr("tests.assets.worlds.publish", lambda work, connect: publish(work, connect, gate))
    world.build()
    return gate


def test_without_saved_questions_no_process_is_started(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(QuestionsGate, "_run", refuse)
    edit(world)
    gate = built_with(world, monkeypatch)
    assert gate.answers == [] and not answers_path(world.work.folder, str(read_current(world.work.folder))).exists()
    assert questions_result(gate).passed


def test_a_question_that_blocks_leaves_readers_where_they_are(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the new answer is accepted: then the next publish holds the question to it."""
    ask_for(world, "ids", "block", same_answer=True)
    before, baseline = read_current(world.work.folder), QUESTIONS.read(world.work.folder).questions["ids"].baseline
    assert baseline is not None and baseline.citations
    edit(world)
    with pytest.raises(PublishBlocked, match=r"saved_questions fails for 1 .*is missing") as blocked:
        built_with(world, monkeypatch)
    assert "questions accept" in str(blocked.value) and blocked.value.exit_code == 1
    assert read_current(world.work.folder) == before and published(world.work.folder) == [before]
    assert "bits" not in str(blocked.value)  # Dagster's log outlives a purge
    monkeypatch.setattr(QuestionsGate, "_run", asked_here)
    accept(Searcher(world.data, "c"), ["ids"])
    built_with(world, monkeypatch)
    now = QUESTIONS.read(world.work.folder).questions["ids"].baseline
    assert now is not None and now.snapshot_id == read_current(world.work.folder) != before
    assert now.citations != baseline.citations


def test_a_question_that_warns_is_a_failed_check(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuestionsGate, "_run", asked_here)
    ask_for(world, "ids", "warn", min_papers=7, must_cite=[{"paper": PROVENANCE}])
    edit(world)
    gate = built_with(world, monkeypatch)
    result = questions_result(gate)
    assert not result.passed and result.severity is dg.AssetCheckSeverity.WARN
    current = str(read_current(world.work.folder))
    (answer,) = stored_answers(world.work.folder, current).values()
    assert [one.expectation for one in answer.failures] == ["min_papers"]
    assert all(one.sentence_ids and one.paper_sha256 for one in answer.citations) and answer.parts
    assert answers_metadata(world.work, gate, current)[0]["hold"] == 0
    files = str(answers_path(world.work.folder, "*"))
    rows = duckdb.sql(f"SELECT question_id, len(citations), len(failures) FROM '{files}'").fetchall()
    assert rows == [("ids", len(answer.citations), 1)]


def test_an_equal_snapshot_is_not_asked_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was touched: other times stand in a new snapshot, and nothing that an answer depends on."""
    monkeypatch.setattr(QuestionsGate, "_run", asked_here)
    ask_for(world, "ids", "warn", min_papers=1)
    edit(world)
    assert built_with(world, monkeypatch).reused == 0
    first = str(read_current(world.work.folder))
    path = world.papers / "answer-provenance.md"
    path.write_bytes(path.read_bytes())
    gate = built_with(world, monkeypatch)
    second = str(read_current(world.work.folder))
    assert second != first and gate.reused == 1
    old, new = (stored_answers(world.work.folder, one)["ids"] for one in (first, second))
    assert old.answer == new.answer and new.snapshot_id == second


def test_a_purge_waits_for_no_question_and_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuestionsGate, "_run", asked_here)
    ask_for(world, "ids", "block", must_cite=[{"paper": PROVENANCE, "text": "ten million identifiers"}])
    ask_for(world, "same", "block", same_answer=True)
    edit(world)
    path = world.papers / "answer-provenance.md"
    path.write_text(path.read_text().replace("names of 64 bits clash", "identifiers of 64 bits collide"))
    (world.papers / "p6.md").write_text(full_paper(6))
    built_with(world, monkeypatch)
    held = [path for path in world.work.folder.root.rglob("*.parquet") if path.parent.name == "saved_answers"]
    assert len(held) == 1
    monkeypatch.undo()
    monkeypatch.setenv("MONJYU_DATA", str(world.data.root))
    purge_paper(world.data, "c", PROVENANCE)
    folder = world.work.folder
    assert not list(folder.root.glob("saved_answers/*"))
    assert "million" not in QUESTIONS.path(folder).read_text() and PROVENANCE not in QUESTIONS.path(folder).read_text()
    assert QUESTIONS.read(folder).questions["same"].baseline is None

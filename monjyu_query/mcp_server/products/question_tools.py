"""Tools about saved questions: `monjyu_questions` and `monjyu_run_questions`."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from monjyu_core.records.questions import Failure, SavedAnswer, Severity, read_questions, unknown
from monjyu_core.records.recorded_answers import kept_answers
from monjyu_core.storage.snapshot import read_current
from monjyu_query.answers.render import quotable
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.mcp_server.search_tools import Collection
from monjyu_query.mcp_server.texts import QUOTED, given
from monjyu_query.mcp_server.tool_errors import as_tool_errors
from monjyu_query.saved.ask_questions import ask_all

MOST = 20
"""Questions that one call asks."""


class AskedQuestion(BaseModel):
    """`holds`: whether the answer is as expected; null where none is recorded."""

    id: str
    text: str
    severity: Severity
    holds: bool | None
    status: str = ""
    answer: str = ""
    failures: list[Failure] = Field(default_factory=list)


class AskedQuestions(BaseModel):
    collection: str
    snapshot_id: str
    questions: list[AskedQuestion]

    def as_text(self) -> str:
        lines = [f"Saved questions of {self.collection}, snapshot {self.snapshot_id}."]
        for one in self.questions:
            state = "not answered yet" if one.holds is None else "holds" if one.holds else f"fails ({one.severity})"
            lines.append(f"- {one.id}: {quotable(one.text)}: {state}")
            lines += [f"  - {failure.expectation}: {quotable(failure.detail)}" for failure in one.failures]
            lines += [f"  {QUOTED} {quotable(one.answer)}"] if one.answer else []
        return "\n".join(lines if self.questions else [*lines, "None is saved."])


class QuestionTools:
    """The tools; their names, parameters and docstrings are what clients see."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    async def monjyu_questions(self, collection: Collection = None) -> Annotated[CallToolResult, AskedQuestions]:
        """List the saved questions of a collection, and whether the published index answers them as expected."""
        with as_tool_errors():
            listed = await self._monjyu.run(lambda: self._listed(collection))
        return given(listed.as_text(), listed)

    async def monjyu_run_questions(
        self,
        collection: Collection = None,
        ids: Annotated[list[str], Field(max_length=MOST, description="Only these; by default the first twenty.")] = [],  # noqa: B006
    ) -> Annotated[CallToolResult, AskedQuestions]:
        """Ask saved questions on the published index now, and check the answers against their expectations."""
        with as_tool_errors():
            asked = await self._monjyu.run(lambda: self._asked(collection, ids))
        return given(asked.as_text(), asked)

    def _listed(self, collection: str | None) -> AskedQuestions:
        folder = self._monjyu.blocking.chosen_searcher(collection).folder
        current = read_current(folder) or ""
        answers = kept_answers(folder, current)
        listed = []
        for one in read_questions(folder).questions.values():
            answer = answers.get(one.id)
            held = {"holds": answer.passed, "status": answer.status, "failures": answer.failures} if answer else {}
            listed.append(
                AskedQuestion.model_validate(
                    {"id": one.id, "text": one.text, "severity": one.severity, "holds": None} | held
                )
            )
        return AskedQuestions(collection=folder.name, snapshot_id=current, questions=listed)

    def _asked(self, collection: str | None, ids: list[str]) -> AskedQuestions:
        searcher = self._monjyu.blocking.chosen_searcher(collection)
        saved = read_questions(searcher.folder).questions
        for name in ids:
            if name not in saved:
                raise unknown(name)
        answers = ask_all(searcher, [saved[name] for name in ids or list(saved)[:MOST]]).answers
        snapshot_id = searcher.current().snapshot.id
        shown = [_shown(one) for one in answers]
        return AskedQuestions(collection=searcher.collection, snapshot_id=snapshot_id, questions=shown)


def _shown(answer: SavedAnswer) -> AskedQuestion:
    told = answer.model_dump(include={"text", "severity", "status", "answer", "failures"})
    return AskedQuestion.model_validate(told | {"id": answer.question_id, "holds": answer.passed})

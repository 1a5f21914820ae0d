"""The tools `monjyu_questions` and `monjyu_run_questions` for saved questions, and `monjyu_tensions`."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from monjyu_core.errors import counted
from monjyu_core.records.question_list import QUESTIONS, unknown
from monjyu_core.records.questions import Failure, SavedAnswer, Severity
from monjyu_core.records.recorded_answers import stored_answers
from monjyu_core.storage.snapshot import read_current
from monjyu_query.answers.render import quotable
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.digests.result import source_line
from monjyu_query.mcp_server.register import as_tool_errors
from monjyu_query.mcp_server.search_tools import Collection
from monjyu_query.mcp_server.texts import QUOTED, given
from monjyu_query.questions.tension_list import LONGEST_CONCEPT, Tensions, heading
from monjyu_query.saved.ask_questions import ask_all

MOST = 20
"""The maximum number of questions asked by one call."""


class AskedQuestion(BaseModel):
    """A saved question with its answer. `holds`: whether the answer meets the expectations; null if no answer is
    recorded."""

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
        return "\n".join(lines if self.questions else [*lines, "No questions are saved."])


class QuestionTools:
    """The tools for saved questions and contradictions. Clients see their names, parameters and docstrings."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    async def monjyu_tensions(
        self,
        collection: Collection = None,
        concept: Annotated[
            str, Field(max_length=LONGEST_CONCEPT, description="Words of the subject; empty for all.")
        ] = "",
        most: Annotated[int, Field(ge=1, le=50, description="Maximum number of pairs.")] = 10,
    ) -> Annotated[CallToolResult, Tensions]:
        """Find pairs of statements of two papers that contradict each other, with both sides quoted. The model of
        roles.verify judges them; read both quotes yourself. If none is found, or without such a model, the statements
        of each paper about `concept` are returned for comparison."""
        with as_tool_errors():
            found = await self._monjyu.tensions(collection, concept=concept or None, most=most)
        return given(_text(found), found)

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
        answers = stored_answers(folder, current)
        listed = []
        for one in QUESTIONS.read(folder).questions.values():
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
        saved = QUESTIONS.read(searcher.folder).questions
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


def _text(found: Tensions) -> str:
    warnings = [quotable(warning) for warning in found.warnings]
    if not found.tensions:
        read = (
            f"{counted(found.read, 'pair')} of statements read; none was judged contradictory." if found.built else ""
        )
        return "\n".join(filter(None, [*warnings, read, *_statement_lines(found)]))
    quotes = {one.n: one for one in found.citations}
    lines = [*warnings, f"{found.total} found; {len(found.tensions)} shown.", QUOTED]
    for number, tension in enumerate(found.tensions, start=1):
        lines += ["", f"({number}) {quotable(tension.concept)}: {quotable(tension.reason)}"]
        for side in (tension.first, tension.second):
            lines.append(f"- “{quotable(quotes[side.citation].quote)}”")
            lines.append(f"  {source_line(quotes[side.citation])}")
    return "\n".join(lines)


def _statement_lines(found: Tensions) -> list[str]:
    if not found.said:
        return []
    lines = [heading(found), QUOTED]
    for quote in found.citations:
        lines += [f"- “{quotable(quote.quote)}”", f"  {source_line(quote)}"]
    return lines

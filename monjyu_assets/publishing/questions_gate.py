"""Asks the saved questions before readers see a snapshot, and records the answers.

`monjyu questions run` asks in a separate process, because the writer never imports the reader. Without saved questions
no process is started.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import IO

from monjyu_assets.publishing.checks import CheckResult
from monjyu_assets.work.run_limits import is_only_removing
from monjyu_assets.work.work import Work
from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.records.question_list import QUESTIONS, Questions
from monjyu_core.records.questions import SavedAnswer, baseline_of
from monjyu_core.records.recorded_answers import keep_answers
from monjyu_core.values import Values

NAME = "saved_questions"
WHAT = (
    "The answers to the saved questions meet their expectations. If a blocking question fails, readers keep the "
    "previous snapshot."
)
_WHAT_TO_DO = (
    "Correct the papers or settings and index again; or accept the new answer with `monjyu questions accept ID`, turn "
    "it into a warning (`monjyu questions add` without --block) or remove the question."
)
_SHOWN = 5
_OUT_OF_REACH = 3
"""The exit code if a model or another service cannot be reached."""


class QuestionsGate:
    """Asks a snapshot the saved questions. `answers` is empty before that, and if there are no questions."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.answers: list[SavedAnswer] = []
        self.reused = 0
        self.seconds = 0.0

    def __call__(self, snapshot_id: str) -> CheckResult | None:
        """Ask and store. Return the failed result if a question blocks publishing, else None. A purge asks none."""
        if is_only_removing() or not QUESTIONS.read(self.work.folder).questions:
            return None
        self.ask(snapshot_id)
        blocking = [one for one in self.answers if one.blocks]
        if blocking:
            examples = [_failure_line(one) for one in blocking[:_SHOWN]]
            return CheckResult(NAME, False, len(blocking), examples, _WHAT_TO_DO)
        for one in self.failed:
            self.work.warn(f"Saved question {_failure_line(one)}.")
        self.keep(snapshot_id)
        return None

    @property
    def failed(self) -> list[SavedAnswer]:
        return [one for one in self.answers if not one.passed]

    def ask(self, snapshot_id: str) -> None:
        """Answer the questions in a reader's process. Raises ConfigurationError, or ExternalAPIError."""
        command = [sys.executable, "-m", "monjyu_core", "questions", "run", "-c", self.work.name]
        command += ["--snapshot", snapshot_id, "--json"]
        told = self._run(command, self.work.settings.checks.saved_questions_seconds)
        self.answers = [SavedAnswer.model_validate(one) for one in told["answers"]]
        self.reused, self.seconds = int(told["reused"]), float(told["seconds"])

    def keep(self, snapshot_id: str) -> None:
        """Store the answers. They become the baseline of questions that need an unchanged answer and have none."""
        keep_answers(self.work.folder, snapshot_id, self.answers)
        baselines = {one.question_id: baseline_of(one) for one in self.answers if not one.error}

        def change(held: Questions) -> Questions:
            for question in held.questions.values():
                if question.expect.same_answer and question.baseline is None:
                    question.baseline = baselines.get(question.id)
            return held

        QUESTIONS.change(self.work.folder, change)

    def _run(self, command: list[str], seconds: int) -> Values:
        environment = os.environ | {"MONJYU_DATA": str(self.work.data.root)}
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.PIPE, text=True)
            assert process.stderr is not None
            last: list[str] = []
            hearing = threading.Thread(target=self._hear, args=(process.stderr, last), daemon=True)
            hearing.start()
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired as error:
                raise ConfigurationError(
                    f"{NAME}: answering took longer than {seconds} s.",
                    "Delete saved questions, or raise checks.saved_questions_seconds.",
                ) from error
            finally:
                process.kill()  # also if the run is interrupted; no effect if it has ended
                process.wait()
                hearing.join(timeout=5)
            out.seek(0)
            told = out.read()
        if code in (0, 1) and told:
            found: Values = json.loads(told)
            return found
        kind = ExternalAPIError if code == _OUT_OF_REACH else ConfigurationError
        raise kind(f"{NAME} could not be asked: {last[-1] if last else 'no message'}", "Nothing was published.")

    def _hear(self, lines: IO[str], last: list[str]) -> None:
        """Report progress from lines such as `3 of 20 saved questions`; keep the last other line in `last`."""
        for line in lines:
            match line.split():
                case [done, "of", total, "saved", "questions"] if done.isdecimal() and total.isdecimal():
                    self.work.progress(NAME, int(done), int(total))
                case [_, *_]:
                    last[:] = [line.strip()]


def _failure_line(answer: SavedAnswer) -> str:
    """The failed expectations of an answer, without text of papers except what the question itself expects."""
    return f"{answer.question_id}: " + "; ".join(f"{one.expectation}: {one.detail}" for one in answer.failures)

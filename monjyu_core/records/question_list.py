"""The saved questions of a collection: `data/index/<collection>/questions.json`, next to its record.

They are an input, like the papers: computations change only the baselines, which a publish stores for questions that
request one.
"""

from collections.abc import Callable

from pydantic import BaseModel

from monjyu_core.errors import ConfigurationError
from monjyu_core.records.input_file import InputFile
from monjyu_core.records.questions import MOST_QUESTIONS, Question
from monjyu_core.remote.single_file import change_in_store
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder


class Questions(BaseModel):
    """The questions, by id, in order."""

    questions: dict[str, Question] = {}


Change = Callable[[Questions], Questions]


QUESTIONS = InputFile("questions.json", Questions)


def change_questions(folder: CollectionFolder, settings: Settings, change: Change) -> None:
    """Write the result of `change`, here and in the object store if collections are stored there. Raises StorageError
    if the store's copy is locked for too long."""
    if not change_in_store(folder, settings, QUESTIONS.name, lambda text: QUESTIONS.changed(text, change)):
        QUESTIONS.change(folder, change)


def save_questions(folder: CollectionFolder, settings: Settings, questions: list[Question]) -> None:
    """Add the questions; each replaces one of the same id."""

    def change(held: Questions) -> Questions:
        kept = held.questions | {one.id: one for one in questions}
        if len(kept) > MOST_QUESTIONS:
            raise ConfigurationError(f"The limit is {MOST_QUESTIONS} saved questions.", "Remove some first.")
        return Questions(questions=kept)

    change_questions(folder, settings, change)


def remove_question(folder: CollectionFolder, settings: Settings, question_id: str) -> None:
    """Remove a question. Raises ConfigurationError if no question has the id."""

    def change(held: Questions) -> Questions:
        if held.questions.pop(question_id, None) is None:
            raise unknown(question_id)
        return held

    change_questions(folder, settings, change)


def unknown(question_id: str) -> ConfigurationError:
    return ConfigurationError(f"There is no saved question {question_id[:80]!r}.", "See `monjyu questions list`.")


def forget_paper(folder: CollectionFolder, paper_id: str) -> None:
    """Remove expectations about a purged paper: they may contain its sentences, and nothing can cite it any more."""

    def change(held: Questions) -> Questions:
        for question in held.questions.values():
            expect = question.expect
            expect.must_cite = [one for one in expect.must_cite if one.paper != paper_id]
            expect.must_not_cite = [one for one in expect.must_not_cite if one != paper_id]
            if question.baseline and any(one.paper_id == paper_id for one in question.baseline.citations):
                question.baseline = None
        return held

    if QUESTIONS.path(folder).is_file():
        QUESTIONS.change(folder, change)

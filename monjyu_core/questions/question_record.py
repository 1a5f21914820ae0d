"""The saved questions of a collection: `data/index/<collection>/questions.json`, beside its record.

They are an input, as the papers are: nothing that is computed changes them but the baselines, which a publish keeps for
questions that ask for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ValidationError

from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.questions.question import MOST_QUESTIONS, Question
from monjyu_core.remote.small_file import change_in_store
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder, write_atomically

FILE = "questions.json"
_SECONDS = 30


class Questions(BaseModel):
    """By id, in order."""

    questions: dict[str, Question] = {}


Change = Callable[[Questions], Questions]


def questions_path(folder: CollectionFolder) -> Path:
    return folder.root / FILE


def read_questions(folder: CollectionFolder) -> Questions:
    """StorageError where the file is damaged: publishing without it would let through what it keeps back."""
    try:
        return _unpacked(questions_path(folder).read_text("utf-8"))
    except FileNotFoundError:
        return Questions()


def change_questions(folder: CollectionFolder, settings: Settings, change: Change) -> None:
    """Write what `change` makes of them, here and in the object store where collections are kept there. StorageError
    where the store's copy is held too long."""
    if not change_in_store(folder, settings, FILE, lambda text: _packed(change(_unpacked(text)))):
        change_here(folder, change)


def change_here(folder: CollectionFolder, change: Change) -> None:
    """The same by a publisher, who brings the file to the store at its end."""
    with _lock(folder):
        before = read_questions(folder)
        after = change(before.model_copy(deep=True))
        if not after.questions:
            questions_path(folder).unlink(missing_ok=True)
        elif after != before:
            write_atomically(questions_path(folder), _packed(after).encode())


def save_questions(folder: CollectionFolder, settings: Settings, questions: list[Question]) -> None:
    """Add them, each in place of one of the same id."""

    def change(held: Questions) -> Questions:
        kept = held.questions | {one.id: one for one in questions}
        if len(kept) > MOST_QUESTIONS:
            raise ConfigurationError(f"There may be {MOST_QUESTIONS} saved questions.", "Remove some first.")
        return Questions(questions=kept)

    change_questions(folder, settings, change)


def remove_question(folder: CollectionFolder, settings: Settings, question_id: str) -> None:
    """ConfigurationError where there is none of this id."""

    def change(held: Questions) -> Questions:
        if held.questions.pop(question_id, None) is None:
            raise unknown(question_id)
        return held

    change_questions(folder, settings, change)


def unknown(question_id: str) -> ConfigurationError:
    return ConfigurationError(f"There is no saved question {question_id[:80]!r}.", "See `monjyu questions list`.")


def forget_paper(folder: CollectionFolder, paper_id: str) -> None:
    """What is expected of a purged paper goes: its sentences may stand there, and nothing can cite it any more."""

    def change(held: Questions) -> Questions:
        for question in held.questions.values():
            expect = question.expect
            expect.must_cite = [one for one in expect.must_cite if one.paper != paper_id]
            expect.must_not_cite = [one for one in expect.must_not_cite if one != paper_id]
            if question.baseline and any(one.paper_id == paper_id for one in question.baseline.citations):
                question.baseline = None
        return held

    if questions_path(folder).is_file():
        change_here(folder, change)


def _unpacked(text: str) -> Questions:
    try:
        return Questions.model_validate_json(text) if text else Questions()
    except ValidationError as error:
        raise StorageError(f"{FILE} of the collection is damaged.", "Restore it, or delete it.") from error


def _packed(questions: Questions) -> str:
    """In order, so that equal questions are equal bytes; nothing where there are none."""
    ordered = {name: questions.questions[name] for name in sorted(questions.questions)}
    return Questions(questions=ordered).model_dump_json(indent=1) if ordered else ""


@contextmanager
def _lock(folder: CollectionFolder) -> Iterator[None]:
    folder.root.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.root / "questions.lock", timeout=_SECONDS):
        yield

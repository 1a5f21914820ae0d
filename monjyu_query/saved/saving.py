"""Saves questions, validated like a search; one that requires the same answer gets its current one as baseline."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import yaml

from monjyu_core.errors import ConfigurationError
from monjyu_core.records.question_list import QUESTIONS, Questions, change_questions, save_questions, unknown
from monjyu_core.records.questions import MOST_QUESTIONS, Question, baseline_of, make_question
from monjyu_core.storage.ids import digest
from monjyu_core.user_files.bounded_reading import FileRefused, parse_yaml, read_text
from monjyu_query.saved.ask_questions import ask, request_of
from monjyu_query.saved.listing import asked_as, basis_of
from monjyu_query.search.searcher import Searcher

_LARGEST, _MOST_VALUES = 4_000_000, 500_000
"""The maximum number of bytes and of values in a file of questions."""
_OWN = ("at", "by", "baseline")
"""Fields that only Monjyu writes."""


def checked(values: Mapping[str, object], by: str = "local") -> Question:
    """Return a checked question to save. Without an id, it gets an id derived from its words. Raises ConfigurationError
    or QueryError if a value is wrong."""
    given = {name: value for name, value in values.items() if name not in _OWN and value is not None}
    given.setdefault("id", f"q-{digest(given.get('text', ''), length=8)}")
    question = make_question(**given, by=by, at=datetime.now(UTC).isoformat(timespec="seconds"))
    request_of(question, "-")
    return question


def save(searcher: Searcher, questions: list[Question]) -> None:
    """Save questions for the searcher's collection. Those that require the same answer are asked for a baseline."""
    held = [_with_baseline(searcher, one) if one.expect.same_answer else one for one in questions]
    save_questions(searcher.folder, searcher.settings, held)


def _with_baseline(searcher: Searcher, question: Question) -> Question:
    """Return the question with the published snapshot's answer as its baseline. A question that is saved again without
    changes keeps its baseline."""
    before = QUESTIONS.read(searcher.folder).questions.get(question.id)
    if before is not None and before.baseline is not None and asked_as(before) == asked_as(question):
        return question.model_copy(update={"baseline": before.baseline})
    index = searcher.current()
    answer = ask(searcher, index, question, basis_of(index.snapshot.manifest, searcher.settings))
    if answer.error:
        raise ConfigurationError(
            f"{question.id} cannot require the same answer: {answer.error}",
            "Change the question, or drop `same_answer`.",
        )
    return question.model_copy(update={"baseline": baseline_of(answer)})


def accept(searcher: Searcher, question_ids: list[str]) -> list[str]:
    """Remove the baselines of `question_ids` (by default of all questions that require the same answer), so that the
    next publish stores its answers as baselines; return the ids."""
    accepted: list[str] = []

    def change(held: Questions) -> Questions:
        accepted.clear()
        for name in question_ids or [one.id for one in held.questions.values() if one.expect.same_answer]:
            if name not in held.questions:
                raise unknown(name)
            held.questions[name].baseline = None
            accepted.append(name)
        return held

    change_questions(searcher.folder, searcher.settings, change)
    return accepted


def read_file(path: Path) -> list[Question]:
    """Return the questions of a YAML file: a list, or a mapping with `questions`. Raises ConfigurationError if the file
    has another form, or a question is invalid."""
    shape = "Write a list of questions, each with `text`, and `expect` if something is expected."
    try:
        found = parse_yaml(read_text(path, _LARGEST), _MOST_VALUES)
    except (FileRefused, ValueError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path} cannot be read as YAML: {error}.", shape) from error
    listed = found.get("questions") if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ConfigurationError(f"{path} is not a list of questions.", shape)
    if len(listed) > MOST_QUESTIONS:
        raise ConfigurationError(f"{path} has {len(listed)} questions, more than {MOST_QUESTIONS}.", "Split the file.")
    questions = [checked({str(name): value for name, value in one.items()}) for one in listed]
    twice = {one.id for one in questions if sum(other.id == one.id for other in questions) > 1}
    if twice:
        raise ConfigurationError(f"{path} has {', '.join(sorted(twice))} twice.", "Give each question its own id.")
    return questions

"""Keeping what a snapshot answered, from the command line: a publish keeps its own."""

from __future__ import annotations

from monjyu_core.errors import ConfigurationError
from monjyu_core.questions.recorded_answers import keep_answers, kept_answers
from monjyu_core.questions.saved_answer import SavedAnswer
from monjyu_core.remote.holding import held_by_us
from monjyu_core.storage.snapshot import published
from monjyu_query.search.searcher import Searcher


def record_answers(searcher: Searcher, snapshot_id: str, answers: list[SavedAnswer]) -> None:
    """Keep them with those that the snapshot has already. ConfigurationError where the collection lives in an object
    store: what is there is written by whoever publishes."""
    if searcher.settings.storage.uri and not held_by_us(searcher.folder):
        raise ConfigurationError(
            "Answers of a collection in an object store are kept by the publish.", "Materialise saved_answers instead."
        )
    if snapshot_id in published(searcher.folder):
        kept = kept_answers(searcher.folder, snapshot_id) | {one.question_id: one for one in answers}
        keep_answers(searcher.folder, snapshot_id, (kept[name] for name in sorted(kept)))

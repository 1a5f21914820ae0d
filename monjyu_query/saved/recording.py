"""Keeping what a snapshot answered when somebody asks it: a publish keeps its own."""

from __future__ import annotations

from monjyu_core.questions.recorded_answers import add_answers
from monjyu_core.questions.saved_answer import SavedAnswer
from monjyu_core.storage.snapshot import published
from monjyu_query.search.searcher import Searcher


def record_answers(searcher: Searcher, snapshot_id: str, answers: list[SavedAnswer]) -> None:
    """Keep them with those that the snapshot has already; nothing of a snapshot that is gone."""
    if answers and snapshot_id in published(searcher.folder):
        add_answers(searcher.folder, searcher.settings, snapshot_id, answers)

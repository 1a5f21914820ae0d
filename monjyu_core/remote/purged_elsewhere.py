"""Papers that another machine purged: what this one keeps of them outside the collection's folder goes, too."""

from __future__ import annotations

from monjyu_core.models.cache.response_cache import forget_answers
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import load_record
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.state_store import StateStore


def purged_papers(folder: CollectionFolder) -> set[str]:
    record = load_record(folder)
    return set(record.excluded) if record else set()


def forget_purged(folder: CollectionFolder, before: set[str]) -> None:
    """After a fetch: traces of the collection and answers of models to prompts with a paper's text, if papers were
    purged since `before`."""
    new = purged_papers(folder) - before
    if not new:
        return
    data = DataFolder(folder.root.parents[1])
    StateStore(data.state).delete_those("traces", "collection", folder.name)
    for paper_id in sorted(new):
        forget_answers(load_settings().cache, data, f"paper:{folder.name}/{paper_id}")

"""Corrections of a collection that lies in an object store: made on any machine, kept by all, lost by none."""

from __future__ import annotations

from pathlib import Path

from monjyu_core.records.corrections import CORRECTIONS, PaperIdentity, correct
from monjyu_core.remote.collection_lock import holding
from monjyu_core.remote.copies import look, pull_all
from monjyu_core.remote.object_store import Objects
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder
from tests.core.remote.test_object_stores import machine, publish, silent
from tests.store_process import write

SEEN = PaperIdentity("0" * 64, "a.md")


def values(folder: CollectionFolder, paper_id: str = "p") -> dict[str, object]:
    found = CORRECTIONS.read(folder).papers
    return {field: one.value for field, one in found[paper_id].fields.items()} if paper_id in found else {}


def test_they_go_through_the_store_and_outlast_a_publish(tmp_path: Path, settings: Settings, objects: Objects) -> None:
    (data_a, a), (data_b, b), (reader, served) = (machine(tmp_path, name) for name in "abr")
    publish(a, settings, 1)
    look(reader, objects)
    pull_all(data_b, settings, [])

    def mend(folder: CollectionFolder, field: str, value: object) -> bool:
        return correct(folder, settings, "p", field, value, seen=SEEN, by="key:1")  # type: ignore[arg-type]

    assert mend(b, "title", "From b") and values(b) == {"title": "From b"}
    assert mend(served, "venue", "From a reader")  # a service that only follows: it has not seen the title yet
    assert mend(a, "doi", "10.1234/a") and not mend(a, "doi", "10.1234/a")
    everything = {"title": "From b", "venue": "From a reader", "doi": "10.1234/a"}
    with holding(a, settings, silent):  # the next index begins with what others have said
        assert values(a) == everything
        assert mend(a, "abstract", "Said while it is published")
        write(a.root, 2)
    look(reader, objects)
    pull_all(data_b, settings, [])
    assert values(b) == values(served) == everything | {"abstract": "Said while it is published"}

    for field in values(b):
        assert mend(b, field, None)
    look(reader, objects)
    pull_all(data_a, settings, [])
    assert not any(CORRECTIONS.path(folder).exists() for folder in (a, b, served))

"""The reader's results for passages of a question; the most recent are cached, because lazy search, the reranker and
the answer read the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_query.ranking.scripts import unread

if TYPE_CHECKING:
    from monjyu_core.reader import PassageReading, Reader
    from monjyu_core.reader.passage_reader import ModelName

ENGLISH: ModelName = "all-MiniLM-L6-v2"
MULTILINGUAL: ModelName = "multilingual-e5-small"
MOST_KEPT = 20_000
"""The number of cached readings per process, about a kilobyte each."""
AT_ONCE = 64
"""The number of passages per call of the reader, which limits the memory of their states."""


_kept: dict[str, PassageReading] = {}
_lock = Lock()


class PassageReadings:
    """The reader of the settings' embedding model, English if vectors come over the network. Thread-safe; results are
    shared within a process, by the weights, the question and the texts."""

    def __init__(self, settings: Settings) -> None:
        embedding = settings.embedding
        multilingual = embedding.remote is None and embedding.model == MULTILINGUAL
        self.model = MULTILINGUAL if multilingual else ENGLISH
        self._settings = settings

    def reader(self, query: str) -> Reader | None:
        """The reader; None if the settings have none, or the model does not read the question's script."""
        if self._settings.search.reader == "off" or unread(query, self.model):
            return None
        from monjyu_core.reader import load_reader

        return load_reader(self.model, self._settings.embedding)

    def of(self, query: str, passages: Sequence[tuple[str, Sequence[str]]]) -> list[PassageReading] | None:
        """The reading of each passage with its paper's title; None if there is no reader for the question."""
        reader = self.reader(query)
        if reader is None:
            return None
        keys = [digest(reader.fingerprint, query, title, *sentences, length=32) for title, sentences in passages]
        with _lock:
            found = {key: reading for key in keys if (reading := _kept.get(key)) is not None}
        missing = {key: passage for key, passage in zip(keys, passages, strict=True) if key not in found}
        names = list(missing)
        for start in range(0, len(names), AT_ONCE):
            some = [missing[name] for name in names[start : start + AT_ONCE]]
            read = reader.read(query, [sentences for _, sentences in some], [title for title, _ in some])
            found.update(zip(names[start : start + AT_ONCE], read, strict=True))
        with _lock:
            if len(_kept) + len(names) > MOST_KEPT:
                _kept.clear()
            _kept.update((name, found[name]) for name in names)
        return [found[key] for key in keys]

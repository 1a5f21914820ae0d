"""Lets callers stop their searches, which then answer with the result so far. A stop request that reaches another
worker is written to the state store, which the searching worker checks once a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from dataclasses import dataclass, field

from monjyu_core.storage.state_store import StateStore

NAMESPACE = "stops"
SEARCH_ID = "^[0-9a-f]{32}$"
LOOK_SECONDS = 1.0
MOST_KEPT = 1000


@dataclass
class Stops:
    """The searches of one worker that can be stopped, by id."""

    store: StateStore
    under_way: dict[str, Stoppable] = field(default_factory=dict)

    def stop(self, search_id: str, asker: str | None) -> None:
        """Stop a search. Does nothing if it has ended, or belongs to somebody else."""
        here = self.under_way.get(search_id)
        if here is None:
            self.store.put(NAMESPACE, search_id, {"asked_by": asker})
            self.store.keep_newest(NAMESPACE, MOST_KEPT)
        elif here.asker == asker:
            here.cancel.set()


@dataclass
class Stoppable:
    """A search that `cancel` ends. From `listen` to `leave`, callers can stop it by its unguessable id."""

    stops: Stops
    asker: str | None
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    cancel: threading.Event = field(default_factory=threading.Event)
    _looking: asyncio.Task[None] | None = None

    def listen(self) -> None:
        self.stops.under_way[self.id] = self
        self._looking = asyncio.create_task(self._look())

    def leave(self) -> None:
        self.stops.under_way.pop(self.id, None)
        if self._looking is not None:
            self._looking.cancel()

    async def _look(self) -> None:
        store = self.stops.store
        while not self.cancel.is_set():
            await asyncio.sleep(LOOK_SECONDS)
            with contextlib.suppress(Exception):  # a failing state store must not end the search
                if await asyncio.to_thread(store.get, NAMESPACE, self.id) == {"asked_by": self.asker}:
                    await asyncio.to_thread(store.delete, NAMESPACE, self.id)
                    self.cancel.set()

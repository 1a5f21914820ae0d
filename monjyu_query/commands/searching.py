"""The searcher that commands ask, words from the command line as text that can be printed, and Ctrl-C."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monjyu_query.search.searcher import Searcher


def collection_searcher(collection: str | None) -> Searcher:
    """Of the collection named, or of the only one."""
    from monjyu_core.storage.folders import DataFolder
    from monjyu_core.storage.state_store import StateStore
    from monjyu_query.asking.which_collection import chosen_collection
    from monjyu_query.search.searcher import Searcher
    from monjyu_query.traces.traces import TraceLog

    data = DataFolder.default()
    return Searcher(data, chosen_collection(data, collection), TraceLog(StateStore(data.state)))


def printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def interrupt() -> threading.Event:
    """Set by the first Ctrl-C, so that what was found until then is printed; the second ends the program."""
    cancel = threading.Event()

    def handle(number: int, frame: object) -> None:
        cancel.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handle)
    return cancel

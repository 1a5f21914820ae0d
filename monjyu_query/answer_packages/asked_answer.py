"""The answer to export: of a question asked now, or of a stored search that is repeated from its trace.

A trace contains no text of an answer, so its question is asked again with its settings and snapshot; an extractive
answer is then identical. If the snapshot no longer exists, the current one is used, and the differences are listed.
"""

import re
from dataclasses import dataclass

from monjyu_core.errors import QueryError
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import published
from monjyu_core.storage.state_store import StateStore
from monjyu_core.values import Values
from monjyu_query.asking.request import SearchRequest, make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.asking.which_collection import require_collection
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.search.searcher import Searcher
from monjyu_query.search.traces import NAMESPACE, TraceLog, read_trace, trace_of, without_cost

_TRACE_ID = re.compile(r"[0-9a-f]{16}")
_THERE = "SELECT sentence_id FROM sentences WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))"


@dataclass(frozen=True)
class LeftOut:
    """A quote of the stored search that the collection no longer contains. `why`: `purged`, or `gone` (the paper was
    deleted or parsed again)."""

    paper_id: str
    sentence_ids: list[str]
    why: str


@dataclass(frozen=True)
class AskedAnswer:
    """An answer with its inputs. `differs` names the fields that differ from the trace; it is empty if the repeated
    search has the same result, or if the question was asked just now."""

    index: OpenIndex
    request: SearchRequest
    settings: Values
    result: SearchResult
    trace_id: str
    asked_at: str | None
    asked_of: str
    """The snapshot that the stored search used."""
    differs: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def is_trace_id(text: str) -> bool:
    return _TRACE_ID.fullmatch(text) is not None


def asked_now(data: DataFolder, request: SearchRequest) -> AskedAnswer:
    """Ask a question and store its trace. Raises QueryError if a new snapshot was published in the meantime."""
    store = StateStore(data.state)
    log = TraceLog(store)
    searcher = Searcher(data, request.collection, log)
    result = searcher.search(request)
    log.flush()
    index = searcher.current()
    if index.snapshot.id != result.snapshot_id:
        raise QueryError("The collection was published again meanwhile.", "Ask again.")
    settings = searcher.settings.model_dump(mode="json", include={"search", "answer"})
    trace = store.get(NAMESPACE, result.trace_id) or trace_of(
        request, result, settings
    )  # None if traces are not stored
    asked_at: str = trace["asked_at"]
    return AskedAnswer(index, request, settings, result, result.trace_id, asked_at, asked_of=result.snapshot_id)


def asked_again(
    data: DataFolder, trace_id: str, trace: Values | None = None, running: Searcher | None = None
) -> AskedAnswer:
    """Ask the question of a trace again. Raises QueryError if the trace does not exist or requested no answer.

    `running` is used if its snapshot and settings are those of the trace; otherwise a searcher is opened.
    """
    trace = trace or read_trace(StateStore(data.state), trace_id)
    folder = require_collection(data, trace["collection"])
    request = make_request(**trace["request"])
    if not request.answer:
        raise QueryError("Only passages were requested, no answer.", "Search without --no-answer.")
    snapshot_id = trace["snapshot_id"] if trace["snapshot_id"] in published(folder) else None
    searcher = (running and _as_then(running, trace)) or Searcher(
        data, request.collection, None, trace["settings"], snapshot_id
    )
    return answer_of(data, searcher, trace_id, trace)


def answer_of(data: DataFolder, searcher: Searcher, trace_id: str, trace: Values) -> AskedAnswer:
    """Ask the question of a stored search, and compare the answer with the trace."""
    request = make_request(**trace["request"])
    events: list[Values] = []
    result = searcher.search(request, events.append)
    old, new = without_cost(trace), without_cost(trace_of(request, result, trace["settings"], events))
    index = searcher.current()
    return AskedAnswer(
        index,
        request,
        trace["settings"],
        result,
        trace_id,
        trace.get("asked_at"),
        asked_of=trace["snapshot_id"],
        differs=tuple(name for name in old if old[name] != new[name]),
        left_out=() if trace["snapshot_id"] == index.snapshot.id else _left_out(data, index, trace),
    )


def _as_then(running: Searcher, trace: Values) -> Searcher | None:
    """Return the running searcher without traces, or None unless its snapshot and settings are those of the trace."""
    settings = running.settings.model_dump(mode="json", include={"search", "answer"})
    same = running.current().snapshot.id == trace["snapshot_id"] and settings == trace["settings"]
    return running.untraced() if same else None


def _left_out(data: DataFolder, index: OpenIndex, trace: Values) -> tuple[LeftOut, ...]:
    """Return the stored quotes with a sentence that no longer exists. A sentence's id begins with its paper's id."""
    quoted = [cited["sentence_ids"] for cited in trace["citations"] if cited["sentence_ids"]]
    wanted = {"ids": [name for names in quoted for name in names]}
    there = {row[0] for row in index.snapshot.cursor().execute(_THERE, wanted).fetchall()}
    purged = set(known_record(data, trace["collection"]).excluded)
    missing = [(names[0].rpartition(".s")[0], names) for names in quoted if not there.issuperset(names)]
    return tuple(LeftOut(paper_id, names, "purged" if paper_id in purged else "gone") for paper_id, names in missing)

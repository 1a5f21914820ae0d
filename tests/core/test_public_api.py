"""The public names of the Python API are those that docs/python.md lists, so that no change of them goes unnoticed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

import monjyu_assets
import monjyu_query
from monjyu_assets import Indexer
from monjyu_assets.planning.pending import IndexResult
from monjyu_core.paper import ParsedPaper
from monjyu_query import AsyncMonjyu, Monjyu
from monjyu_query.api.listings import CollectionRecord, CoOccurrence, PaperRecord, PhraseRecord
from monjyu_query.asking.request import Filters, SearchOptions, SearchRequest, Turn
from monjyu_query.asking.result import Citation, Hit, SearchResult, Usage
from monjyu_query.citations.missing_works import MissingWork
from monjyu_query.citations.view import CitationView
from monjyu_query.digests.result import Digest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
INNER = {"blocking", "chosen_searcher", "flush_traces", "heard", "reading", "run", "searcher", "seen_by"}
"""For the commands and servers of Monjyu itself: not promised."""
RESULTS: tuple[type[BaseModel], ...] = (
    *(
        SearchResult,
        Hit,
        Citation,
        Usage,
        Digest,
        CitationView,
        MissingWork,
        CollectionRecord,
        PhraseRecord,
        CoOccurrence,
        PaperRecord,
        ParsedPaper,
    ),
    *(SearchRequest, Filters, Turn, IndexResult),
)


def _call(name: str, function: object) -> str:
    """`name(parameters)` without `self`; `*` before those that must be named."""
    shown: list[str] = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:  # type: ignore[arg-type]
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        shown.append(f"**{parameter.name}" if parameter.kind is parameter.VAR_KEYWORD else parameter.name)
    return f"{name}({', '.join(shown)})"


def _exported() -> Iterator[str]:
    for kind in (Monjyu, AsyncMonjyu, Indexer):
        yield _call(kind.__name__, kind.__init__)
        for name, member in sorted(inspect.getmembers(kind, inspect.isfunction)):
            if not name.startswith("_") and name not in INNER:
                yield _call(f"{kind.__name__}.{name}", member)
    yield f"SearchOptions: {', '.join(SearchOptions.__annotations__)}"
    for model in RESULTS:
        yield f"{model.__name__}: {', '.join(model.model_fields)}"


def test_the_page_lists_what_is_exported() -> None:
    listed = re.search(r"## Public names\n.*?```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert listed, "docs/python.md has no list of public names"
    assert listed[1].splitlines() == list(_exported()), "change docs/python.md too, and mind its section Deprecation"


def test_the_packages_export_their_doors_only() -> None:
    assert set(monjyu_query.__all__) == {"Monjyu", "AsyncMonjyu"}
    assert set(monjyu_assets.__all__) == {"CorpusComponent", "Indexer", "ZoteroLibraryComponent"}


def test_the_coroutines_take_what_the_methods_take() -> None:
    """But `emit` and `cancel`: a coroutine is left by cancelling its task."""
    for name, member in inspect.getmembers(AsyncMonjyu, inspect.isfunction):
        if not name.startswith("_") and name not in INNER:
            own = inspect.signature(member).parameters.values()
            blocking = inspect.signature(getattr(Monjyu, name)).parameters.values()
            taken = [(one.name, one.kind, one.default) for one in own]
            assert taken == [
                (one.name, one.kind, one.default) for one in blocking if one.name not in ("emit", "cancel")
            ], name
            assert (member.__doc__ or "").strip(), name

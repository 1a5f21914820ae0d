"""The reader: search, answers and evaluation over published snapshots. Never imports dagster.

Python programs use `from monjyu_query import Monjyu`, which loads nothing before the first question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monjyu_query.api.facade import Monjyu as Monjyu
    from monjyu_query.api.facade_async import AsyncMonjyu as AsyncMonjyu

__all__ = ["AsyncMonjyu", "Monjyu"]

_CLASSES = {"AsyncMonjyu": "monjyu_query.api.facade_async", "Monjyu": "monjyu_query.api.facade"}


def __getattr__(name: str) -> object:
    """Load the API on demand, because commands do not use it."""
    from importlib import import_module

    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_CLASSES[name]), name)

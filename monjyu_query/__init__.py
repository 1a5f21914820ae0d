"""The reader: search, answers and evaluation over published snapshots. Never imports dagster.

`from monjyu_query import Monjyu` is the way in for Python programs; it loads nothing before the first question.
"""

from __future__ import annotations

from monjyu_query.api.facade import Monjyu
from monjyu_query.api.facade_async import AsyncMonjyu

__all__ = ["AsyncMonjyu", "Monjyu"]

"""The writer: Dagster assets, and the pure functions behind them.

`from monjyu_assets import Indexer` is the way in for Python programs; it loads nothing before the first index.
"""

from __future__ import annotations

from monjyu_assets.indexing.indexer import Indexer

__all__ = ["Indexer"]

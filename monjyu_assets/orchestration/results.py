"""The types of what assets hand to Dagster: metadata, materializations, checks."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import dagster as dg
from dagster._core.definitions.metadata import RawMetadataValue

Metadata: TypeAlias = dict[str, RawMetadataValue]
"""Of an asset, a check or an op, by label: numbers, texts, and values that the UI draws (Markdown, JSON)."""

Materialized: TypeAlias = dg.MaterializeResult[Any]
"""No asset hands a value to another: what they make lies in the data folder."""

MaterializedAndChecked: TypeAlias = Iterator[dg.AssetCheckResult | Materialized]

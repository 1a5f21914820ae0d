"""The type of metadata of assets, checks and ops."""

from typing import TypeAlias

from dagster._core.definitions.metadata import RawMetadataValue

Metadata: TypeAlias = dict[str, RawMetadataValue]
"""By label: numbers, texts, and values that the UI draws (Markdown, JSON, tables)."""

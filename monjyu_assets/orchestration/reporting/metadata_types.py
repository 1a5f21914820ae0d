"""The type of metadata of assets, checks and ops, and words of others in it."""

from typing import TypeAlias

from dagster._core.definitions.metadata import RawMetadataValue

from monjyu_core.text.controls import blanked

Metadata: TypeAlias = dict[str, RawMetadataValue]
"""By label: numbers, texts, and values that the UI draws (Markdown, JSON, tables)."""


def as_code(text: str) -> str:
    """An id, a phrase or a file's name as code in a cell of a Markdown table: it draws no picture and is no link."""
    plain = " ".join(blanked(text).replace("`", "ˋ").replace("|", "¦").split())
    return plain and f"`{plain}`"

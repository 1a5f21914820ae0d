"""What the collection-level stages share: one part set for all papers, rewritten when its inputs change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from monjyu_assets.work.closed_set import input_versions, primary
from monjyu_assets.work.work import Work
from monjyu_core.storage.parts import Part, read_all
from monjyu_core.storage.schemas import COLLECTION_SHARD

R = TypeVar("R")
Tables = dict[str, pa.Table]
MADE_OF = "made of"


@dataclass(frozen=True)
class CollectionReport:
    """The asset's current primary part, and whether this run computed it."""

    part: Part
    recomputed: bool


def run_collection_stage(
    work: Work,
    asset: str,
    made_with: str,
    compute: Callable[[Work], Tables],
    made_of: Callable[[Work], str] | None = None,
) -> CollectionReport:
    """Compute the asset's tables for the collection, unless code, settings and inputs are unchanged. `made_of` hashes
    what of its inputs they depend on: where that is as it was, they stay although the inputs changed."""
    inputs = input_versions(work.parts, asset, COLLECTION_SHARD)
    previous = work.parts.head(primary(asset), COLLECTION_SHARD)
    kept = previous is not None and previous.code_version == made_with
    if kept and previous is not None and previous.inputs == inputs:
        return CollectionReport(previous, recomputed=False)
    hashed = {MADE_OF: made_of(work)} if made_of else {}
    if kept and previous is not None and hashed and previous.keys.get(MADE_OF) == hashed[MADE_OF]:
        work.parts.rest_on(asset, COLLECTION_SHARD, inputs)
        return CollectionReport(previous, recomputed=False)
    part = work.parts.write(asset, COLLECTION_SHARD, compute(work), inputs=inputs, keys=hashed, code_version=made_with)
    return CollectionReport(part, recomputed=True)


def whole_rows(work: Work, table: str, row: type[R]) -> list[R]:
    """The rows of a table as records, all shards together."""
    return [record for part in work.parts.heads(table) for record in part.records(row)]


def whole_table(work: Work, table: str, columns: list[str] | None = None) -> pa.Table:
    """These columns of a table or all, all shards together."""
    return read_all(table, work.parts.heads(table), columns)

"""Finds the closed set: the current parts that are each built from the current versions of their inputs."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from monjyu_core.errors import IndexBuildError
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part, PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, SHARDS, TABLES

RESTS_ON: dict[str, tuple[str, ...]] = {
    "paper_manifest": (),
    "parsed_papers": ("paper_manifest",),
    "chunks": ("parsed_papers",),
    "chunk_embeddings": ("chunks",),
    "paper_identity": ("parsed_papers",),
    "citation_network": ("parsed_papers", "paper_identity"),
    "scholarly_metadata": ("parsed_papers", "paper_identity"),
    "noun_phrases": ("chunks",),
    "noun_graph": ("noun_phrases", "paper_identity"),
    "communities": ("noun_graph", "noun_phrases", "paper_identity"),
    "extracted_entities": ("parsed_papers", "chunks", "noun_graph"),
    "entity_graph": ("extracted_entities", "parsed_papers", "paper_identity"),
    "entity_communities": ("entity_graph",),
    "community_reports": ("entity_communities", "entity_graph", "parsed_papers"),
    "claims": ("parsed_papers", "chunks"),
}
"""The assets in order of computation, each with the assets whose versions its parts record."""
HIGHEST = 4
"""The highest level that this version builds."""
FAILURES = {
    "extracted_entities": "entity_failures",
    "community_reports": "report_failures",
    "claims": "claim_failures",
}
"""The assets of levels 2 to 4 whose engines can fail on a chunk or community, with the tables of their failures."""
ALL_FAILURES = {"chunk_embeddings": "embedding_failures", **FAILURES}
"""`FAILURES`, and the failures to embed chunks. These do not prevent publishing, because such chunks are found by their
words."""
MOST_FAILED = 0.2
"""The default share of failures above which a level is not published."""


def primary(asset: str) -> str:
    return ASSET_TABLES[asset][0]


def by_shard(asset: str) -> bool:
    return TABLES[primary(asset)].by_shard


def asset_version(parts: PartStore, asset: str, bucket: str) -> str | None:
    """The version of an asset's bucket, or of all its buckets together; None if one is missing.

    A table of the whole collection depends on all buckets of its inputs.
    """
    if by_shard(asset) and bucket == COLLECTION_SHARD:
        heads = [parts.head(primary(asset), name) for name in parts.all_buckets()]
        return None if None in heads else digest(*(head.asset_version for head in heads if head), length=20)
    part = parts.head(primary(asset), bucket if by_shard(asset) else COLLECTION_SHARD)
    return part.asset_version if part else None


def input_versions(parts: PartStore, asset: str, bucket: str) -> dict[str, str]:
    """The current versions of the inputs of a part. Raises IndexBuildError if an input does not exist."""
    versions: dict[str, str] = {}
    for upstream in RESTS_ON[asset]:
        version = asset_version(parts, upstream, bucket)
        if version is None:
            raise IndexBuildError(f"{asset} needs {upstream}, which is missing.", f"Materialise {upstream} first.")
        versions[upstream] = version
    return versions


def check_inputs(parts: PartStore, asset: str, collection: str) -> None:
    """Raise IndexBuildError, with the shards and the job to run, if an input of the asset was never built."""
    for upstream in RESTS_ON[asset]:
        places = SHARDS if by_shard(upstream) else [COLLECTION_SHARD]
        missing = [shard for shard in places if not _was_built(parts, upstream, shard)]
        if missing:
            where = "" if len(missing) == len(places) else f" in shard {', '.join(missing)}"
            raise IndexBuildError(
                f"{asset} needs {upstream}, which {collection} does not have{where}.",
                f"Launch the job level_{level_of(asset)}: it builds the missing parts, in order. "
                f"Or materialise {upstream} first.",
            )


def _was_built(parts: PartStore, asset: str, shard: str) -> bool:
    return parts.head(primary(asset), parts.buckets(shard)[0] if by_shard(asset) else COLLECTION_SHARD) is not None


def level_of(asset: str) -> int:
    """The level of an asset; 0 for the one that publishes."""
    return TABLES[primary(asset)].level if asset in ASSET_TABLES else 0


def is_current(parts: PartStore, asset: str, bucket: str) -> bool:
    """Whether the part of a bucket (`all` for the collection) exists and was built from its current inputs."""
    part = parts.head(primary(asset), bucket)
    return part is not None and all(
        part.inputs.get(name) == asset_version(parts, name, bucket) for name in RESTS_ON[asset]
    )


def lagging(parts: PartStore, shard: str, level: int = 0) -> str | None:
    """The first asset of a level in a shard (`all` for the collection) that is missing or was built from older inputs;
    None if there is none."""
    assets = [a for a in RESTS_ON if level_of(a) == level and by_shard(a) == (shard != COLLECTION_SHARD)]
    lags = (a for a in assets if not all(is_current(parts, a, bucket) for bucket in parts.buckets(shard)))
    return next(lags, None)


def all_lagging(parts: PartStore, level: int) -> dict[str, str]:
    """The first lagging asset of a level, by shard; shards without one are omitted."""
    return {shard: asset for shard in (*SHARDS, COLLECTION_SHARD) if (asset := lagging(parts, shard, level))}


def failed_share(parts: PartStore, level: int) -> tuple[int, int]:
    """The numbers of failed and of all chunks or communities that the engines of a level processed."""
    assets = [asset for asset in FAILURES if level_of(asset) == level]
    done = sum(len(part.keys) for asset in assets for part in parts.heads(primary(asset)))
    failed = sum(cause.count for cause in failure_causes(parts, level))
    return failed, done + failed


_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Cause:
    """Why chunks or communities of an asset have no result, and how many there are."""

    asset: str
    error_type: str
    message: str
    count: int

    def summary(self) -> str:
        return f"{self.count} × {self.error_type}: {self.message}"


def failure_causes(parts: PartStore, level: int) -> list[Cause]:
    """Why chunks or communities of a level have no result, by asset, the most common cause first. Messages that differ
    only in numbers (times, counts) are one cause."""
    return [cause for asset in FAILURES if level_of(asset) == level for cause in _causes(parts, asset)]


def _causes(parts: PartStore, asset: str) -> list[Cause]:
    first: dict[str, tuple[str, str]] = {}
    counts: Counter[str] = Counter()
    for part in parts.heads(FAILURES[asset]):
        for row in part.read(["error_type", "message", "failed"]).to_pylist() if part.rows else ():
            if row["failed"]:
                key = _NUMBER.sub("0", row["message"])
                first.setdefault(key, (row["error_type"], row["message"]))
                counts[key] += 1
    return [
        Cause(asset, *first[key], count) for key, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    ]


def has_failed(parts: PartStore, asset: str, shard: str) -> bool:
    """Whether the asset failed on a chunk or community of a shard (`all` for the collection)."""
    heads = [parts.head(ALL_FAILURES[asset], bucket) for bucket in parts.buckets(shard)]
    return any(True in part.read(["failed"])["failed"].to_pylist() for part in heads if part and part.rows)


def too_many_failed(parts: PartStore, level: int, most_failed: float) -> bool:
    """Whether too many chunks or communities of a level failed for it to be published."""
    failed, of = failed_share(parts, level)
    return failed > most_failed * of


def complete_level(parts: PartStore, most_failed: float = MOST_FAILED) -> int:
    """The highest level that is complete with all levels below it; -1 if level 0 is incomplete."""
    lacking = (one for one in range(HIGHEST + 1) if all_lagging(parts, one) or too_many_failed(parts, one, most_failed))
    return next(lacking, HIGHEST + 1) - 1


def behind(parts: PartStore, most_failed: float = MOST_FAILED) -> list[str]:
    """One line for each incomplete level that has parts, with the assets that are behind or the causes of failures."""
    lines = []
    for level in range(complete_level(parts, most_failed) + 1, HIGHEST + 1):
        assets = [asset for asset in RESTS_ON if level_of(asset) == level]
        if any(parts.heads(primary(asset)) for asset in assets):
            lags = all_lagging(parts, level)
            reasons = [describe(lags)] if lags else []
            if too_many_failed(parts, level, most_failed):
                failed, of = failed_share(parts, level)
                causes = "; ".join(cause.summary() for cause in failure_causes(parts, level))
                reasons.append(f"{failed} of {of} have no result: {causes}")
            lines.append(f"level {level}: {'; '.join(reasons) or 'a level below it is incomplete'}")
    return lines


def closed_set(parts: PartStore, collection: str, most_failed: float = MOST_FAILED) -> list[Part]:
    """All parts of the complete levels. Raises IndexBuildError with the missing assets if level 0 is incomplete."""
    lags = all_lagging(parts, 0)
    if lags:
        raise IndexBuildError(
            f"Level 0 of {collection} is incomplete: {describe(lags)}.",
            f"Materialise these shards, or run `monjyu index` for {collection}.",
        )
    level = complete_level(parts, most_failed)
    assets = [asset for asset in RESTS_ON if level_of(asset) <= level]
    return [part for asset in assets for table in ASSET_TABLES[asset] for part in parts.heads(table)]


def drop_levels_above(parts: PartStore, level: int) -> None:
    """Drop the current parts of levels above `level`, the highest first. Parts that snapshots name are not removed."""
    for asset in sorted(RESTS_ON, key=level_of, reverse=True):
        if level_of(asset) > level:
            parts.drop(asset)


def describe(lags: Mapping[str, str]) -> str:
    """Describe which assets are behind, by shard: `chunks is behind in shards 1, 2`."""
    by_asset: dict[str, list[str]] = {}
    for shard, asset in lags.items():
        by_asset.setdefault(asset, []).append(shard)
    return "; ".join(f"{asset} is behind in shards {', '.join(shards)}" for asset, shards in by_asset.items())

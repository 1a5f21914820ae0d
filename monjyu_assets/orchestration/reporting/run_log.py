"""Why an asset was computed and what was reused, in a sentence of the run's log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from monjyu_assets.work.closed_set import primary
from monjyu_assets.work.work import ShardReport, Work
from monjyu_core.storage.ids import bucket_of, shard_of, shard_of_bucket
from monjyu_core.storage.parts import Part

Parts = Mapping[str, Part]
"""An asset's current primary parts by bucket."""
FIRST = "made for the first time"
SOURCES = "files of its sources changed"
SETTINGS = "settings, models or limits that it depends on changed"
BY_PAPER = {"manifest", "papers", "chunks", "phrase_mentions"}
"""Tables whose parts have a row or a key for each paper."""
AGAIN = "what had failed was tried again"


def parts_of(work: Work, asset: str, buckets: Iterable[str]) -> dict[str, Part]:
    """The parts as they are now. To be taken before a stage and after it."""
    heads = ((bucket, work.parts.head(primary(asset), bucket)) for bucket in buckets)
    return {bucket: part for bucket, part in heads if part is not None}


def causes_of(before: Part | None, after: Part, code: tuple[str | None, str]) -> list[str]:
    """Why a part was made anew; `code` are the versions before and now."""
    if before is None:
        return [FIRST]
    causes = [f"{_named(name)} changed" for name in _changed(before.inputs, after.inputs)]
    if before.code_version != after.code_version:
        told = f"code version {code[0]} -> {code[1]}" if code[0] not in (None, code[1]) else SETTINGS
        causes.insert(0, told)
    if after.table == "manifest" and not causes:
        causes.append(SOURCES)
    return causes


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _named(asset: str) -> str:
    return "where its files lie" if asset == "paths" else asset


def describe_papers(
    name: str, reports: Sequence[ShardReport], before: Parts, after: Parts, code: tuple[str | None, str]
) -> str:
    """What a run did to an asset whose results are kept by paper; `name` is the asset of the collection."""
    recomputed = sum(one.recomputed for one in reports)
    reused, deleted = sum(one.reused for one in reports), sum(one.deleted for one in reports)
    counts = f"{_papers(reused)} reused, {recomputed} recomputed{_split(reports, before) if recomputed else ''}"
    counts += f", {deleted} deleted" if deleted else ""
    remade = [bucket for bucket, part in after.items() if bucket not in before or before[bucket] != part]
    if not remade:
        return f"{name}: {counts}. Nothing changed: all parts stayed as they were."
    causes = Counter(cause for one in remade for cause in causes_of(before.get(one), after[one], code) or [AGAIN])
    why = "; ".join(f"{cause}{_how_many(count, len(remade))}" for cause, count in causes.most_common())
    return f"{name}: {counts}. {len(remade)} of {len(after)} parts rewritten: {why}."


def describe_asset(name: str, before: Part | None, after: Part, recomputed: bool, code: tuple[str | None, str]) -> str:
    """What a run did to an asset of a whole collection."""
    causes = causes_of(before, after, code)
    if recomputed:
        return f"{name}: computed, {'; '.join(causes) or AGAIN}."
    if causes:
        return f"{name}: reused. {'; '.join(causes)}, but nothing in it that this asset reads."
    return f"{name}: reused. Nothing that it is made from changed."


def _split(reports: Sequence[ShardReport], before: Parts) -> str:
    """How many of the recomputed papers are new, of assets that keep what they make by paper."""
    if not {part.table for part in before.values()} <= BY_PAPER:
        return ""
    recomputed = {paper_id for one in reports for paper_id in one.recomputed_ids}
    buckets = Counter(map(shard_of_bucket, before))
    homes = {bucket_of(paper_id, buckets[shard_of(paper_id)] or 1) for paper_id in recomputed} & before.keys()
    changed = sum(len(recomputed & _papers_of(before[home])) for home in homes)
    return f" ({len(recomputed) - changed} new, {changed} changed)"


def _papers_of(part: Part) -> set[str]:
    if part.table == "manifest":
        return set(part.read(["paper_id"])["paper_id"].to_pylist())
    return set(part.keys)


def _papers(count: int) -> str:
    return f"{count} paper{'' if count == 1 else 's'}"


def _how_many(count: int, of: int) -> str:
    return "" if count == of else f" ({count})"

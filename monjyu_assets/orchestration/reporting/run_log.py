"""Describes in a run's log why an asset was computed and what was reused, in telemetry, and in plots."""

import base64
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

import dagster as dg
import numpy as np
from numpy.typing import NDArray

from monjyu_assets.orchestration.reporting.lineage_events import report_built
from monjyu_assets.work.closed_set import primary
from monjyu_assets.work.work import ShardReport, Work
from monjyu_core.errors import counted
from monjyu_core.observability import log_event, telemetry
from monjyu_core.storage.ids import bucket_of, shard_of, shard_of_bucket
from monjyu_core.storage.parts import Part, read_all

Parts = Mapping[str, Part]
"""An asset's current primary parts by bucket."""
FIRST = "built for the first time"
SOURCES = "files of its sources changed"
SETTINGS = "settings, models or limits that it depends on changed"
BY_PAPER = {"manifest", "papers", "chunks", "phrase_mentions"}
"""Tables whose parts have a row or a key for each paper."""
AGAIN = "earlier failures were tried again"


def parts_of(work: Work, asset: str, buckets: Iterable[str]) -> dict[str, Part]:
    """The asset's current primary parts of `buckets`, by bucket."""
    heads = ((bucket, work.parts.head(primary(asset), bucket)) for bucket in buckets)
    return {bucket: part for bucket, part in heads if part is not None}


def causes_of(before: Part | None, after: Part, code: tuple[str | None, str]) -> list[str]:
    """Why a part was rebuilt. `code` is the previous and the current code version."""
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
    return "the location of its files" if asset == "paths" else asset


def describe_papers(
    name: str, reports: Sequence[ShardReport], before: Parts, after: Parts, code: tuple[str | None, str]
) -> str:
    """A log line about a run's work on an asset with results by paper; `name` is the asset of the collection."""
    recomputed = sum(one.recomputed for one in reports)
    reused, deleted = sum(one.reused for one in reports), sum(one.deleted for one in reports)
    counts = (
        f"{counted(reused, 'paper')} reused, {recomputed} recomputed{_split(reports, before) if recomputed else ''}"
    )
    counts += f", {deleted} deleted" if deleted else ""
    remade = [bucket for bucket, part in after.items() if bucket not in before or before[bucket] != part]
    if not remade:
        return f"{name}: {counts}. Nothing changed: all parts stayed as they were."
    causes = Counter(cause for one in remade for cause in causes_of(before.get(one), after[one], code) or [AGAIN])
    why = "; ".join(cause if count == len(remade) else f"{cause} ({count})" for cause, count in causes.most_common())
    return f"{name}: {counts}. {len(remade)} of {len(after)} parts rewritten: {why}."


def describe_asset(name: str, before: Part | None, after: Part, recomputed: bool, code: tuple[str | None, str]) -> str:
    """A log line about a run's work on an asset of a whole collection."""
    causes = causes_of(before, after, code)
    if recomputed:
        return f"{name}: computed, {'; '.join(causes) or AGAIN}."
    if causes:
        return f"{name}: reused. {'; '.join(causes)}, but nothing in it that this asset reads."
    return f"{name}: reused. None of its inputs changed."


def _split(reports: Sequence[ShardReport], before: Parts) -> str:
    """The numbers of new and changed papers among the recomputed ones, as text; "" for assets that do not know them."""
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


# Structured logs, spans and metrics of an asset's work, in addition to Dagster's events.
def asset_done(
    work: Work,
    asset: str,
    seconds: float,
    *,
    rows: int,
    tokens: int = 0,
    cost_usd: float = 0.0,
    checks: Sequence[dg.AssetCheckResult] = (),
) -> None:
    """Report to logs, telemetry and OpenLineage that an asset of a collection was built."""
    name = {"collection": work.name, "asset": asset}
    spent = {"seconds": round(seconds, 3), "tokens": tokens, "cost_usd": cost_usd}
    log_event("asset done", {"run": work.run_id, **name, "rows": rows, **spent})
    report_built(work, asset, seconds, checks)
    sink = telemetry()
    if sink is None:
        return
    sink.past_span(f"asset {asset}", seconds, name | {"run": work.run_id, "rows": rows})
    sink.measure("monjyu.asset.seconds", seconds, "s", name)
    if tokens:
        sink.count("monjyu.tokens", tokens, name)
        sink.count("monjyu.cost_usd", cost_usd, name)


def papers_done(work: Work, asset: str, reports: Sequence[ShardReport], failed: dict[str, str]) -> None:
    """Report an asset's work on its papers. `failed` maps papers that could not be read in this run to the cause."""
    name = {"collection": work.name, "asset": asset}
    outcomes = {
        "reused": sum(report.reused for report in reports),
        "recomputed": sum(report.recomputed for report in reports),
        "deleted": sum(report.deleted for report in reports),
        "failed": sum(report.failed for report in reports),
    }
    where = {"run": work.run_id, **name}
    log_event("papers done", {**where, "papers": sum(report.total for report in reports), **outcomes})
    for paper, cause in failed.items():
        log_event("paper failed", {**where, "paper": paper, "cause": cause}, logging.WARNING)
    sink = telemetry()
    if sink is not None:
        for outcome, count in outcomes.items():
            if count:
                sink.count("monjyu.papers", count, name | {"outcome": outcome})


def failed_papers(work: Work, asset: str, reports: Sequence[ShardReport]) -> dict[str, str]:
    """The papers that could not be parsed in this run, with the cause."""
    again = {paper_id for report in reports if report.failed for paper_id in report.recomputed_ids}
    if asset != "parsed_papers" or not again:
        return {}
    rows = read_all("failures", work.parts.heads("failures"), ["paper_id", "error_type"]).to_pylist()
    return {row["paper_id"]: row["error_type"] for row in rows if row["paper_id"] in again}


# Plots for the metadata of assets, as Markdown that contains the image.
_WIDTH, _HEIGHT, _NARROW = 450, 234, 350
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 10, 10, 44
"""Margins around the bars, for the axes and their labels."""
_MOST_BARS = 40
_BLUE = "#4f6d9a"


def histogram(values: NDArray[Any], x_label: str, y_label: str) -> str:
    """A histogram of the values as a Markdown image (an inline SVG of a few kB); a sentence if there are no values.

    It is drawn here because it has only bars and two axes, while a plotting library takes 80 MB and half a second in
    each process.
    """
    if not len(values):
        return "Nothing to draw yet."
    counts, edges = np.histogram(values, bins=min(_MOST_BARS, max(1, int(values.max() - values.min()) + 1)))
    most, bar = int(counts.max()), (_WIDTH - _LEFT - _RIGHT) / len(counts)
    full, floor = _HEIGHT - _TOP - _BOTTOM, _HEIGHT - _BOTTOM
    columns = "".join(
        f'<rect x="{_LEFT + place * bar:.1f}" y="{floor - full * count / most:.1f}" width="{max(bar - 0.5, 0.5):.1f}" '
        f'height="{full * count / most:.1f}"/>'
        for place, count in enumerate(counts.tolist())
        if count
    )
    right = _WIDTH - _RIGHT
    words = _text(_LEFT, floor + 15, f"{edges[0]:g}", "start") + _text(right, floor + 15, f"{edges[-1]:g}", "end")
    return _drawn(f'<g fill="{_BLUE}">{columns}</g>', words, f"{most}", x_label, y_label)


def bars(values: Mapping[str, float], x_label: str) -> str:
    """One horizontal bar for each name, followed by its value, in the given order."""
    if not any(values.values()):
        return "Nothing to draw yet."
    most, step, left = max(values.values()), 22, 140
    height = _TOP + step * len(values) + 26
    room = _NARROW - left - 60
    drawn = []
    for place, (name, value) in enumerate(values.items()):
        y, width = _TOP + step * place, room * value / most
        drawn += [
            _text(left - 6, y + 14, name, "end"),
            f'<rect x="{left}" y="{y + 3}" width="{width:.1f}" height="15" fill="{_BLUE}"/>',
            _text(left + width + 5, y + 14, f"{value:g}", "start"),
        ]
    axis = f'<path d="M{left} {_TOP}V{height - 22}" stroke="#333"/>'
    return _image("".join(drawn) + axis + _text(left + room / 2, height - 6, x_label, "middle"), height, _NARROW)


def line(values: Sequence[float], x_label: str, y_label: str) -> str:
    """A plot of values from 0 to 1, in order, as points joined by a line."""
    if len(values) < 2:
        return "Nothing to draw yet: one value makes no line."
    floor, width = _HEIGHT - _BOTTOM, _WIDTH - _LEFT - _RIGHT
    points = [
        (_LEFT + width * place / (len(values) - 1), floor - (floor - _TOP) * min(max(value, 0), 1))
        for place, value in enumerate(values)
    ]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_BLUE}"/>' for x, y in points)
    words = _text(_LEFT, floor + 15, "1", "start") + _text(_WIDTH - _RIGHT, floor + 15, f"{len(values)}", "end")
    return _drawn(f'<path d="M{path}" fill="none" stroke="{_BLUE}"/>{dots}', words, "1", x_label, y_label)


def _drawn(shapes: str, words: str, top: str, x_label: str, y_label: str) -> str:
    """An image of shapes and two axes with labels; the vertical axis is from 0 to `top`."""
    floor, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    middle = (_TOP + floor) / 2
    labels = (
        _text(_LEFT - 4, floor, "0", "end") + _text(_LEFT - 4, _TOP + 9, top, "end"),
        _text((_LEFT + right) / 2, _HEIGHT - 8, x_label, "middle"),
        f'<g transform="rotate(-90 14 {middle})">{_text(14, middle, y_label, "middle")}</g>',
    )
    axes = f'<path d="M{_LEFT} {_TOP}V{floor}H{right}" fill="none" stroke="#333"/>'
    return _image(f"{shapes}{axes}{words}{''.join(labels)}", _HEIGHT)


def _image(inside: str, height: int, width: int = _WIDTH) -> str:
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<g font-family="sans-serif" font-size="11" fill="#333">{inside}</g></svg>'
    )
    return f"![plot](data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()})"


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'

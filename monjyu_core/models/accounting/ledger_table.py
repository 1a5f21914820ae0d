"""The table that `monjyu cost` prints."""

from __future__ import annotations

from typing import Any

from monjyu_core.models.accounting.ledger_totals import By, Totals

_NUMBERS = ("calls", "cache_hits", "prompt_tokens", "completion_tokens", "cost_usd", "seconds")
_HEADS = ("calls", "cached", "prompt tokens", "answer tokens", "US$", "seconds")


def describe_totals(totals: Totals, by: By) -> str:
    """A line a key and one of sums, columns aligned; a note where lines of the ledger could not be read."""
    whole = {"key": "total", **{name: sum(row[name] for row in totals.rows) for name in _NUMBERS}}
    lines = [(by, *_HEADS), *(_cells(row) for row in [*totals.rows, whole])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [_aligned(line, widths) for line in lines]
    if totals.torn:
        text.append(f"Left out: lines that killed processes did not finish ({totals.torn}).")
    return "\n".join(text)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    counts = (f"{row[name]:,}" for name in _NUMBERS[:4])
    return (str(row["key"]), *counts, f"{row['cost_usd']:.4f}", f"{row['seconds']:,.1f}")


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = line
    cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
    return "  ".join([first.ljust(widths[0]), *cells])

"""Pictures in the metadata of assets, as Markdown with the image inside."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence


def histogram(values: Sequence[float], x_label: str, y_label: str) -> str:
    """A histogram of the values as a PNG of some 10 kB; a word instead of it where there is nothing to draw."""
    if not values:
        return "Nothing to draw yet."
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 2.6), dpi=90, layout="constrained")
    axes = figure.add_subplot()
    axes.hist(values, bins=min(40, max(1, int(max(values) - min(values)) + 1)), color="#4f6d9a")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return _markdown(figure)


def _markdown(figure: object) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})  # type: ignore[attr-defined]
    return f"![plot](data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()})"

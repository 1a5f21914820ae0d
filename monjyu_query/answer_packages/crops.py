"""Draws the parts of pages that contain quotes, with the quotes marked."""

from collections.abc import Callable, Sequence
from typing import Any

from monjyu_core.errors import StorageError
from monjyu_query.answer_packages.asked_answer import AskedAnswer
from monjyu_query.answer_packages.package import Crops

WIDTH = 1000
"""The width, in pixels, of the page from which a crop is cut."""
MOST_CROPS = 60
_AROUND = 18.0
"""The margin around a quote, in points."""
_SOURCES = """SELECT paper_id, sha256 FROM papers
WHERE paper_id IN (SELECT unnest($ids::VARCHAR[])) AND document_type IN ('pdf', 'image')"""
Draw = Callable[[str, int, int, Sequence[Sequence[float]], Sequence[float] | None], bytes]
"""Draws a part of a page as PNG, from the file, the page (from 1), the width in pixels, the boxes to mark and the part
to keep (in points)."""


def crops_by(draw: Draw) -> Crops:
    """Return a function that draws an answer's crops: pictures by name, one per quote and page (`crops/3-p2.png` for
    citation 3), up to `MOST_CROPS`. Pages that cannot be drawn are omitted."""

    def crops(asked: AskedAnswer) -> dict[str, bytes]:
        snapshot, citations = asked.index.snapshot, asked.result.citations
        ids = list({citation.paper_id for citation in citations})
        rows: list[Any] = snapshot.cursor().execute(_SOURCES, {"ids": ids}).fetchall()
        sources = {paper_id: snapshot.collection.sources / sha256 for paper_id, sha256 in rows}
        wanted = [
            (f"crops/{citation.n}-p{span.page}.png", sources[citation.paper_id], span)
            for citation in citations
            if citation.paper_id in sources and sources[citation.paper_id].is_file()
            for span in citation.spans
            if span.boxes
        ]
        found: dict[str, bytes] = {}
        for name, path, span in wanted[:MOST_CROPS]:
            boxes = [list(map(float, box)) for box in span.boxes]
            try:
                found[name] = draw(str(path), span.page, WIDTH, boxes, _around(boxes))
            except StorageError:
                continue
        return found

    return crops


def _around(boxes: Sequence[Sequence[float]]) -> list[float]:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return [min(lefts) - _AROUND, min(tops) - _AROUND, max(rights) + _AROUND, max(bottoms) + _AROUND]

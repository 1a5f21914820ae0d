"""The drawing process (`python -m monjyu_query.service.server.draw_page MEMORY_MB`): reads jobs on stdin, and writes
images to stdout.

Jobs and answers are a four-byte length and that number of bytes. A job is JSON; an answer is a PNG or, on failure, the
reason as text.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from pathlib import Path
from typing import IO

import pypdfium2
from PIL import Image, ImageChops, ImageDraw

from monjyu_core.values import Values
from monjyu_query.service.server.drawing import LENGTH

MOST_PIXELS = 12_000_000
"""The maximum number of pixels in an image, because a page may be a hundred times as high as it is wide."""
PICTURES = ("PNG", "JPEG", "TIFF", "BMP")
_PICTURE_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"BM")
MARK = (255, 232, 115)
"""The colour of marks. It is multiplied with the page's colours, so that black stays black."""
MARGIN = 1.5
"""The margin around a box, in points."""
MOST_BOXES = 2000
_PROCESSOR_SECONDS = 3600


def draw(path: str, number: int, width: int, boxes: list[list[float]], crop: list[float] | None = None) -> bytes:
    """Return page `number` (1-based) of a PDF or picture as PNG, `width` pixels wide (less if the image would be too
    large), with the boxes marked; only the part in `crop`, if given."""
    with Path(path).open("rb") as file:
        is_picture = file.read(4).startswith(_PICTURE_STARTS)
    image, scale = (_picture if is_picture else _page)(path, number, width)
    if boxes:
        image = _marked(image, boxes[:MOST_BOXES], scale)
    if crop:
        image = _cropped(image, crop, scale)
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=3)
    return written.getvalue()


def _page(path: str, number: int, width: int) -> tuple[Image.Image, float]:
    """Return a page of a PDF, and its pixels per point."""
    document = pypdfium2.PdfDocument(path)
    try:
        page = document[number - 1]
        wide, high = page.get_size()
        scale = min(width / max(wide, 1.0), (MOST_PIXELS / max(wide * high, 1.0)) ** 0.5)
        return page.render(scale=scale, may_draw_forms=False).to_pil().convert("RGB"), scale
    finally:
        document.close()


def _picture(path: str, number: int, width: int) -> tuple[Image.Image, float]:
    """Return a frame of a picture, and its pixels per pixel of the file."""
    with Image.open(path, formats=PICTURES) as picture:
        picture.seek(number - 1)
        wide, high = picture.size
        scale = min(width / wide, (MOST_PIXELS / (wide * high)) ** 0.5)
        size = (max(1, round(wide * scale)), max(1, round(high * scale)))
        return picture.convert("RGB").resize(size), scale


def _marked(image: Image.Image, boxes: list[list[float]], scale: float) -> Image.Image:
    marks = Image.new("RGB", image.size, (255, 255, 255))
    pen = ImageDraw.Draw(marks)
    for left, top, right, bottom in boxes:
        edges = (left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN)
        pen.rounded_rectangle([edge * scale for edge in edges], radius=2 * scale, fill=MARK)
    return ImageChops.multiply(image, marks)


def _cropped(image: Image.Image, crop: list[float], scale: float) -> Image.Image:
    """Return the part in the box, with a margin. Raises ValueError if the box is outside the page."""
    left, top, right, bottom = (round(edge * scale) for edge in crop)
    edges = max(0, left - 4), max(0, top - 4), min(image.width, right + 4), min(image.height, bottom + 4)
    if edges[0] >= edges[2] or edges[1] >= edges[3]:
        raise ValueError("the box lies outside of the page")
    return image.crop(edges)


def _limit(memory_mb: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def serve(jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Draw pages until the other side closes the pipe."""
    while len(head := jobs.read(LENGTH.size)) == LENGTH.size:
        job: Values = json.loads(jobs.read(LENGTH.unpack(head)[0]))
        try:
            answer = draw(**job)
        except Exception as error:  # a library may raise any error about a hostile file
            answer = f"{type(error).__name__}: {error}".encode(errors="replace") or b"failed"
        answers.write(LENGTH.pack(len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    _limit(int(sys.argv[1]))
    serve(sys.stdin.buffer, sys.stdout.buffer)

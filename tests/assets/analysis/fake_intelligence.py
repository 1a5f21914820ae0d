"""Document Intelligence on loopback: checks what it is sent and answers in the shape of `prebuilt-layout`, with lines
and boxes read from the PDF itself."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pypdfium2 as pdfium

from tests.assets.in_process import PDFIUM

KEY = "intelligence-key-123456"
VERSION = "2024-11-30"
_ANALYZE = "/documentintelligence/documentModels/prebuilt-layout:analyze"
_RESULTS = "/documentintelligence/documentModels/prebuilt-layout/analyzeResults/"


class FakeIntelligence:
    """`faults` are taken by the next requests: a status, "half" a body, "slow"; `analysed` counts what is paid."""

    def __init__(self) -> None:
        self.faults: deque[int | str] = deque()
        self.analysed = 0
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.operations: dict[str, dict[str, Any]] = {}
        self.told: dict[bytes, list[str]] = {}
        """What files that are no PDFs say, by their bytes: one paragraph each, the first a title."""
        self.looks: dict[str, int] = {}
        self.most_pages = 10_000
        """Pages that are read; a free tier ends after two."""
        fake = self

        class Handler(_Handler):
            service = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def settings(self, **more: Any) -> dict[str, Any]:
        return {"endpoint": self.endpoint, "api_key": KEY, "timeout_seconds": 5, "retries": 2, **more}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    service: FakeIntelligence
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = urlsplit(self.path)
        query = parse_qs(asked.query)
        body = (
            self.rfile.read(int(self.headers["content-length"])) if self.headers["content-length"] else self._chunks()
        )
        self.service.asked.append("POST")
        if self._faulty():
            return
        expected = {"api-version": [VERSION], "stringIndexType": ["unicodeCodePoint"]}
        known = {name: value for name, value in query.items() if name != "features"}
        kind = self.headers["content-type"]
        if asked.path != _ANALYZE or known != expected or kind != "application/octet-stream":
            self.service.wrong.append(f"{self.path} {kind}")
        told = self.service.told.get(body)
        if told is None and not body.startswith(b"%PDF"):
            return self._answer(400, {"error": {"code": "InvalidRequest", "message": "no document"}})
        operation = f"0000-{len(self.service.operations)}"
        self.service.analysed += 1
        formulas = query.get("features") == ["formulas"]
        if told is None:
            result = layout_of(body, formulas=formulas, most_pages=self.service.most_pages)
        else:
            result = told_layout(told, picture=body[:4] == b"\x89PNG")
        self.service.operations[operation] = result
        where = f"{self.service.endpoint}{_RESULTS}{operation}?api-version={VERSION}"
        return self._answer(202, None, {"Operation-Location": where, "Retry-After": "0"})

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        self.service.asked.append("GET")
        if self._faulty():
            return
        if asked.path == "/documentintelligence/info":
            return self._answer(200, {"customDocumentModels": {"count": 2, "limit": 20000}})
        operation = asked.path.removeprefix(_RESULTS)
        result = self.service.operations.get(operation)
        if result is None:
            return self._answer(404, {"error": {"code": "NotFound", "message": "no such operation"}})
        self.service.looks[operation] = looks = self.service.looks.get(operation, 0) + 1
        stamps = {"createdDateTime": "2026-11-01T00:00:00Z", "lastUpdatedDateTime": "2026-11-01T00:00:01Z"}
        if looks == 1:
            return self._answer(200, {"status": "running", **stamps}, {"Retry-After": "0"})
        return self._answer(200, {"status": "succeeded", **stamps, "analyzeResult": result})

    def _faulty(self) -> bool:
        if self.headers["ocp-apim-subscription-key"] != KEY:
            self._answer(401, {"error": {"code": "401", "message": "Access denied"}})
            return True
        fault = self.service.faults.popleft() if self.service.faults else None
        if fault == "slow":
            time.sleep(1.5)
        elif fault == "half":
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"status": "succ')
            self.close_connection = True
            return True
        elif isinstance(fault, int):
            self._answer(
                fault, {"error": {"code": str(fault), "message": "later"}}, {"Retry-After": "0"} if fault > 400 else {}
            )
            return True
        return False

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, answer: dict[str, Any] | None, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(answer).encode() if answer is not None else b""
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def layout_of(data: bytes, *, formulas: bool = False, most_pages: int = 10_000) -> dict[str, Any]:
    """An `analyzeResult` of a PDF: its lines in the order of the file, paragraphs by gaps, headings by their words."""
    with PDFIUM:
        return _layout_of(data, formulas=formulas, most_pages=most_pages)


def _layout_of(data: bytes, *, formulas: bool, most_pages: int) -> dict[str, Any]:
    content, pages, paragraphs = "", [], []
    document = pdfium.PdfDocument(data)
    for number in range(min(len(document), most_pages)):
        page = document[number]
        width, height = page.get_size()
        text = page.get_textpage()
        first, lines = len(content), []
        for left, bottom, right, top in _line_boxes([text.get_rect(index) for index in range(text.count_rects())]):
            words = text.get_text_bounded(left, bottom, right, top).strip()
            if not words:
                continue
            box = [value / 72 for value in (left, height - top, right, height - bottom)]
            span = {"offset": len(content), "length": len(words)}
            content += words + "\n"
            lines.append({"content": words, "polygon": _polygon(*box), "spans": [span]})
        paragraphs += _paragraphs(lines, number + 1, first_page=number == 0)
        pages.append(
            {"pageNumber": number + 1, "angle": 0, "width": width / 72, "height": height / 72, "unit": "inch",
             "spans": [{"offset": first, "length": len(content) - first}], "words": [], "lines": lines}
        )  # fmt: skip
    table = {
        "rowCount": 2, "columnCount": 2, "spans": [],
        "boundingRegions": [{"pageNumber": 1, "polygon": _polygon(1, 1, 3, 2)}],
        "caption": {"content": "Table 1: Papers", "spans": []},
        "cells": [
            {"rowIndex": row, "columnIndex": column, "content": f"cell {row}{column}", "spans": [],
             "kind": "content" if row else "columnHeader"}
            for row in (0, 1) for column in (0, 1)
        ],
    }  # fmt: skip
    figure = {
        "id": "1.1", "boundingRegions": [{"pageNumber": 1, "polygon": _polygon(4, 1, 6, 2)}], "spans": [],
        "caption": {"content": "Figure 1: A tree.", "spans": []},
    }  # fmt: skip
    if formulas:
        pages[0]["formulas"] = [
            {"kind": "display", "value": "x^{2}", "polygon": _polygon(2, 2, 3, 3), "confidence": 0.9,
             "span": {"offset": 0, "length": 9}}
        ]  # fmt: skip
    return {
        "apiVersion": VERSION, "modelId": "prebuilt-layout", "stringIndexType": "unicodeCodePoint",
        "contentFormat": "text", "content": content, "pages": pages, "paragraphs": paragraphs, "tables": [table],
        "figures": [figure], "styles": [], "sections": [],
    }  # fmt: skip


def told_layout(told: list[str], *, picture: bool) -> dict[str, Any]:
    """An `analyzeResult` of a picture (lines in pixels) or an Office file (two units, paragraphs without places)."""
    content, lines, paragraphs = "", [], []
    for number, text in enumerate(told):
        span, polygon = (
            {"offset": len(content), "length": len(text)},
            _polygon(20, 40 * number + 20, 600, 40 * number + 50),
        )
        content += text + "\n"
        place = {"boundingRegions": [{"pageNumber": 1, "polygon": polygon}]} if picture else {}
        role = {"role": "title"} if not number else {}
        paragraphs.append({"content": text, "spans": [span], **role, **place})
        lines.append({"content": text, "polygon": polygon, "spans": [span]})
    half = paragraphs[len(told) // 2]["spans"][0]["offset"]
    ends = [(0, len(content))] if picture else [(0, half), (half, len(content))]
    pages = [
        {"pageNumber": number, "spans": [{"offset": start, "length": end - start}], "words": [],
         **({"unit": "pixel", "width": 640, "height": 480, "angle": 0, "lines": lines} if picture else {})}
        for number, (start, end) in enumerate(ends, start=1)
    ]  # fmt: skip
    return {
        "apiVersion": VERSION, "modelId": "prebuilt-layout", "stringIndexType": "unicodeCodePoint",
        "contentFormat": "text", "content": content, "pages": pages, "paragraphs": paragraphs, "tables": [],
        "styles": [], "sections": [],
    }  # fmt: skip


def _line_boxes(runs: list[tuple[float, float, float, float]]) -> list[tuple[float, float, float, float]]:
    """Runs of one font, joined where they follow each other on one line."""
    boxes: list[tuple[float, float, float, float]] = []
    for left, bottom, right, top in runs:
        last = boxes[-1] if boxes else None
        if last and min(top, last[3]) - max(bottom, last[1]) > 0.5 * (top - bottom) and -2 < left - last[2] < 15:
            boxes[-1] = (last[0], min(bottom, last[1]), max(right, last[2]), max(top, last[3]))
        else:
            boxes.append((left, bottom, right, top))
    return boxes


def _polygon(x0: float, y0: float, x1: float, y1: float) -> list[float]:
    return [x0, y0, x1, y0, x1, y1, x0, y1]


def _paragraphs(lines: list[dict[str, Any]], page: int, *, first_page: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in lines:
        top, bottom = line["polygon"][1], line["polygon"][5]
        heading = re.fullmatch(r"(?:\d+\.? )?[A-Z][\w-]+(?: [\w-]+){0,5}", line["content"])
        last = found[-1] if found else None
        own = bool(heading) or last is None or "role" in last or not 0 <= top - last["bottom"] < 0.12
        if own or last is None:
            span = dict(line["spans"][0])
            found.append({"content": line["content"], "spans": [span], "bottom": bottom, "polygon": line["polygon"]})
            if first_page and len(found) == 1:
                found[-1]["role"] = "title"
            elif heading:
                found[-1]["role"] = "sectionHeading"
            continue
        span, added = last["spans"][0], line["spans"][0]
        span["length"] = added["offset"] + added["length"] - span["offset"]
        last["content"], last["bottom"] = f"{last['content']} {line['content']}", bottom
    for one in found:
        del one["bottom"]
        one["boundingRegions"] = [{"pageNumber": page, "polygon": one.pop("polygon")}]
    return found

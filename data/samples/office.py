"""The sample DOCX and PPTX from `sources/*.json`, with styles of their own kind and without a clock.

A source holds title, authors, date, keywords, sections (heading, level, paragraphs, and for slides the
speaker's notes) and references. Used by `build.py`.
"""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pptx

Source = dict[str, Any]
CREATED = datetime(2025, 6, 15, 12)
ZIPPED = (2025, 6, 15, 12, 0, 0)


def build_docx(source: Path, target: Path) -> None:
    """A paper in Word's own styles: title, headings, body, a reference list."""
    paper = _read(source)
    document = docx.Document()
    _describe(document.core_properties, paper)
    document.add_paragraph(paper["title"], style="Title")
    document.add_paragraph(", ".join(paper["authors"]))
    document.add_paragraph(paper["date"])
    document.add_paragraph("Keywords: " + ", ".join(paper["keywords"]))
    for heading, level, paragraphs in paper["sections"]:
        document.add_heading(heading, level)
        for text in paragraphs:
            document.add_paragraph(text)
    for reference in paper["references"]:
        document.add_paragraph(reference["raw"])
    _save(document, target)


def build_pptx(source: Path, target: Path) -> None:
    """A talk: a title slide, then a slide a section with its points and the speaker's notes."""
    talk = _read(source)
    slides = pptx.Presentation()
    _describe(slides.core_properties, talk)
    front = slides.slides.add_slide(slides.slide_layouts[0])
    front.shapes.title.text = talk["title"]
    front.placeholders[1].text = "\n".join([", ".join(talk["authors"]), talk["date"]])
    for heading, _, points, notes in talk["sections"]:
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text = heading
        entries = [reference["raw"] for reference in talk["references"]] if heading == "References" else points
        slide.placeholders[1].text = "\n".join(entries)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    _save(slides, target)


def _read(source: Path) -> Source:
    content: Source = json.loads(source.read_text(encoding="utf-8"))
    return content


def _describe(properties: Any, source: Source) -> None:
    properties.title = source["title"]
    properties.author = "; ".join(source["authors"])
    properties.keywords = ", ".join(source["keywords"])
    properties.created = properties.modified = CREATED
    properties.last_modified_by = ""


def _save(document: Any, target: Path) -> None:
    """Write the archive again with one time for all its members, so that the same source gives the same bytes."""
    written = BytesIO()
    document.save(written)
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, ZIPPED)
            member.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(member, old.read(name))

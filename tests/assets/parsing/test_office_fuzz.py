"""Office files whose XML was changed at random, in archives that are whole: a paper or a document's error, and soon."""

from __future__ import annotations

import gc
import random
import re
import resource
import zipfile
from functools import partial
from pathlib import Path

import docx
import pptx
import pytest
from pptx.util import Inches

from monjyu_assets.parsing.dispatch import parse_document
from monjyu_core.errors import DocumentError
from monjyu_core.settings.settings import ParseSettings
from monjyu_core.text.language import detect_language
from tests.assets.parsing.office_files import write_zip
from tests.limits import ends

VALUES = [b"", b"-1", b"99999999999", b"x", b"0", b"1.5", "あ".encode(), b"rId999"]
ELEMENTS = [b"w:p", b"w:tbl", b"w:r", b"w:sdt", b"w:tc", b"a:p", b"p:sp"]
LEAF = re.compile(rb"<([\w:]+)([^<>/]*)>([^<>]*)</\1>")
VALUE = re.compile(rb'="[^"]*"')
TAG = re.compile(rb"<[^<>]*>")


def document(path: Path) -> Path:
    written = docx.Document()
    written.add_heading("Passages of Graphs", 0)
    written.add_paragraph("Ada Ames and Bo Birk")
    for number in range(3):
        written.add_heading(f"Part {number}", 1)
        written.add_paragraph("A sentence stands here for the text to be long enough. " * 3)
        written.add_paragraph("first", style="List Bullet")
        written.add_paragraph("one", style="List Number")
        table = written.add_table(2, 3)
        table.cell(0, 0).merge(table.cell(0, 1)).text = "merged"
        table.cell(0, 2).merge(table.cell(1, 2)).text = "down"
    written.save(str(path))
    return path


def deck(path: Path) -> Path:
    written = pptx.Presentation()
    for number in range(4):
        slide = written.slides.add_slide(written.slide_layouts[min(number, 1)])
        slide.shapes.title.text, slide.placeholders[1].text = f"Slide {number}", "A line\nAnother line"
        slide.notes_slide.notes_text_frame.text = "A note."
        slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(1), Inches(1)).table.cell(0, 0).text = "x"
    written.save(str(path))
    return path


def mutated(xml: bytes, chance: random.Random) -> bytes:
    kind = chance.randrange(5)
    found = list((VALUE if kind == 0 else TAG if kind == 1 else LEAF).finditer(xml))
    if not found:
        return xml
    match = chance.choice(found)
    start, end = match.span()
    if kind == 0:
        return xml[:start] + b'="' + chance.choice(VALUES) + b'"' + xml[end:]
    if kind <= 2:
        return xml[:start] + xml[end:]
    if kind == 3:
        return xml[:end] + match.group() * chance.choice([1, 50]) + xml[end:]
    name = chance.choice(ELEMENTS)
    return xml[:start] + b"<" + name + match[2] + b">" + match[3] + b"</" + name + b">" + xml[end:]


@pytest.mark.parametrize("turns", [30, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_changed_xml(kind: str, turns: int, tmp_path: Path) -> None:
    seed = document(tmp_path / "seed.docx") if kind == "docx" else deck(tmp_path / "seed.pptx")
    with zipfile.ZipFile(seed) as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    names = [name for name in whole if name.endswith((".xml", ".rels")) and "theme" not in name]
    main = [name for name in names if re.search(r"(?:document|styles|numbering|slide\d+|presentation)\.xml", name)]
    chance = random.Random(11)
    detect_language("Its model is loaded once, which takes a hundred megabytes.")
    parsed = 0
    memory = 0
    for turn in range(turns):
        if turn % 10 == 0:
            gc.collect()  # the tests' process does it rarely, and what is measured is what stays
        parts: dict[str, str | bytes] = dict(whole)
        for _ in range(chance.randint(1, 4)):
            name = chance.choice(main if chance.random() < 0.8 else names)
            if chance.random() < 0.05:
                parts.pop(name, None)
            elif isinstance(xml := parts.get(name), bytes):
                parts[name] = mutated(xml, chance)
        path = write_zip(tmp_path / f"a.{kind}", parts, zipfile.ZIP_STORED)
        try:
            ends(partial(parse_document, {"path": str(path), "document_type": kind}, ParseSettings()))
            parsed += 1
        except DocumentError as error:
            assert str(error)
        if turn == turns // 2:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert parsed > turns // 4
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 200_000

"""Pages without usable text: found, read by OCR where it is installed, named where it is not."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typst
from PIL import Image, ImageFilter

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_assets.parsing.formats.pdf.read.characters import PageChars, empty_page
from monjyu_assets.parsing.formats.pdf.read.geometry import Drawn
from monjyu_assets.parsing.formats.pdf.read.ocr import ranges, render, unusable_pages
from monjyu_assets.parsing.formats.pdf.read.ocr_engine import _Measured, settle_sizes
from monjyu_assets.parsing.formats.pdf.reading import open_pdf, read_layout
from monjyu_assets.parsing.ocr_state import engine_version
from monjyu_core.errors import ScannedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import OcrSettings, ParseSettings
from tests.assets.worlds import World
from tests.conftest import CORPORA, SAMPLES, needs_corpora

needs_ocr = pytest.mark.skipif(engine_version() is None, reason="the extra `ocr` is absent: make setup")
OFF = OcrSettings(enabled="off")
PAPER = """
#set page(width: 15cm, height: 19cm, margin: 1.5cm)
#set text(font: "Libertinus Serif", size: 10pt)
#set par(justify: true)
#align(center)[#text(size: 16pt, weight: "bold")[Reading Pages That Are Only Pictures] \\
#v(4pt) #text(size: 11pt)[Alice Example, Bob van der Berg]]
*Abstract.* We read the images of pages and give their words a place. The words are as good as the scan allows.
#columns(2)[
#text(size: 12pt, weight: "bold")[1 Introduction]

Scanned papers hold no characters, so a search over them finds nothing [1]. We look for lines of print, read them, and
let the same layout rules decide what is a column, what is a heading and what is a footnote.

#text(size: 12pt, weight: "bold")[2 Method]

A line is measured before it is read. Its font size follows from the height of its print, its weight from the width of
its strokes [2]. Both are compared with all the other lines of the paper.

#text(size: 12pt, weight: "bold")[References]

#set text(size: 9pt)
[1] J. Smith. Graph-based retrieval for scholarly search. _Journal of Tests_, 12(3):45--67, 2019.

[2] K. Tanaka. _Foundations of Indexing_. Springer, Berlin, 2015.
]
"""


def made(folder: Path, name: str, source: str) -> Path:
    (folder / f"{name}.typ").write_text(source, "utf-8")
    typst.compile(str(folder / f"{name}.typ"), output=str(folder / f"{name}.pdf"))
    return folder / f"{name}.pdf"


def scanned(folder: Path, name: str, text_pdf: Path, before: str = "", after: str = "", turn: int = 0) -> Path:
    """A PDF whose pages are images of those of another, among pages of text."""
    import pypdfium2 as pdfium

    document = pdfium.PdfDocument(text_pdf)
    pages = []
    for index, page in enumerate(document):
        image = page.render(scale=150 / 72).to_pil().convert("L").rotate(turn, expand=True)
        image.save(folder / f"{name}-{index}.png")
        width, height = (size * 72 / 150 for size in image.size)
        pages.append(
            f"#page(width: {width}pt, height: {height}pt, margin: 0pt)"
            f'[#image("{name}-{index}.png", width: 100%, height: 100%)]\n'
        )
    return made(folder, name, before + "".join(pages) + after)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scans")


@pytest.fixture(scope="module")
def text_pdf(folder: Path) -> Path:
    return made(folder, "text", PAPER)


@pytest.fixture(scope="module")
def few_words(folder: Path) -> Path:
    """A page that is read in a tenth of the time."""
    words = "A search over these few words finds nothing, since they are a picture."
    return made(folder, "few", f"#set page(width: 10cm, height: 5cm)\n{words}")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("OCR reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def squeezed(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def errors(a: str, b: str) -> float:
    """Edit distance of two texts over the length of the first."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1] / max(1, len(a))


def whole(paper: ParsedPaper) -> str:
    return squeezed("".join(section.heading + section.text for section in paper.sections))


def area(box: tuple[float, float, float, float]) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


@needs_ocr
@pytest.mark.usefixtures("no_network")
def test_a_scan_gives_the_paper_that_its_text_gives(folder: Path, text_pdf: Path) -> None:
    truth = parse_pdf(text_pdf, ParseSettings())
    paper = parse_pdf(scanned(folder, "scan", text_pdf), ParseSettings())
    assert (paper.title, [a.name for a in paper.authors]) == (truth.title, [a.name for a in truth.authors])
    assert [(s.heading, s.level, s.section_type) for s in paper.sections] == [
        (s.heading, s.level, s.section_type) for s in truth.sections
    ]
    assert errors(whole(truth), whole(paper)) < 0.01
    assert [(r.ref_id, r.title, r.year) for r in paper.references] == [
        (r.ref_id, r.title, r.year) for r in truth.references
    ]
    assert [c.ref_id for c in paper.inline_citations] == [c.ref_id for c in truth.inline_citations]
    assert paper.warnings == [] == paper.unread_pages
    boxes = {squeezed(s.text): s.spans for section in truth.sections for s in section.sentences}
    pairs = [(boxes.get(squeezed(s.text)), s.spans) for section in paper.sections for s in section.sentences]
    shares = []
    for known, found in pairs:
        if not known:
            continue
        for a, b in zip(known[0].boxes, found[0].boxes, strict=False):
            common = area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))
            shares.append(common / (area(a) + area(b) - common))
    assert len(shares) > 8
    assert np.median(shares) > 0.75


@needs_ocr
def test_japanese(folder: Path) -> None:
    import pypdfium2 as pdfium

    second = pdfium.PdfDocument.new()
    second.import_pages(pdfium.PdfDocument(SAMPLES / "language-merging.pdf"), pages=[1])
    second.save(folder / "japanese-text.pdf")
    truth = parse_pdf(folder / "japanese-text.pdf", ParseSettings())
    scan = scanned(folder, "japanese", folder / "japanese-text.pdf")
    paper = parse_pdf(scan, ParseSettings(), OcrSettings(languages="ja"))
    assert paper.language == truth.language == "ja"
    assert errors(whole(truth), whole(paper)) < 0.02
    assert len(paper.references) == len(truth.references) == 5


@needs_ocr
def test_only_the_pages_that_need_it_are_read(folder: Path, few_words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr("monjyu_assets.parsing.sandbox.time_grants._listeners", [lambda *pages: asked.append(pages)])
    mixed = scanned(folder, "mixed", few_words, before="#lorem(200)\n", after="#lorem(200)\n")
    layout, warnings = read_layout(mixed, ParseSettings(), OcrSettings())
    assert asked == [(0, 1), (1, 1)]
    assert layout.unread_pages == warnings == []
    pages = [squeezed("".join(line.text for line in layout.lines if line.page == page)) for page in (1, 2, 3)]
    assert pages[0] == pages[2] != ""
    assert "searchoverthesefewwordsfindsnothing" in pages[1]


def test_without_ocr_there_is_what_can_be_read_and_a_warning(
    folder: Path, text_pdf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monjyu_assets.parsing.formats.pdf.read.ocr.ocr_state", lambda settings: "none")
    mixed = scanned(folder, "mixed2", text_pdf, before="#lorem(200)\n", after="#lorem(200)\n")
    paper = parse_pdf(mixed, ParseSettings())
    assert paper.unread_pages == [2]
    [warning] = [warning for warning in paper.warnings if warning.startswith("page")]
    assert warning.startswith("page 2 has no usable text: OCR is not installed.")
    assert "pip install 'opencv-python-headless>=4.13' rapidocr==" in warning
    assert "unread_pages" not in paper.model_dump(), "kept for the index, not printed"
    with pytest.raises(ScannedDocument) as error:
        parse_pdf(scanned(folder, "scan2", text_pdf), ParseSettings())
    assert "pip install 'opencv-python-headless>=4.13' rapidocr==" in error.value.hint


@needs_ocr
def test_a_page_that_takes_too_long_stays_unread(folder: Path, text_pdf: Path) -> None:
    mixed = scanned(folder, "slow", text_pdf, before="#lorem(200)\n")
    paper = parse_pdf(mixed, ParseSettings(), OcrSettings(timeout_seconds=0.1))
    assert paper.unread_pages == [2]
    assert "more than 0.1 s of CPU time" in paper.warnings[0]
    assert "ocr.timeout_seconds" in paper.warnings[0]
    assert "loremipsum" in whole(paper)


@needs_ocr
def test_pages_beyond_the_limit_are_named(folder: Path) -> None:
    two = made(
        folder, "two", "#set page(width: 8cm, height: 6cm)\n" + "A first page of text. " * 4 + "\n#pagebreak()\nB"
    )
    paper = parse_pdf(scanned(folder, "limited", two), ParseSettings(), OcrSettings(max_pages=1))
    assert paper.unread_pages == [2]
    assert "ocr.max_pages" in paper.warnings[0]
    assert "firstpage" in whole(paper)


@needs_ocr
def test_a_page_that_is_hard_to_read_is_said_to_be(folder: Path) -> None:
    words = "A relevance test is one question to a model about one chunk of text. "
    small = made(folder, "hard", "#set page(width: 12cm, height: 7cm)\n" + words * 6)
    image = open_pdf(small)[0].render(scale=80 / 72).to_pil().convert("L").filter(ImageFilter.GaussianBlur(0.8))
    noise = np.random.default_rng(1).normal(0, 45, (image.height, image.width))
    noisy = np.clip(np.asarray(image, float) + noise, 0, 255).astype(np.uint8)
    Image.fromarray(noisy).save(folder / "hard.png")
    page = '#page(width: 12cm, height: 7cm, margin: 0pt)[#image("hard.png", width: 100%, height: 100%)]'
    layout, warnings = read_layout(made(folder, "hard-scan", page), ParseSettings(), OcrSettings())
    [said] = warnings
    assert re.fullmatch(
        r"page 1 was hard to read: OCR is sure of [4-8]\d% of the characters, and words may be wrong", said
    )
    assert layout.unread_pages == [], "it was read, though badly"


@needs_ocr
@pytest.mark.parametrize("turn", [90, 180])
def test_a_page_on_its_side_or_head(folder: Path, turn: int) -> None:
    small = made(folder, "small", "#set page(width: 10cm, height: 5cm)\n" + "A page that was laid on its side. " * 5)
    path = scanned(folder, f"turned{turn}", small, turn=turn)
    paper = parse_pdf(path, ParseSettings())
    assert "apagethatwaslaidonitsside" in whole(paper)
    page = open_pdf(path)[0].get_size()
    boxes = [box for s in paper.sections for q in s.sentences for span in q.spans for box in span.boxes]
    assert all(0 <= b[0] < b[2] <= page[0] + 1 and 0 <= b[1] < b[3] <= page[1] + 1 for b in boxes)
    tall = [b[3] - b[1] > b[2] - b[0] for b in boxes]
    assert all(tall) if turn == 90 else not any(tall)


@needs_ocr
def test_languages_bar_letters(folder: Path) -> None:
    from monjyu_assets.parsing.formats.pdf.read.ocr_engine import Reader

    document = open_pdf(SAMPLES / "language-merging.pdf")
    image, _ = render(document, 0, 100)
    text = "".join(line.text for line in Reader("en").read(image[: image.shape[0] // 6]))
    assert not re.search(r"[\u3040-\u9fff]", text)


@needs_ocr
@needs_corpora
def test_scanned_files_of_the_hostile_set() -> None:
    paper = parse_pdf(CORPORA / "hostile" / "scanned__testOCR.pdf", ParseSettings())
    assert re.search(r"happyy?newyear2003", whole(paper))


def test_which_pages_need_it() -> None:
    def page(number: int, text: str, images: list[tuple[float, float, float, float]], garbled: int = 0) -> PageChars:
        made = empty_page(number)
        made.text, made.raw_count, made.garbled, made.drawn = list(text), len(text), garbled, Drawn(images)
        return made

    whole_page, strips = (0.0, 0.0, 612.0, 792.0), [(0.0, y, 612.0, y + 100.0) for y in range(0, 800, 100)]
    words = "thequickbrownfoxjumpsoverthelazydog" * 20
    pages = [
        page(1, words, [whole_page]),  # a scan with a text layer
        page(2, "", [whole_page]),
        page(3, "Downloaded from a library", strips),
        page(4, words, [], garbled=400),
        page(5, re.sub("[aeiou]", "x", words), []),
        page(6, "ACGT" * 100, []),
        page(7, "Figure 3", [(100.0, 100.0, 300.0, 300.0)]),
        page(8, "", []),
        page(9, "3.14159" * 60, []),
    ]
    assert unusable_pages(None, pages) == [2, 3, 4, 5]


def test_sizes_settle_on_those_of_most_characters() -> None:
    sizes = [10.1, 9.7, 10.4, 12.2, 11.9, 8.1]
    lines = [_Measured(0, 1, 0, size, 1, "x" * 60, np.zeros(60), np.zeros((0, 2))) for size in sizes]
    settle_sizes(lines)
    assert [line.size for line in lines] == [10.0, 10.0, 10.0, 12.0, 12.0, 8.0]


def test_ranges() -> None:
    assert ranges([1, 3, 4, 5, 9]) == "1, 3-5, 9"


@needs_ocr
def test_installing_ocr_tries_again_what_lacked_it_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path / "data", tmp_path / "papers")
    small = made(tmp_path, "small", "#set page(width: 8cm, height: 6cm)\nA page of a few words of text.")
    scanned(tmp_path, "scan", small).rename(world.papers / "scan.pdf")
    scanned(tmp_path, "mixed", small, before="#lorem(80)\n").rename(world.papers / "mixed.pdf")
    made(tmp_path, "text", "#lorem(80)").rename(world.papers / "text.pdf")
    (world.papers / "empty.pdf").write_bytes(b"")
    with monkeypatch.context() as absent:
        for module in ("parsing.formats.pdf.read.ocr", "stages.shared.parse_plan"):
            absent.setattr(f"monjyu_assets.{module}.ocr_state", lambda settings: "none")
        assert len(world.parse()) == 4
        assert world.parse() == set()
        failures = {row["error_type"] for row in world.tables()["failures"]}
        assert failures == {"ScannedDocument", "EmptyDocument"}
    assert len(world.parse()) == 2
    assert [row["error_type"] for row in world.tables()["failures"]] == ["EmptyDocument"]
    assert world.parse() == set()

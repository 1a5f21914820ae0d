"""Writes an answer as a PDF: citation marks link to the sources, and sources to the papers."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from monjyu_core.text.language import message_language
from monjyu_core.values import Values
from monjyu_query.answer_packages.document import Document, Paragraph, Source
from monjyu_query.asking.result import AnswerTable

# No font is embedded. Every PDF viewer has Helvetica for Latin letters and Symbol for Greek ones and mathematics, and
# has or replaces the Asian fonts. A character in none of these is printed without its accent, or as a box.
LATIN, BOLD, ITALIC = "Helvetica", "Helvetica-Bold", "Helvetica-Oblique"
_ASIAN = (("cp932", "HeiseiKakuGo-W5"), ("gb18030", "STSong-Light"), ("cp949", "HYGothic-Medium"))
_FONTS = (("symbolencoding", "Symbol"), *_ASIAN)
"""Encodings, in the order in which they are tried, each with the font for its letters."""
_FIRST_ASIAN = 0x1100
"""The first code point for which Asian fonts are tried; their Latin letters are often missing in viewers."""
_CHINESE_LIMIT = 0xFFFF
_BOX = "□"
_PLAIN = {"Ł": "L", "ł": "l", "đ": "d", "Đ": "D", "ı": "i", "ħ": "h", "−": "–", "‐": "-", "‑": "-", "‒": "–"}
"""Letters that do not decompose into a known letter and an accent."""


@cache
def register() -> None:
    """Register the Asian fonts with reportlab, once."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.rl_codecs import RL_Codecs

    RL_Codecs.register()

    for _, name in _ASIAN:
        pdfmetrics.registerFont(UnicodeCIDFont(name))


def in_fonts(text: str, latin: str = LATIN) -> Iterator[tuple[str, str]]:
    """Split the text where its font changes; yield the font's name and the piece."""
    register()
    letters = [printed for letter in text for printed in _printed(letter)]
    for font, run in groupby(letters, key=lambda letter: font_of(letter) or latin):
        yield font, "".join(run)


def is_asian(text: str) -> bool:
    """Whether more than a quarter of the letters are wide, so that lines may break between any two, as in Japanese."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return wide > len(text) / 4


@cache
def font_of(letter: str) -> str | None:
    """Return the font of a non-Latin letter, or None if a Latin font or no font contains it."""
    if _encodes(letter, "cp1252") or ord(letter) > _CHINESE_LIMIT:
        return None
    fonts = _FONTS if ord(letter) >= _FIRST_ASIAN else _FONTS[:1]
    return next((font for code, font in fonts if _encodes(letter, code)), None)


@cache
def _printed(letter: str) -> str:
    if _encodes(letter, "cp1252") or font_of(letter) is not None:
        return letter
    simpler = _PLAIN.get(letter) or "".join(
        c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c)
    )
    known = all(_encodes(c, "cp1252") or font_of(c) is not None for c in simpler)
    return simpler if simpler and simpler != letter and known else _BOX


def _encodes(letter: str, code: str) -> bool:
    try:
        encoded = letter.encode(code)
    except UnicodeEncodeError:
        return False
    return code != "gb18030" or len(encoded) <= 2


_MARGIN = 62.0
"""The margin of a page, in points."""
_BLUE = "#1f4e9e"
_LONGEST_CELL, _LONGEST_HEAD = 4000, 150
"""The maximum number of characters in a cell, and in a column head, which each page of a table repeats."""
_LEAST_COLUMN = 40.0
"""The minimum width of a column, in points."""
_SIZES = {"title": (17, 22), "heading": (12.5, 17), "text": (10.5, 15), "small": (9, 12.5)}
"""Sizes of letters and of lines, in points."""


def as_pdf(document: Document) -> bytes:
    """Return the document as PDF. Equal documents produce equal bytes. Text of papers is never interpreted as markup,
    and nothing is fetched."""
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate

    register()
    written = io.BytesIO()
    frame = dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), _MARGIN)
    about = {"title": document.title[:200], "author": "Monjyu", "lang": message_language(document.title)}
    pages = SimpleDocTemplate(written, pagesize=A4, invariant=1, **about, **frame)
    width = A4[0] - 2 * _MARGIN
    story = [_block(_text(document.title, BOLD), "title", document.title)]
    story += [_block(f"<i>{_text(note, ITALIC)}</i>", "small", note) for note in document.notes]
    story += [_paragraph(paragraph) for paragraph in document.paragraphs]
    for table in document.tables:
        story += _table(table, width)
    story += _lists(document)
    pages.build(story, onFirstPage=_foot, onLaterPages=_foot)
    return written.getvalue()


def _foot(canvas: Any, pages: Any) -> None:
    canvas.setFont(LATIN, 8)
    canvas.drawCentredString(pages.pagesize[0] / 2, _MARGIN / 2, str(canvas.getPageNumber()))


def _text(text: str, latin: str = LATIN) -> str:
    """Return the text as escaped markup, each piece in a font that contains its letters."""
    return "".join(
        escape(piece) if font == LATIN else f'<font name="{font}">{escape(piece)}</font>'
        for font, piece in in_fonts(text, latin)
    )


def _block(markup: str, size: str, text: str, **style: Any) -> Any:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph as Printed

    letters, line = _SIZES[size]
    wrap: Values = {"wordWrap": "CJK"} if is_asian(text) else {"splitLongWords": 1}
    wrap |= {"keepWithNext": 1} if size == "heading" else {}
    look = {"fontName": LATIN, "fontSize": letters, "leading": line, "spaceAfter": line * 0.5, **wrap, **style}
    return Printed(markup, ParagraphStyle(size, **look))


def _paragraph(paragraph: Paragraph) -> Any:
    words = "".join(run.text for run in paragraph.runs)
    bold = BOLD if paragraph.heading else LATIN
    markup = "".join(_text(run.text, BOLD if run.bold else bold) + _marks(run.marks) for run in paragraph.runs)
    if paragraph.item:
        return _block(f"• {markup}", "text", words, leftIndent=12, firstLineIndent=-9)
    return _block(markup, "heading" if paragraph.heading else "text", words)


def _marks(marks: tuple[int, ...] | list[int]) -> str:
    return "".join(f' <a href="#source{n}" color="{_BLUE}">[{n}]</a>' for n in marks)


def _link(address: str | None) -> str:
    return f' <a href={quoteattr(address)} color="{_BLUE}">{_text(address)}</a>' if address else ""


def _lists(document: Document) -> list[Any]:
    words, story = document.words, []
    if document.sources:
        story.append(_block(_text(words["sources"], BOLD), "heading", words["sources"], spaceBefore=8))
        story += [_source(source) for source in document.sources]
    if document.papers:
        story.append(_block(_text(words["papers"], BOLD), "heading", words["papers"], spaceBefore=8))
        story += [_block(_text(text) + _link(address), "small", text) for text, address in document.papers]
    story.append(_block(_text(words["about"], BOLD), "heading", words["about"], spaceBefore=8))
    return story + [_block(_text(line), "small", line) for line in document.about]


def _source(source: Source) -> Any:
    retracted = _text(" (retracted)", BOLD) if source.retracted else ""
    about, asian = source.title + source.where, is_asian(source.quote)
    before, after = ("「", "」") if asian else ("“", "”")
    quoted = f"{_text(before)}{_text(source.quote, LATIN if asian else ITALIC)}{_text(after)}"
    head = f'<a name="source{source.n}"/>{_text(f"[{source.n}]", BOLD)} {_text(about)}{retracted}: '
    return _block(head + quoted + _link(source.address), "small", source.title + source.quote)


def _table(table: AnswerTable, width: float) -> list[Any]:
    from reportlab.lib.colors import HexColor
    from reportlab.platypus import LongTable

    rows = [[_block(_text(_cut(name, _LONGEST_HEAD), BOLD), "small", name, spaceAfter=0) for name in table.columns]]
    rows += [
        [
            _block(_text(_cut(cell.text, _LONGEST_CELL)) + _marks(cell.citations), "small", cell.text, spaceAfter=0)
            for cell in row
        ]
        for row in table.rows
    ]
    lines = [("GRID", (0, 0), (-1, -1), 0.4, HexColor("#999999")), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    printed = LongTable(rows, colWidths=_widths(table, width), repeatRows=1, splitInRow=1, style=lines)
    printed.spaceAfter = 10
    title = [_block(_text(table.title, BOLD), "text", table.title)] if table.title else []
    return [*title, printed]


def _widths(table: AnswerTable, width: float) -> list[float]:
    """Return the column widths in points: columns with more text are wider, and each has room for a word or two."""
    counts = [
        len(name) + sum(min(len(row[at].text), 300) for row in table.rows) for at, name in enumerate(table.columns)
    ]
    least = min(_LEAST_COLUMN, width / len(counts))
    shared = width - least * len(counts)
    return [least + shared * count**0.5 / (sum(other**0.5 for other in counts) or 1) for count in counts]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"

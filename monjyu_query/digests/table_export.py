"""A study table as CSV and XLSX: next to each cell its quotes and their pages."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from monjyu_core.text.unicode_words import without_controls
from monjyu_query.answers.verification.numbers import figures
from monjyu_query.asking.fields import ExportForm
from monjyu_query.asking.result import Cell, Citation
from monjyu_query.digests.draft import NOTHING
from monjyu_query.digests.result import Digest, word

LONGEST_CELL = 32_000
"""The maximum number of characters in a cell; spreadsheets allow 32,767."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_WIDTHS = {"label": 24, "text": 48, "quote": 40, "page": 8}


def exported_rows(digest: Digest) -> Iterator[list[str | float]]:
    """The headings, then one row per paper: label, title, authors, year and id, then for each column the value or text,
    quotes and pages. Years, pages and counts are numbers; text contains no characters that reverse text."""
    table, language = digest.tables[0], digest.language
    quote, page = word("quote", language), word("page", language)
    paper = [word(name, language) for name in ("paper", "title", "authors", "year")]
    heads = [head for name in table.columns[1:] for head in (name, f"{name} ({quote})", f"{name} ({page})")]
    yield [*paper, "paper_id", *heads]
    papers = {one.paper_id: one for one in digest.papers}
    by_number = {citation.n: citation for citation in digest.citations}
    for name, *cells in table.rows:
        one = papers[name.paper_id or ""]
        row = (one.label, one.title, "; ".join(one.authors), one.year or "", one.paper_id)
        texts = (*row, *(text for cell in cells for text in _texts(cell, by_number)))
        yield [without_controls(text) if isinstance(text, str) else text for text in texts]


def _texts(cell: Cell, by_number: dict[int, Citation]) -> tuple[str | float, str, str | float]:
    cited = [by_number[number] for number in cell.citations]
    quotes = "\n".join(" ".join(citation.quote.split()) for citation in cited)
    pages = list(dict.fromkeys(citation.page for citation in cited if citation.page))
    page = pages[0] if len(pages) == 1 else ", ".join(map(str, pages))
    text = "" if cell.text == NOTHING else cell.value or cell.text
    return _number(cell.value or "") or text[:LONGEST_CELL], quotes[:LONGEST_CELL], page


def _number(value: str) -> float | None:
    """The only figure of a value that begins with it, without a unit of measure: "n = 120", "617 people", "2019"."""
    found = figures(value)
    if len(found) != 1 or found[0].kind or found[0].percent or value[: found[0].start].strip(" nN=~"):
        return None
    return int(found[0].value) if found[0].value.is_integer() else found[0].value


def as_csv(digest: Digest) -> bytes:
    """The table as CSV, in UTF-8 with a byte order mark, which spreadsheets expect."""
    return csv_text(exported_rows(digest) if digest.tables else ()).encode("utf-8-sig")


def csv_text(rows: Iterable[Sequence[str | float]]) -> str:
    """CSV in which text that a spreadsheet would interpret as a formula begins with an apostrophe."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(map(_plain, row) for row in rows)
    return out.getvalue()


def _plain(value: str | float) -> str | float:
    text = without_controls(value) if isinstance(value, str) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA) else text


def as_xlsx(digest: Digest) -> bytes:
    """The table as a workbook of one sheet, whose heading row and first column are frozen. Values that are not numbers
    are always text, never formulas."""
    import xlsxwriter

    out = io.BytesIO()
    plain = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(out, plain) as book:
        sheet = book.add_worksheet("Monjyu")
        bold, wrapped = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
        for number, row in enumerate(exported_rows(digest) if digest.tables else ()):
            for place, text in enumerate(row):
                write = sheet.write_string if isinstance(text, str) else sheet.write_number
                write(number, place, text, wrapped if number else bold)
            if not number:
                sheet.set_column(0, 4, _WIDTHS["label"])
                for place in range(5, len(row), 3):
                    sheet.set_column(place, place, _WIDTHS["text"])
                    sheet.set_column(place + 1, place + 1, _WIDTHS["quote"])
                    sheet.set_column(place + 2, place + 2, _WIDTHS["page"])
        sheet.freeze_panes(1, 1)
    return out.getvalue()


_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMS = {
    "markdown": ExportForm(lambda digest: digest.text().encode(), "text/markdown; charset=utf-8", "md", "Markdown"),
    "csv": ExportForm(as_csv, "text/csv; charset=utf-8", "csv", "CSV"),
    "xlsx": ExportForm(as_xlsx, _SHEET, "xlsx", "Excel", is_text=False),
    "json": ExportForm(lambda digest: digest.model_dump_json().encode(), "application/json", "json", "JSON"),
}

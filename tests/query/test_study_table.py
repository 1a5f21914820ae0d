"""Study tables: a row a paper, cells with their quotes, by quotes alone or by a model that is held to them."""

from __future__ import annotations

import csv
import io
import json
import re
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.errors import QueryError
from monjyu_query import Monjyu
from monjyu_query.answers.layout import displayed_text
from monjyu_query.answers.segments import table_markdown
from monjyu_query.asking.result import AnswerTable, Cell, Citation
from monjyu_query.digests.result import Digest, DigestPaper
from monjyu_query.digests.table_columns import ValueKind, columns_named, kind_of, language_of, values_in
from monjyu_query.digests.table_export import as_csv, as_xlsx
from tests.conftest import call_monjyu
from tests.core.models.fake_server import FakeModels, failing, say

pytestmark = pytest.mark.usefixtures("module_without_reader")

PAPER, OTHER = "answer-provenance-ac1d5330", "relevance-budget-438725c6"
USUAL = ["Paper", "Question", "Method", "Sample", "Measure", "Result", "Limitation"]


@pytest.fixture(scope="module")
def reader(sample_data: Path) -> Monjyu:
    return Monjyu(sample_data)


def quoted(digest: Digest) -> dict[tuple[str, str], tuple[str, list[Citation]]]:
    """Text and citations by paper and column."""
    [table] = digest.tables
    by_number = {citation.n: citation for citation in digest.citations}
    return {
        (row[0].paper_id or "", name): (cell.text, [by_number[n] for n in cell.citations])
        for row in table.rows
        for name, cell in zip(table.columns[1:], row[1:], strict=True)
    }


def test_a_row_a_paper_and_a_quote_a_cell(reader: Monjyu) -> None:
    digest = reader.table()
    assert (digest.kind, digest.status, digest.tables[0].columns) == ("table", "complete", USUAL)
    assert [row[0].paper_id for row in digest.tables[0].rows] == [paper.paper_id for paper in digest.papers]
    assert {paper.paper_id for paper in digest.papers} == {paper.paper_id for paper in reader.papers()}
    cells = quoted(digest)
    for (paper_id, _), (text, citations) in cells.items():
        assert bool(citations) == (text != "–")
        assert {citation.paper_id for citation in citations} <= {paper_id}
        assert all(text.lstrip("… ") in displayed_text(citation.quote) for citation in citations)
    assert sum(bool(citations) for _, citations in cells.values()) >= len(digest.papers) * 2
    assert digest == reader.table()


def test_columns_in_words_are_searched_for_and_stay_empty_where_nothing_is_said(reader: Monjyu) -> None:
    digest = reader.table(["identifiers of sentences", "price of bananas"], paper_ids=[PAPER, OTHER])
    cells = quoted(digest)
    assert "identifier" in cells[PAPER, "identifiers of sentences"][0]
    assert not cells[PAPER, "price of bananas"][1] and not cells[OTHER, "price of bananas"][1]
    assert digest.warnings == ["No paper says enough about “price of bananas”."]


def test_what_columns_mean() -> None:
    def meant(name: str) -> tuple[str | None, bool]:
        [column] = columns_named([name], "en")
        return column.aspect.name if column.aspect else None, column.counts

    assert meant("Number of participants") == ("sample", True) and meant("対象の人数")[1]
    assert meant("Main result") == ("results", False) and meant("software") == (None, False)
    assert meant("limitations") == ("limits", False) and meant("outcome measures") == ("measures", False)
    assert meant("licence") == ("licence", False) and meant("cost of the trip") == (None, False)
    assert [column.name for column in columns_named([], "ja")] == ["問い", "方法", "対象", "測定", "結果", "限界"]
    assert [column.name for column in columns_named([" a ", "a", ""], "en")] == ["a"]


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("count", "Every year, from 80 to 120 students take it in 2019.", ["80 to 120 students"]),
        (
            "count",
            "With n = 617 and α = 0.05, and 740 thousand clients after 5 ns.",
            ["n = 617", "740 thousand clients"],
        ),
        ("count", "It guided several dozen students.", ["several dozen students"]),
        ("count", "35人の学生が参加した。", ["35人"]),
        ("count", "In Lab 2 students of Year 3 read COVID-19 data of 40 patients.", ["40 patients"]),
        ("count", "The 12 students of c06-covid19 came.", ["12 students"]),
        ("share", "Recall was 92.3% (0.91) of 12 cases.", ["92.3%", "0.91"]),
        ("duration", "A 12-week course, 2-3 hours each, semester-long.", ["12-week", "2-3 hours", "semester-long"]),
        ("date", "Between March 2019 and June 2020, then 2021–22.", ["March 2019 and June 2020", "2021–22"]),
        ("money", "It costs US$7 million or 300 euros a year; 5万円。", ["US$7 million", "300 euros", "5万円"]),
        ("place", "Both regions of southern Chile were surveyed by Python users.", ["Chile"]),
        ("organisation", "It was taught at Boston University for four years.", ["Boston University"]),
        ("name", "We used the R language (R Core Team, 2022) and TensorFlow.", ["R", "TensorFlow"]),
        ("name", "本研究ではPythonを用いた。", ["本研究", "Python"]),
        ("text", "We used 12 files.", []),
    ],
)
def test_values_of_a_kind(kind: ValueKind, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in values_in([text], kind)[0]] == found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Number of participants", "count"),
        ("length of the workshop", "duration"),
        ("year of data collection", "date"),
        ("data set", "name"),
        ("country", "place"),
        ("main findings", "text"),
        ("参加者数", "count"),
    ],
)
def test_what_a_column_asks_for(name: str, kind: ValueKind) -> None:
    assert kind_of(name, lambda texts: None) == kind


def test_a_cell_has_the_value_in_its_sentence(reader: Monjyu) -> None:
    [table] = reader.table(["software", "number of passages", "duration"]).tables
    valued = [cell for row in table.rows for cell in row[1:] if cell.value]
    assert valued and all(cell.value in cell.text and cell.citations for cell in valued if cell.value)
    assert f"**{valued[0].value}**" in table_markdown(table, lambda text: text)


def test_a_column_may_count_what_no_sentence_counts(reader: Monjyu) -> None:
    [table] = reader.table(["number of aims"], paper_ids=[PAPER]).tables
    assert [cell.text for cell in table.rows[0][1:]] == ["–"]


def test_which_papers(reader: Monjyu) -> None:
    about = reader.table(["method"], about="relevance budgets", papers=2)
    assert about.papers[0].paper_id == OTHER and len(about.papers) == 2 and about.subject == "relevance budgets"
    some = reader.table(["method"], papers=3)
    assert len(some.papers) == 3 and "The first 3 of" in some.warnings[0]
    years = [paper.year or 9999 for paper in reader.table(["method"]).papers]
    assert years == sorted(years)
    named = reader.table(["method"], paper_ids=["From Answer to Sentence"])
    assert [paper.paper_id for paper in named.papers] == [PAPER]


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": [f"c{n}" for n in range(13)]},
        {"columns": ["x" * 121]},
        {"papers": 0},
        {"papers": 201},
        {"paper_ids": ["nowhere"]},
        {"filters": {"year_from": 3000}},
    ],
)
def test_what_cannot_be_made_is_refused(reader: Monjyu, wrong: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        reader.table(**wrong)


def test_a_table_that_is_stopped_keeps_its_rows(reader: Monjyu) -> None:
    cancel, heard = threading.Event(), list[dict[str, Any]]()

    def listen(event: dict[str, Any]) -> None:
        heard.append(event)
        if event["done"] == 2:
            cancel.set()

    digest = reader.table(["method"], emit=listen, cancel=cancel)
    assert (digest.status, len(digest.papers), len(heard)) == ("partial", 2, 2)
    assert heard[0]["total"] == len(list(reader.papers()))


def sentence_with(request: Any, words: str) -> int:
    """The number of the sentence that the prompt shows with these words."""
    [number] = re.findall(rf"(\d+)\. [^\n]*{re.escape(words)}", request.prompt)
    return int(number)


def test_a_model_words_cells_that_its_sentences_hold(sample_data: Path, answer_model: FakeModels) -> None:
    plain = quoted(Monjyu(sample_data).table(["method", "result"], paper_ids=[PAPER], engine="extractive"))
    [method] = plain[PAPER, "method"][1]

    def row(request: Any) -> Any:
        number = sentence_with(request, method.quote.split(".")[0][:40])
        cells = [
            {"column": 1, "text": method.quote, "sentences": [number]},
            {"column": 2, "text": "Bananas cured 99 % of all rats.", "sentences": [number]},
            {"column": 3, "text": "Limitation", "sentences": [number]},
            {"column": 4, "text": "There is no such column.", "sentences": [number]},
        ]
        return say(json.dumps({"cells": cells}))

    answer_model.default = row
    digest = Monjyu(sample_data).table(["method", "result", "limitation"], paper_ids=[PAPER])
    cells = quoted(digest)
    assert digest.tables[0].engine == "llm" and digest.usage.llm_calls == 1 and digest.status == "complete"
    assert cells[PAPER, "method"][0] == " ".join(method.quote.split())
    assert "Bananas" not in cells[PAPER, "result"][0], "a figure that its sentence does not have"
    assert cells[PAPER, "limitation"][0] != "Limitation", "the column's name is no cell"
    assert cells[PAPER, "result"][1][0].sentence_ids == cells[PAPER, "method"][1][0].sentence_ids


def test_a_sentence_that_was_not_shown_is_none(sample_data: Path, answer_model: FakeModels) -> None:
    answer_model.default = say('{"cells": [{"column": 1, "text": "It is so.", "sentences": [999, 0]}]}')
    digest = Monjyu(sample_data).table(["method"], paper_ids=[PAPER])
    assert quoted(digest)[PAPER, "method"] == ("–", [])


def test_where_the_model_fails_the_row_is_quoted(sample_data: Path, answer_model: FakeModels) -> None:
    answer_model.default = failing(500)
    digest = Monjyu(sample_data).table(["method"], paper_ids=[PAPER])
    assert digest.status == "partial" and digest.tables[0].engine == "extractive"
    assert digest.warnings[0].startswith("1 rows are quotes") and quoted(digest)[PAPER, "method"][1]


FORMULA = '=HYPERLINK("http://example.com","x")'


@pytest.fixture
def dangerous() -> Digest:
    citation = Citation(n=1, paper_id="p", paper_title="T", chunk_id="c", sentence_ids=["s"], quote="@SUM(A1)", page=4)
    rows = [[Cell(text="-cmd", paper_id="p"), Cell(text=FORMULA, citations=[1], paper_id="p"), Cell(text="–")]]
    papers = [DigestPaper(paper_id="p", title="\u202e+1", label="-cmd", authors=["A", "B"], year=2020)]
    table = AnswerTable(columns=["Paper", "method", "result"], rows=rows)
    fields: dict[str, Any] = {"snapshot_id": "s", "status": "complete", "verified": True, "parts": []}
    return Digest(
        kind="table", subject="x", collection="c", papers=papers, tables=[table], citations=[citation], **fields
    )


def test_csv_runs_no_formula_and_has_quotes_and_pages(dangerous: Digest) -> None:
    text = as_csv(dangerous).decode("utf-8-sig")
    heads, row = csv.reader(io.StringIO(text))
    assert heads[:5] == ["Paper", "Title", "Authors", "Year", "paper_id"]
    assert heads[5:8] == ["method", "method (Quote)", "method (Page)"]
    assert row == ["'-cmd", "'+1", "A; B", "2020", "p", f"'{FORMULA}", "'@SUM(A1)", "4", "", "", ""]


def test_counts_and_years_are_numbers_in_xlsx(dangerous: Digest) -> None:
    values = ["617 people", "n = 1,200", "12 weeks", "80 to 120 students", "Python 3", "92.3%"]
    cells = [Cell(text=value, citations=[1], paper_id="p", value=value) for value in values]
    table = AnswerTable(columns=["Paper", *values], rows=[[Cell(text="P", paper_id="p"), *cells]])
    with zipfile.ZipFile(io.BytesIO(as_xlsx(dangerous.model_copy(update={"tables": [table]})))) as book:
        row = book.read("xl/worksheets/sheet1.xml").decode().split("<row ")[2]
    numbers = re.findall(r'<c r="\w+" s="\d+"><v>([\d.]+)</v>', row)  # text has t="s"
    assert numbers == ["2020", "617", "4", "1200", *["4"] * 5]


def test_xlsx_runs_nothing(dangerous: Digest) -> None:
    with zipfile.ZipFile(io.BytesIO(as_xlsx(dangerous))) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        strings = book.read("xl/sharedStrings.xml").decode()
        assert not any("rels" in name and "sheet1" in name for name in book.namelist()), "no link"
    assert "<f>" not in sheet and "=HYPERLINK" in strings


@pytest.mark.parametrize(
    ("question", "columns"),
    [
        ("Compare all papers on method and limitations", ["Paper", "method", "limitations"]),
        ("Make a table of the papers by sample size", ["Paper", "sample size"]),
        ("compare the studies", USUAL),
        ("全論文を方法と限界で比較して", ["論文", "方法", "限界"]),
    ],
)
def test_plain_words_make_a_table(reader: Monjyu, question: str, columns: list[str]) -> None:
    result = reader.search(question)
    assert (result.mode, result.routing.query_type) == ("digest", "table")
    assert result.tables[0].columns == columns and result.citations and result.hits


def test_the_command_writes_every_form(sample_data: Path, tmp_path: Path) -> None:
    def table(*arguments: str) -> Any:
        return call_monjyu(sample_data, "table", "--columns", "method, limitation", "--paper", PAPER, *arguments)

    shown = table("--json")
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert document["kind"] == "table" and document["tables"][0]["columns"] == ["Paper", "method", "limitation"]
    assert "\nPaper\tmethod\tlimitation\n" in table().stdout
    assert "| Paper | method | limitation |" in table("--format", "markdown").stdout
    assert table("--format", "csv").stdout.startswith("\ufeffPaper,Title,")
    written = table("--format", "xlsx", "--output", str(tmp_path / "t.xlsx"))
    assert written.returncode == 0 and zipfile.is_zipfile(tmp_path / "t.xlsx"), written.stderr
    for wrong in (["--format", "xlsx"], ["--papers", "0"], ["--output", str(tmp_path / "no" / "t.json")]):
        refused = table(*wrong)
        assert refused.returncode == 2 and refused.stderr.startswith("monjyu: "), refused.stderr


@pytest.mark.parametrize(
    ("columns", "about", "language"),
    [
        (["目的", "年"], "", ""),
        (["目的"], "授業", ""),
        (["目的は何か"], "", "ja"),
        (["Method", "年"], "sample size", "en"),
        ([], "", ""),
    ],
)
def test_ideographs_alone_leave_the_language_to_the_papers(columns: list[str], about: str, language: str) -> None:
    assert language_of(columns, about) == language


def test_a_count_names_what_its_column_counts(tmp_path: Path) -> None:
    """Eleven lessons, or four instructors, are no number of students; learners are."""
    folder = tmp_path / "papers"
    folder.mkdir()
    body = "# {}\n\n## Summary\n\n{}\n\n## Teaching\n\n{}\n"
    aero = "Aero Notebooks is a set of notebooks with 11 lessons in potential flow and three assignments for students."
    (folder / "aero.md").write_text(body.format("Aero Notebooks", aero, "Students of any year may read the notebooks."))
    pilot = "We had thirty-nine learners of various skill levels, and four instructors helped the students."
    (folder / "pilot.md").write_text(body.format("A Workshop on Scripts", "The workshop teaches scripts.", pilot))
    done = call_monjyu(tmp_path / "data", "index", folder, "-c", "courses", "--json")
    assert done.returncode == 0, done.stderr
    [table] = Monjyu(tmp_path / "data").table(["number of students", "number of lessons", "sample size"]).tables
    values = {row[0].text: [cell.value or cell.text for cell in row[1:]] for row in table.rows}
    assert [cells for name, cells in values.items() if "Aero" in name] == [["–", "11 lessons", "–"]]
    assert [cells for name, cells in values.items() if "Aero" not in name] == [
        ["thirty-nine learners", "–", "thirty-nine learners"]
    ]

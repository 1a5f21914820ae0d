"""What a terminal gets to see of untrusted text."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from monjyu_core.paper import Author, ParsedPaper, Section
from monjyu_query.answers.render import print_paper, print_papers, print_result, safe, safe_lines
from monjyu_query.asking.result import Citation, Hit, Routing, SearchResult, Segment
from monjyu_query.commands.options import print_json
from tests.properties import given, st

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m[red]bold[/red]\u202eevil\u2066\r\nnext\u2028line\x00"


def test_safe() -> None:
    assert safe(EVIL) == "]0;owned [2J 31m[red]bold[/red]evil next line"


def test_lines_stay_lines() -> None:
    assert safe_lines(f"  a\tb\n{EVIL}") == "  a\tb\n]0;owned[2J31m[red]bold[/red]evil\nnext\u2028line"


@given(st.text())
def test_safe_text_is_one_line_of_printable_characters(text: str) -> None:
    assert safe(text).isprintable()


def printed(*, result: SearchResult | None = None, paper: ParsedPaper | None = None) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=100, highlight=False, color_system=None)
    if result:
        print_result(result, console)
    if paper:
        print_paper(paper, console)
        short = {"paper_id": paper.paper_id, "title": paper.title, "authors": [EVIL], "year": 2020, "chunks": 1}
        print_papers([short], console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def assert_harmless(output: str) -> None:
    assert not set(output) & set("\x1b\x07\x9b\x00\u202e\u2066\r")
    assert "[red]" in output or "\\[red\\]" in output  # markup stays text


def test_a_result_is_harmless() -> None:
    result = SearchResult(
        query=EVIL,
        collection="c",
        snapshot_id="s",
        level=0,
        mode="hybrid",
        routing=Routing(query_type="factoid", reason=""),
        trace_id="t",
        segments=[Segment(text=EVIL, citations=[1])],
        warnings=[EVIL],
        citations=[Citation(n=1, paper_id=EVIL, paper_title=EVIL, chunk_id="", sentence_ids=[], quote=EVIL, page=2)],
        hits=[Hit(chunk_id="", paper_id="p", paper_title=EVIL, score=1.0, text=EVIL * 9, section_type="other", page=3)],
    )
    assert_harmless(printed(result=result))


def test_a_paper_is_harmless() -> None:
    paper = ParsedPaper(
        paper_id=EVIL, title=EVIL, abstract=EVIL, authors=[Author(name=EVIL)], venue=EVIL, warnings=[EVIL]
    )
    paper.sections = [Section(heading=EVIL, text=EVIL)]
    assert_harmless(printed(paper=paper))


def test_json_escapes_what_terminals_obey(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": EVIL + "\x7f日本"})
    out = capsys.readouterr().out
    assert not set(out) & set("\x1b\x07\x9b\x00\x7f\r\u202e\u2066")
    assert "日本" in out
    assert json.loads(out) == {"text": EVIL + "\x7f日本"}


def test_papers_keep_their_ids_whole() -> None:
    papers = [
        {"paper_id": f"a-rather-long-identifier-of-a-paper-{n:08x}", "title": "T " * 40, "authors": ["Ada Berg", EVIL]}
        | {"year": None if n else 2020, "chunks": 7}
        for n in range(3)
    ]
    for width in (20, 60, 100, 300):
        console = Console(file=io.StringIO(), force_terminal=True, width=width, highlight=False, color_system=None)
        print_papers(papers, console)
        output = console.file.getvalue()  # type: ignore[attr-defined]
        assert all(paper["paper_id"] in output for paper in papers), width
    piped = Console(file=io.StringIO(), width=40)
    print_papers(papers, piped)
    rows = [line.split("\t") for line in piped.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert [row[0] for row in rows] == [paper["paper_id"] for paper in papers]
    assert {len(row) for row in rows} == {5} and [row[3:] for row in rows] == [["2020", "7"], ["", "7"], ["", "7"]]
    assert not set(piped.file.getvalue()) & set("\x1b\u202e\u2066\r")  # type: ignore[attr-defined]

"""A parser comes to the end of large and of harmful files; bench/bench_parser_growth.py measures how time grows."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench.growing_papers import HARMFUL, ORDINARY, write
from monjyu_assets.parsing.dispatch import parse_document
from monjyu_assets.parsing.formats.markdown.inline_text import _runs
from monjyu_assets.parsing.formats.plaintext import parse_text
from monjyu_assets.parsing.text.text_marks import past_spaces, silent
from monjyu_core.errors import DocumentError, EmptyDocument, MalformedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParserSettings
from tests.limits import ends


def read(task: dict[str, Any]) -> None:
    """Parse a file, which may be refused."""
    with suppress(DocumentError):
        parse_document(task, ParserSettings())


@pytest.mark.parametrize("kind", ORDINARY)
def test_an_ordinary_paper_that_grows(kind: str, tmp_path: Path) -> None:
    shape, one = ORDINARY[kind]
    ends(partial(parse_document, write(tmp_path / "large", kind, shape(one * 40)), ParserSettings()))


@pytest.mark.parametrize(
    ("kind", "name", "size"),
    [
        ("txt", "spaces inside a line", 60_000),
        ("txt", "same references", 4_000),
        ("txt", "one name", 2_000),
        ("jats", "groups of authors", 6_000),
        ("jats", "authors and shared places", 16_000),
        ("jats", "attributes", 100_000),
        ("tei", "labelled rows", 16_000),
        ("md", "comments", 32_000),
        ("md", "tags in a block", 8_000),
    ],
)
def test_what_took_the_square_of_its_size(kind: str, name: str, size: int, tmp_path: Path) -> None:
    """Each took more than four seconds at this size, and the square of that at twice the size."""
    task = write(tmp_path / "paper", kind, HARMFUL[kind][name](size))
    ends(lambda: read(task))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, shapes in HARMFUL.items() for name in shapes])
def test_a_paper_that_means_harm(kind: str, name: str, tmp_path: Path) -> None:
    ends(partial(read, write(tmp_path / "paper", kind, HARMFUL[kind][name](4_000))))


def test_words_cut_at_every_line_end() -> None:
    def parsed(lines: int) -> ParsedPaper:
        data = b"A title\n\nAbout words that are cut.\n\n" + b"word-\n" * lines
        return parse_text(data, ParserSettings())

    assert parsed(500).sections[-1].text.count("word-") == 500
    ends(lambda: parsed(40_000))


def test_an_element_of_very_many_attributes_is_refused(tmp_path: Path) -> None:
    task = write(tmp_path / "paper", "jats", HARMFUL["jats"]["attributes"](1_001))
    with pytest.raises(MalformedDocument, match="1001 attributes; the limit is 1000"):
        parse_document(task, ParserSettings())
    assert parse_document(write(tmp_path / "paper", "jats", HARMFUL["jats"]["attributes"](1_000)), ParserSettings())


def test_marks_in_a_row() -> None:
    """A citation beside a citation, without a space behind the last one."""
    marks = "".join(silent(f"B{number}") for number in range(30_000))

    def work() -> None:
        assert past_spaces(f"word{marks}.") == f"word{marks}."
        assert past_spaces(f"word{marks} more") == f"word {marks}more"

    ends(work)


def test_runs_of_text_are_joined() -> None:
    assert _runs([("a", True), ("b", True), ("c", False), ("d", True)]) == [("ab", True), ("c", False), ("d", True)]


def test_html_of_markdown_that_never_ends(tmp_path: Path) -> None:
    """The words before it stay, as they do in a browser."""
    for open_end in ("<!-- a", "<script>a", "<a b='", "<a ", "<?a", "<![CDATA[a", "</a"):
        task = write(tmp_path / "paper", "md", f"# T\n\n<div>\nwords &amp; more {open_end}".encode())
        assert [section.text for section in parse_document(task, ParserSettings()).sections] == ["words & more"]
    with pytest.raises(EmptyDocument):
        parse_document(write(tmp_path / "paper", "md", b"<!-- a"), ParserSettings())

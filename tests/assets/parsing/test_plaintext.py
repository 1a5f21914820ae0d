from __future__ import annotations

import json

import pytest

from monjyu_assets.parsing.formats.plaintext import parse_text
from monjyu_core.errors import DocumentTooLarge, EmptyDocument, MalformedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.conftest import CORPORA, needs_corpora
from tests.limits import ends

PAPER = """\
A study of plain text and of what
its layout says
Mira Halvorsen, Teo Lindqvist and A. B. van der Berg

Date: 3 May 2024
Keywords: text; layout

Abstract. We read plain
text.

1 Introduction

Earlier systems lost the retrie-
val order, and the retrieval was slow. A co-
author disagreed with us about every
one of these points [1].

- one item that is long enough to
  be wrapped
- two

2. Materials and methods

2.1 Data collection

We took what was there, and we counted it twice so that no count would be missed by either of us.

1. this is a list

2. of short lines

LIMITATIONS OF IT

Underlined Part
---------------
There were many of them, and each one of them has its own reason, given in the paragraphs above.

References

[1] Ames, A. (2001). On graphs and their
    many uses. J. Ex., 1, 1-2.
[2] Birk, B. (2002). On trees. J. Ex., 2, 3-4.
"""


def _parse(text: str) -> ParsedPaper:
    return parse_text(text.encode(), ParseSettings())


@pytest.fixture(scope="module")
def paper() -> ParsedPaper:
    return _parse(PAPER)


def test_title_authors_and_fields(paper: ParsedPaper) -> None:
    assert paper.title == "A study of plain text and of what its layout says"
    assert [a.name for a in paper.authors] == ["Mira Halvorsen", "Teo Lindqvist", "A. B. van der Berg"]
    assert (paper.publication_date, paper.keywords) == ("2024-05-03", ["text", "layout"])
    assert (paper.document_type, paper.language, paper.is_academic_paper) == ("txt", "en", True)
    assert paper.abstract == "We read plain text."


def test_headings(paper: ParsedPaper) -> None:
    assert [(s.heading, s.level, s.section_type) for s in paper.sections] == [
        ("Abstract", 1, "abstract"),
        ("1 Introduction", 1, "introduction"),
        ("2. Materials and methods", 1, "methods"),
        ("2.1 Data collection", 2, "methods"),
        ("LIMITATIONS OF IT", 1, "discussion"),
        ("Underlined Part", 2, "discussion"),
        ("References", 1, "references"),
    ]


def test_wrapped_lines_are_joined(paper: ParsedPaper) -> None:
    assert paper.sections[1].text.split("\n\n") == [
        "Earlier systems lost the retrieval order, and the retrieval was slow. A co-author disagreed with us about "
        "every one of these points [1].",
        "- one item that is long enough to be wrapped",
        "- two",
    ]


def test_numbered_lines_in_a_row_are_a_list(paper: ParsedPaper) -> None:
    assert paper.sections[3].text.split("\n\n")[1:] == ["1. this is a list", "2. of short lines"]


def test_references_are_split_and_linked(paper: ParsedPaper) -> None:
    assert [(r.ref_id, r.raw_text) for r in paper.references] == [
        ("1", "[1] Ames, A. (2001). On graphs and their many uses. J. Ex., 1, 1-2."),
        ("2", "[2] Birk, B. (2002). On trees. J. Ex., 2, 3-4."),
    ]
    assert [(c.ref_id, c.section) for c in paper.inline_citations] == [("1", "1 Introduction")]


def test_sentences_lie_in_their_sections(paper: ParsedPaper) -> None:
    for section in paper.sections:
        assert all(section.text[s.start : s.end] == s.text for s in section.sentences)
    assert len(paper.sections[1].sentences) >= 2


@pytest.mark.parametrize(
    "references",
    [
        "Ames, A. (2001). On graphs and their many\n  uses. J. Ex.\nBirk, B. (2002). On trees. J. Ex.\n",
        "Ames, A. (2001). On graphs and their many uses. J. Ex.\nBirk, B. (2002). On trees. J. Ex.\n",
        "Ames, A. (2001). On graphs and their\nmany uses. J. Ex.\n\nBirk, B. (2002). On trees. J. Ex.\n",
    ],
)
def test_references_without_numbers(references: str) -> None:
    paper = _parse(f"A title\n\nSome words to read.\n\nREFERENCES\n\n{references}")
    assert [r.raw_text for r in paper.references] == [
        "Ames, A. (2001). On graphs and their many uses. J. Ex.",
        "Birk, B. (2002). On trees. J. Ex.",
    ]


def test_a_text_without_structure_is_one_section() -> None:
    paper = _parse("A title\n\nSome words.\n\nOther words, said by Ann Lee.\n\nI. Newton said so.\n")
    assert paper.title == "A title"
    assert [(s.heading, s.text) for s in paper.sections] == [
        ("", "Some words.\n\nOther words, said by Ann Lee.\n\nI. Newton said so.")
    ]
    assert not paper.is_academic_paper


def test_rules_and_frames() -> None:
    paper = _parse(
        "=======\nA title\n=======\n\n-----\nPart I\n-----\n\nSome words.\n\n* * *\n\n"
        "Name   Size\n-----------\none    1\n\n"
        "Part Two\n--------\nOther words.\n"
    )
    assert paper.title == "A title"
    assert [(s.heading, s.text) for s in paper.sections] == [
        ("Part I", "Some words.\n\nName   Size\n-----------\none    1"),
        ("Part Two", "Other words."),
    ]


def test_a_paragraph_is_no_title() -> None:
    text = "This file starts with a paragraph. It has two sentences and no title.\n\nMore."
    paper = _parse(text)
    assert (paper.title, paper.sections[0].text) == ("", text)


def test_one_line_is_title_and_text() -> None:
    paper = _parse("Only a line")
    assert (paper.title, [s.text for s in paper.sections]) == ("Only a line", ["Only a line"])


def test_japanese_text() -> None:
    head = "知識グラフの構築\n\n著者: 山田太郎、鈴木花子\n\n１　はじめに\n\n"
    paper = _parse(head + "本研究では知識グラフを\n構築する。\n\n参考文献\n\n[1] 山田: 論文, 2020.\n")
    assert (paper.title, paper.language) == ("知識グラフの構築", "ja")
    assert [a.name for a in paper.authors] == ["山田太郎", "鈴木花子"]
    first = paper.sections[0]
    assert (first.section_type, first.text) == ("introduction", "本研究では知識グラフを構築する。")
    assert len(paper.references) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_western_encodings(encoding: str) -> None:
    text = "A naïve title – “quoted”\n\nThe café was full of résumés; nobody knew why it was so.\n"
    paper = parse_text(text.encode(encoding), ParseSettings())
    assert paper.title == text.split("\n")[0]
    assert paper.sections[0].text == text.split("\n")[2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "shift_jis", "euc_jp", "iso2022_jp"])
def test_japanese_encodings(encoding: str) -> None:
    body = "本研究では、論文から知識グラフを構築する手法について述べる。評価の結果、提案手法は有効であった。" * 5
    paper = parse_text(f"知識グラフの研究\n\n{body}\n".encode(encoding), ParseSettings())
    assert (paper.title, paper.sections[0].text) == ("知識グラフの研究", body)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", EmptyDocument),
        (b"\n \x0c\n", EmptyDocument),
        (b"\xef\xbb\xbf", EmptyDocument),
        (b"\xff\xfea", MalformedDocument),
        (bytes(range(256)) * 20, MalformedDocument),
        (b"PK\x03\x04 word", MalformedDocument),
        (b"a\x00b\x01" * 2000, MalformedDocument),
        (b"word " * 30_000, DocumentTooLarge),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_text(data, ParseSettings(max_characters=100_000))


def test_a_damaged_byte_costs_a_warning() -> None:
    data = "Ein Titel\n\nEs ist schön, größer und müßig zu sein; ".encode() + b"\xff ende."
    paper = parse_text(data, ParseSettings())
    assert "größer" in paper.sections[0].text
    assert paper.warnings


@pytest.mark.parametrize("piece", ["A", "1. \n", "- a\n\n", "A. ", "Ab Cd, ", "1 A\n\n", "(", "[1] ", "a-\n", "10.1/"])
def test_hostile_text_ends(piece: str) -> None:
    ends(lambda: _parse("Title\n\n" + piece * (150_000 // len(piece))))


@pytest.mark.parametrize("name", ["amrex", "castro", "nyx"])
@needs_corpora
def test_papers_as_plain_text(name: str) -> None:
    truth = json.loads((CORPORA / "formats/truth" / f"{name}.json").read_text())
    paper = parse_text((CORPORA / "formats/txt" / f"{name}.txt").read_bytes(), ParseSettings())
    assert paper.title == truth["title"]
    assert [s.heading for s in paper.sections] == [s["title"] for s in truth["sections"]]
    assert len(paper.references) == len(truth["references"])


@needs_corpora
def test_japanese_articles() -> None:
    for path in sorted((CORPORA / "ja_wiki").glob("*.txt")):
        paper = parse_text(path.read_bytes(), ParseSettings())
        assert paper.title == path.read_text().split("\n")[0]
        assert (paper.language, paper.authors, paper.references) == ("ja", [], [])


@pytest.mark.parametrize("gap", ["     ", "\t"])
def test_names_between_which_there_are_only_spaces(gap: str) -> None:
    names = gap.join(["Ada Ames", "B. Birk", "Cy de Cole"])
    paper = _parse(f"Bees in Town\n\n{names}\n\nAbstract\n{'Bees are many. ' * 20}\n\n1 Introduction\n\nThey fly.\n")
    assert [author.name for author in paper.authors] == ["Ada Ames", "B. Birk", "Cy de Cole"]

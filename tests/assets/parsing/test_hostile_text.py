"""Whatever the bytes, a parser of text gives a sound paper or a DocumentError, and does so in time."""

from __future__ import annotations

import json

from monjyu_assets.parsing.formats.jsonl import parse_record
from monjyu_assets.parsing.formats.markdown.paper import parse_markdown
from monjyu_assets.parsing.formats.plaintext import parse_text
from monjyu_assets.parsing.text.jsonl_records import decode_record
from monjyu_core.errors import DocumentError
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.properties import HealthCheck, example, examples, given, st

PIECES = [
    *["# ", "## Abstract\n\n", "References\n\n", "1. ", "[1] ", "[@key]", "[^1]", "[^1]: note\n", "$x$", "$$\ny\n$$\n"],
    *[
        "\n",
        "\n\n",
        "---\n",
        "===\n",
        "title: ",
        "- a\n",
        "| a | b |\n|---|---|\n",
        "<b>",
        "</div>",
        "<!--",
        "-->",
        "```\n",
    ],
    *[
        "> ",
        "![alt](x)",
        "*",
        "**",
        "`",
        "\\",
        "\t",
        " ",
        "    ",
        "\x00",
        "\x0c",
        "\ufeff",
        "\u200b",
        "\u2028",
        "\ud800",
    ],
    *[
        "1 INTRODUCTION\n\n",
        "Abstract. ",
        "第1章 はじめに\n",
        "参考文献\n",
        "Ames, A. (2001). On graphs. ",
        "Word ",
        "語",
        "re-\n",
        "é",
    ],
]
DOCUMENTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=40).map("".join)
FEW = examples(150, suppress_health_check=[HealthCheck.too_slow])


def _check(paper: ParsedPaper) -> None:
    assert paper.sections
    assert any(section.text.strip() for section in paper.sections)
    for section in paper.sections:
        assert section.level >= 1
        assert section.text == section.text.strip()
        last = 0
        for sentence in section.sentences:
            assert last <= sentence.start < sentence.end <= len(section.text)
            assert section.text[sentence.start : sentence.end] == sentence.text
            last = sentence.end
    assert len({reference.ref_id for reference in paper.references}) == len(paper.references)
    printed = paper.model_dump_json()
    assert "\\u0000" not in printed
    assert ParsedPaper.model_validate_json(printed).title == paper.title


@FEW
@given(DOCUMENTS)
@example("[1] [^1]: note\n===\n**")
def test_markdown(text: str) -> None:
    try:
        _check(parse_markdown(text.encode("utf-8", "surrogatepass"), ParseSettings()))
    except DocumentError as error:
        assert error.message


@FEW
@given(DOCUMENTS)
def test_plain_text(text: str) -> None:
    try:
        _check(parse_text(text.encode("utf-8", "surrogatepass"), ParseSettings()))
    except DocumentError as error:
        assert error.message


@FEW
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    for parse in (parse_markdown, parse_text):
        try:
            _check(parse(data, ParseSettings()))
        except DocumentError as error:
            assert error.message


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
FIELDS = [
    "id",
    "title",
    "text",
    "authors",
    "year",
    "doi",
    "language",
    "metadata",
    "keywords",
    "source",
    "venue",
    "other",
]


@FEW
@given(st.dictionaries(st.sampled_from(FIELDS), VALUES), DOCUMENTS, st.booleans())
def test_records(fields: dict[str, object], text: str, whole: bool) -> None:
    record = {"id": "a", "title": "T", "text": text} | fields if whole else fields
    try:
        decoded = decode_record(json.dumps(record).encode())
        paper = parse_record(decoded)
    except DocumentError as error:
        assert error.message
        return
    assert paper.paper_id == decoded["id"]
    _check(paper)

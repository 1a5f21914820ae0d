"""Names in Japanese letters and labels of abstracts on the front of a paper."""

from __future__ import annotations

import pytest

from monjyu_assets.parsing.formats.plaintext import parse_text
from monjyu_assets.parsing.text.front_lines import cjk_authors, without_label
from monjyu_core.settings.settings import ParseSettings


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("山田太郎・鈴木花子", ["山田太郎", "鈴木花子"]),
        ("山田 太郎1、鈴木　花子2", ["山田 太郎", "鈴木 花子"]),
        ("佐々木 さくら", ["佐々木 さくら"]),
        ("林 健, 王 美玲", ["林 健", "王 美玲"]),
        ("知識グラフ", []),
        ("提案手法・評価実験", []),
        ("東京大学 工学部", []),
        ("検索、グラフ、要約", []),
        ("はじめに", []),
        ("山田太郎は検索を研究した。", []),
    ],
)
def test_japanese_names(line: str, names: list[str]) -> None:
    assert [author.name for author in cjk_authors(line)] == names


def test_a_japanese_paper_as_text() -> None:
    text = "知識グラフによる検索\n\n山田太郎・鈴木花子\n\n1. はじめに\n\n本稿では検索を扱う。結果を示す。\n"
    paper = parse_text(text.encode("shift_jis"), ParseSettings())
    assert [author.name for author in paper.authors] == ["山田太郎", "鈴木花子"]
    assert [section.heading for section in paper.sections] == ["1. はじめに"]


@pytest.mark.parametrize(
    ("text", "abstract"),
    [
        ("Abstract We study reading.", "We study reading."),
        ("Abstract: We study reading.", "We study reading."),
        ("Abstract Syntax trees are read. An abstract syntax tree has nodes.", None),
        ("Abstract thinking is hard.", None),
        ("Abstract", None),
    ],
)
def test_only_a_label_is_taken_off_an_abstract(text: str, abstract: str | None) -> None:
    assert without_label(text) == (abstract or text)

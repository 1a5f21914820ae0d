"""No answer, and why, in the language of the question."""

from __future__ import annotations

import ast
from pathlib import Path

import monjyu_query
from monjyu_query.answers.answer import _REASONS, abstained


def test_the_reason_is_in_the_language_of_the_question() -> None:
    english = abstained("no passage was found", "en")
    assert english.text == "No answer was found: no passage was found." and english.confidence == 0.0
    assert abstained("no passage was found", "ja").text.endswith("該当する箇所は見つかりませんでした。")
    assert abstained("none of the 7 passages tested reaches 3", "ja").text == "答えは見つかりませんでした。"


def test_the_japanese_reasons_are_those_of_the_code() -> None:
    said: set[str] = set()
    for file in Path(*monjyu_query.__path__).rglob("*.py"):
        if file.name != "answering.py" and "abstained(" in (text := file.read_text()):
            said |= {
                one.value
                for one in ast.walk(ast.parse(text))
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
    assert set(_REASONS["ja"]) <= said and len(_REASONS["ja"]) == 7

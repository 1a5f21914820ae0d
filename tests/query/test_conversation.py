"""Follow-ups written out, and new topics left alone: conversations of our own, in English and Japanese."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monjyu_query.asking.request import Turn
from monjyu_query.search.follow_up import resolve
from tests.limits import ends

HERE = Path(__file__).parent


def turns(name: str) -> Iterator[tuple[dict[str, Any], list[Turn]]]:
    """Each question that is not the first of its conversation, with what was said before it."""
    before: list[Turn] = []
    for line in (HERE / name).open(encoding="utf-8"):
        row = json.loads(line)
        if row.get("opens"):
            before = []
        else:
            yield row, list(before)
        before += [Turn(role="user", content=row["question"]), Turn(role="assistant", content=row["answer"])]


def told(row: dict[str, Any], found: str | None) -> bool:
    """A follow-up has what it is about and nothing of what went before that; a new topic is left as it is."""
    text = (found or row["question"]).casefold()
    named = all(word.casefold() in text for word in row["has"])
    return row["follow_up"] == (found is not None) and named and not any(w.casefold() in text for w in row["has_not"])


@pytest.mark.parametrize(("name", "least"), [("conversations.jsonl", 0.95), ("conversations_unseen.jsonl", 0.85)])
def test_follow_ups_are_written_out_and_new_topics_are_not(name: str, least: float) -> None:
    asked = [(row, resolve(row["question"], before)) for row, before in turns(name)]
    wrong = [(row["question"], found) for row, found in asked if not told(row, found)]
    assert len(wrong) <= (1 - least) * len(asked), wrong
    wrong_kind = [(row["question"], found) for row, found in asked if row["follow_up"] != (found is not None)]
    assert len(wrong_kind) <= 0.05 * len(asked), wrong_kind


@pytest.mark.parametrize(
    ("before", "query", "found"),
    [
        ("What does the Leiden algorithm guarantee?", "And what does it repair?", "And what does Leiden repair?"),
        ("Which packages are there for Python?", "and for R?", "Which packages are there for R?"),
        ("ライデン法は何を保証しますか", "ルーヴァン法では?", "ルーヴァン法は何を保証しますか"),
        ("Pythonで使えるパッケージは何ですか", "では R は?", "Rで使えるパッケージは何ですか"),
        ("What is sepsis?", "How do bees find their way back?", None),
        ("敗血症とは何ですか", "これらの論文の主なテーマは何ですか", None),
    ],
)
def test_what_is_put_in_place(before: str, query: str, found: str | None) -> None:
    assert resolve(query, [Turn(role="user", content=before)]) == found


def test_without_a_question_before_nothing_is_added() -> None:
    assert resolve("And what does it repair?", []) is None
    assert resolve("Why?", [Turn(role="system", content="Be brief."), Turn(role="assistant", content="Hello.")]) is None
    assert resolve("Why?", [Turn(role="user", content="  ")]) is None


@pytest.mark.parametrize("text", ["it " * 3000, "a(" * 5000, "それは" * 3000, "A b " * 2500, "and for " * 1200])
def test_long_turns_end(text: str) -> None:
    history = [Turn(role="user", content=text), Turn(role="assistant", content=text)] * 20
    ends(lambda: resolve(text[:10_000], history))
    ends(lambda: resolve("and for R?", history))

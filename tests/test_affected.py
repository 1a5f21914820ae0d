"""`make affected` runs the tests that a change can reach, the nearest first, and no more than fit into its time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import affected
from tests.affected import affected_tests, nearest


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("monjyu_core/text/tokens.py", "tests/core/test_tokens.py"),
        ("monjyu_assets/commands/doctor_command.py", "tests/assets/test_doctor.py"),  # through the name of a command
        ("monjyu_assets/publishing/candidate.py", "tests/assets/test_publish.py"),  # through a patched name
        ("tests/assets/worlds.py", "tests/assets/test_publish.py"),
        ("tests/query/test_fusion.py", "tests/query/test_fusion.py"),
        ("tests/query/conversations.jsonl", "tests/query/test_conversation.py"),
        ("monjyu_query/service/static/ask/answer.js", "tests/query/service/test_page.py"),
    ],
)
def test_a_change_reaches_the_tests_of_its_subject(changed: str, test: str) -> None:
    assert test in affected_tests([Path(changed)])


def test_a_change_does_not_reach_what_cannot_see_it() -> None:
    found = affected_tests([Path("monjyu_query/commands/search_command.py")])
    assert "tests/core/test_tokens.py" not in found and "tests/assets/parsing/test_jats.py" not in found
    assert affected_tests([Path("docs/no_such_page").with_suffix(".md")]) == []


def test_the_nearest_come_first_and_the_rest_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    files = affected_tests([Path("monjyu_core/text/sentences.py")])
    assert files.index("tests/core/test_sentences.py") < files.index("tests/query/test_search.py")
    monkeypatch.setattr(affected, "known_durations", lambda: dict.fromkeys(files, 20.0))
    assert nearest(files, 50) == files[:2]
    assert nearest(files, 1) == files[:1], "at least one"

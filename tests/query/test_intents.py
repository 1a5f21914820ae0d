"""Which questions are about the collection as a whole, by the examples of the table of intents and by others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monjyu_query.questions.intents import Intent, recognised, tables

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
INTENTS = [intent for table in tables().values() for intent in table["intent"]]
THEMES = [
    *("What themes run through the collection?", "Which topics are covered?", "What are the papers about?"),
    *("List the main research areas in this corpus.", "What does this collection cover?", "論文全体を貫くテーマは？"),
    *("What topics come up most often?", "このコレクションの主なテーマは何ですか？"),
]
NO_THEMES = [
    *(
        "What topics does this paper cover?",
        "What are the themes of data science teaching?",
        "What is the paper about?",
    ),
    *("What is the state of the field?", "What are the main findings of these papers?", "この論文のテーマは何ですか"),
    *("What topics does the CFD course cover?", "How many subjects were included?"),
]
SAME = [
    ("How many of the papers mention Binder?", "How many papers mention Binder?"),
    ("Can you tell me which of these papers use R?", "Which papers use R?"),
    ("What is the number of papers in the collection that mention Binder?", "How many papers mention Binder?"),
    ("How many of our articles were published in 2020?", "How many articles were published in 2020?"),
    ("Please list all of the papers in this library that use R", "list papers that use R"),
]


@pytest.mark.parametrize(
    ("name", "text"),
    [(one["name"], text) for one in INTENTS for text in one.get("examples", ())]
    + [("themes", text) for text in THEMES],
)
def test_an_example_has_its_intent(name: str, text: str) -> None:
    found = recognised(text)
    assert found is not None and found.name == {"wrote": "counted" if found.counts else "listed"}.get(name, name)


@pytest.mark.parametrize("text", [*(text for one in INTENTS for text in one.get("none_of", ())), *NO_THEMES])
def test_it_is_not(text: str) -> None:
    found = recognised(text)
    assert found is None or (found.name == "papers" and text in NO_THEMES)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_wordings_are_one_question(one: str, other: str) -> None:
    assert recognised(one) == recognised(other) is not None


def test_what_is_selected() -> None:
    assert recognised("List papers by Barba from 2018 to 2020") == Intent(
        "listed", author="Barba", year_from=2018, year_to=2020
    )
    assert recognised("How many papers were published before 2020?") == Intent("counted", year_to=2019, counts=True)
    assert recognised("2020年より前の日本語の論文は何本") == Intent("counted", year_to=2019, language="ja", counts=True)


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("Do papers disagree about vitamin D?", "vitamin D"),
        ("Where do the studies contradict each other?", ""),
        ("Are there conflicting findings on base pressure?", "base pressure"),
        ("ビタミンDについて論文の間で見解は食い違っていますか？", "ビタミンD"),
    ],
)
def test_what_papers_may_disagree_about(question: str, what: str) -> None:
    assert recognised(question) == Intent("tensions", what)


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("Which papers teach fluid dynamics?", "fluid dynamics"),
        ("Which papers are about rats or mice?", "rats or mice"),
        ("In how many papers is conda used?", "conda"),
        ("Do any of the papers discuss grading?", "grading"),
        ("機械学習について述べている論文はどれですか。", "機械学習"),
        ("どの論文が流体力学を教えていますか？", "流体力学"),
    ],
)
def test_the_topic_of_a_list(query: str, topic: str) -> None:
    found = recognised(query)
    assert found is not None and (found.name, found.text) == ("papers", topic)


@pytest.mark.parametrize("name", ["covidqa_dev", "pubmedqa_dev"])
def test_no_question_to_the_text_is_caught(name: str) -> None:
    """Two of the 1,132 ask which trials were made, as if for papers."""
    path = CORPORA / name / "queries.jsonl"
    if not path.exists():
        pytest.skip(f"{name} is not here: ../shared/corpora holds it")
    caught = [text for line in path.read_text().splitlines() if recognised(text := json.loads(line)["text"])]
    assert len([text for text in caught if "trials" not in text]) == 0

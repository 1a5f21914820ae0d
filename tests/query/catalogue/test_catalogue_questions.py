"""Which questions are about the collection itself; all others are left to the search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monjyu_query.catalogue.catalogue_questions import CatalogueQuestion, recognised

CORPORA = Path(__file__).parents[4] / "shared" / "corpora"

ASKED = {
    "authors": [
        "Who wrote the nbgrader paper?",
        "Who are the authors of CFD Python?",
        "By whom was AeroPython written?",
        "authors of “Take a moderndive”",
        "nbgraderの著者は誰ですか",
        "『流体の教材』を書いたのは誰？",
    ],
    "listed": [
        "List all papers",
        "Which papers did Lorena Barba write?",
        "Show me the papers by Smith",
        "Which papers are from 2021?",
        "Which papers were published between 2019 and 2021?",
        "list papers in Japanese since 2020",
        "Which papers are by Karen L. Smith?",
        "論文の一覧",
        "2020年以降の論文は？",
        "山田が書いた論文は？",
        "2019年から2021年までの論文を教えて",
    ],
    "counted": [
        "How many papers are there?",
        "How many papers are in the collection?",
        "How many articles does the collection contain?",
        "How many papers do we have by Barba?",
        "How many papers were published since 2020?",
        "How many papers are in English?",
        "How many papers did Karen Smith publish?",
        "論文は何本ありますか",
        "2020年以降の論文は何本ありますか",
        "日本語の論文は何件ありますか",
    ],
    "year": [
        "When was AeroPython published?",
        "In which year did CFD Python appear?",
        "AeroPythonはいつ発表されましたか",
    ],
    "venue": ["Where was nbgrader published?", "In which journal was CFD Python published?"],
    "doi": ["What is the DOI of CFD Python?", "nbgraderのDOIは？"],
    "citing": [
        "Which papers cite nbgrader?",
        "How many papers cite Barba and Forsyth 2018?",
        "What cites CFD Python?",
        "どの論文がnbgraderを引用していますか",
        "nbgraderを引用する論文は？",
    ],
    "cited": [
        "What does Castro et al. 2021 cite?",
        "Which papers does nbgrader cite?",
        "nbgraderはどの論文を引用していますか",
    ],
    "mentions": [
        "Which papers mention Jupyter?",
        "Which papers use R?",
        "How many papers mention “Binder”?",
        "Rに言及している論文は？",
        "Jupyterを使っている論文は？",
    ],
    "newest": [
        "Which is the newest paper?",
        "What are the latest papers in the collection?",
        "最新の論文は？",
        "一番新しい論文を教えて",
    ],
    "oldest": ["Which are the oldest papers?", "最も古い論文は？"],
    "prolific": [
        "Who has written the most papers?",
        "Which authors have the most papers?",
        "最も多く論文を書いた著者は誰ですか",
    ],
    "most_cited": ["Which paper is the most cited?", "What are the most cited papers?", "最も引用されている論文は？"],
    "venues": ["Which journals are the papers published in?"],
    "years": ["Which years are covered?", "From which years are the papers?"],
}

NOT_ASKED = [
    "How many students took part?",
    "How many patients wrote a diary?",
    "Who benefits from peer instruction?",
    "Which papers are about Python?",
    "What do the papers say about grading?",
    "How many participants did the papers report?",
    "Which papers disagree on masks?",
    "When was the first case reported in papers from Wuhan?",
    "How are papers selected in a systematic review?",
    "Who wrote it?",
    "Which articles of clothing were tested?",
    "What is the most cited reason for dropping out?",
    "How many papers and pencils were used?",
    "Which studies found an effect?",
    "List the steps of the method",
    "Show the main results",
    "What is the newest vaccine?",
    "Which is the oldest known phage?",
    "How many years are covered by the data?",
    "Who are the authors' students?",
    "Where was the virus published about first detected?",
    "What does the course teach?",
    "Why do papers cite data sets?",
    "Which languages do the lessons use?",
    "How many lessons does CFD Python have?",
    "Which papers report learning outcomes in 2020 cohorts?",
    "なぜ論文を書くのか",
    "論文の書き方は？",
    "どの論文が効果を示していますか",
    "学生は何人参加しましたか",
    "著者はなぜPythonを選んだのですか",
    "引用とは何ですか",
    "最新のワクチンは何ですか",
    "何を使っていますか",
    "いつのデータを使っていますか",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in ASKED.items() for text in texts])
def test_it_is_about_the_collection(kind: str, text: str) -> None:
    found = recognised(text)
    assert found is not None and found.kind == kind


@pytest.mark.parametrize("text", NOT_ASKED)
def test_it_is_not(text: str) -> None:
    assert recognised(text) is None


def test_what_is_selected() -> None:
    assert recognised("List papers by Barba from 2018 to 2020") == CatalogueQuestion(
        "listed", author="Barba", year_from=2018, year_to=2020
    )
    assert recognised("How many papers were published before 2020?") == CatalogueQuestion(
        "counted", year_to=2019, counts=True
    )
    assert recognised("2020年より前の日本語の論文は何本") == CatalogueQuestion(
        "counted", year_to=2019, language="ja", counts=True
    )


@pytest.mark.parametrize("name", ["covidqa_dev", "pubmedqa_dev", "cranfield", "cacm"])
def test_no_question_by_others_is_caught(name: str) -> None:
    path = CORPORA / name / "queries.jsonl"
    if not path.exists():
        pytest.skip(f"{name} is not here: ../shared/corpora holds it")
    caught = [text for line in path.read_text().splitlines() if recognised(text := json.loads(line)["text"])]
    assert caught == []

"""The learned ranker of sentences: what it reads of them, its weights, and which sentences an answer takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError
from monjyu_query.answers.evidence_ranking import evidence_ranker
from monjyu_query.answers.evidence_ranking.answer_types import asked_types, shows
from monjyu_query.answers.evidence_ranking.evidence_ranker import READ, evidence_model, judge_sentences
from monjyu_query.answers.evidence_ranking.sentence_features import (
    WORD_FEATURES,
    is_hanging,
    vector_features,
    word_count,
    word_features,
)
from monjyu_query.answers.quote_windows import Neighbours
from monjyu_query.answers.selection import Limits, Question, choose_windows
from monjyu_query.search.passages import Passage, PassageSentence
from tests.properties import given, st
from tests.query.test_answer import question

SCALE = (0.2, 0.7)
ASKED = question("patients", "vaccine")
TEXTS = [
    "The trial enrolled patients of two hospitals.",
    "In all 312 patients were given the vaccine.",
    "Because the cold chain had failed, doses lost their potency.",
    "It was also found elsewhere.",
]


def sentence(text: str, place: int = 0, chunk: str = "c", paper: str = "p") -> PassageSentence:
    passage = Passage(chunk, paper, "", "other", "", "", None, 1.0)
    return PassageSentence(passage, f"{paper}.s{place}", 0, place, 0, len(text), text, ())


def chosen_of(
    asked: Question,
    probability: NDArray[np.float64],
    least: float,
    sentences: list[PassageSentence],
    terms: list[list[str]],
    most: int = 5,
) -> list[PassageSentence]:
    """The sentences that are quoted for their own sake, best first."""
    windows = choose_windows(asked, probability, least, sentences, terms, Limits(most), Neighbours(sentences))
    return [sentence for window in windows for sentence in window.keys]


def a_passage(texts: list[str]) -> tuple[list[PassageSentence], list[list[str]]]:
    sentences = [sentence(text, place) for place, text in enumerate(texts)]
    return sentences, [text.rstrip(".").lower().split() for text in texts]


def no_vectors(texts: object) -> None:
    return None


@pytest.mark.parametrize(
    ("asked", "kind", "answer", "other"),
    [
        ("How many patients were given it?", "number", "312 patients were given it.", "Patients were given it."),
        ("When was the ship found?", "date", "It was found in 1985.", "It was found by chance."),
        ("Why did doses fail?", "reason", "They failed because of heat.", "They failed often."),
        ("Where does the virus bind?", "place", "It binds in Paris.", "It binds."),
        ("何人が参加したか。", "number", "参加者は30人だった。", "参加者は多い。"),
        ("なぜ失敗したのか。", "reason", "温度が高かったため失敗した。", "失敗した。"),
        ("大会はいつ行われたか。", "date", "大会は1998年に行われた。", "大会は行われた。"),
    ],
)
def test_the_type_that_is_asked_for_and_what_shows_it(asked: str, kind: str, answer: str, other: str) -> None:
    assert kind in asked_types(asked)
    assert shows(kind, answer)
    assert not shows(kind, other)


def test_words_are_counted_in_both_scripts() -> None:
    assert word_count("A well-known fact (p. 3).") == 5
    assert word_count("梅雨は季節") == 2.5


def test_a_sentence_that_points_outside() -> None:
    assert is_hanging("It was also found elsewhere.")
    assert is_hanging("そのため延期した。")
    assert not is_hanging("Items were found elsewhere.")


@given(st.lists(st.text(max_size=60), max_size=30))
def test_features_are_finite_whatever_the_sentences(texts: list[str]) -> None:
    sentences, terms = a_passage(texts)
    found = word_features("How many patients?", question("patients", "vaccine"), sentences, terms)
    assert found.shape == (len(texts), len(WORD_FEATURES))
    assert np.isfinite(found).all()


def test_neighbours_count_within_a_section_only() -> None:
    sentences, terms = a_passage(TEXTS)
    asked = question("vaccine")
    before = WORD_FEATURES.index("overlap_before")
    assert word_features("vaccine", asked, sentences, terms)[:, before].tolist() == [0, 0, 1, 0]
    apart = [sentence(text, place * 2) for place, text in enumerate(TEXTS)]
    assert word_features("vaccine", asked, apart, terms)[:, before].sum() == 0


def test_similarity_is_read_on_the_scale_of_the_model() -> None:
    found = vector_features(np.array([0.2, 0.7, 0.45], dtype=np.float32), SCALE)
    assert found[:, 0] == pytest.approx([0, 1, 0.5], abs=1e-6)
    assert found[:, 1] == pytest.approx([-1, 0, -0.5], abs=1e-6)
    assert found[:, 2] == pytest.approx([1 / 3, 1, 1 / 2])


def test_the_number_asked_for_is_preferred() -> None:
    texts = ["Patients were given the vaccine at home.", "In all 312 patients were given the vaccine."]
    sentences, terms = a_passage(texts)
    asked = question("patients", "vaccine")
    judged = judge_sentences("How many patients were given the vaccine?", asked, sentences, terms, no_vectors, SCALE)
    assert judged.probability[1] > judged.probability[0]


def test_vectors_are_made_for_few_sentences_and_decide() -> None:
    texts = [f"Sentence {number} speaks of patients and of the vaccine here." for number in range(40)]
    sentences, terms = a_passage(texts)
    read: list[str] = []

    def similarities(some: list[str]) -> NDArray[np.float32]:
        read.extend(some)
        return np.linspace(0.3, 0.8, len(some), dtype=np.float32)

    asked = question("patients", "vaccine")
    judged = judge_sentences("Were patients given it?", asked, sentences, terms, similarities, SCALE)  # type: ignore[arg-type]
    assert len(read) == READ
    assert texts[int(judged.probability.argmax())] == read[-1]
    assert (judged.probability > 0).sum() == READ


def test_weights_that_are_not_ours_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spaced.json").write_text("{}")
    monkeypatch.setattr(evidence_ranker, "_FOLDER", tmp_path)
    evidence_model.cache_clear()
    with pytest.raises(ConfigurationError, match="spaced"):
        evidence_model("spaced")
    evidence_model.cache_clear()


def test_an_answer_takes_the_probable_and_says_nothing_twice() -> None:
    texts = [*TEXTS, TEXTS[1]]
    sentences, terms = a_passage(texts)
    probability = np.array([0.05, 0.6, 0.3, 0.01, 0.5])
    chosen = chosen_of(ASKED, probability, 0.2, sentences, terms)
    assert {s.text for s in chosen} == {TEXTS[1], TEXTS[2]}
    assert len(chosen_of(ASKED, probability, 0.0, sentences, terms, most=1)) == 1


def test_the_best_sentence_is_taken_however_improbable_and_the_answer_stays_short() -> None:
    texts = [f"{name} {'word ' * 90}." for name in ("Alpha", "Beta", "Gamma", "Delta")]
    sentences = [sentence(text, place) for place, text in enumerate(texts)]
    terms = [[text.split()[0], str(place)] for place, text in enumerate(texts)]
    assert len(chosen_of(ASKED, np.full(4, 0.001), 0.2, sentences, terms)) == 1
    assert len(chosen_of(ASKED, np.full(4, 0.9), 0.2, sentences, terms)) == 1
    assert chosen_of(ASKED, np.zeros(4), 0.0, sentences, terms) == []


def test_a_term_that_no_chosen_sentence_has_lifts_another() -> None:
    texts = [
        "Granite carries lichens that grow.",
        "Granite carries lichens that wither.",
        "Limestone carries no such thing.",
    ]
    sentences, terms = a_passage(texts)
    asked = question("granite", "limestone")
    chosen = chosen_of(asked, np.array([0.5, 0.04, 0.03]), 0.07, sentences, terms)
    assert [s.text for s in chosen] == [texts[0], texts[2]]


def test_a_question_answers_no_question() -> None:
    sentences, terms = a_passage(["How many patients were given the vaccine?", "Patients were given the vaccine."])
    chosen = chosen_of(ASKED, np.array([0.9, 0.1]), 0.05, sentences, terms)
    assert [s.text for s in chosen] == ["Patients were given the vaccine."]

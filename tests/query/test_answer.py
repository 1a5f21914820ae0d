"""Which sentences an extractive answer takes, and when it abstains."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monjyu_core.settings.settings import AnswerSettings
from monjyu_query.answers.selection import Evidence, Question, choose_sentences, is_statement, weigh_evidence
from monjyu_query.ranking.retrieval import QueryTerm
from monjyu_query.search.passages import Passage, PassageSentence

SETTINGS = AnswerSettings()


def passage(name: str, paper: str = "p") -> Passage:
    return Passage(name, paper, "Title", "other", "Title", "", None, 1.0)


def sentence(text: str, place: int = 0, chunk: str = "c", paper: str = "p") -> PassageSentence:
    return PassageSentence(passage(chunk, paper), f"{paper}.s{place}", 0, place, 0, len(text), text, ())


def question(*terms: str, frequency: int = 5) -> Question:
    return Question.of([QueryTerm(term, term, frequency) for term in terms], 100)


def chosen(asked: Question, sentences: list[PassageSentence], settings: AnswerSettings = SETTINGS) -> list[str]:
    terms = [s.text.rstrip(".").lower().split() for s in sentences]
    return [s.text for s in choose_sentences(asked, sentences, terms, settings)]


def test_weights_are_those_of_bm25() -> None:
    weights = Question.of([QueryTerm("rare", "rare", 0), QueryTerm("usual", "usual", 99)], 100).weights
    assert weights["rare"] == pytest.approx(math.log(1 + 100.5 / 0.5))
    assert weights["usual"] == pytest.approx(math.log(1 + 1.5 / 99.5))


def test_share_of_a_question_without_terms_is_zero() -> None:
    assert question().share({"anything"}) == 0.0


def test_the_sentence_that_speaks_of_it() -> None:
    sentences = [sentence("Cats sleep all day.", 0), sentence("Graphs hold noun phrases together.", 1)]
    assert chosen(question("graphs", "phrases"), sentences) == ["Graphs hold noun phrases together."]


def test_nothing_shared_gives_nothing() -> None:
    assert chosen(question("volcano"), [sentence("Graphs hold noun phrases together.")]) == []


def test_near_duplicates_are_said_once() -> None:
    same = [
        sentence("Graphs hold noun phrases together.", 0, "a"),
        sentence("Graphs hold noun phrases together well.", 1, "b", "q"),
    ]
    assert len(chosen(question("graphs", "phrases"), same)) == 1


def test_reading_order_is_best_paper_first_then_place() -> None:
    sentences = [
        sentence("Later graphs appear in print.", 9, "a", "best"),
        sentence("Early phrases appear at once.", 2, "a", "best"),
        sentence("Budget tests follow their own rules.", 1, "b", "other"),
    ]
    assert chosen(question("graphs", "phrases", "budget"), sentences) == [
        "Early phrases appear at once.",
        "Later graphs appear in print.",
        "Budget tests follow their own rules.",
    ]


def test_no_more_than_the_setting() -> None:
    words = ["alpha", "beta", "gamma", "delta"]
    sentences = [sentence(f"{word} stands in this one sentence {n}.", n) for n, word in enumerate(words)]
    assert len(chosen(question(*words), sentences, AnswerSettings(max_sentences=2))) == 2


@pytest.mark.parametrize("text", ["graphs 3.1 (2) 77 %", 'graphs = plot(x["a"], y=[1, 2])', "graphs"])
def test_fragments_and_code_are_no_answer(text: str) -> None:
    found = choose_sentences(question("graphs"), [sentence(text)], [["graphs"]], SETTINGS)
    assert found == []


def test_coverage_is_of_the_best_passage_and_missing_of_all() -> None:
    found = weigh_evidence(question("a", "b", "c", "d"), [["a", "b"], ["c"]], 0.9)
    assert found.coverage == pytest.approx(0.5)
    assert found.missing == ("d",)


def test_support_grows_with_similarity_and_coverage() -> None:
    assert Evidence(0.3, 0.1, ()).support == 0.0
    assert Evidence(0.0, 0.8, ()).support == pytest.approx(1.0)
    assert Evidence(1.0, 0.0, ()).support == pytest.approx(0.8)
    assert Evidence(0.7, 0.45, ()).support == pytest.approx(1 - 0.5 * 0.6)
    assert Evidence(0.5, 0.5, ()).support < Evidence(0.5, 0.6, ()).support
    assert Evidence(0.5, 0.5, ()).support < Evidence(0.6, 0.5, ()).support
    assert Evidence(0.4, None, ()).support == pytest.approx(0.4)


def test_the_reason_names_what_is_missing() -> None:
    reason = Evidence(0.25, 0.1, ("Mongolia",)).thin_because()
    assert "“Mongolia”" in reason and "25%" in reason and "0.10" in reason


words = st.lists(st.sampled_from(["graph", "phrase", "budget", "rank", "noise", "filler"]), min_size=3, max_size=12)


@given(st.lists(words, max_size=12))
def test_sentences_are_chosen_once_and_in_order(texts: list[list[str]]) -> None:
    sentences = [sentence(" ".join(text), place, f"c{place // 3}") for place, text in enumerate(texts)]
    found = choose_sentences(question("graph", "budget", "rank"), sentences, texts, SETTINGS)
    places = [s.place for s in found]
    assert places == sorted(set(places))
    assert len(found) <= SETTINGS.max_sentences


def test_questions_items_and_headings_are_no_statements() -> None:
    assert is_statement("The budget is spent on twenty tests [3].")
    assert is_statement("予算は二十回で尽きる。")
    for text in (
        "When should reading stop?",
        "1. when the share is spent,",
        "• A list item.",
        "3.2 Descending and stopping",
    ):
        assert not is_statement(text)

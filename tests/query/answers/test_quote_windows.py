"""A quote grows by what it points back at, and by a figure next door that was asked for; never over a gap."""

from __future__ import annotations

import numpy as np
import pytest

from monjyu_core.text.quotes import points_outside
from monjyu_query.answers.citing import Neighbours, connective, joined, lone, without_opening
from monjyu_query.answers.selection import Limits, Question, choose_windows
from monjyu_query.asking.passages import Passage, PassageSentence
from tests.properties import given, st

ONE = Passage("c1", "p", "Title", "results", "", "", 1, 1.0)
TWO = Passage("c2", "p", "Title", "results", "", "", 1, 1.0)


def run(*texts: str, passage: Passage = ONE, section: int = 1, gap: int = 1) -> list[PassageSentence]:
    """Sentences that follow each other, `gap` characters apart."""
    found, start = [], 0
    for place, text in enumerate(texts):
        found.append(PassageSentence(passage, f"s{place}", section, place, start, start + len(text), text, ()))
        start += len(text) + gap
    return found


@pytest.mark.parametrize(
    "text",
    [
        "This shows it.",
        "They were given tea.",
        "However, nobody came.",
        "It rained.",
        "Such rooms exist.",
        "そのため中止した。",
        "これは新しい。",
        "There we stopped.",
    ],
)
def test_what_points_outside(text: str) -> None:
    assert points_outside(text)


@pytest.mark.parametrize(
    "text",
    [
        "The room was dark.",
        "It is known that rooms are dark.",
        "We counted 40 birds.",
        "There are 40 birds.",
        "Thistles grow.",
        "Soap helps.",
        "In addition to birds, we counted eggs.",
        "Both the birds and the eggs were counted.",
        "As a result of rain, no bird sang.",
        "本研究は鳥を数えた。",
        "この論文は鳥について述べる。",
    ],
)
def test_what_stands_alone(text: str) -> None:
    assert not points_outside(text)


def test_it_takes_what_it_points_back_at() -> None:
    sentences = run("Lichens grow on stone.", "They grow slowly.", "This takes years.", "Birds fly.")
    grown = Neighbours(sentences).grown(sentences[2])
    assert [s.sentence_id for s in grown.sentences] == ["s0", "s1", "s2"] and grown.key == sentences[2]
    assert not grown.hangs
    assert Neighbours(sentences).grown(sentences[3]) == lone(sentences[3])


def test_not_over_a_gap_a_section_or_a_passage() -> None:
    apart = run("Lichens grow on stone.", "They grow slowly.", gap=9)
    assert Neighbours(apart).grown(apart[1]) == lone(apart[1])
    first, second = run("Lichens grow on stone.", "They grow slowly.")
    elsewhere = PassageSentence(TWO, "x", 1, 0, first.start, first.end, first.text, ())
    assert Neighbours([elsewhere, second]).grown(second) == lone(second)
    other_section = PassageSentence(ONE, "x", 0, 0, first.start, first.end, first.text, ())
    assert Neighbours([other_section, second]).grown(second) == lone(second)


def test_a_word_that_only_joins_is_cut_instead() -> None:
    text = "However, lichens grow slowly."
    assert text[connective(text) :] == "lichens grow slowly."
    assert connective("However, they grow slowly.") == 0 and connective("Lichens grow.") == 0
    assert connective("しかし、地衣類は遅い。") == 4
    item = "2. Lichens grow slowly."
    assert item[connective(item) :] == "Lichens grow slowly."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Moreover, lichens grow slowly.", "Lichens grow slowly."),
        ("• Workshops: three days.", "Workshops: three days."),
        ("∑ ) ) { } Of all lichens, few grow.", "Of all lichens, few grow."),
        ("“Slow” lichens ) ( grow.", "“Slow” lichens ) ( grow."),
        ("2. Lichens grow slowly.", "Lichens grow slowly."),
        ("さらに、地衣類は遅い。", "地衣類は遅い。"),
        ("Therefore, lichens grow slowly.", "Therefore, lichens grow slowly."),
        ("However, lichens grow slowly.", "However, lichens grow slowly."),
        ("In addition, they grow slowly.", "In addition, they grow slowly."),
        ("2.5 mm is the growth of a year.", "2.5 mm is the growth of a year."),
        ("-3 °C is too cold.", "-3 °C is too cold."),
    ],
)
def test_only_what_adds_a_sentence_to_another_is_left_out(text: str, said: str) -> None:
    assert without_opening(text) == said


def test_windows_that_touch_are_one() -> None:
    sentences = run("A first thing.", "A second thing.", "A third thing.", "A last thing.")
    some = joined([lone(sentences[2]), lone(sentences[0]), lone(sentences[1])], Neighbours(sentences))
    assert [s.sentence_id for s in some[0].sentences] == ["s1", "s2"] or len(some) == 1
    assert {s.sentence_id for one in some for s in one.sentences} == {"s0", "s1", "s2"}


@given(
    st.lists(
        st.sampled_from(["This is so.", "Stones lie.", "However, it ends.", "2. Items stand."]), min_size=1, max_size=8
    )
)
def test_a_window_is_a_run_with_its_key(texts: list[str]) -> None:
    sentences = run(*texts)
    for sentence in sentences:
        window = Neighbours(sentences).grown(sentence)
        places = [s.place for s in window.sentences]
        assert places == list(range(places[0], places[0] + len(places))) and sentence in window.sentences
        assert len(window.sentences) <= 3


def test_the_sentence_before_a_passage_belongs_to_it_and_to_its_own_passage() -> None:
    before, after = run("Drops form at the edge of the sun.", "This is called the drop effect.")
    elsewhere = PassageSentence(TWO, before.sentence_id, 1, 0, before.start, before.end, before.text, ())
    window = Neighbours([before, elsewhere, after]).grown(after)
    assert window.sentences == (before, after)


def test_the_first_sentence_answers_rather_than_repeats_the_question() -> None:
    sentences = run(
        "It is given for nine days in all of them.", "We ask how long the drug is used in hospitals.", gap=9
    )
    question = Question(dict.fromkeys(("drug", "use", "children"), 1.0), {})
    terms = [["nine", "day"], ["drug", "hospital"]]
    chosen = choose_windows(question, np.array([0.3, 0.2]), sentences, terms, Limits(1), Neighbours(sentences))
    assert [window.key for window in chosen] == sentences[:1]


@pytest.mark.parametrize(("second", "quotes"), [(0.2, 1), (0.3, 2)])
def test_a_further_sentence_needs_a_share_of_the_best_ones_probability(second: float, quotes: int) -> None:
    sentences = run("It is given for nine days in all of them.", "Hospitals use the drug for children.", gap=9)
    question = Question(dict.fromkeys(("drug", "use", "children"), 1.0), {})
    terms, limits = [["nine", "day"], ["drug", "hospital", "use", "children"]], Limits(2, share=0.5)
    chosen = choose_windows(question, np.array([0.5, second]), sentences, terms, limits, Neighbours(sentences))
    assert len(chosen) == quotes


def test_a_broad_question_quotes_further_papers_that_no_fact_would() -> None:
    other = Passage("c2", "q", "Other", "results", "", "", 1, 1.0)
    sentences = run("The drug was given for nine days.", "It was red.")
    sentences.append(PassageSentence(other, "t0", 1, 0, 0, 21, "Nurses gave it daily.", ()))
    question, terms = Question({"drug": 1.0}, {}), [["drug", "day"], ["red"], ["nurse", "daily"]]
    chances, neighbours = np.array([0.5, 0.03, 0.02]), Neighbours(sentences)
    for others, papers in ((1.0, {"p"}), (0.01, {"p", "q"})):
        limits = Limits(4, others=others)
        chosen = choose_windows(question, chances, sentences, terms, limits, neighbours)
        assert {window.key.passage.paper_id for window in chosen} == papers and len(chosen) == len(papers)

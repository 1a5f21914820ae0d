"""What a question's wording adds to sentences, what is no sentence of the text, and words that are spelt otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from monjyu_query.answers.arrangement import said
from monjyu_query.answers.evidence_ranking.answer_types import share_asked, without_citations
from monjyu_query.answers.evidence_ranking.evidence_ranker import Judged
from monjyu_query.answers.evidence_ranking.lifting import defines, lifted, named_thing, standing
from monjyu_query.answers.outcome import unlike_any
from monjyu_query.answers.quote_windows import lone
from monjyu_query.search.passages import Passage, PassageSentence


def sentence(text: str, paper: str = "p", title: str = "Binder: notebooks for all") -> PassageSentence:
    passage = Passage(f"{paper}#0", paper, title, "abstract", "", text, None, 1.0)
    return PassageSentence(passage, f"{paper}:{text}", 0, 0, 0, len(text), text, ())


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("What is Binder?", "Binder is a service that runs notebooks.", True),
        ("What is Binder?", "Binder (Jupyter et al., 2018) is an open service.", True),
        ("What is a flipped classroom?", "In what is called a flipped classroom, students read at home.", True),
        ("What is Binder?", "We created steps for an RStudio Binder to edit.", False),
        ("What is the cause of Binder failures?", "Binder is a service that runs notebooks.", False),
        ("バインダーとは何ですか", "バインダー（Binder）とは、ノートブックを動かすサービスである。", True),
    ],
)  # fmt: skip
def test_a_definition_is_known(query: str, text: str, found: bool) -> None:
    assert defines(query, text) == found


def test_a_value_of_something_is_no_name() -> None:
    assert named_thing("What is backward design?") == "backward design"
    assert named_thing("What is the average stay?") == "" == named_thing("What is known today?")


def test_what_is_no_sentence_of_the_text_counts_less() -> None:
    texts = ["Binder: notebooks for all", "Table 2: Hours by course.", "Learn about conda and how to use it",
             "We teach conda."]  # fmt: skip
    left = standing([sentence(text) for text in texts])
    assert left[0] < left[2] < left[1] < left[3] == 1


def test_what_others_say_of_a_named_paper_counts_less() -> None:
    both = [sentence("We teach conda.", "p"), sentence("We teach conda.", "q")]
    judged = Judged(np.array([0.2, 0.3]), 0.1)
    assert lifted("Who teaches?", judged, both).probability.tolist() == [0.2, 0.3]
    of_p = lifted("Who teaches?", judged, both, "p").probability
    assert of_p[0] == 0.2 > of_p[1]
    assert lifted("Who teaches?", judged, both, "r").probability.tolist() == [0.2, 0.3]


def test_a_percentage_asked_for_is_known() -> None:
    shown = share_asked("What percentage of deaths are due to pneumonia?")
    assert shown and shown.search("an 18% decrease") and not shown.search("18 deaths")
    assert share_asked("How many deaths are due to pneumonia?") is None


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("active learning (Freeman et al., 2014).", "active learning  ."),
        ("as shown [3, 4].", "as shown  ."),
        ("held (in May 2019) for 40 students", "held (in May 2019) for 40 students"),
    ],
)  # fmt: skip
def test_years_of_citations_are_no_figures(text: str, bare: str) -> None:
    assert without_citations(text) == bare


def test_a_word_that_is_spelt_otherwise_is_not_missing() -> None:
    texts = ["COVID-19 and Zanamivir were studied.", "Autorefractive errors."]
    asked = ["COVID19", "Zanamavir", "autorefraction", "gradient"]
    assert unlike_any(asked, texts) == {"gradient"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("BACKGROUND: Vaccines lose their potency.", "Vaccines lose their potency."),
        ("[5] [6] Five studies found it.", "Five studies found it."),
        ("Results of 2019 were better: all passed.", "Results of 2019 were better: all passed."),
    ],
)  # fmt: skip
def test_what_belongs_to_the_text_before_is_left_out(text: str, shown: str) -> None:
    assert said(lone(sentence(text))) == shown

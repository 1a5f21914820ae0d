"""What a question wants must be in a quote: attributes and aspects, and what an answer says where it is in none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.outcome import Outcome, Support
from monjyu_query.answers.quote_windows import Window, lone
from monjyu_query.answers.wanted.showing import Showing, showing
from monjyu_query.answers.wanted.wanted import wanted
from monjyu_query.search.passages import Passage, PassageSentence
from monjyu_query.search.request import make_request
from monjyu_query.search.searcher import Searcher


@pytest.fixture(scope="module")
def searcher(sample_data: Path) -> Searcher:
    searcher = Searcher(DataFolder(sample_data), "samples")
    searcher.prepare()
    return searcher


def sentence(text: str, paper: str = "p") -> PassageSentence:
    passage = Passage(f"{paper}#0", paper, "Binder", "other", "", text, None, 1.0)
    return PassageSentence(passage, f"{paper}:{text}", 0, 0, 0, len(text), text, ())


@pytest.mark.parametrize(
    ("query", "told", "shows", "shows_not"),
    [
        ("What license does Binder have?", "a licence", "It is licensed under MIT.", "It improves learning."),
        ("Binderのライセンスは何ですか", "a licence", "Binderは MIT ライセンスで公開。", "Binderは便利である。"),
        ("Which version of Python does it need?", "a version", "It needs Python 3.8 or newer.", "In Table 2 it ran."),
        ("Which programming language is it written in?", "a programming language", "It is written in C++.", "Go on."),
        ("What does it cost to take the course?", "a price or cost", "It is free of charge.", "We estimate time."),
        ("Who funded the study?", "a funder", "We were funded by the DFG.", "Fundamental skills are taught."),
        ("What are the limitations of Binder?", "a limitation", "It does not support Windows.", "It is praised."),
        ("Binderの欠点は何ですか", "a limitation", "大きなデータは扱えず、困難である。", "速い。"),
        ("What future work do the authors plan?", "what remains to be done", "We plan to add R.", "We added R."),
        ("How many students took part?", "the number that was asked for", "We taught 40 learners.", "Students read."),
        ("Why is it used?", "a reason", "It is used because it is free.", "It is used."),
    ],
)  # fmt: skip
def test_what_is_wanted_is_known_and_seen(query: str, told: str, shows: str, shows_not: str) -> None:
    want = wanted(query)
    assert want is not None and want.told[0] == told
    assert want.shows.search(shows) and not want.shows.search(shows_not)


@pytest.mark.parametrize(
    "query",
    [
        "When did she present with rapidly progressive right-hand weakness?",
        "Despite shortcomings, what is the phage useful for?",
        "建築を業とするためのライセンス取得に必要なものは？",
        "国力の限界を越えた拡張で衰退したのはいつか",
        "第一世代組換え食品は誰に大きな利点をもたらしますか?",
        "What is early cutoff?",
    ],
)  # fmt: skip
def test_what_is_only_mentioned_is_not_wanted(query: str) -> None:
    assert wanted(query) is None


def told(status: str = "complete") -> Outcome:
    return Outcome(status, 0.6, "", "", "en")  # type: ignore[arg-type]


def windows(*texts: str) -> list[Window]:
    return [lone(sentence(text)) for text in texts]


def test_an_attribute_that_nothing_shows_is_not_answered(searcher: Searcher) -> None:
    read = [sentence("Binder improves learning."), sentence("Binder runs notebooks.")]
    shown = showing(searcher.current(), "What license does Binder have?", read, "p")
    outcome = shown.held_against(told(), [lone(read[0])])
    assert outcome.status == "abstained" and "licence" in outcome.reason


def test_an_aspect_that_no_quote_shows_is_answered_in_part(searcher: Searcher) -> None:
    read = [sentence("Binder improves learning."), sentence("Binder cannot run offline.")]
    shown = showing(searcher.current(), "What are the limitations of Binder?", read, "p")
    assert shown.held_against(told(), [lone(read[0])]).missing == "No passage found states a limitation."
    assert shown.held_against(told(), [lone(read[1])]) == told()
    worth = shown.raised(np.array([0.6, 0.04]))
    assert worth[1] > worth[0]


def test_of_another_paper_than_the_named_one_nothing_counts(searcher: Searcher) -> None:
    read = [sentence("Binder improves learning."), sentence("It is licensed under MIT.", "q")]
    shown = showing(searcher.current(), "What license does Binder have?", read, "p")
    assert shown.nowhere and not showing(searcher.current(), "What license does it have?", read, "").nowhere


def test_words_that_ask_are_not_missing_where_the_thing_is_quoted(searcher: Searcher) -> None:
    [quote] = quotes = windows("The package is released under the GPL-3.")
    shown = showing(searcher.current(), "What licence does it have?", list(quote.sentences), "")
    assert shown.spared(Support((0.0,) * 10, ("licence", "Zeppelin")), quotes).missing == ("Zeppelin",)
    assert Showing().held_against(told(), quotes) == told()


def test_a_licence_that_the_papers_do_not_state_is_not_made_of_other_words(searcher: Searcher) -> None:
    result = searcher.search(make_request(query="What licence does the Leiden algorithm have?", collection="samples"))
    assert result.status != "complete" and "licence" in result.answer

"""Generated answers taken apart: sentences, headings, list items and their markers."""

from __future__ import annotations

import pytest

from monjyu_query.answers.model.marked_sentences import Marked, SentenceStream, abstains, marked_sentences
from tests.properties import examples, given, st

ANSWER = (
    "The channel is 3.5 km long [1]. It was built in 1990. [2][3] However, Smith et al. disagree【2】.\n"
    "- A list item [1-3]\n**Bold** claims [4, 5]. The last one"
)
SENTENCES = [
    Marked("The channel is 3.5 km long.", (1,)),
    Marked("It was built in 1990.", (2, 3)),
    Marked("However, Smith et al. disagree.", (2,)),
    Marked("A list item", (1, 2, 3), item=True),
    Marked("Bold claims.", (4, 5)),
]


def test_sentences_and_their_markers() -> None:
    assert marked_sentences(ANSWER, "en") == [*SENTENCES, Marked("The last one", ())]
    assert marked_sentences("これは正しい[1]。別の文です。［2］", "ja") == [
        Marked("これは正しい。", (1,)), Marked("別の文です。", (2,)),
    ]  # fmt: skip


def test_headings_and_lists_are_told_from_sentences() -> None:
    found = marked_sentences("## Results\n\nIt grew [1].\n1. First [2].\n**Limits:**\nIt is small [3].", "en")
    assert [(one.text, one.heading, one.item) for one in found] == [
        ("Results", True, False),
        ("It grew.", False, False),
        ("First.", False, True),
        ("Limits:", True, False),
        ("It is small.", False, False),
    ]


def test_huge_ranges_are_none() -> None:
    assert len(marked_sentences("All say so [1-999999999].", "en")[0].sources) == 2


@pytest.mark.parametrize("text", ["NO ANSWER", "no answer.", "**NO ANSWER**"])
def test_abstention(text: str) -> None:
    assert abstains(marked_sentences(text, "en")[0])


@given(st.lists(st.integers(1, 30), max_size=12))
@examples(60)
def test_pieces_give_what_the_whole_gives(cuts: list[int]) -> None:
    stream, found, place = SentenceStream("en"), [], 0
    for cut in [*cuts, len(ANSWER)]:
        found += stream.add(ANSWER[place : place + cut])
        place += cut
    assert found + stream.end(cut_off=True) == SENTENCES
    assert stream.end(cut_off=False) in ([], [Marked("The last one", ())])

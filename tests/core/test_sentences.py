"""Sentence boundaries in academic text: what ends a sentence, what does not, and that no character is ever lost."""

from __future__ import annotations

import json

import pytest

from monjyu_core.text.sentences import split_sentences
from tests.conftest import CORPORA, needs_corpora
from tests.limits import ends
from tests.properties import example, given, st

ENGLISH = [
    ["We follow prior work, e.g. the lazy approach, i.e. no upfront cost.", "It works well."],
    ["Smith et al. proposed the method in 2019.", "It was extended by Jones et al. (2020)."],
    [
        "Alice et al. [5] proposed it.",
        "Bob et al. (2001) did too.",
        "The idea is that of Smith et al.",
        "We follow it.",
    ],
    ["As Fig. 3 and Figs. 4-5 show, Eq. (2) holds.", "See Sec. 4.1, Sect. IV, Fig. S2 and Tab. A for details."],
    ["The gain is 0.5 vs. 0.3 on MS MARCO.", "Cf. the appendix of Ref. 12, Vol. 3, No. 4, pp. 12-15."],
    ["Is it new?", "No.", "We think not."],
    ["Dr. A. B. Smith and Prof. Jones wrote it.", "J. Smith and J.-P. Dupont agreed."],
    ["The effect was significant (p < 0.05).", "We found no interaction, p < 0.05.", "This is new."],
    ["See https://example.org/a.b/c.html for the code.", "The DOI is 10.1000/xyz.123.", "It is stable."],
    ["Graphs help retrieval.[12]", "They help summaries. [13, 14]", "Others disagree.", "[15] showed that they fail."],
    ["This was shown before (Smith et al., 2019).", "We confirm it. (Jones and Park, 2020; Lee, 2021)", "Good."],
    ["The results ... were mixed.", "We stopped there...", "Then we went on … and on."],
    ['He said "it works."', "Then he left.", "“It is.”", "(We checked.)", "So did others."],
    ['"Why?" he asked.', "We do not know!", "(Does he?)", "Yes."],
    ["The U.S. government funded it.", "It was made in the U.S.", "The work ended at 5 p.m.", "We left."],
    ["We used Python 3.11 and numpy v. 2.1 on approx. 40 machines.", "Each had ca. 64 GB, i.e., enough."],
    ["Let x = 1.5 and y = 2.", "Then z = 3.5.", "The set has the size k.", "Graphs follow."],
    ["The species E. coli and S. cerevisiae (Candida sp. too) were grown at 37 °C for 2 hr. before use.", "All grew."],
    ["eLife papers are open.", "mRNA was measured at a low level.", "pH was 7.", "α-helices form here.", "β is low."],
    ["We thank Acme Inc. for support.", "Data came from Foo Ltd. and from Bar Co. in Berlin.", "Thanks, J. Doe et al."],
    ["Results are in Table 1.", "1000 papers were used.", "In 2020.", "37 % failed."],
    ["This is true.1", "The next holds too.2,3", "So does this.⁴⁻⁶", "Done."],
    [
        "1. Introduction follows here.",
        "(a) The first case is easy.",
        "Figure 2. The pipeline of the system.",
        "Theorem 1.2. Let G be a graph.",
    ],
    ["Tables, figures, etc. are dropped.", "We drop stamps, numbers, etc.", "Nothing else is lost."],
    ["It is fast (cf. Sec. 2; see also Fig. 3b).", "It is small (e.g. 5 MB)."],
    ["It was published on Jan. 5 and revised in Feb.", "The paper is long."],
    ["the text has no capitals at all.", "it is split all the same, e.g. here.", "so it is."],
    ["tokenised text , as in old corpora , ends so .", "the next sentence begins without a capital .", "it works ."],
    ["We write f(x). g(x) is another.", "$\\alpha$ is small.", "\\textbf{Bold} text follows."],
]
JAPANESE = [
    ["これは論文です。", "「本当ですか？」と彼は言った。", "はい！", "終わり。"],
    ["東京（日本の首都。人口は多い。）は大きい。", "次の文です。"],
    ["彼は「行く。」と言った。", "「来る。」", "『読む。書く。』"],
    ["精度は0.95であった。", "図1.2に示す。", "値は３．５である．", "次に進む．", "最後である。"],
    ["Smith et al. は手法を提案した[12]。", "LLM vs. グラフの比較を行う。", "BERTを使う!", "なぜか?", "不明。"],
    ["これは既知である。[3]", "新しい手法を示す。"],
    ["閉じない「かっこがある。", "次の文。", "さらに次の文。"],
]


def sentences(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


@pytest.mark.parametrize("expected", ENGLISH, ids=lambda case: case[0][:30])
def test_english(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize("expected", JAPANESE, ids=lambda case: case[0][:10])
@pytest.mark.parametrize("language", ["ja", "en"])
def test_japanese(expected: list[str], language: str) -> None:
    assert sentences("".join(expected), language) == expected


def test_line_breaks_inside_a_sentence_are_kept() -> None:
    assert sentences("A sentence over\ntwo lines. Another\none.") == ["A sentence over\ntwo lines.", "Another\none."]


@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\n \t\n", "\n\n\n  "])
def test_never_over_a_blank_line(blank: str) -> None:
    assert sentences(f"A heading{blank}Text of it e.g.{blank}More") == ["A heading", "Text of it e.g.", "More"]


def test_items_of_lists() -> None:
    bullets = "We show:\n• one thing\n• another thing. With two sentences.\n• a third"
    assert sentences(bullets) == ["We show:", "• one thing", "• another thing.", "With two sentences.", "• a third"]
    dashes = "Goals\n- first item\n  that goes on\n- second item\n"
    assert sentences(dashes) == ["Goals", "- first item\n  that goes on", "- second item"]
    numbers = "Steps:\n1. Read the file.\n2. Write it\n(a) once\n(b) twice"
    assert sentences(numbers) == ["Steps:", "1. Read the file.", "2. Write it", "(a) once", "(b) twice"]


def test_a_dash_or_number_at_a_line_start_is_no_list() -> None:
    text = "The method is described in Section\n5. The result is a graph\n- or rather a tree - of terms."
    assert sentences(text) == [
        "The method is described in Section\n5.",
        "The result is a graph\n- or rather a tree - of terms.",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n \n", "\u3000"])
def test_no_text(text: str) -> None:
    assert split_sentences(text) == []


def test_no_stop_at_the_end() -> None:
    assert sentences("One sentence. And a half") == ["One sentence.", "And a half"]


def holds_everything(text: str, language: str) -> None:
    """In range, in order, disjoint, trimmed, and no character but space between them."""
    last = 0
    for start, end in split_sentences(text, language):
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        assert "\n\n" not in text[start:end]
        last = end
    assert not text[last:].strip()


CHARACTERS = "aBz1 .!?…\n\t,;:-()[]{}\"'“”‘’«»「」『』（）。！？．、はと字α•¹₂\u00a0\u3000\u200b\ud800"
WORDS = ["e.g.", "et al.", "Fig. 3", " [12]", "[3]", "(Smith, 2019)", "No.", "\n\n", "\n- ", "\n1. ", "The ", "U.S. "]
PIECES = st.sampled_from([*CHARACTERS, *WORDS])


@given(st.lists(PIECES, max_size=60).map("".join), st.sampled_from(["en", "ja", "zh", "de"]))
@example("a. \x1c b", "en")
def test_property_no_character_is_lost(text: str, language: str) -> None:
    holds_everything(text, language)


@given(st.text(), st.sampled_from(["en", "ja"]))
def test_property_any_text(text: str, language: str) -> None:
    holds_everything(text, language)


HOSTILE = [
    "word ",
    "a. ",
    ". ",
    "(",
    "“",
    "「",
    "」",
    "「。",
    "([「 ",
    "。",
    "...",
    "\n",
    "- a\n",
    "1. a\n",
    "x.1 ",
    ". [1,",
    ". (A ",
    "“ a. ",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_long_run_of_marks_is_split_to_its_end(piece: str, language: str) -> None:
    def text(length: int) -> str:
        return (piece * (length // len(piece) + 1))[:length]

    holds_everything(text(2000), language)
    ends(lambda: split_sentences(text(160_000), language))


def test_twenty_megabytes_in_one_line() -> None:
    text = "word " * 4_000_000
    assert ends(lambda: split_sentences(text)) == [(0, len(text) - 1)]


@needs_corpora
def test_real_text_is_split_fast_and_whole() -> None:
    lines = (CORPORA / "cranfield" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    text = "\n\n".join(json.loads(line)["text"] for line in lines)
    found = ends(lambda: split_sentences(text))
    holds_everything(text, "en")
    assert 100 < len(text) / len(found) < 250
    japanese = "".join(path.read_text(encoding="utf-8") for path in sorted((CORPORA / "ja_wiki").glob("*.txt")))
    holds_everything(japanese, "ja")
    assert 30 < len(japanese) / len(split_sentences(japanese, "ja")) < 120

"""The two fields of full text: each term in one of them, cut alike in index and query."""

from __future__ import annotations

from monjyu_core.text.search_text import content_grams, count_wide, gram_terms, search_grams, search_words
from tests.properties import given, st


def test_english_has_no_grams() -> None:
    text = "Leiden communities, naïve Bayes and α-helices at 37 °C"
    assert search_words(text) == text
    assert search_grams(text) == ""
    assert gram_terms(text) == []
    assert content_grams(text) == {}


def test_japanese_has_bigrams_and_single_ideographs() -> None:
    assert search_grams("金星の周期").split() == ["金星", "星の", "の周", "周期", "金", "星", "周", "期"]
    assert search_words("金星の周期").strip() == ""
    assert search_grams("核").split() == ["核"]


def test_what_touches_japanese_counts_in_both_fields() -> None:
    assert search_words("DNAは2重らせん").split() == ["DNA", "2"]
    assert search_grams("DNAは2重").split() == ["dn", "na", "aは", "は2", "2重", "重"]
    assert gram_terms("DNAは2重") == ["aは", "は2", "2重", "重"]


def test_width_makes_no_difference() -> None:
    assert search_grams("ｸﾞﾗﾌ") == search_grams("グラフ")
    assert search_words("ＡＢＣ１２３") == "ABC123"
    assert search_words("ﬁne") == "fine"


def test_the_subject_of_a_question_and_not_its_grammar() -> None:
    found = content_grams("グラフの索引とは何か?")
    assert found == {"グラ": "グラフ", "ラフ": "グラフ", "索引": "索引", "何": "何"}
    assert list(content_grams("つゆとは")) == ["つゆ", "ゆと", "とは"]


def test_korean_and_chinese() -> None:
    assert search_grams("지식 그래프").split() == ["지식", "그래", "래프"]
    assert "图谱" in search_grams("知识图谱").split()
    assert count_wide("a 知识 b 지식") == 4


@given(st.text(st.sampled_from("ab1 、。グラフの索引핵ーﾊﾞ"), max_size=30))
def test_no_term_stands_in_both_fields(text: str) -> None:
    assert not set(gram_terms(text)) & set(search_words(text).split())
    assert count_wide(search_words(text)) == 0

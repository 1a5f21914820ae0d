"""Noun phrases: what is kept, what is dropped, acronyms, Japanese compounds."""

from __future__ import annotations

from typing import get_args

import pytest

from monjyu_assets.levels.phrases.cleaning import MAX_WINDOW, clean, is_boilerplate, is_unspaced, windows
from monjyu_assets.levels.phrases.japanese_phrases import installed
from monjyu_assets.levels.phrases.paper_phrases import ChunkText, PhraseModel, merged, paper_mentions
from monjyu_assets.levels.phrases.words import definitions, long_form, normalise
from tests.limits import ends


def phrases(*sentences: str) -> set[str]:
    """By the parser: the rules are the same for either model (tests/assets/graph/test_phrase_tagger.py)."""
    return {mention.phrase for mention in paper_mentions([ChunkText("c", sentences)], "parser")}


def test_greek_chemical_accented_and_hyphenated_terms_are_kept() -> None:
    found = phrases(
        "The β-amyloid plaques were measured in mice.",
        "We compare naïve Bayes classifiers with a self-supervised encoder.",
        "The CO2 emissions fell and Hodgkin's lymphoma was treated.",
        "The parser is written in C++ by students.",
    )
    assert {"β-amyloid plaque", "naïve bayes classifier", "self-supervised encoder", "hodgkin's lymphoma"} <= found
    assert {"co2 emission", "c++", "mouse"} <= found


def test_heads_are_lemmatised_and_determiners_dropped() -> None:
    assert phrases("These several neural networks outperform the older decision trees.") == {
        "neural network",
        "older decision tree",
    }


def test_citations_formulas_pronouns_and_boilerplate_are_no_phrases() -> None:
    found = phrases(
        "It was shown in this paper by Smith et al. (2019) [3, 4–6] that they agree (Jones, 2020; Wu, 2021).",
        "We set x = y + 2 in each case and visit https://example.org/a for the example.",
        "This is an open access article distributed under the terms of the Creative Commons Attribution License.",
        "Received 12 March 2020. Copyright 2020 by the publishers.",
    )
    assert not found


def test_names_with_of_are_one_phrase_and_dashes_join() -> None:
    found = phrases(
        "The course is taught at the University of Michigan and the theory of evolution is old.",
        "We solve the Navier–Stokes equations with state-of-the-art methods for 20–30 participants.",
    )
    assert {"university of michigan", "theory", "evolution", "navier-stokes equation", "participant"} <= found
    assert not any("art" in phrase.split("-") or phrase == "university" for phrase in found)


def test_units_alone_are_no_phrases_and_brackets_go_in_pairs() -> None:
    assert phrases("It was measured in vitro for 15-20 minutes at 5 μg/mL and 10 mg/kg.") == set()
    assert normalise("(E)-hex-2-enal,") == "(E)-hex-2-enal"
    assert normalise("ggplot(evals") == "ggplot"
    assert normalise("f(x)") == "f(x)"
    assert normalise("[x) y(") == "x"


def test_a_sentence_that_names_a_licence_in_passing_is_kept() -> None:
    assert not is_boilerplate("The licence of a data set decides who may use it.")
    assert is_boilerplate("© 2020 The Authors. Published by a press.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use latent Dirichlet allocation (LDA) here.", [("LDA", "latent Dirichlet allocation")]),
        ("Large language models (LLMs) are used.", [("LLM", "Large language models")]),
        ("support vector machines (SVM; see below)", [("SVM", "support vector machines")]),
        ("the results of that (Table 1) and (2019)", []),
        ("an entirely different thing (XYZ)", []),
    ],
)
def test_definitions(text: str, expected: list[tuple[str, str]]) -> None:
    assert definitions(text) == expected


def test_a_long_form_ends_before_the_bracket() -> None:
    assert long_form("PMI", "We weigh edges by pointwise mutual information ") == "pointwise mutual information"
    assert long_form("PMI", "no such words") is None


def test_acronyms_are_spelt_out_where_the_paper_defines_them() -> None:
    found = phrases("Large language models (LLMs) answer.", "An LLM benchmark shows that LLMs fail.")
    assert "large language model" in found
    assert "large language model benchmark" in found
    assert not any("llm" in phrase for phrase in found)
    assert "llm" in phrases("The LLM fails.")


def test_phrases_are_counted_chunk_by_chunk() -> None:
    chunks = [
        ChunkText("a", ("Topic models find topics.", "Topic models are old.")),
        ChunkText("b", ("Topic models are new.",)),
    ]
    counts = {(mention.chunk_id, mention.phrase): mention.count for mention in paper_mentions(chunks)}
    assert (counts["a", "topic model"], counts["b", "topic model"]) == (2, 1)


def test_capitals_decide_what_is_an_acronym() -> None:
    longs = {"IT": ("information technology", "information technology")}
    assert merged(("it", "it"), longs) == ("it", "it")
    assert merged(("it department", "IT department"), longs) == ("information technology department", "IT department")


def test_a_paper_gives_the_same_rows_whatever_was_parsed_before() -> None:
    chunks = [ChunkText("a", ("Graph communities help retrieval.", "Retrieval needs evidence.")), ChunkText("b", ())]
    for model in get_args(PhraseModel):
        alone = paper_mentions(chunks, model)
        paper_mentions([ChunkText("c", ("Entirely other words about medieval trade routes were read before.",))], model)
        assert paper_mentions(chunks, model) == alone
    assert [mention.chunk_id for mention in alone] == ["a"] * len(alone)


@pytest.mark.skipif(installed() is None, reason="the extra `ja` is not installed")
def test_japanese_compounds() -> None:
    found = phrases("本研究では大規模言語モデルを用いた情報検索システムを提案する。", "BERTモデルの性能評価を行った。")
    assert {"大規模言語モデル", "情報検索システム", "性能評価"} <= found
    assert any("bert" in phrase for phrase in found)
    assert not found & {"本研究", "こと", "もの"}


@pytest.mark.skipif(installed() is None, reason="the extra `ja` is not installed")
def test_japanese_words_that_serve_as_verbs_or_adverbs_are_no_phrases() -> None:
    found = phrases(
        "金星を観測し、正確な値を利用する。", "当時の望遠鏡（英語版）は2004年12月7日に通常の方法で派遣された。"
    )
    assert found == {"金星", "望遠鏡"}
    assert "観測隊" in phrases("観測隊の観測を待つ。")
    assert phrases("machine learning を学び、deep learning 装置とビタミンB12を知る。") == {
        "machine learning",
        "deep learning",
        "装置",
        "ビタミンb12",
    }


def test_an_english_sentence_with_a_japanese_word_stays_english() -> None:
    assert not is_unspaced("The word 形態素 means morpheme in linguistics and in computing.")
    assert is_unspaced("形態素解析を行う。")


@pytest.mark.parametrize(
    "text", ["(" * 50_000, "[1," * 20_000, "A" * 100_000, "Aa " * 30_000, "$x" * 30_000, "10.1234/" * 9000]
)
def test_hostile_text_is_cleaned_in_linear_time(text: str) -> None:
    def work() -> list[str]:
        definitions(text)
        is_boilerplate(text)
        return windows(clean(text))

    pieces = ends(work)
    assert all(len(piece) <= MAX_WINDOW for piece in pieces)

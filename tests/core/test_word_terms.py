"""Words become the terms that Lance's full-text index would give them."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from monjyu_core.text.search_text import search_words, word_terms

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
LETTERS = [letter for letter in map(chr, range(0x80, 0x2000)) if unicodedata.name(letter, "").startswith("LATIN")]
_FOLDED_FURTHER = "İǮǯ"
"""Lance keeps the accent of these."""


def of_lance(text: str) -> list[str]:
    import lancedb

    return [token.text for token in lancedb.tokenize(search_words(text), max_token_length=100)]


def terms_of(text: str) -> list[str]:
    [terms] = word_terms([search_words(text)])
    return terms


def test_words_of_papers() -> None:
    texts = [path.read_text("utf-8", "replace") for path in sorted(SAMPLES.rglob("*.md"))]
    words = sorted(set(re.findall(r"[^\W_]+", " ".join(texts))))
    assert len(words) > 500
    assert terms_of(" ".join(words)) == of_lance(" ".join(words))


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "?!", "The THE thes ands does because ourselves", "don't it's I'm o'clock", "foo_bar a1b2 3.14 x-y"),
        *(
            "naïve Übung café Straße œuvre łódź smørrebrød Þór ĳ",
            "ΟΔΟΣ Москва елка",
            "DNA型 索引 검색",
            "\x00a\x7fb",
        ),
        *("y" * 99, "y" * 100, "é" * 49 + "a", "é" * 50, "organization international pasted evening emergencies"),
    ],
)
def test_odd_texts(text: str) -> None:
    assert terms_of(text) == of_lance(text)


def test_latin_letters() -> None:
    text = " ".join(f"q{letter}z" for letter in LETTERS if letter not in _FOLDED_FURTHER)
    assert terms_of(text) == of_lance(text)


def test_a_mark_within_a_word_does_not_end_it() -> None:
    assert word_terms(["हिन्दी भाषा"]) == [["हिन्दी", "भाषा"]]


def test_a_word_has_one_term_however_it_is_accented() -> None:
    assert terms_of("ὁδός ΟΔΌΣ") == ["οδοσ"] * 2
    assert terms_of("ёлка Ёлка елка") == ["елка"] * 3
    assert terms_of("مُحَمَّد محمد") == ["محمد"] * 2


def test_texts_keep_their_order_and_repetitions() -> None:
    assert word_terms(["graphs of graphs", "", "walks"]) == [["graph", "graph"], [], ["walk"]]

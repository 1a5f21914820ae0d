"""Words are cut where Unicode says so, and are the same in whatever way a keyboard writes them."""

from __future__ import annotations

import unicodedata

import pytest

from monjyu_core.text.unicode_words import compact, expanded, folded, letter_words, words
from tests.properties import given, st


@pytest.mark.parametrize(
    "text",
    [
        *("झील हर सर्दी में जमी रहती है", "হ্রদের বরফ", "ஏரியின் பனி", "మంచు సరస్సు", "ದಿನಗಳು"),
        *("مُحَمَّد بُحَيْرَة", "שָׁלוֹם אֲגַם", "e\u0301clair cafe\u0301", "น้ำแข็ง ทะเลสาบ", "ရေခဲ", "ទឹកកក", "بحيرة می\u200cخواهم"),
        *("inter\u00adnational", "Пётр Й", "한국어 호수", "1½ ⅷ a1b2"),
    ],
)
def test_only_a_space_ends_a_word(text: str) -> None:
    assert words(text) == text.split()
    assert words(unicodedata.normalize("NFD", text)) == unicodedata.normalize("NFD", text).split()


def test_punctuation_ends_a_word() -> None:
    assert words("COVID-19, 3.14 (foo_bar) don't “x” 世界。है।") == [
        *("COVID", "19", "3", "14", "foo", "bar", "don", "t", "x", "世界", "है"),
    ]
    assert words("\u0301 ् -") == []
    assert letter_words("a1 bees 12 रहती", 3) == ["bees", "रहती"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("Müller", "MULLER"), ("Sørensen", "Sorensen"), ("Yılmaz", "YILMAZ"), ("İnce", "ince"), ("Groß", "GROSS")),
        *(
            ("Łuczak", "luczak"),
            ("Đặng", "dang"),
            ("Nguyễn", "nguyen"),
            ("Ægir", "aegir"),
            ("Þór", "thor"),
            ("Čapek", "capek"),
        ),
        *(
            ("Пётр", "петр"),
            ("ὁδός", "ΟΔΟΣ"),
            ("مُحَمَّد", "محمـد"),
            ("אֲגַם", "אגם"),
            ("ﬁne", "FINE"),
            ("१४१", "141"),
            ("ＡＢ", "ab"),
        ),
        ("cafe\u0301", "café"),
    ],
)
def test_spellings_of_one_word(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("दिन", "दान"), ("が", "か"), ("น้ำ", "นำ"), ("길", "갈"), ("क्", "क")])
def test_signs_that_make_another_word_stay(one: str, other: str) -> None:
    assert folded(one) != folded(other)


def test_hyphens_and_spaces_between_the_parts_of_a_name() -> None:
    assert compact("COVID-19") == compact("Covid 19") == compact("covid\u201319") == "covid19"
    assert expanded("Müller") == expanded("mu\u0308ller") == "mueller"
    assert expanded("Ångström Sørensen") == "aangstroem soerensen"


@given(st.text(max_size=30))
def test_folding_is_done_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert all(word in text for word in words(text))

"""Hyphens at line ends: part of a compound, or of nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pypdfium2 as pdfium
import pytest
import typst

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_assets.parsing.formats.plaintext import parse_text
from monjyu_assets.parsing.text import line_ends
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import ParseSettings
from tests.conftest import CORPORA, needs_corpora

PAPER = Words(
    [
        "We built MyBinder and use open-source tools; its programs are zearalenone-free, and an e-mail came.",
        "The pre-training of emacs and of reveal. Ocimum is a plant, side-by-side, and a non-negligible lambada-",
        "ria stays. Zearalenone was found.",
    ]
)


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("plat-|form", "platform"),  # the dictionary's
        ("com-|pleted", "completed"),  # an inflection of the dictionary's
        ("in-|terdisciplinary", "interdisciplinary"),
        ("be-|cause", "because"),
        ("Zearale-|none", "Zearalenone"),  # the paper's
        ("pro-|gram", "program"),
        ("un-|kown", "unkown"),  # a misprint: its parts are no words
        ("Ein-|steinschen", "Einsteinschen"),
        ("My-|Binder", "MyBinder"),
        ("INTRO-|DUCTION", "INTRODUCTION"),
        ("bio-|informatics", "bioinformatics"),
        ("open-|source", "open-source"),  # the paper's
        ("non-|negligible", "non-negligible"),
        ("e-|mails", "e-mails"),
        ("side-|by-side", "side-by-side"),
        ("well-|known", "well-known"),  # the dictionary's
        ("e-|learning", "e-learning"),
        ("Smith-|Jones", "Smith-Jones"),
        ("DNA-|binding", "DNA-binding"),
        ("problem-|first", "problem-first"),  # two words
        ("emacs-|reveal", "emacs-reveal"),  # two words of the paper
        ("in-|situ", "in-situ"),
        ("just-in-|time", "just-in-time"),
        ("pre-|and postnatal", "pre- and postnatal"),
        ("Vor-|und Nachteile", "Vor- und Nachteile"),
        ("データ-|ベース", "データ-ベース"),
        ("soft\u00ad|ware", "software"),
    ],
)
def test_a_hyphen_at_a_line_end(broken: str, whole: str) -> None:
    text, following = broken.split("|")
    hyphen = PAPER.hyphen(text, following)
    assert hyphen is not None
    assert text[:-1] + hyphen + following == whole


@pytest.mark.parametrize(
    ("text", "following"), [("word", "next"), ("COVID-", "19"), ("2021-", "04"), ("- ", "a"), ("", "")]
)
def test_where_no_word_is_cut(text: str, following: str) -> None:
    assert PAPER.hyphen(text, following) is None


def test_parts_at_line_ends_are_no_words_of_the_paper() -> None:
    assert not PAPER.words & {"lambada", "ria"}
    assert {"ocimum", "side-by", "by-side", "zearalenone-free"} <= PAPER.words


def test_another_word_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_ends, "_DICTIONARY_SHA256", hashlib.sha256(b"another").hexdigest())
    line_ends.english_words.cache_clear()
    with pytest.raises(ConfigurationError, match="damaged"):
        line_ends.english_words()
    monkeypatch.undo()
    assert "platform" in line_ends.english_words()


def test_lines_of_a_text_file() -> None:
    text = "A title\n\nThe teaching plat-\nform of an inter-\ndisciplin-\nary group is a data-\ndriven one.\n"
    paper = parse_text(text.encode(), ParseSettings())
    assert paper.sections[0].text == "The teaching platform of an interdisciplinary group is a data-driven one."


def test_both_parts_of_a_broken_word_are_in_the_rectangles(tmp_path: Path) -> None:
    """Typeset in a narrow column: each sentence's rectangles hold its letters."""
    sentences = [
        "Interdisciplinary teaching requires understanding personalized environments considerably.",
        "Computational notebooks facilitate reproducible experimentation and documentation everywhere.",
        "Establishing collaborative infrastructures demonstrates administrative responsibilities internationally.",
    ]
    source = '#set page(width: 50mm, height: 200mm, margin: 8mm)\n#set text(size: 9pt, hyphenate: true, lang: "en")\n'
    source += "#set par(justify: true)\n= Introduction\n" + " ".join(sentences * 3)
    (tmp_path / "narrow.typ").write_text(source)
    typst.compile(str(tmp_path / "narrow.typ"), output=str(tmp_path / "narrow.pdf"))
    paper = parse_pdf(tmp_path / "narrow.pdf", ParseSettings())
    document = pdfium.PdfDocument(tmp_path / "narrow.pdf")
    found = [sentence for section in paper.sections for sentence in section.sentences]
    assert [sentence.text for sentence in found] == sentences * 3
    assert sum(page.get_textpage().get_text_range().count("\ufffe") for page in document) > 10  # words cut
    for sentence in found:
        letters = ""
        for span in sentence.spans:
            page = document[span.page - 1]
            height, text = page.get_height(), page.get_textpage()
            for x0, y0, x1, y1 in span.boxes:
                letters += text.get_text_bounded(x0, height - y1, x1, height - y0)
        assert "".join(c for c in letters if c.isalpha()) == "".join(c for c in sentence.text if c.isalpha())


@needs_corpora
def test_a_paper_whose_own_words_do_not_suffice() -> None:
    paper = parse_pdf(CORPORA / "jose/pdf/jose.00032.pdf", ParseSettings())
    text = " ".join(section.text for section in paper.sections)
    for word in ("platform", "personalized", "completed", "interdisciplinary", "instructors"):
        assert word in text
    for part in ("plat-form", "personal-ized", "com-pleted", "in-terdisciplinary", "op-tion"):
        assert part not in text

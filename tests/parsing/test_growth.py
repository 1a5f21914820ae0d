"""The time of a parser grows with the size of its file, not with the square of it."""

from __future__ import annotations

import time

from monjyu_assets.parsing.plaintext import parse_text
from monjyu_core.settings import ParserSettings


def test_words_cut_at_every_line_end() -> None:
    data = b"A title\n\nAbout words that are cut.\n\n" + b"word-\n" * 60_000
    before = time.process_time()
    paper = parse_text(data, ParserSettings())
    assert time.process_time() - before < 5
    assert paper.sections[-1].text.count("word-") == 60_000

"""Whether what a model quotes stands in the source."""

from __future__ import annotations

from collections.abc import Sequence

SHORTEST = 8
"""Characters of a quote: shorter ones stand anywhere."""
LONG_ENOUGH = 20
"""Characters of a sentence that a longer quote may hold."""


def find_quote(quote: str, sentences: Sequence[str]) -> int | None:
    """The first sentence that holds the quote, letter by letter but for spaces, or that the quote holds whole."""
    said = " ".join(quote.split())
    wanted = said.strip(" .。\"'“”")
    if len(wanted) < SHORTEST:
        return None
    for number, sentence in enumerate(sentences):
        text = " ".join(sentence.split())
        if wanted in text or (len(text) >= LONG_ENOUGH and text in said):
            return number
    return None

"""The terms of a text: stemmed words without stop words and accents, as Lance's full-text index cuts them.

The stemmer is Snowball's for English (Porter2); stop words are those of NLTK and go after stemming. Terms equal those
of `lancedb.tokenize` for Latin, Chinese, Japanese and Korean text; in other scripts accents and points go as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monjyu_core.text.unicode_words import folded, words

VERSION = 2
"""Raised when a text has other terms than before."""
_STOP_WORDS = """
a about above after again against ain all am an and any are aren as at be because been before being below between
both but by can couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn
have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m ma me
mightn more most mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over own
re s same shan she should shouldn so some such t than that the their theirs them themselves then there these they
this those through to too under until up ve very was wasn we were weren what when where which while who whom why
will with won wouldn y you your yours yourself yourselves
"""
_STOP = frozenset(_STOP_WORDS.split())
_LONGEST = 100
"""A word of as many bytes is none: encoded data."""


def word_terms(texts: Sequence[str]) -> list[list[str]]:
    """The terms of each text in order, repeated."""
    found = [_words(text) for text in texts]
    terms = _terms({word for some in found for word in some})
    return [[terms[word] for word in some if terms[word]] for some in found]


def _terms(distinct: Iterable[str]) -> dict[str, str]:
    """The term of each word; empty for one that has none."""
    import Stemmer

    some = list(distinct)
    lowered = [_lowered(word) for word in some]
    stems = Stemmer.Stemmer("english").stemWords(lowered)
    return {word: "" if stem in _STOP else folded(stem) for word, stem in zip(some, stems, strict=True)}


def _words(text: str) -> list[str]:
    return [word for word in words(text) if 4 * len(word) < _LONGEST or len(word.encode()) < _LONGEST]


def _lowered(word: str) -> str:
    """Letter by letter: a capital sigma is no other letter at the end of a word."""
    return word.lower() if word.isascii() else "".join(letter.lower() for letter in word)

"""The words of a phrase as they are compared: stems, lemmas, the numbers of conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from monjyu_assets.levels.tensions.tension_words import stem_of

if TYPE_CHECKING:
    from spacy.tokens import Token

MOST_WORDS, MOST_LEMMAS = 14, 40
"""Words of a side's target, agent or comparison; and of a whole sentence."""
_CONTENT = frozenset(("NOUN", "PROPN", "ADJ", "NUM", "VERB", "X"))


def phrase_words(token: Token, without: Token | None = None) -> list[Token]:
    """The phrase of a noun: its words without clauses, and without `without` and what hangs on it."""
    left = (
        {w.i for w in without.subtree}
        if without is not None and without.i != token.i and token not in without.subtree
        else set()
    )
    if without is not None:
        left.add(without.i)
    gone = {
        w.i
        for c in token.subtree
        if c.dep_ in {"relcl", "advcl", "punct", "cc"} or c.dep_ == "conj"
        for w in c.subtree
        if c.i != token.i
    }
    return [w for w in token.subtree if w.i not in gone and w.i not in left]


def stem(token: Token) -> str:
    """The stem of a word's lemma: "transmit" and "transmission" stay apart, "vaccine" and "vaccination" do not."""
    return stem_of(token.lemma_.casefold())


def stems(words: Iterable[Token]) -> tuple[str, ...]:
    """The stems of the words of content, each once, in order; at most `MOST_WORDS`."""
    kept = [stem(w) for w in words if w.pos_ in _CONTENT and not w.is_stop and any(c.isalpha() for c in w.text)]
    return tuple(dict.fromkeys(kept))[:MOST_WORDS]


def lemmas(words: Iterable[Token]) -> tuple[str, ...]:
    """The lemmas of the words of content, each once, in order; verbs are marked. At most `MOST_LEMMAS`."""
    kept = [
        f"{w.lemma_.casefold()}{'/v' if w.pos_ == 'VERB' else ''}"
        for w in words
        if w.pos_ in _CONTENT
        and not w.is_stop
        and not w.like_num
        and sum(c.isalpha() for c in w.text) > 1
        and not w.text.endswith(".")
    ]
    return tuple(dict.fromkeys(kept))[:MOST_LEMMAS]


def amounts(words: Sequence[Token], token: Token) -> tuple[str, ...]:
    """The numbers of what it depends on and when ("five minutes after", "a two-day workshop"), each with the word it
    counts. How far something went ("by 5 points", "from 31% to 23%") is none."""
    found = []
    for word in words:
        if not word.like_num or word.i + 1 >= len(word.doc):
            continue
        after = next((w for w in word.doc[word.i + 1 : word.i + 4] if w.text != "-" and not w.like_num), None)
        if after is None or not after.is_alpha or after.pos_ not in {"NOUN", "ADJ"} or _of_effect(word, token):
            continue
        if number := _as_number(word.lower_):
            found.append(f"{number} {stem(after)}")
    return tuple(dict.fromkeys(found))[:MOST_WORDS]


_NAMES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_NUMBERS = {name: str(number) for number, name in enumerate(_NAMES.split(), start=1)}


def _as_number(text: str) -> str:
    if text in _NUMBERS:
        return _NUMBERS[text]
    try:
        return f"{float(text.replace(',', '')):g}"
    except ValueError:
        return ""


def _of_effect(number: Token, token: Token) -> bool:
    """Whether it says how far something went, not when or of what."""
    for one in (number, *number.ancestors):
        if one.i == token.i:
            return False
        if one.pos_ == "ADP" and one.head.i == token.i and one.lower_ in {"by", "from", "to"}:
            return True
        if one.dep_ in {"npadvmod", "nummod"} and one.head.i == token.i:
            return True
    return False


def as_written(words: Sequence[Token]) -> str:
    """The phrase as written, cut to what a list shows."""
    text = " ".join(w.text for w in words if w.dep_ not in {"det", "poss"} and not w.is_punct)
    return text[:80]

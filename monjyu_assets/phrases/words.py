"""What may stand in a phrase, and what is no phrase at all."""

from __future__ import annotations

import re
import unicodedata

MAX_WORDS = 5
"""A longer phrase keeps its last words: in English the head stands at the end."""
MAX_LETTERS = 120

_SYMBOLS = frozenset("=<>≤≥≈≠∑∏∫√∂∇∞∈∉⊂∪∩∀∃±×÷→←↔⇒⇔\\^_{}|~$%#@*`•·…©®™§¶�")
_EDGES = " \t.,;:!?'\"“”‘’«»()[]/-–—+&"
_LETTERS = re.compile(r"[^\W\d_]")
_QUANTITY = re.compile(
    r"(?:[\d.,]+|one|two|three|four|five|six|seven|eight|nine|ten)[\s-]{0,2}(?:%|[a-zµμ]{1,3}|years?|minutes?|hours?|days?|weeks?|months?|times?|percent)?"
)

STOP_WORDS = frozenset(
    """et al etc ie eg i.e e.g vs cf ibid fig figs figure figures table tables eq eqs equation equations sec sect section
    sections subsection chapter appendix appendices paper papers article articles manuscript author authors page pages
    reference references abstract introduction conclusion conclusions acknowledgement acknowledgements acknowledgment
    acknowledgments footnote example examples instance case cases thing things way ways kind kinds sort sorts type types
    number numbers lot lots amount variety range set sets series part parts piece pieces side sides fact facts order
    point points term terms reason reasons aspect aspects respect course basis extent degree role rest end start
    beginning addition contrast particular general practice use uses usage view hand question questions answer answers
    other others another someone anyone everyone something anything everything nothing none each both many most some
    more less few several one ones two three first second third day days time times year years month months week weeks
    work works present study studies effort efforts need needs step steps result results approach approaches
    following above below advantage disadvantage problem problems issue issues possibility ability opportunity""".split()
)
"""Words that say nothing as a phrase of their own; inside a longer phrase they may stand."""

LEADING = frozenset(
    """such same other many several various different certain own further additional similar following previous recent
    first second third last next particular possible multiple few more most less least above-mentioned aforementioned
    respective entire whole""".split()
)
"""Adjectives that stand before a phrase without being part of it."""

STOP_PHRASES = frozenset(
    """present study|present paper|current study|current work|previous work|previous study|future work|future research|
    future direction|related work|previous section|next section|open access|creative common|international license|
    license|copyright|all right|right|first author|corresponding author|author contribution|conflict of interest|
    competing interest|supplementary material|research question|state of the art""".replace("\n", "")
    .replace("    ", "")
    .split("|")
)


def normalise(text: str) -> str:
    """NFC, white space made single, marks at the edges taken off."""
    return " ".join(unicodedata.normalize("NFC", text).split()).strip(_EDGES)


def is_phrase(key: str) -> bool:
    """Whether a normalised phrase names something: has a word, is no formula, no quantity and no stop phrase."""
    if not 2 <= len(key) <= MAX_LETTERS or key in STOP_WORDS or key in STOP_PHRASES:
        return False
    letters = len(_LETTERS.findall(key))
    if not letters or _SYMBOLS.intersection(key) or _QUANTITY.fullmatch(key):
        return False
    if all(len(word.strip(_EDGES)) <= 1 for word in key.split()):
        return False  # letters of a formula: "x y"
    return 2 * letters >= len(key.replace(" ", ""))


def all_stop(words: list[str]) -> bool:
    return all(word in STOP_WORDS or word in LEADING for word in words)

"""Decides which words may be part of a phrase and which phrases count, and finds definitions of acronyms."""

import re
import unicodedata
from collections.abc import Iterable
from importlib.resources import files

MAX_WORDS = 5
"""The maximum number of words of a phrase. A longer one is cut to its last words, because the head comes last."""
MAX_LETTERS = 120

_SYMBOLS = frozenset("=<>≤≥≈≠∑∏∫√∂∇∞∈∉⊂∪∩∀∃±×÷→←↔⇒⇔\\^_{}|~$%@*`•·…©®™§¶�")
_EDGES = " \t.,;:!?'\"“”‘’«»()[]/-–—&"
_LETTERS = re.compile(r"[^\W\d_]")
_QUANTITY = re.compile(
    r"(?:[\d.,]+|one|two|three|four|five|six|seven|eight|nine|ten)[\s-]{0,2}(?:%|[a-zµμ]{1,3}|years?|minutes?|hours?|days?|weeks?|months?|times?|percent)?"
)


def word_list(name: str) -> frozenset[str]:
    """The lines of a word list in this package, without comments."""
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


STOP_WORDS = word_list("stop_words.txt")
"""Words that are not a phrase by themselves, but may be part of a longer one."""

LEADING = word_list("leading_words.txt")
"""Adjectives before a phrase that are not part of it."""

STOP_PHRASES = word_list("stop_phrases.txt")


def normalise(text: str) -> str:
    """The text in NFC, with single spaces, without marks at its ends. Brackets of a pair stay: `(E)-hex-2-enal`; text
    from a single bracket on is removed: `plot(x` becomes `plot`."""
    whole = " ".join(unicodedata.normalize("NFC", text).split())
    bare = whole.strip(_EDGES)
    missing = bare.count(")") - bare.count("(")
    if missing == 1 and whole.partition(bare)[0].endswith("("):
        return f"({bare}"
    if missing == -1 and whole.rpartition(bare)[2].startswith(")"):
        return f"{bare})"
    return bare if missing == 0 else bare.replace(")", "(").partition("(")[0].strip(_EDGES)


def is_phrase(key: str) -> bool:
    """Whether a normalised phrase names something: it has a word and is not a formula, quantity or stop phrase."""
    if not 2 <= len(key) <= MAX_LETTERS or key in STOP_WORDS or key in STOP_PHRASES:
        return False
    letters = len(_LETTERS.findall(key))
    if not letters or _SYMBOLS.intersection(key) or _QUANTITY.fullmatch(key):
        return False
    if all(len(word.strip(_EDGES)) <= 1 for word in key.split()):
        return False  # letters of a formula: "x y"
    return 3 * letters >= len(key.replace(" ", ""))


def named_phrase(before: str, head: str, lemma: str) -> tuple[str, str] | None:
    """The (key, surface) of a phrase whose last word is `head`; None if it names nothing."""
    key = normalise(before + lemma).casefold()
    if all(word in STOP_WORDS or word in LEADING for word in key.split()) or not is_phrase(key):
        return None
    return key, normalise(before + head)


def singular_acronym(word: str) -> str:
    """A plural acronym ("LLMs") without its s; any other word unchanged."""
    return word[:-1] if len(word) > 2 and word.endswith("s") and word[:-1].isupper() else word


# Acronyms and the long forms that define them: "latent Dirichlet allocation (LDA)".
# The method is that of Schwartz & Hearst (2003), "A simple algorithm for identifying abbreviation definitions in
# biomedical text": the letters of the short form are searched in the words before it, from right to left, and the first
# letter must begin a word.
_DEFINED = re.compile(r"\(\s{0,2}([A-Za-zΑ-ω0-9][\w.&/+-]{1,11})\s{0,2}(?:[;,][^()]{0,80})?\)")
_SPACE_BEFORE = 200


def definitions(text: str) -> list[tuple[str, str]]:
    """The (short form, long form) of each definition in a text, in order."""
    pairs = []
    for match in _DEFINED.finditer(text):
        short = match[1].strip(".")
        if _is_short(short):
            long = long_form(short, text[max(0, match.start() - _SPACE_BEFORE) : match.start()])
            if long:
                pairs.append((singular_acronym(short), long))
    return pairs


def _is_short(short: str) -> bool:
    capitals = sum(letter.isupper() for letter in short)
    return 2 <= len(short) <= 12 and capitals >= 2 and not short.isdigit()


def long_form(short: str, before: str) -> str | None:
    """The words at the end of `before` that the short form abbreviates, or None."""
    short = singular_acronym(short)
    words = before.split()
    words = words[-min(len(short) + 5, 2 * len(short)) :]
    candidate = " ".join(words)
    at = len(candidate) - 1
    for n in range(len(short) - 1, -1, -1):
        letter = short[n].lower()
        if not letter.isalnum():
            continue
        while at >= 0 and (candidate[at].lower() != letter or (n == 0 and at > 0 and candidate[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
        at -= 1
    long = candidate[at + 1 :].strip()
    return long if len(long.split()) > 1 or len(long) > len(short) + 4 else None


def agreed(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map each short form to its long form within one paper. The first definition counts."""
    known: dict[str, str] = {}
    for short, long in pairs:
        known.setdefault(short, long)
    return known

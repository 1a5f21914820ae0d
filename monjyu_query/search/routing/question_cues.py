"""What a question's wording shows of its kind: n-grams of its words or characters, and which patterns fit it."""

from __future__ import annotations

import re
import unicodedata

import regex

from monjyu_core.text.unicode_words import LETTERS
from monjyu_query.search.routing.question_kinds import QUERY_TYPES, fitting, kind_of

LONGEST = 1000
"""Characters that are read of a question: its kind stands at its beginning or its end, and most are shorter."""
_WORD = regex.compile(rf"{LETTERS}(?:[’'][a-z]+)?|\d+|[?？,、;:–-]")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z0-9]+")
_ENDING = 4
"""Letters of a long word's end: plurals, comparatives, nouns made of verbs."""


def grams(query: str) -> list[str]:
    """N-grams, sorted, none twice: of one to three words with the beginning and end as words, or of one to four
    characters where the question is Japanese; a name in Latin letters there is one letter."""
    text = unicodedata.normalize("NFKC", _read(query)).casefold().strip()
    if _WIDE.search(text):
        whole = f"^{_LATIN.sub('a', text).rstrip('。. ')}$"
        found = {f"J:{whole[at : at + n]}" for n in range(1, 5) for at in range(len(whole) - n + 1)}
        return sorted(found | {f"J#{min(len(whole) // 8, 6)}"})
    words = ["^", *_WORD.findall(text), "$"]
    found = {f"E:{' '.join(words[at : at + n])}" for n in (1, 2, 3) for at in range(len(words) - n + 1)}
    found |= {f"E:{one} _ {other}" for one, other in zip(words, words[2:], strict=False)}
    found |= {f"E-{word[-_ENDING:]}" for word in words if len(word) > _ENDING + 1}
    return sorted(found | {f"E#{min(len(words) // 4, 6)}"})


def cues(query: str) -> list[float]:
    """1 or 0 for each pattern, the kind that the patterns choose, the mark of a question, and a last 1 for the bias."""
    text = _read(query)
    chosen = kind_of(text).name
    asked = text.rstrip().endswith(("?", "？"))
    return [*map(float, fitting(text)), *(float(kind == chosen) for kind in QUERY_TYPES), float(asked), 1.0]


def japanese(query: str) -> bool:
    return bool(_WIDE.search(query))


def _read(query: str) -> str:
    return query if len(query) <= LONGEST else f"{query[: LONGEST // 2]} {query[-LONGEST // 2 :]}"

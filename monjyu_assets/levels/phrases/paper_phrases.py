"""Extracts the phrases of a paper's chunks. Sentences are parsed once, and acronyms that they define are spelt out."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from monjyu_assets.levels.phrases.cleaning import clean, is_boilerplate, is_unspaced, windows
from monjyu_assets.levels.phrases.english_phrases import Phrase, english_phrases
from monjyu_assets.levels.phrases.japanese_phrases import installed, japanese_phrases
from monjyu_assets.levels.phrases.tagged_phrases import tagged_phrases
from monjyu_assets.levels.phrases.words import agreed, definitions, normalise, singular_acronym
from monjyu_core.embedding.local.e5_file import EXTRA
from monjyu_core.extras import install_line

PhraseModel = Literal["tagger", "parser"]
Finder = Callable[[Sequence[str]], list[list[Phrase]]]
_FINDERS: dict[PhraseModel, Finder] = {"tagger": tagged_phrases, "parser": english_phrases}
Long = tuple[str, str]
"""The (key, surface) of a long form."""


@dataclass(frozen=True)
class ChunkText:
    """A chunk's id and its sentences, in order."""

    chunk_id: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Mention:
    """A phrase in a chunk: its key, its most frequent form in the chunk, and the number of its occurrences there."""

    chunk_id: str
    phrase: str
    surface: str
    count: int


def paper_mentions(chunks: Sequence[ChunkText], phrase_model: PhraseModel = "tagger") -> list[Mention]:
    """The phrases of each chunk of a paper. They depend only on its chunks, so they are equal in every collection."""
    sentences = list(dict.fromkeys(sentence for chunk in chunks for sentence in chunk.sentences))
    kept = [sentence for sentence in sentences if not is_boilerplate(sentence)]
    known = agreed(pair for sentence in kept for pair in definitions(sentence))
    by_sentence = _parse(kept, known, _FINDERS[phrase_model])
    return [mention for chunk in chunks for mention in _mentions(chunk, by_sentence)]


def _parse(sentences: Sequence[str], known: dict[str, str], find: Finder) -> dict[str, list[Phrase]]:
    """The phrases of each sentence, with acronyms spelt out."""
    pieces = [
        (sentence, window) for sentence in sentences for window in windows(clean(without_definitions(sentence, known)))
    ]
    unspaced = [piece for piece in pieces if is_unspaced(piece[1])]
    others = [piece for piece in pieces if not is_unspaced(piece[1])]
    parsed = find([*(window for _, window in others), *known.values()]) if others else []
    longs = {
        short: long_of(form, parse)
        for (short, form), parse in zip(known.items(), parsed[len(others) :], strict=bool(parsed))
    }
    by_sentence: dict[str, list[Phrase]] = {}
    for (sentence, _), phrases in zip(others, parsed, strict=False):
        by_sentence.setdefault(sentence, []).extend(merged(phrase, longs) for phrase in phrases)
    if unspaced and installed() is not None:
        for (sentence, _), phrases in zip(unspaced, japanese_phrases([w for _, w in unspaced]), strict=True):
            by_sentence.setdefault(sentence, []).extend(merged(phrase, longs) for phrase in phrases)
    return by_sentence


def made_with() -> str:
    """The versions of the Japanese tokenizer and its dictionary, or `no Japanese`."""
    return installed() or "no Japanese"


def what_is_missing(sentences: Iterable[str]) -> str:
    """A message that names what must be installed for phrases of `sentences`; "" if nothing is missing."""
    if installed() is not None or not any(map(is_unspaced, sentences)):
        return ""
    return f"Japanese sentences have no phrases until the extra `{EXTRA}` is installed: {install_line(EXTRA)}"


def without_definitions(sentence: str, known: dict[str, str]) -> str:
    """Remove acronyms in parentheses after their long form: `latent Dirichlet allocation (LDA)` loses `(LDA)`."""
    for short in known:
        if f"({short}" in sentence:
            sentence = re.sub(rf"\({re.escape(short)}s?\)", " ", sentence)
    return sentence


def long_of(form: str, phrases: list[Phrase]) -> Long:
    """The long form as parsed if it is a single phrase, otherwise as written."""
    if len(phrases) == 1 and len(phrases[0][0].split()) == len(form.split()):
        return phrases[0]
    return normalise(form).casefold(), normalise(form)


def merged(phrase: Phrase, longs: dict[str, Long]) -> Phrase:
    """The phrase with its acronyms spelt out in the key: `LDA models` -> `latent dirichlet allocation model`.

    Capitals decide, so that the word "it" is not taken for IT.
    """
    if not longs:
        return phrase
    key, surface = phrase
    words, written = key.split(), surface.split()
    if len(words) != len(written):
        return phrase
    spelt = [longs.get(singular_acronym(word)) for word in written]
    if not any(spelt):
        return phrase
    new = " ".join(long[0] if long else word for long, word in zip(spelt, words, strict=True))
    only = spelt[0] if len(spelt) == 1 else None
    return new, only[1] if only else surface


def _mentions(chunk: ChunkText, by_sentence: dict[str, list[Phrase]]) -> list[Mention]:
    forms: dict[str, Counter[str]] = {}
    for sentence in chunk.sentences:
        for key, surface in by_sentence.get(sentence, ()):
            forms.setdefault(key, Counter())[surface] += 1
    return [
        Mention(chunk.chunk_id, key, min(counts, key=lambda form: (-counts[form], form)), counts.total())
        for key, counts in sorted(forms.items())
    ]

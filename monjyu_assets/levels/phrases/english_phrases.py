"""Noun phrases by spaCy's parser: base noun phrases, trimmed, with lemmatised heads.

The model runs without NER (graphrag runs it; author initials become its largest hubs), and only heads are lemmatised.
Parts of speech, without which there are no noun chunks, come from a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from monjyu_assets.levels.phrases.parts_of_speech import PartsOfSpeech
from monjyu_assets.levels.phrases.words import LEADING, MAX_WORDS, all_stop, is_phrase, normalise
from monjyu_core.embedding.english_model import load_model

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token

BATCH = 64
"""Windows parsed at once: a larger batch is slower and takes twice the memory."""

Phrase = tuple[str, str]
"""(key, surface)"""

_NO_START = frozenset(
    {"DET", "PRON", "NUM", "PUNCT", "SYM", "CCONJ", "SCONJ", "ADP", "PART", "ADV", "SPACE", "X", "AUX"}
)
_NO_END = frozenset({"PUNCT", "SYM", "SPACE", "CCONJ", "ADP", "PART", "DET"})
_BRACKETS = frozenset("()[]{}")
_HEADS = frozenset({"NOUN", "PROPN", "ADJ", "VERB", "X", "NUM"})


@lru_cache(maxsize=1)
def parser() -> tuple[Language, PartsOfSpeech, Any]:
    """Tagger and parser, the parts of speech, and the lemmatizer, which runs on heads only."""
    pipeline = load_model(exclude=["ner"])
    parts, lemmatizer = PartsOfSpeech(pipeline), pipeline.get_pipe("lemmatizer")
    pipeline.disable_pipe("lemmatizer")
    pipeline.disable_pipe("attribute_ruler")
    return pipeline, parts, lemmatizer


def english_phrases(windows: Sequence[str]) -> list[list[Phrase]]:
    """The phrases of each window, in order. The same windows give the same phrases, whatever was parsed before."""
    pipeline, parts, lemmatizer = parser()
    by_window = []
    with pipeline.memory_zone():  # the vocabulary would grow with every word of a collection
        for doc in pipeline.pipe(windows, batch_size=BATCH):
            parts(doc)
            by_window.append(list(_phrases(doc, lemmatizer)))
    return by_window


def _phrases(doc: Doc, lemmatizer: Any) -> Iterator[Phrase]:
    text = doc.text  # spaCy builds it at every call
    for span in names_joined(doc):
        phrase = phrase_of(span, text, lemmatizer)
        if phrase is not None:
            yield phrase


def names_joined(doc: Doc) -> Iterator[Span]:
    """The parser's phrases. A name joins the name after its "of": University of Michigan."""
    held: Span | None = None
    for span in doc.noun_chunks:
        if held is None:
            held = span
        elif span.start == held.end + 1 and doc[held.end].lower_ == "of" and _is_name(held) and _is_name(span):
            yield doc[held.start : span.end]
            held = None
        else:
            yield held
            held = span
    if held is not None:
        yield held


def _is_name(span: Span) -> bool:
    return all(token.pos_ == "PROPN" or (token.i == span.start and token.pos_ == "DET") for token in span)


def phrase_of(span: Span, text: str, lemmatizer: Any) -> Phrase | None:
    """The trimmed phrase of a noun chunk, its head lemmatised; None where it names nothing."""
    tokens = core_of(span)
    if not tokens:
        return None
    head = tokens[-1]
    start = tokens[0].idx
    surface = normalise(text[start : head.idx + len(head)])
    key = normalise(text[start : head.idx] + _lemma(head, lemmatizer)).casefold()
    words = key.split()
    if all_stop(words) or not is_phrase(key):
        return None
    return key, surface


def core_of(span: Span) -> list[Token]:
    """The tokens of a noun chunk that are its phrase, the head last; none where it has no head."""
    tokens = _trimmed(list(span))
    return tokens if tokens and tokens[-1].pos_ in _HEADS else []


def _trimmed(tokens: list[Token]) -> list[Token]:
    """The chunk without leading determiners, pronouns, possessive marks, numbers and empty adjectives, and without
    trailing marks."""
    brackets = [n for n, token in enumerate(tokens) if token.text in _BRACKETS]
    if brackets and brackets[-1] < len(tokens) - 1:
        tokens = tokens[brackets[-1] + 1 :]
    while tokens and (tokens[-1].pos_ in _NO_END or tokens[-1].is_punct):
        tokens = tokens[:-1]
    tokens = _last_words(_without_leads(tokens))
    return _without_leads(tokens)


def _without_leads(tokens: list[Token]) -> list[Token]:
    while tokens and _leads(tokens):
        tokens = tokens[1:]
    return tokens


def _leads(tokens: list[Token]) -> bool:
    first = tokens[0]
    joined = len(tokens) > 1 and not first.whitespace_ and tokens[1].text in "-–‐‑"
    if joined:  # "two-way", "non-linear": a hyphenated word is one; "20-30 participants" has none
        return len(tokens) > 2 and first.like_num and tokens[2].like_num
    return first.pos_ in _NO_START or first.is_punct or first.lower_ in LEADING


def _last_words(tokens: list[Token]) -> list[Token]:
    starts = [n for n, token in enumerate(tokens) if n == 0 or tokens[n - 1].whitespace_]
    return tokens[starts[-MAX_WORDS] :] if len(starts) > MAX_WORDS else tokens


def _lemma(head: Token, lemmatizer: Any) -> str:
    """The lemma of a plural noun; names stay as they are, except that a plural acronym ("LLMs") loses its s."""
    text: str = head.text
    if head.pos_ == "NOUN":
        if head.tag_ != "NNS":
            return text
        lemmas = lemmatizer.lemmatize(head)
        return str(lemmas[0]) if lemmas and lemmas[0] else text
    if len(text) > 2 and text.endswith("s") and text[:-1].isupper():
        return text[:-1]
    return text
